"""Learning from one judgement: count, grow, update, rehearse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textbayes.online import OnlineLikelihood
from textbayes.stream.growth import telling_words
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import Topic, WordCounts, local_rows
from textbayes.stream.words import Columns, Lexicon


def learn_judgement(
    topic: Topic,
    number: int,
    relevant: bool,
    kept: Sequence[Columns],
    lexicon: Lexicon,
    settings: FilterSettings,
    likelihood: OnlineLikelihood,
    before: bool | None = None,
) -> Topic:
    """The topic after the judgement of a kept document.

    In this order: the document is counted; words that now tell the topic join; the document is learnt, and after an
    irrelevant one with ``rehearse`` a past relevant one again, each in its turn (§ 4.2.1 and 4.2.2); a relevant one is
    kept for rehearsal.

    Parameters
    ----------
    number : int
        Of the document in ``kept``.
    before : bool, optional
        The judgement that this one replaces. Counts are corrected as if it had never been; a Gaussian posterior
        cannot unlearn, so the new judgement is learnt as one more document.
    """
    topic = _counted(topic, number, kept[number], relevant, len(lexicon), before)
    room = settings.most_words - len(topic.words)
    topic = topic.grown(telling_words(topic, lexicon, settings.word_threshold, room), settings.variance)
    lesson, outcomes = [number], [1.0 if relevant else -1.0]
    if not relevant and settings.rehearse and topic.examples:
        lesson.append(topic.examples[topic.turn])
        outcomes.append(1.0)
        topic = replace(topic, turn=(topic.turn + 1) % len(topic.examples))
    rows = local_rows(lexicon.weigh_kept([kept[i] for i in lesson]), topic.position(len(lexicon)))
    posterior, _ = topic.posterior.learn(rows, np.array(outcomes), likelihood)
    topic = replace(topic, posterior=posterior)
    return replace(topic, examples=(*topic.examples, number)) if relevant else topic


def _counted(topic: Topic, number: int, document: Columns, relevant: bool, n_words: int, before: bool | None) -> Topic:
    counts = WordCounts(*(array.copy() for array in topic.counts.resized(n_words)))
    n_relevant, n_later, examples, turn = topic.n_relevant, topic.n_later, topic.examples, topic.turn
    if before is None:
        counts.later[document.columns] += 1
        n_later += 1
    elif before:
        counts.relevant[document.columns] -= 1
        n_relevant -= 1
        place = examples.index(number)
        examples = examples[:place] + examples[place + 1 :]
        turn = (turn - (place < turn)) % max(len(examples), 1)
    if relevant:
        counts.relevant[document.columns] += 1
        n_relevant += 1
    return replace(topic, counts=counts, n_relevant=n_relevant, n_later=n_later, examples=examples, turn=turn)

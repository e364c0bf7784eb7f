"""Learning from one judgement: count, grow, update, rehearse."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textbayes.models.online import OnlineLikelihood
from textbayes.stream.growth import telling_words
from textbayes.stream.schedules import make_rehearsal
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import Topic, lesson_rows
from textbayes.stream.watch import WordWatch
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
    watch: WordWatch | None = None,
) -> Topic:
    """The topic after the judgement of a kept document; its counts are counted up in place.

    In this order: the document is counted; words that now tell the topic join; what is known fades by ``retention``;
    the document is learnt, and after an irrelevant one with ``rehearse`` a past relevant one again, each in its turn or
    as ``rehearsal`` says (§ 4.2.1 and 4.2.2); a relevant one is kept for rehearsal.

    Parameters
    ----------
    number : int
        Of the document in ``kept``.
    before : bool, optional
        The judgement that this one replaces. Counts are corrected as if it had never been; a Gaussian posterior
        cannot unlearn, so the new judgement is learnt as one more document.
    watch : WordWatch, optional
        Knows which words to look at; all of them are if not given.
    """
    watch = watch or WordWatch()
    document = kept[number]
    topic = _counted(topic, number, document, relevant, len(lexicon), before)
    if before is not None:
        watch.forget()  # what is corrected can change a score by more than a document more does
    room = settings.most_words - len(topic.words)
    missing = settings.least_words - len(topic.words)
    if missing > 0:
        joining = telling_words(topic, lexicon, settings.word_threshold, room, missing)
        watch.forget()
    else:
        joining = watch.joining(topic, lexicon, settings.word_threshold, room, document.columns)
    topic = topic.grown(joining, settings.variance)
    lesson, outcomes = [number], [1.0 if relevant else -1.0]
    if not relevant and settings.rehearse and topic.examples:
        place, topic = _rehearsed(topic, settings)
        lesson.append(topic.examples[place])
        outcomes.append(1.0)
    rows = lexicon.weigh_kept([kept[i] for i in lesson])
    local = lesson_rows(rows, watch.places.of(topic.words, rows.indices))
    before_it = topic.posterior if settings.retention == 1.0 else topic.posterior.drift(settings.retention)
    posterior, _ = before_it.learn(local, np.array(outcomes), likelihood)
    topic = replace(topic, posterior=posterior)
    return replace(topic, examples=topic.examples.followed_by(number)) if relevant else topic


def _rehearsed(topic: Topic, settings: FilterSettings) -> tuple[int, Topic]:
    """Which example is learnt again, by its place, and the topic after it."""
    n = len(topic.examples)
    if settings.rehearsal == "turn":
        return topic.turn, replace(topic, turn=(topic.turn + 1) % n)
    favour = make_rehearsal(settings.rehearsal)
    weights = np.array([favour(n - 1 - place) for place in range(n)])
    key = [settings.random_state, zlib.crc32(topic.name.encode())]  # counter-based, so that a replay draws the same
    draw = np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, topic.n_later])).random()
    share = np.cumsum(weights)
    return int(np.searchsorted(share, draw * share[-1], side="right").clip(0, n - 1)), topic


def _counted(topic: Topic, number: int, document: Columns, relevant: bool, n_words: int, before: bool | None) -> Topic:
    counts = topic.counts.resized(n_words)
    n_relevant, n_later, examples, turn = topic.n_relevant, topic.n_later, topic.examples, topic.turn
    if before is None:
        counts.later[document.columns] += 1
        n_later += 1
    elif before:
        counts.relevant[document.columns] -= 1
        n_relevant -= 1
        place = examples.index(number)
        examples = examples.without(place)
        turn = (turn - (place < turn)) % max(len(examples), 1)
    if relevant:
        counts.relevant[document.columns] += 1
        n_relevant += 1
    return replace(topic, counts=counts, n_relevant=n_relevant, n_later=n_later, examples=examples, turn=turn)

"""How topics learn: from one judgement (count, let words join, update, rehearse), and the batch start of a filter.

Words join a topic by Dunning's likelihood ratio on its judgements (§ 2.3, § 4.2.1). The start makes topics of labelled
documents and topic statements.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.categorizer.knowledge import match_knowledge, words_known
from textbayes.core.errors import InputError, did_you_mean
from textbayes.core.labels import LabelSpace
from textbayes.core.machine import n_cores
from textbayes.core.progress import Progress
from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Document, FloatArray, IntArray
from textbayes.data.documents import LABEL_SEPARATORS
from textbayes.knowledge import WordPriors, table_prior
from textbayes.models.online import DiagonalPosterior, GaussianProcess, OnlineLikelihood
from textbayes.priors import make_prior
from textbayes.select import select_per_label
from textbayes.select.score_functions import log_likelihood_ratio
from textbayes.select.tables import PresenceTable
from textbayes.stream.settings import FilterSettings, make_rehearsal
from textbayes.stream.topic import (
    POSTERIORS,
    Topic,
    WordCounts,
    WordPlaces,
    lesson_rows,
    local_rows,
    ready_to_judge,
    start_posterior,
)
from textbayes.stream.words import Bags, DocumentCounts, FilterLexicon, KeptDocuments, WeighedRows, vectorizer_of
from textbayes.text.packed import sort_order, take

NONE = np.zeros(0, dtype=np.int64)
_MOST_NAMED = 10  # labels, in a message


def telling_words(topic: Topic, lexicon: FilterLexicon, threshold: float, most: int, least: int = 0) -> IntArray:
    """Columns, ascending, of words with −2 ln λ > threshold that are not the topic's yet; at most ``most``, the best.

    Where fewer than ``least`` of them are more frequent in relevant documents than in others, the best of such words
    are taken whatever their scores: with little evidence no score is high, but a topic without words is deaf.

    A word in none of the relevant documents has a score that rises with the documents it is in (the derivative is
    2 ln((N − b)/(N − b − R)) > 0 for b of N documents, R relevant), so of these only the frequent ones are looked at.
    """
    n_docs = lexicon.n_docs + topic.n_later
    if most < 1 or not 0 < topic.n_relevant < n_docs:
        return NONE
    relevant, later = (counts[: len(lexicon)] for counts in topic.counts.resized(len(lexicon)))
    with_word = lexicon.document_frequency + later
    looked_at = relevant > 0
    looked_at |= with_word >= _least_frequent(topic.n_relevant, n_docs, threshold)
    looked_at[topic.words] = False
    columns = np.flatnonzero(looked_at)
    scores = word_scores(relevant[columns], with_word[columns], topic.n_relevant, n_docs)
    above = scores > threshold
    if least:
        # As float64: products of counts leave the integers that counts are kept in.
        in_relevant, in_all = relevant[columns].astype(np.float64), with_word[columns].astype(np.float64)
        speak = in_relevant * n_docs > in_all * topic.n_relevant
        missing = least - int((above & speak).sum())
        rest = np.flatnonzero(speak & ~above)
        above[rest[np.argsort(-scores[rest], kind="stable")[: max(missing, 0)]]] = True
    return best_words(columns[above], scores[above], most)


def best_words(columns: IntArray, scores: FloatArray, most: int) -> IntArray:
    """Those of the columns, at most ``most``, with the highest scores."""
    if not len(columns):
        return NONE
    chosen = select_per_label(ScoreResult(scores[None, :], None), k=most)[0]
    return columns[chosen]


def word_scores(relevant: AnyArray, with_word: AnyArray, n_relevant: int, n_docs: int) -> FloatArray:
    """−2 ln λ of words in ``relevant`` of the relevant and ``with_word`` of all documents; 0 where they have none.

    >>> word_scores(np.array([2, 0]), np.array([2, 4]), 2, 4).round(3)
    array([5.545, 0.   ])
    """
    a, total = np.asarray(relevant, dtype=np.float64), np.asarray(with_word, dtype=np.float64)
    b, c = total - a, n_relevant - a
    with np.errstate(divide="ignore", invalid="ignore"):  # empty margins, overwritten
        scores = log_likelihood_ratio(PresenceTable(a, b, c, n_docs - total - c))
    return np.where((total > 0) & (total < n_docs) & (0 < n_relevant < n_docs), scores, 0.0)


def _least_frequent(n_relevant: int, n_docs: int, threshold: float) -> int:
    """The fewest documents a word must be in, none of them relevant, to score above the threshold; by bisection."""
    low, high = 0, n_docs - n_relevant + 1  # scores at most the threshold; above it, or more than there are
    while high - low > 1:
        middle = (low + high) // 2
        score = word_scores(np.zeros(1), np.array([middle]), n_relevant, n_docs)[0]
        low, high = (low, middle) if score > threshold else (middle, high)
    return high


_LEVELS = 24  # a word at level j is looked at when the number of judgements is a multiple of 2 to the j
_ROUNDING = 1e-6  # of scores: a word that is nearer to the threshold is looked at


class WordWatch:
    """The words of one topic that may join, each with the time when it is to be looked at again.

    A judged document that lacks a word raises the word's −2 ln λ by at most −2 ln(1 − n/N), for n of N judged documents
    with the word: the derivative of −2 ln λ in the cell of the document, o of a margin m with o ≤ m, is
    2 ln(o/m · N/(N − n)). A word that is so far below the threshold that this takes k more documents need not be looked
    at before, unless a judged document has it. So a judgement costs about the words of its document, however many the
    topic has met.

    What :meth:`joining` finds is what :func:`~textbayes.stream.learn.telling_words` finds, to the word. It holds
    nothing that cannot be found out anew: where counts are corrected or settings change, ``forget`` is enough.
    """

    def __init__(self) -> None:
        self.places = WordPlaces()
        self._level = np.zeros(0, dtype=np.int8)
        self.forget()

    def forget(self) -> None:
        """Look at every word next time."""
        self._waiting: list[list[AnyArray]] = [[] for _ in range(_LEVELS)]
        self._now = -1
        self._threshold = np.nan

    def joining(
        self, topic: Topic, lexicon: FilterLexicon, threshold: float, most: int, document: IntArray
    ) -> IntArray:
        """Columns, ascending, of words above the threshold that are not the topic's yet; at most ``most``, the best.

        ``document`` has the columns of the one document judged since the last call.
        """
        if most < 1:  # no word can join, and the time that passes is not counted
            self.forget()
            return NONE
        if threshold != self._threshold:
            self.forget()
            self._threshold = threshold
        self._level = _at_least(self._level, len(lexicon))
        self._now += 1
        columns = self._due(topic, lexicon, document)
        n_docs = lexicon.n_docs + topic.n_later
        with_word = lexicon.document_frequency[columns] + topic.counts.later[columns]
        scores = word_scores(topic.counts.relevant[columns], with_word, topic.n_relevant, n_docs)
        below = scores <= threshold
        self._wait(columns[below], threshold - scores[below], with_word[below], n_docs)
        return best_words(columns[~below], scores[~below], most)

    def _due(self, topic: Topic, lexicon: FilterLexicon, document: IntArray) -> IntArray:
        if not self._now:
            columns = np.flatnonzero((lexicon.document_frequency + topic.counts.later[: len(lexicon)]) > 0)
            self._level[:] = -1
        else:
            due = [document.astype(np.int64)]
            for level in range(_LEVELS):
                if self._now % (1 << level):
                    break
                # Those that were looked at meanwhile wait elsewhere.
                due += [some[self._level[some] == level] for some in self._waiting[level]]
                self._waiting[level] = []
            columns = np.unique(np.concatenate(due))
        self._level[columns] = -1
        return columns[self.places.of(topic.words, columns) < 0]

    def _wait(self, columns: IntArray, missing: AnyArray, with_word: AnyArray, n_docs: int) -> None:
        with np.errstate(divide="ignore"):  # a word in all documents: anything may happen next
            growth = -2.0 * np.log1p(-with_word / n_docs)
            safe = np.floor(np.maximum(missing - _ROUNDING, 0.0) / growth)
        levels = np.clip(np.frexp(safe + 1.0)[1] - 1, 0, _LEVELS - 1).astype(np.int8)
        self._level[columns] = levels
        for level in np.unique(levels).tolist():
            self._waiting[level].append(columns[levels == level])


def _at_least(array: AnyArray, size: int) -> AnyArray:
    if size <= len(array):
        return array
    return np.concatenate([array, np.full(size + size // 4 - len(array), -1, dtype=array.dtype)])


def learn_judgement(
    topic: Topic,
    number: int,
    relevant: bool,
    kept: Sequence[DocumentCounts],
    lexicon: FilterLexicon,
    settings: FilterSettings,
    likelihood: OnlineLikelihood,
    before: bool | None = None,
    watch: WordWatch | None = None,
) -> Topic:
    """The topic after the judgement of a kept document; its counts are counted up in place.

    In this order: the document is counted; words that now tell the topic join; weights shrink by ``forgetting_factor``;
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
    before_it = (
        topic.posterior if settings.forgetting_factor == 1.0 else topic.posterior.drift(settings.forgetting_factor)
    )
    posterior, _ = before_it.learn(local, np.array(outcomes), likelihood)
    if relevant:
        topic.examples.append(number)
    return replace(topic, posterior=posterior)


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


def _counted(
    topic: Topic, number: int, document: DocumentCounts, relevant: bool, n_words: int, before: bool | None
) -> Topic:
    counts = topic.counts.resized(n_words)
    n_relevant, n_later, turn = topic.n_relevant, topic.n_later, topic.turn
    if before is None:
        counts.later[document.columns] += 1
        n_later += 1
    elif before:
        counts.relevant[document.columns] -= 1
        n_relevant -= 1
        place = topic.examples.index(number)
        del topic.examples[place]
        turn = (turn - (place < turn)) % max(len(topic.examples), 1)
    if relevant:
        counts.relevant[document.columns] += 1
        n_relevant += 1
    return replace(topic, counts=counts, n_relevant=n_relevant, n_later=n_later, turn=turn)


class TopicPriors(NamedTuple):
    """Columns of the words that something is known of, ascending, and mean and standard deviation of their weights."""

    columns: IntArray
    mean: FloatArray
    scale: FloatArray


def known_words(
    table: WordPriors, names: Sequence[str], lexicon: FilterLexicon, weighed: WeighedRows, settings: FilterSettings
) -> dict[str, TopicPriors]:
    """What a table says of each topic; its words join the lexicon.

    Numbers of a table are weights at noise 1; at a hard threshold they are taken as they are.

    Parameters
    ----------
    table : WordPriors
    names : names of the topics
    lexicon : FilterLexicon
    weighed : WeighedRows
        The training documents, which say how large "for" and "against" are.
    settings : FilterSettings
    """
    lexicon.add(words_known(table, vectorizer_of(settings.text, lexicon)))
    space = LabelSpace(np.array(sorted(names), dtype=object), "multilabel")
    matched = match_knowledge(table, vectorizer_of(settings.text, lexicon), space)
    likelihood = OnlineLikelihood(settings.link, settings.noise)
    X = sparse.csr_matrix((weighed.data, weighed.indices, weighed.indptr), shape=(weighed.n_docs, len(lexicon)))
    default = make_prior("gaussian", float(np.sqrt(settings.variance)))
    prior = table_prior(matched, default, X, link=likelihood.link)
    noise = likelihood.noise or 1.0
    found = {}
    for label in np.unique(matched.label).tolist():
        columns = np.unique(matched.column[matched.label == label])
        found[space.column_names[label]] = TopicPriors(
            columns, noise * prior.mean[label, columns], noise * prior.scale[label, columns]
        )
    return found


def informed_posterior(settings: FilterSettings, words: IntArray, known: TopicPriors) -> Any:
    """The prior over the weights of a topic's words, of which some are known."""
    if settings.covariance == "gp":
        process: GaussianProcess = start_posterior(settings, words)
        return process.observe(*known)
    order = np.argsort(words)
    at = order[np.searchsorted(words, known.columns, sorter=order)]
    mean, variance = np.zeros(len(words)), np.full(len(words), settings.variance)
    mean[at], variance[at] = known.mean, known.scale**2
    if settings.covariance == "diagonal":
        own = variance[:, None], settings.variance, mean[:, None]
        return DiagonalPosterior.start(len(words), 1, *own)
    kind = POSTERIORS[settings.covariance]
    return kind.start(words, variance=variance, bias_variance=settings.variance, mean=mean)


def start_topics(
    documents: Sequence[Document],
    statements: Sequence[Document],
    topics: Iterable[str] | None,
    settings: FilterSettings,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    prior: WordPriors | None = None,
) -> tuple[FilterLexicon, list[Topic], KeptDocuments]:
    """The lexicon, the trained topics, and the relevant documents that are kept for rehearsal.

    Every training document is judged for every topic: relevant where it has the label. A statement trains its own
    topics only, before the documents, and is no document for the idf. Words are chosen by −2 ln λ, then the documents
    are learnt in their order, ``settings.passes`` times (§ 4.2.1 and 4.2.2). Words of ``prior`` are words of the topics
    that it speaks of, with its means and scales.
    """
    for statement in statements:
        if not statement.labels:
            raise InputError(f"statement {statement.id!r} has no label; label it with the topic that it is about")
    names = _topic_names(documents, statements, topics)
    if len(documents) < 2:
        raise InputError(
            f"{len(documents)} labelled document(s) were given; at least two are needed to say how rare words are"
        )
    lexicon, rows = _read(documents, statements, settings)
    likelihood = OnlineLikelihood(settings.link, settings.noise)
    known = {} if prior is None else known_words(prior, names, lexicon, rows.weighed, settings)
    training = [*statements, *documents]
    every = [set(document.labels) for document in training]
    kept_numbers: dict[int, int] = {}
    kept = KeptDocuments()

    def keep(i: int) -> int:
        if i not in kept_numbers:
            kept_numbers[i] = len(kept)
            kept.append(rows.kept(i))
        return kept_numbers[i]

    untrained = []
    for name in names:
        relevant = np.array([name in labels for labels in every])
        judged = np.ones(len(training), dtype=np.bool_)
        judged[: len(statements)] = relevant[: len(statements)]
        topic = _untrained(name, rows.presence, relevant, len(statements), settings)
        most = min(settings.start_words, settings.most_words)
        words = telling_words(topic, lexicon, settings.word_threshold, most, settings.least_words)
        if name in known:
            words = np.union1d(words, known[name].columns)
        if settings.deferred:  # frequent words side by side: then most of what a document needs of a covariance is
            words = words[np.argsort(-lexicon.document_frequency[words], kind="stable")]
        examples = [keep(int(i)) for i in np.flatnonzero(relevant)]
        posterior = (
            informed_posterior(settings, words, known[name]) if name in known else start_posterior(settings, words)
        )
        topic = replace(topic, words=words, posterior=posterior, examples=examples)
        untrained.append((topic, np.where(judged, np.where(relevant, 1.0, -1.0), 0.0)))

    def train(one: tuple[Topic, FloatArray]) -> Topic:
        topic, outcomes = one
        local = local_rows(rows.weighed, topic.position(len(lexicon)))
        posterior, _ = topic.posterior.learn(local, outcomes, likelihood, passes=settings.passes, in_place=True)
        return replace(topic, posterior=ready_to_judge(posterior, settings))

    trained: list[Topic] = []
    with ThreadPoolExecutor(n_jobs or n_cores()) as pool:
        for done, topic in enumerate(pool.map(train, untrained), start=1):
            trained.append(topic)
            if progress is not None:
                progress("topics", done, len(untrained))
    return lexicon, trained, kept


class _TrainingRows:
    """The training documents, counted and weighed: statements first."""

    def __init__(self, counts: sparse.csr_matrix, weighed: WeighedRows) -> None:
        self._counts, self.weighed = counts, weighed
        self.presence = sparse.csr_matrix(
            (np.ones(counts.nnz, dtype=np.int32), counts.indices, counts.indptr), shape=counts.shape
        )

    def kept(self, i: int) -> DocumentCounts:
        row = self._counts[i]
        return DocumentCounts(row.indices.astype(np.int64), row.data.astype(np.int64))


def _read(
    documents: Sequence[Document], statements: Sequence[Document], settings: FilterSettings
) -> tuple[FilterLexicon, _TrainingRows]:
    bags = Bags.read([document.text for document in (*statements, *documents)], settings.text)
    if not bags.terms.n_strings:
        raise InputError(
            f"the {len(documents)} labelled document(s) hold no word; check the texts and the options that say what a "
            "word is"
        )
    # Columns in the order of the sorted words: they do not depend on the order of the documents.
    order = sort_order(bags.terms)
    column_of = np.empty(len(order), dtype=np.int64)
    column_of[order] = np.arange(len(order))
    counts = sparse.csr_matrix(  # of a copy: sorting works in place
        (bags.counts.copy(), column_of[bags.indices], bags.indptr), shape=(len(bags), bags.terms.n_strings)
    )
    counts.sort_indices()
    frequency = np.bincount(counts[len(statements) :].indices, minlength=counts.shape[1])
    lexicon = FilterLexicon(take(bags.terms, order), frequency, len(documents), settings.weighting, settings.norm)
    return lexicon, _TrainingRows(counts, lexicon.weigh(bags, 0, len(bags)))


def _untrained(
    name: str, presence: sparse.csr_matrix, relevant: AnyArray, n_statements: int, settings: FilterSettings
) -> Topic:
    """A topic that knows its counts and nothing else."""
    own = np.flatnonzero(relevant)
    statements = own[own < n_statements]
    in_relevant = np.asarray(presence[own].sum(axis=0)).ravel().astype(np.int32)
    in_statements = np.asarray(presence[statements].sum(axis=0)).ravel().astype(np.int32)
    nothing = np.zeros(0, dtype=np.int64)
    counts = WordCounts(in_relevant, in_statements)
    return Topic(name, start_posterior(settings, nothing), nothing, counts, len(own), len(statements))


def _where_topic_is(name: str, counts: Mapping[str, int]) -> str:
    """What to do about a topic that no label is called as: the most frequent labels, or how to split them."""
    for mark in LABEL_SEPARATORS:
        several = next((label for label in sorted(counts) if name in map(str.strip, label.split(mark))), None)
        if several is not None:
            return f"it is a part of labels such as {several!r}: split them with label_separator={mark!r}"
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    some = ", ".join(map(repr, ranked[:_MOST_NAMED]))
    more = f" and {len(ranked) - _MOST_NAMED:,} more" if len(ranked) > _MOST_NAMED else ""
    return f"label some, or choose among the labels {some}{more}{did_you_mean(name, ranked)}"


def _topic_names(
    documents: Sequence[Document], statements: Sequence[Document], topics: Iterable[str] | None
) -> list[str]:
    counts = Counter(label for document in (*documents, *statements) for label in document.labels)
    found = sorted(counts)
    names = found if topics is None else list(dict.fromkeys(topics))
    if not names:
        raise InputError("no labelled document has a label; label the relevant documents of each topic with its name")
    for name in names:
        if name not in found:
            raise InputError(
                f"topic {name!r} has no relevant document and no statement; {_where_topic_is(name, counts)}"
            )
    return names

"""The batch start of a filter: labelled documents and topic statements in, topics that can filter out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.categorizer.knowledge import match_knowledge, words_known
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.machine import n_cores
from textbayes.core.progress import Progress
from textbayes.core.types import AnyArray, Document, FloatArray, IntArray
from textbayes.knowledge import WordPriors, table_prior
from textbayes.models.online import DiagonalPosterior, GaussianProcess, OnlineLikelihood
from textbayes.priors import make_prior
from textbayes.stream.learn import telling_words
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import POSTERIORS, Topic, WordCounts, local_rows, ready_to_judge, start_posterior
from textbayes.stream.words import Bags, Columns, KeptDocuments, Lexicon, Rows, vectorizer_of
from textbayes.text.packed import sort_order, take


class KnownWords(NamedTuple):
    """Columns of the words that something is known of, ascending, and mean and standard deviation of their weights."""

    columns: IntArray
    mean: FloatArray
    scale: FloatArray


def known_words(
    table: WordPriors, names: Sequence[str], lexicon: Lexicon, weighed: Rows, settings: FilterSettings
) -> dict[str, KnownWords]:
    """What a table says of each topic; its words join the lexicon.

    Numbers of a table are weights at noise 1; at a hard threshold they are taken as they are.

    Parameters
    ----------
    table : WordPriors
    names : names of the topics
    lexicon : Lexicon
    weighed : Rows
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
        found[space.column_names[label]] = KnownWords(
            columns, noise * prior.mean[label, columns], noise * prior.scale[label, columns]
        )
    return found


def informed_posterior(settings: FilterSettings, words: IntArray, known: KnownWords) -> Any:
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
) -> tuple[Lexicon, list[Topic], KeptDocuments]:
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
        topic = _counted(name, rows.presence, relevant, len(statements), settings)
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

    def __init__(self, counts: sparse.csr_matrix, weighed: Rows) -> None:
        self._counts, self.weighed = counts, weighed
        self.presence = sparse.csr_matrix(
            (np.ones(counts.nnz, dtype=np.int32), counts.indices, counts.indptr), shape=counts.shape
        )

    def kept(self, i: int) -> Columns:
        row = self._counts[i]
        return Columns(row.indices.astype(np.int64), row.data.astype(np.int64))


def _read(
    documents: Sequence[Document], statements: Sequence[Document], settings: FilterSettings
) -> tuple[Lexicon, _TrainingRows]:
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
    lexicon = Lexicon(take(bags.terms, order), frequency, len(documents), settings.weighting, settings.norm)
    return lexicon, _TrainingRows(counts, lexicon.weigh(bags, 0, len(bags)))


def _counted(
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


def _topic_names(
    documents: Sequence[Document], statements: Sequence[Document], topics: Iterable[str] | None
) -> list[str]:
    found = sorted({label for document in (*documents, *statements) for label in document.labels})
    names = found if topics is None else list(dict.fromkeys(topics))
    if not names:
        raise InputError("no labelled document has a label; label the relevant documents of each topic with its name")
    for name in names:
        if name not in found:
            raise InputError(
                f"topic {name!r} has no relevant document and no statement; label some, or choose among "
                f"{', '.join(found[:20])}"
            )
    return names

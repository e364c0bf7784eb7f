"""The records of a screening as a matrix, made once: words and pairs of words, weighed, in rows of length one.

Vectors of a sentence model may stand beside them (extra ``embeddings``). What files of a screening may say has a field
for each thing, and ranges of arrays, all checked before use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from textbayes.core.array_fields import saved_array, saved_csr
from textbayes.core.codec import (
    Choice,
    Described,
    Field,
    Flag,
    List,
    Named,
    Null,
    Number,
    Record,
    Row,
    Text,
    Whole,
    read,
)
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.progress import Progress, silent
from textbayes.core.state import from_state, part_of, to_state, under
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.knowledge import WordPrior, WordPriors, match_priors
from textbayes.knowledge.informative_prior import DEFAULT_STRENGTH, FeatureSizes
from textbayes.knowledge.match import words_of
from textbayes.knowledge.rows import ALL_LABELS, FOR
from textbayes.screen import solver
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.sentences import SentenceVectorizer, automatic_model

_LENGTH = 0.25  # of sentence vectors beside rows of words, which are of length one
_FEW = 20  # records below which a word that nearly all have is kept
_FEW_WORDS = 200  # more of them are found sooner by reading all records once


class PriorMeans(NamedTuple):
    """Prior means of some words: their columns, and the means."""

    columns: IntArray
    means: FloatArray


NOTHING = PriorMeans(np.zeros(0, dtype=np.int64), np.zeros(0))


class SentenceVectors(NamedTuple):
    """What a sentence model says of records, and of the questions below them.

    Parameters
    ----------
    vectorizer : SentenceVectorizer
    rows : array (n_records + n_questions, width)
        As the model gives them.
    """

    vectorizer: SentenceVectorizer
    rows: FloatArray


class Collection:
    """Records, by id and as rows of a matrix; the topics' questions are further rows below them.

    Use :meth:`read`.

    Attributes
    ----------
    ids : tuple of str
    row_of : dict
        Row of each id.
    X : csr_matrix (n_records + n_questions, n_words)
    question_rows : dict
        Row of each topic that has a question.
    known : dict
        What a prior table says of words, by topic.
    sentences : SentenceVectors or None
    vectors : array (n_records + n_questions, width) or None
        Those of the sentence model as the topics learn from them: around their mean, and shorter than the words.
    """

    def __init__(
        self,
        ids: Sequence[str],
        X: sparse.csr_matrix,
        vectorizer: TextVectorizer,
        weighting: TermWeighting,
        questions: Sequence[str],
        known: Mapping[str, PriorMeans],
        sentences: SentenceVectors | None = None,
    ) -> None:
        self.ids, self.X, self.sentences = tuple(ids), X, sentences
        self.vectors: FloatArray | None = None
        if sentences is not None:
            self.vectors = _LENGTH * (sentences.rows - sentences.rows[: len(ids)].mean(axis=0))
        self.row_of = {id: row for row, id in enumerate(self.ids)}
        self.vectorizer, self.weighting = vectorizer, weighting
        self.question_rows = {topic: len(self.ids) + k for k, topic in enumerate(questions)}
        self.known = dict(known)
        self._sizes: FeatureSizes | None = None
        self._occurrences: dict[int, tuple[IntArray, FloatArray]] = {}  # of words that somebody favours: rows, values

    @classmethod
    def read(
        cls,
        ids: Sequence[str],
        texts: Sequence[str],
        topics: Sequence[str],
        questions: Mapping[str, str] | None = None,
        prior: WordPriors | None = None,
        vectorizer: SentenceVectorizer | None = None,
        known_vectors: Mapping[str, FloatArray] = MappingProxyType({}),
        report: Progress = silent,
    ) -> Self:
        """Count and weigh the words of records.

        Parameters
        ----------
        ids, texts : sequences of str
        topics : sequence of str
        questions : mapping of str to str, optional
            Topic → its question; an empty one is none.
        prior : WordPriors, optional
            What is known of words, for topics by name or for all of them; words that no record has are passed over.
        vectorizer : SentenceVectorizer, optional
            Fitted: gives sentence vectors beside the words. This is slow.
        known_vectors : mapping of str to array
            Text → its vector, where that is known.
        report : Progress
            Is told how many texts have a vector.
        """
        if not len(texts) or len(ids) != len(texts) or len(set(ids)) < len(ids):
            raise InputError(
                f"{len(texts)} records with {len(set(ids))} different ids; give each record an id of its own"
            )
        words = TextVectorizer(ngram_range=(1, 2), max_df=0.95 if len(texts) >= _FEW else 1.0)
        counts = words.fit_transform(texts)
        weighting = TermWeighting("tfidf1")
        X = weighting.fit_transform(counts)
        asked = {topic: text for topic, text in (questions or {}).items() if text.strip()}
        if asked:
            X = sparse.vstack([X, weighting.transform(words.transform(list(asked.values())))]).tocsr()
        sentences = None
        if vectorizer is not None:
            rows = _read_vectors(vectorizer, [*texts, *asked.values()], known_vectors, report)
            sentences = SentenceVectors(vectorizer, rows)
        made = cls(ids, X, words, weighting, list(asked), {}, sentences)
        if prior is not None:
            made.known = {topic: made.find_words(prior, topic, phrases=False) for topic in topics}
        return made

    @property
    def n_records(self) -> int:
        """Records, without questions."""
        return len(self.ids)

    def find_words(
        self, prior: WordPriors, topic: str, phrases: bool = True, times: Sequence[float] | None = None
    ) -> PriorMeans:
        """The prior means of a table for a topic.

        Parameters
        ----------
        prior : WordPriors
        topic : str
        phrases : bool
            Whether a phrase that is no column stands for each of its words.
        times : sequence of float, optional
            By how much the mean of each row of the table is multiplied.
        """
        analyze = words_of(self.vectorizer) if phrases else None
        matched = match_priors(prior, self.vectorizer.columns_by_term(), [topic], analyze)
        means = DEFAULT_STRENGTH.means(matched, self.measure())
        if times is not None:
            means = means * np.asarray(times, dtype=np.float64)[matched.row]
        given = np.isfinite(means)
        return PriorMeans(matched.column[given].astype(np.int64), means[given])

    def has_word(self, word: str) -> bool:
        """Whether some record has a word, or a word of a phrase."""
        return len(self.find_words(WordPriors([WordPrior(word, ALL_LABELS, FOR)]), ALL_LABELS).columns) > 0

    def measure(self) -> FeatureSizes:
        """How many rows have each word, and how large weights are; computed once, at the latest for the first word."""
        if self._sizes is None:
            self._sizes = FeatureSizes.of(self.X)
        return self._sizes

    def offset(self, known: PriorMeans) -> FloatArray:
        """What prior means add to the predictor of every row; of a few words only the rows that have them are read.

        Parameters
        ----------
        known : PriorMeans
            No word twice.
        """
        if not len(known.columns):
            return np.zeros(self.X.shape[0])
        if len(known.columns) > _FEW_WORDS:
            weights = np.zeros(self.X.shape[1])
            weights[known.columns] = known.means
            return self.X @ weights
        order = np.argsort(known.columns)  # each sum in the order of its row
        rows, values = zip(*map(self.occurrences, known.columns[order].tolist()), strict=True)
        starts = np.cumsum([0, *map(len, rows)])
        parts = (np.concatenate(values), np.concatenate(rows), starts)
        return sparse.csc_matrix(parts, shape=(self.X.shape[0], len(order))) @ known.means[order]

    def occurrences(self, column: int) -> tuple[IntArray, FloatArray]:
        """The rows that have a word, ascending, and its weights in them; read once of each word.

        Parameters
        ----------
        column : int
        """
        if column not in self._occurrences:
            places = np.flatnonzero(self.X.indices == column)
            rows = np.searchsorted(self.X.indptr, places, side="right") - 1
            self._occurrences[column] = rows, self.X.data[places]
        return self._occurrences[column]

    def of_sentence_vectors(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Weights of the vectors as the sentence model gives them, and what is left for the intercept.

        Parameters
        ----------
        weights : array (width,)
            Of :attr:`vectors`.
        """
        assert self.sentences is not None
        raw = _LENGTH * weights
        return raw, -float(self.sentences.rows[: self.n_records].mean(axis=0) @ raw)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The collection as a JSON-able dictionary and arrays, for :meth:`from_state`."""
        vectorizer, arrays = to_state(self.vectorizer, "vectorizer")
        weighting, more = to_state(self.weighting, "weighting")
        arrays |= more
        arrays |= {"X.indptr": self.X.indptr.astype(np.int64), "X.indices": self.X.indices.astype(np.int32)}
        arrays["X.data"] = self.X.data
        for k, known in enumerate(self.known.values()):
            arrays |= under(f"known.{k}", known._asdict())
        meta = {"ids": list(self.ids), "vectorizer": vectorizer, "weighting": weighting}
        if self.sentences is not None:
            meta["sentences"], more = to_state(self.sentences.vectorizer, "sentences")
            arrays |= {**more, "sentences.rows": self.sentences.rows}
        return {**meta, "questions": list(self.question_rows), "known": list(self.known)}, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Self:
        """What :meth:`to_state` described; what does not belong together is refused."""
        saved = check_collection(meta)
        words, weights = "the collection's vectorizer", "the collection's weighting"
        vectorizer = from_state(TextVectorizer, saved["vectorizer"], arrays, words, "vectorizer")
        weighting = from_state(TermWeighting, saved["weighting"], arrays, weights, "weighting")
        shape = len(saved["ids"]) + len(saved["questions"]), len(vectorizer.get_feature_names_out())
        if len(weighting.idf_) != shape[1]:
            raise ModelFileError("words and their weights differ in number; was the file altered?")
        starts = saved_array(arrays, "X.indptr", np.int64, (shape[0] + 1,), least=0, most=np.iinfo(np.int32).max)
        X = saved_csr({**arrays, "X.indptr": starts.astype(np.int32)}, "X", shape, least=0.0)
        if X.nnz and X.data.max() > 1.0 + 1e-9:
            raise ModelFileError("a record is longer than one; was the file altered?")
        known = {topic: _known(part_of(arrays, f"known.{k}"), shape[1]) for k, topic in enumerate(saved["known"])}
        sentences = None
        if saved.get("sentences") is not None:
            model = from_state(
                SentenceVectorizer, saved["sentences"], arrays, "the collection's sentence model", "sentences"
            )
            rows = saved_array(arrays, "sentences.rows", np.float32, (shape[0], model.width_), least=-2, most=2)
            sentences = SentenceVectors(model, rows)
        return cls(saved["ids"], X, vectorizer, weighting, saved["questions"], known, sentences)


def sentence_vectorizer(embeddings: str | Path | None) -> SentenceVectorizer | None:
    """What reads sentence vectors, the sentence model found; None where none is wanted.

    Parameters
    ----------
    embeddings : "auto", "off" or None, name or folder
        ``auto``: the packaged model where the extra ``embeddings`` is installed, else none.
    """
    named = automatic_model() if embeddings == "auto" else embeddings
    return None if named is None or named == "off" else SentenceVectorizer(named).fit([])


def _read_vectors(
    vectorizer: SentenceVectorizer, texts: Sequence[str], known: Mapping[str, FloatArray], report: Progress
) -> FloatArray:
    """The sentence vectors of texts, those that are known taken from there."""
    new = list(dict.fromkeys(text for text in texts if text not in known))
    found = vectorizer.transform(new, report).toarray().astype(np.float32) if new else []
    made = dict(zip(new, found, strict=True))
    return np.stack([known[text] if text in known else made[text] for text in texts])


def _known(arrays: Mapping[str, AnyArray], n_words: int) -> PriorMeans:
    columns = saved_array(arrays, "columns", np.int64, (None,), least=0, most=n_words - 1)
    if len(np.unique(columns)) < len(columns):
        raise ModelFileError("what is known of a word is there twice; was the file altered?")
    return PriorMeans(columns, saved_array(arrays, "means", np.float64, columns.shape))


_ANSWERS = (-1, 2)  # the least and the greatest code of an answer
_ANY = Text(unicode=False)  # names that came from elsewhere
_MARK: dict[str, Field] = {  # what every file says of itself; a state in memory says nothing
    **dict.fromkeys(("format", "textbayes"), _ANY | Null()),
    "format_version": Whole() | Null(),
}
_OF_ROOM: dict[str, Field] = {"mark": _ANY | Null()}
_SENTENCES: dict[str, Field] = {"sentences": Described()}  # where sentence vectors stand beside the words
# Records beside their matrix; vectorizer and weighting are read by themselves.
_COLLECTION = Record(
    {
        "ids": List(_ANY, 1),
        **dict.fromkeys(("vectorizer", "weighting"), Described()),
        **dict.fromkeys(("questions", "known"), List(_ANY)),
        **_SENTENCES,
        **_MARK,
        **_OF_ROOM,
    },
    optional={**_SENTENCES, **_MARK, **_OF_ROOM},
)
_STRENGTHS: dict[str, Field] = {"strengths": Named(Choice("weak", "strong"), unicode=False)}
_TOPIC = Record(
    {
        "read": List(Row(Whole(0), Flag())),
        "handed_out": List(Row(Whole(0), Text())),
        "words": Named(Choice("for", "against"), unicode=False),
        **_STRENGTHS,
    },
    optional=_STRENGTHS,
)
# How far the log, or the room's events, had been read.
_PLACE: dict[str, Field] = {
    "log": List(Whole(0), 3, 3) | Null(),
    **dict.fromkeys(("n_records", "sequence"), Whole(0) | Null()),
    "at": Number() | Null(),
}
_SCREENING = Record({"topics": List(_TOPIC), "strategy": Text(), **_PLACE, **_MARK}, optional={**_PLACE, **_MARK})


def check_collection(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says of records; names that are there twice are refused."""
    saved: dict[str, Any] = read({"it": _COLLECTION}, {"it": meta}, {}, "the collection")["it"]
    for names, what in ((saved["ids"], "record"), (saved["questions"], "question"), (saved["known"], "topic")):
        if len(set(names)) < len(names):
            raise ModelFileError(f"a {what} is there twice; was the file altered?")
    return saved


def check_screening(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_topics: int, n_records: int, n_rows: int
) -> dict[str, Any]:
    """What a snapshot says, with all its arrays checked: of so many topics, records, and rows of the matrix."""
    saved: dict[str, Any] = read({"it": _SCREENING}, {"it": meta}, {}, "the snapshot")["it"]
    if len(saved["topics"]) != n_topics:
        raise ModelFileError(f"the snapshot has {len(saved['topics'])} topics, not {n_topics}; was the file altered?")
    for k, topic in enumerate(saved["topics"]):
        _check_topic(topic, part_of(arrays, str(k)), n_records, n_rows)
    return saved


def _check_topic(saved: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_records: int, n_rows: int) -> None:
    least, most = _ANSWERS
    answers = saved_array(arrays, "answers", np.int8, (n_records,), least=least, most=most)
    rows = [row for row, _ in saved["read"]]
    if sorted(rows) != np.flatnonzero(answers).tolist():
        raise ModelFileError("the records that were read are not those with an answer; was the file altered?")
    shown = [row for row, _ in saved["handed_out"]]
    if len(set(shown)) < len(shown) or max(shown, default=-1) >= n_records:
        raise ModelFileError("a record that was handed out is none; was the file altered?")
    saved_array(arrays, "read_predictors", np.float64, (len(rows),))
    y = saved_array(arrays, "y", np.float64, (n_rows,), least=-1, most=1)
    a = saved_array(arrays, "a", np.float64, (n_rows,), least=0)
    if not np.isin(y, (-1.0, 0.0, 1.0)).all() or (a[y == 0.0] != 0.0).any():
        raise ModelFileError("the snapshot has learnt from records without an answer; was the file altered?")
    saved_array(arrays, "c", np.float64, (2,), least=1e-100)
    if solver.is_small(n_rows):
        saved_array(arrays, "E", np.float64, (2, n_rows))
    else:
        saved_array(arrays, "b", np.float64, (1,))

"""Words and labels of a table found among those of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.knowledge.rows import AGAINST, ALL_LABELS, FOR, WordPrior
from textbayes.knowledge.table import WordPriors

Analyze = Callable[[str], Iterable[str]]
"""The words of a text, as a model's vocabulary has them."""


class MatchedPriors(NamedTuple):
    """Table of prior knowledge in terms of a model: one entry for each label and word that something is known of.

    ``label`` and ``column`` say where, ``row`` which row of the table says it. ``mean``, ``scale`` and ``sign`` are NaN
    where the row leaves them to the model, ``direction`` is 1 or −1 where it says "for" or "against", and ``family`` is
    "" where it names none. What was not found is listed in ``unknown_words`` and ``unknown_labels``.
    """

    priors: WordPriors
    n_labels: int
    n_features: int
    row: IntArray
    label: IntArray
    column: IntArray
    mean: FloatArray
    direction: FloatArray
    scale: FloatArray
    family: AnyArray
    sign: FloatArray
    unknown_words: tuple[str, ...]
    unknown_labels: tuple[str, ...]

    @classmethod
    def side_by_side(cls, blocks: Sequence[MatchedPriors]) -> MatchedPriors:
        """A table in the words of several blocks of columns, of the same labels, as one."""
        if len(blocks) == 1:
            return blocks[0]
        starts = np.cumsum([0, *(block.n_features for block in blocks)])
        columns = [block.column + start for block, start in zip(blocks, starts[:-1], strict=True)]
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(block, name) for block in blocks])
            for name in ("row", "label", "mean", "direction", "scale", "family", "sign")
        }
        return blocks[0]._replace(n_features=int(starts[-1]), column=np.concatenate(columns), **joined)


def match_priors(
    priors: WordPriors | Iterable[WordPrior],
    vocabulary: Mapping[str, int] | Iterable[str],
    labels: LabelSpace | Sequence[str],
    analyze: Analyze | None = None,
) -> MatchedPriors:
    """Find the words and the labels of a table in a model.

    A word that is in the vocabulary is taken as it is. Any other goes through ``analyze`` (see :func:`words_of`), so
    that it is cut and stemmed as the texts are; a phrase or a description then stands for each of its words. A row for
    the word itself comes before one for a phrase that holds it, and a row for a label before one for all labels.

    Parameters
    ----------
    priors : WordPriors
    vocabulary : terms by column, or a mapping of term to column
    labels : names of the columns of labels, or a LabelSpace
        Of two classes there is one column, the second's; what is known of the first counts there with its sign turned.
    analyze : function of a text that gives its words, optional
    """
    table = priors if isinstance(priors, WordPriors) else WordPriors(priors)
    column_of = vocabulary if isinstance(vocabulary, Mapping) else {term: j for j, term in enumerate(vocabulary)}
    places = _label_places(labels)
    n_labels = len({index for index, _ in places.values()})
    known = [(i, row) for i, row in enumerate(table) if row.label == ALL_LABELS or row.label in places]
    found, unknown_words = _columns([row.word for _, row in known], column_of, analyze)
    own, everywhere = _Claims(table), _Claims(table)
    for i, row in known:
        columns = found[row.word]
        index, turned = (-1, False) if row.label == ALL_LABELS else places[row.label]
        for column in columns:
            (everywhere if index < 0 else own).add((index, column), i, turned, is_phrase=len(columns) > 1)
    entries = dict(own.entries)
    for (_, column), (i, _, _) in everywhere.entries.items():
        for label in range(n_labels):
            entries.setdefault((label, column), (i, False, False))
    return _matched(
        table,
        (n_labels, len(column_of)),
        entries,
        unknown_words,
        tuple(label for label in table.labels if label not in places),
    )


def words_of(vectorizer: Any) -> Analyze:
    """The words of a text as a vectorizer cuts and stems them, whether its vocabulary has them or not.

    >>> from textbayes.text import TextVectorizer
    >>> words_of(TextVectorizer(stop_words="english", stemmer="porter"))("The acquisitions and mergers of ships")
    ['acquisit', 'merger', 'ship']
    """
    return _Words(vectorizer)


def with_words(
    vocabulary: Iterable[str], priors: WordPriors | Iterable[WordPrior], analyze: Analyze | None = None
) -> list[str]:
    """A vocabulary with the words of a table added, so that a model can use them although no document it learns from
    holds them: such a word stays at its prior mean.

    Parameters
    ----------
    vocabulary : iterable of str
    priors : WordPriors or rows
    analyze : function of a text that gives its words, optional
        The model's own, :func:`textbayes.knowledge.words_of`.

    Examples
    --------
    >>> with_words(["bank", "ship"], [WordPrior("ship", "trade"), WordPrior("port", "trade")])
    ['bank', 'port', 'ship']
    """
    terms = set(vocabulary)
    strange = [word for word in dict.fromkeys(row.word for row in priors) if word not in terms]
    return sorted(terms | {piece for pieces in _analyzed(strange, analyze) for piece in pieces})


class _Words:
    def __init__(self, vectorizer: Any) -> None:
        self._vectorizer = clone(vectorizer).set_params(min_df=1, max_df=1.0, max_features=None, vocabulary=None)

    def __call__(self, text: str) -> list[str]:
        return self.many([text])[0]

    def many(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each of many texts, in one reading."""
        try:
            counts = self._vectorizer.fit_transform(texts)
        except InputError:  # texts of nothing but stop words
            return [[] for _ in texts]
        terms = self._vectorizer.get_feature_names_out()
        return [list(terms[counts.indices[a:b]]) for a, b in zip(counts.indptr, counts.indptr[1:], strict=False)]


class _Claims:
    """Row that speaks for each place; two that differ are refused, unless one is for a phrase that holds the word."""

    def __init__(self, table: WordPriors) -> None:
        self._table = table
        self.entries: dict[tuple[int, int], tuple[int, bool, bool]] = {}

    def add(self, place: tuple[int, int], row: int, turned: bool, is_phrase: bool) -> None:
        earlier = self.entries.setdefault(place, (row, turned, is_phrase))
        if earlier[0] == row or (is_phrase and not earlier[2]):
            return
        if earlier[2] and not is_phrase:
            self.entries[place] = (row, turned, is_phrase)
        elif _values(self._table[row], turned) != _values(self._table[earlier[0]], earlier[1]):
            first, second = self._table[earlier[0]], self._table[row]
            raise InputError(
                f"{first.word!r} for {first.label!r} and {second.word!r} for {second.label!r} are the same to this "
                "model and say different things; keep one of them"
            )


def _values(row: WordPrior, turned: bool) -> tuple[float | None, float, float | None, str | None, int | None]:
    """Mean (None for a blank or a direction), direction, scale, family and sign; turned for the first of two."""
    turn = -1 if turned else 1
    if isinstance(row.mean, str):
        mean, direction = None, turn * {FOR: 1.0, AGAINST: -1.0}[row.mean]
    else:
        mean, direction = None if row.mean is None else turn * row.mean, 0.0
    return mean, direction, row.scale, row.family, None if row.sign is None else turn * row.sign


def _label_places(labels: LabelSpace | Sequence[str]) -> dict[str, tuple[int, bool]]:
    """The column of each label, and whether it speaks for the other of two classes."""
    if isinstance(labels, LabelSpace):
        if labels.kind == "binary":
            return {str(labels.classes[0]): (0, True), str(labels.classes[1]): (0, False)}
        labels = labels.column_names
    if isinstance(labels, str):
        raise InputError(f"labels is the text {labels!r}; pass a list of names: [{labels!r}]")
    places = {str(label): (index, False) for index, label in enumerate(labels)}
    if len(places) != len(labels) or not places:
        raise InputError(f"{len(labels)} labels need as many different names, at least one; got {list(labels)!r}")
    return places


def _columns(
    words: Iterable[str], column_of: Mapping[str, int], analyze: Analyze | None
) -> tuple[dict[str, list[int]], tuple[str, ...]]:
    """The columns of each word, and the words without one."""
    distinct = list(dict.fromkeys(words))
    found = {word: [column_of[word]] for word in distinct if word in column_of}
    strange = [word for word in distinct if word not in found]
    unknown: dict[str, None] = {}
    for word, pieces in zip(strange, _analyzed(strange, analyze), strict=True):
        found[word] = [column_of[piece] for piece in pieces if piece in column_of]
        # A single word is reported as it was written; of a description, those of its words that the model lacks.
        missing = [piece for piece in pieces if piece not in column_of]
        unknown.update(dict.fromkeys(missing if len(pieces) > 1 else [word] if not found[word] else []))
    return found, tuple(unknown)


def _analyzed(words: Sequence[str], analyze: Analyze | None) -> list[list[str]]:
    """The distinct words of each word or phrase; themselves where nothing analyzes them."""
    if analyze is None or not words:
        return [[word] for word in words]
    many = getattr(analyze, "many", None)
    return [list(dict.fromkeys(pieces)) for pieces in (many(words) if many is not None else map(analyze, words))]


def _matched(
    table: WordPriors,
    shape: tuple[int, int],
    entries: dict[tuple[int, int], tuple[int, bool, bool]],
    unknown_words: tuple[str, ...],
    unknown_labels: tuple[str, ...],
) -> MatchedPriors:
    order = sorted(entries)
    values = [_values(table[entries[place][0]], entries[place][1]) for place in order]
    means, directions, scales, families, signs = zip(*values, strict=True) if values else ((),) * 5
    places = np.array(order, dtype=np.int64).reshape(-1, 2)
    return MatchedPriors(
        table,
        *shape,
        np.array([entries[place][0] for place in order], dtype=np.int64),
        places[:, 0],
        places[:, 1],
        np.array(means, dtype=np.float64),
        np.array(directions, dtype=np.float64),
        np.array(scales, dtype=np.float64),
        np.array([family or "" for family in families], dtype=np.str_),
        np.array(signs, dtype=np.float64),
        unknown_words,
        unknown_labels,
    )

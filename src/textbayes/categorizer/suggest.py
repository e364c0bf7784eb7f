"""Which texts to label next: those whose labels would teach the most, in batches that do not repeat themselves.

A session keeps words, directions and copies of all texts, read once, and learns from each answer with one fast linear
model (logistic regressions with Gaussian priors), not the ensemble that ``train`` makes of the labels in the end. Of an
answer to the next text it costs one fit to the labelled texts and one pass over the words of all.

Copies of labelled or suggested texts and texts that are unlike all others are never asked about. A share is drawn at
random all the same, from all texts without a label: these make figures of the model honest (``evaluate.draw_weights``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse, special

from textbayes.categorizer import asking
from textbayes.categorizer.described import Described, read_described
from textbayes.categorizer.prepare import as_texts
from textbayes.core.errors import InputError
from textbayes.core.labels import is_missing
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_choice, check_same_length
from textbayes.evaluate.intervals import Growth, Share, draw_weights, expected_growth, weighted_share
from textbayes.knowledge.sources import named_and_described
from textbayes.text.copies import text_fingerprints
from textbayes.text.surface import find_tokens

Strategy = Literal["clusters", "information", "error", "margin", "entropy", "random"]
STRATEGIES = ("clusters", "information", "error", "margin", "entropy", "random")
_DIRECTIONS = 50
_UNLIKE = 0.1  # of what the usual text has in common with others: a text with less is unlike all others
_TIMES = 10  # as many uncertain texts as are wanted are put into groups
_CANDIDATES, _TRIED, _OTHERS = 500, 100, 150  # texts whose information, or error afterwards, is computed
_FEW = 4  # labelled texts below which texts are chosen by what is common among them
_SIZES = (0.125, 0.25, 0.5, 1.0)  # of the labelled texts of the other folds, for the learning curve
_FOLDS, _REPEATS = 5, 2
_LEAST_FOR_CURVE, _LEAST_AT_RANDOM = 20, 10  # labelled texts, and those of them drawn at random, for figures
_WORDS, _CHARACTERS = 8, 20_000  # named behind a guess, and looked for in a text
_FOLLOWED = (1.0, 0.25, 0.0)  # of what descriptions count for, tried on held-out answers
_TRIED_FROM, _TRIED_TO, _GROWTH = 10, 200, 1.5  # numbers of answers at which that is tried


@dataclass(frozen=True)
class Suggestion:
    """A text to label.

    ``index`` is its place among the texts. ``guess`` has the label or labels that the model would give,
    ``probability`` is that of the guess (of several the lowest, of none the highest that any has); both are None as
    long as no model can be fitted. ``reason`` is the strategy, ``"random"`` or, at the start, ``"typical"``. ``score``
    is what the text was chosen by: bits for "information" and "entropy", errors avoided for "error", 0 to 1 for others.
    ``words`` are those of the text that speak most for the guess, the strongest first.
    """

    index: int
    reason: str
    guess: tuple[str, ...] | None
    probability: float | None
    score: float | None
    words: tuple[str, ...] = ()


class LabellingSession:
    """Texts that are being labelled: takes answers, and says which texts to ask about next.

    Parameters
    ----------
    texts : iterable of str
    labels : sequence, optional
        For each text its label, or None (or NaN, or an empty string) where it has none yet; with ``multi_label`` a list
        of labels, which may be empty.
    multi_label : bool
        Whether a text has any number of labels.
    drawn : sequence of bool, optional
        Of each labelled text whether it was drawn at random; all of them unless given.
    strategy : {"clusters", "information", "error", "margin", "entropy", "random"}
        - "clusters": texts that are uncertain and have much in common with others, in groups, and the text in the
          middle of each (Zhdanov 2019; Settles & Craven 2008);
        - "information": the texts whose labels are expected to tell most bits of the model's weights, together;
        - "error": those after whose labels the fewest errors on other texts are expected;
        - "margin", "entropy": the most uncertain texts;
        - "random".
    random_share : float
        Of the suggestions, drawn at random from all texts without a label.
    seed : int
    model : TextCategorizer, optional
        Whose words, probabilities and uncertainty are used as they are: answers change only which texts are left. Its
        training texts are never asked about.
    descriptions : label → description, or sequence of labels, optional
        The words of names and descriptions give guesses before any answer. Each counts as two labelled texts at first,
        and as fewer or none when answers are guessed better so. Labels of answers need not be among them.

    Attributes
    ----------
    proba : array (n_texts, n_labels) or None
        Of every text's labels, by all answers so far; None as long as no model can be fitted.
    names : list of str
        The labels, in the order of the columns.

    Examples
    --------
    >>> texts = ["corn and wheat", "wheat falls", "corn up", "bank rates", "rates and loans", "the bank lends"]
    >>> session = LabellingSession(texts, ["grain", None, None, "money", None, None], random_share=0.0)
    >>> [found] = session.suggest(1)
    >>> session.answer(found.index, "grain" if found.index < 3 else "money")
    >>> found.index in [suggestion.index for suggestion in session.suggest(3)]
    False
    """

    def __init__(
        self,
        texts: Iterable[str],
        labels: Sequence[Any] | None = None,
        *,
        multi_label: bool = False,
        drawn: Sequence[bool] | None = None,
        strategy: Strategy = "clusters",
        random_share: float = 0.1,
        seed: int = 0,
        model: Any = None,
        descriptions: Mapping[str, str] | Iterable[str] | None = None,
    ) -> None:
        texts = as_texts(texts)
        check_choice("strategy", strategy, STRATEGIES)
        if not 0.0 <= random_share <= 1.0:
            raise InputError(f"random_share={random_share} is no share; pass a number from 0 to 1")
        if not texts:
            raise InputError("there are no texts to choose from; pass some")
        given = [None] * len(texts) if labels is None else list(labels)
        check_same_length(texts, "texts", given, "labels")
        self.strategy, self.random_share, self.multi_label = strategy, random_share, multi_label
        self._rng = np.random.default_rng(seed)
        self._model, self._seed, self._texts = model, seed, texts
        if model is not None and descriptions is not None:
            raise InputError("descriptions tell of labels where there is no model yet; leave them out, or the model")
        self._read = asking.read_texts(texts, model)
        self._X, self._copy_of = self._read.X, self._read.first
        self._scaled = sparse.csr_matrix(self._X @ sparse.diags(self._read.scale))
        self._points, self._likeness = asking.directions(self._X, _DIRECTIONS, seed), asking.likeness(self._X)
        known = None if model is None else model.fingerprints_
        self._learnt = np.zeros(len(texts), dtype=np.bool_)
        if known is not None:
            self._learnt = np.isin(text_fingerprints(texts, unique=False), known)
        self._labels: dict[int, tuple[str, ...]] = {}
        self._drawn: dict[int, bool] = {}
        self._at_random: set[int] = set()
        if model is not None:
            self.multi_label = model.label_space_.kind == "multilabel"
        for i, label in enumerate(given):
            if not is_missing(label):
                self._labels[i] = self._as_labels(label)
                self._drawn[i] = True if drawn is None else bool(drawn[i])
        self.names: list[str] = []
        self.proba: FloatArray | None = None
        self._weights: FloatArray | None = None
        self._followed = 1.0
        self._tried: tuple[tuple[int, tuple[str, ...]], float] = ((0, ()), 1.0)
        self._n_suggested = len(self._labels)  # so that small batches, asked for one by one, have their share at random
        self._describe(descriptions)
        self._learn(at_start=True)

    # -- answers ----------------------------------------------------------------------------------------------------
    def answer(self, index: int, label: Any) -> None:
        """Take an answer, and learn it: a label, or with ``multi_label`` a list of labels; another replaces it."""
        self.answers({index: label})

    def answers(self, labels: Mapping[int, Any]) -> None:
        """Take several answers, by index, and learn them together."""
        for index, label in labels.items():
            if not 0 <= index < self._X.shape[0]:
                raise InputError(f"there is no text {index}; pass an index from 0 to {self._X.shape[0] - 1}")
            self._labels[index] = self._as_labels(label)
            self._drawn.setdefault(index, index in self._at_random)
        self._learn()

    def restate(
        self,
        labels: Mapping[int, Any],
        drawn: Collection[int],
        descriptions: Mapping[str, str] | Iterable[str] | None = None,
    ) -> None:
        """Take answers and descriptions in place of all that there were, and learn them.

        Parameters
        ----------
        labels : index → label, or list of labels
            In the order in which they were given.
        drawn : collection of int
            Indices of texts that were drawn at random.
        descriptions : label → description, or sequence of labels, optional
        """
        self._labels, self._drawn = {}, {index: index in drawn for index in labels}
        self._describe(descriptions)
        self.answers(labels)

    def _describe(self, descriptions: Mapping[str, str] | Iterable[str] | None) -> None:
        self._described: Described | None = None
        told = None if descriptions is None else named_and_described(descriptions)
        if told:
            self._described = read_described(told, self._read.as_rows, self._X, self._points)

    @property
    def reader(self) -> Any:
        """What reads the words of texts: the fitted vectorizer, the model's own where there is a model."""
        return self._read.reader

    @property
    def labelled(self) -> IntArray:
        """Indices of the texts with a label, in the order in which they were labelled."""
        return np.fromiter(self._labels, dtype=np.int64, count=len(self._labels))

    def _as_labels(self, label: Any) -> tuple[str, ...]:
        names = label if isinstance(label, (list, tuple, set, frozenset)) else [label]
        if any(is_missing(name) for name in names):
            what = "" if not self.multi_label else "; pass an empty list for a text that has none of the labels"
            raise InputError(f"{label!r} is no label of a text{what}")
        if self.multi_label:
            if isinstance(label, str):
                raise InputError(f"the label {label!r} is given where a list of labels is needed; pass [{label!r}]")
            return tuple(dict.fromkeys(str(name) for name in label))
        if isinstance(label, (list, tuple, set, frozenset)):
            if len(label) != 1:
                raise InputError(
                    f"{len(label)} labels are given where one is needed; pass multi_label=True for several"
                )
            (label,) = label
        return (str(label),)

    def _learn(self, at_start: bool = False) -> None:
        """Fit the fast model to all answers; with a model of the user's, ask that one, once."""
        if self._model is not None:
            if at_start:
                space = self._model.label_space_
                self.names = space.class_names
                self.proba = np.clip(space.both_columns(self._model.assess(self._texts).proba), 1e-12, 1.0 - 1e-12)
                self._mean = special.logit(self.proba)
            return
        rows, exclusive = self.labelled, not self.multi_label
        described = () if self._described is None else self._described.names
        self.names = sorted({name for row in self._labels.values() for name in row} | set(described))
        self._followed = self._choose_followed()
        fitted = self._fit(self._X[rows], self._indicator(rows))
        self.proba = self._weights = None
        if fitted is not None:
            self._mean = fitted.log_odds(self._X)
            self.proba, self._weights = asking.probabilities(self._mean, exclusive), fitted.weights()

    def _fit(self, X: Any, Y: BoolArray) -> asking.FastModel | None:
        """The fast model of labelled texts, and of what descriptions stand for."""
        weight = None
        if self._described is not None and self._followed > 0.0:
            X, Y, weight = self._described.joined(X, Y, self.names, self._labels, self._followed)
        return asking.fast_fit(X, Y, not self.multi_label, weight)

    def _choose_followed(self) -> float:
        """How far descriptions are followed: as guesses of held-out answers are best, the further of equal ones.

        It is tried at 10 answers, and whenever there are half as many again, so that few answers wait for it.
        """
        if self._described is None or len(self._labels) < _TRIED_FROM:
            return 1.0
        steps = int(np.log(min(len(self._labels), _TRIED_TO) / _TRIED_FROM) / np.log(_GROWTH))
        n = round(_TRIED_FROM * _GROWTH**steps)
        key = (n, tuple(self.names))
        if self._tried[0] != key:
            rows = self.labelled[:n]
            X, Y, right = self._X[rows], self._indicator(rows), []
            for self._followed in _FOLLOWED:
                right.append(self._cross_validated(X, Y, np.arange(n), (1.0,)).mean())
            self._tried = (key, _FOLLOWED[int(np.argmax(right))])
        return self._tried[1]

    def _indicator(self, rows: IntArray) -> BoolArray:
        place = {name: k for k, name in enumerate(self.names)}
        Y = np.zeros((len(rows), len(self.names)), dtype=np.bool_)
        for i, row in enumerate(rows):
            Y[i, [place[name] for name in self._labels[int(row)]]] = True
        return Y

    # -- questions --------------------------------------------------------------------------------------------------
    def left(self) -> IntArray:
        """Indices of the texts that can be asked about: without a label, and no copy of one that has one."""
        once = np.arange(len(self._copy_of)) == self._copy_of
        once[self._copy_of[self.labelled]] = False
        once[self._copy_of[self._learnt]] = False
        return np.flatnonzero(once)

    def suggest(self, n: int = 10, without: Collection[int] = ()) -> list[Suggestion]:
        """The texts to label next, those drawn at random first; fewer if fewer are left.

        Parameters
        ----------
        n : int
        without : collection of int
            Indices of texts that are not to be asked about now.
        """
        left = self.left()
        if without:
            left = left[~np.isin(left, np.fromiter(without, np.int64, len(without)))]
        n = min(n, len(left))
        share = 1.0 if self.strategy == "random" else self.random_share
        before, after = self._n_suggested, self._n_suggested + n
        n_random = round(after * share) - round(before * share)
        self._n_suggested = after
        drawn = self._rng.choice(left, n_random, replace=False)
        self._at_random.update(drawn.tolist())
        found = [self._suggestion(int(i), "random", None) for i in drawn]
        rows = np.setdiff1d(left, drawn)
        usual = rows[self._likeness[rows] > _UNLIKE]
        rows = usual if len(usual) >= n - n_random else rows
        if n > n_random:
            found += self._chosen(rows, n - n_random)
        return found

    def _chosen(self, rows: IntArray, n: int) -> list[Suggestion]:
        exclusive = not self.multi_label
        if self.proba is None or (self._model is None and len(self._labels) < _FEW):
            return [self._suggestion(int(i), "typical", None) for i in self._typical(rows, n)]
        proba = self.proba[rows]
        unsure = asking.uncertainty(proba, exclusive, "entropy" if self.strategy == "entropy" else "margin")
        ranked = np.argsort(-unsure, kind="stable")
        if self.strategy in ("margin", "entropy"):
            places, scores = ranked[:n], unsure[ranked[:n]]
        elif self.strategy == "clusters":
            worth = unsure * self._likeness[rows]
            top = np.argsort(-worth, kind="stable")[: _TIMES * n]
            central, _ = asking.clusters(self._points[rows[top]], n, worth[top], self._seed)
            rest = np.setdiff1d(np.arange(len(top)), central)[: n - len(central)]
            places = top[np.concatenate([central, rest])]
            scores = unsure[places]
        else:
            some = self._candidates(ranked, _CANDIDATES if self.strategy == "information" else _TRIED)
            chosen, scores = self._by_posterior(rows, some, n)
            places = some[chosen]
        return [self._suggestion(int(rows[i]), self.strategy, float(s)) for i, s in zip(places, scores, strict=True)]

    def _candidates(self, ranked: IntArray, n: int) -> IntArray:
        """Half of the candidates are the most uncertain ones, half come from all others at random."""
        if len(ranked) <= n:
            return ranked
        others = self._rng.choice(ranked[n // 2 :], n - n // 2, replace=False)
        return np.concatenate([ranked[: n // 2], others])

    def _by_posterior(self, rows: IntArray, some: IntArray, n: int) -> tuple[list[int], FloatArray]:
        assert self.proba is not None
        labelled, exclusive = self.labelled, not self.multi_label
        curvature = asking.shared_curvature(self.proba[labelled])
        chosen = rows[some]
        if self.strategy == "information":
            covariance = asking.Covariance(self._scaled, chosen, labelled, curvature)
            return asking.informative_batch(self._mean[chosen], covariance, n, exclusive)
        others = self._rng.choice(rows, min(_OTHERS, len(rows)), replace=False)
        both = np.concatenate([chosen, others])
        covariance = asking.Covariance(self._scaled, both, labelled, curvature)
        return asking.corrective_batch(self._mean[both], covariance, len(chosen), n, exclusive)

    def _typical(self, rows: IntArray, n: int) -> IntArray:
        """Texts in the middle of the largest groups that have no labelled text yet."""
        labelled = self.labelled
        both = np.concatenate([labelled, rows])
        central, group = asking.clusters(self._points[both], n + len(labelled), np.ones(len(both)), self._seed)
        size = np.bincount(group, minlength=len(central)).astype(np.float64)
        size[group[: len(labelled)]] = -1.0
        order = [k for k in np.argsort(-size, kind="stable") if size[k] > 0.0][:n]
        found = both[central[order]]
        rest = np.setdiff1d(rows, found)
        return np.concatenate([found, self._rng.choice(rest, n - len(found), replace=False)]).astype(np.int64)

    def _suggestion(self, index: int, reason: str, score: float | None) -> Suggestion:
        if self.proba is None:
            return Suggestion(index, reason, None, None, score)
        row = self.proba[index]
        if not self.multi_label:
            best = int(row.argmax())
            words = tuple(self.words(index, self.names[best]))
            return Suggestion(index, reason, (self.names[best],), float(row[best]), score, words)
        given = np.flatnonzero(row > 0.5)
        probability = float(row[given].min() if len(given) else row.max())
        guess = tuple(self.names[k] for k in given)
        words = tuple(dict.fromkeys(word for name in guess for word in self.words(index, name)))[:_WORDS]
        return Suggestion(index, reason, guess, probability, score, words)

    def contributions(self, index: int, label: str) -> dict[str, float]:
        """What each term of a text, as :attr:`reader` reads it, adds to the log-odds of a label.

        The log-odds are those of the fast model; a model of the user's has ``explain``.

        Parameters
        ----------
        index : int
        label : str
        """
        if self._weights is None:
            return {}
        row = self._X[[index]]
        values = row.data * self._weights[self.names.index(label), row.indices]
        return dict(zip(self.reader.terms_of(row.indices), values.tolist(), strict=True))

    def words(self, index: int, label: str) -> dict[str, float]:
        """The words of a text that speak most for a label, as the text has them, and what each adds to its log-odds."""
        if self._model is not None:
            (found,) = self._model.explain(self._texts[index], [label])
            adds = {one.word: one.log_odds for one in found.contributions}
            seen = {word: word for word, part in adds.items() if part > 0.0}
        else:
            adds, seen, text = self.contributions(index, label), {}, self._texts[index][:_CHARACTERS]
            for token in find_tokens(text, self.reader):
                if token.term is not None and adds.get(token.term, 0.0) > 0.0:
                    seen.setdefault(token.term, text[token.begin : token.end].lower())
        return {seen[term]: adds[term] for term in sorted(seen, key=lambda term: -adds[term])[:_WORDS]}

    # -- how good it is ---------------------------------------------------------------------------------------------
    def share_right(self) -> Share | None:
        """Share of all texts that the fast model is expected to get right, by cross-validation, weighted.

        Of many labels it is the mean share of labels in common with the truth, of those in either (Jaccard). Weights
        are those of ``evaluate.draw_weights``. None with fewer than 20 labels, or fewer than
        10 of texts drawn at random.
        """
        found = self._held_out((1.0,))
        return None if found is None else weighted_share(found[1][:, -1], found[2])

    def growth(self, ahead: Sequence[int] = (50, 100, 200)) -> Growth | None:
        """How that share is expected to grow with so many more labels; None as long as there are too few."""
        found = self._held_out(_SIZES)
        if found is None:
            return None
        rows = self._labels
        sizes, right, weight = found
        start = 0.0 if self.multi_label else 1.0 / max(len(self.names), 2)
        return expected_growth(sizes, right, weight, [len(rows) + more for more in ahead], start, seed=self._seed)

    def _held_out(self, parts: Sequence[float]) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Numbers of texts learnt from, how much of each held-out text's answer was right by each, and weights."""
        rows = self.labelled
        drawn = np.array([self._drawn[int(i)] for i in rows], dtype=bool)
        if len(rows) < _LEAST_FOR_CURVE or drawn.sum() < _LEAST_AT_RANDOM:
            return None
        rng = np.random.default_rng(self._seed)
        X, Y = self._X[rows], self._indicator(rows)
        right = np.zeros((len(rows), len(parts)))
        for _ in range(_REPEATS):
            right += self._cross_validated(X, Y, rng.permutation(len(rows)), parts, rng) / _REPEATS
        n_learnt = len(rows) * (_FOLDS - 1) / _FOLDS
        weight = draw_weights(drawn, max(len(np.unique(self._copy_of)), len(rows)))
        return np.maximum(np.round(np.array(parts) * n_learnt), 2.0), right, weight

    def _cross_validated(
        self, X: Any, Y: BoolArray, order: IntArray, parts: Sequence[float], rng: np.random.Generator | None = None
    ) -> FloatArray:
        """How much of each text's answer is right when texts of other folds are learnt from, (n_texts, n_parts)."""
        right = np.zeros((len(order), len(parts)))
        for k in range(_FOLDS):
            test, rest = order[k::_FOLDS], np.setdiff1d(order, order[k::_FOLDS])
            rest = rest if rng is None else rng.permutation(rest)
            for j, part in enumerate(parts):
                some = rest[: max(round(part * len(rest)), 2)]
                fitted = self._fit(X[some], Y[some])
                if fitted is not None:
                    proba = asking.probabilities(fitted.log_odds(X[test]), not self.multi_label)
                else:  # one class only
                    proba = np.tile(Y[some].mean(axis=0), (len(test), 1))
                right[test, j] = _agreement(Y[test], proba, not self.multi_label)
        return right


def suggest(
    texts: Iterable[str], labels: Sequence[Any] | None = None, n: int = 10, model: Any = None, **settings: Any
) -> list[Suggestion]:
    """Texts to label next, of those without a label: what a :class:`LabellingSession` suggests first.

    Parameters
    ----------
    texts, labels, model, **settings
        As for :class:`LabellingSession`.
    n : int

    Examples
    --------
    >>> texts = ["corn and wheat", "wheat falls", "corn up", "bank rates", "rates and loans", "the bank lends"]
    >>> len(suggest(texts, n=2))
    2
    """
    return LabellingSession(texts, labels, model=model, **settings).suggest(n)


def _agreement(Y: BoolArray, proba: FloatArray, exclusive: bool) -> AnyArray:
    """How much of each text's answer is right."""
    if exclusive:
        return np.asarray(Y[np.arange(len(Y)), proba.argmax(axis=1)], dtype=np.float64)
    decided = proba > 0.5
    either = (Y | decided).sum(axis=1)
    return np.where(either > 0, (Y & decided).sum(axis=1) / np.maximum(either, 1), 1.0)

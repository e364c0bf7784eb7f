"""One topic of a screening: its answers, its model and its queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.screen.collection import NOTHING, Collection, PriorMeans
from textbayes.screen.settings import (
    MEDIUM,
    STRENGTHS,
    Candidates,
    Pick,
    RandomAudit,
    ScreenSettings,
    make_strategy,
)
from textbayes.screen.solver import Weights, make_solver, standard_errors, word_standard_errors
from textbayes.text.sentences import MEANING

UNREAD, RELEVANT, IRRELEVANT, UNSURE = 0, 1, -1, 2
_LEAST_SHARE = 1e-9  # of its weight that a question counts with
_LEFT_OUT = 150  # judged records of each outcome that are looked at as if they were not judged
_MISLED = 0.1  # probability that a question is not that of the relevant records
_ASKED, _ASKED_FADE = 0.5, 5.0  # prior means of a question's words, by their weights; finds at which half is left
_SEPARATES = 0.6  # standard deviations between relevant and other records by a table that is followed in full
_EXPECTED = 5.0  # finds as which it counts that a table is expected to separate them by one
_USUAL = 5.0  # records of the usual standing, 0, with which those read in vain are averaged
_DOUBT = 1.0  # standard deviation of the weight of a word that somebody favours, as a share of its mean
_EXTREMES = (-2.0, 2.5)  # standard deviations: no single find decides whether a table is followed
CODES = {"relevant": RELEVANT, "irrelevant": IRRELEVANT, "unsure": UNSURE, "withdrawn": UNREAD}


class ReadingHistory(NamedTuple):
    """What was read for a topic, in order; answers as they stand now.

    Parameters
    ----------
    rows : array (n_read,)
    relevant : array (n_read,)
        Whether the answer is relevant; unsure counts as not.
    predictors : array (n_read,)
        Log-odds of the model just before each was answered.
    at_random : array (n_read,)
        Whether it was drawn by chance.
    """

    rows: IntArray
    relevant: BoolArray
    predictors: FloatArray
    at_random: BoolArray


class LeftOut(NamedTuple):
    """Judged records as the model would rank them without the answer of each.

    Parameters
    ----------
    relevant : array (n,)
    predictors : array (n,)
    counts : array (n,)
        How many judged records each stands for.
    """

    relevant: BoolArray
    predictors: FloatArray
    counts: FloatArray


class ScreeningTopic:
    """Answers for one topic, and the model that has learnt from them; every answer is learnt at once.

    Parameters
    ----------
    name : str
    collection : Collection
    settings : ScreenSettings

    Attributes
    ----------
    answers : array (n_records,)
        0 not read, 1 relevant, −1 irrelevant, 2 unsure.
    words : dict
        Words that the reviewer favours ("for") or disfavours ("against").
    strengths : dict
        How strong those are that are not of medium strength.
    handed_out : dict
        Rows that were handed out and are not answered, and the strategy that chose each.
    strategy : str
        Which records are handed out next.
    """

    def __init__(self, name: str, collection: Collection, settings: ScreenSettings) -> None:
        self.name, self._collection, self._settings = name, collection, settings
        self.strategy = settings.strategy
        self.answers = np.zeros(collection.n_records, dtype=np.int8)
        self.words: dict[str, str] = {}
        self.strengths: dict[str, str] = {}
        self.handed_out: dict[int, str] = {}
        self._read: dict[int, tuple[float, bool]] = {}  # row → predictor before the answer, drawn by chance
        self._known = collection.known.get(name, NOTHING)
        self._transferred, self._favoured = collection.offset(self._known), NOTHING
        self._standing = _standardised(self._transferred[: collection.n_records])
        self._asked = _words_of(collection, name)
        self._asked_offset = collection.offset(self._asked)
        self._own_offset = np.zeros_like(self._transferred)
        self._variances: FloatArray | None = None  # of words that somebody favours; 1 for all others
        self._solver = make_solver(collection.X, collection.vectors)
        self._predictors: FloatArray | None = None
        self._behind = False  # whether there are answers that the fit does not know
        self._word_weights: FloatArray | None = None
        self._left_out: LeftOut | None = None
        self._refit()

    # -- what happens ------------------------------------------------------------------------------------------------
    def judge(self, row: int, answer: str, learn: bool = True) -> None:
        """Take an answer, one of ``ANSWERS``; a later one for the same record takes the place of an earlier.

        Without ``learn`` the model stays as it was until :meth:`learn` is called: many answers cost one fit.
        """
        code = CODES[answer]
        drawn = self.handed_out.pop(row, "") == RandomAudit.reason
        if code == UNREAD:
            self._read.pop(row, None)
        elif row not in self._read:
            self._read[row] = (self._predictor(row), drawn)
        teaches = code != self.answers[row] and 1 in (abs(code), abs(self.answers[row]))  # unsure ones do not
        self.answers[row] = code
        self._behind |= teaches
        if learn:
            self.learn()

    def learn(self) -> None:
        """Learn the answers that were taken since the last fit."""
        if self._behind:
            self._refit()

    def hand_out(self, picks: list[Pick]) -> None:
        """Note that records are being read; they are not handed out again."""
        self.handed_out |= {pick.row: pick.reason for pick in picks}

    def favour(self, word: str, direction: str, strength: str = MEDIUM) -> None:
        """Let a word speak ``"for"`` or ``"against"`` the topic, or ``"forget"`` that it was said to."""
        for known in (self.words, self.strengths):
            known.pop(word, None)
        if direction != "forget":
            self.words[word] = direction
            if strength != MEDIUM:
                self.strengths[word] = strength
        self._read_words()
        self._refit()

    def _read_words(self) -> None:
        table = WordPriors([WordPrior(known, self.name, said) for known, said in self.words.items()])
        self._favoured = self._collection.find_words(table, self.name, times=[self.times(word) for word in self.words])
        self._own_offset, self._variances = self._collection.offset(self._favoured), None
        if len(self._favoured.columns):
            self._variances = np.ones(self._collection.X.shape[1])
            self._variances[self._favoured.columns] += (_DOUBT * self._favoured.means) ** 2
        self._solver.restart(self._variances)

    def times(self, word: str) -> float:
        """By how much the usual prior mean of a word is multiplied."""
        return STRENGTHS[self.strengths.get(word, MEDIUM)]

    # -- what is known -----------------------------------------------------------------------------------------------
    @property
    def n_relevant(self) -> int:
        """Records judged relevant."""
        return int((self.answers == RELEVANT).sum())

    @property
    def predictors(self) -> FloatArray:
        """Log-odds of relevance of every record by the model; see ``screen.remaining`` for probabilities."""
        if self._predictors is None:
            self._predictors = self._solver.predictors(self._fitted_offset)[: self._collection.n_records]
        return self._predictors

    def reading(self) -> ReadingHistory:
        """What was read, in order."""
        rows = np.fromiter(self._read, dtype=np.int64, count=len(self._read))
        values = np.array(list(self._read.values()), dtype=np.float64).reshape(-1, 2)
        return ReadingHistory(rows, self.answers[rows] == RELEVANT, values[:, 0], values[:, 1] > 0.0)

    def unread(self) -> IntArray:
        """Rows that have no answer."""
        return np.flatnonzero(self.answers == UNREAD)

    def next_records(self, n: int) -> list[Pick]:
        """The next records to read, none that was handed out before; at random while nothing is known."""
        free = self.answers == UNREAD
        free[list(self.handed_out)] = False
        rows = np.flatnonzero(free)
        n_before = len(self._read) + len(self.handed_out)
        waiting = Candidates(rows, self.predictors[rows], n_before, self._settings.random_state)
        strategy = make_strategy(self.strategy) if self._knows() else RandomAudit()
        return strategy.pick(waiting, min(n, len(rows))) if len(rows) and n > 0 else []

    def standard_errors(self, rows: IntArray) -> FloatArray:
        """Posterior standard deviations of the predictors of some records."""
        known = self._collection
        return standard_errors(known.X, rows, *self._curvature(), self._roots(), vectors=known.vectors)

    def left_out(self) -> LeftOut:
        """Whether judged records are relevant, and their predictors by the model without the answer of each.

        With Laplace's approximation: f − g·v/(1 − h·v), for a predictor f of posterior variance v, and a log-likelihood
        of slope g and curvature h. Of many records of an outcome an even choice is taken, which stands for all.
        """
        if self._left_out is None:
            judged, y, weights, shares = self._judged()
            weight, f = np.where(y > 0.0, *weights) * shares, self._solver.predictors_of(judged, self._fitted_offset)
            own = judged < self._collection.n_records
            sides = [np.flatnonzero(own & side) for side in (y > 0.0, y < 0.0)]
            parts = [side[:: -(-len(side) // _LEFT_OUT) or 1] for side in sides]
            counts = np.repeat([len(side) / max(len(part), 1) for side, part in zip(sides, parts, strict=True)],
                               [len(part) for part in parts])  # fmt: skip
            chosen = np.concatenate(parts)
            known, roots = self._collection, self._roots()
            v = standard_errors(known.X, judged[chosen], judged, weight, f, roots, 2 * _LEFT_OUT, known.vectors) ** 2
            p, relevant = special.expit(f[chosen]), y[chosen] > 0.0
            g, h = weight[chosen] * (relevant - p), weight[chosen] * p * (1.0 - p)
            self._left_out = LeftOut(relevant, f[chosen] - g * v / np.maximum(1.0 - h * v, _LEAST_SHARE), counts)
        return self._left_out

    def word_standard_errors(self, columns: IntArray) -> FloatArray:
        """Posterior standard deviations of the weights of some words."""
        known = self._collection
        return word_standard_errors(known.X, columns, *self._curvature(), self._roots(), known.vectors)

    def _roots(self) -> FloatArray | None:
        """Prior standard deviations of the words; None where all are 1."""
        return None if self._variances is None else np.sqrt(self._variances)

    def _curvature(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """The judged rows, their weights in the likelihood, and their predictors."""
        judged, y, weights, shares = self._judged()
        return judged, np.where(y > 0.0, *weights) * shares, self._solver.predictors_of(judged, self._fitted_offset)

    def words_behind(self, row: int, top: int = 5, share: float = 1.0) -> dict[str, float]:
        """The words of a record that move its predictor most, and by how much: no more than make up a share of all.

        A sentence vector counts as one more word, "meaning of the text".
        """
        return self.words_behind_each([row], top, share)[0]

    def words_behind_each(self, rows: Iterable[int], top: int = 5, share: float = 1.0) -> list[dict[str, float]]:
        """As :meth:`words_behind`, of many records at once."""
        chosen = [self._parts_behind(row, top, share) for row in rows]
        used = np.unique(np.concatenate([columns for columns, _ in chosen]) if chosen else np.empty(0, dtype=np.int64))
        used = used[used >= 0]
        names = dict(zip(used.tolist(), self._collection.vectorizer.terms_of(used), strict=True))
        return [
            {names.get(column, MEANING): part for column, part in zip(columns.tolist(), parts.tolist(), strict=True)}
            for columns, parts in chosen
        ]

    def _parts_behind(self, row: int, top: int, share: float) -> tuple[IntArray, FloatArray]:
        """Columns of the strongest words of a record, -1 for its sentence vector, and their parts of the predictor."""
        X, vectors = self._collection.X, self._collection.vectors
        span = slice(X.indptr[row], X.indptr[row + 1])
        columns = X.indices[span].astype(np.int64)
        parts = X.data[span] * self.weights()[0][columns]
        if vectors is not None:
            columns, parts = np.append(columns, -1), np.append(parts, vectors[row] @ self.vector_weights())
        order = np.argsort(-np.abs(parts), kind="stable")
        before = np.append(0.0, np.cumsum(np.abs(parts[order])))  # of each word what larger ones make up
        first = order[: min(top, int(np.searchsorted(before[:-1], share * before[-1])))]
        return columns[first], parts[first]

    def weights(self) -> tuple[FloatArray, float]:
        """The weight of every word, prior means included, and the intercept."""
        if self._word_weights is None:
            found, n_words = self._solver.weights(), self._collection.X.shape[1]
            weights = np.append(found[:n_words], found[-1])
            shares = (self._known, self._share()), (self._asked, self._asked_share()), (self._favoured, 1.0)
            for known, share in shares:
                weights[known.columns] += share * known.means
            self._word_weights = weights
        return self._word_weights[:-1], float(self._word_weights[-1])

    def vector_weights(self) -> FloatArray:
        """The weights of sentence vectors; none where the collection has none."""
        return self._solver.weights()[self._collection.X.shape[1] : -1]

    def strongest_words(self, top: int = 20) -> dict[str, float]:
        """The words with the largest weights in the model, for and against."""
        weights = self.weights()[0]
        first = np.argsort(-np.abs(weights), kind="stable")[:top]
        return dict(zip(self._collection.vectorizer.terms_of(first), weights[first].tolist(), strict=True))

    # -- state -------------------------------------------------------------------------------------------------------
    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The topic as a JSON-able dictionary and arrays, for :meth:`restore`."""
        reading = [[row, drawn] for row, (_, drawn) in self._read.items()]
        handed_out = [[row, reason] for row, reason in self.handed_out.items()]
        arrays = {**self._solver.to_arrays(), "answers": self.answers, "read_predictors": self.reading().predictors}
        words = {"words": self.words, "strengths": self.strengths}
        return {"read": reading, "handed_out": handed_out, **words}, arrays

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Undo :meth:`to_state`; what follows is the same to the last bit."""
        self.answers = np.array(arrays["answers"], dtype=np.int8)
        values = zip(meta["read"], arrays["read_predictors"].tolist(), strict=True)
        self._read = {int(row): (predictor, bool(drawn)) for (row, drawn), predictor in values}
        self.handed_out = {int(row): str(reason) for row, reason in meta["handed_out"]}
        self.words = {str(word): str(said) for word, said in meta["words"].items()}
        self.strengths = {str(word): str(said) for word, said in meta.get("strengths", {}).items()}
        if self.words:
            self._read_words()
        self._solver.restore(arrays)
        self._fitted_offset, self._behind = self._offset(), False
        self._predictors = self._word_weights = self._left_out = None

    # -- the model ---------------------------------------------------------------------------------------------------
    def _refit(self) -> None:
        judged, y, weights, shares = self._judged()
        self._fitted_offset, self._behind = self._offset(), False
        if len(judged):
            self._solver.fit(judged, y, weights, self._fitted_offset, shares)
        self._predictors = self._word_weights = self._left_out = None

    def _judged(self) -> tuple[IntArray, FloatArray, Weights, FloatArray]:
        """Rows that the model learns from, ascending, their outcomes, their weights and the shares of these.

        The question is the last of them: a relevant record, unless it misleads. That it does is the more probable the
        less relevant the model takes it to be, after all that was read: its share is the probability that it does not.
        While nothing relevant is found it is all that is relevant, and weighs no more than one record.
        """
        judged = np.flatnonzero(np.abs(self.answers) == 1)
        y = self.answers[judged].astype(np.float64)
        question = self._collection.question_rows.get(self.name)
        if question is not None:
            judged, y = np.append(judged, question), np.append(y, 1.0)
        weights, shares = balanced_weights(y, self._settings.balance), np.ones(len(y))
        if question is not None:
            p = special.expit(self._solver.predictors_of(np.array([question]), self._offset())[0])
            # Never 0: a row that counts for nothing is none that can be learnt from.
            shares[-1] = max((1.0 - _MISLED) * p / ((1.0 - _MISLED) * p + _MISLED * (1.0 - p)), _LEAST_SHARE)
            if not self.n_relevant:
                shares[-1] /= max(weights[0], 1.0)
        return judged, y, weights, shares

    def _share(self) -> float:
        """How far the prior table is followed: the less, the more is known, and the less it expected what was found.

        A table is trusted in full that puts what is relevant 0.6 standard deviations above what was read in vain, and
        not at all where it puts it below. Before anything is found it is expected to be worth following.
        """
        found, others = self._standing[self.answers == RELEVANT], self._standing[self.answers == IRRELEVANT]
        level = max(float(others.sum()) / (len(others) + _USUAL), 0.0)
        ahead = (float((found - level).sum()) + _EXPECTED) / (len(found) + _EXPECTED)
        trust = min(max(ahead / _SEPARATES, 0.0), 1.0)
        return trust * self._settings.follow * self._settings.fade / (self._settings.fade + self.n_relevant)

    def _asked_share(self) -> float:
        """How far words of the question are expected in what is relevant: the less the more was found."""
        return _ASKED * _ASKED_FADE / (_ASKED_FADE + self.n_relevant)

    def _offset(self) -> FloatArray:
        known = self._share() * self._transferred + self._asked_share() * self._asked_offset
        return known + self._own_offset

    def _predictor(self, row: int) -> float:
        if self._predictors is None:
            return float(self._solver.predictors_of(np.array([row]), self._fitted_offset)[0])
        return float(self._predictors[row])

    def _knows(self) -> bool:
        question = self.name in self._collection.question_rows
        return question or bool(len(self._known.columns) or len(self._favoured.columns) or self.n_relevant)


def _words_of(collection: Collection, topic: str) -> PriorMeans:
    """The words of a topic's question, with their weights in it."""
    row = collection.question_rows.get(topic)
    if row is None:
        return NOTHING
    asked = collection.X[row]
    return PriorMeans(asked.indices.astype(np.int64), asked.data)


def _standardised(values: FloatArray) -> FloatArray:
    """Values less their mean, in standard deviations, within bounds; zeros where all are the same."""
    spread = float(values.std())
    return np.clip((values - values.mean()) / spread, *_EXTREMES) if spread > 0.0 else np.zeros_like(values)


def balanced_weights(y: FloatArray, balance: float) -> Weights:
    """Weight of a relevant (+1) and of an irrelevant (−1) record: together as many as were judged.

    Parameters
    ----------
    y : array (n_judged,)
    balance : float
        How much more the relevant ones weigh together.

    Examples
    --------
    >>> balanced_weights(np.array([1.0, -1.0, -1.0, -1.0]), 3.0)
    (3.0, 0.3333333333333333)
    """
    n_for, n_against = int((y > 0.0).sum()), int((y < 0.0).sum())
    if not n_for or not n_against:
        return 1.0, 1.0
    return len(y) * balance / ((1.0 + balance) * n_for), len(y) / ((1.0 + balance) * n_against)

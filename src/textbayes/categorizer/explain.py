"""Explanation of a text's probability: each word's part in one label's log-odds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse, special

from textbayes.categorizer.summary import explanations_html
from textbayes.core.protocols import Contributions
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.text.surface import gather, readings

_MOST_RIVALS = 3
_LEAST = 1e-300  # a probability below the floats has no logarithm


class Contribution(NamedTuple):
    """A word's part in one label's log-odds."""

    word: str
    log_odds: float
    occurrences: int


class Rival(NamedTuple):
    """One of the classes that exclude the one explained, with the log-odds that belong to its probability."""

    label: str
    probability: float
    log_odds: float


class Explanation(NamedTuple):
    """Explanation of a label's probability for a text: ``log_odds`` = ``base`` + the sum of all contributions.

    ``other_labels`` is what the text's other labels add to it, where labels tell of each other; None where they do not.
    ``encoder`` is the sum of the contributions, which those of words contain, that come of a fine-tuned encoder.

    ``log_odds`` are those of the probability, ln p/(1 − p). Of classes that exclude each other ``rivals`` are the
    likeliest others, the runner-up first; labels that may go together have none.
    ``threshold`` is the probability above which the label is given, None where no such number decides, and ``rule``
    says in words what does. ``known_words`` counts the different words of the text that the model has weights for:
    where there is none, the probability is that of any text, or rests on its sentence vector alone, and ``decision`` is
    False. ``calibration`` is the factor that turned weights into contributions of the calibrated model, 1 where there
    is none. Where probabilities are mapped by beta or isotonic calibration, or a label tree changes this one,
    ``log_odds`` are those before it, of the probability ``uncalibrated``; else that is None. ``changed_by`` says what
    lies between the two.
    """

    label: str
    probability: float
    decision: bool
    log_odds: float
    base: float
    contributions: list[Contribution]
    threshold: float | None = None
    rule: str = ""
    known_words: int = 0
    calibration: float = 1.0
    rivals: tuple[Rival, ...] = ()
    other_labels: float | None = None
    encoder: float | None = None
    uncalibrated: float | None = None
    changed_by: str = ""

    @property
    def answer(self) -> str:
        """Decision, probability and what decides, in a line: "yes, probability 0.497 (threshold 0.31)"."""
        if not self.known_words:
            return f"not decided, no known word; probability {self.probability:.3f}"
        decided = f" ({self.rule})" if self.rule else ""
        return f"{'yes' if self.decision else 'no'}, probability {self.probability:.3f}{decided}"

    @property
    def other_words(self) -> float:
        """Sum of the contributions of words that are not listed."""
        known = self.base + (self.other_labels or 0.0)
        return self.log_odds - known - sum(part.log_odds for part in self.contributions)

    @property
    def remainder(self) -> list[tuple[str, float]]:
        """What adds up to the log-odds beside the words listed, with its names; small sums of words are left out."""
        rows = [("other words", self.other_words)] if abs(self.other_words) > 5e-4 else []
        rows += [] if self.other_labels is None else [("other labels", self.other_labels)]
        return [*rows, ("base", self.base)]

    @property
    def against(self) -> str:
        """The rivals in a line: "against money 0.412 (log-odds -0.35), sport 0.001 (log-odds -6.91)"."""
        listed = [f"{one.label} {one.probability:.3f} (log-odds {one.log_odds:+.2f})" for one in self.rivals]
        return f"against {', '.join(listed)}" if listed else ""

    @property
    def notes(self) -> list[str]:
        """Remarks on the numbers that a reader must know, in sentences; often none."""
        told = []
        if not self.known_words:
            rest = "rests on its sentence vector alone" if self.contributions else "is that of any text"
            told.append(f"no word of this text is known to the model: the probability {rest}, and no label is given")
        elif not self.contributions:
            told.append("no word of the text has a weight for this label")
        if self.encoder is not None:
            told.append(f"the encoder's parts in these words add up to {self.encoder:+.2f}")
        if self.calibration != 1.0:
            told.append(f"the parts are those of the calibrated model: weights times {self.calibration:.3g}")
        if self.uncalibrated is not None:
            before = f"before {self.changed_by}, of probability {self.uncalibrated:.3f}"
            told.append(f"the parts add up to the log-odds {before}")
        return told


class Explanations(list[Explanation]):
    """Explanations of one text, the likeliest label first; a notebook shows them as tables with coloured words."""

    def _repr_html_(self) -> str:
        return explanations_html(self)


def explanation(
    label: str,
    probability: float,
    base: float,
    parts: FloatArray,
    words: Sequence[str],
    occurrences: AnyArray,
    top: int | None,
) -> Explanation:
    """The explanation of one label, given the parts of its log-odds.

    Parameters
    ----------
    label : str
    probability : float
    base : float
        The log-odds without any word.
    parts : array (n_words,)
        What each word adds to the log-odds.
    words, occurrences : (n_words,)
        The words and how often the text has each.
    top : int or None
        Words listed at most; None for all.
    """
    odds = base + float(parts.sum())
    order = np.argsort(-np.abs(parts), kind="stable")
    order = order[parts[order] != 0.0][:top]
    contributions = [Contribution(str(words[i]), float(parts[i]), int(occurrences[i])) for i in order]
    return Explanation(label, float(probability), False, odds, base, contributions)


def as_one_distribution(told: Contributions, inverse_temperature: float) -> Contributions:
    """Parts of the logarithms of exclusive classes' probabilities, given those of each one's own log-odds.

    p_k ∝ σ(s_k)^c is not linear in the words: the mean slope of c ln σ between base and score shares it out.
    """
    scores = told.base + told.parts.sum(axis=1)
    base, total = (inverse_temperature * special.log_expit(value) for value in (told.base, scores))
    rise = scores - told.base
    slope = np.divide(total - base, rise, out=inverse_temperature * special.expit(-scores), where=np.abs(rise) > 1e-6)
    parts = slope[:, None] * told.parts
    return Contributions(total - parts.sum(axis=1), told.columns, parts)


def rivals_of(column: int, names: Sequence[str], proba: FloatArray) -> tuple[Rival, ...]:
    """The likeliest of the other classes, which exclude that of a column."""
    order = [int(j) for j in np.argsort(-proba, kind="stable") if j != column][:_MOST_RIVALS]
    return tuple(Rival(names[j], float(proba[j]), log_odds_of(proba, j)) for j in order)


def log_odds_of(proba: FloatArray, column: int) -> float:
    """ln p/(1 − p) of one of several classes, by the others' probabilities where it is near 1."""
    p, others = float(proba[column]), float(np.delete(proba, column).sum())
    return float(np.log(max(p, _LEAST)) - np.log(max(others, _LEAST)))


def against_others(told: Contributions, column: int) -> tuple[float, FloatArray]:
    """Base and parts of ln p_k − ln(1 − p_k) of one of several exclusive classes, p the softmax of the scores.

    ln Σ_{j≠k} e^{s_j} = Σ_{j≠k} q_j s_j + H(q) with q the probabilities of the others among themselves and H its
    entropy, so each word counts by how much more it says for the class than for the others.
    """
    scores = told.base + told.parts.sum(axis=1)
    others = np.arange(len(scores)) != column
    shares = special.softmax(scores[others])
    entropy = float(special.entr(shares).sum())
    base = float(told.base[column] - shares @ told.base[others]) - entropy
    return base, told.parts[column] - shares @ told.parts[others]


def mirror(told: Explanation, label: str) -> Explanation:
    """The explanation of the other of two classes: everything with its sign turned."""
    contributions = [part._replace(log_odds=-part.log_odds) for part in told.contributions]
    return told._replace(
        label=label,
        probability=1.0 - told.probability,
        decision=not told.decision,
        log_odds=-told.log_odds,
        base=-told.base,
        contributions=contributions,
        encoder=None if told.encoder is None else -told.encoder,
        threshold=None if told.threshold is None else 1.0 - told.threshold,
        rivals=(Rival(told.label, told.probability, told.log_odds),),
    )


def changed(told: Explanation, proba: Mapping[str, float], by: str) -> Explanation:
    """The explanation with the probability that is made of each class's own; its parts stay those of the log-odds.

    Parameters
    ----------
    told : Explanation
    proba : mapping of label to its probability
    by : str
        What makes them.
    """
    rivals = tuple(one._replace(probability=proba[one.label]) for one in told.rivals)
    return told._replace(probability=proba[told.label], uncalibrated=told.probability, changed_by=by, rivals=rivals)


class MergedWords(NamedTuple):
    """Words of a model, each with the columns that stand for it.

    Attributes
    ----------
    forms : list of str
        The words, in their commonest forms.
    counts : array (n_words,)
        Texts that have each: those of its stem, or of its commonest form.
    columns : array
        The columns that are used.
    word : array like it
        The word that each is of.
    share : array like it
        What a column's weight counts for in that of its word.
    names : array (n_features,)
        Names of all columns.
    """

    forms: list[str]
    counts: FloatArray
    columns: IntArray
    word: IntArray
    share: FloatArray
    names: AnyArray

    @classmethod
    def of(cls, model: Any, counts: FloatArray, forms: Mapping[str, str]) -> Self:
        """The words of the columns that have a weight and occur.

        Parameters
        ----------
        model : fitted TextCategorizer
        counts : array (n_features,)
            How often each column occurs.
        forms : stem → its most frequent form
            ``TextCategorizer.surface_``; a stem without one is shown in the commonest form that is a column itself, or
            as it is.
        """
        vectorizer = model.vectorizer_
        columns = np.flatnonzero(model.words_with_weight() & (counts > 0.0))
        own = counts[columns]
        found = gather(vectorizer, columns, own, forms)
        # A text has one of the forms that a view tells apart, but is read by all views.
        place = found.word * len(readings(vectorizer)) + found.view
        factor = np.array([one.factor for one in readings(vectorizer)])[found.view]
        share = factor * own / np.maximum(np.bincount(place, own)[place], 1e-300)
        most = np.zeros(len(found.forms))
        np.maximum.at(most, found.word, own)
        return cls(found.forms, most, columns, found.word, share, vectorizer.get_feature_names_out())

    def added(self, values: FloatArray) -> FloatArray:
        """Sums by word of what columns add up to, (n_features,)."""
        return np.bincount(self.word, values[self.columns], len(self.forms)).astype(np.float64)

    def weight(self, weights: FloatArray) -> FloatArray:
        """Weights by word from those of columns: its forms averaged by how often they occur, its views added up.

        Where texts have length one, it is what a text of this word alone would have.
        """
        return np.bincount(self.word, self.share * weights[self.columns], len(self.forms)).astype(np.float64)

    def texts_with(self, having: Any) -> IntArray:
        """Number of texts that have each word, given which columns they have, a sparse matrix (n_texts, n_features)."""
        shape = (having.shape[1], len(self.forms))
        of_word = sparse.csr_matrix((np.ones(len(self.columns)), (self.columns, self.word)), shape=shape)
        return np.asarray((having @ of_word > 0.0).sum(axis=0)).ravel()

    def column_name(self, word: int) -> str:
        """The name of the column of a word that has one; nothing for a word of several."""
        own = self.columns[self.word == word]
        return str(self.names[own[0]]) if len(own) == 1 else ""

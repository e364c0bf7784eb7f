"""Explanation of a text's probability: each word's part in one label's log-odds."""

from __future__ import annotations

import html
from typing import NamedTuple

import numpy as np
from scipy import special

from textbayes.core.protocols import Contributions
from textbayes.core.types import AnyArray, FloatArray


class Contribution(NamedTuple):
    """A word's part in one label's log-odds."""

    word: str
    log_odds: float
    occurrences: int


class Explanation(NamedTuple):
    """Explanation of a label's probability for a text: ``log_odds`` = ``base`` + the sum of all contributions.

    ``threshold`` is the probability above which the label is given, None where no such number decides, and ``rule``
    says in words what does. ``known_words`` counts the different words of the text that the model has weights for:
    where there is none, the answer is that for any text. ``calibration`` is the factor that turned weights into
    contributions of the calibrated model, 1 where there is none.
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

    @property
    def answer(self) -> str:
        """Decision, probability and what decides, in a line: "yes, probability 0.497 (threshold 0.31)"."""
        decided = f" ({self.rule})" if self.rule else ""
        return f"{'yes' if self.decision else 'no'}, probability {self.probability:.3f}{decided}"

    @property
    def notes(self) -> list[str]:
        """Remarks on the numbers that a reader must know, in sentences; often none."""
        told = []
        if not self.known_words:
            told.append("no word of this text is known to the model: the answer is that for any text")
        elif not self.contributions:
            told.append("no word of the text has a weight for this label")
        if self.calibration != 1.0:
            told.append(f"the parts are those of the calibrated model: weights times {self.calibration:.3g}")
        return told


class Explanations(list[Explanation]):
    """Explanations of one text, the likeliest label first; a notebook shows them as tables."""

    def _repr_html_(self) -> str:
        return "".join(_as_html(told) for told in self)


def _as_html(told: Explanation) -> str:
    """One explanation as a table; everything that comes from texts and labels is escaped."""
    others = told.log_odds - told.base - sum(part.log_odds for part in told.contributions)
    rows = [(part.word, f"{part.occurrences:,}", part.log_odds) for part in told.contributions]
    rows += [("other words", "", others)] if abs(others) > 5e-4 else []
    rows += [("base", "", told.base), ("log-odds", "", told.log_odds)]
    body = "".join(
        f"<tr><td style='text-align:left'>{html.escape(word)}</td><td>{times}</td><td>{value:+.3f}</td></tr>"
        for word, times, value in rows
    )
    head = "<tr><th style='text-align:left'>word</th><th>times</th><th>log-odds</th></tr>"
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in told.notes)
    title = f"<p><strong>{html.escape(told.label)}?</strong> {html.escape(told.answer)}</p>"
    return f"{title}<table>{head}{body}</table>{notes}"


def explanation(
    label: str,
    probability: float,
    decision: bool,
    base: float,
    parts: FloatArray,
    words: AnyArray,
    occurrences: AnyArray,
    top: int | None,
) -> Explanation:
    """The explanation of one label, given the parts of its log-odds.

    Parameters
    ----------
    label : str
    probability : float
    decision : bool
        Whether the label is given.
    base : float
        The log-odds without any word.
    parts : array (n_words,)
        What each word adds to the log-odds.
    words, occurrences : arrays (n_words,)
        The words and how often the text has each.
    top : int or None
        Words listed at most; None for all.
    """
    odds = base + float(parts.sum())
    order = np.argsort(-np.abs(parts), kind="stable")
    order = order[parts[order] != 0.0][:top]
    contributions = [Contribution(str(words[i]), float(parts[i]), int(occurrences[i])) for i in order]
    return Explanation(label, float(probability), bool(decision), odds, base, contributions)


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
        threshold=None if told.threshold is None else 1.0 - told.threshold,
    )

"""Table 3a, not in the paper: what choices that it leaves open are worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.reproduce.results import Table
from textbayes.reproduce.sparse import published
from textbayes.reproduce.sparse.columns import Runner
from textbayes.reproduce.sparse.corpora import TextRules, reuters
from textbayes.reproduce.sparse.experiment import JEFFREYS, Cut, Experiment, laplace
from textbayes.reproduce.sparse.published import AVERAGES, LAPLACE, TOPICS


class Choice(NamedTuple):
    """How texts become words, and which of equally good thresholds is taken."""

    text: TextRules = TextRules()
    cut: Cut = "strictest"


CHOICES = {
    "as in the other tables": Choice(),
    "without headlines": Choice(TextRules(headline=False)),
    "stemmed (Porter)": Choice(TextRules(stemmer="porter")),
    "letters only": Choice(TextRules(pattern="[a-zA-Z]+")),
    "scikit-learn's stop list": Choice(TextRules(stop_words="english")),
    "loosest of equal thresholds": Choice(cut="loosest"),
    "threshold 0.5": Choice(cut="half"),
}
_MODELS = {"Jeffreys": JEFFREYS, "Laplace γ = 1": laplace(1.0), "Laplace γ = 10": laplace(10.0)}
_PUBLISHED = (published.JEFFREYS, LAPLACE[1.0], LAPLACE[10.0])


def open_choices(quick: bool, runner: Runner) -> Table:
    """Averages of three columns of Table 3 under every choice; the notes say how far single topics move."""
    choices = dict(list(CHOICES.items())[: 2 if quick else None])
    advance = runner.steps("table 3a", len(choices) * len(_MODELS) * len(TOPICS))
    found: list[FloatArray] = []  # (n_models, topics and averages) of each choice
    for choice in choices.values():
        experiment = Experiment(reuters(choice.text))
        models = [model._replace(cut=choice.cut) for model in _MODELS.values()]
        found.append(np.array([experiment.outcome(model, advance).column for model in models]))
    n_topics = len(TOPICS)
    return Table(
        number="3a",
        caption="Not in the paper: averages of Table 3 under choices that it leaves open.",
        rows=tuple(choices),
        columns=tuple(f"{name} {average[:5]}" for name in _MODELS for average in AVERAGES),
        published=(tuple(value for column in _PUBLISHED for value in column[n_topics:]),) * len(choices),
        ours=tuple(tuple(map(float, columns[:, n_topics:].ravel())) for columns in found),
        digits=1,
        notes=_distances(list(choices), [columns[:, :n_topics] for columns in found]),
    )


def _distances(names: list[str], columns: list[FloatArray]) -> tuple[str, str]:
    """How far F1 of single topics is from that of the first row, and from the published figures."""
    printed = np.array([column[: len(TOPICS)] for column in _PUBLISHED])
    moves = [_distance(name, values - columns[0]) for name, values in zip(names[1:], columns[1:], strict=True)]
    away = [_distance(name, values - printed) for name, values in zip(names, columns, strict=True)]
    return (
        f"F1 of a topic, points from the first row: {'; '.join(moves)}.",
        f"F1 of a topic, points from the published figures: {'; '.join(away)}.",
    )


def _distance(name: str, difference: FloatArray) -> str:
    size = np.abs(difference)
    model, topic = np.unravel_index(int(size.argmax()), size.shape)
    return f"{name} {size.mean():.1f} on average, at most {size.max():.1f} ({TOPICS[topic]}, {list(_MODELS)[model]})"

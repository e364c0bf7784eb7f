"""What a model says of texts, as the REST interface and the pages give it."""

from __future__ import annotations

from pydantic import BaseModel

from textbayes.categorizer import Scorer, TextCategorizer
from textbayes.core.errors import InputError


class Classified(BaseModel):
    """What the model says of a text: labels decided on, words of it that are known, probability of every label."""

    labels: list[str]
    known_words: int
    probabilities: dict[str, float]


class WordCounted(BaseModel):
    """A word of a text and what it adds to the log-odds."""

    word: str
    log_odds: float
    occurrences: int


class Explained(BaseModel):
    """How the log-odds of a label add up."""

    label: str
    probability: float
    base: float
    words: list[WordCounted]


def labels_of(model: TextCategorizer | Scorer) -> list[str]:
    """The names of a model's labels."""
    return [str(name) for name in model.classes_]


def check_labels(model: TextCategorizer, labels: list[str]) -> None:
    """Refuse labels that a model does not know."""
    known = labels_of(model)
    for name in labels:
        if name not in known:
            some = ", ".join(known[:20])
            raise InputError(f"the model knows no label {name[:100]!r}; choose among {some}")


def classify_texts(model: TextCategorizer | Scorer, texts: list[str]) -> list[Classified]:
    """Labels and probabilities of texts; a text without a word that the model knows has no label."""
    if not texts:
        return []
    assessed = model.assess(texts)
    names, proba = labels_of(model), model.label_space_.both_columns(assessed.proba)
    labels = model.label_space_.decode(assessed.decisions)
    return [
        Classified(
            labels=list(labels[i]) if assessed.known_words[i] else [],
            known_words=int(assessed.known_words[i]),
            probabilities=dict(zip(names, proba[i].tolist(), strict=True)),
        )
        for i in range(len(texts))
    ]


def explain_text(model: TextCategorizer, text: str, label: str) -> Explained:
    """The words behind a label."""
    check_labels(model, [label])
    (found,) = model.explain(text, [label])
    words = [WordCounted(word=one.word, log_odds=one.log_odds, occurrences=one.occurrences)
             for one in found.contributions]  # fmt: skip
    return Explained(label=label, probability=float(found.probability), base=float(found.base), words=words)

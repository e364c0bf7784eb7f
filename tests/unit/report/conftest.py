"""Tiny fitted models of the three kinds of labels, with texts to try them on."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from textbayes.categorizer import TextCategorizer

HOSTILE = "<script>alert('x')</script>"
_TOPICS = {
    "grain": ["wheat and corn prices rise", "corn harvest falls", "farmers sow wheat", "the corn crop was good"],
    "money": ["the bank raises rates", "bank cuts its rates", "money supply grows", "dollar and bank rates"],
    "oil": ["crude oil barrels", "oil prices and barrels", "opec cuts crude output", "crude output of opec grows"],
}


class Case(NamedTuple):
    """A fitted model and labelled texts it is tried on."""

    model: TextCategorizer
    texts: list[str]
    labels: list


def _single(*topics: str) -> tuple[list[str], list[str]]:
    pairs = [(text, topic) for topic in topics for text in _TOPICS[topic]] * 3
    return [text for text, _ in pairs], [topic for _, topic in pairs]


def _many() -> tuple[list[str], list[tuple[str, ...]]]:
    texts, labels = _single(*_TOPICS)
    both = [f"{first} {second}" for first, second in zip(_TOPICS["grain"], _TOPICS["oil"], strict=True)]
    nothing = ["rain tomorrow", "sunshine tomorrow", "rain and wind", "wind and sunshine"]
    return texts + both + nothing, [(label,) for label in labels] + [("grain", "oil")] * 4 + [()] * 4


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    made = {}
    for kind, (texts, labels) in {
        "binary": _single("grain", "money"),
        "multiclass": _single(*_TOPICS),
        "multilabel": _many(),
    }.items():
        model = TextCategorizer(cv=3).fit(texts, labels)
        # One label is wrong on purpose, so that there is a mistake to explain.
        wrong = {"binary": "money", "multiclass": "oil", "multilabel": ("oil",)}[kind]
        made[kind] = Case(model, [*texts[:12:2], texts[-1], "corn and wheat"], [*labels[:12:2], labels[-1], wrong])
    return made


@pytest.fixture(params=["binary", "multiclass", "multilabel"])
def case(request: pytest.FixtureRequest, cases: dict[str, Case]) -> Case:
    return cases[request.param]


@pytest.fixture(scope="session")
def hostile() -> Case:
    """Mark-up in texts and in labels."""
    texts = [f"{HOSTILE} wheat & corn", "bank <b>rates</b>", f"corn {HOSTILE}", 'the bank\'s "rates"'] * 4
    labels = [HOSTILE, "a & b", HOSTILE, "a & b"] * 4
    return Case(TextCategorizer(cv=2).fit(texts, labels), texts[:4], [HOSTILE, "a & b", "a & b", "a & b"])

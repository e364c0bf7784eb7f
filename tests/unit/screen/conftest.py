"""A small made-up review: records about tea are relevant, records about ore are not, some are neither's."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.screen import Collection, Screening, ScreenSettings

WORDS = {
    True: ("tea", "leaves", "pots", "brewing", "cups", "kettle", "infusion", "green", "black", "oolong"),
    False: ("ore", "iron", "mining", "shaft", "smelting", "furnace", "slag", "copper", "zinc", "tunnels"),
}
COMMON = ("study", "of", "effects", "in", "a", "trial", "with", "results", "and", "methods", "between", "groups")


def make_texts(n, share=0.15, seed=0):
    """Texts of 25 words, and which of them are relevant."""
    random = np.random.default_rng(seed)
    relevant = random.random(n) < share
    texts = []
    for told in relevant:
        own = random.choice(WORDS[bool(told)], 4)
        other = random.choice(WORDS[not told], 1)
        texts.append(" ".join([*own, *other, *random.choice(COMMON, 20)]))
    return texts, relevant


@pytest.fixture(scope="session")
def review():
    texts, relevant = make_texts(150)
    return [f"r{i}" for i in range(150)], texts, relevant


@pytest.fixture
def screening(review):
    def make(prior=None, **settings):
        chosen = ScreenSettings(**settings)
        ids, texts, _ = review
        return Screening(Collection.read(ids, texts, chosen.topics, chosen.questions, prior), chosen)

    return make


@pytest.fixture
def answer(review):
    """Read the next records of a screening, and answer as is true; returns their rows."""
    relevant = review[2]

    def call(screening, n, topic=None):
        rows = []
        for _ in range(n):
            picks = screening.next_records(1, topic)
            screening.apply(screening.handing_out(picks, topic))
            rows += [pick.row for pick in picks]
            for pick in picks:
                told = "relevant" if relevant[pick.row] else "irrelevant"
                screening.apply(screening.judgement(f"r{pick.row}", told, topic))
        return rows

    return call

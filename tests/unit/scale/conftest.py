"""What tests of scale share: documents whose words tell their labels; an executor of each kind for a session."""

from __future__ import annotations

import contextlib
import random

import pytest

from textbayes.core.types import Document
from textbayes.scale import make_executor

KINDS = ("serial", "processes:2", "local:2")


@pytest.fixture(scope="session")
def executors():
    """Executors by address."""
    pytest.importorskip("distributed")
    with contextlib.ExitStack() as stack:
        made: dict[str, object] = {}

        def get(address):
            if address not in made:
                made[address] = stack.enter_context(make_executor(address))
            return made[address]

        yield get


@pytest.fixture(params=KINDS)
def executor(request, executors):
    """An executor of every kind."""
    return executors(request.param)


@pytest.fixture
def cluster(executors):
    """A Dask cluster of two worker processes."""
    return executors("local:2")


@pytest.fixture
def documents():
    chance = random.Random(1)
    words = {"grain": "wheat corn harvest bushel", "money": "bank rate loan money", "oil": "crude barrel opec oil"}
    made = []
    for i in range(150):
        labels = tuple(sorted(chance.sample(sorted(words), 1 + (chance.random() < 0.3))))
        own = " ".join(words[label] for label in labels).split()
        text = [chance.choice(own) for _ in range(8)] + [f"w{chance.randrange(400)}" for _ in range(12)]
        made.append(Document(f"d{i}", " ".join(text), labels))
    made[7] = made[7]._replace(text="")
    made[40] = made[40]._replace(text="Öl und Weizen, naïve café 大豆")
    return made

"""Labelled documents with planted topics: each topic has words of its own among words that all share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from textbayes.core.types import Document
from textbayes.stream import AdaptiveFilter, Delivery, FilterFolder, FilterSettings
from textbayes.stream.run import run
from textbayes.stream.settings import default_text_options

TOPICS = {
    "grain": "corn wheat harvest rain farm crop soybean tractor",
    "money": "bank rates loans credit interest dollar yen bond",
}
OTHER = "goal match team player striker coach league season ticket stadium"
SHARED = "report today year company government market people new week office"


def draw(seed: int, n_docs: int, share: float = 0.15, first: int = 0) -> list[Document]:
    """Documents of which a share is relevant to each topic, with five words of its own in each."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(n_docs):
        labels = tuple(topic for topic in TOPICS if rng.random() < share)
        words = [word for topic in labels for word in rng.choice(TOPICS[topic].split(), 5)]
        words += rng.choice(SHARED.split(), 6).tolist() + rng.choice(OTHER.split(), 0 if labels else 5).tolist()
        documents.append(Document(f"d{first + i}", " ".join(rng.permutation(words)), labels))
    return documents


@pytest.fixture(scope="session")
def make() -> Callable[..., AdaptiveFilter]:
    """A filter from sixty documents; settings by name."""
    text = default_text_options()

    def start(**settings) -> AdaptiveFilter:
        return AdaptiveFilter.start(draw(0, 60), settings=FilterSettings(text=text, **settings), n_jobs=1)

    return start


@pytest.fixture(scope="session")
def stream() -> list[Document]:
    """Two hundred documents that come after."""
    return draw(1, 200, first=1000)


@pytest.fixture
def start(make, tmp_path) -> Callable[..., Path]:
    """Make the folder of a filter with some settings; its path."""

    def create(**settings) -> Path:
        path = tmp_path / "state"
        FilterFolder.create(path, make(**settings))
        return path

    return create


@pytest.fixture(scope="session")
def filtered() -> Callable[..., list[Delivery]]:
    """Open a folder and run its filter over documents: what it delivers."""

    def over(path, documents, by_labels=True, name="stream", batch=1) -> list[Delivery]:
        with FilterFolder.open(path) as folder:
            folder.begin(name)
            ticks = iter(range(10**6))
            batches = [documents[i : i + batch] for i in range(0, len(documents), batch)]
            return list(run(folder, batches, by_labels=by_labels, clock=lambda: float(next(ticks))))

    return over

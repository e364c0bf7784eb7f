"""A sentence model without a network: words that begin alike mean the same."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

WIDTH = 26
TOPICS = {"grain": "w", "money": "b", "oil": "c"}  # all words of a topic begin with its letter
SHARED = ["the", "a", "of", "market", "said", "year", "price", "today", "report", "news"]


def by_first_letter(texts: Sequence[str]) -> np.ndarray:
    """How many words of each text begin with each letter, less their mean, at length one."""
    counts = np.zeros((len(texts), WIDTH))
    for row, text in zip(counts, texts, strict=True):
        for word in text.lower().split():
            if "a" <= word[0] <= "z":
                row[ord(word[0]) - ord("a")] += 1.0
    return _unit(np.where(counts.any(axis=1, keepdims=True), counts - counts.mean(axis=1, keepdims=True), 0.0))


def by_chance(texts: Sequence[str]) -> np.ndarray:
    """A vector drawn for each text, which says nothing of it."""
    return _unit(np.array([np.random.default_rng(zlib.crc32(text.encode())).normal(size=WIDTH) for text in texts]))


def write_model(folder: Path) -> Path:
    """Files that a sentence model has."""
    folder.mkdir(parents=True)
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights of " + folder.name.encode())
    (folder / "README.md").write_text("a model", encoding="utf-8")
    return folder


def draw(seed: int, n_docs: int, kind: str = "multiclass") -> tuple[list[str], list]:
    """Texts of topics whose words are hardly ever met twice: words cannot tell them, first letters can."""
    rng = np.random.default_rng(seed)
    names, texts, labels = list(TOPICS), [], []
    for i in range(n_docs):
        own = [name for name in names if rng.random() < 0.4] if kind == "multilabel" else [names[i % 3]]
        rare = [TOPICS[name] + "".join(rng.choice(list("eiou"), 6)) for name in own for _ in range(4)]
        words = [*rng.choice(SHARED, 8), *rare]
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels.append(own)
    if kind == "binary":
        return texts, ["grain" if own[0] == "grain" else "other" for own in labels]
    return texts, labels if kind == "multilabel" else [own[0] for own in labels]


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0)

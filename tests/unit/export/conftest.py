"""The reference scorer of the documents, and a way to run each exported form."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from textbayes import TextCategorizer
from textbayes.export import count_terms, export_scoring, reference_scorer


@pytest.fixture(scope="session")
def scorer() -> ModuleType:
    """The reference scorer, loaded as a file by itself."""
    spec = importlib.util.spec_from_file_location("score", reference_scorer())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def by_json(scorer, tmp_path) -> Callable[[TextCategorizer, list[str]], tuple[Any, list[tuple[str, ...]]]]:
    """Probabilities and decisions of texts by the reference scorer."""

    def score(model: TextCategorizer, texts: list[str]) -> tuple[Any, list[tuple[str, ...]]]:
        export_scoring(model, tmp_path / "model.json")
        exported = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
        found = [scorer.probabilities(text, exported) for text in texts]
        return np.array(found), [tuple(scorer.labels(one, exported)) for one in found]

    return score


@pytest.fixture
def by_sql(tmp_path) -> Callable[..., tuple[Any, list[tuple[str, ...]]]]:
    """Probabilities and decisions of texts by a database, SQLite unless told otherwise."""

    def score(model: TextCategorizer, texts: list[str], database: str = "sqlite") -> tuple[Any, list[tuple[str, ...]]]:
        export_scoring(model, tmp_path / "model.sql")
        script, counts = (tmp_path / "model.sql").read_text(encoding="utf-8"), count_terms(model, texts)
        documents = list(enumerate(counts.words.tolist()))
        if database == "sqlite":
            connection: Any = sqlite3.connect(":memory:")
            connection.executescript(script)
        else:
            connection = pytest.importorskip("duckdb").connect()
            connection.execute(script)
        connection.executemany("INSERT INTO textbayes_documents VALUES (?, ?)", documents)
        connection.executemany("INSERT INTO textbayes_counts VALUES (?, ?, ?, ?)", list(counts.rows()))
        ask = "SELECT doc_id, label_id, probability FROM textbayes_probabilities ORDER BY doc_id, label_id"
        found = np.array([row[2] for row in connection.execute(ask).fetchall()]).reshape(len(texts), -1)
        told: list[list[str]] = [[] for _ in texts]
        for doc, label in sorted(connection.execute("SELECT doc_id, label FROM textbayes_decisions").fetchall()):
            told[doc].append(label)
        connection.close()
        return model.label_space_.both_columns(found), [tuple(names) for names in told]

    return score


@pytest.fixture
def by_onnx(tmp_path) -> Callable[[TextCategorizer, list[str]], Any]:
    """Probabilities of texts by ONNX Runtime."""
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")

    def score(model: TextCategorizer, texts: list[str]) -> Any:
        export_scoring(model, tmp_path / "model.onnx")
        session, counts = runtime.InferenceSession(tmp_path / "model.onnx"), count_terms(model, texts)
        feed = {f"counts_{view}": found.toarray().astype(np.float32) for view, found in counts.counts.items()}
        if model.model_.uses_lengths:
            feed["n_words"] = counts.words[:, None].astype(np.float32)
        terms = json.loads(session.get_modelmeta().custom_metadata_map["terms of words"])
        assert terms == counts.terms["words"]
        return session.run(None, feed)[0]

    return score

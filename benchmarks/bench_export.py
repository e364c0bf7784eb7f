"""Exported models beside the models themselves: the largest difference of a probability on 1,000 texts.

Models of exclusive classes and of two classes are trained on half of the BBC stories and score the other half; those of
many labels are trained on Reuters (its ten largest topics) and score 1,000 later stories. JSON is read by the reference
scorer ``textbayes/export/score.py``, SQL by SQLite and, for the smaller models, DuckDB, ONNX by ONNX Runtime.

    python benchmarks/bench_export.py               all models
    python benchmarks/bench_export.py linear auto   these alone
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import onnxruntime

from _common import close, reuters
from textbayes import TextCategorizer, load_corpus
from textbayes.core.errors import NotSupportedError
from textbayes.export import FORMATS, count_terms, export_scoring, score

BARS = {"json": 1e-9, "sql": 1e-9, "duckdb": 1e-9, "onnx": 1e-5}
N_TEXTS, BATCH = 1_000, 100
N_TOPICS = 10
SMALL = 1_000_000  # bytes of a script that DuckDB reads in seconds
MODELS: dict[str, Any] = {
    "auto": None,
    "linear": "linear",
    "probit": "linear:link=probit",
    "multinomial": "multinomial",
    "naive-bayes": "counts:model=multinomial",
    "complement": "counts:model=complement",
    "bernoulli": "counts:model=bernoulli",
    "dirichlet-poisson": "counts:model=dirichlet_poisson",
    "counts": "counts",
    "pool": ["linear:prior=gaussian", "counts:model=multinomial"],
}


def tasks() -> dict[str, tuple[list[str], list[Any], list[str]]]:
    """Training texts, their labels, and the texts to score, by kind of labels."""
    news = load_corpus("bbc")
    names = [str(name) for name in news.train.targets]
    texts = news.test.texts[:N_TEXTS]
    stories = reuters()
    topics = {name for name, _ in Counter(name for row in stories.train.targets for name in row).most_common(N_TOPICS)}
    many = [[name for name in row if name in topics] for row in stories.train.targets]
    return {
        "multiclass": (news.train.texts, names, texts),
        "binary": (news.train.texts, ["it" if name == names[0] else "others" for name in names], texts),
        "multilabel": (stories.train.texts[::4], many[::4], stories.test.texts[:N_TEXTS]),
    }


def by_json(path: Path, model: TextCategorizer, texts: list[str]) -> Any:
    exported = json.loads(path.read_text(encoding="utf-8"))
    return np.array([score.probabilities(text, exported) for text in texts])


def by_sql(path: Path, model: TextCategorizer, texts: list[str], with_duckdb: bool = False) -> Any:
    connection: Any = duckdb.connect() if with_duckdb else sqlite3.connect(":memory:")
    script, counts = path.read_text(encoding="utf-8"), count_terms(model, texts)
    (connection.execute if with_duckdb else connection.executescript)(script)
    for table, rows in (("documents", list(enumerate(counts.words.tolist()))), ("counts", list(counts.rows()))):
        if with_duckdb:  # which is slow at single rows
            types = ("BIGINT", "INTEGER") if table == "documents" else ("BIGINT", "TEXT", "TEXT", "INTEGER")
            columns = ", ".join(f"unnest(?::{kind}[])" for kind in types)
            connection.execute(f"INSERT INTO textbayes_{table} SELECT {columns}", [*map(list, zip(*rows, strict=True))])
        else:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO textbayes_{table} VALUES ({marks})", rows)
    ask = "SELECT doc_id, label_id, probability FROM textbayes_probabilities ORDER BY doc_id, label_id"
    found = np.array([row[2] for row in connection.execute(ask).fetchall()]).reshape(len(texts), -1)
    connection.close()
    return model.label_space_.both_columns(found)


def by_onnx(path: Path, model: TextCategorizer, texts: list[str]) -> Any:
    session, found = onnxruntime.InferenceSession(path), []
    for start in range(0, len(texts), BATCH):
        counts = count_terms(model, texts[start : start + BATCH])
        feed = {f"counts_{view}": matrix.toarray().astype(np.float32) for view, matrix in counts.counts.items()}
        if model.model_.uses_lengths:
            feed["n_words"] = counts.words[:, None].astype(np.float32)
        found.append(session.run(None, feed)[0])
    return np.concatenate(found)


def main() -> None:
    chosen = sys.argv[1:] or list(MODELS)
    largest = dict.fromkeys(BARS, 0.0)
    print(f"{'model':18} {'labels':10} {'form':7} {'bytes':>12} {'seconds':>8} {'largest difference':>19}")
    with tempfile.TemporaryDirectory() as folder:
        for kind, (texts, labels, new) in tasks().items():
            for name in chosen:
                if (name, kind) == ("multinomial", "multilabel"):  # it is of exclusive classes
                    continue
                model = TextCategorizer(model=MODELS[name], cv=2, n_jobs=-1).fit(texts, labels)
                expected = model.predict_proba(new)
                for form in FORMATS:
                    path = Path(folder, f"model.{form}")
                    try:
                        export_scoring(model, path)
                    except NotSupportedError as refusal:
                        print(f"{name:18} {kind:10} {form:7} refused: {refusal}")
                        continue
                    runs = {form: {"json": by_json, "sql": by_sql, "onnx": by_onnx}[form]}
                    if form == "sql" and path.stat().st_size < SMALL:
                        runs["duckdb"] = lambda *given: by_sql(*given, with_duckdb=True)
                    for by, run in runs.items():
                        start = time.perf_counter()
                        difference = float(np.abs(run(path, model, new) - expected).max())
                        largest[by] = max(largest[by], difference)
                        seconds, size = time.perf_counter() - start, path.stat().st_size
                        print(f"{name:18} {kind:10} {by:7} {size:12,} {seconds:8.1f} {difference:19.1e}", flush=True)
    figures = ", ".join(f"{by} {value:.1e} (bar {BARS[by]:g})" for by, value in largest.items())
    passed = all(value <= BARS[by] for by, value in largest.items())
    close("export", passed, f"largest difference of a probability on {N_TEXTS:,} texts: {figures}")


if __name__ == "__main__":
    main()

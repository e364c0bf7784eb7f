"""How time and memory grow with documents, words and labels; writes docs/reference/growth.md.

The corpus is made by ``_rcv1_like.py``. Every point is a process of its own that turns shards into columns on disk and
fits a sparse and a dense logistic regression at fixed settings, as ``train --preset linear --out-of-core`` does for
every fold; CPU seconds, so that other programs matter little. Memory is what is not backed by files: mapped pages are
given back when others need them. Exponents are slopes of straight lines through logarithms.

    python benchmarks/bench_growth.py [--documents 80000] [--folder FOLDER] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from _common import close
from _rcv1_like import write
from bench_out_of_core import indicator, pieces, rows, status
from textbayes import BayesLinearClassifier
from textbayes.core.labels import LabelSpace
from textbayes.scale.out_of_core import fit_in_groups
from textbayes.scale.shards import Shards, columns_on_disk
from textbayes.text.batches import in_order

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "growth.md"
MEMORY = 16 << 20  # small, so that its end is reached within the sizes tried
N_LABELS, N_WORDS = 16, 47_236
FIT_BAR, SCORE_BAR, MEMORY_BAR = 1.1, 1.1, 0.1
AXES = ("documents", "words", "labels")


def point(folder: Path, words: int, labels: int) -> dict[str, float]:
    """Time and memory of one size; the work of a process of its own."""
    shards, peak = Shards(folder), [0.0]

    def watch() -> None:
        while True:
            peak[0] = max(peak[0], status("RssAnon"))
            time.sleep(0.02)

    def blocks() -> Any:
        return (block[:, :words] for block in rows(shards))

    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        scratch = Path(name)
        Y = indicator(shards, scratch)
        chosen = np.argsort(-Y.sum(axis=0), kind="stable")[2 : 2 + labels]  # without the two that half of them have
        warm = next(iter(blocks()))[:300]
        members = [
            BayesLinearClassifier(prior="laplace", scale=10.0, tol=1e-3, n_jobs=2),
            BayesLinearClassifier(prior="gaussian", scale=5.5, tol=1e-3, inference="newton", n_jobs=2),
        ]
        for member in members:
            fit_in_groups(member, sparse.csc_matrix(warm), Y[:300, chosen[:2]], memory=MEMORY)
        threading.Thread(target=watch, daemon=True).start()
        Y = Y[:, chosen]
        found: dict[str, float] = {}
        start = time.process_time()
        X = columns_on_disk(blocks, words, scratch)
        found["columns_s"] = time.process_time() - start
        for member in members:
            start = time.process_time()
            fitted = fit_in_groups(member, X, Y, memory=MEMORY, folder=scratch)
            found[f"{member.prior}_s"] = time.process_time() - start
            if member.prior == "laplace":
                found["support"] = float(((fitted.coef_ != 0.0) @ np.diff(X.indptr)).sum()) / 1e6
        if words == N_WORDS:
            model = fitted.with_labels(LabelSpace(np.arange(labels), "multilabel"))
            start = time.process_time()
            for _ in in_order(model.proba, pieces(shards)):
                pass
            found["scoring_s"] = time.process_time() - start
    return found | {"memory_gib": peak[0], "documents": shards.about["documents"], "words": words, "labels": labels}


def apart(folder: Path, words: int, labels: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--point", json.dumps([str(folder), words, labels])]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=os.environ)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(found, flush=True)
    return found


def exponent(points: list[dict[str, float]], axis: str, figure: str) -> float:
    """Slope of log figure on log size."""
    x, y = (np.log([one[name] for one in points]) for name in (axis, figure))
    return float(np.polyfit(x, y, 1)[0])


def table(points: list[dict[str, float]], axis: str) -> str:
    """One axis as a table, its exponents in the last row."""
    names = {"columns_s": "columns", "laplace_s": "sparse fit", "gaussian_s": "dense fit", "scoring_s": "scoring"}
    others = {"support": "support, millions", "memory_gib": "memory, GiB"}
    figures = [name for name in (*names, *others) if all(name in one for one in points)]
    head = [axis, *(f"{names[name]}, s" if name in names else others[name] for name in figures)]
    lines = [head, ["---:"] * len(head)]
    lines += [[f"{one[axis]:,}", *(f"{one[name]:.2f}" for name in figures)] for one in points]
    lines.append(["exponent", *(f"{exponent(points, axis, name):.2f}" for name in figures)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(runs: dict[str, list[dict[str, float]]], closing: str) -> str:
    """docs/reference/growth.md."""
    most = runs["documents"][-1]["documents"]
    fixed = {
        "documents": f"{N_LABELS} labels, {N_WORDS:,} words",
        "words": f"{most // 2:,} documents, {N_LABELS} labels",
        "labels": f"{most // 2:,} documents, {N_WORDS:,} words",
    }
    parts = [
        "# Growth of time and memory",
        f"Made by `python benchmarks/bench_growth.py --documents {most} --write`; [Large inputs](../guide/scale.md) "
        "says how to use it. A corpus like RCV1, out of core, on two cores: CPU seconds of making columns, "
        "of a sparse (Laplace prior) and a dense (Gaussian) logistic regression of all labels, and of scoring all "
        "documents. Support: non-zeros of the words with a weight in the sparse regression, summed over labels. Memory "
        f"is what is not backed by files, with {MEMORY >> 20} MiB for copies that save time (`fit_in_groups`; training "
        "takes up to 1 GiB). Exponents are slopes on logarithmic scales.",
    ]
    for axis in AXES:
        parts += [f"## {axis.capitalize()}", fixed[axis] + ".", table(runs[axis], axis)]
    grown = exponent(runs["documents"], "documents", "support")
    why = (
        "With a prior of fixed scale more words gain a weight the more documents there are, and a sparse fit reads the "
        f"columns of these in every sweep: their non-zeros grow as documents^{grown:.2f}, and so would a fit that read "
        "nothing else, and as often whatever the size."
    )
    parts += ["## Whether it holds", closing, why]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=80_000)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "textbayes-rcv1-like")
    parser.add_argument("--write", action="store_true", help="write docs/reference/growth.md")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.point is not None:
        folder, words, labels = json.loads(given.point)
        print(json.dumps(point(Path(folder), words, labels)))
        return
    sizes = [given.documents // part for part in (8, 4, 2, 1)]
    folders = {size: write(given.folder / f"{size}", size).folder for size in sizes}
    half = folders[sizes[2]]
    runs = {
        "documents": [apart(folders[size], N_WORDS, N_LABELS) for size in sizes],
        "words": [apart(half, N_WORDS // part, N_LABELS) for part in (8, 4, 2, 1)],
        "labels": [apart(half, N_WORDS, N_LABELS // part) for part in (8, 4, 2, 1)],
    }
    grown = {name: exponent(runs["documents"], "documents", name) for name in ("laplace_s", "gaussian_s", "scoring_s")}
    memory = exponent(runs["documents"], "documents", "memory_gib")
    fit = max(grown["laplace_s"], grown["gaussian_s"])
    figures = (
        f"a fit grows as documents^{fit:.2f} (bar {FIT_BAR}), scoring as documents^{grown['scoring_s']:.2f} (bar "
        f"{SCORE_BAR}), memory as documents^{memory:.2f} (bar {MEMORY_BAR})"
    )
    passed = fit <= FIT_BAR and grown["scoring_s"] <= SCORE_BAR and memory <= MEMORY_BAR
    if given.write:
        PAGE.write_text(page(runs, f"{figures[0].upper()}{figures[1:]}."), encoding="utf-8")
    close("growth", passed, figures)


if __name__ == "__main__":
    main()

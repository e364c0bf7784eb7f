"""Laplace-logit for the 103 labels of an RCV1-sized corpus, out of core on two cores, within 6 GiB.

The corpus is made by ``_rcv1_like.py`` and written to shards. A process of its own, which the system gives no more than
6 GiB of addresses (RLIMIT_AS: mapped files and code count too), turns them into columns on disk, fits all labels, and
scores the shards. On a tenth of the documents the objective is held against the optimum that a fit in memory finds at a
tolerance of 1e-6.

    python benchmarks/bench_out_of_core.py [--documents 80441] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from _common import close
from _rcv1_like import N_DOCS, write
from textbayes import BayesLinearClassifier
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.scale.out_of_core import fit_in_groups
from textbayes.scale.shards import Shards, columns_on_disk, new_mapped
from textbayes.text.batches import in_order

LIMIT, WITHIN, SPEED = 6 << 30, 1e-5, 50_000.0
TOL, BEST = 1e-3, 1e-6


def classifier(tol: float) -> BayesLinearClassifier:
    return BayesLinearClassifier(prior="laplace", scale=10.0, tol=tol, n_jobs=2, max_iter=300)


def rows(shards: Shards) -> Iterator[Any]:
    """The weights of each shard."""
    for one in shards:
        shape = (len(one["indptr"]) - 1, shards.about["words"])
        yield sparse.csr_matrix((one["data"], one["indices"], one["indptr"]), shape=shape)


def pieces(shards: Shards) -> Iterator[Features]:
    """Documents to score, some thousand at a time."""
    for block in rows(shards):
        for first in range(0, block.shape[0], 5_000):
            piece = block[first : first + 5_000]
            yield Features(piece, piece, np.zeros(piece.shape[0]))


def indicator(shards: Shards, folder: Path) -> Any:
    """Labels of all documents, in a file."""
    out = new_mapped(folder / "labels.bin", (shards.about["documents"], len(shards.about["labels"])), np.bool_)
    first = 0
    for one in shards:
        sizes = np.diff(one["label_indptr"])
        out[first + np.repeat(np.arange(len(sizes)), sizes), one["label_indices"]] = True
        first += len(sizes)
    return out


def status(name: str) -> float:
    """A figure of /proc/self/status in GiB."""
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith(f"{name}:"))
    return int(line.split()[1]) / 2**20


def fit_and_score(folder: Path, most: int | None) -> dict[str, Any]:
    """The work of the process with the limit."""
    if most is not None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    shards, figures = Shards(folder), {}
    peak = {"anonymous": 0.0}

    def watch() -> None:
        while True:
            peak["anonymous"] = max(peak["anonymous"], status("RssAnon"))
            time.sleep(0.2)

    threading.Thread(target=watch, daemon=True).start()

    def tell(what: str, done: int, total: int | None) -> None:
        seconds, used = time.perf_counter() - start, peak["anonymous"]
        print(f"  {what} {done} of {total}, {seconds:.0f} s, {used:.2f} GiB", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        start = time.perf_counter()
        X, Y = columns_on_disk(lambda: rows(shards), shards.about["words"], Path(scratch)), None
        figures["columns_s"] = time.perf_counter() - start
        Y = indicator(shards, Path(scratch))
        start, cpu = time.perf_counter(), time.process_time()
        model = fit_in_groups(classifier(TOL), X, Y, report=tell, folder=Path(scratch))
        figures |= {"fit_s": time.perf_counter() - start, "fit_cpu_s": time.process_time() - cpu}
        figures["objective"] = float(model.fit_info_.objective.sum())
        figures["converged"] = bool(model.fit_info_.converged.all())
        figures["words_with_weight"] = int((model.coef_ != 0.0).any(axis=0).sum())
        space = LabelSpace(np.array(shards.about["labels"]), "multilabel")
        fitted = model.with_labels(space)
        start, n_docs, hits = time.perf_counter(), 0, 0
        for proba in in_order(fitted.proba, pieces(shards)):
            hits += int(((proba > 0.5) == Y[n_docs : n_docs + len(proba)]).sum())
            n_docs += len(proba)
        figures["documents_per_s"] = n_docs / (time.perf_counter() - start)
        figures["right"] = hits / Y.size
    figures |= {"peak_GiB": status("VmHWM"), "anonymous_GiB": peak["anonymous"], "addresses_GiB": status("VmPeak")}
    return figures


def apart(folder: Path, most: int | None) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--fit", str(folder), "--most", str(most or 0)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def optimum(folder: Path) -> float:
    """Objective of the fit in memory, far below the tolerance of the other."""
    shards = Shards(folder)
    X = sparse.vstack(list(rows(shards)), format="csr")
    with tempfile.TemporaryDirectory() as scratch:
        Y = np.array(indicator(shards, Path(scratch)))
    start = time.perf_counter()
    found = float(classifier(BEST).fit(X, Y).fit_info_.objective.sum())
    print(f"optimum in memory, tol {BEST:g}: {found:,.4f}, {time.perf_counter() - start:.0f} s", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=N_DOCS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "textbayes-rcv1-like")
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--most", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit is not None:
        print(json.dumps(fit_and_score(given.fit, given.most or None)))
        return
    made = {}
    for n_docs in sorted({min(N_DOCS // 10, given.documents), given.documents}):
        start = time.perf_counter()
        made[n_docs] = write(given.folder / f"{n_docs}", n_docs).folder
        print(f"{n_docs:,} documents in shards after {time.perf_counter() - start:.0f} s", flush=True)
    tenth = apart(min(made.items())[1], None)
    print({name: round(value, 3) for name, value in tenth.items()}, flush=True)
    gap = tenth["objective"] / optimum(min(made.items())[1]) - 1.0
    print(f"on {min(made):,} documents the objective is {gap:.1e} above the optimum", flush=True)
    whole = apart(made[given.documents], LIMIT)
    print({name: round(value, 3) for name, value in whole.items()}, flush=True)
    passed = gap <= WITHIN and whole["documents_per_s"] >= SPEED and whole["converged"]
    close(
        "out of core",
        passed,
        f"{given.documents:,} documents x 103 labels fitted in {whole['fit_s'] / 3600:.2f} h "
        f"({whole['fit_cpu_s']:.0f} s of CPU) under a limit of {LIMIT >> 30} GiB, peak {whole['peak_GiB']:.2f} GiB of "
        f"which {whole['anonymous_GiB']:.2f} are not files; objective {gap:.1e} above the optimum on a tenth (bar "
        f"{WITHIN:g}); {whole['documents_per_s']:,.0f} documents/s scored (bar {SPEED:,.0f})",
    )


if __name__ == "__main__":
    main()

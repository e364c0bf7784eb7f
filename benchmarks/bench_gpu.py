"""Fits on a graphics card: the generated RCV1, and the regressions of a default training of abstracts.

Three steps, since the machine with the card need have nothing but torch, NumPy and SciPy (without arguments the first
two, where there is a card):

    python benchmarks/bench_gpu.py statistics FOLDER     # any machine, with the public RCV1 samples
    python benchmarks/bench_gpu.py card FOLDER           # the machine with the card: times, objectives, weights
    python benchmarks/bench_gpu.py compare FOLDER        # any machine, with torch and textbayes: the CPU's fits

The optimum of the whole corpus is what a far longer run finds, that of a tenth is what ``coordinate`` finds on the CPU
at a tolerance of 1e-6. The corpus is the same on both, see ``_on_card.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

if importlib.util.find_spec("torch") is None:
    print("gpu: left out, torch is not installed")
    sys.exit(0)
import torch

from _on_card import Made, abstracts, rcv1, statistics
from textbayes.inference._all_labels import DocumentMatrix
from textbayes.inference.base import Posterior, Problem
from textbayes.inference.gpu import fit_labels
from textbayes.links import make_link
from textbayes.priors import make_prior

N_DOCS, TENTH, SMALL = 804_414, 80_441, 20_000
TOL, BEST, WITHIN = 1e-4, 1e-6, 1e-5
MOST_S, MOST_ABSTRACTS_S = 30.0, 60.0
LABELS_FOR_SCALES = 16  # of 34: what an automatic training looks for scales with


def fit(made: Made, prior: str, scale: Any, tol: float, start: Posterior | None = None) -> tuple[Posterior, float]:
    """The posterior and the seconds that it took."""
    given = make_prior(prior, scale)
    y = np.where(made.labels.cpu().numpy(), 1.0, -1.0)
    problem = Problem(None, y, make_link("logit"), given, given.rescaled(np.inf))
    device = made.X.device
    memory = int(0.9 * torch.cuda.mem_get_info()[0]) if device.type == "cuda" else 4 << 30
    wait(device)
    began = time.perf_counter()
    found = fit_labels(made.X, problem, start, tol, 1_000, memory)
    wait(device)
    return found, time.perf_counter() - began


def wait(device: Any) -> None:
    """Until the device has done what it was asked."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def timed(work: Callable[[], Any], device: Any) -> tuple[Any, float]:
    """A result and the seconds that it took."""
    began = time.perf_counter()
    result = work()
    wait(device)
    return result, time.perf_counter() - began


def card(folder: Path, n_docs: int) -> None:
    """The fits on the card."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    figures: dict[str, Any] = {"device": torch.cuda.get_device_name() if device.type == "cuda" else "CPU"}
    print(figures["device"], "torch", torch.__version__, flush=True)
    for name, n in (("small", SMALL), ("tenth", TENTH), ("whole", N_DOCS)):
        if n > n_docs:
            continue
        made, seconds = timed(lambda n=n: rcv1(folder / "statistics.npz", n, device), device)
        n_nonzeros = len(made.X.blocks[0].rows[2])
        print(f"{n:,} documents, {n_nonzeros / n:.1f} words each, made in {seconds:.1f} s", flush=True)
        found, seconds = fit(made, "laplace", 10.0, TOL)
        best, more = fit(made, "laplace", 10.0, BEST, found)
        one = {"seconds": seconds, "objective": found.info.objective.sum(), "best_seconds": more}
        one |= {"best": best.info.objective.sum(), "best_violation": best.info.violation.max()}
        one |= {"steps": int(found.info.n_iter.max()), "converged": bool(found.info.converged.all())}
        one |= {"words": float((found.mean != 0.0).sum(1).mean())}
        figures[name] = {key: value if isinstance(value, bool) else float(value) for key, value in one.items()}
        print(name, figures[name], flush=True)
        if name != "whole":
            save(folder / f"{name}.npz", best)
    figures["abstracts"] = abstracts_fits(device, min(100_000, n_docs))
    if device.type == "cuda":
        figures["peak_GiB"] = torch.cuda.max_memory_allocated() / 2**30
    (folder / "figures.json").write_text(json.dumps(figures, indent=1))
    gap = figures["whole"]["objective"] / figures["whole"]["best"] - 1.0 if "whole" in figures else np.nan
    spent = figures["whole"]["seconds"] if "whole" in figures else np.nan
    total = sum(figures["abstracts"].values())
    passed = gap <= WITHIN and spent <= MOST_S and total <= MOST_ABSTRACTS_S
    print(
        f"gpu ({figures['device']}): {n_docs:,} documents x 103 labels in {spent:.1f} s (bar {MOST_S:g}), objective "
        f"{gap:.1e} above that of a long run (bar {WITHIN:g}); fits of a default training of abstracts {total:.1f} s "
        f"(bar {MOST_ABSTRACTS_S:g}): {'pass' if passed else 'FAIL'}"
    )
    sys.exit(0 if passed else 1)


def save(path: Path, found: Posterior) -> None:
    """Weights that can be copied to another machine."""
    label, word = np.nonzero(found.mean)
    np.savez_compressed(
        path, label=label.astype(np.int16), word=word.astype(np.int32), weight=found.mean[label, word],
        intercept=found.intercept, objective=found.info.objective,
    )  # fmt: skip


def abstracts_fits(device: Any, n_docs: int) -> dict[str, float]:
    """Seconds of all regressions that the budget "normal" fits to abstracts of 34 labels.

    Two schemes of term weights and, for words and for stems, four scales are tried on the first fold, with 16 of the
    labels; then three members are fitted on two folds and on all texts. Naive Bayes is sums.
    """
    folds, seconds = n_docs * 4 // 5, {}
    scales = by_path("models/linear/words.py")
    views = {"words": (200_000, 130), "stems": (60_000, 110)}
    for name, (n_words, length) in views.items():
        whole = abstracts(n_docs, n_words, length, 34, device, seed=1)
        part = abstracts(folds, n_words, length, 34, device, seed=1)
        few = part._replace(labels=part.labels[:, :LABELS_FOR_SCALES])
        tried = [1.0, 3.0, 6.0, 18.0] + ([6.0, 6.0] if name == "words" else [])  # scales, and schemes
        jobs = [(few, "gaussian", scale, 1e-2) for scale in tried]
        jobs += [(part, "gaussian", 6.0, 1e-2)] * 2 + [(whole, "gaussian", 6.0, 1e-3)]
        if name == "stems":
            jobs += [(part, "laplace", 10.0, 1e-2)] * 2 + [(whole, "laplace", 10.0, 1e-3)]
        for made, prior, scale, tol in jobs:
            began = time.perf_counter()
            ratio = 1.0
            if prior == "gaussian":
                ratio = scales.ratio_scales(on_host(made.X), made.labels.cpu().numpy())
            prepared = time.perf_counter() - began
            found, spent = fit(made, prior, scale * ratio, tol)
            key = f"{name} {prior}"
            seconds[key] = seconds.get(key, 0.0) + spent
            print(
                f"  {key} of scale {scale:g}, {made.labels.shape[1]} labels, tol {tol:g}: {spent:.1f} s, "
                f"{found.info.n_iter.max()} steps (scales of words on the CPU {prepared:.1f} s)", flush=True,
            )  # fmt: skip
    return seconds


def by_path(path: str) -> ModuleType:
    """A module of the package without its parents, which need more than there is."""
    file = Path(sys.modules["textbayes.inference.gpu"].__file__ or "").parents[1] / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_host(X: DocumentMatrix) -> Any:
    """The matrix in SciPy's CSC."""
    indptr, indices, values = (one.cpu().numpy() for one in X.blocks[0].columns)
    return sparse.csc_matrix((values, indices, indptr), shape=(X.n_docs, X.n_words))


def compare(folder: Path, names: list[str]) -> None:
    """The CPU's fits of the same corpora, and how far the card's are from them."""
    from _common import close
    from textbayes.inference.coordinate import Coordinate

    figures, passed = [], True
    for name in names:
        n = {"small": SMALL, "tenth": TENTH}[name]
        made = rcv1(folder / "statistics.npz", n, torch.device("cpu"))
        given = make_prior("laplace", 10.0)
        y = np.where(made.labels.numpy(), 1.0, -1.0)
        problem = Problem(on_host(made.X), y, make_link("logit"), given, given.rescaled(np.inf))
        ours = Coordinate(BEST, 300, 2).run(problem)
        with np.load(folder / f"{name}.npz") as theirs:
            weights = np.zeros_like(ours.mean)
            weights[theirs["label"], theirs["word"]] = theirs["weight"]
            gap = theirs["objective"].sum() / ours.info.objective.sum() - 1.0
            intercept = theirs["intercept"]
        apart, largest, label = unlike(problem.X, weights, ours.mean)
        ends = (ours.mean[label], ours.intercept[label]), (weights[label], intercept[label])
        middle = tuple((one + other) / 2.0 for one, other in zip(*ends, strict=True))
        at_ours, at_theirs, between = (objective(problem, label, *at) for at in (*ends, middle))
        told = json.loads((folder / "figures.json").read_text())[name]
        at_tol = told["objective"] / ours.info.objective.sum() - 1.0
        passed &= max(gap, at_tol) <= WITHIN
        figures.append(
            f"{n:,} documents: objective at tolerance {TOL:g} {at_tol:.1e} above the CPU's, at {BEST:g} {gap:.1e}; "
            f"weights differ by {apart:.1e} at most, the largest is {largest:.1f}; of the label where they do, the "
            f"objective {at_ours:.6f} of the CPU's is {at_theirs / at_ours - 1.0:+.1e} away at the card's and "
            f"{between / at_ours - 1.0:+.1e} halfway: so flat it is there"
        )
    close("gpu against cpu", passed, "; ".join(figures))


def objective(problem: Problem, label: int, w: Any, b: float) -> float:
    """−log likelihood − log prior of a label's weights and intercept, which is free."""
    fit = problem.link.log_prob(problem.X @ w + b, problem.y[:, label]).sum()
    return float(problem.prior.for_label(label, len(w)).penalty(w).sum() - fit)


def unlike(X: Any, ours: Any, theirs: Any) -> tuple[float, float, int]:
    """The largest difference of two weights, and the largest weight, each times the first value of the word's column.

    The third is the label that differs most.

    Words whose columns are multiples of each other (most often of one document) are taken together: how a Laplace prior
    shares a weight among them is not determined.
    """
    groups: dict[tuple[bytes, bytes], int] = {}
    number, first = np.zeros(X.shape[1], dtype=np.int64), np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        at = slice(X.indptr[j], X.indptr[j + 1])
        rows, values = X.indices[at], X.data[at]
        if len(rows):
            first[j] = values[0]
            key = rows.tobytes(), np.round(values / values[0], 9).tobytes()
            number[j] = groups.setdefault(key, len(groups))
    together = sparse.csr_matrix((first, (np.arange(len(first)), number)))
    one, other = ours @ together, theirs @ together
    apart = np.abs(one - other).max(axis=1)
    return float(apart.max()), float(np.abs(other).max()), int(apart.argmax())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("statistics", "card", "compare"), nargs="?")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(tempfile.gettempdir()) / "textbayes-gpu")
    parser.add_argument("--documents", type=int, default=N_DOCS)
    parser.add_argument("--sizes", nargs="+", default=["small", "tenth"])
    given = parser.parse_args()
    if given.step is None and not torch.cuda.is_available():
        print("gpu: left out, there is no graphics card that PyTorch can use")
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    known = given.folder / "statistics.npz"
    if given.step == "statistics" or (given.step is None and not known.exists()):
        statistics(known)
    if given.step in (None, "card"):
        card(given.folder, given.documents)
    elif given.step == "compare":
        compare(given.folder, given.sizes)


if __name__ == "__main__":
    main()

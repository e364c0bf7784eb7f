"""What the appendix says of the Gaussian process and does not print: passes by kernel (A.2), and no jitter (A.3)."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.models.online import PAPER_PROBIT, GaussianProcess
from textbayes.reproduce.experiment import Run, Systems
from textbayes.reproduce.online.corpora import Collection
from textbayes.reproduce.online.systems import KERNELS, TOLERANCE, TopicSystems, Trained
from textbayes.reproduce.results import Cell, Table

LARGEST: Final = 5  # topics with most training stories
_PASSES: Final = (1, 2, 3, 4, 5)
_JITTERS: Final = (1e-4, 0.0)


def largest_topics(collection: Collection, n: int = LARGEST) -> Collection:
    """The same stories with the topics that most training stories have."""
    return collection.of_topics(np.sort(np.argsort(-collection.Y_train.sum(axis=0), kind="stable")[:n]))


def table_7a(run: Run, collection: Collection) -> Table:
    """Table 7a: passes of the Gaussian process over the training stories, for its three kernels."""
    found = run.load("the largest topics", lambda: TopicSystems(largest_topics(collection)))
    ours = {}
    for name in KERNELS:
        passes = _PASSES[:2] if run.quick else _PASSES
        for number, outcomes in zip(
            passes, run.outcomes(found, [Trained(name, number) for number in passes], f", {name}").values(), strict=True
        ):
            outcome = outcomes[-1]
            label = f"{name}, {number} pass{'es' * (number > 1)}"
            ours[label] = (*outcome.f1("MaxF1"), outcome.test_evidence, outcome.train_evidence)
    caption = (
        f"Not printed in the paper (A.2): passes of the Gaussian process, the {len(found.units)} topics with most "
        "stories, MaxF1 thresholds."
    )
    columns = ("micro F1", "macro F1", "log-evidence, test", "log-evidence, training")
    return Table.by_row("7a", caption, columns, ours, digits=2)


class Setup(NamedTuple):
    """A kernel, the jitter on its diagonal, and the ε up to which documents are projected on the basis."""

    kernel: str
    jitter: float
    tolerance: float


class Condition(NamedTuple):
    """A process after a pass: its basis, how far K is from singular, the error of the inverse kept, and errors made."""

    n_basis: int
    condition: float
    error: float
    least_variance: float
    wrong: float


class Conditioning(Systems[Setup, int, Condition, list[Condition]]):
    """Learn topics with and without jitter, and look at the matrices that the process keeps."""

    def __init__(self, collection: Collection) -> None:
        super().__init__(range(len(collection.words)))
        self.collection = collection

    def fit(self, system: Setup, unit: int) -> Condition:
        """One pass over the training stories."""
        words = self.collection.words[unit]
        process = GaussianProcess.start(
            words, KERNELS[system.kernel], max(len(words), 1), system.tolerance, jitter=system.jitter
        )
        y = np.where(self.collection.Y_train[:, unit], 1.0, -1.0)
        with np.errstate(all="ignore"):  # what goes wrong is what is looked for
            process.learn(self.collection.train, y, PAPER_PROBIT, in_place=True)
            mean, var = process.predict(self.collection.test)
        wrong = ~np.isfinite(mean[:, 0]) | ((mean[:, 0] > 0.0) != self.collection.Y_test[:, unit])
        finite = var[np.isfinite(var)]
        least = float(finite.min()) if finite.size == var.size else float("nan")
        return Condition(process.n_basis, *inverse_error(process), least, 100.0 * float(wrong.mean()))

    def collect(self, system: Setup, parts: list[Condition]) -> list[Condition]:
        """Topic by topic."""
        return parts


def inverse_error(process: GaussianProcess) -> tuple[float, float]:
    """The condition number of the basis's kernel matrix K, and the largest entry of Q K − 1, Q the inverse kept."""
    n = process.n_basis
    lower = np.tril(process.inverse[:n, :n])
    inverse = lower + np.tril(lower, -1).T
    K: FloatArray = np.asarray(process.kernel(process.basis, process.basis)) + process.jitter * np.eye(n)
    if not np.isfinite(inverse).all():
        return float(np.linalg.cond(K)), float("inf")
    return float(np.linalg.cond(K)), float(np.abs(inverse @ K - np.eye(n)).max())


def table_7b(run: Run, collection: Collection) -> Table:
    """Table 7b: the matrices of the Gaussian process with and without jitter."""
    found = run.load(
        "the largest topics, jitter", lambda: Conditioning(largest_topics(collection, 2 if run.quick else LARGEST))
    )
    ours: dict[str, list[Cell]] = {}
    for name in KERNELS:
        for tolerance in (TOLERANCE, 0.0):
            setups = [Setup(name, jitter, tolerance) for jitter in _JITTERS]
            for setup, parts in run.outcomes(found, setups, f", {name}").items():
                worst = [
                    float(np.log10(max(max(part.condition for part in parts), 1.0))),
                    float(np.log10(max(max(part.error for part in parts), 1e-17))),
                    float(np.min([part.least_variance for part in parts])),
                    float(np.mean([part.n_basis for part in parts])),
                    float(np.mean([part.wrong for part in parts])),
                ]
                label = f"{name}, ε = {tolerance:g}, {'jitter 10⁻⁴' if setup.jitter else 'no jitter'}"
                ours[label] = [value if np.isfinite(value) else None for value in worst]
    caption = (
        f"Not printed in the paper (A.3): one pass of the Gaussian process with and without jitter, the "
        f"{len(found.units)} topics with most stories. A dash is a value that is not a finite number."
    )
    columns = ("log₁₀ condition of K, worst", "log₁₀ error of K⁻¹, worst", "least variance", "basis, mean", "errors, %")
    return Table.by_row("7b", caption, columns, ours, digits=3)

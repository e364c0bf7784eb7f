"""Peak memory of the Laplace-logit fit of all 90 Reuters categories, in times of the matrix plus the model.

A process loads the matrix, fits a small part (so that libraries and compiled code are there), resets the kernel's mark
of its peak resident memory and fits it all. Counted are the matrix, the labels, and what the peak adds to them.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from _common import close, reuters_matrix
from textbayes import BayesLinearClassifier

BAR = 3.0


def resident(field: str) -> int:
    """VmRSS or VmHWM (its peak) of this process in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


def main() -> None:
    if not Path("/proc/self/clear_refs").exists():
        sys.exit("bench_memory: needs Linux, whose /proc/self/clear_refs resets the peak")
    X, Y = reuters_matrix()
    model = BayesLinearClassifier(prior="laplace", scale=10.0, n_jobs=2)
    model.fit(X[:500], Y[:500])
    del model.coef_
    gc.collect()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    model.fit(X, Y)
    added = resident("VmHWM") - before
    matrix = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    size = matrix + model.coef_.nbytes + model.intercept_.nbytes
    print(f"matrix {matrix / 2**20:.1f} MiB, model {model.coef_.nbytes / 2**20:.1f} MiB, added {added / 2**20:.1f} MiB")
    ratio = (matrix + added) / size
    close("memory", ratio < BAR, f"peak {ratio:.2f}x matrix + model (bar {BAR:g}x)")


if __name__ == "__main__":
    main()

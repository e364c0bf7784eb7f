"""What a user waits for at the first fit: in a new process, and on a machine where nothing is compiled yet.

Three processes fit a small Laplace-logit twice: the first with an empty kernel cache, the others with the cache it
left. The message that the first one shows is printed too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from _common import close

MOST_EXTRA = 1.0  # seconds that the first fit of a process may cost more than the second
MOST_COMPILING = 8.0
CODE = """
import json, time
import numpy as np
from scipy import sparse
from textbayes import BayesLinearClassifier
X = sparse.random(200, 500, density=0.05, random_state=0, format="csr")
Y = np.random.default_rng(0).random((200, 3)) < 0.3
taken = []
for _ in range(2):
    start = time.perf_counter()
    BayesLinearClassifier(prior="laplace", scale=10.0).fit(X, Y)
    taken.append(time.perf_counter() - start)
print(json.dumps(taken))
"""


def first_and_second(cache: str) -> tuple[float, float, str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env=os.environ | {"NUMBA_CACHE_DIR": cache}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, second = json.loads(done.stdout)
    return first, second, done.stderr.strip()


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        cold, _, message = first_and_second(cache)
        extra = min(first - second for first, second, _ in (first_and_second(cache) for _ in range(3)))
    print(f"nothing compiled: {cold:.1f} s, saying {message!r}")
    print(f"compiled: the first fit of a process takes {extra:.2f} s more than the second")
    told = f"cold {cold:.1f} s (bar {MOST_COMPILING:g} s), first fit +{extra:.2f} s (bar {MOST_EXTRA:g} s)"
    close("first_fit", cold <= MOST_COMPILING and extra < MOST_EXTRA and "compiling" in message, told)


if __name__ == "__main__":
    main()

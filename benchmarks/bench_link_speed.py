"""Laplace MAP of all 90 Reuters categories at scale 10 under other links, in times of our own logit on one core.

Everyone ends at the same tolerance: the largest violation 1e-4 of the largest partial derivative at the start.
"""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from _common import close, fastest, reuters_matrix
from textbayes import BayesLinearClassifier

BARS = {"probit": 1.5, "skew_t:df=8,skew=0.5": 5.0, "skew_t:df=1,skew=2": 5.0, "skew_t:df=inf,skew=0.5": 5.0}


def main() -> None:
    X, Y = reuters_matrix()

    def seconds(link: str) -> float:
        model = BayesLinearClassifier(link=link, prior="laplace", scale=10.0, tol=1e-4)
        model.fit(X, Y[:, :2])  # loads compiled code
        taken, fitted = fastest(lambda: model.fit(X, Y))
        print(f"{link:24} {taken:6.2f} s, {int(fitted.fit_info_.n_iter.sum())} Newton steps", flush=True)
        return taken

    with threadpool_limits(1):
        logit = seconds("logit")
        ratios = {link: seconds(link) / logit for link in BARS}
    told = ", ".join(f"{link} {ratio:.2f}x logit (bar {BARS[link]:g}x)" for link, ratio in ratios.items())
    close("link_speed", all(ratio <= BARS[link] for link, ratio in ratios.items()), told)


if __name__ == "__main__":
    main()

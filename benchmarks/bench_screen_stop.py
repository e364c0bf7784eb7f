"""When the estimate stops reading, on 17 reviews: how often it is right, and what it costs beside the ranked test.

Every review is read to its end with tables of the others; at 200 places the signs of the estimate and what was really
left are kept. The estimate's numbers for a review are fitted to the other 16. Right: recall is at least 95 % at the
stop. Excess: records read beyond the one with which 95 % were found. Calibration: how often the target was reached
where the estimate gave it some probability, over all places where the ranked test has left 0.9.

    python benchmarks/bench_screen_stop.py [--seeds 5] [--jobs 1] [--plot FILE]
"""

from __future__ import annotations

import argparse

import numpy as np

from _common import close
from _screen import Review, in_parallel, reviews
from textbayes.evaluate.screening import read_until
from textbayes.screen.remaining import RemainingWeights, fit_remaining
from textbayes.screen.simulate import Simulation, TopicReader, draw_start, simulate
from textbayes.screen.simulations import (
    CalibrationBin,
    calibration,
    draw_calibration,
    estimate_checks,
    estimated_probability,
    is_late,
)
from textbayes.screen.stopping import GATE

TARGET, CONFIDENCE = 0.95, 0.9


def fitted(runs: list[list[Simulation]]) -> RemainingWeights:
    """The estimate's numbers by some reviews; every run counts the same."""
    signs, left, weight = [], [], []
    for run in (run for review in runs for run in review):
        late = [check for check in run.checks if is_late(check) and check.n_read < len(run.rows)]
        signs += [check.signs for check in late]
        left += [check.n_left for check in late]
        weight += [1.0 / len(late)] * len(late)
    return fit_remaining(signs, left, np.array(weight))


def stop(run: Simulation, speaks) -> tuple[int, float]:
    """Records read and recall where a rule first speaks."""
    n = len(run.rows)
    n_read = next((check.n_read for check in run.checks if speaks(check)), n)
    return n_read, run.found[:n_read].sum() / run.found.sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--plot", help="write the calibration as a plot")
    given = parser.parse_args()
    all_reviews = reviews()

    def work(review: Review) -> list[Simulation]:
        records = review.collection(review.question)
        starts = [draw_start(review.relevant, seed) for seed in range(given.seeds)]
        return [
            simulate(TopicReader(records), review.relevant, start, target=TARGET, keep_checks=True) for start in starts
        ]

    runs = in_parallel(work, all_reviews, given.jobs)
    rows, pairs = [], []
    for k, review in enumerate(all_reviews):
        weights = fitted(runs[:k] + runs[k + 1 :])
        for run in runs[k]:
            n, needed = len(run.rows), read_until(run.found, TARGET)
            pairs.append(estimate_checks(run, TARGET, weights))
            told = {check.n_read: estimated_probability(check, n, TARGET, weights) for check in run.checks}
            own = stop(run, lambda check, told=told: told[check.n_read] >= CONFIDENCE and check.p_value <= GATE)
            ranked = stop(run, lambda check: check.p_value < 1.0 - CONFIDENCE)
            rows.append((own[1], max(own[0] - needed, 0), ranked[1], max(ranked[0] - needed, 0), n))
        mine = np.array(rows[-given.seeds :])
        print(
            f"{review.name:24s} estimate: recall {mine[:, 0].mean():.3f}, excess {mine[:, 1].mean():6.0f}; "
            f"ranked test: recall {mine[:, 2].mean():.3f}, excess {mine[:, 3].mean():6.0f}"
        )
    table = np.array(rows)
    bins = calibration(*(np.concatenate(told) for told in zip(*pairs, strict=True)))
    for told in bins:
        print(f"the estimate says {told.said:.2f}: reached in {told.reached:.2f} of {told.n:,} places")
    if given.plot:
        plot(bins, given.plot)
    late = [check for review in runs for run in review for check in run.checks if is_late(check)]
    left = sum(check.n_left for check in late)
    for name, k in (("the recalibrated sum", 0), ("the pace of the last finds", 1)):
        print(f"{name} alone says {sum(np.exp(check.signs[k]) for check in late) / left:.1f} times what is left")
    print("of all reviews:", ", ".join(f"{name} {value:.3f}" for name, value in fitted(runs)._asdict().items()))
    right, worst = (table[:, 0] >= TARGET - 1e-9).mean(), table[:, 0].min()
    cost, cost_of_each = (
        table[:, 1].sum() / table[:, 3].sum(),
        (table[:, 1] / table[:, 4]).sum() / (table[:, 3] / table[:, 4]).sum(),
    )
    figures = (
        f"{right:.1%} of {len(table)} stops right (≥ 88 %), worst recall {worst:.3f} (≥ 0.92), excess reading "
        f"{cost:.3f}× the ranked hypergeometric rule's (≤ 0.90; {cost_of_each:.3f}× as shares of each review), "
        f"which is right in {(table[:, 2] >= TARGET - 1e-9).mean():.1%}"
    )
    close("screening stops", right >= 0.88 and worst >= 0.92 and cost <= 0.90, figures)


def plot(bins: list[CalibrationBin], path: str) -> None:
    """How often the target was reached, by what the estimate said."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    panel = figure.subplots()
    draw_calibration(panel, bins)
    panel.set_title("")
    panel.set_xlabel("the estimate's probability that recall ≥ 95 %")
    panel.set_ylabel("how often it was")
    figure.savefig(path, dpi=120, metadata={"Date": None} if path.endswith(".svg") else None)


if __name__ == "__main__":
    main()

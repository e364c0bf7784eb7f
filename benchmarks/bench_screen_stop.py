"""When the estimate stops reading, on 23 reviews: how often it is right, and what it costs beside the ranked test.

Every review is read to its end with tables of the others; at 200 places the signs of the estimate and what was really
left are kept. The estimate's numbers for a review are fitted to the other 22, in several shapes: as they are, with 30 %
of what is not relevant, and with 40 and 15 % of what is. Right: recall is at least 95 % at the stop. Excess: records
read beyond the one with which 95 % were found; the ranked test is set beside the estimate at the confidence at which it
is right as often. Calibration: how often a target was reached where the estimate gave it some probability, over all
places where the ranked test has left 0.9; its error is the mean distance in ten bins, weighed by their places.

    python benchmarks/bench_screen_stop.py [--seeds 5] [--jobs 1] [--plot FILE]
"""

from __future__ import annotations

import argparse

import numpy as np

from _common import close
from _screen import Review, in_parallel, reviews
from textbayes.core.types import BoolArray, FloatArray
from textbayes.evaluate.retrieval import read_until
from textbayes.screen.remaining import RemainingWeights, fit_remaining, may_be_left
from textbayes.screen.simulate import Simulation, TopicReader, draw_start, simulate
from textbayes.screen.simulations import (
    CalibrationBin,
    calibration,
    draw_calibration,
    estimated_probability,
    is_late,
)
from textbayes.screen.stopping import GATE

TARGET, CONFIDENCE = 0.95, 0.9
TARGETS = (0.8, 0.9, 0.95, 1.0)
SHAPES = ((1.0, 0.3), (0.4, 1.0), (0.15, 1.0))  # shares of the relevant records and of the others that are kept
MOST_OTHERS, LEAST_RELEVANT = 1500, 6  # in these shapes


def shaped(review: Review, kept: tuple[float, float], seed: int) -> Review:
    """A review of some of the records."""
    draw, parts = np.random.default_rng(seed), []
    for share, side, bounds in zip(kept, (True, False), ((LEAST_RELEVANT, np.inf), (1, MOST_OTHERS)), strict=True):
        rows = np.flatnonzero(review.relevant == side)
        n = min(max(round(share * len(rows)), bounds[0]), bounds[1], len(rows))
        parts.append(draw.choice(rows, int(n), replace=False))
    rows = np.sort(np.concatenate(parts))
    return review._replace(texts=[review.texts[i] for i in rows], relevant=review.relevant[rows])


def fitted(runs: list[Simulation]) -> RemainingWeights:
    """The estimate's numbers by some runs; every run counts the same."""
    signs, left, weight = [], [], []
    for run in runs:
        late = [check for check in run.checks if is_late(check) and check.n_read < len(run.rows)]
        signs += [check.signs for check in late]
        left += [check.n_left for check in late]
        weight += [1.0 / max(len(late), 1)] * len(late)
    return fit_remaining(signs, left, np.array(weight))


def stop(run: Simulation, speaks) -> tuple[float, int]:
    """Recall, and records read in excess, where a rule first speaks."""
    n_read = next((check.n_read for check in run.checks if speaks(check)), len(run.rows))
    return run.found[:n_read].sum() / run.found.sum(), max(n_read - read_until(run.found, TARGET), 0)


def calibration_error(said: FloatArray, reached: BoolArray) -> float:
    """Mean distance of what was said from what happened, in ten bins."""
    place = np.minimum((10.0 * said).astype(np.int64), 9)
    return sum(abs(float((said - reached)[place == k].sum())) for k in range(10)) / len(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--plot", help="write the calibration as a plot")
    given = parser.parse_args()
    all_reviews = sorted(reviews(), key=lambda review: len(review.texts))

    def work(review: Review) -> tuple[list[Simulation], list[Simulation]]:
        whole = [read(review, seed) for seed in range(given.seeds)]
        return whole, [read(shaped(review, kept, k), k) for k, kept in enumerate(SHAPES)]

    def read(review: Review, seed: int) -> Simulation:
        reader, start = TopicReader(review.collection(review.question)), draw_start(review.relevant, seed)
        return simulate(reader, review.relevant, start, target=TARGET, keep_checks=True)

    runs = in_parallel(work, all_reviews, given.jobs)
    own, said, reached, held = [], {target: [] for target in TARGETS}, {target: [] for target in TARGETS}, []
    for k, review in enumerate(all_reviews):
        weights = fitted([run for one in (*runs[:k], *runs[k + 1 :]) for part in one for run in part])
        mine = []
        for run in runs[k][0]:
            n = len(run.rows)
            for target in TARGETS:
                late = [check for check in run.checks if is_late(check)]
                said[target] += [estimated_probability(check, n, target, weights) for check in late]
                reached[target] += [check.n_left <= may_be_left(check.n_found, target) for check in late]
            held += [check.n_left <= weights.left(check.signs, n - check.n_read).quantile(0.9) for check in late]
            told = {check.n_read: estimated_probability(check, n, TARGET, weights) for check in run.checks}
            speaks = lambda check, told=told: told[check.n_read] >= CONFIDENCE and check.p_value <= GATE  # noqa: E731
            mine.append(stop(run, speaks))
        own += mine
        recall, excess = np.mean(mine, axis=0)
        print(f"{review.name:24s} estimate: recall {recall:.3f}, excess {excess:6.0f}", flush=True)
    table = np.array(own)
    right, worst = (table[:, 0] >= TARGET - 1e-9).mean(), table[:, 0].min()
    whole = [run for one, _ in runs for run in one]
    for at in np.arange(0.01, 1.0, 0.01):  # the least cautious ranked test that is right as often
        equal = np.array([stop(run, lambda check, at=at: check.p_value < 1.0 - at) for run in whole])
        if (equal[:, 0] >= TARGET - 1e-9).mean() >= right:
            break
    cost = table[:, 1].sum() / equal[:, 1].sum()
    errors = {target: calibration_error(np.array(said[target]), np.array(reached[target])) for target in TARGETS}
    print("calibration error by target:", ", ".join(f"{target} {error:.3f}" for target, error in errors.items()))
    everything = [np.concatenate([np.array(told[target]) for target in TARGETS]) for told in (said, reached)]
    error = calibration_error(*everything)
    bins = calibration(np.array(said[TARGET]), np.array(reached[TARGET]))
    for told in bins:
        print(f"the estimate says {told.said:.2f}: reached in {told.reached:.2f} of {told.n:,} places")
    print(f"'at most N left with 90 %' held in {np.mean(held):.1%} of {len(held):,} places")
    if given.plot:
        plot(bins, given.plot)
    late = [check for run in whole for check in run.checks if is_late(check)]
    left = sum(check.n_left for check in late)
    for name, k in (("the recalibrated sum", 0), ("the pace of the last finds", 1)):
        print(f"{name} alone says {sum(np.exp(check.signs[k]) for check in late) / left:.1f} times what is left")
    numbers = fitted([run for one in runs for part in one for run in part])._asdict()
    print("of all reviews:", ", ".join(f"{name} {value:.3f}" for name, value in numbers.items()))
    figures = (
        f"{right:.1%} of {len(table)} stops right (≥ 88 %), worst recall {worst:.3f} (≥ 0.92), "
        f"excess reading {cost:.3f}× the ranked hypergeometric rule's at confidence {at:.2f}, which is right in "
        f"{(equal[:, 0] >= TARGET - 1e-9).mean():.1%} (≤ 0.80); calibration error {error:.3f} over targets (≤ 0.08)"
    )
    close("screening stops", right >= 0.88 and worst >= 0.92 and cost <= 0.80 and error <= 0.08, figures)


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

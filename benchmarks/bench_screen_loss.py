"""Ranking loss of screenings beside ASReview's ELAS u4, on 17 reviews; tables are always learnt from the other 16.

1+1 start: one relevant and one irrelevant record are known. Cold: nothing is judged. A wrong question is set against
the same start without a question; it is that of the review whose included records are most alike, one of another
field, or the title of a record of this review that was not included (another for each seed).

    python benchmarks/bench_screen_loss.py [--seeds 5] [--jobs 1]

Settings were compared by such losses too, each review with tables of the others: see ``tune_screen.py``.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from _common import close
from _screen import Review, closest_reviews, in_parallel, ratio_interval, reviews
from textbayes.core.types import FloatArray
from textbayes.evaluate.screening import ranking_loss
from textbayes.screen.simulate import ElasU4, TopicReader, draw_start, simulate

UNRELATED = "Trade routes of the Hanseatic League. How did wool and salt move between the towns of the Baltic?"
WRONG = ("closest", "unrelated", "excluded")
KINDS = ("elas_u4", "none", "question", *WRONG, *(f"cold {kind}" for kind in ("none", "question", *WRONG)))


def losses(review: Review, closest: str, seeds: int) -> FloatArray:
    """Loss of every kind of screening (n_kinds, seeds)."""
    titles = [text.split("\n", 1)[0] for text, told in zip(review.texts, review.relevant, strict=True) if not told]
    excluded = np.random.default_rng(len(titles)).choice(titles, seeds)
    asked = {"none": [None], "question": [review.question], "closest": [closest], "unrelated": [UNRELATED]}
    made = {kind: [review.collection(text) for text in texts] * seeds for kind, texts in asked.items()}
    made["excluded"] = [review.collection(text) for text in excluded]
    found = {"elas_u4": [_loss(ElasU4(made["none"][0]), review, draw_start(review.relevant, k)) for k in range(seeds)]}
    for kind, collections in made.items():
        found[kind] = [_loss(TopicReader(collections[k]), review, draw_start(review.relevant, k)) for k in range(seeds)]
        cold = {id(records): _loss(TopicReader(records), review, []) for records in collections[:seeds]}
        found[f"cold {kind}"] = [cold[id(records)] for records in collections[:seeds]]
    return np.array([found[kind] for kind in KINDS])


def _loss(reader, review, start) -> float:
    return ranking_loss(simulate(reader, review.relevant, start).order)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    all_reviews = reviews()
    closest = closest_reviews(all_reviews)
    started = time.perf_counter()

    def work(k: int) -> FloatArray:
        review = all_reviews[k]
        found = losses(review, all_reviews[closest[k]].question, given.seeds)
        row = "  ".join(f"{value:.4f}" for value in found.mean(axis=1))
        print(f"{review.name:24s}  {len(review.texts):5,}  {review.relevant.sum():4}  {row}", flush=True)
        return found

    print(f"{'review':24s}  {'n':>5s}  {'rel.':>4s}  " + "  ".join(KINDS))
    all_losses = np.array(in_parallel(work, range(len(all_reviews)), given.jobs))  # reviews, kinds, seeds
    means, worst = (dict(zip(KINDS, told.T, strict=True)) for told in (all_losses.mean(axis=2), all_losses.max(axis=2)))
    theirs = means["elas_u4"]
    for kind in KINDS:
        gm, low, high = ratio_interval(means[kind], theirs)
        print(
            f"{kind:15s} mean {means[kind].mean():.4f}, {means[kind].mean() / theirs.mean():.3f}× elas_u4; geometric "
            f"mean {gm:.3f}× [{low:.3f}, {high:.3f}]; worst seeds {worst[kind].mean() / worst['elas_u4'].mean():.3f}×"
        )
    print(f"{time.perf_counter() - started:.0f} s")
    ratio, (gm, low, high) = means["question"].mean() / theirs.mean(), ratio_interval(means["question"], theirs)
    worst_ratio = worst["question"].mean() / worst["elas_u4"].mean()
    cold = means["cold question"].mean() / theirs.mean()
    costs = {
        f"{start}{kind}": means[f"{start}{kind}"].mean() / means[f"{start}none"].mean() - 1.0
        for start in ("", "cold ")
        for kind in WRONG
    }
    figures = (
        f"1+1 start: mean {ratio:.3f}× elas_u4 (≤ 0.90), geometric mean {gm:.3f}× (≤ 0.93) "
        f"[{low:.3f}, {high:.3f}] (< 1), worst seeds {worst_ratio:.3f}× (≤ 0.85); "
        f"question only {cold:.3f}× (≤ 0.95); a wrong question costs "
        + ", ".join(f"{cost:+.1%} ({kind})" for kind, cost in costs.items())
        + " (< 3 %)"
    )
    passed = ratio <= 0.90 and gm <= 0.93 and high < 1.0 and worst_ratio <= 0.85 and cold <= 0.95
    close("screening loss", passed and max(costs.values()) < 0.03, figures)


if __name__ == "__main__":
    main()

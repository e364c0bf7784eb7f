"""What other settings of screenings would do: mean loss over 23 reviews beside that of the defaults.

1+1 starts with title and question; tables are learnt from the other drug reviews. Below 1 is better. These are the
comparisons by which the settings were chosen, so that figures for the defaults are mildly kind.

    python benchmarks/tune_screen.py [--seeds 5] [--jobs 1] [--only WORD]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from _screen import Review, drug_reviews, in_parallel, ratio_interval, reviews
from textbayes.evaluate.retrieval import ranking_loss
from textbayes.screen import Collection, ScreenSettings
from textbayes.screen.settings import TOPIC
from textbayes.screen.simulate import TopicReader, draw_start, simulate
from textbayes.screen.transfer import mean_weights, review_weights


class Variant(NamedTuple):
    """Other settings, or another table: the least reviews of a word, the smallest weight kept, or none at all."""

    name: str
    settings: ScreenSettings = ScreenSettings()
    asks: bool = True
    least_reviews: int | None = 3
    smallest: float = 0.02


VARIANTS = (
    Variant("as it is"),
    *(Variant(f"follow {share}", ScreenSettings(follow=share)) for share in (0.3, 0.75, 1.0)),
    *(Variant(f"fade {n}", ScreenSettings(fade=n)) for n in (8.0, 60.0)),
    *(Variant(f"balance {ratio}", ScreenSettings(balance=ratio)) for ratio in (5.0, 20.0)),
    *(Variant(f"words of {n} reviews", least_reviews=n) for n in (2, 5)),
    *(Variant(f"weights from {size} on", smallest=size) for size in (0.0, 0.05)),
    Variant("no table", least_reviews=None),
    Variant("no question", asks=False),
    Variant("neither", asks=False, least_reviews=None),
    Variant("a tenth at random", ScreenSettings(strategy="likely=0.9,random=0.1")),
    Variant("a tenth informative", ScreenSettings(strategy="likely=0.9,informative=0.1")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="variants whose names have this in them")
    given = parser.parse_args()
    all_reviews = reviews()
    weights = {name: review_weights(review) for name, review in drug_reviews().items()}

    def losses(variant: Variant, review: Review) -> float:
        others = [told for name, told in weights.items() if name != review.name]
        prior = None if variant.least_reviews is None else mean_weights(others, variant.least_reviews, variant.smallest)
        ids, asked = [str(i) for i in range(len(review.texts))], {TOPIC: review.question} if variant.asks else {}
        records = Collection.read(ids, review.texts, [TOPIC], asked, prior)
        starts = [draw_start(review.relevant, seed) for seed in range(given.seeds)]
        runs = [simulate(TopicReader(records, variant.settings), review.relevant, start) for start in starts]
        return float(np.mean([ranking_loss(run.order) for run in runs]))

    usual: np.ndarray | None = None
    for variant in VARIANTS:
        if usual is None or given.only in variant.name:
            found = np.array(in_parallel(lambda review, told=variant: losses(told, review), all_reviews, given.jobs))
            usual = found if usual is None else usual
            ratio, low, high = ratio_interval(found, usual)
            print(f"{variant.name:24s} {ratio:.3f}× [{low:.3f}, {high:.3f}]", flush=True)


if __name__ == "__main__":
    main()

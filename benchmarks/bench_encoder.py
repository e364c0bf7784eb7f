"""A pretrained encoder in the pool: what it gains beside words, in three steps on two machines.

    python benchmarks/bench_encoder.py folds FOLDER   # any machine, with textbayes and the extra encoder
    python benchmarks/bench_encoder.py tune FOLDER    # the machine with the card, with torch and transformers alone
    python benchmarks/bench_encoder.py stack FOLDER   # any machine, with textbayes

``folds`` writes the texts, the ensemble's own folds, what its members of words say of held-out and of test texts, and
the packaged encoder in half precision. ``tune`` fine-tunes the encoder without each fold and on all texts, by the
schedule of the member, and writes its log-odds: NAME-scores.npz. ``stack`` weighs all by held-out texts, as a training
does, and judges by test texts. Nothing is chosen on these. The bars: means of 3 seeds, TREC at an accuracy of .965 and
a log-loss of .125, sentence polarity at an accuracy of .850 and a calibration error of .02; on all corpora a log-loss
no worse than without the encoder; significantly more accurate on half of those with short texts; on none significantly
(Holm-corrected) behind the encoder alone. NAME-8 and NAME-32 are few-shot trainings, of so many texts a class, which
may not be significantly behind training by pairs alone either (SetFit's way, its vectors tuned and a new head on them).
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

NAMES = ("trec", "sentence_polarity", "subjectivity", "tweets", "sentences", "subjects", "arxiv_titles", "bbc")
ENCODER = "encoder"  # its folder in the folder
SHORT = 60  # words, of a text in the middle
FEW = 300  # texts: with fewer, more ways to learn are tried
SEEDS = 3
NETWORKS = 2  # of a member, each of a seed


class Told(NamedTuple):
    """Texts to learn from with their folds, and those to answer; the target is a class each, or an indicator."""

    train: list[str]
    test: list[str]
    target: np.ndarray
    fold: np.ndarray
    n_outputs: int
    exclusive: bool


@cache
def told_of(folder: Path, name: str) -> Told:
    """What the first step wrote of a corpus."""
    with gzip.open(folder / f"{name}.json.gz", "rt", encoding="utf-8") as stream:
        found = json.load(stream)
    found["target"], found["fold"] = np.array(found["target"]), np.array(found["fold"])
    return Told(**found)


@cache
def tokens_of(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, Any]:
    """Tokens of the texts to learn from and of those to answer, and special tokens."""
    from textbayes.text.subwords import Subwords

    subwords, told = Subwords.in_folder(folder / ENCODER), told_of(folder, name)
    return subwords.ids(told.train), subwords.ids(told.test), subwords.special


@cache
def body_of(folder: Path) -> Any:
    """The pretrained encoder."""
    from textbayes.models.encoder.body import read_body

    return read_body(folder / ENCODER)


class Job(NamedTuple):
    """One training: of all texts, or without one fold (``k`` −1 and from 0 on)."""

    name: str
    way: str
    seed: int
    k: int


def run_job(folder: Path, job: Job, most: int, device: str) -> tuple[Job, np.ndarray, np.ndarray, float]:
    """Log-odds of the fold that was held out, or of the test texts, and the seconds of training and of scoring."""
    import torch

    from textbayes.models.encoder.network import fitted, log_odds

    told, (train, test, special) = told_of(folder, job.name), tokens_of(folder, job.name)
    learnt = np.flatnonzero(told.fold != job.k)[: most or None]
    asked = test if job.k < 0 else train[told.fold == job.k]
    if device == "cpu":
        torch.set_num_threads(1)
    began = time.perf_counter()
    network = fitted(
        body_of(folder), special, train[learnt], told.target[learnt], n_outputs=told.n_outputs,
        exclusive=told.exclusive, way=job.way, seed=job.seed, device=device,
    )  # fmt: skip
    if device == "cuda":
        torch.cuda.synchronize()
    learning = time.perf_counter() - began
    found = log_odds(network, asked)
    return job, found, np.array([learning, time.perf_counter() - began - learning])


def tune(folder: Path, names: list[str], seeds: range, workers: int, most: int) -> None:
    """The trainings of the encoder, several at a time, since one alone leaves a card idle."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    card = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"{card}, torch {torch.__version__}, {workers} at a time", flush=True)
    jobs = [job for name in names for job in jobs_of(name, told_of(folder, name), seeds)]
    began = time.perf_counter()
    found: dict[str, dict[Job, tuple[np.ndarray, np.ndarray]]] = {name: {} for name in names}
    for number, (job, odds, seconds) in enumerate(results(folder, jobs, workers, most, device), start=1):
        found[job.name][job] = odds, seconds
        spent = time.perf_counter() - began
        print(f"{number}/{len(jobs)} {' '.join(map(str, job))}: {seconds[0]:.1f} s, {spent:.0f} s in all", flush=True)
        own = found[job.name]
        if len(own) == sum(one.name == job.name for one in jobs):
            write_scores(folder, job.name, own, seeds, card)


def jobs_of(name: str, told: Told, seeds: range) -> Iterator[Job]:
    """All trainings for a corpus."""
    for way in ("all",) if len(told.train) >= FEW else ("all", "pairs", "head"):
        for seed in seeds:
            yield from (Job(name, way, seed, k) for k in range(-1, int(told.fold.max()) + 1))


def results(folder: Path, jobs: list[Job], workers: int, most: int, device: str) -> Iterator[Any]:
    """What comes of the trainings, in any number of processes."""
    if workers == 1:
        yield from (run_job(folder, job, most, device) for job in jobs)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(run_job, *zip(*((folder, job, most, device) for job in jobs), strict=True))


def write_scores(
    folder: Path, name: str, found: dict[Job, tuple[np.ndarray, np.ndarray]], seeds: range, card: str
) -> None:
    """Held-out and test log-odds, (n_seeds, n_texts, n_outputs), by the way of learning."""
    told = told_of(folder, name)
    held = told.fold >= 0
    arrays: dict[str, Any] = {"card": np.array(card), "seconds": np.array([seconds for _, seconds in found.values()])}
    for way in {job.way for job in found}:
        own = np.zeros((len(seeds), len(told.fold), told.n_outputs), dtype=np.float32)
        for job, (odds, _) in found.items():
            if job.way == way and job.k >= 0:
                own[seeds.index(job.seed), told.fold == job.k] = odds
        arrays[f"{way}.held_out"] = own[:, held]
        test = [found[Job(name, way, seed, -1)][0] for seed in seeds]
        arrays[f"{way}.test"] = np.stack(test).astype(np.float32)
    file = f"{name}-scores-{seeds.start}.npz"
    np.savez_compressed(folder / file, **arrays)
    print(f"{file}: {sum(arrays['seconds'][:, 0]):.0f} s of training", flush=True)


def folds(folder: Path, names: list[str]) -> None:
    """Texts, folds, and what members of words say of held-out and of test texts; and the encoder in half precision."""
    from textbayes.text.sentences import PACKAGED, find_model

    folder.mkdir(parents=True, exist_ok=True)
    write_encoder(find_model(PACKAGED).folder, folder / ENCODER)
    for name in names:
        began = time.perf_counter()
        write_folds(folder, name)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 2**20:.1f} MiB")


def write_encoder(given: Path, target: Path) -> None:
    """The files of an encoder, its weights in half precision."""
    from safetensors.torch import load_file, save_file

    target.mkdir(exist_ok=True)
    for file in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (target / file).write_bytes((given / file).read_bytes())
    weights = {key: one.half() if one.is_floating_point() else one
               for key, one in load_file(given / "model.safetensors").items()}  # fmt: skip
    save_file(weights, target / "model.safetensors", {"format": "pt"})


def write_folds(folder: Path, name: str) -> None:
    """What the pool of words says of the texts of a corpus."""
    from _tasks import SHORT_TEXTS, TASKS
    from textbayes import TextCategorizer
    from textbayes.categorizer.automatic import choose_scheme
    from textbayes.categorizer.member_scores import cross_validate, expected_weights, setting_of
    from textbayes.categorizer.prepare import copies_among, prepare
    from textbayes.categorizer.train import TrainingData, prepared_members
    from textbayes.core.labels import encode_labels
    from textbayes.core.progress import silent
    from textbayes.core.protocols import Features
    from textbayes.models.base import SamplingCallback

    corpus, _, each = name.partition("-")
    task = (SHORT_TEXTS | TASKS)[corpus]()
    learnt, asked = task.parts[0]
    if each:  # so many texts of every class
        drawn = np.random.default_rng(int(each)).permutation(learnt)
        by_class: dict[Any, list[int]] = {}
        for i in drawn:
            by_class.setdefault(task.labels[i], []).append(i)
        learnt = [i for rows in by_class.values() for i in rows[: int(each)]]
    known = {task.labels[i] for i in learnt}
    asked = [i for i in asked if not task.exclusive or task.labels[i] in known]
    texts, tested = ([task.texts[i] for i in rows] for rows in (learnt, asked))
    indicator, space = encode_labels([task.labels[i] for i in learnt])
    truth, _ = encode_labels([task.labels[i] for i in asked], space.classes.tolist())
    model = TextCategorizer(embeddings="off")
    data = TrainingData(texts, indicator, space, None, None, copies_among(model, texts))
    ready = prepare(model, data, silent)
    at, source, watch = setting_of(ready.plan, ready.target), ready.source, SamplingCallback()
    choose_scheme(at, source)
    members, scores = cross_validate(at, source, prepared_members(at, source, silent), silent, watch)
    every, weightings = np.ones(len(texts), dtype=bool), source.all_weightings()
    vectorizer, weighting = source.reader(weightings)
    counts = vectorizer.transform(tested)
    features = Features(counts, weighting.transform(counts), np.zeros(len(tested)))
    test = []
    for member in members:
        group = source.fit([member], every, ready.target, "all texts", watch, None, weightings)
        columns = source.columns(group.views)
        own = features if columns is None else features.columns(columns)
        test.append(ready.plan.stacker.member_scores(group.models[0], own))
    exclusive = space.kind == "multiclass"
    target = indicator.argmax(axis=1) if exclusive else indicator.astype(int)
    told = Told(texts, tested, target.tolist(), ready.target.folds.number.tolist(), space.n_columns, exclusive)
    with gzip.open(folder / f"{name}.json.gz", "wt", encoding="utf-8") as stream:
        json.dump(told._asdict(), stream)
    np.savez_compressed(
        folder / f"{name}-words.npz", held_out=scores, test=np.stack(test), indicator=indicator, truth=truth,
        classes=np.array(space.class_names), kind=space.kind, expected=expected_weights(members),
    )  # fmt: skip


BARS = {"trec": {"accuracy": 0.965, "log-loss": 0.125}, "sentence_polarity": {"accuracy": 0.850, "ECE": 0.02}}
LEVEL = 0.05


def stack(folder: Path, names: list[str]) -> None:
    """The pool with and without the encoder, and the encoder alone, on the test texts; the bars."""
    from _common import close

    names = [name for name in names if any(folder.glob(f"{name}-scores-*.npz"))]
    print(f"{'corpus':<19}{'':<10}{'accuracy':>9}{'log-loss':>9}{'ECE':>7}   (means of pairs of seeds)")
    missed, gained, short, behind, figures = [], set(), set(), [], {}
    for name in names:
        if "-" not in name and np.median([len(text.split()) for text in told_of(folder, name).train]) < SHORT:
            short.add(name)
        scores = scores_of(folder, name)
        found = [judged(folder, name, scores, pair) for pair in range(len(scores["all.test"]))]
        means = {
            system: {key: float(np.mean([one.figures[system][key] for one in found])) for key in own}
            for system, own in found[0].figures.items()
        }
        figures[name] = means["pool"]
        for system, own in means.items():
            told = f"{own['accuracy']:>9.4f}{own['log-loss']:>9.4f}{own['ECE']:>7.4f}"
            print(f"{name if system == 'words' else '':<19}{system:<10}{told}", flush=True)
        kept, weight = sum(one.kept for one in found), np.mean([one.weight for one in found])
        least = min(one.p_behind for one in found)
        print(f"{'':<19}kept {kept} of {len(found)}, weight of the encoder {weight:.2f}, "
              f"more accurate than words at p = {max(one.p_words for one in found):.1e}, "
              f"less than the encoder alone at p = {least:.2g}")  # fmt: skip
        single = scores_of(folder, name, 1)
        alone = [judged(folder, name, single, seed).held_out for seed in range(len(single["all.test"]))]
        print(f"{'':<19}held-out log-loss of the pool {np.mean([one.held_out for one in found]):.4f}, with one network "
              f"instead of {NETWORKS} {np.mean(alone):.4f}")  # fmt: skip
        gained |= {name} if all(one.p_words <= LEVEL for one in found) else set()
        behind.append((least, name))
        bars = BARS.get(name, {})
        missed += [f"{name} {key} {means['pool'][key]:.4f} (bar {bar:g})" for key, bar in bars.items()
                   if (means["pool"][key] < bar if key == "accuracy" else means["pool"][key] > bar)]  # fmt: skip
        if means["pool"]["log-loss"] > means["words"]["log-loss"]:
            missed.append(f"{name} log-loss {means['pool']['log-loss']:.4f} (words {means['words']['log-loss']:.4f})")
    order = np.sort([p for p, _ in behind])
    holm = np.minimum(np.maximum.accumulate(order * np.arange(len(order), 0, -1)), 1.0)  # for each p in turn
    behind = [name for p, name in behind if holm[np.searchsorted(order, p)] <= LEVEL]
    if len(gained & short) < len(short) / 2:
        missed.append(f"more accurate than words on {len(gained & short)} of {len(short)} with short texts")
    cards = {str(np.load(file)["card"]) for file in folder.glob("*-scores-*.npz")}
    told = [f"{name} {key} {figures[name][key]:.4f} (bar {bar:g})"
            for name in BARS.keys() & figures.keys() for key, bar in BARS[name].items()]  # fmt: skip
    close(
        f"encoder ({', '.join(sorted(cards))})", not missed and not behind,
        f"{', '.join(sorted(told))}; significantly more accurate than words on {len(gained & short)} of {len(short)} "
        f"corpora with short texts, behind the encoder or pairs alone on {len(behind)} of {len(names)} (bar 0"
        f"{': ' * bool(behind)}{', '.join(behind)}); missed: {'; '.join(missed) or 'none'}",
    )  # fmt: skip


class Judged(NamedTuple):
    """Figures on the test texts by system; chances of differences; whether the encoder counts; held-out log-loss."""

    figures: dict[str, dict[str, float]]
    p_words: float
    p_behind: float
    kept: bool
    weight: float
    held_out: float


def scores_of(folder: Path, name: str, networks: int = NETWORKS) -> dict[str, np.ndarray]:
    """Log-odds by the encoder, (n_members, n_texts, n_outputs): means of so many networks, as the member has them."""
    files = sorted(folder.glob(f"{name}-scores-*.npz"), key=lambda path: int(path.stem.rpartition("-")[2]))
    parts = [dict(np.load(file)) for file in files]
    keys = [key for key in parts[0] if "." in key]
    whole = {key: np.concatenate([part[key] for part in parts]) for key in keys}
    pairs = len(whole[keys[0]]) // networks
    return {key: one[: networks * pairs].reshape(pairs, networks, *one.shape[1:]).mean(axis=1)
            for key, one in whole.items()}  # fmt: skip


def judged(folder: Path, name: str, encoder: dict[str, np.ndarray], pair: int) -> Judged:
    """What a training would make of the scores of all members, judged on the test texts."""
    from scipy import special

    from textbayes.categorizer.automatic import approve_view, best_encoder, useful_members
    from textbayes.categorizer.held_out import HeldOut
    from textbayes.categorizer.member_scores import Setting, Weighed, expected_weights
    from textbayes.categorizer.plan import Lexicon, Member, Plan
    from textbayes.categorizer.stackers import LabelWeights
    from textbayes.core.labels import LabelSpace, normalise_classes
    from textbayes.evaluate import calibration_error, class_log_losses, log_loss, mcnemar_test

    words = dict(np.load(folder / f"{name}-words.npz"))
    space: Any = LabelSpace(words["classes"].astype(object), str(words["kind"]))
    stacker, fold = LabelWeights(space), told_of(folder, name).fold
    ways = [way for way in ("all", "pairs", "head") if f"{way}.held_out" in encoder]
    members = [
        Member(f"words {number}", (0,), None if learns else Lexicon(None))
        for number, learns in enumerate(words["expected"] > 0)
    ] + [Member(way, (1,), None) for way in ways]
    held_out = np.concatenate([words["held_out"], *(encoder[f"{way}.held_out"][[pair]] for way in ways)])
    test = np.concatenate([words["test"], *(encoder[f"{way}.test"][[pair]] for way in ways)])
    place = {member.name: number for number, member in enumerate(members)}
    at = Setting(Plan(members, stacker, tokens=1), None, HeldOut.of(words["indicator"], fold, None, space))

    def proba_by(chosen: list[Member], scores: np.ndarray) -> tuple[np.ndarray, Weighed]:
        found = stacker.fit(scores, at.held, expected_weights(chosen))
        used = useful_members(at, Weighed(chosen, scores, found))
        own = test[[place[member.name] for member in used.members]]
        return stacker.probabilities(own, used.stack), used

    plain = [member for member in members if member.views == (0,)]
    with_best = best_encoder(at, members, held_out)
    chosen, scores, outcome = approve_view(at, *with_best, 1)
    pooled, used = proba_by(chosen, scores)
    told = {"words": proba_by(plain, held_out[: len(plain)])[0]}
    for way, system in {"all": "encoder", "pairs": "pairs"}.items():
        if way in place:
            alone = test[place[way]]
            exclusive = space.kind == "multiclass"
            told[system] = normalise_classes(special.log_expit(alone)) if exclusive else special.expit(alone)
    peers = [system for system in told if system != "words"]
    told["pool"] = pooled
    exclusive = space.kind != "multilabel"
    truth = space.both_columns(words["truth"].astype(float)) > 0.5
    answers, figures = {}, {}
    for system, proba in told.items():
        both = space.both_columns(proba)
        decisions = both > 0.5
        if exclusive:
            decisions = np.arange(both.shape[1]) == both.argmax(axis=1)[:, None]
        right = (decisions == truth).all(axis=1)
        sure, correct = (both.max(axis=1), right) if exclusive else (both, truth)
        loss = class_log_losses(truth, both)[0] if exclusive else float(log_loss(truth, both))
        error = float(calibration_error(correct[:, None], sure[:, None]))  # in 10 bins, as the command line has it
        answers[system] = decisions
        figures[system] = {"accuracy": float(right.mean()), "log-loss": float(loss), "ECE": error}
    weights = {member.name: float(share.mean()) for member, share in zip(used.members, used.stack.weights, strict=True)}
    better = mcnemar_test(truth, answers["pool"], answers["words"], method="exact")
    worse = [mcnemar_test(truth, answers["pool"], answers[peer], method="exact") for peer in peers]
    by_encoder = sum(weights.get(way, 0.0) for way in ways)
    return Judged(
        figures,
        better.p_value if better.difference > 0 else 1.0,
        min(one.p_value if one.difference < 0 else 1.0 for one in worse),
        by_encoder != 0.0,
        by_encoder / max(sum(weights.values()), 1e-9),
        float(outcome["log_loss"]) if outcome else float("nan"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("folds", "tune", "stack"), nargs="?")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--tasks", nargs="+", default=list(NAMES))
    parser.add_argument("--seeds", type=int, default=NETWORKS * SEEDS, help="two for each member that is judged")
    parser.add_argument("--first-seed", type=int, default=0, help="others may have been run before")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time, processes")
    parser.add_argument("--texts", type=int, default=0, help="learn from so few texts, to see that all runs")
    options = parser.parse_args()
    if options.folder is None:
        print("encoder: left out, its three steps need two machines (--help)")
    elif options.step == "folds":
        folds(options.folder, options.tasks)
    elif options.step == "tune":
        tune(
            options.folder,
            options.tasks,
            range(options.first_seed, options.first_seed + options.seeds),
            options.jobs,
            options.texts,
        )
    else:
        stack(options.folder, options.tasks)


if __name__ == "__main__":
    main()

"""A pretrained encoder in the pool: what it gains beside words, in three steps on two machines.

    python benchmarks/bench_encoder.py folds FOLDER   # any machine, with textbayes and the extra encoder
    python benchmarks/bench_encoder.py tune FOLDER    # the machine with the card, with torch and transformers alone
    python benchmarks/bench_encoder.py stack FOLDER   # any machine, with textbayes
    python benchmarks/bench_encoder.py cpu            # a machine with two cores: how long TREC takes there

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
import json
import lzma
import multiprocessing
import time
from collections import Counter
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
MOST_ASKED = 600  # texts, of a training that is to help choose
SEEDS = 3
NETWORKS = 2  # of a member, each of a seed


class Part(NamedTuple):
    """Places of texts to learn from, with their class each, or an indicator, and folds; and of texts to answer."""

    train: np.ndarray
    test: np.ndarray
    target: np.ndarray
    fold: np.ndarray
    n_outputs: int
    exclusive: bool


class Told(NamedTuple):
    """The texts of a corpus, as far as the encoder reads them, and the parts that it is judged in."""

    texts: list[str]
    parts: list[Part]


@cache
def told_of(folder: Path, name: str) -> Told:
    """What the first step wrote of a corpus."""
    with lzma.open(folder / f"{name}.json.xz", "rt", encoding="utf-8") as stream:
        found = json.load(stream)
    arrays = ("train", "test", "target", "fold")
    parts = [Part(**(one | {key: np.array(one[key]) for key in arrays})) for one in found["parts"]]
    return Told(found["texts"], parts)


@cache
def tokens_of(folder: Path, name: str) -> tuple[np.ndarray, Any]:
    """Tokens of the texts, and special tokens."""
    from textbayes.text.subwords import Subwords

    subwords = Subwords.in_folder(folder / ENCODER)
    file = folder / f"{name}-tokens.npy"  # of the first process: there are many
    return np.load(file) if file.is_file() else subwords.ids(told_of(folder, name).texts), subwords.special


@cache
def body_of(folder: Path) -> Any:
    """The pretrained encoder."""
    from textbayes.models.encoder.body import read_body

    return read_body(folder / ENCODER)


class Job(NamedTuple):
    """One training for a part of a corpus: of all texts, or without one fold (``k`` −1 and from 0 on)."""

    name: str
    part: int
    way: str
    seed: int
    k: int


def run_job(folder: Path, job: Job, most: int, device: str) -> tuple[Job, np.ndarray, np.ndarray, float]:
    """Log-odds of the fold that was held out, or of the test texts, and the seconds of training and of scoring."""
    import torch

    from textbayes.models.encoder.network import fitted, log_odds

    told, (tokens, special) = told_of(folder, job.name).parts[job.part], tokens_of(folder, job.name)
    learnt = np.flatnonzero(told.fold != job.k)[: most or None]
    asked = tokens[told.test if job.k < 0 else told.train[told.fold == job.k]]
    if device == "cpu":
        torch.set_num_threads(1)
    began = time.perf_counter()
    network = fitted(
        body_of(folder), special, tokens[told.train[learnt]], told.target[learnt], n_outputs=told.n_outputs,
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
    jobs = [job for job in jobs if not (folder / file_of(job.name, job.part, seeds)).is_file()]
    began = time.perf_counter()
    for name in {job.name for job in jobs}:
        np.save(folder / f"{name}-tokens.npy", tokens_of(folder, name)[0])
    wanted = Counter((job.name, job.part) for job in jobs)
    found: dict[tuple[str, int], dict[Job, tuple[np.ndarray, np.ndarray]]] = {which: {} for which in wanted}
    for number, (job, odds, seconds) in enumerate(results(folder, jobs, workers, most, device), start=1):
        own = found[job.name, job.part]
        own[job] = odds, seconds
        if len(own) == wanted[job.name, job.part]:
            write_scores(folder, job.name, job.part, own, seeds, card)
            spent = time.perf_counter() - began
            print(f"{number}/{len(jobs)}: {spent:.0f} s in all", flush=True)


def jobs_of(name: str, told: Told, seeds: range) -> Iterator[Job]:
    """All trainings for a corpus."""
    for number, part in enumerate(told.parts):
        for way in ("all",) if len(part.train) >= FEW else ("all", "pairs", "head"):
            for seed in seeds:
                yield from (Job(name, number, way, seed, k) for k in range(-1, int(part.fold.max()) + 1))


def results(folder: Path, jobs: list[Job], workers: int, most: int, device: str) -> Iterator[Any]:
    """What comes of the trainings, in any number of processes."""
    if workers == 1:
        yield from (run_job(folder, job, most, device) for job in jobs)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(run_job, *zip(*((folder, job, most, device) for job in jobs), strict=True))


def file_of(name: str, part: int, seeds: range) -> str:
    """The file of what the encoder says, with these seeds."""
    return f"{name}.{part}-scores-{seeds.start}.npz"


def write_scores(
    folder: Path, name: str, part: int, found: dict[Job, tuple[np.ndarray, np.ndarray]], seeds: range, card: str
) -> None:
    """Held-out and test log-odds, (n_seeds, n_texts, n_outputs), by the way of learning."""
    told = told_of(folder, name).parts[part]
    held = told.fold >= 0
    arrays: dict[str, Any] = {"card": np.array(card), "seconds": np.array([seconds for _, seconds in found.values()])}
    for way in {job.way for job in found}:
        own = np.zeros((len(seeds), len(told.fold), told.n_outputs), dtype=np.float32)
        for job, (odds, _) in found.items():
            if job.way == way and job.k >= 0:
                own[seeds.index(job.seed), told.fold == job.k] = odds
        arrays[f"{way}.held_out"] = own[:, held]
        test = [found[Job(name, part, way, seed, -1)][0] for seed in seeds]
        arrays[f"{way}.test"] = np.stack(test).astype(np.float32)
    file = file_of(name, part, seeds)
    np.savez_compressed(folder / file, **arrays)
    print(f"{file}: {sum(arrays['seconds'][:, 0]):.0f} s of training", flush=True)


def folds(folder: Path, names: list[str], words: bool) -> None:
    """Texts, folds, and what members of words say of held-out and of test texts; and the encoder in half precision."""
    from textbayes.text.sentences import PACKAGED
    from textbayes.text.tokens import find_encoder

    folder.mkdir(parents=True, exist_ok=True)
    write_encoder(find_encoder(PACKAGED).folder, folder / ENCODER)
    for name in names:
        began = time.perf_counter()
        write_folds(folder, name, words)
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


def write_folds(folder: Path, name: str, words: bool) -> None:
    """Texts and folds of a corpus, and what the pool of words says of them where that is not there yet."""
    from textbayes import TextCategorizer
    from textbayes.categorizer.plan import folds_for, folds_held_out
    from textbayes.categorizer.prepare import copies_among, prepare
    from textbayes.categorizer.train import TrainingData
    from textbayes.core.cross_validation import Folds
    from textbayes.core.labels import encode_labels
    from textbayes.core.progress import silent

    texts, labels, drawn = corpus_of(name)
    parts = []
    for number, (learnt, asked) in enumerate(drawn):
        indicator, space = encode_labels([labels[i] for i in learnt])
        truth, _ = encode_labels([labels[i] for i in asked], space.classes.tolist())
        model = TextCategorizer(embeddings="off", encoder="off")
        own = [texts[i] for i in learnt]
        data = TrainingData(own, indicator, space, None, None, copies_among(model, own))
        how = len(learnt), model.cv, model.budget
        cut = Folds.stratified(indicator, folds_for(*how), model.random_state, None, data.firsts)
        number_of = cut.holding_out(folds_held_out(len(learnt), cut.n_cut, model.budget)).number
        file = folder / f"{name}.{number}-words.npz"
        if words and not file.is_file():
            began = time.perf_counter()
            ready = prepare(model, data, silent)
            assert (ready.target.folds.number == number_of).all(), "the encoder was given other folds"
            found = said_by_words(ready, [texts[i] for i in asked])
            np.savez_compressed(
                file, indicator=indicator, truth=truth, classes=np.array(space.class_names), kind=space.kind, **found
            )
            print(f"{file.name}: {time.perf_counter() - began:.0f} s", flush=True)
        exclusive = space.kind == "multiclass"
        target = indicator.argmax(axis=1) if exclusive else indicator.astype(int)
        parts.append(Part(learnt, asked, target.tolist(), number_of.tolist(), space.n_columns, exclusive))
    used = sorted({i for part in parts for i in (*part.train, *part.test)})
    place = {i: number for number, i in enumerate(used)}
    parts = [one._replace(train=[place[i] for i in one.train], test=[place[i] for i in one.test]) for one in parts]
    with lzma.open(folder / f"{name}.json.xz", "wt", encoding="utf-8") as stream:
        json.dump(
            {"texts": as_read(folder, [texts[i] for i in used]), "parts": [one._asdict() for one in parts]}, stream
        )


@cache
def task_of(name: str) -> Any:
    """A corpus of the benchmarks."""
    from _tasks import SHORT_TEXTS, TASKS

    return (SHORT_TEXTS | TASKS)[name]()


def corpus_of(name: str) -> tuple[list[str], Any, list[tuple[list[int], list[int]]]]:
    """Texts, labels, and the rows of each part to learn from and to answer.

    NAME-8 is a training with 8 texts of every class, from the first part; NAME-8-1 and so on are further ones, which
    are drawn from its training texts and answer others of these: what to do with few texts may be chosen by them.
    """
    corpus, *few = name.split("-")
    task = task_of(corpus)
    parts = [([int(i) for i in learnt], [int(i) for i in asked]) for learnt, asked in task.parts]
    if few:
        each, number = int(few[0]), int(few[1]) if few[1:] else 0
        [(learnt, asked), *_] = parts
        drawn = np.random.default_rng((each, number) if number else each).permutation(learnt)
        by_class: dict[Any, list[int]] = {}
        for i in drawn:
            by_class.setdefault(task.labels[i], []).append(int(i))
        chosen = [i for rows in by_class.values() for i in rows[:each]]
        if number:
            asked = [int(i) for i in drawn if i not in set(chosen)][:MOST_ASKED]
        parts = [(chosen, asked)]
    for number, (learnt, asked) in enumerate(parts):
        known = {task.labels[i] for i in learnt}
        parts[number] = learnt, [i for i in asked if task.labels[i] in known]
    return list(task.texts), task.labels, parts


def as_read(folder: Path, texts: list[str]) -> list[str]:
    """Texts up to the end of the last word that the encoder reads of them."""
    from textbayes.text.subwords import Subwords

    subwords = Subwords.in_folder(folder / ENCODER)
    found = []
    for text in texts:
        pieces = subwords.pieces(text)
        end = pieces[-1].end if pieces else 0
        found.append(text[:end] + text[end:].split(maxsplit=1)[0] if text[end : end + 1].strip() else text[:end])
    return found


def said_by_words(ready: Any, tested: list[str]) -> dict[str, Any]:
    """Log-odds by the members of words of held-out texts and of others, and what is expected of their weights."""
    from textbayes.categorizer.automatic import choose_scheme
    from textbayes.categorizer.member_scores import cross_validate, expected_weights, setting_of
    from textbayes.categorizer.train import prepared_members
    from textbayes.core.progress import silent
    from textbayes.core.protocols import Features
    from textbayes.models.base import SamplingCallback

    at, source, watch = setting_of(ready.plan, ready.target), ready.source, SamplingCallback()
    choose_scheme(at, source)
    members, scores = cross_validate(at, source, prepared_members(at, source, silent), silent, watch)
    every, weightings = np.ones(len(ready.target.indicator), dtype=bool), source.all_weightings()
    vectorizer, weighting = source.reader(weightings)
    counts = vectorizer.transform(tested)
    features = Features(counts, weighting.transform(counts), np.zeros(len(tested)))
    test = []
    for member in members:
        group = source.fit([member], every, ready.target, "all texts", watch, None, weightings)
        columns = source.columns(group.views)
        own = features if columns is None else features.columns(columns)
        test.append(ready.plan.stacker.member_scores(group.models[0], own))
    return {"held_out": scores, "test": np.stack(test), "expected": expected_weights(members)}


BARS = {"trec": {"accuracy": 0.965, "log-loss": 0.125}, "sentence_polarity": {"accuracy": 0.850, "ECE": 0.02}}
FIGURES = ("accuracy", "log-loss", "ECE")
LEVEL = 0.05


def stack(folder: Path, names: list[str]) -> None:
    """The pool with and without the encoder, and the encoder alone, on the test texts; the bars."""
    from _common import close

    names = [name for name in names if any(folder.glob(f"{name}.0-scores-*.npz"))]
    print(f"{'corpus':<19}{'':<10}{'accuracy':>9}{'log-loss':>9}{'ECE':>7}   (means of pairs of seeds)")
    missed, gained, short, behind, figures = [], set(), set(), [], {}
    for name in names:
        told = told_of(folder, name)
        if "-" not in name and np.median([len(told.texts[i].split()) for i in told.parts[0].train]) < SHORT:
            short.add(name)
        found = [judged(folder, name, pair) for pair in range(n_pairs(folder, name))]
        means = {
            system: {key: float(np.mean([one.figures(system)[key] for one in found])) for key in FIGURES}
            for system in found[0].answers
        }
        figures[name] = means["pool"]
        for system, own in means.items():
            row = "".join(f"{own[key]:>{9 - 2 * (key == 'ECE')}.4f}" for key in FIGURES)
            print(f"{name if system == 'words' else '':<19}{system:<10}{row}", flush=True)
        peers = [system for system in found[0].answers if system not in ("words", "pool")]
        p_words = max(one.p_value("pool", "words") for one in found)
        p_behind = min(one.p_value(peer, "pool") for one in found for peer in peers)
        kept, weight = np.mean([one.kept for one in found]), np.mean([one.weight for one in found])
        print(f"{'':<19}{len(found[0].answers['pool'].right)} texts in {found[0].n_parts} of {len(told.parts)} parts; "
              f"kept in {kept:.0%}, weight of the encoder {weight:.2f}; {found[0].compared()}; more accurate than "
              f"words at p = {p_words:.1e}, less than the encoder alone at p = {p_behind:.2g}", flush=True)  # fmt: skip
        alone = [judged(folder, name, number, 1).held_out for number in range(n_pairs(folder, name, 1))]
        print(f"{'':<19}held-out log-loss of the pool {np.mean([one.held_out for one in found]):.4f}, with one network "
              f"instead of {NETWORKS} {np.mean(alone):.4f}", flush=True)  # fmt: skip
        gained |= {name} if p_words <= LEVEL else set()
        behind.append((p_behind, name))
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
    reached = [f"{name} {key} {figures[name][key]:.4f} (bar {bar:g})"
            for name in BARS.keys() & figures.keys() for key, bar in BARS[name].items()]  # fmt: skip
    close(
        f"encoder ({', '.join(sorted(cards))})", not missed and not behind,
        f"{', '.join(sorted(reached))}; significantly more accurate than words on {len(gained & short)} of "
        f"{len(short)} corpora with short texts, behind the encoder or pairs alone on {len(behind)} of {len(names)} "
        f"(bar 0{': ' * bool(behind)}{', '.join(behind)}); missed: {'; '.join(missed) or 'none'}",
    )  # fmt: skip


class Answers(NamedTuple):
    """What a system says of test texts: whether it is right, how sure it is, and −log p of the truth."""

    right: np.ndarray
    sure: np.ndarray
    loss: np.ndarray


class Judged(NamedTuple):
    """Answers to test texts by system; of how many parts; in how many the encoder counts, and its share of weights.

    ``held_out`` is the log-loss of the pool with the encoder on texts of the training that were held out.
    """

    answers: dict[str, Answers]
    n_parts: int
    kept: float
    weight: float
    held_out: float

    def figures(self, system: str) -> dict[str, float]:
        """Accuracy, log-loss and calibration error, the last in 10 bins as the command line has it."""
        from textbayes.evaluate import calibration_error

        own = self.answers[system]
        error = float(calibration_error(own.right[:, None], own.sure[:, None]))
        return {"accuracy": float(own.right.mean()), "log-loss": float(own.loss.mean()), "ECE": error}

    def p_value(self, better: str, other: str) -> float:
        """The chance, by McNemar's exact test, of a difference as large; one where the first is not more accurate."""
        from textbayes.evaluate import mcnemar_test

        first, second = (self.answers[system].right[:, None] for system in (better, other))
        found = mcnemar_test(np.ones_like(first), first, second, method="exact")
        return found.p_value if found.difference > 0 else 1.0

    def compared(self) -> str:
        """How much the log-loss of the pool differs from that of words, with the standard error."""
        gain = self.answers["pool"].loss - self.answers["words"].loss
        return f"log-loss {gain.mean():+.4f} ± {gain.std() / np.sqrt(len(gain)):.4f}"


def n_pairs(folder: Path, name: str, networks: int = NETWORKS) -> int:
    """How many encoders can be judged."""
    return len(scores_of(folder, name, 0, networks)["all.test"])


@cache
def scores_of(folder: Path, name: str, part: int, networks: int = NETWORKS) -> dict[str, np.ndarray]:
    """Log-odds by the encoder, (n_members, n_texts, n_outputs), each the mean of networks; empty if not known."""
    files = sorted(folder.glob(f"{name}.{part}-scores-*.npz"), key=lambda path: int(path.stem.rpartition("-")[2]))
    if not files:
        return {}
    found = [dict(np.load(file)) for file in files]
    whole = {key: np.concatenate([one[key] for one in found]) for key in found[0] if "." in key}
    pairs = max(len(whole["all.test"]) // networks, 1)
    return {key: np.array([own.mean(axis=0) for own in np.array_split(one, pairs)]) for key, one in whole.items()}


def judged(folder: Path, name: str, pair: int, networks: int = NETWORKS) -> Judged:
    """What a training would make of the scores of all members, judged on the test texts of all parts."""
    parts = [number for number in range(len(told_of(folder, name).parts)) if scores_of(folder, name, number)]
    found = [judged_part(folder, name, number, pair, networks) for number in parts]
    answers = {
        system: Answers(*(np.concatenate(own) for own in zip(*(one.answers[system] for one in found), strict=True)))
        for system in found[0].answers
    }
    means = (float(np.mean([getattr(one, key) for one in found])) for key in ("kept", "weight", "held_out"))
    return Judged(answers, len(found), *means)


def judged_part(folder: Path, name: str, number: int, pair: int, networks: int = NETWORKS) -> Judged:
    """The same of one part."""
    from scipy import special

    from textbayes.categorizer.automatic import approve_view, best_encoder, useful_members
    from textbayes.categorizer.held_out import HeldOut
    from textbayes.categorizer.member_scores import Setting, Weighed, expected_weights
    from textbayes.categorizer.plan import Lexicon, Member, Plan
    from textbayes.categorizer.stackers import LabelWeights
    from textbayes.core.labels import LabelSpace, normalise_classes
    from textbayes.evaluate.calibration import CLIP

    words, encoder = dict(np.load(folder / f"{name}.{number}-words.npz")), scores_of(folder, name, number, networks)
    space: Any = LabelSpace(words["classes"].astype(object), str(words["kind"]))
    stacker, fold = LabelWeights(space), told_of(folder, name).parts[number].fold
    ways = [way for way in ("all", "pairs", "head") if f"{way}.held_out" in encoder]
    members = [
        Member(f"words {place}", (0,), None if learns else Lexicon(None))
        for place, learns in enumerate(words["expected"] > 0)
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
    chosen, scores, outcome = approve_view(at, *best_encoder(at, members, held_out), 1)
    pooled, used = proba_by(chosen, scores)
    told = {"words": proba_by(plain, held_out[: len(plain)])[0]}
    for way, system in {"all": "encoder", "pairs": "pairs"}.items():
        if way in place:
            alone = test[place[way]]
            exclusive = space.kind == "multiclass"
            told[system] = normalise_classes(special.log_expit(alone)) if exclusive else special.expit(alone)
    told["pool"] = pooled
    truth = space.both_columns(words["truth"].astype(float)).argmax(axis=1)  # classes exclude each other
    answers = {}
    for system, proba in told.items():
        both = space.both_columns(proba)
        own = np.clip(both[np.arange(len(truth)), truth], CLIP, 1.0)
        answers[system] = Answers(both.argmax(axis=1) == truth, both.max(axis=1), -np.log(own))
    weights = {member.name: float(share.mean()) for member, share in zip(used.members, used.stack.weights, strict=True)}
    by_encoder = sum(weights.get(way, 0.0) for way in ways)
    loss = float((outcome or {}).get("log_loss") or "nan")
    return Judged(answers, 1, float(by_encoder != 0.0), by_encoder / max(sum(weights.values()), 1e-9), loss)


MOST_SECONDS, LEAST_A_SECOND, CORES = 1_800.0, 100.0, 2


def on_cpu(name: str) -> None:
    """A training with the encoder on two cores, and what was expected of it; how many texts it classifies a second."""
    import torch

    from _common import close
    from textbayes import TextCategorizer
    from textbayes.categorizer.encoders import chosen_encoder
    from textbayes.text.sentences import PACKAGED

    torch.set_num_threads(CORES)
    texts, labels, [(learnt, asked), *_] = corpus_of(name)
    model = TextCategorizer(encoder=PACKAGED, embeddings="off", budget="thorough", device="cpu", n_jobs=CORES)
    train, test = ([texts[i] for i in rows] for rows in (learnt, asked))
    expected = chosen_encoder(model, train)
    print(f"{name}: {expected.n_networks} networks are expected to take {expected.seconds:.0f} s", flush=True)
    began, used = time.perf_counter(), time.process_time()
    model.fit(train, [labels[i] for i in learnt])
    spent, used = time.perf_counter() - began, time.process_time() - used
    model.assess(test[:10])
    began = time.perf_counter()
    _, decisions = model.assess(test)
    rate = len(test) / (time.perf_counter() - began)
    right = np.mean([model.classes_[row.argmax()] == labels[i] for row, i in zip(decisions, asked, strict=True)])
    close(
        "encoder on a CPU", spent <= MOST_SECONDS and rate >= LEAST_A_SECOND,
        f"{name}, {len(train):,} texts, {torch.get_num_threads()} threads: trained in {spent:.0f} s, {used:.0f} s of "
        f"the processor (bar {MOST_SECONDS:.0f} s; expected {expected.seconds:.0f} s of the encoder), {rate:.0f} texts "
        f"a second (bar {LEAST_A_SECOND:.0f}), accuracy {right:.3f}, the encoder "
        f"{(model.choice_ or {}).get('encoder', {}).get('outcome')}",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("folds", "tune", "stack", "cpu"), nargs="?")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--tasks", nargs="+", default=list(NAMES))
    parser.add_argument("--seeds", type=int, default=NETWORKS * SEEDS, help="two for each member that is judged")
    parser.add_argument("--first-seed", type=int, default=0, help="others may have been run before")
    parser.add_argument("--texts-alone", action="store_true", help="folds: write what words say later")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time, processes")
    parser.add_argument("--texts", type=int, default=0, help="learn from so few texts, to see that all runs")
    options = parser.parse_args()
    if options.folder is None and options.step != "cpu":
        print("encoder: left out, its three steps need two machines (--help)")
    elif options.step == "folds":
        folds(options.folder, options.tasks, not options.texts_alone)
    elif options.step == "tune":
        tune(
            options.folder,
            options.tasks,
            range(options.first_seed, options.first_seed + options.seeds),
            options.jobs,
            options.texts,
        )
    elif options.step == "cpu":
        on_cpu("trec")
    else:
        stack(options.folder, options.tasks)


if __name__ == "__main__":
    main()

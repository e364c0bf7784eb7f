"""Labels needed to be as good as with 500 random ones, when a session asks for those that teach most.

``python benchmarks/bench_ask.py [--draws 3] [--corpora NAME ...] [--choose] [--skip-speed] [--fresh]``

For each corpus some training texts (3,000 at most) are the pool, and the test texts (2,000 at most) judge one linear
model, the same for every way of asking, that of the session: logistic regressions with Gaussian priors on its words.
Labels are asked for in tens up to 500. The session begins without any label; the peers' rules, on the same words and by
logistic regressions with intercepts, begin with 20 random ones: margin (modAL's ``margin_sampling``, small-text's
``BreakingTies``) and ranked batches (modAL's ``uncertainty_batch_sampling``: uncertainty and distance from what is
labelled). Judged by accuracy, with many labels by micro-F1, smoothed over three neighbours. The target is the mean over
draws of 500 random labels. ``--choose`` compares the session's own strategies and shares drawn at random on a third of
the training texts instead: it says what the default should be and never looks at a test text. What was computed is
remembered, for as long as the session's code is the same.

The bars: at most half as many labels on five of eight corpora, nowhere more than at random, and at most 200 ms from an
answer to the next text among 20,000.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse, special

import _tasks
from _common import close
from _peers import Answer
from _remember import remembered
from _tasks import TASKS, Task
from textbayes import load_corpus
from textbayes.categorizer import asking, suggest
from textbayes.categorizer.suggest import STRATEGIES, LabellingSession
from textbayes.data.catalogue import search_folders
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.text import TermWeighting

CORPORA = ("bbc", "20newsgroups", "reuters", "movies", "trec", "openstax", "spam", "ohsumed")
START, STEP, MOST = 20, 10, 500
POOL, TEST = 3_000, 2_000
SESSION = "session"
PEERS = ("random", "margin", "ranked batch")
HALF_ON, LARGEST_MS = 5, 200.0
N_SPEED = 20_000


def short_texts(name: str) -> Task:
    """A corpus of short texts, of public copies; its file says which texts are the test."""
    found = [folder / "short_texts" / f"{name}.jsonl.xz" for folder in search_folders()]
    path = next(file for file in found if file.exists())
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    test = np.array([bool(row["test"]) for row in rows])
    labels = [row["labels"] if isinstance(row["labels"], str) else row["labels"][0] for row in rows]
    return Task([row["text"] for row in rows], labels, [(np.flatnonzero(~test), np.flatnonzero(test))])


@dataclass(frozen=True)
class Pool:
    """Texts to ask about and texts to judge by, as the session reads them."""

    texts: list[str]
    labels: list[str] | list[tuple[str, ...]]
    Y: np.ndarray
    X: sparse.csr_matrix
    judged: sparse.csr_matrix
    truth: np.ndarray

    @property
    def exclusive(self) -> bool:
        return isinstance(self.labels[0], str)

    @classmethod
    def of(cls, name: str, choose: bool) -> Pool:
        task = TASKS[name]() if name in TASKS else short_texts(name)
        (train, test), rng = task.parts[0], np.random.default_rng(0)
        train, test = rng.permutation(train), rng.permutation(test)
        if choose:
            third = len(train) // 3
            train, test = train[third:], train[:third]
        train, test = train[:POOL], test[:TEST]
        texts, labels = [task.texts[i] for i in train], [task.labels[i] for i in train]
        reader = asking.default_reader(texts)
        weighting = TermWeighting("tfidf1")
        X = weighting.fit_transform(reader.fit_transform(texts))
        judged = weighting.transform(reader.transform([task.texts[i] for i in test]))
        Y, _ = task.encode()
        return cls(texts, labels, Y[train], X, judged, Y[test])

    def log_odds(self, rows: np.ndarray, X: sparse.csr_matrix) -> np.ndarray:
        """Of every label, by the model that judges."""
        fitted = asking.fast_fit(self.X[rows], self.Y[rows], self.exclusive)
        if fitted is None:
            return np.where(self.Y[rows].all(axis=0), 1.0, -1.0) * np.ones((X.shape[0], 1))
        return fitted.log_odds(X)

    def unsure(self, rows: np.ndarray, left: np.ndarray) -> np.ndarray:
        """How uncertain a peer is of texts without a label: by logistic regressions with intercepts, C = 30."""
        Y = self.Y[rows]
        told, proba = Y.any(axis=0) & ~Y.all(axis=0), np.tile(Y.all(axis=0).astype(float), (len(left), 1))
        if told.any():
            model = BayesLinearClassifier(prior="gaussian", scale=5.5, inference="dual", tol=3e-3)
            model.fit(self.X[rows], sparse.csr_matrix(Y[:, told].astype(int)))
            proba[:, told] = special.expit(model.decision_function(self.X[left]).reshape(len(left), -1))
        if self.exclusive:
            proba /= np.maximum(proba.sum(axis=1, keepdims=True), 1e-300)
        return asking.uncertainty(proba, self.exclusive)

    def score(self, rows: np.ndarray) -> float:
        """Accuracy, or micro-F1, of the model of some labelled texts."""
        found = self.log_odds(rows, self.judged)
        if self.exclusive:
            return float((found.argmax(axis=1) == self.truth.argmax(axis=1)).mean())
        decided = found > 0.0
        return float(2.0 * (decided & self.truth).sum() / max(decided.sum() + self.truth.sum(), 1))


def by_peer(pool: Pool, way: str, seed: int) -> Iterator[np.ndarray]:
    """Texts labelled so far, ten more each time, by the rule of a peer."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(pool.texts), START, replace=False)
    while True:
        yield rows
        left = np.setdiff1d(np.arange(len(pool.texts)), rows)
        if way == "random":
            rows = np.append(rows, rng.choice(left, STEP, replace=False))
            continue
        unsure = pool.unsure(rows, left)
        if way == "margin":
            rows = np.append(rows, left[np.argsort(-unsure, kind="stable")[:STEP]])
            continue
        nearest = (pool.X[left] @ pool.X[rows].T).max(axis=1).toarray().ravel()
        for _ in range(STEP):
            weight = len(left) / (len(left) + len(rows))
            best = int((weight * (1.0 - nearest) + (1.0 - weight) * unsure).argmax())
            rows, unsure[best], nearest[best] = np.append(rows, left[best]), -1.0, 2.0
            nearest = np.maximum(nearest, (pool.X[left] @ pool.X[rows[-1]].T).toarray().ravel())


def by_session(pool: Pool, seed: int, **settings: object) -> Iterator[np.ndarray]:
    """The same by a session, which begins without a label."""
    session = LabellingSession(pool.texts, multi_label=not pool.exclusive, seed=seed, **settings)
    while True:
        while len(session.labelled) % STEP or not len(session.labelled) or len(session.labelled) < START:
            found = session.suggest(STEP)
            session.answers({one.index: pool.labels[one.index] for one in found})
        yield session.labelled
        found = session.suggest(STEP)
        session.answers({one.index: pool.labels[one.index] for one in found})


def curve(pool: Pool, labelled: Iterator[np.ndarray]) -> np.ndarray:
    """The score at 20, 40, … 500 labels."""
    found = []
    for rows in labelled:
        if len(rows) % START == 0:
            found.append(pool.score(rows))
        if len(rows) >= MOST:
            return np.array(found)
    raise AssertionError("the pool has too few texts")


def smooth(scores: np.ndarray) -> np.ndarray:
    """Means of three neighbours: scores of single models go up and down by chance."""
    return np.asarray(np.convolve(np.pad(scores, 1, mode="edge"), np.ones(3) / 3.0, "valid"))


def needed(scores: np.ndarray, target: float) -> float:
    """Labels with which the smoothed score has reached the target first; inf if it never does."""
    reached = np.flatnonzero(smooth(scores) >= target)
    return float(START * (1 + reached[0])) if len(reached) else float("inf")


def milliseconds() -> tuple[float, float, float]:
    """Median and largest wall time, and median CPU time, from an answer to the next text among 20,000."""
    corpus = load_corpus("ohsumed20000")
    texts, labels = [*corpus.texts][:N_SPEED], [*corpus.labels][:N_SPEED]
    first = [row[0] if row else "none" for row in labels]
    session = LabellingSession(texts, [label if i < 300 else None for i, label in enumerate(first)], random_share=0.0)
    wall, cpu = [], []
    for _ in range(20):
        [asked] = session.suggest(1)
        begun, used = time.perf_counter(), time.process_time()
        session.answer(asked.index, first[asked.index])
        session.suggest(1)
        wall.append(1000.0 * (time.perf_counter() - begun))
        cpu.append(1000.0 * (time.process_time() - used))
    return float(np.median(wall)), max(wall), float(np.median(cpu))


def ways(choose: bool) -> dict[str, Callable[[Pool, int], Iterator[np.ndarray]]]:
    """Every way of asking, by name."""

    def peer(way: str) -> Callable[[Pool, int], Iterator[np.ndarray]]:
        return lambda pool, seed: by_peer(pool, way, seed)

    def ours(**settings: object) -> Callable[[Pool, int], Iterator[np.ndarray]]:
        return lambda pool, seed: by_session(pool, seed, **settings)

    if not choose:
        return {SESSION: ours()} | {way: peer(way) for way in PEERS}
    shares = {f"clusters, {share:.0%} random": ours(random_share=share) for share in (0.1, 0.2)}
    return (
        {"random": peer("random")}
        | {name: ours(strategy=name, random_share=0.0) for name in STRATEGIES if name != "random"}
        | shares
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=3, metavar="N")
    parser.add_argument("--corpora", nargs="+", default=CORPORA, metavar="NAME")
    parser.add_argument("--choose", action="store_true", help="compare strategies on training texts alone")
    parser.add_argument("--skip-speed", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="compute everything again")
    options = parser.parse_args()
    code = hashlib.sha256(
        b"".join(Path(str(module.__file__)).read_bytes() for module in (asking, suggest, _tasks))
    ).digest()
    labels: dict[str, dict[str, float]] = {}
    for name in options.corpora:
        pool = Pool.of(name, options.choose)
        curves: dict[str, np.ndarray] = {}
        for way, begin in ways(options.choose).items():
            found = []
            for seed in range(options.draws):
                given = [code, f"{name} {way} {seed} {options.choose} {POOL} {TEST} {MOST} 2".encode()]

                def ask(pool=pool, begin=begin, seed=seed) -> dict[str, Answer]:
                    return {"curve": Answer(curve(pool, begin(pool, seed)), None)}

                found.append(remembered("ask", given, ask, options.fresh)["curve"].decisions)
            curves[way] = np.mean(found, axis=0)
        target = float(smooth(curves["random"])[-1])
        labels[name] = {way: needed(scores, target) for way, scores in curves.items()}
        for way, scores in curves.items():
            shown = " ".join(f"{scores[size // START - 1]:.3f}" for size in (20, 60, 100, 200, 300, 400, 500))
            print(f"{name:14} {way:22} {shown}  {labels[name][way]:5.0f} labels to {target:.3f}", flush=True)
    if options.choose:
        for way in ways(True):
            share = np.mean([min(found[way], 2.0 * MOST) / MOST for found in labels.values()])
            print(f"{way:24} {share:.2f} of the labels needed at random, mean over corpora")
        return
    halves = sum(found[SESSION] <= MOST / 2 for found in labels.values())
    never_more = all(found[SESSION] <= MOST for found in labels.values())
    each = ", ".join(
        f"{name} {found[SESSION]:.0f} (best peer {min(found[way] for way in PEERS):.0f})"
        for name, found in labels.items()
    )
    told, fast = "not measured", True
    if not options.skip_speed:
        median, largest, cpu = milliseconds()
        told, fast = f"{median:.0f} ms, {largest:.0f} at most, CPU {cpu:.0f} ms", median <= LARGEST_MS
    passed = halves >= min(HALF_ON, len(labels)) and never_more and fast
    close(
        "ask",
        passed,
        f"labels to the score of {MOST} random ones: {each}; at most half on {halves} of {len(labels)} corpora (bar: "
        f"{HALF_ON}), more than at random on {sum(found[SESSION] > MOST for found in labels.values())} (bar: 0); "
        f"from answer to next text among {N_SPEED:,}: {told} (bar: {LARGEST_MS:.0f} ms); {options.draws} draws",
    )


if __name__ == "__main__":
    main()

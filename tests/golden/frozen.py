"""Answers of every kind of training on the embedded corpus, frozen: what a change of the code must leave as it is.

    python tests/golden/frozen.py             compare with frozen.json: 1e-9, exit 1 where anything differs
    python tests/golden/frozen.py --write     freeze the answers of today; the commit says what changed and why
    python tests/golden/frozen.py --write --file /tmp/before.json    the same for a machine that rounds otherwise

The cases pair every model with every kind of labels, every link with every prior, and every option with a preset or a
model. Each has its held-out figures, and probabilities, decisions and an explanation of texts not trained on.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from textbayes import BayesLinearClassifier, BayesLinearClassifierCV, TextCategorizer, WordPriors, load_corpus
from textbayes.inference import inferences
from textbayes.knowledge import WordPrior

_PROCESSOR = ("CPU implementer", "CPU part", "CPU variant", "model name")
FILE = Path(__file__).with_name("frozen.json")
EXACT = 1e-9
LABELS = ("binary", "multiclass", "multilabel")
_TRAINED, _TRIED = 120, 6
_WORDS = [
    WordPrior("election", "politics", mean=4.0, scale=2.0),
    WordPrior("match", "sports", mean=4.0, scale=2.0),
    WordPrior("film", "politics", mean=-2.0, scale=1.0),
]


class Case(NamedTuple):
    """A training: the kind of labels, and what the categorizer is given."""

    labels: str
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        given = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.labels}: {given or 'default'}"


def cases() -> list[Case]:
    """All trainings that are frozen."""
    found = [Case(labels, settings) for settings in _PRESETS for labels in LABELS]
    found += [
        Case(labels, {"model": model})
        for model in _MODELS
        for labels in LABELS
        if not (labels == "multilabel" and str(model).startswith("multinomial"))
    ]
    links = ("logit", "probit", "student_t", "skew_t", "flip")
    priors = ("gaussian", "laplace", "elastic_net", "student_t", "jeffreys", "horseshoe")
    for i, prior in enumerate(priors):
        for j, link in enumerate(links):
            found.append(Case(LABELS[(i + j) % 3], {"model": f"linear:link={link},prior={prior},max_iter=50"}))
    for i, inference in enumerate(("coordinate", "newton", "em", "block_em", "clg", "dual")):
        found.append(Case(LABELS[i % 3], {"model": f"linear:prior=gaussian,inference={inference}"}))
    for prior, labels in zip(("laplace", "gaussian", "horseshoe"), LABELS, strict=True):
        found.append(Case(labels, {"model": f"gibbs:{prior}", "cv": 2}))
    found += [Case(LABELS[i % 3], settings) for i, settings in enumerate(_OPTIONS)]
    return found


_PRESETS: list[dict[str, Any]] = [{}, {"budget": "quick"}, {"preset": "linear"}, {"prior": "for"}]
_MODELS: list[Any] = [
    "linear",
    "multinomial",
    "multinomial:prior=laplace",
    "counts",
    "counts:model=poisson",
    "counts:model=negative_binomial",
    "counts:model=complement",
    "online",
    "gp:budget=40",
    ["linear:prior=gaussian", "counts:model=poisson", "online"],
]
_OPTIONS: list[dict[str, Any]] = [
    {"prior": "numbers", "preset": "linear"},
    {"prior": "numbers", "model": "counts:model=poisson"},
    {"prior": "numbers", "model": "linear:prior=laplace", "prior_weight": 0.5},
    {"preset": "linear", "intervals": True},
    {"preset": "linear", "calibrate": True},
    {"model": "linear:prior=laplace", "calibrate": True},
    {"model": "linear:prior=gaussian", "intervals": True},
    {"preset": "linear", "select": "information_gain", "select_k": 60},
    {"model": "linear:prior=laplace", "select": "delta2", "select_k": 60},
    {"model": "linear:prior=laplace", "refit_k": 20},
    {"preset": "linear", "weighting": "ltc"},
    {"rule": "max_f1"},
    {"rule": "unsure:low=0.3,high=0.7", "preset": "linear"},
    {"rule": "fixed:threshold=0.3", "model": "counts"},
    {"model": "cv:laplace"},
    {"model": "evidence:gaussian"},
    {"cv": 3, "random_state": 7},
    {"prior": "numbers"},
]


@functools.cache
def corpus() -> tuple[list[str], list[str]]:
    """Texts and topics of the embedded corpus, cut to their first 120 words."""
    news = load_corpus("bbc")
    texts = [" ".join(text.split()[:120]) for text in news.train.texts]
    return texts, [str(label) for label in news.train.targets]


def task(labels: str) -> tuple[list[str], Any, list[str]]:
    """Training texts, their labels of one kind, and texts to answer."""
    texts, topics = corpus()
    order = np.random.default_rng(5).permutation(len(texts))
    chosen, tried = order[:_TRAINED], [texts[i] for i in order[_TRAINED : _TRAINED + _TRIED]]
    given: Any = [topics[i] for i in chosen]
    if labels == "binary":
        given = ["politics" if topic == "politics" else "other" for topic in given]
    elif labels == "multilabel":  # a second label that words tell, a third that they hardly do
        given = [
            [topic, *(["money"] if "m " in texts[i] and "£" in texts[i] else []), *(["odd"] if i % 3 == 0 else [])]
            for topic, i in zip(given, chosen, strict=True)
        ]
    return [texts[i] for i in chosen], given, tried


def settings_of(case: Case) -> dict[str, Any]:
    """What the categorizer is given, with priors in place of their names."""
    settings = {"embeddings": "off", **case.settings}
    words = [word for word in _WORDS if case.labels != "binary" or word.label == "politics"]
    if settings.get("prior") == "for":
        settings["prior"] = WordPriors([WordPrior(word.word, word.label) for word in words if word.mean == 4.0])
    elif settings.get("prior") == "numbers":
        settings["prior"] = WordPriors(words)
    method, _, prior = str(settings.get("model")).partition(":")
    if method in ("cv", "evidence"):
        settings["model"] = BayesLinearClassifierCV(prior=prior, method=method)
    elif method == "gibbs":
        sampler = inferences.get("gibbs")(chains=2, warmup=30, max_draws=60, n_jobs=1)
        settings["model"] = BayesLinearClassifier(prior=prior, inference=sampler)
    return settings


def answer(case: Case) -> dict[str, Any]:
    """What a training answers: numbers as they are, texts as words."""
    texts, labels, tried = task(case.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TextCategorizer(**settings_of(case)).fit(texts, labels)
    assessed = model.assess(tried)
    explained = model.explain(tried[0])
    held_out = model.held_out_
    return {
        "held_out": {key: held_out[key] for key in sorted(held_out) if isinstance(held_out[key], float)},
        "proba": assessed.proba.ravel().tolist(),
        "decisions": assessed.decisions.astype(int).ravel().tolist(),
        "explained": {
            one.label: [one.base, one.log_odds, {part.word: part.log_odds for part in one.contributions[:4]}]
            for one in explained[:3]
        },
    }


def differences(then: Any, now: Any, tolerance: float, where: str) -> list[str]:
    """Where two answers differ by more than a tolerance, relative to numbers above one.

    With a wide tolerance, as between machines that round differently, only numbers that both have are compared: a
    decision at its threshold, and which labels and words come first, hang on the last digits.
    """
    same_machine = tolerance <= EXACT
    if not same_machine and isinstance(then, dict) and isinstance(now, dict):
        pairs = [(key, then[key], now[key]) for key in sorted(then.keys() & now.keys() - {"decisions"})]
        apart = []
    elif isinstance(then, dict) and isinstance(now, dict):
        apart = [f"{where}: {key!r} is in one only" for key in sorted(then.keys() ^ now.keys())]
        pairs = [(key, then[key], now[key]) for key in sorted(then.keys() & now.keys())]
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        apart, pairs = [], list(zip(range(len(then)), then, now, strict=True))
    elif isinstance(then, float) and isinstance(now, float):
        same = np.isclose(now, then, rtol=tolerance, atol=tolerance, equal_nan=True)
        return [] if same else [f"{where}: {then!r} then, {now!r} now"]
    else:
        return [] if then == now else [f"{where}: {then!r} then, {now!r} now"]
    return apart + [line for key, one, other in pairs for line in differences(one, other, tolerance, f"{where}/{key}")]


def machine() -> str:
    """What rounds: the same code on another processor or library differs in the last digits."""
    import numba
    import scipy

    told = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else platform.processor()
    lines = [line.split(":")[1].strip() for line in told.splitlines() if line.startswith(_PROCESSOR)]
    libraries = f"numpy {np.__version__} scipy {scipy.__version__} numba {numba.__version__}"
    return " ".join([platform.machine(), *dict.fromkeys(lines), libraries])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true")
    options.add_argument("--only", default="", help="cases whose name contains this")
    options.add_argument("--file", type=Path, default=FILE, help="where answers are frozen (default: %(default)s)")
    given = options.parse_args()
    frozen = json.loads(given.file.read_text(encoding="utf-8")) if given.file.exists() else {"answers": {}}
    chosen = [case for case in cases() if given.only in case.name]
    answers, found = {}, 0
    for case in chosen:
        answers[case.name] = answer(case)
        if not given.write:
            lines = differences(frozen["answers"].get(case.name), answers[case.name], EXACT, case.name)
            found += bool(lines)
            print("\n".join(lines[:5]), end="\n" if lines else "")
    if given.write:
        kept = {**frozen["answers"], **answers} if given.only else answers
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept[name], sort_keys=True)}" for name in sorted(kept))
        given.file.write_text(f'{{"machine": {json.dumps(machine())}, "answers": {{\n{lines}\n}}}}\n', encoding="utf-8")
    print(f"frozen answers: {len(chosen)} cases, {found} differ (bar 0)")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()

"""Do the 95 % intervals of held-out figures hold what they promise? ``python benchmarks/bench_held_out_intervals.py``

``[--draws 2000] [--sizes 30 100 300] [--corpora …] [--pool 0]``

Texts are drawn at random from a large corpus, a model is trained on them, and its held-out figures come with intervals.
The truth is the figure of this model on texts that were not drawn, up to ten thousand of them. Counted is how often the
interval holds the truth. A fast member, naive Bayes of the words, stands in for the pool of an automatic training:
folds, held-out decisions and intervals are those of ``TextCategorizer``. ``--pool N`` draws N times for each size and
corpus with ``TextCategorizer().fit`` as it is.

The draws are spread evenly over the corpora; some corpora are drawn from a model, texts of random words whose
frequencies differ by class. Macro F1 and log-loss are counted where every class has two texts or more: of a class with
one text a cross-validation can say nothing.

The bar: at every size the interval of accuracy holds the truth in 93 to 97 % of all draws. The factor of the variance
of cross-validated figures was chosen on the corpora of ``DEVELOPMENT``, which are not counted unless they are named.
With 1.5 the interval held the truth in .94, .95 and .94 of draws there, with 1.75 in .97, .96 and .96. The corpora here
were looked at twice before: 1.7 gave .961, .971 and .966 on nine of them, 1.6 gave .952 and .970 at 30 and 100 texts.
It was then set to 1.5. The draws that are counted by default are others.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
from typing import NamedTuple

import numpy as np
from scipy import sparse

import _tasks
from _common import close
from textbayes import TextCategorizer
from textbayes.categorizer.member_scores import cross_fitted, parts_of, setting_of
from textbayes.categorizer.plan import Plan, folds_for
from textbayes.categorizer.settings import rule_for
from textbayes.categorizer.sources import Target
from textbayes.categorizer.stackers import SharedWeights
from textbayes.core.cross_validation import Folds
from textbayes.core.folds import label_seen
from textbayes.core.labels import Kind, LabelSpace, encode_labels
from textbayes.data.catalogue import search_folders
from textbayes.decide import Rule
from textbayes.evaluate import class_log_losses, contingency, f_measure
from textbayes.evaluate.calibration import decision_losses
from textbayes.evaluate.intervals import (
    CROSS_VALIDATED,
    Units,
    accuracy_interval,
    log_loss_interval,
    macro_f1_interval,
)
from textbayes.links import make_link
from textbayes.text import TermWeighting, TextVectorizer

DEVELOPMENT = ("model_12", "sentence_polarity", "subjects", "arxiv_titles")
CORPORA = (
    *("model_2", "model_5", "model_20", "bbc", "subjectivity", "trec", "tweets"),
    *("newsgroups", "sentences", "openstax", "spam", "reuters_single"),
)
BAR = 0.93, 0.97
MEASURES = ("accuracy", "macro F1", "log-loss")
N_WORDS, N_MODEL, N_NEW, N_NEW_OF_POOL = 3_000, 20_000, 10_000, 2_000
LARGEST_SHARE = 0.06  # of a corpus that is drawn: the rest is too few and too unlike what was drawn


class Read(NamedTuple):
    """A corpus: texts, weights of their words, and the class of each."""

    texts: list[str]
    weights: sparse.csr_matrix
    labels: np.ndarray


def short_texts(name: str) -> tuple[list[str], list[str]]:
    """A corpus of short texts, of public copies."""
    found = [folder / "short_texts" / f"{name}.jsonl.xz" for folder in search_folders()]
    with lzma.open(next(file for file in found if file.exists()), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], [row["labels"] for row in rows]


def simulated(n_classes: int) -> tuple[list[str], list[str]]:
    """Texts of random words: each class has frequencies of its own, and half of a text's words are of no class."""
    rng = np.random.default_rng([7, n_classes])
    names = np.array([f"w{j}" for j in range(600)])
    common = 1.0 / np.arange(3, len(names) + 3)
    own = common * rng.gamma(0.15, size=(n_classes, len(names)))
    share = rng.dirichlet(np.full(n_classes, 4.0))
    classes = rng.choice(n_classes, N_MODEL, p=share)
    lengths = 5 + rng.poisson(25, N_MODEL)
    texts = []
    for k, length in zip(classes, lengths, strict=True):
        p = (common / common.sum() + own[k] / own[k].sum()) / 2.0
        texts.append(" ".join(names[rng.choice(len(names), length, p=p)]))
    return texts, [f"class {k:02}" for k in classes]


@functools.cache
def corpus(name: str) -> Read:
    """A corpus by its name, with its commonest words."""
    if name.startswith("model_"):
        texts, labels = simulated(int(name.partition("_")[2]))
    elif name in ("sentence_polarity", "subjectivity", "trec", "tweets"):
        texts, labels = short_texts(name)
    else:
        task = getattr(_tasks, name)()
        texts, labels = task.texts, list(task.labels)
    counts = TextVectorizer(max_features=N_WORDS, min_df=2).fit_transform(texts)
    weights = TermWeighting("tfidf1").fit_transform(counts).tocsr().astype(np.float32)
    return Read(texts, weights, np.array(labels, dtype=object))


def draw(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of texts of two classes or more, drawn at random, and all other rows."""
    labels = corpus(name).labels
    rng = np.random.default_rng([hash_of(name), n, seed])
    while True:
        rows = rng.permutation(len(labels))
        if len(set(labels[rows[:n]])) > 1:
            return rows[:n], rows[n : n + N_NEW]


def hash_of(name: str) -> int:
    """A number for a name, the same in every run."""
    return int.from_bytes(name.encode(), "big") % (1 << 31)


class Judged(NamedTuple):
    """Held-out labels, probabilities and decisions of a training, and its figures on all other texts."""

    Y: np.ndarray
    proba: np.ndarray
    decided: np.ndarray
    seen: np.ndarray
    kind: Kind
    truth: dict[str, float]

    def held(self) -> dict[str, tuple[float, float, float, float]]:
        """Of each figure that has an interval: its value, the ends, and the truth."""
        Y, decided, proba, seen = self.Y, self.decided, self.proba, self.seen
        if self.kind == "binary":
            Y, decided, seen = np.hstack([~Y, Y]), np.hstack([~decided, decided]), np.hstack([seen, seen])
            proba = np.hstack([1.0 - proba, proba])
        right, counted = (decided == Y).all(axis=1), Y & seen
        units = Units.of(len(Y), factor=CROSS_VALIDATED)
        found = {"accuracy": (float(right.mean()), accuracy_interval(right, units))}
        if counted.any(axis=0).all():
            macro_f1 = float(f_measure(contingency(Y, decided), "macro"))
            losses, n_losses = np.where(counted, decision_losses(Y, proba), 0.0).sum(axis=1), counted.sum(axis=1)
            found["macro F1"] = macro_f1, macro_f1_interval(Y, decided, units)
            found["log-loss"] = float(losses.sum() / n_losses.sum()), log_loss_interval(losses, n_losses, units)
        return {name: (value, *ends, self.truth[name]) for name, (value, ends) in found.items() if ends is not None}


def naive_bayes(sums: np.ndarray) -> np.ndarray:
    """Weights of words, (…, n_classes, n_words), from their sums: log-odds of each class against all others."""

    def log_shares(x: np.ndarray) -> np.ndarray:
        smooth = x + 0.1
        return np.log(smooth) - np.log(smooth.sum(axis=-1, keepdims=True))

    total = sums.sum(axis=-2, keepdims=True)
    # A word that is in the held-out text alone would speak for the class that lost this text's words.
    return (total > 0.0) * (log_shares(sums) - log_shares(np.maximum(total - sums, 0.0)))


def fast(name: str, rows: np.ndarray, rest: np.ndarray) -> Judged:
    """Naive Bayes of the words of the drawn texts, judged as a named model is."""
    read = corpus(name)
    indicator, space = encode_labels(read.labels[rows].tolist())
    target = Target(indicator, space, None, Folds.stratified(indicator, folds_for(len(rows), 5, "normal"), 0))
    at = setting_of(Plan([], SharedWeights(space, make_link("logit"), False)), target)
    words = np.flatnonzero(read.weights[rows].getnnz(axis=0))
    X, Y = (
        read.weights[rows][:, words].toarray(),
        (np.hstack([~indicator, indicator]) if space.kind == "binary" else indicator),
    )
    fold = target.folds.number
    learnt = np.stack([(fold != k)[:, None] * Y for k in range(target.folds.n)])  # (n_folds, n, n_classes)
    columns = slice(1, None) if space.kind == "binary" else slice(None)
    coef = naive_bayes(np.einsum("fik,iw->fkw", learnt.astype(np.float32), X))[fold]
    scores = np.einsum("ikw,iw->ik", coef, X)[None, :, columns]
    part, share = parts_of(at.held), np.ones(1)
    judged = cross_fitted(at, scores, part, share)
    stacker = at.plan.stacker
    coef = naive_bayes(Y.T.astype(np.float32) @ X)[columns]
    proba = stacker.probabilities((read.weights[rest][:, words] @ coef.T)[None], stacker.fit(scores, at.held, share))
    rule = rule_for("auto", space).fit(judged, indicator)
    decided = rule.decide(judged)
    return Judged(indicator, judged, decided, at.held.label_seen, space.kind, truth_of(name, space, rest, proba, rule))


def pool(name: str, rows: np.ndarray, rest: np.ndarray) -> Judged:
    """An automatic training on the drawn texts."""
    read = corpus(name)
    labels = read.labels[rows].tolist()
    model = TextCategorizer(embeddings="off").fit([read.texts[i] for i in rows], labels)
    rest = rest[:N_NEW_OF_POOL]
    space = model.label_space_
    proba = model.predict_proba([read.texts[i] for i in rest])[:, -space.n_columns :]
    truth = truth_of(name, space, rest, proba, model.rule_)
    indicator = encode_labels(labels)[0]
    seen = label_seen(indicator, Folds.stratified(indicator, folds_for(len(rows), 5, "normal"), 0).number)
    return Judged(indicator, model.held_out_proba_, model.held_out_decisions_, seen, space.kind, truth)


def truth_of(name: str, space: LabelSpace, rest: np.ndarray, proba: np.ndarray, rule: Rule) -> dict[str, float]:
    """Figures of the texts that were not drawn; those of classes that the model does not know are errors."""
    Y, decided = corpus(name).labels[rest][:, None] == space.classes[None, :], rule.decide(proba)
    if space.kind == "binary":
        proba, decided = np.hstack([1.0 - proba, proba]), np.hstack([~decided, decided])
    right = (decided == Y).all(axis=1) & Y.any(axis=1)
    macro_f1, loss = f_measure(contingency(Y, decided), "macro"), class_log_losses(Y, proba)[0]
    return {"accuracy": float(right.mean()), "macro F1": float(macro_f1), "log-loss": loss}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2_000, help="of each size, over all corpora")
    parser.add_argument("--sizes", nargs="+", type=int, default=[30, 100, 300])
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA))
    parser.add_argument("--pool", type=int, default=0, help="draws of each size and corpus for the pool instead")
    parser.add_argument("--first", type=int, default=20_000, help="number of the first draw, for other draws")
    options = parser.parse_args()
    print(f"{'corpus':<19}{'texts':>6}{'draws':>7}" + "".join(f"{name:>34}" for name in MEASURES))
    print(" " * 32 + f"{'held':>9}{'true':>7}{'width':>7}{'inside':>9}  " * len(MEASURES), flush=True)
    shares, passed = [], True
    for n in options.sizes:
        named = [name for name in options.corpora if n <= LARGEST_SHARE * len(corpus(name).labels)]
        found: dict[str, list[tuple[float, ...]]] = {name: [] for name in MEASURES}
        for k, name in enumerate(named):
            draws = options.pool or options.draws // len(named) + (k < options.draws % len(named))
            own: dict[str, list[tuple[float, ...]]] = {measure: [] for measure in MEASURES}
            for seed in range(options.first, options.first + draws):
                for measure, row in (pool if options.pool else fast)(name, *draw(name, n, seed)).held().items():
                    own[measure].append(row)
            print(f"{name:<19}{n:>6}{draws:>7}" + "".join(told(own[measure]) for measure in MEASURES), flush=True)
            for measure in MEASURES:
                found[measure] += own[measure]
        n_draws = len(found["accuracy"])
        print(f"{'all':<19}{n:>6}{n_draws:>7}" + "".join(told(found[measure]) for measure in MEASURES), flush=True)
        share = inside(np.array(found["accuracy"])).mean()
        shares.append(f"{share:.3f} at {n}")
        passed &= BAR[0] <= share <= BAR[1]
    close("held-out intervals", passed, f"accuracy inside {', '.join(shares)} (bar {BAR[0]} to {BAR[1]})")


def inside(rows: np.ndarray) -> np.ndarray:
    """Whether the interval of each draw holds the truth."""
    return (rows[:, 1] <= rows[:, 3]) & (rows[:, 3] <= rows[:, 2])


def told(found: list[tuple[float, ...]]) -> str:
    """Means over draws of a figure, the truth and the interval's width, and the share of intervals that hold it."""
    if not found:
        return f"{'–':>34}"
    rows = np.array(found)
    value, low, high, truth = rows.mean(axis=0)
    return f"{value:>9.3f}{truth:>7.3f}{high - low:>7.3f}{inside(rows).mean():>9.3f}  "


if __name__ == "__main__":
    main()

"""What the automatic training costs: beside ``preset="linear"``, in memory, and as texts and labels grow.

``python benchmarks/bench_auto_cost.py [--full] [--many] [--skip-reuters]``

Each training has a process of its own, which first learns from a few hundred of the texts so that compiled code is
there, and is measured in seconds of processor time of all its threads. Reuters R90: budgets "quick" and "normal" in
times of ``preset="linear"``. Memory: what the peak resident memory adds to that before the training, plus the texts as
a matrix of counts, in times of the matrices, which are that and the weights of the model (``bench_memory.py`` counts
the same); the peak in times of the counts alone is printed beside. Growth: titles and abstracts of arXiv × 34 labels,
the exponent of the least-squares line through the logarithms of texts and seconds; ``--full`` adds 100,000 texts.
``--many``: 60,000 titles × 850 labels within ten minutes on the clock, with progress told, on all cores as by
``textbayes train``. The labels are the 850 commonest pairs of neighbouring words of the titles, which are taken out of
them: what is left must tell.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from _common import close, reuters
from bench_memory import resident
from textbayes import TextCategorizer
from textbayes.data import load_corpus
from textbayes.text import load_stop_words

QUICK_BAR, NORMAL_BAR, MEMORY_BAR, EXPONENT_BAR, MANY_BAR = 1.0, 3.0, 4.0, 1.15, 600.0
SIZES, FULL = (7_500, 15_000, 30_000), 100_000
N_MANY, N_LABELS = 60_000, 850
N_WARM = 300  # texts of the training that compiles

Data = tuple[Sequence[str], Sequence[tuple[str, ...]]]


def texts_of(what: str) -> Data:
    """Texts and labels of a training by its name: ``reuters``, ``many``, or a number of arXiv abstracts."""
    if what == "reuters":
        train = reuters().train
        return train.texts, train.labels
    if what == "many":
        return many_labels([text.split("\n", 1)[0] for text in load_corpus("arxiv_cs").texts])
    corpus = load_corpus("arxiv_cs")
    chosen = corpus.take(sorted(np.random.default_rng(0).choice(len(corpus), int(what), replace=False).tolist()))
    return chosen.texts, chosen.labels


def many_labels(titles: Sequence[str], n_labels: int = N_LABELS, n_texts: int = N_MANY) -> Data:
    """Titles without their commonest pairs of words, which are their labels; those with a label and three words left.

    Parameters
    ----------
    titles : sequence of str
    n_labels, n_texts : int
        Titles without a label fill up what is missing of the texts.
    """
    split = [re.findall(r"[^\W\d_]+", title.lower()) for title in titles]
    common = set(load_stop_words("english"))
    counts = Counter(pair for words in split for pair in set(pairwise(words)) if not common.intersection(pair))
    chosen = {pair for pair, _ in counts.most_common(n_labels)}
    labelled, others = [], []
    for words in split:
        found = {pair for pair in pairwise(words) if pair in chosen}
        out = {i + side for i, pair in enumerate(pairwise(words)) if pair in found for side in (0, 1)}
        rest = [word for i, word in enumerate(words) if i not in out]
        if len(rest) >= 3:
            (labelled if found else others).append((" ".join(rest), tuple(sorted("_".join(pair) for pair in found))))
    rows = (labelled + others)[:n_texts]
    return [text for text, _ in rows], [labels for _, labels in rows]


def measure(what: str, preset: str, budget: str) -> dict[str, Any]:
    """Seconds and bytes of one training, in this process."""
    texts, labels = texts_of(what)
    TextCategorizer(preset=preset, budget=budget).fit(texts[:N_WARM], labels[:N_WARM])
    gc.collect()
    before, peak = resident("VmRSS"), Path("/proc/self/clear_refs")
    peak.write_text("5", encoding="ascii")
    told: list[str] = []

    def progress(step: str, done: int, total: int | None) -> None:
        told.append(step)
        if what == "many":
            print(f"\r{step} {done}/{total or '?'}   ", end="", file=sys.stderr, flush=True)

    n_jobs = -1 if what == "many" else None
    wall, cpu = time.perf_counter(), time.process_time()
    model = TextCategorizer(preset=preset, budget=budget, n_jobs=n_jobs).fit(texts, labels, progress=progress)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    added = resident("VmHWM") - before
    counts = model.features(texts).counts
    return {
        "texts": len(texts),
        "labels": len(model.classes_),
        "cpu": cpu,
        "wall": wall,
        "added": added,
        "counts": counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes,
        "weights": model.coef_.nbytes,
        "told": len(told),
    }


def in_a_process(what: str, preset: str, budget: str = "normal") -> dict[str, Any]:
    """What :func:`measure` finds in a process of its own, printed."""
    command = [sys.executable, __file__, "--measure", what, preset, budget]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    mib = {key: found[key] / 2**20 for key in ("added", "counts", "weights")}
    print(
        f"{what:>8} {preset:7} {budget if preset == 'auto' else '':8} {found['texts']:>7,} texts × {found['labels']} "
        f"labels: {found['cpu']:7.1f} s of CPU, {found['wall']:7.1f} s on the clock; counts {mib['counts']:.0f} MiB, "
        f"weights {mib['weights']:.0f} MiB, peak adds {mib['added']:.0f} MiB",
        flush=True,
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--full", action="store_true", help=f"growth up to {FULL:,} texts")
    parser.add_argument("--many", action="store_true", help=f"also {N_MANY:,} titles × {N_LABELS} labels")
    parser.add_argument("--skip-reuters", action="store_true", help="growth alone")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="texts of the growth")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not Path("/proc/self/clear_refs").exists():
        sys.exit("bench_auto_cost: needs Linux, whose /proc/self/clear_refs resets the peak")
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    passed, told = True, []
    if not options.skip_reuters:
        linear, quick, normal = (
            in_a_process("reuters", *how) for how in (("linear",), ("auto", "quick"), ("auto", "normal"))
        )
        times = [one["cpu"] / linear["cpu"] for one in (quick, normal)]
        ratio = (normal["added"] + normal["counts"]) / (normal["counts"] + normal["weights"])
        print(f"peak in times of the counts alone: {normal['added'] / normal['counts']:.1f}")
        passed &= times[0] <= QUICK_BAR and times[1] <= NORMAL_BAR and ratio < MEMORY_BAR
        told.append(
            f"R90 quick {times[0]:.2f}x and normal {times[1]:.2f}x the time of linear (bars {QUICK_BAR:g}x and "
            f"{NORMAL_BAR:g}x), peak memory {ratio:.2f}x the matrices (bar {MEMORY_BAR:g}x)"
        )
    sizes = [*options.sizes, FULL] if options.full else list(options.sizes)
    seconds = [in_a_process(str(size), "auto")["cpu"] for size in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    passed &= exponent <= EXPONENT_BAR
    told.append(f"time grows with texts to the power {exponent:.3f} (bar {EXPONENT_BAR:g})")
    if options.many:
        found = in_a_process("many", "auto")
        complete = found["texts"] == N_MANY and found["labels"] == N_LABELS
        passed &= complete and found["wall"] <= MANY_BAR and found["told"] > 1
        told.append(
            f"{found['texts']:,} texts × {found['labels']} labels in {found['wall']:.0f} s (bar {MANY_BAR:g}), "
            f"progress told {found['told']} times"
        )
    close("auto_cost", passed, "; ".join(told))


if __name__ == "__main__":
    main()

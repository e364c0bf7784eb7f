"""The learning curve: Reuters' ten largest topics from 10 to 500 random training documents, beside every peer.

``python benchmarks/bench_learning_curve.py [--seeds 20] [--labelled] [--budget normal] [--fresh]``

For each seed the training documents of ModApte (``--labelled``: those of a topic at least) are shuffled once; the
categorizer and the peers learn from the first 10, 20, 50, 100 and 500 and are judged by macro-F1 on the whole test set,
a topic that no training document has counting 0. The categorizer reads the names of its labels: one line has codes in
their place, another the topics' descriptions from the distribution's own list as a prior. The bars: the categorizer as
it is above every peer at each point; with names or descriptions above that with codes at 10 and 20.
"""

from __future__ import annotations

import argparse

import numpy as np

from _common import close
from _peers import Answer, peer_answers
from _remember import remembered
from _views import Views
from bench_knowledge import descriptions
from textbayes import TextCategorizer
from textbayes.data import load_corpus
from textbayes.evaluate import contingency, f_measure
from textbayes.knowledge import WordPriors, from_descriptions

SIZES = (10, 20, 50, 100, 500)
CODES, NAMES, DESCRIBED = "textbayes, codes for names", "textbayes", "textbayes, descriptions"
FEW = (10, 20)  # documents, with which names and descriptions must help


class Curve:
    """The corpus, and what its systems make of some training documents.

    Parameters
    ----------
    budget : str
        Of the categorizer.
    labelled : bool
        Whether documents of none of the topics are left out of the training documents.
    fresh : bool
        Whether peers are asked again.
    """

    def __init__(self, budget: str, labelled: bool, fresh: bool) -> None:
        corpus = load_corpus("reuters21578", topics="top10")
        texts = [*corpus.train.texts, *corpus.test.texts]
        self.texts, self.labels = texts, [*corpus.train.labels, *corpus.test.labels]
        self.test = np.arange(len(corpus.train), len(texts))
        self.names = list(corpus.label_names)
        self.Y = np.vstack([corpus.train.encode()[0], corpus.test.encode()[0]])
        to_draw = self.Y.any(axis=1) if labelled else np.ones(len(texts), dtype=bool)
        self.drawn_from = np.flatnonzero(to_draw[: len(corpus.train)])
        self.views, self.budget, self.fresh = Views(texts), budget, fresh
        described = descriptions()
        self.described = from_descriptions({name: described[name] for name in self.names})
        self.codes = {name: f"{number:02}" for number, name in enumerate(self.names)}

    def macro_f1(self, decisions: np.ndarray) -> float:
        """Macro-F1 on the test set."""
        return float(f_measure(contingency(self.Y[self.test], decisions), "macro"))

    def rows(self, seed: int, size: int) -> np.ndarray:
        """Some training documents; the first of a seed's are among its further ones."""
        return np.random.default_rng(seed).permutation(self.drawn_from)[:size]

    def ours(self, rows: np.ndarray, knowing: str) -> float:
        """Macro-F1 of the categorizer, which may know something of the words of its labels."""
        labels = [self.labels[i] for i in rows]
        names, prior = self.names, None
        if knowing == DESCRIBED:
            seen = {name for row in labels for name in row}
            prior = WordPriors([row for row in self.described if row.label in seen])
        elif knowing == CODES:
            names, labels = list(self.codes.values()), [[self.codes[name] for name in row] for row in labels]
        model = TextCategorizer(preset="auto", budget=self.budget, prior=prior)
        model.fit([self.texts[i] for i in rows], labels)
        decisions = np.zeros((len(self.test), len(names)), dtype=bool)
        columns = np.searchsorted(names, model.label_space_.class_names)
        decisions[:, columns] = model.assess([self.texts[i] for i in self.test]).decisions
        return self.macro_f1(decisions)

    def peers(self, rows: np.ndarray) -> dict[str, float]:
        """Macro-F1 of each peer."""

        def ask() -> dict[str, Answer]:
            said = peer_answers(self.views, self.Y, rows, self.test, exclusive=False)
            return {peer: Answer(answer.decisions, None) for peer, answer in said.items()}

        given = (rows.astype(np.int64).tobytes(), np.packbits(self.Y).tobytes(), "\0".join(self.texts).encode())
        answers = remembered("learning_curve", given, ask, self.fresh)
        return {peer: self.macro_f1(answer.decisions) for peer, answer in answers.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=20, metavar="N")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--labelled", action="store_true", help="draw from documents that have one of the topics")
    parser.add_argument("--budget", choices=("quick", "normal", "thorough"), default="normal")
    parser.add_argument("--fresh", action="store_true", help="ask the peers again")
    options = parser.parse_args()
    curve = Curve(options.budget, options.labelled, options.fresh)
    found: dict[str, list[list[float]]] = {}
    for seed in range(options.seeds):
        for position, size in enumerate(options.sizes):
            rows = curve.rows(seed, size)
            figures = {name: curve.ours(rows, name) for name in (NAMES, CODES, DESCRIBED)} | curve.peers(rows)
            for system, value in figures.items():
                found.setdefault(system, [[] for _ in options.sizes])[position].append(value)
        print(f"seed {seed}:", *(f"{values[-1]:.3f}" for values in found[NAMES]), flush=True)
    mean = {system: [float(np.mean(values)) for values in points] for system, points in found.items()}
    print(f"macro-F1, mean of {options.seeds} seeds; documents" + "".join(f"{size:8}" for size in options.sizes))
    for system, values in mean.items():
        print(f"{system:40}" + "".join(f"{value:8.3f}" for value in values))
    ours, without = mean[NAMES], mean[CODES]
    peers = [values for system, values in mean.items() if not system.startswith("textbayes")]
    best = [max(values[position] for values in peers) for position in range(len(options.sizes))]
    knowing = [max(pair) for pair in zip(ours, mean[DESCRIBED], strict=True)]
    above = all(value > bar for value, bar in zip(ours, best, strict=True))
    few = [position for position, size in enumerate(options.sizes) if size in FEW]
    further = all(knowing[position] > without[position] for position in few)
    points = (f"{size}: {one:.3f} ({bar:.3f})" for size, one, bar in zip(options.sizes, ours, best, strict=True))
    told = ", ".join(f"{knowing[at]:.3f} to {without[at]:.3f} at {options.sizes[at]}" for at in few)
    close(
        "learning_curve",
        above and further,
        f"macro-F1 by documents, best peer in brackets (bar: above): {', '.join(points)}; names or descriptions to "
        f"codes {told} (bar: above)",
    )


if __name__ == "__main__":
    main()

"""The twelve disputed Federalist papers, by function words: to whom each count model gives them, and how surely.

Trained on the 51 papers by Hamilton and the 14 by Madison, with the 70 function words of Mosteller & Wallace (1964),
lengths in thousands of words, both authors equally likely beforehand, and all settings at their defaults. The bars:
all twelve go to Madison with the negative binomial and both Dirichlet models, whose odds are less extreme than those of
multinomial naive Bayes, on average and at most.
"""

from __future__ import annotations

import numpy as np

from _common import close
from textbayes.data import load_corpus
from textbayes.models.counts import BayesCountClassifier
from textbayes.text import TextVectorizer

WORDS = (
    "a all also an and any are as at be been but by can do down even every for from had has have her his if in into "
    "is it its may more must my no not now of on one only or our shall should so some such than that the their then "
    "there things this to up upon was were what when which who will with would your"
)
MODELS = ("multinomial", "poisson", "negative_binomial", "dirichlet_poisson", "dirichlet_negative_binomial")
MUST_HOLD = MODELS[2:]


def main() -> None:
    corpus = load_corpus("federalist")
    known = corpus.train.take([i for i, author in enumerate(corpus.train.targets) if author in ("HAMILTON", "MADISON")])
    disputed = corpus.part("disputed")
    vectorizer = TextVectorizer(vocabulary=WORDS.split(), token_pattern=r"\b[a-z]+\b")
    lengths, counts = vectorizer.document_lengths(known.texts), vectorizer.transform(known.texts)
    new_lengths, new_counts = vectorizer.document_lengths(disputed.texts), vectorizer.transform(disputed.texts)
    print("log-odds for Madison, paper by paper")
    print(" " * 28 + "".join(f"{number:>7}" for number in disputed.ids) + "   mean size")
    odds = {}
    for name in MODELS:
        model = BayesCountClassifier(name, class_prior="uniform").fit(counts, known.targets, lengths=lengths)
        odds[name] = model.decision_function(new_counts, new_lengths)  # for MADISON, the second class
        shown = "".join(f"{value:7.1f}" for value in odds[name])
        print(f"{name:28}{shown}{np.abs(odds[name]).mean():12.1f}")
    to_madison = {name: int((odds[name] > 0.0).sum()) for name in MODELS}
    size = {name: (np.abs(odds[name]).mean(), np.abs(odds[name]).max()) for name in MODELS}
    passed = all(
        to_madison[name] == 12 and size[name][0] < size["multinomial"][0] and size[name][1] < size["multinomial"][1]
        for name in MUST_HOLD
    )
    told = ", ".join(f"{name} {to_madison[name]} of 12 at {size[name][0]:.1f}" for name in MODELS)
    close("counts_federalist", passed, f"to Madison, at mean log-odds (bars 12 and below multinomial's): {told}")


if __name__ == "__main__":
    main()

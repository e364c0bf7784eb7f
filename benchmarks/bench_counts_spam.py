"""SpamAssassin in three classes (easy ham, hard ham, spam), five folds: count models against multinomial naive Bayes.

Subject and body, all words of two mails or more. Every model has its number of words (by information gain, ranked
inside each part) and its constants, pseudo-counts of the plain models and β of the hierarchies, by the fewest errors in
inner cross-validation (three folds); and its constants alone, on the words that naive Bayes chose. The bar: the
Dirichlet–negative-binomial has no more errors than naive Bayes so chosen (the 95 % interval of the paired difference
does not lie above zero), in either way, and a lower log-loss.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from _common import close
from _counts import Data, compared, report
from textbayes.data import load_corpus
from textbayes.text import TextVectorizer

N_WORDS = (5_000, 31_583)
MODELS = ("multinomial", "poisson", "negative_binomial", "dirichlet_poisson", "dirichlet_negative_binomial")
SHORTEST = 1e-3  # mails without a word that the pattern finds count as one word long


def main() -> None:
    corpus = load_corpus("spamassassin", classes="three")
    vectorizer = TextVectorizer(min_df=2)
    X = vectorizer.fit_transform(corpus.texts).astype(np.float64)
    lengths = np.maximum(vectorizer.document_lengths(corpus.texts), SHORTEST)
    y = np.unique(corpus.targets, return_inverse=True)[1]
    data = Data(X, lengths, y)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(y, y))
    found = compared(MODELS, data, folds, N_WORDS, ("errors",), n_inner=3, rounds=2)["errors"]
    close("counts_spam", *report(y, found, MODELS[-1:]))


if __name__ == "__main__":
    main()

"""From text to 90 probabilities: TextCategorizer beside TfidfVectorizer + 90 logistic regressions, in one run.

Both are trained on the Reuters training documents and score the 3,299 test documents. scikit-learn's side is its
ordinary pipeline: TfidfVectorizer(sublinear_tf) and OneVsRestClassifier(LogisticRegression(liblinear)).
"""

from __future__ import annotations

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from _common import close, fastest, reuters
from textbayes import BayesLinearClassifier, TextCategorizer

BAR = 4.0


def main() -> None:
    corpus = reuters()
    train, test = corpus.train, corpus.test
    # Scoring time does not depend on how the weights came about, so one member without tuned thresholds will do.
    ours = TextCategorizer(model=BayesLinearClassifier(scale=10.0), rule="fixed", cv=2, n_jobs=-1)
    ours.fit(train.texts, train.encode()[0])
    theirs = make_pipeline(
        TfidfVectorizer(sublinear_tf=True), OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    )
    theirs.fit(train.texts, train.encode()[0])
    n = len(test.texts)
    rates = {}
    for name, model in (("textbayes", ours), ("scikit-learn", theirs)):
        seconds, proba = fastest(lambda model=model: model.predict_proba(test.texts), 7)
        rates[name] = n / seconds
        print(f"{name:14} {rates[name]:10,.0f} documents a second, {proba.shape[1]} probabilities each")
    ratio = rates["textbayes"] / rates["scikit-learn"]
    close("scoring", ratio >= BAR, f"{ratio:.1f}x TfidfVectorizer + 90 logistic regressions (bar {BAR:g}x)")


if __name__ == "__main__":
    main()

"""F1 against the number of words: each point as scikit-learn finds it, fold by fold; the choice; what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss

from textbayes import TermWeighting
from textbayes.core.errors import InputError
from textbayes.tune import sparsity_path


@pytest.fixture(scope="module")
def counts():
    """Counts of 12 words in 90 texts of two classes, four words of which differ between them."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2 == 1
    rate = np.where(y[:, None] & (np.arange(12) < 4), 1.2, 0.5)
    return sparse.csr_matrix(rng.poisson(rate)), np.where(y, "yes", "no")


def test_each_point_is_what_scikit_learn_finds_with_words_weighed_anew_in_each_fold(counts):
    X, y = counts
    fold = np.arange(90) // 2 % 3
    found = sparsity_path(X, y, weighting=TermWeighting("tfidf1"), n_points=6, cv=fold)
    for point in found.points[2:4]:
        proba = np.empty(90)
        for k in range(3):
            own = TermWeighting("tfidf1").fit(X[fold != k])
            theirs = LogisticRegression(C=point.scale, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=50_000)
            theirs.fit(own.transform(X[fold != k]), y[fold != k])
            proba[fold == k] = theirs.predict_proba(own.transform(X[fold == k]))[:, 1]
        decided = np.where(proba > 0.5, "yes", "no")
        assert point.macro_f1 == pytest.approx(f1_score(y, decided, average="macro"), abs=0.02)
        assert point.log_loss == pytest.approx(log_loss(y == "yes", proba), rel=0.01)
        theirs.fit(TermWeighting("tfidf1").fit_transform(X), y)
        assert abs(point.words - (np.abs(theirs.coef_) > 1e-6).sum()) <= 1


def test_the_sparsest_within_a_standard_error_of_the_best_is_chosen(counts):
    found = sparsity_path(*counts, n_points=8)
    f1 = [point.macro_f1 for point in found.points]
    enough = max(f1) - found.points[found.best].standard_error
    assert found.best == int(np.argmax(f1))
    assert f1[found.chosen] >= enough > max(f1[: found.chosen])
    words = [point.words for point in found.points]
    assert words[0] == 0
    assert words[-1] > words[found.chosen]
    marks = [row["mark"] for row in found.rows()]
    assert marks[found.best].startswith("best")
    assert marks[found.chosen].endswith("chosen")


def test_classes_labels_and_refusals(counts):
    X, y = counts
    classes = np.array(["a", "b", "c"])[np.arange(90) % 3]
    points = sparsity_path(X, classes, n_points=3).points
    assert all(0.0 <= point.micro_f1 <= 1.0 for point in points)
    assert points[0].log_loss == pytest.approx(np.log(3.0), abs=0.02)  # no words: as often as each class is
    many = sparsity_path(X, [["x"] if one == "yes" else ["x", "z"] for one in y], n_points=3)
    assert many.points[-1].words_per_label <= 12
    with pytest.raises(InputError, match="2 points or more"):
        sparsity_path(X, y, n_points=1)
    with pytest.raises(InputError, match="90 documents and labels 3"):
        sparsity_path(X, y[:3])

"""ThresholdClassifier: scikit-learn's own checks, all kinds of targets and classifiers, rare labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.decide import MaxF1, ThresholdClassifier, TopLabel, UnsureBand
from textbayes.tune import BayesLinearClassifierCV

LOGIT = LogisticRegression(solver="liblinear")


@pytest.fixture(scope="module")
def binary():
    return make_classification(400, 8, weights=[0.85], flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def multilabel():
    X, Y = make_multilabel_classification(200, 20, n_classes=5, n_labels=2, random_state=0)
    return X / X.std(axis=0) / 4, Y


def test_binary_equals_tuning_on_cross_validated_probabilities(binary):
    X, y = binary
    folds = StratifiedKFold(4)
    model = ThresholdClassifier(LOGIT, cv=folds).fit(X, y)
    proba = cross_val_predict(LOGIT, X, y, cv=folds, method="predict_proba")[:, 1]
    threshold = MaxF1().fit(proba, y).thresholds_
    assert model.rule_.thresholds_ == pytest.approx(threshold)
    all_data = LOGIT.fit(X, y).predict_proba(X)[:, 1]
    assert (model.predict(X) == (all_data > threshold)).all()
    assert model.decide(X).shape == (400, 1)
    assert f1_score(y, model.predict(X)) > f1_score(y, LOGIT.fit(X, y).predict(X))


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), LinearSVC(), KNeighborsClassifier(), RandomForestClassifier(20, random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("rule", ["max_f1", "fewest_errors", "micro_macro", "top_label"])
def test_any_classifier_with_any_target(estimator, rule, multilabel):
    X, Y = multilabel
    model = ThresholdClassifier(estimator, rule, cv=3).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert set(np.unique(model.predict(X))) <= {0, 1}
    names = np.array(["grain", "ship", "trade"])[Y[:, :3].argmax(axis=1)]
    model = ThresholdClassifier(estimator, rule, cv=3).fit(X, names)
    assert set(model.predict(X)) <= set(names)
    assert (model.predict(X) == names).mean() > 0.5


def test_sparse_and_listed_labels_are_the_same_as_an_array(multilabel):
    X, Y = multilabel
    model = ThresholdClassifier(LOGIT, cv=3)
    reference = clone(model).fit(X, Y).predict(X)
    assert (clone(model).fit(sparse.csr_array(X), sparse.csr_array(Y)).predict(sparse.csr_array(X)) == reference).all()
    assert (clone(model).fit(X, Y.tolist()).predict(X) == reference).all()


def test_texts_through_a_pipeline():
    texts = ["ship port", "corn wheat", "wheat ship", "corn", "port", "wheat"] * 5
    Y = np.array([["ship" in text, "wheat" in text] for text in texts], dtype=int)
    model = ThresholdClassifier(make_pipeline(TfidfVectorizer(), MultinomialNB()), cv=3).fit(texts, Y)
    assert (model.predict(texts) == Y).all()


def test_a_label_with_one_positive_or_none_or_all(multilabel):
    X, Y = multilabel
    Y = Y.copy()
    Y[:, 0], Y[:, 1], Y[:, 2] = 0, 0, 1
    Y[7, 0] = 1
    for estimator in (LOGIT, LinearSVC(), KNeighborsClassifier()):
        model = ThresholdClassifier(estimator, cv=3).fit(X, Y)
        predicted = model.predict(X)
        assert not predicted[:, :2].any()  # nothing says where the one positive of label 0 would lie
        assert predicted[:, 2].all()


def test_a_class_with_fewer_documents_than_folds(binary):
    X, _ = binary
    y = np.array(["b"] * 200 + ["c"] * 198 + ["a"] * 2)
    for estimator in (LogisticRegression(), LinearSVC()):
        assert set(ThresholdClassifier(estimator, cv=5).fit(X, y).predict(X)) <= {"a", "b", "c"}
        # Folds in order: the training part of the last one has no document of class a at all.
        assert set(ThresholdClassifier(estimator, cv=KFold(5)).fit(X, y).predict(X)) <= {"a", "b", "c"}


def test_prefit_learns_only_the_rule(binary):
    X, y = binary
    fitted = LOGIT.fit(X[:200], y[:200])
    weights = fitted.coef_.copy()
    model = ThresholdClassifier(fitted, cv="prefit").fit(X[200:], y[200:])
    assert model.estimator_ is fitted
    assert (fitted.coef_ == weights).all()
    expected = MaxF1().fit(fitted.predict_proba(X[200:])[:, 1], y[200:]).thresholds_
    assert model.rule_.thresholds_ == pytest.approx(expected)


def test_thresholds_can_be_averaged_over_folds(multilabel):
    X, Y = multilabel
    folds = KFold(3)
    model = ThresholdClassifier(LOGIT, cv=folds, pool="folds").fit(X, Y)
    parts = []
    for train, test in folds.split(X):
        proba = np.column_stack([LOGIT.fit(X[train], y[train]).predict_proba(X[test])[:, 1] for y in Y.T])
        parts.append(MaxF1().fit(proba, Y[test]).thresholds_)
    assert model.rule_.thresholds_ == pytest.approx(np.mean(parts, axis=0))
    with pytest.raises(NotSupportedError, match="no thresholds to average"):
        ThresholdClassifier(LOGIT, UnsureBand("max_f1"), pool="folds").fit(X, Y)


def test_rules_that_learn_nothing_cost_one_fit(binary):
    X, y = binary

    class Counting(LogisticRegression):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            Counting.fits += 1
            return super().fit(X, y, sample_weight)

    ThresholdClassifier(Counting(), "utility").fit(X, y)
    assert Counting.fits == 1
    ThresholdClassifier(Counting(), "max_f1", cv=4).fit(X, y)
    assert Counting.fits == 1 + 5


def test_fit_parameters_are_cut_to_each_fold(binary):
    X, y = binary
    weight = np.where(y == 1, 50.0, 1.0)
    heavy = ThresholdClassifier(LOGIT, "fixed").fit(X, y, sample_weight=weight)
    plain = ThresholdClassifier(LOGIT, "fixed").fit(X, y)
    assert heavy.predict(X).sum() > plain.predict(X).sum()
    ThresholdClassifier(LOGIT).fit(X, y, sample_weight=weight)
    ThresholdClassifier(LOGIT).fit(X, y, sample_weight=weight.tolist())


def test_weight_zero_means_absent(binary):
    X, y = binary
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    kept = weight > 0
    model = ThresholdClassifier(LOGIT).fit(X, y, sample_weight=weight)
    plain = ThresholdClassifier(LOGIT).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert model.rule_.thresholds_ == pytest.approx(plain.rule_.thresholds_)
    with pytest.raises(InputError, match="sample_weight is 0"):
        ThresholdClassifier(LOGIT).fit(X, y, sample_weight=y)


def test_multi_class_takes_the_most_probable_of_the_accepted():
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, weights=[0.7, 0.2], random_state=1)
    model = ThresholdClassifier(LogisticRegression()).fit(X, y)
    decisions, proba, predicted = model.decide(X), model.predict_proba(X), model.predict(X)
    for row in range(len(X)):
        among = np.flatnonzero(decisions[row]) if decisions[row].any() else np.arange(3)
        assert predicted[row] == among[proba[row, among].argmax()]
    abstaining = ThresholdClassifier(LogisticRegression(), TopLabel(0.6)).fit(X, y)
    assert (abstaining.decide(X).any(axis=1) == (proba.max(axis=1) >= 0.6)).all()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ThresholdClassifier(LinearSVC(), "expected_f1"), "believes probabilities but LinearSVC gives decision scores"),
        (ThresholdClassifier(LinearSVC(), "utility"), "CalibratedClassifierCV"),
        (ThresholdClassifier(LinearRegression()), "has no predict_proba or decision_function"),
        (ThresholdClassifier(LinearSVC(), method="predict_proba"), "has no predict_proba"),
        (ThresholdClassifier(LOGIT, "maxf1"), "unknown decision rule"),
        (ThresholdClassifier(LOGIT, pool="all"), "pool='all'"),
        (ThresholdClassifier(LOGIT, cv=ShuffleSplit(1)), "in no test part"),
        (ThresholdClassifier(LOGIT, cv=RepeatedKFold(n_splits=2)), "test parts of cv overlap"),
    ],
)
def test_what_cannot_be_done_is_refused(model, message, binary):
    with pytest.raises(InputError, match=message):
        model.fit(*binary)


def test_nested_parameters_can_be_searched():
    model = ThresholdClassifier(LOGIT, MaxF1()).set_params(rule__fbr=0.3, estimator__C=2.0)
    assert (model.rule.fbr, model.estimator.C) == (0.3, 2.0)


def by_heart(seed=0):
    """Rows of noise, each four times, with labels by lot; and the row that each is a copy of."""
    rng = np.random.default_rng(seed)
    rows = np.tile(np.arange(40), 4)
    return rng.normal(size=(40, 30))[rows], (rng.permutation(40) % 2)[rows], rows


class Watched(LogisticRegression):
    """Counts how many rows it is asked about that it has learnt a copy of."""

    n_known = 0

    def fit(self, X, y, sample_weight=None):
        self.known_ = {row.tobytes() for row in X}
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        Watched.n_known += sum(row.tobytes() in self.known_ for row in X)
        return super().predict_proba(X)


@pytest.mark.parametrize("cv", [5, GroupKFold(4)])
def test_a_group_is_in_one_fold(cv):
    X, y, rows = by_heart()
    Watched.n_known = 0
    ThresholdClassifier(Watched(), cv=cv).fit(X, y, groups=rows)
    assert Watched.n_known == 0
    if cv == 5:
        ThresholdClassifier(Watched(), cv=cv).fit(X, y)
        assert Watched.n_known > 100


def test_groups_reach_a_classifier_that_folds_by_itself():
    X, y, rows = by_heart()
    inner = BayesLinearClassifierCV(prior="gaussian")
    model = ThresholdClassifier(inner, rule="fixed").fit(X, y, groups=rows)
    expected = BayesLinearClassifierCV(prior="gaussian").fit(X, y, groups=rows)
    assert model.estimator_.scale_ == pytest.approx(expected.scale_)
    assert model.estimator_.scale_ < BayesLinearClassifierCV(prior="gaussian").fit(X, y).scale_
    with pytest.raises(InputError, match="39 groups were given for 160 documents"):
        ThresholdClassifier(inner).fit(X, y, groups=range(39))

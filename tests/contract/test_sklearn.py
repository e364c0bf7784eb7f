"""scikit-learn's own checks of every estimator of the package; a new one is checked by being there.

``parametrize_with_checks`` leaves out every check for an estimator that takes no numbers, so for estimators of texts
those that need no data are named here; the others feed arrays of numbers, which an estimator of texts refuses. What
they look at is tested with texts in tests/unit (categorizer, text/test_vectorize.py, text/test_hashing.py).
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from types import ModuleType
from typing import Any

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import textbayes
from textbayes import (
    BayesCountClassifier,
    BayesLinearClassifier,
    BayesLinearClassifierCV,
    BayesMultinomialClassifier,
    BayesOnlineClassifier,
    HashingTextVectorizer,
    SelectWords,
    SoftClusters,
    TermWeighting,
    TextVectorizer,
    ThresholdClassifier,
)
from textbayes.models.counts import count_models
from textbayes.text.views import TextViews, View, ViewsWeighting

# What to check beside, or where it takes too long or lacks an argument instead of, an estimator as it comes.
CASES: dict[type[BaseEstimator], list[BaseEstimator]] = {
    BayesCountClassifier: [BayesCountClassifier(name) for name in count_models.names()],
    # Weights equal repetition at the optimum only, so the checks run close to it.
    BayesLinearClassifier: [
        BayesLinearClassifier(tol=1e-11),
        BayesLinearClassifier(link="probit", prior="gaussian", tol=1e-11),
    ],
    BayesLinearClassifierCV: [BayesLinearClassifierCV(scales=3, cv=2, tol=1e-11)],
    BayesMultinomialClassifier: [
        BayesMultinomialClassifier(tol=1e-11, max_iter=1000),
        BayesMultinomialClassifier(prior="gaussian", inference="newton", tol=1e-11),
    ],
    BayesOnlineClassifier: [
        BayesOnlineClassifier(),
        BayesOnlineClassifier(covariance="full", passes=2),
        BayesOnlineClassifier(covariance="low_rank", rank=2),
    ],
    SelectWords: [SelectWords(), SelectWords("pearson", k=3)],
    SoftClusters: [SoftClusters(n_clusters=3, max_iter=20)],
    TermWeighting: [TermWeighting(), TermWeighting("ltc", norm=None), TermWeighting("tfidf")],
    TextViews: [TextViews([View("words", TextVectorizer(), TermWeighting("binary"))])],
    ViewsWeighting: [],  # reads blocks of columns whose number is fixed: tests/unit/text/test_views.py
    ThresholdClassifier: [
        ThresholdClassifier(LogisticRegression(), cv=2),
        ThresholdClassifier(GaussianNB(), "utility"),
        ThresholdClassifier(LinearSVC(), "fewest_errors", cv=3),
    ],
}


# They need PyTorch, and have no estimator.
OF_EXTRAS = ("textbayes.models.encoder.body", "textbayes.models.encoder.network")


def public_estimators(package: ModuleType) -> list[type[BaseEstimator]]:
    """Every class of the package that is fitted and then predicts or transforms, as ``sklearn.utils.all_estimators``.

    Names with an underscore are private. Decision rules decide and have a contract of their own.
    """
    found = set()
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if any(part.startswith("_") for part in module.name.split(".")) or module.name in OF_EXTRAS:
            continue
        for name, item in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            ours = issubclass(item, BaseEstimator) and item.__module__.startswith(f"{package.__name__}.")
            works = hasattr(item, "fit") and (hasattr(item, "predict") or hasattr(item, "transform"))
            if ours and works and not name.startswith("_") and not inspect.isabstract(item):
                found.add(item)
    return sorted(found, key=lambda item: item.__name__)


EVERY = [case for found in public_estimators(textbayes) for case in (CASES[found] if found in CASES else [found()])]
OF_TEXTS = [case for case in EVERY if get_tags(case).input_tags.string]
OF_NUMBERS = [case for case in EVERY if not get_tags(case).input_tags.string]
WITHOUT_DATA = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_valid_tag_types",
]


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks that ask for what an estimator rightly does otherwise, and why."""
    if isinstance(estimator, BayesCountClassifier):
        return {"check_decision_proba_consistency": "predicts numbers below zero, which are no counts and are refused"}
    if isinstance(estimator, BayesOnlineClassifier):
        # That weights equal repetition in place is tested in tests/unit/models/online/test_classifier.py.
        reason = "compares two orders of the documents; what is learnt online depends on their order"
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    if isinstance(estimator, SelectWords) and estimator.score_function == "pearson":
        reason = "the tag positive_only speaks for the default score; pearson takes values of either sign"
        return dict.fromkeys(("check_positive_only_tag_during_fit", "check_fit_non_negative"), reason)
    if isinstance(estimator, ThresholdClassifier) and (
        hasattr(estimator.estimator, "decision_function") or estimator.rule == "utility"
    ):
        return {"check_classifiers_train": "asks for predict at decision_function > 0 or p > 0.5; the rule moves that"}
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # sklearn's look at a NaN target
@parametrize_with_checks(OF_NUMBERS, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", WITHOUT_DATA)
@pytest.mark.parametrize("estimator", OF_TEXTS, ids=repr)
def test_estimator_checks_without_data(estimator, name):
    # Not all releases have every check; those that a release has must pass.
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("estimator", OF_TEXTS, ids=repr)
def test_tags_say_that_the_input_is_text(estimator):
    tags = get_tags(estimator)
    assert not tags.input_tags.two_d_array
    assert tags.requires_fit == (not isinstance(estimator, HashingTextVectorizer))


def test_every_estimator_that_the_package_names_is_checked():
    named = [getattr(textbayes, name) for name in textbayes.__all__]
    named = [item for item in named if inspect.isclass(item) and issubclass(item, BaseEstimator)]
    assert set(named) <= {type(case) for case in EVERY}
    assert {"TextCategorizer", "TextVectorizer"} <= {type(case).__name__ for case in OF_TEXTS}


def test_a_new_file_with_an_estimator_is_found(tmp_path, monkeypatch):
    (tmp_path / "toybayes" / "models").mkdir(parents=True)
    for folder in ("", "models"):
        (tmp_path / "toybayes" / folder / "__init__.py").touch()
    base = "from sklearn.base import BaseEstimator\nclass {}(BaseEstimator):\n    def fit(self, X): ...\n"
    predicts = "    def predict(self, X): ...\n"
    (tmp_path / "toybayes" / "models" / "new.py").write_text(base.format("New") + predicts)
    (tmp_path / "toybayes" / "models" / "rule.py").write_text(base.format("OnlyFits"))
    (tmp_path / "toybayes" / "models" / "_own.py").write_text(base.format("Own") + predicts)
    monkeypatch.syspath_prepend(tmp_path)
    toy = importlib.import_module("toybayes")
    assert [found.__name__ for found in public_estimators(toy)] == ["New"]
    for name in [name for name in sys.modules if name.split(".")[0] == "toybayes"]:
        monkeypatch.delitem(sys.modules, name)

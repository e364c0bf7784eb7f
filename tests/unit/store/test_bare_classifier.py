"""A ``BayesLinearClassifier`` by itself in a model file."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from textbayes import BayesLinearClassifier, BayesOnlineClassifier, load_model, save_model
from textbayes.core.errors import InputError
from textbayes.store import load_categorizer


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    X = sparse.random(80, 12, 0.4, random_state=1, format="csr")
    return X, rng.choice(["a", "b", "c"], 80)


@pytest.mark.parametrize(
    "settings", [{}, {"prior": "gaussian", "intervals": True, "scale": 3.0}], ids=["mode", "intervals"]
)
@pytest.mark.parametrize("labels", ["multiclass", "binary", "multilabel"])
def test_saved_and_loaded_to_the_bit(matrix, settings, labels, tmp_path):
    X, y = matrix
    given = {"multiclass": y, "binary": y == "a", "multilabel": (y[:, None] == ["a", "b"]).astype(int)}[labels]
    model = BayesLinearClassifier(**settings).fit(X, given)
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if settings:
        for one, other in zip(again.predict_interval(X), model.predict_interval(X), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(again.fit(X, given).coef_, model.coef_)


def test_commands_say_that_they_need_texts(matrix, tmp_path):
    X, y = matrix
    save_model(BayesLinearClassifier().fit(X, y), tmp_path / "m.tb")
    with pytest.raises(InputError, match="which knows matrices and no texts"):
        load_categorizer(tmp_path / "m.tb")


def test_other_estimators_are_refused_with_what_can_be_saved(matrix, tmp_path):
    X, y = matrix
    with pytest.raises(InputError, match="a BayesOnlineClassifier cannot be saved; pass a fitted TextCategorizer"):
        save_model(BayesOnlineClassifier().fit(X, y), tmp_path / "m.tb")


def test_a_pipeline_is_refused_with_what_to_save_instead(matrix, tmp_path):
    X, y = matrix
    pipeline = make_pipeline(MaxAbsScaler(), BayesLinearClassifier()).fit(X, y)
    with pytest.raises(
        InputError, match=r"Pipeline cannot be saved.*TextCategorizer.*save_model\(pipeline\[-1\], path\)"
    ):
        save_model(pipeline, tmp_path / "model.tb")

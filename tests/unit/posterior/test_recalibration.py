"""Beta and isotonic maps: against scikit-learn, on probabilities whose error is known, and in a categorizer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from textbayes import TextCategorizer, load_model, save_model
from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.export.collect import scoring_of
from textbayes.posterior.recalibration import Recalibration
from textbayes.report.wording import settings_in_words

N = 20_000
ALL = np.ones((N, 1), dtype=bool)


@pytest.fixture(scope="module")
def said():
    """Overconfident probabilities of one label: the true log-odds are 0.6 ln p − 0.4 ln(1 − p) − 0.5."""
    rng = np.random.default_rng(1)
    p = rng.beta(0.8, 0.8, size=(N, 1))
    truth = special.expit(0.6 * np.log(p) - 0.4 * np.log1p(-p) - 0.5)
    return p, truth, rng.random((N, 1)) < truth


def test_beta_finds_the_map_that_made_the_labels_as_a_logistic_regression_does(said):
    p, truth, y = said
    found = Recalibration.fit("beta", p, y, ALL)
    np.testing.assert_allclose(found.coefficients[0], [0.6, 0.4, -0.5], atol=0.05)
    np.testing.assert_allclose(found.apply(p, "multilabel"), truth, atol=0.02)
    theirs = LogisticRegression(C=np.inf, tol=1e-8).fit(np.hstack([np.log(p), -np.log1p(-p)]), y[:, 0])
    ours = found.coefficients[0]  # the prior moves little among 20,000 texts
    np.testing.assert_allclose(ours, [*theirs.coef_[0], theirs.intercept_[0]], atol=2e-3)


def test_isotonic_is_that_of_scikit_learn_between_bounds(said):
    p, truth, y = said
    found = Recalibration.fit("isotonic", p, y, ALL)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p[:, 0], y[:, 0])
    grid = np.linspace(0.0, 1.0, 201)[:, None]
    np.testing.assert_allclose(found.apply(grid, "binary")[:, 0], np.clip(theirs.predict(grid[:, 0]), 5e-5, 1 - 5e-5),
                               atol=1e-5)  # fmt: skip
    assert np.abs(found.apply(p, "binary") - truth).mean() < 0.02


@pytest.mark.parametrize("method", ["beta", "isotonic"])
def test_maps_grow_weights_are_repeats_and_rare_labels_keep_theirs(method, said):
    p, _, y = (one[:3_000] for one in said)
    grid = np.linspace(0.0, 1.0, 501)[:, None]
    use = np.ones_like(y)
    mapped = Recalibration.fit(method, p, y, use).apply(grid, "multilabel")
    assert (np.diff(mapped[:, 0]) >= 0.0).all()
    assert mapped[0, 0] > 0.0
    assert mapped[-1, 0] < 1.0
    weight = np.random.default_rng(0).integers(0, 3, len(p)).astype(float)
    rows = np.repeat(np.arange(len(p)), weight.astype(int))
    weighed = Recalibration.fit(method, p, y, use, weight).apply(grid, "multilabel")
    np.testing.assert_allclose(
        weighed, Recalibration.fit(method, p[rows], y[rows], use[rows]).apply(grid, "multilabel"), atol=1e-3
    )
    few = np.zeros_like(y)
    few[:5] = True
    np.testing.assert_allclose(Recalibration.fit(method, p, few, use).apply(grid, "multilabel"), grid, atol=1e-9)
    one = Recalibration.fit(method, np.hstack([p, p, 1 - p]), np.hstack([y, few, ~y]), np.ones((len(p), 3), dtype=bool))
    three = np.random.default_rng(0).dirichlet([1, 1, 1], 9)
    np.testing.assert_allclose(one.apply(three, "multiclass").sum(axis=1), 1.0)


def test_files_of_maps_that_do_not_grow_are_refused():
    knots = Recalibration("isotonic", None, np.array([0, 2]), np.array([0.5, 0.1]), np.array([0.1, 0.2]))
    for broken in (
        knots,
        knots._replace(knots=np.array([0.1, 0.5]), values=np.array([0.2, 0.1])),
        knots._replace(starts=np.array([0, 3])),
        Recalibration("isotonic"),
        Recalibration("beta", np.array([[-1.0, 1.0, 0.0]])),
    ):
        with pytest.raises(ValueError, match="map"):
            broken.check_state()
    knots._replace(knots=np.array([0.1, 0.5])).check_state()


def spelt(stem: str, number: int) -> str:
    """A word without digits."""
    return f"{stem}q" + "".join("bcdfghjklm"[int(digit)] for digit in str(number)) + "a"


def texts_of(kind: str, n: int) -> tuple[list[str], list]:
    """Texts of ten words, some of them of their labels, a sixth of which are wrong."""
    rng = np.random.default_rng(7)
    names = ["a", "b"] if kind == "binary" else ["a", "b", "c"]
    texts, labels = [], []
    for _ in range(n):
        own = [name for name in names if rng.random() < 0.4] if kind == "multilabel" else [str(rng.choice(names))]
        shown = own if rng.random() > 1 / 6 else [str(rng.choice(names))]
        words = [spelt(name, rng.integers(12)) for name in shown for _ in range(3)]
        texts.append(" ".join([*words, *(spelt("w", rng.integers(60)) for _ in range(7))]))
        labels.append(own if kind == "multilabel" else own[0])
    return texts, labels


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("method", ["beta", "isotonic"])
def test_probabilities_are_mapped_saved_and_explained(kind, method, tmp_path):
    texts, labels = texts_of(kind, 1_100)
    naive = "counts:model=multinomial"  # overconfident
    plain = TextCategorizer(model=naive).fit(texts, labels)
    model = TextCategorizer(model=naive, calibrate=method).fit(texts, labels)
    assert model.held_out_["log_loss"] < plain.held_out_["log_loss"]
    assert model.held_out_["ece"] < plain.held_out_["ece"]
    new, columns = texts[:20], slice(1, None) if kind == "binary" else slice(None)
    before = plain.predict_proba(new)
    after = model.model_.recalibration.apply(before[:, columns], kind)
    np.testing.assert_allclose(model.predict_proba(new)[:, columns], after, atol=1e-12)
    save_model(model, tmp_path / "m.tb")
    loaded = load_model(tmp_path / "m.tb")
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    low, high = loaded.predict_interval(new)
    assert ((low <= after + 1e-12) & (after <= high + 1e-12)).all()
    for name in model.classes_:
        [one] = loaded.explain(new[0], labels=[str(name)])
        [old] = plain.explain(new[0], labels=[str(name)])
        place = list(model.classes_).index(name)
        assert one.probability == pytest.approx(model.predict_proba(new[:1])[0, place])
        assert one.uncalibrated == pytest.approx(before[0, place])
        assert one.log_odds == pytest.approx(old.log_odds)
        assert one.base + one.other_words + sum(part.log_odds for part in one.contributions) == pytest.approx(
            one.log_odds
        )
        assert any("before calibration" in note for note in one.notes)


def test_linear_models_score_the_same_by_themselves_and_as_a_whole():
    texts, labels = texts_of("multiclass", 400)
    model = TextCategorizer(model="linear:prior=gaussian", calibrate="beta").fit(texts, labels)
    whole = model.model_.proba(model.features(texts[:30]))
    np.testing.assert_allclose(model.predict_proba(texts[:30]), whole, atol=1e-10)
    automatic = TextCategorizer(calibrate="beta", budget="quick").fit(texts, labels)
    assert automatic.model_.recalibration is not None


def test_held_out_figures_do_not_profit_from_the_map():
    """Labels that no text tells of: an isotonic map fitted to the same texts would seem to know something."""
    rng = np.random.default_rng(0)
    texts = [" ".join(spelt("w", j) for j in rng.integers(200, size=12)) for _ in range(1_200)]
    labels = rng.choice(["no", "yes"], 1_200).tolist()
    model = TextCategorizer(model="linear:prior=gaussian", calibrate="isotonic").fit(texts, labels)
    assert model.held_out_["log_loss"] > np.log(2.0) - 0.002
    assert abs(model.held_out_["accuracy"] - 0.5) < 0.05


def test_refusals(tmp_path):
    texts, labels = texts_of("binary", 320)
    linear = "linear:prior=gaussian"
    with pytest.raises(InputError, match=r"needs 1,000 held-out texts and this training has 320.*'beta'"):
        TextCategorizer(model=linear, calibrate="isotonic").fit(texts, labels)
    with pytest.raises(InputError, match=r"needs 300 held-out texts.*calibrate=True"):
        TextCategorizer(model=linear, calibrate="beta").fit(texts[:100], labels[:100])
    with pytest.raises(InputError, match="'platt' is not known"):
        TextCategorizer(model=linear, calibrate="platt").fit(texts, labels)
    with pytest.raises(NotSupportedError, match="leave out calibrate"):
        TextCategorizer(model="linear:inference=gibbs", calibrate="beta").fit(texts, labels)
    model = TextCategorizer(model=linear, calibrate="beta").fit(texts, labels)
    with pytest.raises(NotSupportedError, match="beta calibration"):
        scoring_of(model)
    meta, arrays = model.to_state()
    arrays = {name: -array if "coefficients" in name else array for name, array in arrays.items()}
    with pytest.raises(ModelFileError, match="not negative"):
        TextCategorizer.from_state(meta, arrays)
    assert ("Calibration", "beta, by label") in settings_in_words(model)


def test_a_file_with_steps_for_another_number_of_labels_is_refused():
    texts, labels = texts_of("multiclass", 1_050)
    model = TextCategorizer(model="linear:prior=gaussian", calibrate="isotonic").fit(texts, labels)
    meta, arrays = model.to_state()
    [name] = [one for one in arrays if one.endswith("recalibration.starts")]
    for wrong in (arrays[name][[0, 1, -1]], np.append(arrays[name], arrays[name][-1] + 1)):
        with pytest.raises(ModelFileError, match=r"recalibration\.starts"):
            TextCategorizer.from_state(meta, arrays | {name: wrong})

"""Texts that are there several times: none is learnt from where a copy of it is held out, wherever folds are made."""

import numpy as np
import pytest

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.member_scores import setting_of
from textbayes.categorizer.prepare import prepare
from textbayes.categorizer.train import TrainingData, prepared_members
from textbayes.core.folds import stratified_folds
from textbayes.core.labels import encode_labels
from textbayes.core.progress import silent
from textbayes.knowledge import WordPriors
from textbayes.store import load_model, save_model
from textbayes.text.copies import Copies
from textbayes.tune import BayesLinearClassifierCV

N_TEXTS, N_TIMES = 60, 5


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(0)
    return np.array(["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)) for _ in range(800)])


def noise(words, seed, changed=False):
    """Texts of random words, each several times, with labels by lot that copies share."""
    rng = np.random.default_rng(seed)
    originals = rng.choice(words, (N_TEXTS, 50))
    texts = []
    for number in range(N_TIMES):
        for one in originals:
            copy = one.copy()
            if changed and number:
                copy[rng.integers(50)] = rng.choice(words)
            texts.append(" ".join(copy))
    return texts, np.tile(rng.permutation(N_TEXTS) % 2, N_TIMES).tolist()


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({"budget": "quick"}, False),
        ({"budget": "quick"}, True),
        ({"preset": "linear"}, False),
        ({"model": "counts:model=multinomial"}, True),
    ],
)
def test_on_noise_held_out_accuracy_is_that_of_chance(words, settings, changed):
    found = []
    for seed in range(3):
        texts, labels = noise(words, seed, changed)
        model = TextCategorizer(**settings).fit(texts, labels)
        n_copies = N_TEXTS * (N_TIMES - 1)
        assert 0.95 * n_copies <= sum(model.copies_.values()) <= n_copies  # of near ones a few are missed
        assert changed or model.copies_["identical"] == n_copies
        found.append(model.held_out_["accuracy"])
    assert abs(np.mean(found) - 0.5) < 2.6 * np.sqrt(0.25 / (3 * N_TEXTS))  # of all texts by heart: 1


def test_folds_are_as_many_as_without_copies(words):
    """Fewer than 300 texts have 20 folds, of which each has its share of the different texts."""
    texts, labels = noise(words, 1)
    once = TextCategorizer(budget="quick").fit(texts[:N_TEXTS], labels[:N_TEXTS])
    some = TextCategorizer(budget="quick").fit(texts[: N_TEXTS + 20], labels[: N_TEXTS + 20])
    assert once.copies_ == {"identical": 0, "near": 0}
    assert some.copies_ == {"identical": 20, "near": 0}
    assert some.choice_["n_folds"] == once.choice_["n_folds"] == 20


def test_texts_that_are_all_the_same_are_still_learnt_from():
    model = TextCategorizer().fit(["corn"] * 8, ["a", "b"] * 4)
    assert model.copies_ == {"identical": 7, "near": 0}
    assert model.predict_proba(["corn"])[0] == pytest.approx([0.5, 0.5], abs=0.05)


def test_a_label_whose_texts_are_all_copies_is_learnt_and_not_tested(words):
    rng = np.random.default_rng(4)
    texts = [" ".join(rng.choice(words[k * 100 : k * 100 + 150], 12)) for k in range(3) for _ in range(12)]
    labels = np.repeat(["a", "b", "c"], 12).tolist()
    texts, labels = texts + ["the one text of this label"] * 6, labels + ["d"] * 6
    for settings in ({"budget": "quick"}, {"preset": "linear"}):
        model = TextCategorizer(**settings).fit(texts, labels)
        assert model.predict(["the one text of this label"]).tolist() == ["d"]
        assert np.isfinite(model.held_out_["log_loss"])
        assert model.held_out_["accuracy"] > 0.5


def test_numbers_of_copies_are_in_the_model_file(words, tmp_path):
    texts, labels = noise(words, 2)
    model = TextCategorizer(preset="linear").fit(texts, labels)
    save_model(model, tmp_path / "m.tb")
    assert load_model(tmp_path / "m.tb").copies_ == model.copies_ == {"identical": 240, "near": 0}


def members(settings, texts, labels, copies, groups=None):
    """Members as they are after their scales were looked for."""
    copied = Copies(np.arange(len(texts)), 0, 0) if copies is None else Copies(copies, len(texts) - N_TEXTS, 0)
    ready = prepare(settings, TrainingData(texts, *encode_labels(labels), None, groups, copied), silent)
    return prepared_members(setting_of(ready.plan, ready.target), ready.source, silent)


def test_a_scale_is_looked_for_with_copies_in_one_fold(words):
    texts, labels = noise(words, 3)
    copies = np.tile(np.arange(N_TEXTS), N_TIMES)
    settings = TextCategorizer(model=BayesLinearClassifierCV(prior="gaussian", cv=4))
    scale = [float(np.squeeze(members(settings, texts, labels, one)[0].estimator.scale)) for one in (copies, None)]
    assert scale[0] < scale[1] / 2  # texts known by heart call for wide priors


def test_a_prior_is_weighed_with_copies_in_one_fold(words, monkeypatch):
    """The fold of each text, wherever a training asks for folds."""
    asked = []

    def watched(*args, **given):
        asked.append(stratified_folds(*args, **given))
        return asked[-1]

    for place in ("core.cross_validation",):
        monkeypatch.setattr(f"textbayes.{place}.stratified_folds", watched)
    texts, labels = noise(words, 5)
    prior = WordPriors([(words[0], "1", "for")])
    TextCategorizer(preset="linear", prior=prior, prior_weight="auto").fit(texts, labels)
    TextCategorizer(model="counts:model=dirichlet_poisson,beta=cv", cv=2).fit(texts, labels)
    assert len(asked) == 2 + 1 + 3  # the training, the prior; the training, and β in both folds and in all texts
    source = np.tile(np.arange(N_TEXTS), N_TIMES)
    for fold in asked[:3] + asked[-1:]:
        assert all(len(set(fold[source == text])) == 1 for text in range(N_TEXTS))
    assert all(len(fold) < len(texts) for fold in asked[3:5])


@pytest.mark.parametrize("settings", [{}, {"model": "counts"}])
def test_a_label_whose_texts_are_all_copies_is_not_given_to_other_texts(settings):
    """No fold can try it: it counts as one text, and its threshold is not that of twenty."""
    names = ("apple", "pear", "plum", "fig", "lime")
    texts = [f"{names[i % 5]} {names[i % 3]} garden number {'abcdefghij'[i % 10]}{'klmnopq'[i % 7]}" for i in range(30)]
    texts += [
        f"{names[i % 5]} {names[i % 4]} market number {'abcdefghij'[i % 10]}{'rstuvwx'[i % 7]}" for i in range(30)
    ]
    texts += ["mail delivery failed returning message to sender"] * 20
    labels = [["a"]] * 30 + [["b"]] * 30 + [["bounce"]] * 20
    model = TextCategorizer(**settings).fit(texts, labels)
    column = model.label_space_.class_names.index("bounce")
    new = [f"{one} {other} in the garden at the market" for one in names for other in names]
    assert not model.assess(new).decisions[:, column].any()


def test_beta_is_found_where_a_class_is_a_text_that_stands_often():
    texts = [f"apple garden {'abcdefgh'[i % 8]}" for i in range(10)] + [f"bank {'abcdefgh'[i % 8]}" for i in range(10)]
    texts += ["mail delivery failed"] * 6
    TextCategorizer(model="counts:beta=cv", cv=3).fit(texts, ["a"] * 10 + ["b"] * 10 + ["bounce"] * 6)

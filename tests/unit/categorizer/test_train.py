"""The automatic preset: views, members and pool chosen by the training texts."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer, load_model, save_model
from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.categorizer.summary import describe_choice
from textbayes.core.errors import InputError
from textbayes.inference.gibbs import Gibbs
from textbayes.models.base import SamplingCallback
from textbayes.models.linear.classifier import BayesLinearClassifier

TOPICS = {
    "grain": "wheat corn harvest farm straw crop barley oats",
    "money": "bank rate loan credit bond dollar euro yield",
    "oil": "crude barrel opec rig pump fuel drill diesel",
}
SHARED = [
    "report",
    "week",
    "chart",
    "market",
    "news",
    "today",
    "said",
    "year",
    "price",
    "rose",
    "fell",
    "the",
    "a",
    "of",
]


def draw(seed: int, n_docs: int, kind: str) -> tuple[list[str], list]:
    rng = np.random.default_rng(seed)
    names, texts, labels = list(TOPICS), [], []
    for i in range(n_docs):
        own = [name for name in names if rng.random() < 0.4] if kind == "multilabel" else [names[i % 3]]
        words = [*rng.choice(SHARED, 12), *(w for name in own for w in rng.choice(TOPICS[name].split(), 3))]
        rng.shuffle(words)
        texts.append(" ".join(words[:3]) + "\n" + " ".join(words[3:]))
        labels.append(own)
    if kind == "binary":
        return texts, ["grain" if own[0] == "grain" else "other" for own in labels]
    return texts, labels if kind == "multilabel" else [own[0] for own in labels]


@pytest.fixture(scope="module", params=["binary", "multiclass", "multilabel"])
def fitted(request):
    return request.param, TextCategorizer(preset="auto", cv=3).fit(*draw(0, ENOUGH_TEXTS, request.param))


def test_explanations_add_up_over_the_views(fitted):
    kind, model = fitted
    texts, _ = draw(1, 5, kind)
    for text, proba in zip(texts, model.assess(texts).proba, strict=True):
        told = {one.label: one for one in model.explain(text)}
        names = model.label_space_.column_names
        for name, p in zip(names, proba, strict=True):
            if name in told:
                one = told[name]
                known = one.base + (one.other_labels or 0.0)
                assert known + sum(part.log_odds for part in one.contributions) == pytest.approx(one.log_odds)
                assert 1.0 / (1.0 + np.exp(-one.log_odds)) == pytest.approx(p, abs=1e-9)
    names = model.vectorizer_.get_feature_names_out()
    assert {"wheat", "stem:wheat", "head:wheat"} <= set(names)


def test_a_loaded_model_says_the_same_and_is_fitted_again_alike(fitted, tmp_path):
    kind, model = fitted
    new, _ = draw(2, 20, kind)
    save_model(model, tmp_path / "m.tb")
    loaded = load_model(tmp_path / "m.tb")
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert loaded.choice_ == model.choice_
    again = loaded.fit(*draw(0, ENOUGH_TEXTS, kind))
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_a_word_is_one_reason_whatever_the_views_that_read_it(fitted):
    kind, model = fitted
    texts, _ = draw(3, 4, kind)
    seen: set[str] = set()
    for text in texts:
        labels = model.label_space_.class_names
        for merged, raw in zip(model.explain(text, labels), model.explain(text, labels, merge=False), strict=True):
            words = [part.word for part in merged.contributions]
            assert len(set(words)) == len(words)
            assert not any(":" in word for word in words)
            by_name = {part.word: part.log_odds for part in raw.contributions}
            seen |= set(by_name)
            for part in merged.contributions:
                if part.word in TOPICS["money"].split():  # each is its own stem
                    views = [by_name.get(f"{prefix}{part.word}", 0.0) for prefix in ("", "stem:", "head:")]
                    assert part.log_odds == pytest.approx(sum(views))
                    assert part.occurrences == text.split().count(part.word)
            known = merged.base + (merged.other_labels or 0.0)
            total = known + sum(part.log_odds for part in merged.contributions)
            assert total == pytest.approx(merged.log_odds) == raw.log_odds
    assert any(name.startswith("stem:") for name in seen)


def test_rivals_share_the_probability(fitted):
    kind, model = fitted
    texts, _ = draw(4, 3, kind)
    for text in texts:
        for told in model.explain(text, model.label_space_.class_names):
            assert 1.0 / (1.0 + np.exp(-told.log_odds)) == pytest.approx(told.probability, rel=1e-9)
            if kind == "multilabel":
                assert told.rivals == ()
                continue
            assert {told.label, *(rival.label for rival in told.rivals)} == set(model.label_space_.class_names)
            assert told.probability + sum(rival.probability for rival in told.rivals) == pytest.approx(1.0)
            ranked = [rival.probability for rival in told.rivals]
            assert ranked == sorted(ranked, reverse=True)
            for rival in told.rivals:
                (own,) = model.explain(text, [rival.label])
                assert (own.probability, own.log_odds) == pytest.approx((rival.probability, rival.log_odds), abs=1e-9)


def test_mean_parts_of_new_texts_add_up_to_their_mean_log_odds(fitted):
    kind, model = fitted
    texts, _ = draw(5, 6, kind)
    names = model.label_space_.class_names
    found = model.mean_parts(texts, k=None)
    assert list(found) == names
    for name in names:
        told = [one for text in texts for one in model.explain(text, [name])]
        known = [one.base + (one.other_labels or 0.0) for one in told]
        expected = np.mean([one.log_odds for one in told]) - np.mean(known)
        assert sum(one.contribution for one in found[name]) == pytest.approx(expected)
        for one in found[name]:
            assert one.part * one.texts == pytest.approx(one.contribution * len(texts))
            if one.word in TOPICS["oil"].split():
                assert one.texts == sum(one.word in text.split() for text in texts)
    (few,) = model.mean_parts(texts, ["grain"], 6).values()
    signs = [one.contribution > 0.0 for one in few]
    assert signs == [True] * 4 + [False] * 2
    assert few[0] == max(found["grain"], key=lambda one: one.contribution)
    assert model.mean_parts([], ["grain"]) == {"grain": []}
    with pytest.raises(InputError, match="label 'no' is not known"):
        model.mean_parts(texts, ["no"])


def test_words_of_a_label_are_merged_and_ranked_by_what_they_add(fitted):
    kind, model = fitted
    rows = model.label_words("grain", 8)
    words = [row.word for row in rows]
    assert set(words[:3]) <= set(TOPICS["grain"].split())
    assert len(set(words)) == 8
    first = next(row for row in rows if row.word in ("wheat", "corn", "crop", "farm", "straw"))  # their own stems
    column = model.label_space_.column_names.index("grain") if kind != "binary" else 0
    sign = 1.0 if "grain" in model.label_space_.column_names else -1.0
    names, weights = model.vectorizer_.get_feature_names_out(), sign * model.model_.word_weights().weights[column]
    raw = {name: weight for name, weight in zip(names, weights, strict=True) if weight != 0.0}
    factors = {"": 1.0, "stem:": 1.0, "head:": 0.5}
    expected = sum(factor * raw.get(view + first.word, 0.0) for view, factor in factors.items())
    stems = {word for word in raw if word.startswith(first.word) and " " not in word}
    assert stems <= {first.word}, "the word has one form, so that its weight is a plain sum"
    assert first.weight == pytest.approx(expected)
    texts, _ = draw(0, ENOUGH_TEXTS, kind)
    assert first.texts == sum(first.word in text.split() for text in texts)
    mean = dict(zip(model.vectorizer_.get_feature_names_out(), model.weighting_.mean_weights(), strict=True))
    views = [view + first.word for view in factors if view + first.word in raw]
    assert first.contribution == pytest.approx(sum(raw[name] * mean[name] for name in views))


def test_top_words_shows_stems_as_whole_words(fitted):
    _, model = fitted
    names = set(model.vectorizer_.get_feature_names_out())
    found = [word for word, _ in model.top_words("grain", None)]
    assert not any(word.startswith(("stem:", "head:")) for word in found)
    assert any(f"stem:{word.removesuffix(' (stem)')}" in names for word in found if word.endswith(" (stem)"))


def test_word_intervals_show_stems_as_whole_words():
    texts = ["companies parties", "parties", "rising rates", "rates rising"] * 6
    sampler = Gibbs(chains=2, warmup=20, max_draws=100, target_ess=10, max_r_hat=3.0)
    for settings in ({"intervals": True}, {"inference": sampler}):
        classifier = BayesLinearClassifier(prior="gaussian", **settings)
        model = TextCategorizer(model=classifier, cv=2, intervals="inference" not in settings)
        model.fit(texts, ["yes", "yes", "no", "no"] * 6)
        assert {one.word for one in model.word_intervals("yes")} == {"companies", "parties", "rising", "rates"}
        assert set(model.word_intervals("yes", as_frame=True)["word"]) == {"companies", "parties", "rising", "rates"}
        stems = {one.word for one in model.word_intervals("yes", whole=False)}
        assert stems == set(model.vectorizer_.get_feature_names_out()) >= {"compani", "parti"}


def test_the_pool_is_described_by_its_own_members(fitted):
    _, model = fitted
    for member in model.choice_["members"]:
        assert member["name"] in model.weights_description


def test_a_word_that_several_views_read_is_known_once(fitted):
    _, model = fitted
    known = model.assess(["wheat", "zyzzyva", "", "the wheat"]).known_words.tolist()
    assert known[:3] == [1, 0, 0]
    assert known[3] <= 3, "two words and their pair"


def test_labels_of_one_text_and_of_all_texts_are_believed_as_far_as_they_go():
    for seed in range(5):
        texts, labels = draw(seed, 60, "multilabel")
        labels = [[*own, "all", *(["rare"] if i == 7 else [])] for i, own in enumerate(labels)]
        model = TextCategorizer().fit(texts, labels)
        new, _ = draw(seed + 100, 60, "multilabel")
        proba = dict(zip(model.classes_, model.predict_proba(new).T, strict=True))
        assert proba["all"].min() > 0.9
        assert np.mean(proba["rare"]) < 0.1
        assert np.mean(model.predict(new)[:, list(model.classes_).index("rare")]) < 0.2


def test_a_gap_among_the_texts_is_named():
    with pytest.raises(InputError, match="document 1 is a NoneType, not a str; leave it out or pass ''"):
        TextCategorizer().fit(["wheat corn", None, "bank"], ["a", "b", "b"])


@pytest.mark.parametrize("seed", [0, 2, 4])  # of eight, those whose held-out texts speak for no member
def test_a_model_that_could_learn_nothing_knows_its_words_all_the_same(seed):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i:03d}" for i in range(200)])
    texts = [" ".join(rng.choice(words, 15)) for _ in range(100)]
    model = TextCategorizer(budget="quick", n_jobs=1).fit(texts, np.array(["a", "b"])[rng.integers(2, size=100)])
    told = model.assess(texts)
    assert (told.known_words > 0).all()
    assert "No model was better than the label frequencies" in describe_choice(model.choice_)
    assert "Left out" not in describe_choice(model.choice_)
    assert np.ptp(told.proba) < 0.02


class Remembering(SamplingCallback):
    """Keeps the result of every fold, as a folder of a sampling run does."""

    def __init__(self) -> None:
        self.folds = {}

    def recall(self, fold):
        return self.folds.get(fold)

    def finish(self, fold, result):
        self.folds[fold] = result


def test_a_sampling_run_leaves_an_automatic_training_alone():
    """Its members do not sample: nothing is resumed, and none is given the folds of another."""
    texts = [f"{words} report {number}" for number in range(60) for words in ("wheat corn", "bank rates")]
    labels, folder = ["grain", "money"] * 60, Remembering()
    plain, watched = TextCategorizer().fit(texts, labels), TextCategorizer().fit(texts, labels, sampling=folder)
    assert folder.folds == {}
    np.testing.assert_array_equal(watched.predict_proba(texts), plain.predict_proba(texts))

"""What an automatic training tries, and what it keeps when it is interrupted."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer
from textbayes.categorizer.automatic import labels_to_thin, rare_threshold
from textbayes.categorizer.held_out import ENOUGH_TEXTS, HeldOut
from textbayes.categorizer.plan import auto_plan
from textbayes.categorizer.reading import has_headlines, language_of, read_views
from textbayes.categorizer.scorer import some_other_label
from textbayes.categorizer.summary import describe_choice
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace

GERMAN = ["Der Preis von Weizen ist im letzten Jahr stark gestiegen.", "Die Bank hat ihre Zinsen erneut gesenkt."] * 20
CHINESE = ["小麦价格去年大幅上涨", "银行再次下调利率"] * 20
TITLED = ["Wheat up\n" + "the price of wheat rose again this week, said the farmers of the valley " * 3] * ENOUGH_TEXTS


def test_views_follow_the_language():
    views, blocks = read_views(GERMAN)
    assert language_of(GERMAN).name == "german"
    assert [view.name for view in views.views] == ["words", "stem"]
    assert "stem:preis" in views.get_feature_names_out()
    assert not any(name.split(":")[-1] in ("der", "die") for name in views.get_feature_names_out() if ":" in name)
    assert [block.shape[0] for block in blocks] == [40, 40]
    views, _ = read_views(CHINESE)
    assert [view.name for view in views.views] == ["words"]
    assert "银行" in views.get_feature_names_out()


def test_first_lines_are_read_where_they_stand_for_more():
    assert has_headlines(TITLED)
    assert not has_headlines(GERMAN)
    assert [view.name for view in read_views(TITLED)[0].views] == ["words", "stem", "head"]


@pytest.mark.parametrize(
    ("n_texts", "names", "pairs", "read_as"),
    [
        (99, ["words", "stem"], set(), (" words and ", " word stems.")),
        (ENOUGH_TEXTS - 1, ["words", "stem"], {"of wheat"}, (" words and word pairs", " word stems.")),
        (
            ENOUGH_TEXTS,
            ["words", "stem", "head"],
            {"of wheat", "stem:wheat rose"},
            (" words and word pairs", " word stems and stem pairs"),
        ),
    ],
)
def test_pairs_and_first_lines_are_read_where_texts_are_enough(n_texts, names, pairs, read_as):
    texts = TITLED[:n_texts]
    views, _ = read_views(texts)
    assert [view.name for view in views.views] == names
    assert {"of wheat", "stem:wheat rose"} & set(views.get_feature_names_out()) == pairs
    model = TextCategorizer(budget="quick", cv=2).fit(texts, ["a", "b"] * (n_texts // 2) + ["a"] * (n_texts % 2))
    assert all(part in describe_choice(model.choice_) for part in read_as)


@pytest.mark.parametrize("budget", ["quick", "normal"])
@pytest.mark.parametrize(
    ("kind", "n_texts", "expected"),
    [
        ("binary", 99, set()),
        ("binary", 100, {"naive Bayes, words", "naive Bayes, stems"}),
        ("multiclass", 49, {"complement, words", "complement, stems"}),
        ("multiclass", ENOUGH_TEXTS - 1, {"complement, words", "complement, stems"}),
        (
            "multiclass",
            ENOUGH_TEXTS,
            {"complement, words", "complement, stems", "naive Bayes, words", "naive Bayes, stems"},
        ),
        ("multilabel", ENOUGH_TEXTS - 1, set()),
        ("multilabel", ENOUGH_TEXTS, {"naive Bayes, stems"}),
    ],
)
def test_naive_bayes_is_tried_where_texts_are_enough(kind, n_texts, expected, budget):
    space = LabelSpace(np.array(["a", "b", "c"][: 2 if kind == "binary" else 3], dtype=object), kind)
    tried = {one.name: one.views for one in auto_plan(["words", "stem", "head"], space, n_texts, budget).members}
    assert {name for name in tried if "complement" in name or "naive" in name} == expected
    assert all(tried[name] == ((0,) if "words" in name else (1,)) for name in expected)


def test_scripts_without_spaces_keep_their_runs_of_characters_however_few_texts():
    assert "家银行" in read_views(["这家银行再次下调利率", "小麦价格去年大幅上涨"])[0].get_feature_names_out()


def test_views_without_words_are_left_out():
    texts = [f"the of {number}" for number in range(30)] * 4  # no word is left of stop words and digits
    assert [view.name for view in read_views(texts)[0].views] == ["words"]
    alone = [f"w{number}" for number in range(120)]  # no word is in two texts
    assert read_views(alone)[1][0].nnz == 120
    with pytest.raises(InputError, match="hold no term"):
        read_views(["...", ""])


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_budgets_try_more_and_more(kind):
    space = LabelSpace(np.array(["a", "b"] if kind == "binary" else ["a", "b", "c"], dtype=object), kind)
    tried = [
        {m.name for m in auto_plan(["words", "stem"], space, 1_000, b).members} for b in ("quick", "normal", "thorough")
    ]
    assert tried[0] < tried[1] < tried[2]
    assert all("stems" not in member.name for member in auto_plan(["words"], space, 1_000, "thorough").members)


def interrupting(at: int):
    def report(what: str, done: int, total: int | None) -> None:
        if what == "cross-validation" and done == at:
            raise KeyboardInterrupt

    return report


SOME = ["wheat and corn", "corn harvest", "bank rates", "the bank cuts rates"] * 10
TEXTS = [f"{text} {number}" for number, text in enumerate(SOME)]  # no copies, which would be in one fold
LABELS = ["grain", "grain", "money", "money"] * 10


def test_an_interrupted_training_leaves_the_model_as_it_was():
    model = TextCategorizer(cv=4).fit(TEXTS, LABELS)
    before = model.to_state()[0]
    with pytest.raises(KeyboardInterrupt):
        model.fit(TEXTS, LABELS, progress=interrupting(25))  # 20 folds each: one member is done
    assert model.to_state()[0] == before


def test_an_interrupted_training_keeps_the_members_that_are_done_if_asked():
    model = TextCategorizer(cv=4).fit(TEXTS, LABELS, progress=interrupting(25), keep_partial=True)
    n_planned = TextCategorizer(cv=4).fit(TEXTS, LABELS).choice_["n_planned"]
    assert n_planned > 1
    assert model.choice_["interrupted"]
    assert (model.choice_["n_done"], model.choice_["n_planned"]) == (1, n_planned)
    assert [member["name"] for member in model.choice_["members"]] == ["ratio, words"]
    assert model.predict(["corn"]).tolist() == ["grain"]
    assert f"interrupted: it is a model of 1 of {n_planned} members." in describe_choice(model.choice_)
    with pytest.raises(KeyboardInterrupt):  # nothing is done yet
        TextCategorizer(cv=4).fit(TEXTS, LABELS, progress=interrupting(2), keep_partial=True)


def test_a_training_that_has_no_parts_cannot_keep_one():
    with pytest.raises(InputError, match="keep_partial=True needs an automatic training"):
        TextCategorizer(preset="linear").fit(TEXTS, LABELS, keep_partial=True)


def test_the_probability_of_some_other_label():
    p = np.array([[0.2, 0.5, 0.9]])
    expected = [1 - 0.5 * 0.1, 1 - 0.8 * 0.1, 1 - 0.8 * 0.5]
    np.testing.assert_allclose(some_other_label(np.log(p / (1 - p)))[0], expected, rtol=1e-12)


def test_labels_are_cut_down_only_where_a_label_is_untested():
    indicator = np.zeros((100, 8), dtype=bool)
    for k in range(7):
        indicator[k * 10 : k * 10 + 6, k] = True
    space, fold = LabelSpace(np.arange(8), "multilabel"), np.arange(100) % 5
    indicator[50, 7] = True  # in another fold
    indicator[99, 7] = True
    fold[[50, 99]] = 0, 4
    assert not len(labels_to_thin(indicator, HeldOut.of(indicator, fold, None, space), 0))
    indicator[50, 7] = False
    assert np.sort(labels_to_thin(indicator, HeldOut.of(indicator, fold, None, space), 0)).tolist() == list(range(7))
    fold[:6] = [0, -1, -1, -1, -1, -1]  # of the first label one text is held out, too few to be judged by
    assert np.sort(labels_to_thin(indicator, HeldOut.of(indicator, fold, None, space), 0)).tolist() == list(range(1, 7))


def test_the_threshold_of_rare_labels_separates_what_scores_separate():
    rng = np.random.default_rng(0)
    indicator = rng.random((400, 6)) < 0.03
    held_out, answered = np.arange(400) < 80, np.arange(400) < 300

    def score(k, learnt, judged):
        assert (indicator[learnt, k]).sum() == 1  # one text is left of the label
        assert not (learnt & judged).any()
        assert not (judged & ~answered).any()
        return np.where(indicator[judged, k], -3.0, -7.0) + rng.normal(0.0, 0.3, judged.sum())

    threshold = rare_threshold(indicator, np.arange(6), held_out, answered, score, 0)
    assert -6.5 < np.log(threshold / (1 - threshold)) < -3.5


@pytest.mark.parametrize(("second", "of"), [("stem", "stems"), ("chars", "characters")])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_members_are_named_after_what_they_read(second, of, kind):
    space = LabelSpace(np.array(["a", "b", "c"][: 2 if kind == "binary" else 3], dtype=object), kind)
    for budget in ("quick", "normal", "thorough"):
        plan = auto_plan(["words", second], space, ENOUGH_TEXTS, budget)
        assert {member.name.split(", ")[1] for member in plan.members} == {"words", of}
        assert all((of in member.name) == (member.views == (1,)) for member in plan.members)

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.metrics import average_precision_score, confusion_matrix, f1_score, precision_recall_curve

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.decide import TopLabel
from textbayes.evaluate.measures import mistake_sureness
from textbayes.inference.gibbs import Gibbs
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.report import collect_report, render_report
from textbayes.report.figures import f1_interval, wilson_interval
from textbayes.store import load_model, save_model


@pytest.mark.parametrize(("n_right", "n"), [(0, 5), (5, 5), (9, 10), (1084, 1111), (1, 1)])
def test_wilson_interval_is_scipys(n_right, n):
    reference = stats.binomtest(n_right, n).proportion_ci(method="wilson")
    ours = wilson_interval(n_right, n)
    assert ours == pytest.approx((n_right / n, reference.low, reference.high), abs=1e-12)


def test_a_report_is_plain_data(case):
    data = collect_report(case.model, case.texts, case.labels, title="T", notes=["n"], timings={"Training": 1.5})
    text = json.dumps(asdict(data), allow_nan=False)
    assert json.loads(text)["title"] == "T"
    assert data.kind == case.model.label_space_.kind
    assert data.timings == [("Training", 1.5)]
    assert dict(data.versions)["textbayes"]


def test_figures_are_those_of_the_decisions(case):
    data = collect_report(case.model, case.texts, case.labels)
    decided = case.model.predict_labels(case.texts)
    right = sum(set(given) == set(_listed(label)) for given, label in zip(decided, case.labels, strict=True))
    assert data.right.share == right / len(case.texts) < 1.0
    assert [row.label for row in data.labels] == list(data.measures["labels"]) == list(case.model.classes_)
    assert sum(b.n for b in data.reliability) == len(case.texts) * case.model.label_space_.n_columns


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_confusion_is_scikit_learns(cases, kind):
    case = cases[kind]
    confusion = collect_report(case.model, case.texts, case.labels).confusion
    names = [str(name) for name in case.model.classes_]
    assert confusion.rows == confusion.columns == names
    assert confusion.counts == confusion_matrix(case.labels, case.model.predict(case.texts), labels=names).tolist()


def test_too_many_labels_for_a_table_leave_a_map_and_a_list(cases, monkeypatch):
    monkeypatch.setattr("textbayes.report.render._SMALL_TABLE", 1)
    monkeypatch.setattr("textbayes.report.render._LARGE_TABLE", 2)
    data = collect_report(*cases["multiclass"])
    n_oil = cases["multiclass"].labels.count("oil")
    assert data.mistakes == [("oil", "grain", 1, 1 / n_oil)]
    page = render_report(data)
    assert "Most frequent confusions" in page
    assert "true \\ predicted" not in page
    assert f"<bdi>oil</bdi></strong>: {n_oil - 1} of {n_oil} correct; predicted as <bdi>grain</bdi> (1)</li>" in page


def test_texts_left_undecided_have_a_column_of_their_own(cases):
    case = cases["multiclass"]
    model = TextCategorizer(cv=2, rule=TopLabel(min_probability=1.0)).fit(case.texts * 3, case.labels * 3)
    data = collect_report(model, case.texts, case.labels)
    assert data.confusion.columns == [*data.confusion.rows, "none or several"]
    assert sum(map(sum, data.confusion.counts)) == len(case.texts)
    assert data.examples


def test_many_labels_have_neither_confusion_nor_coverage(cases):
    data = collect_report(*cases["multilabel"])
    assert data.confusion is None
    assert data.coverage == []
    assert [row.threshold for row in data.labels] == cases["multilabel"].model.rule_.thresholds_.tolist()


def test_coverage_begins_with_all_texts(cases):
    data = collect_report(*cases["multiclass"])
    assert (data.coverage[0].share, data.coverage[0].accuracy) == (1.0, data.right.share)
    assert all(first.share >= second.share for first, second in zip(data.coverage, data.coverage[1:], strict=False))


def test_the_log_odds_of_every_reason_add_up(case):
    data = collect_report(case.model, case.texts, case.labels)
    assert [example.kind.split(",")[0] for example in data.examples] == ["correct", "correct", "wrong"]
    for example in data.examples:
        for reason in example.reasons:
            rest = [word.value for word in (reason.others_for, reason.others_against) if word is not None]
            total = reason.base + sum(word.value for word in reason.words) + sum(rest)
            assert total == pytest.approx(reason.log_odds)
            assert reason.probability == pytest.approx(1.0 / (1.0 + math.exp(-reason.log_odds)))
            exclusive = case.model.label_space_.kind != "multilabel"
            assert bool(reason.rivals) == exclusive
            if exclusive:  # there are three classes at most, so the rivals are all others
                assert reason.probability + sum(p for _, p, _ in reason.rivals) == pytest.approx(1.0)
            for _, p, odds in reason.rivals:
                assert odds == pytest.approx(math.log(p / (1.0 - p)))
        marked = sum(piece.log_odds for piece in example.fragments)
        strong = abs(example.reasons[0].log_odds - example.reasons[0].base)
        assert marked == pytest.approx(example.reasons[0].log_odds - example.reasons[0].base, abs=0.2 * strong + 0.1)


def test_the_wrong_example_explains_the_true_label_as_well(cases):
    data = collect_report(*cases["multiclass"])
    assert [reason.label for reason in data.examples[-1].reasons] == ["grain", "oil"]
    assert (data.examples[-1].decided, data.examples[-1].truth) == (["grain"], ["oil"])


def test_without_mistakes_there_is_no_wrong_example(cases):
    model, texts, labels = cases["multiclass"]
    data = collect_report(model, texts[:-1], labels[:-1])
    assert [example.kind for example in data.examples] == ["correct, certain", "correct, least certain"]


def test_a_single_text_and_only_mistakes(cases):
    model, texts, labels = cases["binary"]
    data = collect_report(model, texts[-1:], labels[-1:])
    assert [example.kind for example in data.examples] == ["wrong, most certain"]


def test_measures_of_a_label_have_their_intervals(case):
    data = collect_report(case.model, case.texts, case.labels)
    for row in data.labels:
        truth = [row.label in _listed(label) for label in case.labels]
        given = [row.label in labels for labels in case.model.predict_labels(case.texts)]
        both = sum(t and g for t, g in zip(truth, given, strict=True))
        assert (row.n_texts, row.n_given, row.n_right) == (sum(truth), sum(given), both)
        for ours, n in ((row.precision, sum(given)), (row.recall, sum(truth))):
            reference = stats.binomtest(both, n).proportion_ci(method="wilson")
            assert ours == pytest.approx((both / n, reference.low, reference.high), abs=1e-12)
        proba = case.model.predict_proba(case.texts)[:, [str(c) for c in case.model.classes_].index(row.label)]
        assert row.average_precision == pytest.approx(average_precision_score(truth, proba))
        assert row.f1.share == pytest.approx(f1_score(truth, given))


@pytest.mark.parametrize(("tp", "fp", "fn"), [(8, 1, 1), (0, 2, 3), (5, 0, 0), (40, 10, 5)])
def test_f1_interval_is_wilsons_of_the_shared_texts(tp, fp, fn):
    reference = stats.binomtest(tp, tp + fp + fn).proportion_ci(method="wilson")
    ends = [2 * j / (1 + j) for j in (tp / (tp + fp + fn), reference.low, reference.high)]
    assert f1_interval(tp, fp, fn) == pytest.approx(ends, abs=1e-12)
    assert f1_interval(0, 0, 0) is None


def test_f1_intervals_hold_the_true_value_as_often_as_they_say():
    rng = np.random.default_rng(0)
    cells = np.array([0.25, 0.06, 0.09, 0.6])  # true positives, false ones, false negatives, the rest
    truth = 2 * cells[0] / (2 * cells[0] + cells[1] + cells[2])
    inside = 0
    for tp, fp, fn, _ in rng.multinomial(150, cells, size=2_000):
        interval = f1_interval(int(tp), int(fp), int(fn))
        inside += interval.low <= truth <= interval.high
    # 95% of 2,000 is 1,900 ± 10 by chance.
    assert 1_870 <= inside <= 1_930


def test_rows_know_their_place_in_every_order(case):
    rows = collect_report(case.model, case.texts, case.labels).labels
    by_texts = sorted(rows, key=lambda row: row.places["texts"])
    assert [row.n_texts for row in by_texts] == sorted((row.n_texts for row in rows), reverse=True)
    for name in ("precision", "recall", "f1"):
        ordered = [getattr(row, name).share for row in sorted(rows, key=lambda row: row.places[name])]
        assert ordered == sorted(ordered)


def test_of_two_classes_both_are_there(cases):
    case = cases["binary"]
    data = collect_report(case.model, case.texts, case.labels)
    assert [row.label for row in data.labels] == [group.label for group in data.words] == ["grain", "money"]
    assert [curve.label for curve in data.curves] == ["grain", "money"]
    assert [row.threshold for row in data.labels] == [0.5, 0.5]
    grain, money = ({word.word: word.total for word in group.words} for group in data.words)
    assert grain["corn"] > 0.0 < money["bank"]
    assert {example.reasons[0].label for example in data.examples} == {"grain", "money"}
    assert all(example.reasons[0].label == example.decided[0] for example in data.examples)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_words_are_ranked_by_what_explanations_say_they_added(cases, link):
    case = cases["multilabel"]
    model = TextCategorizer(cv=2, model=BayesLinearClassifier(link, scale=5.0)).fit(case.texts * 3, case.labels * 3)
    texts = [*case.texts, "corn", "corn corn bank"]
    data = collect_report(model, texts, [*case.labels, ("grain",), ("grain",)])
    for group in data.words:
        added, having = Counter(), Counter()
        for text in texts:
            (told,) = model.explain(text, [group.label])
            for part in told.contributions:
                added[part.word] += part.log_odds
                having[part.word] += 1
        ranked = sorted((value for value in added.values() if value > 0.0), reverse=True)
        assert [word.total for word in group.words] == pytest.approx(ranked[: len(group.words)])
        for word in (*group.words, *group.against):
            assert word.total == pytest.approx(added[word.word])
            assert word.n_texts == having[word.word]
            (stemmed,) = model.vectorizer_.transform([word.word]).indices
            assert word.weight == pytest.approx(model.coef_[list(model.classes_).index(group.label), stemmed])


def test_curves_are_scikit_learns(cases):
    case = cases["multilabel"]
    proba, decisions = case.model.assess(case.texts)
    data = collect_report(case.model, case.texts, case.labels)
    for j, curve in enumerate(data.curves):
        truth = np.array([curve.label in label for label in case.labels])
        precision, recall, _ = precision_recall_curve(truth, proba[:, j])
        assert (curve.precision, curve.recall) == (precision.tolist(), recall.tolist())
        hits = (truth & decisions[:, j]).sum()
        assert curve.here == (hits / truth.sum(), hits / decisions[:, j].sum())
    truth = np.array([[name in label for name in case.model.classes_] for label in case.labels])
    assert data.overall_curve.average_precision == pytest.approx(average_precision_score(truth.ravel(), proba.ravel()))


def test_errors_are_those_there_are_the_surest_first(case):
    labels = list(case.labels)
    labels[0] = {"binary": "money", "multiclass": "oil", "multilabel": ("oil",)}[case.model.label_space_.kind]
    ids = [f"text {i}" for i in range(len(labels))]
    data = collect_report(case.model, case.texts, labels, ids=ids)
    decided = case.model.predict_labels(case.texts)
    wrong = {ids[i]: i for i, label in enumerate(labels) if set(decided[i]) != set(_listed(label))}
    assert data.n_wrong == len(wrong) >= 2
    assert {text.id for text in data.wrong} == set(wrong)
    sure = [abs((text.labels[0][0] in text.truth) - text.labels[0][1]) for text in data.wrong]  # what is shown first
    assert sure == sorted(sure, reverse=True)
    if case.model.label_space_.kind != "multilabel":
        assert all(text.labels[0][0] in text.decided for text in data.wrong)  # the class given is the mistake
    for text in data.wrong:
        i = wrong[text.id]
        assert (set(text.decided), set(text.truth)) == (set(decided[i]), set(_listed(labels[i])))
        for (label, _), words in zip(text.labels, text.words, strict=True):
            (told,) = case.model.explain(case.texts[i], [label])
            spoken = [(part.word, part.log_odds) for part in told.contributions if part.log_odds > 0.0][:5]
            assert [(word.word, word.value) for word in words] == spoken
    (only,) = collect_report(case.model, case.texts, labels, ids=ids, mistakes=1).wrong
    assert only == data.wrong[0]


def test_labels_missed_and_given_in_the_same_text_are_confusions(cases):
    model = cases["multilabel"].model
    decided = model.predict_labels(["corn and wheat"])
    assert decided == [("grain",)]
    data = collect_report(model, ["corn and wheat"] * 4, [("oil",), ("oil",), ("oil", "grain"), ()])
    assert data.mistakes == [
        ("oil", "grain", 2, 2 / 3),
        ("(none)", "grain", 1, None),
        ("oil", "(none)", 1, 1 / 3),
    ]


def test_a_text_of_an_unknown_label_is_an_error_of_its_own_row(cases):
    model, texts, labels = cases["multiclass"]
    indicator = np.array([[label == name for name in model.classes_] for label in labels], dtype=int)
    data = collect_report(model, [*texts, "corn"], np.vstack([indicator, np.zeros((1, 3), dtype=int)]))
    assert data.confusion.rows[-1] == "a label that the model does not know"
    assert sum(data.confusion.counts[-1]) == 1
    assert ["a label that the model does not know"] in [text.truth for text in data.wrong]


def test_cross_validated_decisions_are_those_of_fit(cases):
    texts, labels = cases["multiclass"].texts * 3, cases["multiclass"].labels * 3
    model = TextCategorizer(cv=2).fit(texts, labels)
    data = collect_report(model, texts, labels, cross_validated=True)
    assert data.measures["macro_f1"] == model.held_out_["macro_f1"]
    assert data.right.share == model.held_out_["accuracy"]
    assert data.cross_validated
    assert "models that were not trained on the text" in render_report(data)


def test_cross_validation_of_other_texts_is_refused(cases, tmp_path):
    model, texts, labels = cases["multiclass"]
    with pytest.raises(InputError, match="leave out cross_validated"):
        collect_report(model, texts[:3], labels[:3], cross_validated=True)
    save_model(model, tmp_path / "m.tb")
    with pytest.raises(InputError, match="the model has no cross-validation"):
        collect_report(load_model(tmp_path / "m.tb"), texts, labels, cross_validated=True)


def test_what_stands_on_top(cases):
    model, texts, labels = cases["multiclass"]
    facts = dict(collect_report(model, texts, labels, source="test.csv", model_name="model.tb").facts)
    assert facts["Texts"] == f"{len(texts)} in test.csv"
    assert facts["Labels"] == "3, exactly one per text"
    assert facts["Model"] == "model.tb"
    assert facts["Date"].startswith("20")


def test_labels_may_be_lists_or_an_indicator(cases):
    model, texts, labels = cases["multiclass"]
    expected = collect_report(model, texts, labels).measures
    assert collect_report(model, texts, [(label,) for label in labels]).measures == expected
    indicator = np.array([[label == name for name in model.classes_] for label in labels], dtype=int)
    assert collect_report(model, texts, indicator).measures == expected
    assert collect_report(model, texts, sparse.csr_matrix(indicator)).measures == expected


def test_a_model_from_a_file_gives_the_same_report(case, tmp_path):
    save_model(case.model, tmp_path / "model.tb")
    ours = asdict(collect_report(case.model, case.texts, case.labels))
    again = asdict(collect_report(load_model(tmp_path / "model.tb"), case.texts, case.labels))
    for one in (ours, again):
        del one["created"], one["facts"]
    assert again == ours


def test_an_empty_text_is_no_trouble(case):
    collect_report(case.model, ["", *case.texts], [case.labels[0], *case.labels])


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ([], [], "no texts were given"),
        (["corn"], ["grain", "oil"], "differ in length"),
        (["corn"], ["zebra"], "label 'zebra' is not among the classes"),
        (["corn"], [("grain", "oil")], "text 1 has 2 labels"),
        (["corn"], [()], "text 1 has 0 labels"),
    ],
)
def test_bad_input_is_refused(cases, texts, labels, message):
    with pytest.raises(InputError, match=message):
        collect_report(cases["multiclass"].model, texts, labels)


def _listed(label) -> tuple[str, ...]:
    return (label,) if isinstance(label, str) else tuple(label)


def test_a_sampled_model_is_described_with_its_intervals(cases):
    pytest.importorskip("jinja2", reason="needs the extra demo")
    texts, labels = cases["multilabel"].texts * 3, cases["multilabel"].labels * 3
    sampler = Gibbs(chains=2, warmup=20, max_draws=100, target_ess=10, max_r_hat=3.0)
    model = TextCategorizer(model=BayesLinearClassifier("probit", inference=sampler), cv=2).fit(texts, labels)
    data = collect_report(model, texts, labels)
    assert data.averaged
    for group in data.words:
        rows = model.word_intervals(group.label, level=0.95, k=None, whole=False)
        expected = {one.word: (one.low, one.high) for one in rows}
        names = model.vectorizer_.get_feature_names_out()
        for word in group.words:
            (stemmed,) = model.vectorizer_.transform([word.word]).indices
            assert (word.low, word.high) == expected[names[stemmed]]
        assert group.words
    assert "draws of the posterior, probabilities averaged over them" in dict(data.settings)["Model"]
    page = render_report(data)
    assert "averaged over the posterior" in page
    assert "Below each weight is its 95% credible interval" in page
    plain = collect_report(cases["multilabel"].model, texts, labels)
    assert not plain.averaged
    assert "the interval that holds it" not in render_report(plain)


def test_of_classes_the_mistake_is_the_one_given():
    """A true class of next to no probability makes no sure mistake of one that was given with little."""
    truth = np.array([[True, False, False], [True, False, False]])
    decisions = np.array([[False, True, False], [False, True, False]])
    proba = np.array([[0.001, 0.60, 0.399], [0.05, 0.95, 0.0]])
    assert mistake_sureness(truth, decisions, proba).max(axis=1).tolist() == [0.999, 0.95]
    assert mistake_sureness(truth, decisions, proba, exclusive=True).max(axis=1).tolist() == [0.60, 0.95]

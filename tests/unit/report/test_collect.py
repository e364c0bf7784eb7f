from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.metrics import confusion_matrix

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.decide import TopLabel
from textbayes.inference.gibbs import Gibbs
from textbayes.linear import BayesLinearClassifier
from textbayes.report import collect_report, render_report
from textbayes.report.collect import wilson_interval
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
    assert set(data.measures["labels"]) == set(case.model.label_space_.class_names)
    assert sum(b.n for b in data.reliability) == len(case.texts) * case.model.label_space_.n_columns


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_confusion_is_scikit_learns(cases, kind):
    case = cases[kind]
    confusion = collect_report(case.model, case.texts, case.labels).confusion
    names = [str(name) for name in case.model.classes_]
    assert confusion.rows == confusion.columns == names
    assert confusion.counts == confusion_matrix(case.labels, case.model.predict(case.texts), labels=names).tolist()


def test_too_many_labels_for_a_matrix_leave_the_mistakes(cases, monkeypatch):
    monkeypatch.setattr("textbayes.report.collect._MOST_CONFUSED", 2)
    data = collect_report(*cases["multiclass"])
    assert data.confusion is None
    assert data.mistakes == [("oil", "grain", 1)]
    assert "The most frequent mistakes" in render_report(data)


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
    assert set(data.thresholds) == {"grain", "money", "oil"}


def test_coverage_begins_with_all_texts(cases):
    data = collect_report(*cases["multiclass"])
    assert (data.coverage[0].share, data.coverage[0].accuracy) == (1.0, data.right.share)
    assert all(first.share >= second.share for first, second in zip(data.coverage, data.coverage[1:], strict=False))


def test_the_log_odds_of_every_reason_add_up(case):
    data = collect_report(case.model, case.texts, case.labels)
    assert [example.kind.split(",")[0] for example in data.examples] == ["right and sure", "right", "wrong"]
    for example in data.examples:
        for reason in example.reasons:
            rest = [word.value for word in (reason.others_for, reason.others_against) if word is not None]
            total = reason.base + sum(word.value for word in reason.words) + sum(rest)
            assert total == pytest.approx(reason.log_odds)
            assert reason.own_probability == pytest.approx(1.0 / (1.0 + math.exp(-reason.log_odds)))
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
    assert [example.kind for example in data.examples] == ["right and sure", "right, the least sure"]


def test_a_single_text_and_only_mistakes(cases):
    model, texts, labels = cases["binary"]
    data = collect_report(model, texts[-1:], labels[-1:])
    assert [example.kind for example in data.examples] == ["wrong, the surest"]


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
    ours.pop("created"), again.pop("created")
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
    model = TextCategorizer(classifier=BayesLinearClassifier("probit", inference=sampler), cv=2).fit(texts, labels)
    data = collect_report(model, texts, labels)
    assert data.averaged
    for group in data.words:
        expected = model.word_intervals(group.label, len(group.words), level=0.95)
        assert [(word.low, word.high) for word in group.words] == [(one.low, one.high) for one in expected]
    assert "draws of the posterior, probabilities averaged over them" in dict(data.settings)["Model"]
    page = render_report(data)
    assert "when averaged over it" in page
    assert "In brackets the interval" in page
    plain = collect_report(cases["multilabel"].model, texts, labels)
    assert not plain.averaged
    assert "In brackets the interval" not in render_report(plain)

"""The tables on a made-up collection: the right models in the right columns, measured as another library does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm, pearsonr
from sklearn.metrics import f1_score

from textbayes.evaluate import ContingencyTable, f_measure
from textbayes.reproduce import Table, papers
from textbayes.reproduce.experiment import PaperRun
from textbayes.reproduce.sparse import tables
from textbayes.reproduce.sparse.stopping import rank_correlation
from textbayes.reproduce.sparse.systems import (
    AVERAGES,
    GAMMAS,
    PUBLISHED,
    TOPICS,
    CountCollection,
    EmStop,
    RegressionModel,
    Regressions,
    decide,
    fit,
    parameters,
)


def make_collection(n_docs: int = 240, n_words: int = 60, seed: int = 0) -> CountCollection:
    """Ten topics, each with words of its own that come often in its documents."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n_docs, len(TOPICS))) < np.linspace(0.4, 0.12, len(TOPICS))
    mean = 0.3 + 1.5 * (Y @ (rng.random((len(TOPICS), n_words)) < 0.08))
    counts = sparse.csr_matrix(rng.poisson(mean))
    half = n_docs // 2
    return CountCollection(counts[:half], counts[half:], Y[:half], Y[half:], TOPICS)


@pytest.fixture(scope="module")
def fits() -> Regressions:
    return Regressions(make_collection())


def run_with(quick: bool = False, **data: Regressions) -> PaperRun:
    """A run that has read the data given, by the names that exhibits ask for."""
    run = PaperRun(quick=quick)
    for name, fits in data.items():
        run.load(name, lambda fits=fits: fits)
    return run


@pytest.fixture
def exhibit(fits):
    """An exhibit of the paper, with the made-up collection in place of Reuters-21578."""

    def run(number, quick=False):
        made = tables.EXHIBITS[number](
            run_with(quick, **{"Reuters-21578": fits, "Reuters-21578, without headlines": fits})
        )
        return made if isinstance(made, Table) else next(iter(made))

    return run


def fewest_errors(proba: np.ndarray, y: np.ndarray) -> float:
    """The strictest threshold of those with the fewest errors, tried one by one."""
    cuts = np.concatenate([[-1.0], np.sort(proba)])
    errors = [int(((proba > cut) != y).sum()) for cut in cuts]
    return float(cuts[max(i for i, error in enumerate(errors) if error == min(errors))])


@pytest.mark.parametrize(
    "model", [RegressionModel("probit", "laplace", 0.5, 20), RegressionModel("probit", "jeffreys", 1.0, 20, "raw")]
)
def test_an_outcome_is_what_a_plain_computation_gives(fits, model):
    outcome = fits.outcome(model)
    collection = fits.collection
    dense = [X.toarray().astype(float) for X in (collection.train, collection.test)]
    if model.scheme == "log":
        dense = [np.where(X > 0, 1.0 + np.log(np.maximum(X, 1.0)), 0.0) for X in dense]
    train, test = dense
    decided = np.zeros_like(collection.Y_test)
    for topic in range(len(TOPICS)):
        y = collection.Y_train[:, topic]
        correlation = [abs(pearsonr(column, y)[0]) for column in train.T]
        words = np.sort(np.argsort(correlation)[-20:])
        problem, columns = fits.problem(model, topic)
        np.testing.assert_allclose(problem.X.toarray(), train[:, words])
        np.testing.assert_allclose(columns.toarray(), test[:, words])
        beta = parameters(fit(problem, EmStop()))
        proba_train, proba_test = (norm.cdf(X[:, words] @ beta[:-1] + beta[-1]) for X in dense)
        cut = fewest_errors(proba_train, y)
        # Any threshold up to the next training document is as good: decide in the middle, as the rule does.
        above = proba_train[proba_train > cut]
        middle = (cut + above.min()) / 2.0 if len(above) and cut >= 0 else cut
        decided[:, topic] = proba_test > middle
        assert outcome.sizes[topic] == np.count_nonzero(np.abs(beta) > 1e-10)
    expected = [f1_score(collection.Y_test, decided, average=how, zero_division=0) for how in (None, "macro", "micro")]
    np.testing.assert_allclose(outcome.f1(None), 100 * expected[0])
    assert outcome.column[-2:] == pytest.approx((100 * expected[1], 100 * expected[2]))


def test_f1_of_all_topics_but_one(fits):
    outcome = fits.outcome(RegressionModel("probit", "laplace", 0.5, 20))
    rest = ContingencyTable(*(part[1:] for part in outcome.decisions))
    assert outcome.f1("micro", but=0) == 100 * f_measure(rest, "micro")
    assert outcome.f1("macro", but=0) == pytest.approx(outcome.f1(None)[1:].mean())


def test_strictest_and_loosest_thresholds_make_equally_few_errors():
    rng = np.random.default_rng(3)
    Y = rng.random((80, 4)) < 0.4
    train = np.clip(0.3 * Y + rng.integers(0, 12, size=Y.shape) / 15.0, 0.0, 1.0)  # coarse: many equal cuts
    strict, loose = (decide(train, Y, train, cut) for cut in ("strictest", "loosest"))
    cuts = np.linspace(-0.05, 1.05, 400)
    fewest = [min(int(((train[:, j] > cut) != Y[:, j]).sum()) for cut in cuts) for j in range(4)]
    for decided in (strict, loose):
        assert (decided != Y).sum(axis=0).tolist() == fewest
    assert (strict <= loose).all()
    assert (strict != loose).any()
    np.testing.assert_array_equal(decide(train, Y, train, "half"), train > 0.5)


def test_open_choices_are_compared_with_the_first(monkeypatch):
    seen = []

    def make(rules):
        seen.append(rules)
        return make_collection(n_docs=120, n_words=30, seed=len(seen))

    monkeypatch.setattr(tables, "reuters", make)
    few = {name: model._replace(n_words=5) for name, model in tables._CHOICE_MODELS.items()}
    monkeypatch.setattr(tables, "_CHOICE_MODELS", few)
    table = tables.EXHIBITS["table 3a"](PaperRun())
    assert table.ours[-1] != table.ours[-2]  # other words, by the score named
    assert table.rows == tuple(tables.CHOICES)
    assert seen == list(dict.fromkeys(choice.text for choice in tables.CHOICES.values())), "each is read once"
    assert {len(row) for row in (*table.ours, *table.published)} == {6}
    assert table.published[0] == (*F1["Jeffreys"][-2:], *F1["Laplace γ = 1"][-2:], *F1["Laplace γ = 10"][-2:])
    assert "without headlines" in table.notes[0]
    assert tables.EXHIBITS["table 3a"](PaperRun(quick=True)).rows == tuple(tables.CHOICES)[:2]


def test_tables_share_the_columns_that_the_paper_s_share(exhibit):
    one, two, six = map(exhibit, ("table 1", "table 2", "table 6"))
    five = exhibit("table 5", quick=True)
    ours = [row[-1] for row in one.ours]
    assert ours == [row[3] for row in two.ours] == [row[2] for row in five.ours] == [row[1] for row in six.ours]
    for table in (one, two, five, six):
        assert table.rows == (*TOPICS, *AVERAGES)
        assert {len(row) for row in (*table.ours, *table.published)} == {len(table.columns)}
    assert not any(None in row for row in one.ours)
    quick = exhibit("table 1", quick=True).ours
    assert all(row[:3] == (None, None, None) for row in quick), "methods of others are left out of a quick run"
    assert all(row[1] is None and row[3] is None for row in five.ours), "1,000 words are left out of a quick run"


# The columns of each table in the paper's order; tests/golden holds these figures against its text.
F1 = PUBLISHED["f1"]
LAPLACE = [f"Laplace γ = {gamma:g}" for gamma in GAMMAS]
PRINTED = {
    "table 1": [F1[name] for name in ("Naive Bayes", "Log. Reg.", "SVM", "Laplace γ = 10")],
    "table 2": [F1[name] for name in ("Jeffreys raw TF", "Jeffreys", "Laplace γ = 10 raw TF", "Laplace γ = 10")],
    "table 3": [F1[name] for name in ("Jeffreys", *LAPLACE)],
    "table 4": [PUBLISHED["sizes"][name] for name in ("Jeffreys", *LAPLACE)],
    "table 5": [F1[name] for name in ("Jeffreys", "Jeffreys 1,000", "Laplace γ = 10", "Laplace γ = 10, 1,000")],
    "table 6": [F1[name] for name in ("Probit Gaussian", "Laplace γ = 10", "Logistic Gaussian", "Logistic Laplace")],
}


@pytest.mark.parametrize("number", list(PRINTED))
def test_published_columns_stand_under_their_names_in_the_paper_s_order(exhibit, number):
    table = exhibit(number, quick=True)
    assert table.name.lower() == number
    assert list(zip(*table.published, strict=True)) == PRINTED[number]
    for name, cells in zip(table.columns, zip(*table.published, strict=True), strict=True):
        if name.startswith("Laplace γ = ") and number in ("table 3", "table 4"):
            assert cells == (F1 if number == "table 3" else PUBLISHED["sizes"])[name]


def test_each_column_of_table_6_is_the_model_that_its_name_says(exhibit, fits):
    table = exhibit("table 6")
    for name, ours in zip(table.columns, zip(*table.ours, strict=True), strict=True):
        link, prior = name.lower().split()
        scheme = "tfidf" if link == "logistic" else "log"
        model = RegressionModel({"logistic": "logit"}.get(link, link), prior, 0.1, scheme=scheme)
        assert ours == fits.outcome(model).column


def test_tables_follow_once_more_without_headlines(monkeypatch):
    read = []

    def make(rules):
        read.append(rules.headline)
        return make_collection(n_docs=120, n_words=30, seed=len(read))

    monkeypatch.setattr(tables, "reuters", make)
    first, second = tables.EXHIBITS["table 2"](PaperRun())
    assert read == [True, False]
    assert (first.number, second.number) == ("2", "2, without headlines")
    assert first.published == second.published
    assert first.ours != second.ours


def test_quick_tables_leave_out_columns_but_no_rows(exhibit):
    table = exhibit("table 3", quick=True)
    run = [gamma in (0.1, 1.0, 10.0) for gamma in GAMMAS]
    assert all([cell is not None for cell in row[1:]] == run for row in table.ours)
    assert [row[3] for row in table.published] == list(F1["Laplace γ = 1"])
    assert "rate √γ" in table.notes[1]


def test_table_4_counts_parameters(exhibit):
    table = exhibit("table 4")
    ours = np.array(table.ours)
    assert ((ours >= 1) & (ours <= 61)).all(), "60 words and the intercept"
    assert ours[:, 1].sum() > ours[:, 4].sum() > ours[:, 6].sum(), "fewer with a larger γ"
    printed = np.array(table.published, dtype=float)[:, 1:]
    assert np.isnan(printed).sum() == 1, "the misprint"
    expected = rank_correlation(ours[:, 1:], printed)
    assert table.notes[0].startswith(f"Rank correlation (Spearman) over the 59 Laplace cells run: {expected:.3f}")


def test_the_study_names_the_rule_that_comes_closest():
    fits = Regressions(make_collection(n_docs=100, n_words=20))
    errors, ranks = tables.EXHIBITS["table 4a"](run_with(True, **{"Reuters-21578": fits}))
    assert errors.rows == ranks.rows
    assert {row.partition(",")[0] for row in errors.rows} == {"rate γ", "rate √γ"}
    closest = {row: min(cells) for row, cells in zip(errors.rows, errors.ours, strict=True)}
    best = min(closest, key=closest.__getitem__)
    zero = errors.columns[errors.ours[errors.rows.index(best)].index(closest[best])]
    assert errors.notes[0] == f"Closest of all: {best}, {zero}: {closest[best]:.1f} parameters on average."


def test_counts_that_are_all_the_same_have_no_rank_correlation():
    assert rank_correlation(np.full(4, 301), np.arange(4)) is None
    assert rank_correlation(np.array([1, 2, 4, 3]), np.array([10, 20, 30, 40])) == pytest.approx(0.8)


def test_tables_of_rcv1_say_what_they_were_run_on():
    small = make_collection(n_docs=120, n_words=30)._replace(topics=(*TOPICS[:-1], "MCAT"))
    run = run_with(True, **{"RCV1-v2": Regressions(small)})
    seven, eight = (tables.EXHIBITS[number](run) for number in ("table 7", "table 8"))
    assert seven.rows == eight.rows == AVERAGES
    assert [cell is None for cell in seven.ours[0]] == [True, True, True, False, False, False]
    assert None not in eight.ours[0]
    assert "60 training and 60 test documents" in seven.notes[0]
    assert eight.notes[1].startswith("Micro-averages without MCAT")
    assert seven.ours[1][4] == eight.ours[1][1], "probit Laplace is in both"


def test_what_is_wanted_comes_in_the_paper_s_order(monkeypatch):
    monkeypatch.setattr(tables, "reuters", lambda rules: make_collection(n_docs=120, n_words=30))
    seen = []
    wanted = ("table 4", "figure 3", "table 1", "figure 2")
    results = papers.get("sparse").run(wanted, True, lambda what, done, total: seen.append((what, done, total)))
    assert [result.name for result in results] == ["Table 1", "Figure 2", "Table 4", "Figure 3"]
    assert ("table 1", 10, 10) in seen
    assert ("table 4", 30, 30) in seen, "γ = 10 was fitted for table 1"


@pytest.mark.parametrize(
    ("wanted", "corpora"),
    [
        (("figure 3",), ()),
        (("table 4", "figure 3"), ("reuters21578",)),
        (("table 7",), ("rcv1",)),
        (("table 8", "table 1"), ("reuters21578", "rcv1")),
    ],
)
def test_only_the_corpora_that_are_needed_are_asked_for(wanted, corpora):
    assert papers.get("sparse").corpora_for(wanted) == corpora

"""The contagion paper: groups of topics, nested cross-validation that does not peek, and what the tables say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.model_selection import StratifiedKFold

from textbayes.core.errors import CorpusNotFoundError
from textbayes.data import load_corpus
from textbayes.models.counts import BayesCountClassifier
from textbayes.reproduce import papers
from textbayes.reproduce.contagion import systems, tables
from textbayes.reproduce.contagion.systems import ClassDocuments, CrossValidation, FoldErrors

SYSTEMS = ("naive Bayes, counts", "naive Bayes, TF-IDF", "Poisson", "Neg-Bin", "Dir-Pois", "Bernoulli")


def documents(n_docs=150, n_words=60, telling=6, seed=0) -> ClassDocuments:
    """Three classes with words of their own among words that tell nothing; lengths vary fivefold."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_docs) % 3
    rates = np.full((3, n_words), 2.0)
    for number in range(3):
        rates[number, number * telling : (number + 1) * telling] = 8.0
    lengths = rng.uniform(0.2, 1.0, n_docs)
    X = sparse.csr_matrix(rng.poisson(rates[y] * lengths[:, None]))
    words = np.array([f"w{j}" for j in range(n_words)])
    return ClassDocuments(X, lengths, y, ("a", "b", "c"), words)


def test_groups_share_no_topic_and_name_topics_that_there_are():
    for groups, corpus in ((systems.REUTERS, "reuters21578"), (systems.NEWSGROUPS, "20newsgroups")):
        names = [label for group in groups.values() for label in group]
        assert len(names) == len(set(names))
        try:
            known = set(load_corpus(corpus).label_names)
        except CorpusNotFoundError as missing:
            pytest.skip(str(missing))
        assert set(names) <= known


def test_documents_of_two_groups_and_of_no_words_are_left_out():
    texts = ["wheat wheat up", "yen falls", "wheat and yen", "", "tin"]
    labels = [("wheat", "other"), ("yen",), ("wheat", "yen"), ("yen",), ("other",)]
    found = systems.group_documents(texts, labels, {"crops": ("wheat",), "money": ("yen", "dlr")}, min_df=1)
    assert found.y.tolist() == [0, 1]
    assert found.words.tolist() == ["falls", "up", "wheat", "yen"]
    assert found.X.toarray().tolist() == [[0, 1, 2, 0], [1, 0, 0, 1]]
    np.testing.assert_allclose(found.lengths, [0.003, 0.002])


@pytest.mark.parametrize("selection", ["IG", "Δ²"])
def test_telling_words_rank_first(selection):
    found = documents(n_docs=600)
    best = systems.rank_words(found, np.arange(600), selection)[:18]
    assert sorted(best.tolist()) == list(range(18))


@pytest.mark.parametrize("selection", ["IG", "Δ²"])
def test_classes_that_can_be_told_are_and_others_are_not(selection):
    found = documents()
    errors = CrossValidation(found, (18, 30)).outcome(selection)
    assert set(errors.wrong) == set(SYSTEMS)
    for name in SYSTEMS:
        assert errors.wrong[name].shape == (150,)
        assert errors.wrong[name].mean() < (0.3 if name == "Bernoulli" else 0.1)  # presence tells less than counts
        assert len(errors.sizes[name]) == 5
        assert set(errors.sizes[name]) <= {18, 30, 60}
    # Labels that mean nothing: words chosen with a look at the test documents would seem to tell them.
    y = np.random.default_rng(1).permutation(found.y)
    blind = CrossValidation(found._replace(y=y), (5,), ("Poisson",)).outcome(selection)
    assert stats.binomtest(int(blind.wrong["Poisson"].sum()), 150, 2 / 3).pvalue > 0.001


def test_the_interval_is_that_of_a_paired_difference():
    rng = np.random.default_rng(2)
    one, other = rng.random((2, 500)) < [[0.2], [0.3]]
    wrong = dict.fromkeys(SYSTEMS, other) | {"Neg-Bin": one}
    said = tables.describe_errors(FoldErrors(wrong, dict.fromkeys(SYSTEMS, (5,) * 5)))
    found = re.search(r"Neg-Bin ([−+.\d]+) \(([−+.\d]+) to ([−+.\d]+)\)", said)
    mean, low, high = (float(value.replace("−", "-")) for value in found.groups())
    paired = stats.ttest_rel(one.astype(float), other.astype(float))
    assert mean == pytest.approx(100.0 * (one.mean() - other.mean()), abs=0.0051)
    known = paired.confidence_interval(0.95)
    assert (low, high) == (pytest.approx(100.0 * known.low, abs=0.05), pytest.approx(100.0 * known.high, abs=0.05))
    assert "Poisson +0.00 (+0.00 to +0.00)" in said


def test_tables_have_the_published_rows_and_own_figures_where_the_data_are_public(monkeypatch):
    monkeypatch.setattr(systems, "LOADERS", dict.fromkeys(systems.LOADERS, documents))
    seen = []
    wanted = ["table 2", "table 2a", "table 3"]
    results = list(papers.get("contagion").run(wanted, True, lambda what, done, total: seen.append((done, total))))
    assert [result.number for result in results] == ["2", "2a", "3"]
    second, other, third = results
    assert second.columns == (*tables.PUBLISHED["models"], "Bernoulli")
    assert second.published[:3] == tuple((*tables.PUBLISHED["table 2"][name], None, None) for name in second.rows[:3])
    assert second.ours[3] == (None,) * 5  # not public
    assert all(0.0 <= value <= 100.0 for row in second.ours[:3] for value in row)
    assert not other.compared
    own = [row for row, cells in zip(third.rows, third.ours, strict=True) if cells[0] is not None]
    assert own == ["Federalist, IG", "Federalist, Δ²", "Movie Reviews, IG", "Movie Reviews, Δ²"]
    assert third.rows[:3] == ("Reagan's Data, IG", "Reagan's Data, Δ²", "Federalist, IG")
    assert "not public" in second.notes[-1]
    assert "naive Bayes, counts has" in second.notes[0] or "naive Bayes, TF-IDF has" in second.notes[0]
    assert seen.count((5, 5)) == 3 + 1 + 4, "five folds of each collection, and of each way to select words"


def test_tables_of_what_the_paper_varies(monkeypatch):
    monkeypatch.setattr(systems, "LOADERS", dict.fromkeys(systems.LOADERS, documents))
    wanted = ["table 2b", "table 3a", "table 3b"]
    sizes, constants, levels = papers.get("contagion").run(wanted, True)
    naive = [row[0] for row in sizes.ours[:1]]  # ten words of sixty: the other sizes are more than there are
    assert sizes.rows == ("Reuters, 10 words", "Movie Reviews, 10 words")
    assert 0.0 < naive[0] < 50.0
    assert len(constants.rows) == 2 * 2 * 2  # two collections, two hierarchies, two of the β₁
    assert "over 4 sets of constants" in constants.notes[0]
    assert levels.columns[0] == "words"
    of_row = dict(zip(levels.rows, levels.ours, strict=True))
    for level in ("0.01", "0.05"):
        by_delta, by_gain = (
            of_row[f"Federalist, Δ², α = {level}"],
            of_row[f"Federalist, as many by IG as at α = {level}"],
        )
        assert by_delta[0] == by_gain[0] >= 18.0, "all words of the classes, and the same number by the other test"
    assert of_row["Federalist, Δ², α = 0.01"][0] <= of_row["Federalist, Δ², α = 0.05"][0]


def test_twenty_sets_of_constants_with_the_papers_own():
    sets = [(one, two) for one in systems.FIRST for two in systems.SECOND]
    assert len(sets) == 20
    assert (2.0, 1.0) in sets


def test_errors_by_constants_are_those_of_cross_validation_by_hand():
    found = documents(n_docs=90)
    system = systems.Constants("Dir-Pois", 2.0, 1.0)
    wrong = 0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(found.X, found.y):
        model = BayesCountClassifier("dirichlet_poisson", beta=(2.0, 1.0))
        model.fit(found.X[train], found.y[train], lengths=found.lengths[train])
        wrong += (model.predict(found.X[test], found.lengths[test]) != found.y[test]).sum()
    assert systems.ByConstants(found).outcome(system) == pytest.approx(100.0 * wrong / 90)


def test_no_word_at_a_level_leaves_the_largest_class():
    found = documents(n_docs=90)
    alike = found._replace(X=sparse.csr_matrix(np.ones((90, 5))), words=found.words[:5], lengths=np.full(90, 0.005))
    chosen = systems.ByWords(alike).outcome(systems.WordChoice("Δ²", 0.01))
    assert chosen.n_words == 0.0
    assert list(chosen.errors.values()) == pytest.approx([200.0 / 3.0] * len(SYSTEMS))


def test_rates_stand_in_the_order_of_the_columns():
    shares = dict(zip(SYSTEMS, (0.30, 0.10, 0.20, 0.40, 0.50, 0.60), strict=True))
    wrong = {name: np.arange(100) < 100 * share for name, share in shares.items()}
    found = tables.error_rates(FoldErrors(wrong, {}))
    assert tables.PUBLISHED["models"] == ("Naive Bayes", "Poisson", "Neg-Bin", "Dir-Pois")
    assert found == pytest.approx((10.0, 20.0, 40.0, 50.0, 60.0)), "naive Bayes is the better of its two"


def test_the_share_of_the_longest_documents():
    lengths = np.concatenate([np.full(199, 1.0), [51.0], [3.0, 1.0]])
    found = documents(202)._replace(lengths=lengths, y=np.repeat([0, 1], [200, 2]), classes=("many", "few"))
    assert tables.shares_of_longest(found) == pytest.approx([52.0 / 250.0, 0.75])  # two of 200, one of two


def test_corpora_are_asked_for_by_need():
    paper = papers.get("contagion")
    assert paper.corpora_for(["table 1"]) == ("federalist",)
    assert paper.corpora_for(["table 2a", "table 3"]) == ("20newsgroups", "movie_reviews", "federalist")


def test_table_1_tells_bursts_from_even_counts():
    """Words of a Poisson are refused by neither; words that come in bursts only by the Poisson."""
    rng = np.random.default_rng(3)
    lengths = rng.uniform(1.0, 3.0, 80)
    even = rng.poisson(6.0 * lengths[:, None], (80, 30))
    bursty = rng.poisson(lengths[:, None] * rng.gamma(1.5, 4.0, (80, 30)))
    X = sparse.csr_matrix(np.hstack([even, bursty]))
    words = np.array([f"w{j}" for j in range(60)])
    found = ClassDocuments(X, lengths, np.arange(80) % 2, ("one", "other"), words)
    for columns, poisson in ((np.arange(30), True), (np.arange(30, 60), False)):
        tested = tables.goodness_of_fit(found, np.arange(80), columns)
        assert (np.mean(tested.fit_poisson > 0.05) > 0.75) == poisson
        assert (np.mean(tested.ks_poisson > 0.05) > 0.75) == poisson
        assert np.mean(tested.fit_negative_binomial > 0.05) > 0.75
    table = tables.table_1(found)
    assert table.number == "1"
    assert len(table.rows) == 3 * 2 + 3 * 2
    assert table.published[-1] == (0.0, 100.0, None, None)  # 0 of 8 and 8 of 8
    assert table.ours[0][1] > table.ours[0][0]  # the most frequent words are the bursty ones as often as not

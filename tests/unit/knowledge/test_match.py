"""Words and labels of a table found in a model, by the model's own analysis; what is not found is told."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.knowledge import WordPrior, WordPriors, match_priors, with_words, words_of
from textbayes.text import TextVectorizer

STEMMED = TextVectorizer(stop_words="english", stemmer="porter")


def _places(matched):
    return {(int(k), int(j)): float(m) for k, j, m in zip(matched.label, matched.column, matched.mean, strict=True)}


def test_words_and_labels_by_name():
    table = [WordPrior("b", "y", 1.0), WordPrior("a", "x", 2.0), WordPrior("z", "x", 3.0), WordPrior("a", "w", 4.0)]
    matched = match_priors(table, ["a", "b", "c"], ["x", "y"])
    assert _places(matched) == {(0, 0): 2.0, (1, 1): 1.0}
    assert matched.unknown_words == ("z",)
    assert matched.unknown_labels == ("w",)
    assert [matched.priors[int(i)].word for i in matched.row] == ["a", "b"]


def test_a_mapping_may_be_the_vocabulary():
    assert _places(match_priors([WordPrior("a", "x", 2.0)], {"b": 0, "a": 1}, ["x"])) == {(0, 1): 2.0}


def test_a_row_of_a_label_comes_before_one_for_all():
    table = [WordPrior("a", "x", 5.0, scale=0.1), WordPrior("a", "*", 1.0, family="gaussian"), WordPrior("b", "*", 2.0)]
    matched = match_priors(table, ["a", "b"], ["x", "y"])
    assert _places(matched) == {(0, 0): 5.0, (1, 0): 1.0, (0, 1): 2.0, (1, 1): 2.0}
    assert matched.family.tolist() == ["", "", "gaussian", ""]  # the whole row, not what it leaves blank


def test_words_are_cut_and_stemmed_as_the_texts_are():
    vocabulary = STEMMED.fit(["mergers acquisition oil prices falling"]).vocabulary_
    table = [WordPrior("Acquisitions", "acq", 1.0), WordPrior("fall", "acq", 2.0), WordPrior("merges", "acq", 3.0)]
    matched = match_priors(table, vocabulary, ["acq"], words_of(STEMMED))
    assert _places(matched) == {(0, vocabulary["acquisit"]): 1.0, (0, vocabulary["fall"]): 2.0}
    assert matched.unknown_words == ("merges",)
    without = match_priors(table, vocabulary, ["acq"])
    assert without.unknown_words == ("Acquisitions", "merges")


def test_a_description_stands_for_each_of_its_words():
    vocabulary = STEMMED.fit(["mergers acquisition oil"]).vocabulary_
    table = [WordPrior("The merger, acquisition or takeover", "acq", "for"), WordPrior("acquisition", "acq", 7.0)]
    matched = match_priors(table, vocabulary, ["acq"], words_of(STEMMED))
    by_column = dict(zip(matched.column.tolist(), zip(matched.mean, matched.direction, strict=True), strict=True))
    assert by_column[vocabulary["acquisit"]] == (7.0, 0.0)  # the word's own row, not the description's
    assert np.isnan(by_column[vocabulary["merger"]][0])
    assert by_column[vocabulary["merger"]][1] == 1.0
    assert matched.unknown_words == ("takeov",)


def test_a_word_that_analysis_drops_is_told():
    matched = match_priors([WordPrior("the", "x"), WordPrior("of the", "x")], ["oil"], ["x"], words_of(STEMMED))
    assert matched.unknown_words == ("the", "of the")
    assert len(matched.row) == 0


def test_a_plain_function_may_analyze():
    matched = match_priors(
        [WordPrior("OIL Prices", "x", 1.0)], ["oil", "price"], ["x"], lambda text: text.lower().split()
    )
    assert _places(matched) == {(0, 0): 1.0}
    assert matched.unknown_words == ("prices",)


def test_other_scripts_and_languages():
    vectorizer = TextVectorizer(stemmer="german")
    vocabulary = vectorizer.fit(["Häuser und Straßen", "пшеница и кукуруза"]).vocabulary_
    table = [WordPrior("Häusern", "Wohnen", 1.0), WordPrior("ПШЕНИЦА", "зерно", 2.0)]
    matched = match_priors(table, vocabulary, ["Wohnen", "зерно"], words_of(vectorizer))
    assert matched.unknown_words == ()
    assert _places(matched) == {(0, vocabulary["haus"]): 1.0, (1, vocabulary["пшеница"]): 2.0}


def test_two_words_that_are_one_to_the_model():
    vocabulary = STEMMED.fit(["harvest"]).vocabulary_
    alike = [WordPrior("harvesting", "x", 1.0), WordPrior("harvests", "x", 1.0)]
    assert _places(match_priors(alike, vocabulary, ["x"], words_of(STEMMED))) == {(0, 0): 1.0}
    different = [WordPrior("harvesting", "x", 1.0), WordPrior("harvests", "x", 2.0)]
    with pytest.raises(InputError, match="'harvesting' for 'x' and 'harvests' for 'x' are the same to this model"):
        match_priors(different, vocabulary, ["x"], words_of(STEMMED))


def test_what_speaks_for_the_first_of_two_classes_speaks_against_the_second():
    space = LabelSpace(np.array(["ham", "spam"], dtype=object), "binary")
    table = [
        WordPrior("a", "ham", 2.0, 0.5), WordPrior("b", "spam", 1.0), WordPrior("c", "ham", "for"),
        WordPrior("d", "ham", sign=1), WordPrior("e", "*", 4.0),
    ]  # fmt: skip
    matched = match_priors(table, list("abcde"), space)
    assert matched.n_labels == 1
    np.testing.assert_array_equal(matched.mean, [-2.0, 1.0, np.nan, np.nan, 4.0])
    np.testing.assert_array_equal(matched.direction, [0.0, 0.0, -1.0, 0.0, 0.0])
    np.testing.assert_array_equal(matched.sign, [np.nan, np.nan, np.nan, -1.0, np.nan])
    np.testing.assert_array_equal(matched.scale, [0.5, np.nan, np.nan, np.nan, np.nan])
    with pytest.raises(InputError, match="say different things"):
        match_priors([WordPrior("a", "ham"), WordPrior("a", "spam")], ["a"], space)


def test_labels_of_a_label_space_that_are_numbers():
    space = LabelSpace(np.array([1, 2, 3]), "multiclass")
    assert _places(match_priors([WordPrior("a", "2", 1.0)], ["a"], space)) == {(1, 0): 1.0}


def test_words_of_a_table_join_a_vocabulary():
    table = [WordPrior("Mergers of shipping lines", "x"), WordPrior("oil", "x"), WordPrior("zinc", "y")]
    terms = with_words(["oil", "ship"], table, words_of(STEMMED))
    assert terms == ["line", "merger", "oil", "ship", "zinc"]
    assert match_priors(table, terms, ["x", "y"], words_of(STEMMED)).unknown_words == ()
    X = TextVectorizer(stemmer="porter", vocabulary=terms).transform(["zinc ships"])
    assert X.toarray().tolist() == [[0, 0, 0, 1, 1]]


def test_an_empty_table_matches_nothing():
    matched = match_priors([], ["a"], ["x"])
    assert (len(matched.row), matched.n_labels, matched.n_features) == (0, 1, 1)


@pytest.mark.parametrize(("labels", "cause"), [("x", "pass a list"), ([], "at least one"), (["x", "x"], "different")])
def test_labels_that_cannot_be_used(labels, cause):
    with pytest.raises(InputError, match=cause):
        match_priors([WordPrior("a", "x")], ["a"], labels)


def test_a_hundred_thousand_rows_against_a_stemmed_vocabulary():
    """Half are in the vocabulary, half have to be stemmed first; one reading of them all."""
    words = [f"word{'abcdefghij'[i % 10]}{'x' * (i % 7)}{i}" for i in range(50_000)]
    table = WordPriors(WordPrior(word + ending, "x", 1.0) for word in words for ending in ("", "s"))
    matched = match_priors(table, words, ["x"], words_of(TextVectorizer(stemmer="porter")))
    assert len(matched.row) == 50_000
    assert matched.unknown_words == ()

from __future__ import annotations

import pytest

from textbayes.report.texts import highlight, token_values
from textbayes.text import TextVectorizer
from textbayes.text.surface import common_forms, find_tokens, shown

TEXT = "The Bank raised rates; banks' RATE rises.\nBanking on <b>rates</b>"


def _fitted(**options) -> TextVectorizer:
    return TextVectorizer(**options).fit([TEXT, "another bank, another rate"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stemmer": "porter", "stop_words": "english"},
        {"ngram_range": (1, 3), "stemmer": "porter", "stop_words": "english"},
        {"ngram_range": (2, 2)},
        {"lowercase": False},
        {"token_pattern": r"(?u)\b[^\W\d_]{2,}\b", "stemmer": "english"},
    ],
    ids=str,
)
def test_tokens_are_the_terms_the_vectorizer_counts(options):
    vectorizer = _fitted(**options)
    row = vectorizer.transform([TEXT]).toarray()[0]
    counts = dict(zip(vectorizer.get_feature_names_out(), row.tolist(), strict=True))
    tokens = find_tokens(TEXT, vectorizer)
    for term, count in counts.items():
        # What a term adds, one for each occurrence, is found on the page again, to the last bit of it.
        assert sum(token_values(tokens, vectorizer.ngram_range, {term: 1.0})) == pytest.approx(count)


MIXED = "Pythonは楽しい! 東京 Tower が好き; it’s ภาษาไทย 👍🏽 ก of 3 don't"


@pytest.mark.parametrize("pattern", ["words", "all", "tweets", r"\w+"])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 2)], ids=str)
def test_tokens_of_scripts_without_spaces_are_the_terms_counted(pattern, ngram_range):
    vectorizer = TextVectorizer(analyzer="mixed", token_pattern=pattern, ngram_range=ngram_range).fit([MIXED])
    counts = dict(zip(vectorizer.get_feature_names_out(), vectorizer.transform([MIXED]).toarray()[0], strict=True))
    tokens = find_tokens(MIXED, vectorizer)
    assert {"東京", "東京 tower", "好き"} & set(counts)
    for term, count in counts.items():
        assert sum(token_values(tokens, vectorizer.ngram_range, {term: 1.0})) == pytest.approx(count), term


def test_characters_of_scripts_without_spaces_are_marked_where_they_stand():
    vectorizer = TextVectorizer(analyzer="mixed").fit([MIXED])
    marked = [piece.text for piece in highlight(MIXED, vectorizer, {"楽し": 1.0, "tower": -1.0}, 500) if piece.level]
    assert marked == ["楽", "し", "Tower"]


def test_token_places_point_at_the_words_on_the_page():
    tokens = find_tokens(TEXT, _fitted(stemmer="porter", stop_words="english"))
    assert [TEXT[token.begin : token.end] for token in tokens if token.term == "bank"] == ["Bank", "banks", "Banking"]
    assert [TEXT[token.begin : token.end] for token in tokens if token.term is None] == ["The", "on"]


def test_letters_that_grow_in_lower_case_do_not_shift_places():
    text = "İİİ bank İrates"
    vectorizer = TextVectorizer(token_pattern=r"[a-z]{2,}").fit(["bank rates"])
    assert [text[token.begin : token.end] for token in find_tokens(text, vectorizer)] == ["bank", "rates"]


def test_a_captured_group_is_the_token():
    with pytest.warns(UserWarning, match="many times slower"):
        vectorizer = TextVectorizer(token_pattern=r"#(\w+)").fit(["#bank rates"])
    [token] = find_tokens("of #bank", vectorizer)
    assert (token.begin, token.end, token.term) == (4, 8, "bank")


def test_character_n_grams_have_no_words_to_mark():
    vectorizer = TextVectorizer(analyzer="char", ngram_range=(2, 3)).fit([TEXT])
    assert find_tokens(TEXT, vectorizer) == []
    assert "".join(piece.text for piece in highlight(TEXT, vectorizer, {"ba": 1.0}, 500)) == TEXT
    assert common_forms([TEXT], vectorizer) == {}


@pytest.mark.parametrize("most", [500, len(TEXT), 20, 3, 0])
def test_highlighting_does_not_change_the_text(most):
    vectorizer = _fitted(stemmer="porter")
    pieces = highlight(TEXT, vectorizer, {"bank": 3.0, "rate": -0.5}, most)
    assert "".join(piece.text for piece in pieces) == TEXT[:most]


def test_strength_follows_what_a_word_adds():
    pieces = highlight("bank bank rates the", _fitted(), {"bank": 2.0, "rates": -0.5, "the": 0.001}, 500)
    marked = {piece.text: (piece.level, piece.log_odds) for piece in pieces if piece.level}
    assert marked == {"bank": (4, 2.0), "rates": (-2, -0.5)}


def test_a_text_of_megabytes_is_not_read_to_its_end():
    text = "bank rates " * 1_000_000
    pieces = highlight(text, _fitted(), {"bank": 1.0}, 15)
    assert [(piece.text, piece.level) for piece in pieces] == [("bank", 4), (" rates ", 0), ("bank", 4)]


def test_a_word_cut_by_the_end_is_not_marked():
    assert [piece.level for piece in highlight("a bank", _fitted(), {"bank": 1.0}, 4)] == [0]


def test_stems_are_shown_in_their_commonest_form():
    vectorizer = _fitted(stemmer="porter", stop_words="english")
    forms = common_forms(["Companies and companies", "a company", "the rate", "rates"], vectorizer)
    assert forms["compani"] == "companies"
    assert forms["rate"] == "rate", "of equally frequent forms the first in the alphabet"
    assert "the" not in forms
    assert shown("compani rate", forms) == "companies rate"
    assert shown("unseen", forms) == "unseen"


def test_words_without_a_stemmer_are_shown_as_they_are():
    assert common_forms([TEXT], _fitted()) == {}

"""Named token patterns: the same tokens by kernel and by regular expression, in linear time."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from references.backtracking import steps_are_in_proportion
from textbayes.core.state import from_state, to_state
from textbayes.text import HashingTextVectorizer, TextVectorizer
from textbayes.text.linear_pattern import why_not_linear
from textbayes.text.packed import unpack
from textbayes.text.tokenize import ENTITY, PATTERN_NAMES, named_pattern, tidied, token_expression, tokenize

ODDITIES = st.sampled_from("aB3_!?'#@:)(-<& हिन्दीمُ́éİΣ❤\ufe0f👍🏽🇩🇪👨\u200d👩中\ud800\u200c")
ASCII = st.text(st.sampled_from("aB3_!?'#@:;=)(-<dp*| "), max_size=40)
TEXTS = st.lists(st.one_of(ASCII, st.text(st.one_of(ODDITIES, st.characters()), max_size=40)), max_size=5)


def tokens_of(text: str, pattern: str) -> list[str]:
    tokens = tokenize([text], pattern, lowercase=True)
    names = unpack(tokens.names)
    return [names[i] for i in tokens.ids]


@pytest.mark.parametrize("name", PATTERN_NAMES)
@given(texts=TEXTS)
def test_the_kernel_finds_what_the_regular_expression_finds(name: str, texts: list[str]) -> None:
    find_all = re.compile(token_expression(name)).findall
    for text in texts:
        assert tokens_of(text, name) == find_all(text.lower())


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("words", "Mp3 players of the 90s don't a_b", ["players", "of", "the", "don"]),
        ("all", "Is 7 a_b? No!!", ["is", "7", "a_b", "?", "no", "!", "!"]),
        ("all", "don't", ["don", "t"]),
        ("all", "ok👍🏽yes ❤️ 🇩🇪🇫🇷 👨‍👩‍👧", ["ok", "👍", "yes", "❤", "🇩🇪", "🇫🇷", "👨", "👩", "👧"]),
        ("tweets", "@Bob don't #MeToo :-( ok? 👍", ["@bob", "don't", "#metoo", ":-(", "ok", "?", "👍"]),
        ("tweets", "<3 at 6:30", ["<3", "at", "6", "30"]),
        ("words", "हिन्दी में مُحَمَّد தமிழ்", ["हिन्दी", "में", "مُحَمَّد", "தமிழ்"]),
        ("all", "می‌خواهم", ["می\u200cخواهم"]),
    ],
)  # fmt: skip
def test_tokens_by_hand(name: str, text: str, tokens: list[str]) -> None:
    assert tokens_of(text, name) == tokens


def test_words_are_those_of_the_default_of_before_where_letters_have_no_marks(newsgroups: list[str]) -> None:
    ours = TextVectorizer(token_pattern="words").fit_transform([text.replace("&", " ") for text in newsgroups])
    before = TextVectorizer(token_pattern=r"(?u)\b[^\W\d_]{2,}\b")
    assert (ours != before.fit_transform([text.replace("&", " ") for text in newsgroups])).nnz == 0


@pytest.mark.parametrize("vectorizer", [TextVectorizer, HashingTextVectorizer])
def test_entities_and_apostrophes_are_read_as_what_they_stand_for(vectorizer: type) -> None:
    made = vectorizer(token_pattern="tweets")
    texts = ["don&#39;t", "don’t", "don&rsquo;t", "don't"]
    X = made.fit_transform(texts).toarray()
    assert (X[0] == X).all()
    assert X[0].sum() == 1
    assert list(tidied(["&eacute;t&#xe9; AT&T R&D; &unknown; &copy=1 &#0; &amp;lt;"])) == [
        "été AT&T R&D; &unknown; &copy=1 \ufffd &lt;"
    ]


def test_entities_of_letters_without_spaces_are_read_as_such() -> None:
    assert list(TextVectorizer(analyzer="mixed", token_pattern="all").fit(["&#20013;&#25991;"]).vocabulary_) == [
        "中", "中文", "文",
    ]  # fmt: skip


@pytest.mark.parametrize("name", PATTERN_NAMES)
def test_named_patterns_are_linear_and_kept_without_a_warning(name: str) -> None:
    assert why_not_linear(name) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectorizer = TextVectorizer(token_pattern=name).fit(["a text of words"])
    meta, arrays = to_state(vectorizer)
    assert meta["token_pattern"] == name
    assert from_state(TextVectorizer, meta, arrays, "the vectorizer").vocabulary_ == vectorizer.vocabulary_
    for unit in ("a", "!", "a'", "&#", "&a", "#", ":-", "🇩", "\u0301", "a\u0301"):
        assert steps_are_in_proportion(token_expression(name), unit), unit
        assert steps_are_in_proportion(ENTITY.pattern, unit), unit


def test_other_strings_are_regular_expressions() -> None:
    assert named_pattern(r"\w+") is None
    assert token_expression(r"\w+") == r"\w+"

"""The table-driven tokenizer finds what ``re.findall(pattern, text.lower())`` finds."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from textbayes.core.errors import InputError
from textbayes.text.packed import unpack
from textbayes.text.tokenize import CharacterTable, TextTokens, parse_pattern, tokenize

FAST_PATTERNS = [
    r"(?u)\b\w\w+\b",
    r"(?u)\b\w+\b",
    r"\w+",
    r"\w{3,}",
    r"\w\w{2,}",
    r"[a-z]+",
    r"[A-Za-z]{2,}",
    r"\b[a-zA-Z]{2,}\b",
    r"(?u)\b[a-z][a-z]+\b",
    r"[^\W\d_]+",
    r"\b[^\W\d_]{2,}\b",
    r"[\w']+",
    r"[\u0370-\u03ff]+",
]
SLOW_PATTERNS = [
    r"\w+(?:-\w+)*",
    r"(?i)[a-z]+",
    r"\b[a-z']+\b",  # an apostrophe is no word character, so \b backtracks
    r"\b[a-z]+",
    r"[^ ]+",  # takes NUL in
    r"\S+",
    r"\w*",
    r"(\w)\w+",
    r"\w{0,}",
    r"\w{2,5}",
    r"",
]
ODDITIES = st.sampled_from("İıΣσςßẞKÅÇçéÉñ_09٣²Ⅷ東京नमस्ते\u0307\u0130\u200d\ud800\udfff\0\x1c\x85\u2028😀𝔘𐐀'- aZ")
TEXTS = st.lists(st.text(st.one_of(ODDITIES, st.characters()), max_size=40), max_size=6)


def read(tokens: TextTokens) -> list[list[str]]:
    names = unpack(tokens.names)
    cuts = tokens.doc_starts.tolist()
    return [[names[i] for i in tokens.ids[a:b]] for a, b in pairwise(cuts)]


def reference(texts: list[str], pattern: str, lowercase: bool) -> list[list[str]]:
    """Lower the text, then find the tokens: all there is to it."""
    return [re.findall(pattern, text.lower() if lowercase else text) for text in texts]


@pytest.mark.parametrize("pattern", FAST_PATTERNS)
def test_common_patterns_need_no_regular_expression(pattern: str) -> None:
    assert parse_pattern(pattern) is not None


@pytest.mark.parametrize("pattern", SLOW_PATTERNS)
def test_other_patterns_are_left_to_re(pattern: str) -> None:
    assert parse_pattern(pattern) is None
    texts = ["Well-known don't İstanbul ΟΔΟΣ", "a\0b c", "", "naïve 12 x_1"]
    assert read(tokenize(texts, pattern, lowercase=True)) == reference(texts, pattern, True)


@settings(max_examples=300, deadline=None)
@given(texts=TEXTS, pattern=st.sampled_from(FAST_PATTERNS), lowercase=st.booleans())
@example(texts=["ΟΔΟΣ ΟΔΟΣ. Σ", "İİ İstanbul", ""], pattern=r"\w+", lowercase=True)
@example(texts=["\ud800ab\udfff cd", "a\0bc"], pattern=r"\w+", lowercase=True)
@example(texts=["abc1 def_ ghi 2jk"], pattern=r"\b[a-zA-Z]{2,}\b", lowercase=False)
@example(texts=["ȺȾ" * 20 + " Ⱥ"], pattern=r"\w+", lowercase=True)  # two bytes become three
def test_finds_what_re_finds(texts: list[str], pattern: str, lowercase: bool) -> None:
    assert read(tokenize(texts, pattern, lowercase)) == reference(texts, pattern, lowercase)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.text("abcdefghAB _.", max_size=200), max_size=5), pattern=st.sampled_from(FAST_PATTERNS))
def test_finds_what_re_finds_in_ascii(texts: list[str], pattern: str) -> None:
    assert read(tokenize(texts, pattern, lowercase=True)) == reference(texts, pattern, True)


def test_every_code_point_is_classed_and_lowered_as_python_does() -> None:
    table = CharacterTable(r"\w", bounded=False, lowercase=True)
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    table.cover(everything)
    word = re.compile(r"\w")
    for code, character in enumerate(everything):
        lowered = character.lower()
        if character != "İ":  # the only character that becomes two; texts with it are lowered by Python
            assert len(lowered) == 1
            assert table.lower[code] == ord(lowered)
            assert bool(table.kind[code]) == bool(word.match(lowered))
            n_before, n_after = (len(c.encode("utf-8", "surrogatepass")) for c in (character, lowered))
            assert 2 * n_after <= 3 * n_before  # the kernel makes room for that
        assert lowered.lower() == lowered


def test_repeated_tokens_share_an_id_across_documents() -> None:
    tokens = tokenize(["one two one", "two three"], r"\w+", lowercase=True)
    assert tokens.ids.tolist() == [0, 1, 0, 1, 2]
    assert tokens.doc_starts.tolist() == [0, 3, 5]


def test_a_single_document_of_50_megabytes() -> None:
    block = "The quick brown fox — jumps over the lazy dog. "
    text = block * (50_000_000 // len(block.encode()) + 1)
    tokens = tokenize([text], r"(?u)\b\w\w+\b", lowercase=True)
    assert len(tokens.ids) == 9 * (len(text) // len(block))
    assert unpack(tokens.names) == ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"]


def test_a_token_of_a_megabyte() -> None:
    long = "x" * 1_000_000
    assert read(tokenize([f"{long} {long}y {long}"], r"\w+", lowercase=True)) == [[long, long + "y", long]]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "is not a regular expression"),
        (r"(\w)(\w)", "captures 2 groups"),
        (b"\\w", "is a bytes; pass a regular expression"),
        (None, "is a NoneType"),
    ],
)
def test_unusable_patterns_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_pattern(pattern)

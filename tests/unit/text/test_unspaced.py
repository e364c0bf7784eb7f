"""Scripts without spaces: n-grams of characters, counted beside the words of other scripts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from textbayes.core.errors import InputError
from textbayes.text import HashingTextVectorizer, TextVectorizer
from textbayes.text.tokenize import RUN, SCRIPTS, blank, split_unspaced

EAST = ("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER")
SOUTH_EAST = ("THAI CHARACTER", "LAO", "KHMER", "MYANMAR")
LETTERS = st.sampled_from("aB é日本語のテキストภาษาไทย1!ភាសာမြန်ລາວКа한글 ")
TEXTS = st.lists(st.text(LETTERS, max_size=30), min_size=1, max_size=6)


def family(character: str) -> int:
    """0 for words, 1 for East Asian, 2 for South-East Asian characters, by their Unicode names."""
    name = unicodedata.name(character, "")
    return 1 if name.startswith(EAST) else 2 if name.startswith(SOUTH_EAST) else 0


def terms_by_hand(text: str, shortest: int, longest: int) -> Counter[str]:
    """Terms as the documentation of ``analyzer="mixed"`` says, without a kernel."""
    terms: list[str] = []
    words = ""
    for kind, group in groupby(text, family):
        run = "".join(group)
        words += run if not kind else " "
        if kind:
            lengths = range(shortest, longest + kind + 1)
            terms += [run[i : i + n] for n in lengths for i in range(len(run) - n + 1)]
    tokens = re.findall(r"\w+", words.lower())
    terms += [" ".join(tokens[i : i + n]) for n in range(shortest, longest + 1) for i in range(len(tokens) - n + 1)]
    return Counter(terms)


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 2), (2, 3)], ids=str)
@given(texts=TEXTS)
def test_counts_are_those_by_hand(ngram_range: tuple[int, int], texts: list[str]) -> None:
    expected = [terms_by_hand(text, *ngram_range) for text in texts]
    vocabulary = sorted(set().union(*expected))
    vectorizer = TextVectorizer(analyzer="mixed", token_pattern=r"\w+", ngram_range=ngram_range)
    if not vocabulary:
        with pytest.raises(InputError, match="no term"):
            vectorizer.fit(texts)
        return
    X = vectorizer.fit_transform(texts)
    assert vectorizer.get_feature_names_out().tolist() == vocabulary
    rows = np.array([[counts[term] for term in vocabulary] for counts in expected])
    np.testing.assert_array_equal(X.toarray(), rows)
    np.testing.assert_array_equal(vectorizer.transform(texts).toarray(), rows)


def test_without_such_scripts_mixed_is_word(newsgroups: list[str]) -> None:
    for options in ({"ngram_range": (1, 2), "min_df": 3}, {"stop_words": "english", "stemmer": "porter"}):
        words, mixed = (TextVectorizer(analyzer=analyzer, **options) for analyzer in ("word", "mixed"))
        assert (words.fit_transform(newsgroups) != mixed.fit_transform(newsgroups)).nnz == 0
        assert words.vocabulary_ == mixed.vocabulary_


def test_results_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["日本語 and English", "plain", "ภาษาไทย 語", "", "日本 again English"] * 3
    vectorizer = TextVectorizer(analyzer="mixed", ngram_range=(1, 2))
    hashing = HashingTextVectorizer(analyzer="mixed", n_features=2**12, alternate_sign=True)
    whole, names, hashed = vectorizer.fit_transform(texts), vectorizer.vocabulary_, hashing.fit_transform(texts)
    monkeypatch.setattr("textbayes.text.batches._BATCH", 12)
    assert (vectorizer.fit_transform(texts) != whole).nnz == 0
    assert vectorizer.vocabulary_ == names
    assert (hashing.transform(texts) != hashed).nnz == 0


def test_words_and_stop_words_and_stems_go_on_beside_them() -> None:
    vectorizer = TextVectorizer(analyzer="mixed", stop_words="english", stemmer="porter", token_pattern="all")
    vectorizer.fit(["The Pythonsが好き! and dogs"])
    assert sorted(vectorizer.vocabulary_) == sorted(["python", "dog", "!", "が", "好", "き", "が好", "好き"])


def test_lengths_count_characters_of_unspaced_scripts() -> None:
    vectorizer = TextVectorizer(analyzer="mixed", token_pattern="all")
    # two words, five characters; one word; nothing
    np.testing.assert_allclose(vectorizer.document_lengths(["Python 3が好きです", "one", ""]), [0.007, 0.001, 0.0])


def test_runs_and_what_is_left() -> None:
    rest, runs = split_unspaced(["ab日本cไทย", "plain", "語"])
    assert rest == ["ab  c   ", "plain", " "]
    assert [of.script for of in runs] == list(SCRIPTS)
    assert [of.doc_starts.tolist() for of in runs] == [[0, 1, 1, 2], [0, 1, 1, 1]]
    assert [of.starts.tolist() for of in runs] == [[0, 2, 3], [0, 3]]
    assert blank("日a") == " a"


def test_the_scripts_are_those_of_unicode() -> None:
    for code in range(0x110000):
        character = chr(code)
        name, letter = unicodedata.name(character, ""), unicodedata.category(character)[0] in "LM"
        if letter and name.startswith((*EAST, *SOUTH_EAST, "HALFWIDTH KATAKANA LETTER", "CJK COMPATIBILITY IDEOGRAPH")):
            assert RUN.fullmatch(character), (hex(code), name)
        elif name.startswith(("LATIN", "CYRILLIC", "ARABIC", "DEVANAGARI", "HANGUL", "DIGIT", "THAI DIGIT", "TIBETAN")):
            assert not RUN.match(character), (hex(code), name)


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_character_n_grams_of_every_script_are_those_of_scikit_learn(analyzer: str) -> None:
    texts = ["日本語 のテキスト", "ภาษาไทย  and\n\tEnglish", "हिन्दी में 👍🏽❤️", "Straße İstanbul ΟΔΟΣ", ""]
    for ngram_range in ((1, 1), (2, 4), (3, 3)):
        ours = TextVectorizer(analyzer=analyzer, ngram_range=ngram_range)
        theirs = CountVectorizer(analyzer=analyzer, ngram_range=ngram_range)
        assert (ours.fit_transform(texts) != theirs.fit_transform(texts)).nnz == 0
        assert ours.vocabulary_ == theirs.vocabulary_

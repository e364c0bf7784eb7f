from __future__ import annotations

import pytest
import Stemmer

from textbayes.core.errors import InputError
from textbayes.text import TextVectorizer
from textbayes.text.languages import check_stemmer, language_code, stem
from textbayes.text.packed import pack, unpack


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("porter", ["categories", "running", "flies"]),
        ("english", ["generously", "skies"]),
        ("german", ["häuser", "kategorien"]),
        ("russian", ["важная", "важной"]),
    ],
)
def test_stems_are_snowballs(language: str, words: list[str]) -> None:
    assert unpack(stem(pack(words), language)) == Stemmer.Stemmer(language).stemWords(words)


def test_a_code_names_the_language() -> None:
    assert unpack(stem(pack(["häuser"]), "de")) == unpack(stem(pack(["häuser"]), "german")) == ["haus"]
    for name in Stemmer.algorithms():
        check_stemmer(name)
        check_stemmer(language_code(name))


def test_a_word_without_a_stem_stays() -> None:
    assert Stemmer.Stemmer("porter").stemWord("s") == ""
    assert unpack(stem(pack(["s", "cats"]), "porter")) == ["s", "cat"]


def test_a_lone_surrogate_stays_and_does_not_harm_the_others() -> None:
    assert unpack(stem(pack(["a\ud800running", "running"]), "porter")) == ["a\ud800running", "run"]


def test_an_unknown_stemmer_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean 'german'"):
        check_stemmer("germann")
    with pytest.raises(InputError, match="stemmer='latin9' is not known"):
        TextVectorizer(stemmer="latin9").fit(["text"])
    with pytest.raises(InputError, match=r"stemmer=\['porter'\] is not known"):
        TextVectorizer(stemmer=["porter"]).fit(["text"])


@pytest.mark.parametrize(
    ("stemmer", "word"),
    [("english", "brewing"), ("spanish", "brebaciones"), ("german", "brauungen"), ("tamil", "மரங்கள்")],
)
def test_a_word_without_end_is_not_stemmed(stemmer, word):
    """Some stemmers would take a second for 200 kB, and an hour for 10 MB."""
    endless = word * 200
    [stemmed] = unpack(stem(pack([word]), stemmer))
    assert stemmed != word
    assert unpack(stem(pack([endless, word]), stemmer)) == [endless, stemmed]
    assert unpack(stem(pack([endless, "\ud800", word]), stemmer)) == [endless, "\ud800", stemmed]


def test_porter_stems_words_of_any_length():
    assert unpack(stem(pack(["brew" * 5_000 + "ing"]), "porter")) == ["brew" * 5_000]

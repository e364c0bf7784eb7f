"""Which language texts are in, and classifying texts of scripts without spaces."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import Stemmer

from textbayes import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.store import load_categorizer, save_model
from textbayes.text import TextVectorizer
from textbayes.text.languages import LANGUAGES, Language, detect_language, language_code, language_name

# Sentences written for these tests: many languages, and two topics in three that put no spaces between words.
WRITTEN = json.loads((Path(__file__).parent / "languages.json").read_text(encoding="utf-8"))
COOKING, MONEY = WRITTEN["cooking"], WRITTEN["money"]
SENTENCES = {**WRITTEN["sentences"], **{code: COOKING[code] + MONEY[code] for code in COOKING}}


@pytest.mark.parametrize("code", SENTENCES)
def test_languages_are_recognised(code: str) -> None:
    found = detect_language(SENTENCES[code])
    assert found.code == code
    assert found.share > 0.95
    assert [text for text in SENTENCES[code] if detect_language([text]).code != code] == []


@pytest.mark.parametrize(
    ("code", "script"),
    [("de", "latin"), ("ru", "cyrillic"), ("el", "greek"), ("ar", "arabic"), ("hi", "devanagari"), ("ko", "hangul"),
     ("zh", "han"), ("ja", "hiragana"), ("th", "thai")],
)  # fmt: skip
def test_scripts(code: str, script: str) -> None:
    assert detect_language(SENTENCES[code]).script == script


def test_the_vectorizer_takes_what_a_language_offers() -> None:
    german = detect_language(SENTENCES["de"])
    assert (german.name, german.stemmer, german.stop_words, german.spaced) == ("german", "german", "german", True)
    vectorizer = TextVectorizer(stemmer=german.stemmer, stop_words=german.stop_words).fit(SENTENCES["de"])
    assert {"zug", "schlussel", "kind"} <= set(vectorizer.vocabulary_)
    assert not {"der", "die", "und", "kinder"} & set(vectorizer.vocabulary_)
    for code in ("zh", "ja", "th"):
        found = detect_language(SENTENCES[code])
        assert (found.stemmer, found.stop_words, found.spaced) == (None, None, False)
    assert detect_language(SENTENCES["ko"]).stemmer is None
    assert Language("ta", 1.0, "tamil").stop_words is None  # stems, but no list


def test_the_share_is_that_of_the_texts_and_a_mixture_is_unknown() -> None:
    chooser = random.Random(1)
    for first, second in (("de", "fr"), ("en", "zh"), ("zh", "ja")):
        for share, code in ((0.5, "unknown"), (0.9, first)):
            from_first = [chooser.random() < share for _ in range(200)]
            found = detect_language([chooser.choice(SENTENCES[first if one else second]) for one in from_first])
            assert found.code == code
            assert found.share == pytest.approx(max(sum(from_first), 200 - sum(from_first)) / 200, abs=0.05)


def test_short_and_empty_texts() -> None:
    words = [word for text in SENTENCES["de"] for word in text.split()]
    assert detect_language(words).code == "de"  # read several at a time
    for texts in ([], [""], ["", "12 + 3 = 15"] * 20, ["ok"], ["???", "!!!"]):
        assert detect_language(texts).code == "unknown"
    assert detect_language([]) == Language("unknown", 0.0, "unknown")


def test_capitals_addresses_mentions_and_mark_up_do_not_mislead() -> None:
    messy = [
        f"<div class='main'>@user https://example.com/index {text.upper()} &nbsp; #tag 2024" for text in SENTENCES["es"]
    ]
    assert detect_language(messy).code == "es"


def test_a_sample_is_spread_over_all_texts_and_always_the_same() -> None:
    texts = SENTENCES["de"] * 500 + SENTENCES["fr"] * 500
    found = detect_language(texts, sample=100)
    assert found == detect_language(texts, sample=100)
    assert found.share == pytest.approx(0.5, abs=0.02)
    assert detect_language((text for text in SENTENCES["de"]), sample=1).code == "de"
    with pytest.raises(InputError, match="one str was given as the corpus"):
        detect_language("Ein Text")


def test_real_english_is_english(newsgroups: list[str], federalist: list[str]) -> None:
    for texts in (newsgroups, federalist, [" ".join(text.split()[20:26]) for text in newsgroups]):
        assert detect_language(texts).code == "en"


def test_names_and_codes() -> None:
    assert len(set(LANGUAGES.values())) == len(LANGUAGES)
    for name in set(Stemmer.algorithms()) - {"porter", "dutch_porter"}:
        code = language_code(name)
        assert code is not None
        assert language_name(code) == name
        assert unpacked(name) == unpacked(code)


def unpacked(stemmer: str) -> str:
    return str(Stemmer.Stemmer(stemmer).stemWord("a"))  # PyStemmer knows the codes by itself


def test_the_library_is_loaded_when_a_language_is_asked_for_only() -> None:
    code = "import sys, textbayes.text.languages, textbayes.text; sys.exit('py3langid' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("language", ["zh", "ja", "th"])
def test_scripts_without_spaces_are_classified(language: str, tmp_path: Path) -> None:
    texts = COOKING[language][:12] + MONEY[language][:12]
    held_out = COOKING[language][12:] + MONEY[language][12:]
    labels = ["cooking"] * 4 + ["money"] * 4
    model = TextCategorizer(vectorizer=TextVectorizer(analyzer="mixed", min_df=2), preset="linear").fit(
        texts, ["cooking"] * 12 + ["money"] * 12
    )
    assert model.predict(held_out).tolist() == labels
    save_model(model, tmp_path / "model")
    again = load_categorizer(tmp_path / "model")
    assert again.vectorizer_.analyzer == "mixed"
    assert (again.predict_proba(held_out) == model.predict_proba(held_out)).all()
    # Read as words between white space, some held-out texts have nothing in common with any other text.
    assert (TextVectorizer().fit(texts).transform(held_out).getnnz(axis=1) == 0).any()
    assert (model.vectorizer_.transform(held_out).getnnz(axis=1) > 0).all()

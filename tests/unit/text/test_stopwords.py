from __future__ import annotations

from pathlib import Path

import pytest
import Stemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.text import TextVectorizer, load_stop_words
from textbayes.text.languages import has_stop_words, language_code, language_name


def test_the_published_lists() -> None:
    assert load_stop_words("english") == sorted(ENGLISH_STOP_WORDS)
    smart = load_stop_words("smart")
    assert len(smart) == 570  # 571 entries, "would" twice
    assert {"a's", "would", "zero"} <= set(smart)
    assert load_stop_words(None) == []


def test_lists_by_language_are_those_of_stopwords_iso() -> None:
    import stopwordsiso

    for code in stopwordsiso.langs() - {"en"}:
        assert load_stop_words(code) == load_stop_words(language_name(code)) == sorted(stopwordsiso.stopwords(code))
    assert load_stop_words("en") == load_stop_words("english")
    assert {"der", "die", "das", "und"} <= set(load_stop_words("german"))


def test_every_language_that_has_stems_has_a_list_or_is_refused() -> None:
    without = {name for name in Stemmer.algorithms() if language_code(name) and not has_stop_words(name)}
    assert without == {"nepali", "serbian", "tamil", "yiddish"}
    with pytest.raises(InputError, match="there is no stop list for 'serbian'; pass None, the path of a file"):
        load_stop_words("sr")


def test_a_file_of_words(tmp_path: Path) -> None:
    path = tmp_path / "stop.txt"
    path.write_bytes(b"\xef\xbb\xbf# common\nthe  # article\n\nof\r\n\xc3\xa9t\xc3\xa9\nthe\n")
    assert load_stop_words(path) == load_stop_words(str(path)) == ["of", "the", "été"]


def test_files_that_cannot_be_used_are_refused_by_name_and_line(tmp_path: Path) -> None:
    path = tmp_path / "stop.txt"
    path.write_bytes(b"the\nof\n\xff\n")
    with pytest.raises(MalformedFileError, match=r"stop\.txt, line 3: not UTF-8"):
        load_stop_words(path)
    path.write_text("the\nof a\n")
    with pytest.raises(MalformedFileError, match=r"stop\.txt, line 2: 'of a' is more than one word"):
        load_stop_words(path)
    path.write_text("# nothing\n")
    with pytest.raises(MalformedFileError, match="no stop word in it"):
        load_stop_words(path)
    with pytest.raises(InputError, match="'engish' is neither 'smart' nor a language such as 'english' nor a file"):
        load_stop_words("engish")


@pytest.mark.parametrize(
    ("words", "message"),
    [(3, "stop_words is a int"), (b"the", "stop_words is a bytes"), (["the", 3], "stop word 1 is a int, 3")],
)
def test_words_that_are_none_are_refused(words: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_stop_words(words)


def test_stop_words_are_split_and_lowered_like_the_texts() -> None:
    vectorizer = TextVectorizer(stop_words=["Don't", "THE"]).fit(["don't the dog"])
    assert vectorizer.stop_words_ == ("don", "the")
    assert list(vectorizer.vocabulary_) == ["dog"]


def test_stop_words_are_compared_before_stemming() -> None:
    vectorizer = TextVectorizer(stop_words=["being"], stemmer="porter").fit(["being beings"])
    assert vectorizer.vocabulary_ == {"be": 0}  # the stem of "beings", which is no stop word

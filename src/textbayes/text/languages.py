"""Languages: their names and codes, stop words and stemmers, and which language texts are in."""

from __future__ import annotations

import ast
import difflib
import importlib.metadata
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import Stemmer

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.text.batches import check_texts
from textbayes.text.packed import Packed, pack_bytes, unpack_bytes

# ISO 639-1 codes of the languages that have stems, a stop list, or a script without spaces.
LANGUAGES = {
    "af": "afrikaans", "ar": "arabic", "bg": "bulgarian", "bn": "bengali", "br": "breton", "ca": "catalan",
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "gl": "galician",
    "gu": "gujarati", "ha": "hausa", "he": "hebrew", "hi": "hindi", "hr": "croatian", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "ja": "japanese", "km": "khmer", "ko": "korean",
    "ku": "kurdish", "la": "latin", "lo": "lao", "lt": "lithuanian", "lv": "latvian", "mr": "marathi", "ms": "malay",
    "my": "burmese", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sk": "slovak", "sl": "slovenian", "so": "somali", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "sw": "swahili", "ta": "tamil", "th": "thai", "tl": "tagalog", "tr": "turkish",
    "uk": "ukrainian", "ur": "urdu", "vi": "vietnamese", "yi": "yiddish", "yo": "yoruba", "zh": "chinese", "zu": "zulu",
}  # fmt: skip
_CODES = {name: code for code, name in LANGUAGES.items()}


def language_name(name: str) -> str:
    """The name of a language given by its ISO 639-1 code; anything else stays as it is.

    >>> language_name("de"), language_name("german"), language_name("porter")
    ('german', 'german', 'porter')
    """
    return LANGUAGES.get(name, name)


def language_code(name: str) -> str | None:
    """The ISO 639-1 code of a language given by its name or code, None for what is no language known here.

    >>> language_code("german"), language_code("de"), language_code("klingon")
    ('de', 'de', None)
    """
    return name if name in LANGUAGES else _CODES.get(name)


_LONGEST = 1_000  # bytes of a word that is stemmed: some stemmers take time in proportion to the square of its length


def check_stemmer(stemmer: str | None) -> None:
    """Refuse a stemmer that PyStemmer does not have."""
    names = Stemmer.algorithms()
    if stemmer is not None and language_name(str(stemmer)) not in names:
        close = difflib.get_close_matches(str(stemmer), names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError(f"stemmer={stemmer!r} is not known: choose None or one of {', '.join(names)}{hint}")


def stem(words: Packed, stemmer: str) -> Packed:
    """Stem each word, by the Snowball algorithm of that name or code ("porter": Porter 1980; "english": Porter 2).

    A word whose stem would be empty (Porter makes nothing of "s") stays as it is, and so does one with a lone
    surrogate, which the stemmers do not read, and one of more than 1,000 bytes, unless the stemmer is "porter", which
    reads them in linear time. About 0.6 µs a word.

    >>> from textbayes.text.packed import pack, unpack
    >>> unpack(stem(pack(["categories", "categorised"]), "porter"))
    ['categori', 'categoris']
    """
    # PyStemmer's own cache of 10,000 words costs more than it saves when every word comes once.
    snowball = Stemmer.Stemmer(language_name(stemmer), 0)
    originals = unpack_bytes(words)
    longest = max(map(len, originals), default=0) if stemmer == "porter" else _LONGEST
    try:
        stems = snowball.stemWords([word if len(word) <= longest else b"" for word in originals])
    except UnicodeDecodeError:
        stems = [snowball.stemWord(word) if len(word) <= longest and _is_utf8(word) else b"" for word in originals]
    return pack_bytes([stemmed or word for stemmed, word in zip(stems, originals, strict=True)])


def _is_utf8(word: bytes) -> bool:
    try:
        word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


StopWords: TypeAlias = str | PathLike[str] | Iterable[str] | None


def load_stop_words(stop_words: StopWords) -> list[str]:
    """The words of a stop list, sorted, each once.

    Parameters
    ----------
    stop_words : None, "smart", a language such as "german" or "de", path, or iterable of str
        ``"english"`` is scikit-learn's list of 318 words. ``"smart"`` is the list of the SMART system (Salton 1971) as
        shipped by python-rake: 571 entries, the published size, one of them ("would") twice, so 570 words. The lists of
        other languages, by name or ISO 639-1 code, are those of Stopwords ISO. Any other string is the path of a file:
        UTF-8, one word a line, ``#`` starts a comment.

    >>> len(load_stop_words("english")), len(load_stop_words("smart")), load_stop_words(["of", "a", "of"])
    (318, 570, ['a', 'of'])
    """
    if stop_words is None:
        return []
    if isinstance(stop_words, str) and language_name(stop_words) == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return sorted(ENGLISH_STOP_WORDS)
    if isinstance(stop_words, str) and stop_words == "smart":
        return sorted(set(_smart_list()))
    if isinstance(stop_words, str) and is_list_name(stop_words):
        return sorted(set(_language_list(stop_words)))
    if isinstance(stop_words, (str, PathLike)):
        return sorted(set(_read_file(Path(stop_words))))
    return sorted(set(_checked(stop_words)))


def is_list_name(stop_words: StopWords) -> bool:
    """Whether it is the name of a published list or of a language, not a file or words.

    >>> is_list_name("smart"), is_list_name("de"), is_list_name("stop.txt")
    (True, True, False)
    """
    return isinstance(stop_words, str) and (stop_words == "smart" or language_code(stop_words) is not None)


def has_stop_words(language: str) -> bool:
    """Whether there is a stop list for a language, by its name or code."""
    code = language_code(language)
    return code == "en" or code in _iso_lists()


def _checked(words: Any) -> list[str]:
    if isinstance(words, bytes) or not isinstance(words, Iterable):
        raise InputError(
            f"stop_words is a {type(words).__name__}; pass None, 'smart', a language such as 'german', the path of a "
            "file with one word a line, or a list of words"
        )
    words = list(words)
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(f"stop word {i} is a {type(word).__name__}, {word!r}; every stop word must be a str")
    return words


def _language_list(language: str) -> list[str]:
    code = language_code(language)
    if code not in _iso_lists():
        raise InputError(
            f"there is no stop list for {language_name(language)!r}; pass None, the path of a file with one word a "
            "line, or a list of words"
        )
    return _iso_lists()[code]


@lru_cache(maxsize=1)
def _iso_lists() -> dict[str, list[str]]:
    """Stopwords ISO by language code; only the data is read."""
    distribution = importlib.metadata.distribution("stopwordsiso")
    text = Path(str(distribution.locate_file("stopwordsiso/stopwords-iso.json"))).read_text(encoding="utf-8")
    lists: dict[str, list[str]] = json.loads(text)
    return lists


def _smart_list() -> list[str]:
    # Only the data is read: importing the module would run the package's own code.
    distribution = importlib.metadata.distribution("python-rake")
    source = Path(str(distribution.locate_file("RAKE/stoplists/SmartStopList.py"))).read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["wordlist"]:
            return [word for word in ast.literal_eval(node.value) if not word.startswith("#")]
    raise InputError(f"python-rake {distribution.version} holds no SMART word list; install python-rake 1.5.0")


def _read_file(path: Path) -> list[str]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"stop_words={str(path)!r} is neither 'smart' nor a language such as 'english' nor a file that can be read "
            f"({error.strerror or error}); give one of them, or a list of words"
        ) from error
    words = []
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        try:
            word = line.decode("utf-8").partition("#")[0].strip()
        except UnicodeDecodeError as error:
            raise MalformedFileError(path, f"not UTF-8 ({error.reason}); save the file as UTF-8", number) from error
        if len(word.split()) > 1:
            raise MalformedFileError(path, f"{word!r} is more than one word; write one word a line", number)
        if word:
            words.append(word)
    if not words:
        raise MalformedFileError(path, "no stop word in it; write one word a line, or pass stop_words=None")
    return words


UNKNOWN = "unknown"
_LEAST_SHARE = 0.75
_LEAST_BYTES = 15  # of UTF-8, some three words: less is a guess
_MOST_CHARACTERS = 500  # read of a text
_NOT_PROSE = re.compile(r"https?://\S+|www\.\S+|[@#]\w+|<[^<>]{1,200}>|&#?\w{1,30};|\d+")
_UNSPACED = ("han", "hiragana", "katakana", "bopomofo", "thai", "lao", "khmer", "myanmar")
_ALIKE = {"nn": "no", "nb": "no"}  # two written standards of Norwegian, one stemmer


@dataclass(frozen=True)
class Language:
    """Language of some texts.

    Parameters
    ----------
    code : str
        ISO 639-1, such as "en"; "unknown" where texts are too short or in too many languages.
    share : float
        Share of the texts looked at that are in the language which most are in; a text counts by how sure it is.
    script : str
        What most letters are written in, by its Unicode name in lower case: "latin", "cyrillic", "han", "hiragana",
        "thai"; "unknown" where there is no letter.
    """

    code: str
    share: float
    script: str

    @property
    def name(self) -> str:
        """English name of the language in lower case; its code where it has no name here."""
        return language_name(self.code)

    @property
    def stemmer(self) -> str | None:
        """Its stemmer, for ``TextVectorizer(stemmer=…)``, if there is one."""
        return self.name if self.name in Stemmer.algorithms() else None

    @property
    def stop_words(self) -> str | None:
        """Its stop list, for ``TextVectorizer(stop_words=…)``, if there is one and words are spaced."""
        return self.name if self.spaced and has_stop_words(self.code) else None

    @property
    def spaced(self) -> bool:
        """Whether its script puts spaces between words."""
        return self.code not in ("zh", "ja", "th", "lo", "km", "my") and self.script not in _UNSPACED


def detect_language(texts: Iterable[str], sample: int = 300) -> Language:
    """Notice which language texts are in.

    Each text has a vote that weighs as much as its language is probable; where most texts have but a word or two, they
    are read several at a time. The first 500 characters of ``sample`` texts are read, spread evenly over all, so that
    the answer costs some tenths of a second and is always the same.

    Parameters
    ----------
    texts : iterable of str
    sample : int, default=300
        Number of texts to look at.

    Notes
    -----
    py3langid, a naive Bayes classifier of n-grams of bytes (Lui & Baldwin 2012), says how probable each language is.

    Examples
    --------
    >>> detect_language(["Der Zug an die Küste fährt morgens ab.", "Niemand weiß, warum die Brücke gesperrt ist."])
    Language(code='de', share=1.0, script='latin')
    """
    given = list(check_texts(texts))
    n = min(len(given), max(int(sample), 1))
    chosen = [given[i * len(given) // n] for i in range(n)]
    prose = [_prose(text) for text in chosen if isinstance(text, str)]  # what is no text the vectorizer refuses
    script = _script("".join(prose))
    votes: dict[str, float] = {}
    for piece in _pieces(prose):
        code, probability = _classifier()(piece)
        code = _ALIKE.get(code, code)
        votes[code] = votes.get(code, 0.0) + probability
    if not votes:
        return Language(UNKNOWN, 0.0, script)
    code = max(votes, key=lambda one: (votes[one], one))
    share = votes[code] / sum(votes.values())
    return Language(code if share >= _LEAST_SHARE and code != "zxx" else UNKNOWN, share, script)


def _prose(text: str) -> str:
    """Beginning of a text in lower case (headlines in capitals mislead), without addresses, mark-up and numbers."""
    return " ".join(_NOT_PROSE.sub(" ", text[: 2 * _MOST_CHARACTERS]).split())[:_MOST_CHARACTERS].lower()


def _pieces(texts: list[str]) -> list[str]:
    """Texts that are long enough to tell, or, where most are not, several of them at a time."""
    long_enough = [text for text in texts if _can_tell(text)]
    if 2 * len(long_enough) >= sum(map(bool, texts)):
        return long_enough
    pieces, piece = [], ""
    for text in texts:
        piece = f"{piece} {text}"
        if _can_tell(piece):
            pieces.append(piece)
            piece = ""
    return pieces


def _can_tell(text: str) -> bool:
    letters = "".join(filter(str.isalpha, text))
    return len(letters.encode("utf-8")) >= _LEAST_BYTES


@lru_cache(maxsize=1)
def _classifier() -> Callable[[str], tuple[str, float]]:
    """What says the most probable language of a text and how probable it is."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    # Codes of three letters are of small languages and dialects, which a short text is too easily taken for.
    identifier.set_languages([code for code in identifier.labels if len(code) == 2 or code == "zxx"])
    classify: Callable[[str], tuple[str, float]] = identifier.classify
    return classify


def _script(text: str) -> str:
    letters: Counter[str] = Counter()
    for character, n in Counter(text).items():
        if character.isalpha():
            letters[_script_of(character)] += n
    return max(letters.items(), key=lambda item: (item[1], item[0]))[0] if letters else UNKNOWN


def _script_of(letter: str) -> str:
    """First word of a letter's Unicode name, which is its script."""
    first = unicodedata.name(letter, UNKNOWN).split(" ")[0].split("-")[0].lower()
    return "han" if first == "cjk" else first

"""Which language texts are in, and what there is for it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from textbayes.text.batches import check_texts
from textbayes.text.languages import has_stop_words, language_name

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
        import Stemmer

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

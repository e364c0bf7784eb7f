"""Languages by name and by code."""

from __future__ import annotations

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

"""Porter and Snowball stemming of distinct words."""

from __future__ import annotations

import difflib

from textbayes.core.errors import InputError
from textbayes.text.language_names import language_name
from textbayes.text.packed import Packed, pack_bytes, unpack_bytes

_LONGEST = 1_000  # bytes of a word that is stemmed: some stemmers take time in proportion to the square of its length


def check_stemmer(stemmer: str | None) -> None:
    """Refuse a stemmer that PyStemmer does not have."""
    import Stemmer

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
    import Stemmer

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

"""Stop words: two published lists, the user's file, or the user's words."""

from __future__ import annotations

import ast
import importlib.metadata
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from textbayes.core.errors import InputError, MalformedFileError

StopWords: TypeAlias = str | PathLike[str] | Iterable[str] | None


def load_stop_words(stop_words: StopWords) -> list[str]:
    """The words of a stop list, sorted, each once.

    Parameters
    ----------
    stop_words : None, "english", "smart", path, or iterable of str
        ``"english"`` is scikit-learn's list of 318 words. ``"smart"`` is the list of the SMART system (Salton 1971) as
        shipped by python-rake: 571 entries, the published size, one of them ("would") twice, so 570 words. Any other
        string is the path of a file: UTF-8, one word a line, ``#`` starts a comment.

    >>> len(load_stop_words("english")), len(load_stop_words("smart")), load_stop_words(["of", "a", "of"])
    (318, 570, ['a', 'of'])
    """
    if stop_words is None:
        return []
    if isinstance(stop_words, str) and stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return sorted(ENGLISH_STOP_WORDS)
    if isinstance(stop_words, str) and stop_words == "smart":
        return sorted(set(_smart_list()))
    if isinstance(stop_words, (str, PathLike)):
        return sorted(set(_read_file(Path(stop_words))))
    return sorted(set(_checked(stop_words)))


def _checked(words: Any) -> list[str]:
    if isinstance(words, bytes) or not isinstance(words, Iterable):
        raise InputError(
            f"stop_words is a {type(words).__name__}; pass None, 'english', 'smart', the path of a file with one word "
            "a line, or a list of words"
        )
    words = list(words)
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(f"stop word {i} is a {type(word).__name__}, {word!r}; every stop word must be a str")
    return words


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
            f"stop_words={str(path)!r} is neither 'english' nor 'smart' nor a file that can be read "
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

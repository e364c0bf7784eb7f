"""How texts are cut, as rules that other programs can follow: patterns, and what takes the place of what matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textbayes.export.porter import porter_rules
from textbayes.export.scoring import Reading
from textbayes.text.tokenize import ENTITY

Rule = tuple[str, str, str]  # pattern, replacement, and the function that is called in its place, or ""
ANY_WORD = "\n"  # the term that every word becomes where a text's words are counted, known or not
_APART = "\t"  # stands between runs of characters: an n-gram with it is no term of a model
_ALL = "(?s)^.*"


class Cut(NamedTuple):
    """Text rules, then words that match, without stop words, then word rules, then n-grams with a glue between."""

    text_rules: list[Rule]
    word: str
    stop_words: tuple[str, ...] = ()
    word_rules: tuple[Rule, ...] = ()
    ngrams: tuple[int, ...] = (1,)
    glue: str = " "

    @property
    def functions(self) -> set[str]:
        """The names of the functions that rules call."""
        return {function for _, _, function in (*self.text_rules, *self.word_rules) if function}


def cuts_of(reading: Reading) -> list[Cut]:
    """The cuts that together give the terms of a reading.

    Parameters
    ----------
    reading : Reading
    """
    cuts, rules = [], _text_rules(reading)
    for unit, edge, low, high in reading.runs:
        of_runs: list[Rule] = [*rules, (f"(?s)(?:(?!{unit}).)+", _APART, "")]
        if edge:
            of_runs.append((f"((?:{unit})+)", rf"{edge}\1{edge}", ""))
            shorter = low - 1 - 2 * len(edge)
            cuts += [Cut(of_runs, f"{edge}(?:{unit}){{1,{shorter}}}{edge}")] if shorter > 0 else []
        cuts.append(Cut(of_runs, "(?s).", ngrams=tuple(range(low, high + 1)), glue=""))
    if reading.reads_words:
        low, high = reading.ngrams
        cuts.append(_words(reading, reading.stop_words, _stems(reading), range(low, high + 1)))
    return cuts


def cuts_of_length(reading: Reading) -> list[Cut]:
    """The cuts whose terms are ``ANY_WORD``, once for every word and every character of a script without spaces.

    Parameters
    ----------
    reading : Reading
        As :func:`textbayes.export.readings.all_words` gives it.
    """
    same: tuple[Rule, ...] = ((_ALL, ANY_WORD, ""),)
    characters = [Cut(_text_rules(reading), unit, word_rules=same) for unit, *_ in reading.runs]
    return [*characters, _words(reading, word_rules=same)]


def _words(
    reading: Reading, stop_words: tuple[str, ...] = (), word_rules: tuple[Rule, ...] = (), ngrams: Iterable[int] = (1,)
) -> Cut:
    """The words of a text, which runs of characters are no part of."""
    apart: list[Rule] = [(unit, " ", "") for unit, *_ in reading.runs]
    return Cut([*_text_rules(reading), *apart], reading.token, stop_words, word_rules, tuple(ngrams))


def _text_rules(reading: Reading) -> list[Rule]:
    rules: list[Rule] = []
    if reading.head is not None:
        rules.append((rf"(?s)^\s*([^\n]{{0,{reading.head}}}).*", r"\1", ""))
    if reading.tidy:
        rules.append((ENTITY.pattern, "", "unescape"))
    rules += [(pattern, new, "") for pattern, new in reading.replace]
    return [*rules, (_ALL, "", "lower")] if reading.lowercase else rules


def _stems(reading: Reading) -> tuple[Rule, ...]:
    if reading.stemmer is None:
        return ()
    # In text that is not put in lower case the stemmer's Y could not be told from the text's own.
    if reading.stemmer == "porter" and reading.lowercase:
        return tuple((pattern, new, "") for pattern, new in porter_rules())
    return ((_ALL, "", f"Snowball {reading.stemmer}"),)

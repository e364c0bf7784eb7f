"""Scoring as plain JSON, which ``score.py`` beside this file reads with nothing but the standard library.

Whatever can be reckoned beforehand is: the scorer has one formula for all kinds of models, links and decisions. How
texts are cut is written as rules that other programs can follow: patterns, and what takes the place of what matches.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from textbayes._version import __version__
from textbayes.core.types import FloatArray
from textbayes.export.scoring import DispersedBlock, Scoring, TermBlock, TextReading
from textbayes.text.tokenize import ENTITY

FORMAT = "textbayes scoring"
VERSION = 2

_LEAST_DELTA = 1e-100  # in place of 0, where the formula would divide by it: nothing of a score depends on so little
_POWER_AND_LOG = {"raw": (1, 0.0), "binary": (0, 0.0), "log": (0, 1.0), "log2": (0, 1.0 / math.log(2.0))}

Row = tuple[float, list[int], list[float]]  # share in the Euclidean length of a text, columns, weights


class _View(NamedTuple):
    """Cuts whose terms are counted together, what a count is worth, and what is added to scores."""

    name: str
    cuts: list[Cut]
    power_and_log: tuple[int, float]
    terms: Iterable[tuple[str, Row]]
    dispersed: Iterable[tuple[str, int, float, float, float]] = ()


def to_json(scoring: Scoring) -> Iterator[str]:
    """The lines of a JSON file, one for each term, so that no second copy of the model is made in memory.

    Parameters
    ----------
    scoring : Scoring
    """
    views = list(_views(scoring))
    fields = {"format": FORMAT, "version": VERSION, "textbayes": __version__, "classes": scoring.space.class_names}
    fields["functions"] = sorted({name for view in views for cut in view.cuts for name in cut.functions})
    fields["intercept"] = _by_class(scoring, scoring.intercept).tolist()
    fields |= _second_pass(scoring) | _probabilities(scoring) | _decisions(scoring)
    yield json.dumps(fields)[:-1] + ', "views": ['
    for number, view in enumerate(views):
        power, log = view.power_and_log
        head = {"name": view.name, "cuts": [cut._asdict() for cut in view.cuts], "power": power, "log": log}
        yield (",\n" if number else "\n") + json.dumps(head)[:-1] + ', "terms": {'
        yield from _lines(f"{json.dumps(term)}: {json.dumps(row)}" for term, row in view.terms)
        yield '}, "dispersed": ['
        yield from _lines(json.dumps(row) for row in view.dispersed)
        yield "]}"
    yield "]}\n"


def _lines(entries: Iterable[str]) -> Iterator[str]:
    for place, entry in enumerate(entries):
        yield (",\n" if place else "\n") + entry


def _by_class(scoring: Scoring, rows: FloatArray) -> FloatArray:
    """Numbers of each column of scores as numbers of each class, which differ where there are two.

    In a softmax the first of two has the score 0; where each has a probability of its own, minus the second's score.
    """
    if scoring.space.kind != "binary":
        return rows
    return np.stack([np.zeros_like(rows[0]) if scoring.link == "logit" else -rows[0], rows[0]])


def _second_pass(scoring: Scoring) -> dict[str, Any]:
    """How the log-odds that a label does not apply in the first pass follow from scores; and each label's hint."""
    n_classes = len(scoring.space.class_names)
    if scoring.hints is None:
        return {"first_pass": [[0.0] * n_classes] * 2, "hint": [0.0] * n_classes}
    slope, offset, hint = scoring.hints
    return {"first_pass": [(offset / slope).tolist(), (-1.0 / slope).tolist()], "hint": hint.tolist()}


def _probabilities(scoring: Scoring) -> dict[str, Any]:
    binary, own = scoring.space.kind == "binary", scoring.normalise == "own"
    softmax = scoring.normalise == "softmax" or (binary and scoring.link == "logit")
    return {
        "link": "exp" if softmax else scoring.link,
        "sharpness": scoring.sharpness if own else 1.0,
        "exclusive": scoring.space.kind != "multilabel",
    }


def _decisions(scoring: Scoring) -> dict[str, Any]:
    n_classes, thresholds = len(scoring.space.class_names), scoring.thresholds
    if thresholds is None:  # the least probability is itself enough
        return {"thresholds": [math.nextafter(scoring.least, -1.0)] * n_classes, "most": 1}
    if scoring.space.kind == "binary":  # p₂ − (t − 1) is higher than p₁ + t where p₂ > t, and one of them is positive
        return {"thresholds": [-thresholds[0], thresholds[0] - 1.0], "most": 1}
    return {"thresholds": thresholds, "most": n_classes}


def _views(scoring: Scoring) -> Iterator[_View]:
    for block in scoring.blocks:
        yield _View(block.name, cuts_of(block.reading), _POWER_AND_LOG[block.tf], _weighted(scoring, block))
    if scoring.length is None:
        return
    of_length = cuts_of_length(scoring.length)
    for tf, added in (("raw", scoring.per_thousand / 1000.0), ("binary", scoring.with_words)):
        if added.any():
            terms = [(ANY_WORD, _row(0.0, _by_class(scoring, added)))]
            yield _View("length", of_length, _POWER_AND_LOG[tf], terms)
    for one in scoring.dispersed:
        cuts = cuts_of(one.reading) + of_length
        yield _View(one.name, cuts, _POWER_AND_LOG["raw"], _linear(scoring, one), _dispersed(scoring, one))


def _weighted(scoring: Scoring, block: TermBlock) -> Iterator[tuple[str, Row]]:
    """The terms of a block that matter."""
    weights = _by_class(scoring, block.weights)
    for j in block.used:
        idf = float(block.idf[j])
        yield block.terms[j], _row(idf if block.cosine else 0.0, weights[:, j] * idf)


def _linear(scoring: Scoring, block: DispersedBlock) -> Iterator[tuple[str, Row]]:
    """What is linear in the counts of negative binomials, n ln μ of each class, and the term of all words."""
    weights = np.zeros((scoring.space.n_columns, len(block.terms)))
    for (column, factor), rates in zip(block.rows, block.rates, strict=True):
        weights[column] += factor * np.log(rates)
    weights = _by_class(scoring, weights)
    for j, term in enumerate(block.terms):
        yield term, _row(0.0, weights[:, j])
    yield ANY_WORD, (0.0, [], [])


def _dispersed(scoring: Scoring, block: DispersedBlock) -> Iterator[tuple[str, int, float, float, float]]:
    """Rows (term, column, factor, size μ/δ, δ for one word in place of a thousand)."""
    first = len(scoring.space.class_names) - scoring.space.n_columns
    deltas = np.maximum(block.deltas, _LEAST_DELTA)
    sizes = block.rates / deltas
    for j, term in enumerate(block.terms):
        for (column, factor), size, delta in zip(block.rows, sizes[:, j].tolist(), deltas[:, j].tolist(), strict=True):
            yield term, first + column, factor, size, delta / 1000.0


def _row(share: float, weights: FloatArray) -> Row:
    columns = np.flatnonzero(weights)
    return share, columns.tolist(), weights[columns].tolist()


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


def cuts_of(reading: TextReading) -> list[Cut]:
    """The cuts that together give the terms of a reading.

    Parameters
    ----------
    reading : TextReading
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
        cuts.append(_word_cut(reading, reading.stop_words, _stems(reading), range(low, high + 1)))
    return cuts


def cuts_of_length(reading: TextReading) -> list[Cut]:
    """The cuts whose terms are ``ANY_WORD``, once for every word and every character of a script without spaces.

    Parameters
    ----------
    reading : TextReading
        As :func:`textbayes.export.collect.all_words` gives it.
    """
    same: tuple[Rule, ...] = ((_ALL, ANY_WORD, ""),)
    characters = [Cut(_text_rules(reading), unit, word_rules=same) for unit, *_ in reading.runs]
    return [*characters, _word_cut(reading, word_rules=same)]


def _word_cut(
    reading: TextReading,
    stop_words: tuple[str, ...] = (),
    word_rules: tuple[Rule, ...] = (),
    ngrams: Iterable[int] = (1,),
) -> Cut:
    """The words of a text, which runs of characters are no part of."""
    apart: list[Rule] = [(unit, " ", "") for unit, *_ in reading.runs]
    return Cut([*_text_rules(reading), *apart], reading.token, stop_words, word_rules, tuple(ngrams))


def _text_rules(reading: TextReading) -> list[Rule]:
    rules: list[Rule] = []
    if reading.head is not None:
        rules.append((rf"(?s)^\s*([^\n]{{0,{reading.head}}}).*", r"\1", ""))
    if reading.tidy:
        rules.append((ENTITY.pattern, "", "unescape"))
    rules += [(pattern, new, "") for pattern, new in reading.replace]
    return [*rules, (_ALL, "", "lower")] if reading.lowercase else rules


def _stems(reading: TextReading) -> tuple[Rule, ...]:
    if reading.stemmer is None:
        return ()
    # In text that is not put in lower case the stemmer's Y could not be distinguished from the text's own.
    if reading.stemmer == "porter" and reading.lowercase:
        return tuple((pattern, new, "") for pattern, new in porter_rules())
    return ((_ALL, "", f"Snowball {reading.stemmer}"),)


StemRule = tuple[str, str]  # pattern, replacement

_V, _C = "[aeiouy]", "[^aeiouy]"
_R1 = f"{_C}*{_V}+{_C}"  # m > 0: vowels, and a consonant after them
_R2 = f"{_R1}{_C}*{_V}+{_C}"  # m > 1
_SHORT = f"{_C}{_V}[^aeiouywxY]"  # consonant, vowel, consonant, the last not w, x or y
_CUT = "\x01"  # stands where "ed" or "ing" was; no word has it

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "eli": "e",
    "izer": "ize", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al",
    "fulness": "ful", "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ative": "", "ful": "", "ness": ""}
_STEP_4 = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate"]
_STEP_4 += ["iti", "ous", "ive", "ize"]
_ONLY_AFTER = {"ion": "(?<=[st])"}


def porter_rules() -> list[StemRule]:
    """The rules of the Porter stemmer in order, for other programs without a stemmer of their own.

    A word is in lower case. y is written Y where it is a consonant (at the beginning and after a vowel), and y again at
    the end. Each rule takes time in proportion to the word's length: what may be repeated stands once, and up to a
    given character.

    Reference: Porter (1980), An algorithm for suffix stripping, Program 14, 130–137, in the Snowball project's form.
    """
    return [
        (f"(^|{_V})y", r"\1Y"),
        ("(?:(?<=ss)|(?<=i))es$|(?<=[^s])s$", ""),
        (f"^({_R1}.*)eed$", r"\1ee"),
        (f"^({_C}*{_V}.*)(?:(?<!e)ed|ing)$", rf"\1{_CUT}"),
        (f"^(.*(?:at|bl|iz)|{_C}*{_V}+{_C}(?<={_SHORT})){_CUT}$", r"\1e"),
        (rf"([bdfgmnprt])\1{_CUT}$", r"\1"),
        (f"{_CUT}$", ""),
        (f"^({_C}*{_V}.*)[yY]$", r"\1i"),
        *_step(_R1, _STEP_2),
        *_step(_R1, _STEP_3),
        *_step(_R2, dict.fromkeys(_STEP_4, "")),
        (f"^({_R2}.*|{_R1}.*(?<!{_SHORT}))e$", r"\1"),
        (f"^({_R2}.*)(?<=l)l$", r"\1"),
        ("Y", "y"),
    ]


def _step(before: str, endings: Mapping[str, str]) -> Iterator[StemRule]:
    """A rule for each text that is added to what stays of suffixes, for all of these at once.

    A suffix does not count where a longer one of the step ends the word, whatever comes of that.
    """
    by_added = defaultdict(list)
    for suffix, new in endings.items():
        common = next(suffix[:n] for n in range(len(suffix), -1, -1) if new.startswith(suffix[:n]))
        longer = [other for other in endings if other.endswith(suffix) and other != suffix]
        only = "".join(f"(?<!{other.removesuffix(suffix)})" for other in longer) + _ONLY_AFTER.get(suffix, "")
        by_added[new.removeprefix(common)].append(f"{only}{common}(?={suffix.removeprefix(common)}$)")
    for added, suffixes in by_added.items():
        yield f"^({before}.*(?:{'|'.join(suffixes)})).*", rf"\1{added}"

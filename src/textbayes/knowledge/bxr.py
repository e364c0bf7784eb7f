"""Individual priors as BBR and BXR (Bayesian binary and polytomous regression, DIMACS) take them with ``-I``.

The format, as BXRtrain 3.21 (``DataFactory.cpp``) and BMRtrain read it; blank lines and lines that begin with ``#`` say
nothing:

    <feature> <mode> <variance> [ABS] [<skew>]                  for every class
    class <class> <feature> <mode> <variance> [ABS] [<skew>]    for one class; comes before the former
    topic <name> … endoftopic                                   BBR: the feature lines between are for that topic

``variance`` is a number or ``inf``, a multiple of the common variance (``-V``) unless ``ABS`` follows; 0 holds the
weight at its mode. ``skew`` 1 or −1 lets a weight leave its mode upwards or downwards only. Features and classes are
numbers, or names under ``--symbolic``; feature 0 (``@constant``) is the intercept.

A variance v is the scale √v of the Gaussian prior (``-p 2``) and √(v/2) of the Laplace prior (``-p 1``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.validation import check_choice
from textbayes.data.streams import Source, read_lines, source_label
from textbayes.knowledge.files import refuse_in
from textbayes.knowledge.rows import ALL_LABELS, WordPrior, checked
from textbayes.knowledge.table import WordPriors

_HELD = 1e-5  # the scale in place of BXR's variance of 0
_INTERCEPT = ("0", "@constant")
_SKEWS = {"0": None, "1": 1, "+1": 1, "-1": -1}


def read_bxr(
    source: Source,
    *,
    family: str = "gaussian",
    variance: float | None = None,
    words: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> WordPriors:
    """Read an individual-priors file of BBR or BXR.

    Parameters
    ----------
    source : path or stream
    family : {"gaussian", "laplace"}
        The prior it was written for; gaussian is BXR's default.
    variance : float, optional
        The common variance (``-V``). Without it a relative variance of 1 leaves the scale to the model, and any other
        is refused.
    words : mapping of feature number to word, optional
        For files with numbers; a number without a word is refused.

    Notes
    -----
    What has no counterpart here is refused in a sentence: a prior of the intercept (see ``intercept_scale`` of the
    classifier), and a skew around a mode other than 0, for a sign here is one around zero.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO("# grain\\nwheat 0 1 1\\nclass grain corn 2.5 4 ABS\\n")
    >>> print(read_bxr(file).to_csv(), end="")
    word,label,mean,scale,family,sign,source
    wheat,*,0,,gaussian,+,bxr
    corn,grain,2.5,2,gaussian,,bxr
    """
    check_choice("family", family, ("gaussian", "laplace"))
    if variance is not None and not 0.0 < variance < math.inf:
        raise InputError(f"variance={variance!r} is not usable; pass the positive number that was given as -V")
    file, topic = source_label(source), ALL_LABELS
    rows, lines = [], []
    for line, text in read_lines(source, encoding):
        tokens = text.split()
        if not tokens or tokens[0].startswith("#"):
            continue
        if tokens[0].lower() == "topic" and len(tokens) == 2:
            topic = tokens[1]
        elif tokens[0].lower() == "endoftopic" and len(tokens) == 1:
            topic = ALL_LABELS
        else:
            label, values = (tokens[1], tokens[2:]) if tokens[0] == "class" and len(tokens) > 1 else (topic, tokens)
            try:
                rows.append(_row(label, values, family, variance, words))
            except InputError as error:
                raise MalformedFileError(file, str(error), line) from None
            lines.append(line)
    if not rows:
        raise MalformedFileError(file, "there is no prior in it; each line names a feature, a mode and a variance")
    return WordPriors(checked(rows, refuse_in(file, lines)))


def _row(
    label: str, tokens: list[str], family: str, common: float | None, words: Mapping[str, str] | None
) -> WordPrior:
    if len(tokens) < 3:
        raise InputError("a feature, a mode and a variance are needed: <feature> <mode> <variance> [ABS] [<skew>]")
    feature, mode, variance = tokens[0], _number("mode", tokens[1]), _number("variance", tokens[2])
    absolute = tokens[3:4] == ["ABS"]
    rest = tokens[4:] if absolute else tokens[3:]
    if len(rest) > 1 or (rest and rest[0] not in _SKEWS):
        raise InputError(f"{' '.join(rest)!r} after the variance is not known; ABS and a skew of 1, 0 or -1 may follow")
    skew = _SKEWS[rest[0]] if rest else None
    if feature in _INTERCEPT:
        raise InputError("the prior of the intercept is not a word's; drop the line and set intercept_scale instead")
    if not math.isfinite(mode) or not variance >= 0.0:
        raise InputError(f"mode {tokens[1]} and variance {tokens[2]} are not usable; a variance is 0, positive or inf")
    if skew and mode:
        raise InputError(f"skew {rest[0]} around mode {tokens[1]} has no counterpart; a sign here is one around zero")
    if words is not None and feature not in words:
        raise InputError(f"feature {feature!r} is not among the words given; add it")
    word = feature if words is None else words[feature]
    return WordPrior(word, label, mode, _scale(variance, absolute, family, common), family, skew, "bxr")


def _number(what: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what} {text!r} is not a number") from None


def _scale(variance: float, absolute: bool, family: str, common: float | None) -> float | None:
    if variance == 0.0:
        return _HELD
    if not absolute and common is None:
        if variance not in (1.0, math.inf):
            raise InputError(
                f"variance {variance:g} is a multiple of the common variance; pass that (BXR's -V) as variance"
            )
        return None if variance == 1.0 else variance
    total = variance if absolute or common is None else variance * common
    return math.sqrt(total if family == "gaussian" else total / 2.0)

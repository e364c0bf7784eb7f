"""One row of a table of word priors, and what makes a row unusable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn

from textbayes.priors import priors

ALL_LABELS = "*"
FOR, AGAINST = "for", "against"
LARGEST_MEAN, SCALES = 1e4, (1e-6, 1e6)  # a weight is a log-odds, and those of certainty are below a hundred
COLUMNS = ("word", "label", "mean", "scale", "family", "sign", "source")


class WordPrior(NamedTuple):
    """Prior knowledge of one word for one label; None leaves a value to the model's own default.

    A row that says nothing but the word and the label says that the word speaks for the label.

    Parameters
    ----------
    word : str
        As the texts write it or as the model stores it; a phrase or a sentence stands for each of its words.
    label : str
        ``"*"`` for every label; a row of a label's own comes before it.
    mean : float, "for", "against" or None
        The weight to expect. ``"for"`` and ``"against"`` say that the word speaks for or against the label, and leave
        to the model how large a weight that is (:class:`textbayes.knowledge.Strength`).
    scale : float or None
        How far the weight may be from there, as ``scale`` of the family; ``inf`` leaves it free.
    family : str or None
        A prior of ``textbayes.priors``.
    sign : 1, −1, 0 or None
        1 holds the weight at zero or above, −1 at zero or below; 0 and None leave it free.
    source : str
        Where this is from, for people.
    """

    word: str
    label: str = ALL_LABELS
    mean: float | str | None = None
    scale: float | None = None
    family: str | None = None
    sign: int | None = None
    source: str = ""


class Refusal(NamedTuple):
    """Reason for refusing a row: its number, the cause, and the number of the earlier row it repeats, if it does."""

    row: int
    cause: str
    earlier: int | None = None


def checked(rows: Iterable[WordPrior], refuse: Callable[[Refusal], NoReturn]) -> tuple[WordPrior, ...]:
    """The rows with "for" in those that say nothing more; ``refuse`` is called with the first that cannot be used."""
    families = frozenset(priors.names()) - {"by_word"}
    seen: dict[tuple[str, str], int] = {}
    usable = []
    for index, row in enumerate(rows):
        row = _tidied(row)
        cause = _fault(row, families)
        earlier = None if cause else seen.setdefault((row.word, row.label), index)
        if cause or earlier != index:
            of = "every label" if row.label == ALL_LABELS else f"label {row.label!r}"
            refuse(Refusal(index, cause or f"{row.word!r} is given twice for {of}; keep one of them", earlier))
        usable.append(row)
    return tuple(usable)


def _tidied(row: WordPrior) -> WordPrior:
    """Without blanks around word and label, and with "for" where nothing is said."""
    if (
        isinstance(row.word, str)
        and isinstance(row.label, str)
        and (row.word, row.label) != (row.word.strip(), row.label.strip())
    ):
        row = row._replace(word=row.word.strip(), label=row.label.strip())
    silent = row.mean is None and row.scale is None and row.family is None and row.sign is None
    return row._replace(mean=FOR) if silent else row


def _fault(row: WordPrior, families: frozenset[str]) -> str | None:
    """Fault of a row in words, None if it has none."""
    for name, value in (("word", row.word), ("label", row.label)):
        if not isinstance(value, str) or not value.strip():
            return f"the {name} is {value!r}; it must be a text that is not empty"
    if isinstance(row.mean, str):
        if row.mean not in (FOR, AGAINST):
            return f"mean {row.mean!r} is not a number, nor 'for' or 'against'"
    elif row.mean is not None and not math.isfinite(row.mean):
        return f"mean {row.mean} is not a finite number"
    elif row.mean is not None and abs(row.mean) > LARGEST_MEAN:
        return f"mean {row.mean:g} is no weight of a word; give one from -{LARGEST_MEAN:g} to {LARGEST_MEAN:g}"
    if row.scale is not None and not row.scale > 0.0:
        return f"scale {row.scale:g} is not above 0; a small one such as 0.001 holds a weight at its mean"
    if row.scale is not None and not (SCALES[0] <= row.scale <= SCALES[1] or row.scale == math.inf):
        least, most = SCALES
        return f"scale {row.scale:g} is not from {least:g} to {most:g}; 0.001 holds a weight, and inf leaves it free"
    if row.family is not None and row.family not in families:
        return f"family {row.family!r} is not known; choose one of {', '.join(sorted(families))}"
    if row.sign not in (None, -1, 0, 1):
        return f"sign {row.sign!r} is not known; use + (weight ≥ 0), - (weight ≤ 0) or 0 (either)"
    if row.sign and row.mean is not None:
        side = {FOR: 1.0, AGAINST: -1.0}[row.mean] if isinstance(row.mean, str) else row.mean
        if side * row.sign < 0.0:
            return f"mean {row.mean} lies on the side that sign {row.sign:+d} forbids; change one of the two"
    return None

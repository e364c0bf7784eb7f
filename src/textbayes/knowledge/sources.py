"""Sources of prior knowledge of words: names, descriptions, word lists, an earlier model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray
from textbayes.knowledge.match import Analyze
from textbayes.knowledge.rows import AGAINST, FOR, WordPrior
from textbayes.knowledge.table import WordPriors

_JOINED = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")  # the words of money-fx, comp.graphics, human_rights, MoneyMarket


def from_names(labels: Iterable[str], analyze: Analyze | None = None) -> WordPriors:
    """Make a table from the labels' own names, whose words speak for them.

    Parameters
    ----------
    labels : iterable of str
    analyze : function of a text that gives its words, optional
        As for :func:`from_descriptions`.

    Examples
    --------
    >>> [(row.word, row.label) for row in from_names(["money-fx", "MoneyMarket"])]
    [('money fx', 'money-fx'), ('Money Market', 'MoneyMarket')]
    """
    return from_descriptions(named_and_described(labels), analyze, source="name")


def named_and_described(labels: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """For each label a text of the words of its name and its description.

    Parameters
    ----------
    labels : label → description, or labels without any

    Examples
    --------
    >>> named_and_described({"money-fx": "exchange rates"})
    {'money-fx': 'money fx exchange rates'}
    """
    if isinstance(labels, str):
        raise InputError(f"labels is the text {labels!r}; pass a list of labels, or a mapping of label to description")
    described = labels if isinstance(labels, Mapping) else dict.fromkeys(labels, "")
    return {str(label): f"{_JOINED.sub(' ', str(label))} {text}".strip() for label, text in described.items()}


def from_descriptions(
    descriptions: Mapping[str, str], analyze: Analyze | None = None, *, source: str = "description"
) -> WordPriors:
    """Make a table from descriptions of the labels, whose words speak for them as :class:`Strength` says.

    Parameters
    ----------
    descriptions : label → text
        A label with an empty text is passed over.
    analyze : function of a text that gives its words, optional
        The model's own, :func:`textbayes.knowledge.words_of`: a row for each word, stemmed as the model's are. Without
        it a row holds the whole text, which is cut when the table meets a model.

    Examples
    --------
    >>> table = from_descriptions({"ship": "Ships and ports"}, lambda text: text.lower().split())
    >>> [(row.word, row.mean) for row in table]
    [('ships', 'for'), ('and', 'for'), ('ports', 'for')]
    """
    rows = []
    for label, text in descriptions.items():
        if not isinstance(text, str):
            raise InputError(f"the description of {label!r} is a {type(text).__name__}; pass a text")
        pieces = [text] if analyze is None else dict.fromkeys(analyze(text))
        rows += [WordPrior(piece, label, FOR, source=source) for piece in pieces if piece.strip()]
    return WordPriors(rows)


def from_words(
    label: str,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    *,
    mean: float | None = None,
    scale: float | None = None,
    source: str = "list",
) -> WordPriors:
    """Make a table from words that speak for a label, and words that speak against it.

    ``mean``, where given, is the weight of the former, and with its sign turned that of the latter.

    Parameters
    ----------
    label : str
    include, exclude : iterables of str
        Words for the label, and words against it.
    mean : float or None
        Above 0; None leaves the size to the model.
    scale : float or None
        How far a weight may be from there.
    source : str
        Where the words are from, for people.

    Examples
    --------
    >>> from_words("grain", ["wheat", "corn"], ["bank"])[2]
    WordPrior(word='bank', label='grain', mean='against', scale=None, family=None, sign=None, source='list')
    """
    if isinstance(include, str) or isinstance(exclude, str):
        raise InputError("include and exclude are lists of words; wrap a single word in a list")
    if mean is not None and not mean > 0.0:
        raise InputError(f"mean={mean!r} is not usable; pass a positive number, which counts against excluded words")
    of_included, of_excluded = (FOR, AGAINST) if mean is None else (mean, -mean)
    rows = [WordPrior(word, label, of_included, scale, source=source) for word in dict.fromkeys(include)]
    rows += [WordPrior(word, label, of_excluded, scale, source=source) for word in dict.fromkeys(exclude)]
    return WordPriors(rows)


def from_posterior(
    coef: ArrayLike,
    words: Sequence[str],
    labels: Sequence[str],
    *,
    standard_errors: ArrayLike | None = None,
    discount: float = 1.0,
    scale: float | None = None,
    source: str = "model",
) -> WordPriors:
    """Turn the weights of an earlier model into the prior of the next: each that is not zero, for words and labels
    of the same names.

    With standard errors (of a Laplace approximation, say) the earlier posterior N(coef, se²) is raised to the power
    ``discount``, which gives N(coef, se²/discount): the power prior of Ibrahim & Chen for earlier documents that count
    ``discount`` of a document each. Words that the earlier model set to zero are left to the next one's default prior.

    Parameters
    ----------
    coef : array (n_labels, n_words)
    words, labels : names of its columns and rows
    standard_errors : array like ``coef``, optional
        NaN where none is known.
    discount : float in (0, 1]
    scale : float, optional
        Of words without a standard error, divided by √discount; without it theirs is the next model's default.
    source : str

    References
    ----------
    Ibrahim & Chen (2000), Power prior distributions for regression models, Statistical Science 15.

    Examples
    --------
    >>> table = from_posterior([[0.0, 3.0]], ["bank", "wheat"], ["grain"], standard_errors=[[1.0, 0.5]], discount=0.25)
    >>> print(table.to_csv(), end="")
    word,label,mean,scale,family,sign,source
    wheat,grain,3,1,gaussian,,model
    """
    if not 0.0 < discount <= 1.0:
        raise InputError(f"discount={discount!r} is not usable; pass a number above 0, at most 1 (no discount)")
    weights = _matrix(coef, "coef", len(labels), len(words))
    errors = np.full(weights.shape, np.nan)
    if standard_errors is not None:
        errors = _matrix(standard_errors, "standard_errors", len(labels), len(words))
        if (errors <= 0.0).any():
            raise InputError("some standard errors are not above 0; pass NaN where none is known")
    if discount < 1.0 and scale is None and np.isnan(errors[weights != 0.0]).any():
        raise InputError("a discount widens scales, and some weights have none; pass standard errors or scale")
    rows = []
    for label, word in zip(*np.nonzero(weights), strict=True):
        known = not np.isnan(errors[label, word])
        wide = errors[label, word] if known else scale
        rows.append(
            WordPrior(
                str(words[word]),
                str(labels[label]),
                float(weights[label, word]),
                None if wide is None else float(wide / np.sqrt(discount)),
                "gaussian" if known else None,
                source=source,
            )
        )
    return WordPriors(rows)


def _matrix(values: Any, name: str, n_labels: int, n_words: int) -> AnyArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n_labels, n_words):
        raise InputError(f"{name} has shape {array.shape}; {n_labels} labels and {n_words} words were named")
    if np.isinf(array).any() or (name == "coef" and np.isnan(array).any()):
        raise InputError(f"{name} has values that are not finite; pass those of a fitted model")
    return array

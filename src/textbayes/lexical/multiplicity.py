"""One p-value of a word from its tests of each class against the rest."""

from __future__ import annotations

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray
from textbayes.core.validation import check_indicator


def distinct_tests(Y: AnyArray) -> int:
    """Number of different tests among labels: a label and its complement are one, an empty label is none.

    Two classes are one test, three are three.

    >>> distinct_tests(np.array([[1, 0], [0, 1], [0, 1]])), distinct_tests(np.eye(3))
    (1, 3)
    """
    indicator = check_indicator(Y)
    splits = indicator[:, indicator.any(axis=0) & ~indicator.all(axis=0)]
    if not splits.shape[1]:
        return 0
    return int(np.unique(splits ^ splits[:1], axis=1).shape[1])  # the side of the first document is called False


def smallest_p_value(p_values: FloatArray, Y: AnyArray) -> FloatArray:
    """Šidák-corrected smallest p-value of each word, 1 − (1 − min_c p_c)^m over the m distinct tests of the labels.

    The paper keeps the smallest p-value as it is, which is too small by a factor of up to m. Šidák's correction holds
    exactly for independent tests and errs on the safe side for two-sided tests on normal sums of any correlation, as
    classes against the rest are; it is never larger than Bonferroni's m·min p, which ``select_global`` uses.

    Reference: Šidák (1967), "Rectangular confidence regions for the means of multivariate normal distributions",
    JASA 62; the contagion paper, §4, end.

    Parameters
    ----------
    p_values : array (n_labels, n_features)
    Y : boolean array (n_docs, n_labels)

    Returns
    -------
    array (n_features,)

    Examples
    --------
    >>> smallest_p_value(np.array([[0.01, 1.0], [0.5, 0.6], [0.7, 0.8]]), np.eye(3)).round(4)
    array([0.0297, 0.936 ])
    """
    p = np.asarray(p_values, dtype=np.float64)
    indicator = check_indicator(Y)
    if p.ndim != 2 or len(p) != indicator.shape[1]:
        raise InputError(
            f"p_values has shape {p.shape} for {indicator.shape[1]} labels; pass one row of p-values for each label"
        )
    n_tests = distinct_tests(indicator)
    if not n_tests:
        return np.ones(p.shape[1])
    with np.errstate(divide="ignore"):  # p = 1: ln 0
        result: FloatArray = -np.expm1(n_tests * np.log1p(-p.min(axis=0)))
    return result

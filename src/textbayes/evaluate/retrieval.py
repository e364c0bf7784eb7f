"""Measures of retrieval: of the TREC filtering tracks, and of how early a screening finds what is relevant.

To a filter a topic is a label and a retrieved document a yes. Its measures are functions of a contingency table, one
value per topic. Write R⁺ = TP for the relevant retrieved, N⁺ = FP for the irrelevant retrieved and R = TP + FN for all
relevant documents. Those of a screening take the answers in the order of reading.

References
----------
Robertson & Hull (2001), The TREC-9 filtering track final report, NIST SP 500-249 (T9P, T9U).
Robertson & Soboroff (2003), The TREC 2002 filtering track report, NIST SP 500-251 (T11U, T11SU).
Chai, Ng & Chieu (2002), Bayesian online classifiers, SIGIR, table 4 (the summary over topics).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.evaluate.measures import ContingencyTable, precision, recall


def t9p(table: ContingencyTable, target: float = 50) -> FloatArray:
    """T9P = R⁺ / max(target, R⁺ + N⁺): precision, with a penalty for retrieving fewer than ``target`` documents.

    Parameters
    ----------
    table : ContingencyTable
        One column per topic.
    target : float
        Documents to retrieve.

    Examples
    --------
    >>> from textbayes.evaluate import ContingencyTable
    >>> import numpy as np
    >>> t9p(ContingencyTable(*np.array([[20.0, 30.0], [5.0, 70.0], [0.0, 0.0], [900.0, 900.0]])))
    array([0.4, 0.3])
    """
    return table.tp / np.maximum(target, table.predicted)


def linear_utility(table: ContingencyTable, gain: float = 2.0, cost: float = 1.0) -> FloatArray:
    """Linear utility gain · R⁺ − cost · N⁺; the default, 2R⁺ − N⁺, is that of TREC-9 to TREC 2002 (T11U).

    Parameters
    ----------
    table : ContingencyTable
        One column per topic.
    gain, cost : float
        Of a relevant document and of another that is retrieved.
    """
    return gain * table.tp - cost * table.fp


def t9u(table: ContingencyTable, floor: float = -100.0) -> FloatArray:
    """T9U = max(2R⁺ − N⁺, floor): one bad topic cannot outweigh many; floor −100 for the OHSU topics, −400 for MeSH.

    Parameters
    ----------
    table : ContingencyTable
        One column per topic.
    floor : float
        The least utility of a topic.
    """
    return np.maximum(linear_utility(table), floor)


def t11u(table: ContingencyTable) -> FloatArray:
    """T11U = 2R⁺ − N⁺."""
    return linear_utility(table)


def scaled_utility(table: ContingencyTable, floor: float | None = -100.0) -> FloatArray:
    """T9U as a share of the best possible utility, T9U / 2R; NaN for a topic without relevant documents.

    Parameters
    ----------
    table : ContingencyTable
        One column per topic.
    floor : float or None
        The least utility of a topic; None for none.
    """
    utility = linear_utility(table) if floor is None else t9u(table, floor)
    return _share_of_best(utility, table)


def t11su(table: ContingencyTable, min_nu: float = -0.5) -> FloatArray:
    """T11SU = (max(T11U / 2R, MinNU) − MinNU) / (1 − MinNU), in [0, 1]; ⅓ for retrieving nothing.

    NaN for a topic without relevant documents.

    Parameters
    ----------
    table : ContingencyTable
        One column per topic.
    min_nu : float
        The least normalised utility.

    Examples
    --------
    >>> from textbayes.evaluate import ContingencyTable
    >>> import numpy as np
    >>> t11su(ContingencyTable(*np.array([[10.0, 0.0], [0.0, 0.0], [0.0, 10.0], [90.0, 90.0]]))).round(3)
    array([1.   , 0.333])
    """
    normalised = _share_of_best(t11u(table), table)
    return (np.maximum(normalised, min_nu) - min_nu) / (1 - min_nu)


def zero_returns(table: ContingencyTable) -> int:
    """Number of topics for which nothing was retrieved."""
    return int(np.count_nonzero(table.predicted == 0))


def filtering_summary(
    table: ContingencyTable, target: float = 50, floor: float = -100.0
) -> dict[str, float | int | None]:
    """Summary of filtering: the rows of table 4 of Chai, Ng & Chieu (2002), plus T11SU, over topics.

    Topics without relevant documents are left out of the means of scaled utilities (None when there is no other).
    Recall and precision count 0/0 as 0.

    Parameters
    ----------
    table : ContingencyTable
        One column per topic.
    target : float
        Of :func:`t9p`.
    floor : float
        Of :func:`t9u`.
    """
    return {
        "total_retrieved": int(table.predicted.sum()),
        "relevant_retrieved": int(table.tp.sum()),
        "macro_recall": float(recall(table, "macro")),
        "macro_precision": float(precision(table, "macro")),
        "mean_t9p": float(t9p(table, target).mean()),
        "mean_utility": float(linear_utility(table).mean()),
        "mean_t9u": float(t9u(table, floor).mean()),
        "mean_scaled_utility": _mean_of_known(scaled_utility(table, floor)),
        "mean_t11su": _mean_of_known(t11su(table)),
        "zero_returns": zero_returns(table),
    }


def _share_of_best(utility: FloatArray, table: ContingencyTable) -> FloatArray:
    best = 2.0 * table.support
    return np.divide(utility, best, out=np.full(np.shape(best), np.nan), where=best > 0)


def _mean_of_known(values: FloatArray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def ranking_loss(found: ArrayLike) -> float:
    """Area between the recall curve and the best one there can be, as a share of that between the best and the worst.

    0 where all relevant records are read first, 1 where they are read last; ASReview's ``loss``.

    Parameters
    ----------
    found : array of bool (n_records,)
        Whether each record is relevant, in the order of reading.

    Examples
    --------
    >>> ranking_loss([True, False, True, False]), ranking_loss([False, False, True, True])
    (0.25, 1.0)
    """
    relevant = _both_sides(found)
    places = np.flatnonzero(relevant)
    n, k = len(relevant), len(places)
    return float((places.sum() - k * (k - 1) / 2) / (k * (n - k)))


def recall_at(found: ArrayLike, share: float) -> float:
    """Share of the relevant records among the first ``share`` of all records.

    Parameters
    ----------
    found : array of bool (n_records,)
    share : float
    """
    relevant = _both_sides(found)
    return float(relevant[: round(share * len(relevant))].sum() / relevant.sum())


def extra_relevant(found: ArrayLike, share: float) -> float:
    """Extra relevant records found (ERF): recall there, less what reading at random finds.

    Parameters
    ----------
    found : array of bool (n_records,)
    share : float
    """
    return recall_at(found, share) - share


def work_saved(found: ArrayLike, recall: float = 0.95) -> float:
    """Work saved over sampling (WSS): share of the records that need not be read for a recall, less 1 − recall.

    Parameters
    ----------
    found : array of bool (n_records,)
    recall : float
    """
    relevant = _both_sides(found)
    return 1.0 - read_until(relevant, recall) / len(relevant) - (1.0 - recall)


def read_until(found: ArrayLike, recall: float) -> int:
    """Records read when a recall is reached.

    Parameters
    ----------
    found : array of bool (n_records,)
    recall : float
    """
    relevant = _both_sides(found)
    needed = int(np.ceil(recall * relevant.sum() - 1e-9))
    return int(np.searchsorted(np.cumsum(relevant), needed)) + 1


def average_time(found: ArrayLike) -> float:
    """Average time to discovery (ATD): mean place of a relevant record, as a share of all records.

    Parameters
    ----------
    found : array of bool (n_records,)
    """
    relevant = _both_sides(found)
    return float((np.flatnonzero(relevant) + 1).mean() / len(relevant))


def _both_sides(found: ArrayLike) -> BoolArray:
    relevant = np.asarray(found, dtype=np.bool_)
    if relevant.all() or not relevant.any():
        raise InputError("all records are relevant, or none; a measure of their order needs both kinds")
    return relevant

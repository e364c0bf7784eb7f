"""Measures of a screening: how early what is relevant was found, by the answers in the order of reading."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray


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

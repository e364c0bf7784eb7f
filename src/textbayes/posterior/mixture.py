"""Draws of several posteriors as one set of draws: their mixture, and no more of them than are worth keeping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws, LabelDraws


def pooled_draws(pool: FloatArray, members: Sequence[Draws], most: int) -> Draws:
    """Mix the members' draws, at most ``most`` of all chains together for each label.

    Every member has its share of every chain, spread evenly; where there are more draws than are kept, those that are
    left out lie evenly between the others, so that of neighbours that are much alike one is kept.

    Parameters
    ----------
    pool : array (n_members,)
        The weights of the members, one in sum.
    members : sequence of Draws
    most : int
    """
    labels = [_mixed(pool, [draws.labels[k] for draws in members], most) for k in range(len(members[0].labels))]
    return type(members[0])(labels, members[0].n_features)


def _mixed(pool: FloatArray, members: Sequence[LabelDraws], most: int) -> LabelDraws:
    used = [(share, one) for share, one in zip(pool, members, strict=True) if share > 0.0]
    n_chains = min(one.intercept.shape[0] for _, one in used)
    n_draws = min(int(one.intercept.shape[1] / share) for share, one in used)
    n_draws = max(1, min(n_draws, most // n_chains))
    turn = _turns(np.array([share for share, _ in used]), n_draws)
    first = used[0][1]
    # Words that some member has and another holds, at whatever weight.
    columns = np.flatnonzero(
        np.any([np.isin(np.arange(len(one.elsewhere)), one.columns) for _, one in used], axis=0)
        | np.any([one.elsewhere != first.elsewhere for _, one in used], axis=0)
    )
    weights = np.empty((n_chains, n_draws, len(columns)), dtype=np.float32)
    intercept, scale = np.empty((n_chains, n_draws)), np.empty((n_chains, n_draws))
    for m, (_, one) in enumerate(used):
        places = np.flatnonzero(turn == m)
        kept = ((np.arange(len(places)) + 0.5) * one.intercept.shape[1] / max(len(places), 1)).astype(np.int64)
        weights[:, places] = _spread(one, columns, n_chains, kept)
        intercept[:, places] = one.intercept[:n_chains, kept]
        scale[:, places] = one.global_scale[:n_chains, kept]
    return first._replace(columns=columns, weights=weights, intercept=intercept, global_scale=scale)


def _turns(shares: FloatArray, n_places: int) -> IntArray:
    """The member of every place in a chain: the one that is furthest behind its share."""
    turn, done = np.empty(n_places, dtype=np.int64), np.zeros(len(shares))
    for place in range(n_places):
        turn[place] = int(np.argmax(shares * (place + 1) - done))
        done[turn[place]] += 1.0
    return turn


def _spread(one: LabelDraws, columns: IntArray, n_chains: int, kept: IntArray) -> AnyArray:
    """Some of the draws of a member, of the words ``columns``, which include its own."""
    if np.array_equal(columns, one.columns):
        return one.weights[:n_chains, kept]
    out = np.broadcast_to(one.elsewhere[columns], (n_chains, len(kept), len(columns))).astype(np.float32)
    out[:, :, np.searchsorted(columns, one.columns)] = one.weights[:n_chains, kept]
    return out

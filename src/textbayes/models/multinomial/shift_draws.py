"""Draws of what is added to a word's weights in all classes, of which the documents say nothing."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray


def draw_shifts(offsets: FloatArray, l1: FloatArray, l2: FloatArray, rng: np.random.Generator) -> FloatArray:
    """t of each column with density ∝ exp(−Σ_c [l1_c |offset_c + t| + ½ l2_c (offset_c + t)²]); arrays (n_classes, n).

    0 for a column whose density is flat, and for one of both kinds of penalty, which has no simple form and moves class
    by class alone.
    """
    shifts = np.zeros(offsets.shape[1])
    kinked, bent = (l1 > 0.0).any(axis=0), (l2 > 0.0).any(axis=0)
    normal = bent & ~kinked
    precision = l2[:, normal].sum(axis=0)
    mean = -(l2[:, normal] * offsets[:, normal]).sum(axis=0) / precision
    shifts[normal] = mean + rng.standard_normal(len(mean)) / np.sqrt(precision)
    laplace = kinked & ~bent
    shifts[laplace] = draw_laplace_shifts(offsets[:, laplace], l1[:, laplace], rng)
    return shifts


def draw_laplace_shifts(offsets: FloatArray, l1: FloatArray, rng: np.random.Generator) -> FloatArray:
    """t of each column with density ∝ exp(−Σ_c l1_c |offset_c + t|), by inversion.

    Between the numbers −offset_c in order the density is exponential, with slope Σ l1 of those above less Σ l1 of those
    below: a piece is drawn by its mass, and then a place in it.
    """
    order = np.argsort(-offsets, axis=0)
    breaks, rates = np.take_along_axis(-offsets, order, axis=0), np.take_along_axis(l1, order, axis=0)
    below = np.cumsum(rates, axis=0)
    total = below[-1]
    slopes = np.vstack([total, total - 2.0 * below])  # of the log-density, piece by piece
    widths = np.diff(breaks, axis=0)
    heights = np.vstack([np.zeros_like(total), np.cumsum(slopes[1:-1] * widths, axis=0)])  # of it at the breaks
    heights -= heights.max(axis=0)
    # A piece is taken from its higher end, from which the density falls at the rate |slope|.
    left = np.vstack([heights[:1], heights])  # the first piece has its right end alone
    right = np.vstack([heights, heights[-1:]])
    fall = np.abs(slopes)
    width = np.vstack([np.full_like(total, np.inf), widths, np.full_like(total, np.inf)])
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(fall > 0.0, -np.expm1(-fall * width) / np.where(fall > 0.0, fall, 1.0), width)
    mass = np.cumsum(np.exp(np.maximum(left, right)) * size, axis=0)
    piece = (mass < rng.random(len(total)) * mass[-1]).sum(axis=0)
    columns = np.arange(len(total))
    rate, within, u = fall[piece, columns], width[piece, columns], rng.random(len(total))
    with np.errstate(invalid="ignore"):
        share = -np.expm1(-rate * within)
        distance = np.where(rate > 0.0, -np.log1p(-u * share) / np.where(rate > 0.0, rate, 1.0), u * within)
    rising = slopes[piece, columns] > 0.0
    start = np.where(
        rising, breaks[np.minimum(piece, len(breaks) - 1), columns], breaks[np.maximum(piece - 1, 0), columns]
    )
    return np.where(rising, start - distance, start + distance)

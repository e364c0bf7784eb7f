"""Settings of the Dirichlet hierarchies: the constants β, where the mode is taken, how draws are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray
from textbayes.core.validation import as_numbers, check_choice
from textbayes.models.counts.base import per_class_and_word

BASES = ("log", "ratio")
SPREAD_DEFAULTS = (500.0, 1.0, 1.0)  # β₃: dispersions of a word nearly equal in all classes; β₄, β₅: ξ exponential


class Hyper(NamedTuple):
    """Hyperparameters β₁ … β₅; a model of rates alone uses the first two."""

    beta_1: float
    beta_2: float
    beta_3: float = SPREAD_DEFAULTS[0]
    beta_4: float = SPREAD_DEFAULTS[1]
    beta_5: float = SPREAD_DEFAULTS[2]


def check_beta(beta: Any, most: int, basis: str) -> Hyper | None:
    """β as given, from two numbers on; None for ``"auto"`` and ``"evidence"``, which are found from the documents."""
    check_choice("basis", basis, BASES)
    if isinstance(beta, str):
        check_choice("beta", beta, ("auto", "evidence"))
        return None
    values = as_numbers(beta, "beta").ravel()
    if not 2 <= len(values) <= most:
        wanted = "(β₁, β₂)" if most == 2 else "(β₁, β₂) or (β₁, β₂, β₃, β₄, β₅)"
        raise InputError(f"beta={beta!r} has {len(values)} value(s); pass {wanted}")
    if not np.isfinite(values).all() or values[0] <= 0.0 or values[1] < 0.0 or (values[2:] <= 0.0).any():
        raise InputError(f"beta={beta!r} is not usable; all are positive and finite, β₂ may be 0")
    if basis == "ratio" and (values[0] <= 1.0 or (len(values) > 2 and values[2] <= 1.0)):
        raise InputError(
            f"beta={beta!r} has its mode at the edge, where rates are zero; with basis='ratio' pass β₁ and β₃ above 1, "
            "or use basis='log'"
        )
    return Hyper(*(float(value) for value in values))


def shares_of(rate_means: Any, n_classes: int, n_features: int) -> FloatArray:
    """The Dirichlet's shares w (V, C), adding up to C, from prior rates (C, V); (1, C) of ones where none are given."""
    if rate_means is None:
        return np.ones((1, n_classes))
    means = per_class_and_word(rate_means, "rate_means", n_classes, n_features).T
    return np.ascontiguousarray(n_classes * means / means.sum(axis=1, keepdims=True))


def start_log_rates(counts: FloatArray, exposure: FloatArray, shares: FloatArray, hyper: Hyper) -> FloatArray:
    """Log-rates (V, C) to start Newton's method from: the mode if all classes had the same exposure."""
    counts = counts.T
    mean = max(float(exposure.mean()), 1e-9)
    known = exposure > 1e-6 * mean
    plain = np.where(known, counts / np.where(known, exposure, 1.0), counts.sum(axis=1, keepdims=True) / exposure.sum())
    sigma = plain.sum(axis=1, keepdims=True) + 1.0 / mean
    weight = plain * mean + shares * (hyper.beta_1 + hyper.beta_2 * sigma)
    return np.log(sigma) + np.log(weight) - np.log(weight.sum(axis=1, keepdims=True))


def level_unseen(values: FloatArray, counts: FloatArray, shares: FloatArray) -> FloatArray:
    """Values (…, C, V), changed in place, of which words with no occurrence in ``counts`` (C, V) split as ``shares``.

    The mode of a word that no class had would differ by how much text each class has, and by that alone. It is next to
    nothing for one word; but a vocabulary may have ten thousands of them, which then outvote the words that were seen.
    """
    unseen = counts.sum(axis=0) == 0.0
    if unseen.any():
        split = shares if len(shares) == 1 else shares[unseen]
        values[..., unseen] = values[..., unseen].mean(axis=-2, keepdims=True) * split.T
    return values


def spread_constant(hyper: Hyper, n_classes: int) -> float:
    """The constant of the dispersions' prior, which the kernels leave out and a comparison of β needs."""
    dirichlet = special.gammaln(n_classes * hyper.beta_3) - n_classes * special.gammaln(hyper.beta_3)
    gamma = hyper.beta_5 * np.log(hyper.beta_5 / hyper.beta_4) - special.gammaln(hyper.beta_5)
    return float(dirichlet + gamma)


def chosen_beta(
    beta: Any, basis: str, exposure: FloatArray, dispersed: bool, log_evidence: Callable[[Hyper], float]
) -> Hyper:
    """β as a model is to use it: as given, by the amount of text (``"auto"``), or of the highest ``log_evidence``."""
    hyper = check_beta(beta, 5 if dispersed else 2, basis)
    if hyper is not None:
        return hyper
    if beta == "auto":
        return automatic_beta(exposure, dispersed)
    return max(evidence_grid(exposure, dispersed), key=log_evidence)


def automatic_beta(exposure: FloatArray, dispersed: bool) -> Hyper:
    """β₁ = 10 occurrences; β₂ a share of the T thousand words that a class has on average: 0.3, or T/(T + 3).

    Words of a class are not independent of each other, so that their evidence adds up to too much; made-up text with
    equal rates makes frequent words say less. With ``dispersed`` rates the model weighs bursts of words by itself and
    needs 0.3 of the text; Poisson rates need as much as there is, but less where a class has next to no text, since β₂
    also draws rare words to larger sums. They are compromises, compared with 0.03 to 3 of the text on held-out texts of
    newsgroups (5 to 200 texts a class), movie reviews (10 to 900) and the Federalist papers: few frequent words need
    less, whole vocabularies more. ``beta="cv"`` finds what is best.
    """
    words = float(exposure.mean())
    return Hyper(10.0, (0.3 if dispersed else words / (words + 3.0)) * words)


def evidence_grid(exposure: FloatArray, spread: bool) -> list[Hyper]:
    """β among which the evidence chooses: β₁ and β₂ on their scales, β₂ relative to the words of a class."""
    mean = float(exposure.mean())
    pairs = [(one, two * mean) for one in (0.3, 1.0, 3.0, 10.0) for two in (0.0, 0.03, 0.3, 3.0)]
    if not spread:
        return [Hyper(*pair) for pair in pairs]
    return [Hyper(one, two, three) for one, two in pairs for three in (20.0, 500.0)]

"""Choose link parameters and prior scale together, per category: (ν, δ, γ) of the skewed Student-t link."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference import Problem
from textbayes.links import BaseLink, make_link
from textbayes.tune.grid import factor_grid
from textbayes.tune.losses import Rule, Scoring
from textbayes.tune.search import make_splits, search_scale

DF_GRID = (2.0, 8.0, np.inf)
SKEW_GRID = (0.5, 1.0, 2.0)
AUTO_LINKS = (
    "logit", "probit", "student_t:df=2", "student_t:df=8", *(
        f"skew_t:df={df},skew={skew}" for df in (2, 8, "inf") for skew in (0.5, 2)
    ),
)  # fmt: skip


class LinkSearch(NamedTuple):
    """Held-out loss of each link, and the best link for every label.

    Attributes
    ----------
    links : tuple of str
        What was tried, as ``make_link`` reads it.
    loss, standard_error : arrays (n_links, n_labels)
        Held-out loss of each link at its own chosen scale.
    factor : array (n_links, n_labels)
        That scale, in multiples of the prior's own.
    best : array (n_labels,)
        The place of the best link in ``links``.
    """

    links: tuple[str, ...]
    loss: FloatArray
    standard_error: FloatArray
    factor: FloatArray
    best: IntArray

    def chosen(self) -> list[tuple[str, float]]:
        """Per label the best link and its factor; labels of one link can be fitted together."""
        return [(self.links[link], float(self.factor[link, label])) for label, link in enumerate(self.best)]

    def parameters(self) -> FloatArray:
        """(n_labels, 3): ν, δ and γ = 1/factor² of a search among ``skew_t`` links with a Laplace prior of scale 1.

        γ is the rate of the papers' hierarchy, in which the prior is Laplace with scale 1/√γ.
        """
        rows = []
        for spec, factor in self.chosen():
            params = make_link(spec).params()
            if not {"df", "skew"} <= set(params):
                raise InputError(f"link {spec!r} has no degrees of freedom and skew; search among skew_t links")
            rows.append((params["df"], params["skew"], factor**-2.0))
        return np.array(rows)


def skew_t_links(dfs: Sequence[float] = DF_GRID, skews: Sequence[float] = SKEW_GRID) -> list[str]:
    """Skewed Student-t links of every pair of ν and δ.

    Parameters
    ----------
    dfs, skews : sequences of float
        Values of ν and δ.

    Examples
    --------
    >>> skew_t_links([8], [0.5, 1])
    ['skew_t:df=8.0,skew=0.5', 'skew_t:df=8.0,skew=1.0']
    """
    return [make_link(f"skew_t:df={df},skew={skew}").spec for df, skew in product(dfs, skews)]


def search_link(
    problem: Problem,
    links: Sequence[str | BaseLink] | None = None,
    scales: Any = 10,
    cv: Any = 5,
    scoring: Scoring = "log_loss",
    rule: Rule = "best",
    random_state: int | None = 0,
    groups: Iterable[Hashable] | None = None,
    **settings: Any,
) -> LinkSearch:
    """Cross-validate, or validate, every link at every scale and choose both for each label.

    The problem's own link plays no part. Each link has its own grid of scales, for the same weights mean different
    probabilities under different links; folds are common to all.

    Parameters
    ----------
    problem : Problem
    links : sequence of str or link
        By default the skewed Student-t links with ν in (2, 8, ∞) and δ in (½, 1, 2).
    scales : int or array
        How many, as in ``factor_grid``, or the factors themselves.
    cv, scoring, rule, random_state, groups :
        As in ``search_scale``; ``cv=[(train, validation)]`` and ``scoring="f1"`` choose by F1 on a validation set, as
        Eyheramendy & Madigan (2007) do.
    **settings :
        Further arguments of ``search_scale``.
    """
    made = [make_link(link) for link in (skew_t_links() if links is None else links)]
    if not made:
        raise InputError("no links were given; pass at least one, such as 'skew_t:df=8,skew=2'")
    splits = make_splits(cv, problem.y > 0.0, random_state, groups=groups)
    rows = []
    labels = np.arange(problem.y.shape[1])
    for link in made:
        own = problem._replace(link=link)
        factors = factor_grid(own, int(scales)) if np.ndim(scales) == 0 else scales
        found = search_scale(own, factors, splits, scoring, rule, **settings)
        at_choice = found.point, labels
        rows.append((found.loss[at_choice], found.standard_error[at_choice], found.factor))
    loss, error, factor = (np.array(part) for part in zip(*rows, strict=True))
    return LinkSearch(tuple(link.spec for link in made), loss, error, factor, loss.argmin(axis=0))

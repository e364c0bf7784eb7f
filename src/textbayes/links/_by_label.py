"""A link of its own for every label, side by side: what ``by_word`` is among the priors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray
from textbayes.links.base import BaseLink, Derivatives, Expectation, Moments


class ByLabel(BaseLink):
    """Links of several labels: the last axis of every array is the labels, and each column has the link of its own.

    A fit goes label by label and asks ``for_label``; predictions are made of all columns at once. Written as the links
    with a semicolon between them, ``logit;probit;student_t:df=2``.

    Parameters
    ----------
    links : sequence of links
        One for every label.

    Examples
    --------
    >>> import numpy as np
    >>> from textbayes.links import make_link
    >>> make_link("logit;probit").probability(np.array([[1.0, 1.0]])).round(3)
    array([[0.731, 0.841]])
    """

    name = "by_label"
    parameters = ("links",)

    def __init__(self, links: Sequence[BaseLink]) -> None:
        self.links = tuple(links)
        if not self.links or any(isinstance(link, ByLabel) for link in self.links):
            raise InputError("links by label are empty or nested; name one link for every label, as in 'logit;probit'")
        self.log_concave = all(link.log_concave for link in self.links)
        self.em_majorises = all(link.em_majorises for link in self.links)
        columns: dict[BaseLink, list[int]] = {}
        for label, link in enumerate(self.links):
            columns.setdefault(link, []).append(label)
        self._columns: dict[BaseLink, IntArray] = {link: np.array(labels) for link, labels in columns.items()}

    @property
    def spec(self) -> str:
        return ";".join(link.spec for link in self.links)

    def for_label(self, label: int) -> BaseLink:
        return self.links[label]

    def check_labels(self, n_labels: int) -> None:
        if n_labels != len(self.links):
            raise InputError(f"{len(self.links)} links are given for {n_labels} labels; name one for each, or one link")

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("log_prob", eta, y)[0]

    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("score", eta, y)[0]

    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("curvature", eta, y)[0]

    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("hessian", eta, y)[0]

    def derivatives(self, eta: FloatArray, y: FloatArray) -> Derivatives:
        return Derivatives(*self._each("derivatives", eta, y))

    def expectation(self, eta: FloatArray, y: FloatArray) -> Expectation:
        return Expectation(*self._each("expectation", eta, y))

    def probability(self, eta: FloatArray) -> FloatArray:
        return self._each("probability", eta)[0]

    def log_odds(self, eta: FloatArray) -> FloatArray:
        return self._each("log_odds", eta)[0]

    def moments(self, mean: FloatArray, var: FloatArray, y: FloatArray) -> Moments:
        return Moments(*self._each("moments", mean, var, y))

    @property
    def tail_index(self) -> float:
        return min(link.tail_index for link in self.links)

    @property
    def least_probability(self) -> float:
        return max(link.least_probability for link in self.links)

    def _each(self, method: str, *arrays: FloatArray) -> list[FloatArray]:
        """What a method of each link gives for its own columns, put together."""
        given = np.broadcast_arrays(*arrays)
        shape = given[0].shape
        if not shape or shape[-1] != len(self.links):
            raise InputError(f"an array of shape {shape} is given to {len(self.links)} links; its last axis is labels")
        out: list[FloatArray] = []
        for link, columns in self._columns.items():
            found = getattr(link, method)(*(array[..., columns].ravel() for array in given))  # kernels read vectors
            parts = found if isinstance(found, tuple) else (found,)
            out = out or [np.empty(shape) for _ in parts]
            for whole, part in zip(out, parts, strict=True):
                whole[..., columns] = part.reshape(*shape[:-1], len(columns))
        return out

"""From a classifier that looks for its scale, and its links, to one that has found them."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from textbayes.core.types import Matrix
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.tune.classifier import BayesLinearClassifierCV
from textbayes.tune.path import scaled


def settled(
    classifier: BayesLinearClassifier, X: Matrix | ArrayLike, y: Any, sample_weight: ArrayLike | None = None
) -> BayesLinearClassifier:
    """Make a plain classifier, not fitted, with the scales that the search finds on X and y; others are only copied.

    For a cross-validation around it: the scale is looked for once, not in every fold.

    Parameters
    ----------
    classifier : BayesLinearClassifier
    X : array or sparse matrix (n_docs, n_features)
    y : labels, as for ``BayesLinearClassifier.fit``
    sample_weight : array (n_docs,), optional
        How much each document counts.
    """
    if not isinstance(classifier, BayesLinearClassifierCV):
        copy: BayesLinearClassifier = clone(classifier)
        return copy
    found = clone(classifier).set_params(intervals=False).fit(X, y, sample_weight)
    shared = set(BayesLinearClassifier().get_params(deep=False)) & set(classifier.get_params(deep=False))
    plain = BayesLinearClassifier(**{name: getattr(classifier, name) for name in shared})
    plain.set_params(link=found.link_)
    if isinstance(classifier.prior, str):
        return plain.set_params(scale=found.scale_[:, None])
    prior = make_prior(classifier.prior, 1.0)
    return plain.set_params(prior=scaled(prior, found.scale_), mean=0.0, sign=0)

"""The threshold with the fewest errors on the data given."""

from __future__ import annotations

from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide._base import ThresholdRule, rules
from textbayes.decide._cuts import make_cuts


@rules.register("fewest_errors")
class FewestErrors(ThresholdRule):
    """Per label the threshold that minimises FP + FN on the probabilities and labels given to ``fit``.

    Of several cuts with equally few errors the strictest is taken (fewest yes); within the cut, the threshold lies
    half-way between the neighbouring probabilities. A label without positives is thus (almost) never given.

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)
    errors_ : array of shape (n_labels,), the errors left on the fit data

    References
    ----------
    Eyheramendy, Genkin, Ju, Lewis & Madigan (2003), Sparse Bayesian classifiers for text categorization: thresholds
    "tuned to the fewest errors on the training set".

    Examples
    --------
    >>> rule = FewestErrors().fit([0.1, 0.2, 0.6, 0.3], [0, 0, 1, 1])
    >>> rule.thresholds_, rule.errors_
    (array([0.25]), array([0.]))
    """

    name = "fewest_errors"
    learnt = ("thresholds_", "errors_")

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        cuts = make_cuts(proba, self._need_labels(Y))
        errors = cuts.accepted + cuts.positives - 2 * cuts.tp
        k = cuts.best(-errors)
        self.errors_ = cuts.at(errors, k)
        self.thresholds_ = cuts.thresholds(k)

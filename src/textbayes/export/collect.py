"""From a trained model to the numbers of its scoring; what has no such numbers is refused in a sentence."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.ensemble import Ensemble
from textbayes.core.errors import NotSupportedError
from textbayes.core.protocols import FittedModel
from textbayes.core.types import FloatArray
from textbayes.decide.top_label import TopLabel
from textbayes.export.counts import add_counts
from textbayes.export.readings import ReadView, read_views
from textbayes.export.scoring import Block, Hints, Scoring
from textbayes.kinds.counts import FittedCounts
from textbayes.kinds.linear import FittedLinear
from textbayes.kinds.multinomial import FittedMultinomial
from textbayes.kinds.weights import FittedWeights

_LINKS = ("logit", "probit")


def scoring_of(model: TextCategorizer) -> Scoring:
    """All that the probabilities and decisions of a trained model are made of.

    Parameters
    ----------
    model : fitted TextCategorizer
        Of a linear, multinomial or count kind, or a pool of these.
    """
    check_is_fitted(model, "model_")
    views, space = read_views(model), model.label_space_
    ensemble: Ensemble = model.model_
    scoring, linear = Scoring(space), ensemble.linear
    for part in ensemble.parts:
        own = part.model
        if linear is None and isinstance(own, FittedLinear) and own.link.name != "logit":
            raise NotSupportedError(
                f"a pool of a model with link {own.link.name!r} and others cannot be exported; train the linear "
                "model by itself, or with --link logit"
            )
        if part.columns is not None or len(set(part.weight)) > 1:
            raise NotSupportedError("an ensemble of other than linear models cannot be exported; train with --model")
        _add(scoring, views, own, ensemble.calibration * float(part.weight[0]), model.average)
    if space.kind == "multiclass":
        scoring.normalise = "softmax" if ensemble.is_softmax else "own"
    if linear is not None:
        if linear.link.name not in _LINKS:
            raise NotSupportedError(
                f"link {linear.link.name!r} has no formula that other programs know; train with --link logit or probit"
            )
        scoring.link, scoring.sharpness = linear.link.name, ensemble.inverse_temperature
    if ensemble.label_stacking is not None:
        scoring.hints = Hints(*ensemble.label_stacking)
    _add_rule(scoring, model)
    return scoring


def _add(scoring: Scoring, views: list[ReadView], fitted: FittedModel, factor: float, average: bool) -> None:
    """Add a model's scores, times a factor."""
    if isinstance(fitted, FittedWeights) and fitted.draws is not None and average:
        raise NotSupportedError(
            "the model's probabilities are averages over draws, which no formula gives; train it with --plug-in "
            "(average=False), or with another inference than gibbs"
        )
    if isinstance(fitted, FittedCounts):
        add_counts(scoring, views, fitted, factor)
    elif isinstance(fitted, FittedMultinomial):
        if fitted.link.name != "logit":
            raise NotSupportedError(
                f"a multinomial model with link {fitted.link.name!r} has no formula; train it with link=logit"
            )
        both = fitted.is_softmax
        coef = fitted.coef if both else fitted.coef[1:] - fitted.coef[:1]
        intercept = fitted.intercept if both else fitted.intercept[1:] - fitted.intercept[:1]
        _add_weights(scoring, views, factor * coef, factor * intercept)
    elif isinstance(fitted, FittedLinear):
        _add_weights(scoring, views, factor * fitted.coef, factor * fitted.intercept)
    else:
        raise NotSupportedError(
            f"a model of kind {fitted.kind!r} cannot be exported, as its scores are not sums over words; train one of "
            "kind linear, multinomial or counts"
        )


def _add_weights(scoring: Scoring, views: list[ReadView], coef: FloatArray, intercept: FloatArray) -> None:
    scoring.intercept += intercept
    for view in views:
        terms = view.vectorizer.get_feature_names_out().tolist()
        weights = view.factor * coef[:, view.start : view.start + len(terms)]
        cosine, idf = view.weighting.norm == "cosine", view.weighting.idf_
        scoring.blocks.append(Block(view.name, view.reading, view.tf, cosine, terms, idf, weights))


def _add_rule(scoring: Scoring, model: TextCategorizer) -> None:
    rule, n_columns = model.rule_, scoring.space.n_columns
    if isinstance(rule, TopLabel):
        scoring.least = rule.min_probability or 0.0
        return
    thresholds = [rule.threshold_of(column) for column in range(n_columns)]
    found = [one for one in thresholds if one is not None]
    if len(found) < n_columns:
        raise NotSupportedError(
            f"rule {rule.name!r} has no thresholds for a text by itself; train with another, such as --rule pcut"
        )
    scoring.thresholds = found

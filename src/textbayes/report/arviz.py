"""A sampled model as ArviZ' InferenceData: diagnostics, comparison and plots of every library that reads it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, MissingExtraError, NotSupportedError, did_you_mean
from textbayes.core.labels import encode_labels
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_same_length
from textbayes.inference.base import label_replicates_of
from textbayes.knowledge import words_of
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.weights import as_labels
from textbayes.posterior.draws import Draws, LabelDraws


def arviz() -> Any:
    """The library, or a sentence that says how to get it."""
    try:
        with warnings.catch_warnings():  # it tells once a day of its next version, which pyproject.toml does not allow
            warnings.simplefilter("ignore", FutureWarning)
            import arviz as az
    except ImportError as error:
        raise MissingExtraError("arviz", "gibbs", "InferenceData and plots of draws") from error
    return az


def to_inference_data(
    model: TextCategorizer | BayesLinearClassifier | Pipeline,
    documents: Any = None,
    y: Any = None,
    *,
    log_likelihood: bool = False,
    labels: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """The draws of a sampled model as ``arviz.InferenceData``; needs the extra ``gibbs``.

    Parameters
    ----------
    model : TextCategorizer, BayesLinearClassifier, or a scikit-learn Pipeline that ends in one
        Fitted with ``inference="gibbs"``.
    documents : what ``predict`` of the model takes: texts, or X for a ``BayesLinearClassifier``
    y : their labels, as for ``fit``
        With both, ``observed_data`` has y (document, label), and the likelihood can be had.
    log_likelihood : bool
        Also log p(y | draw) of every document and label, which ``arviz.loo`` and ``arviz.compare`` need: one number in
        double precision per document, label and draw.
    labels, words : which of them; all by default; a word of a model that reads stems in any form
    names : names of the words, one for each column; by default those of the vectorizer, or numbers

    Returns
    -------
    arviz.InferenceData
        ``posterior``: weight (chain, draw, label, word) in single precision, intercept (chain, draw, label), and
        global_scale where it was sampled. ``sample_stats``: weight_norm, the length of each draw of weights, and with
        documents total_log_likelihood, both (chain, draw, label). A word that a label may not use has the same weight
        in all draws. Labels that were drawn less often than others set the number of draws: the draws of the others
        that are retained are evenly spaced.
    """
    sampled = _sampled(model, names)
    space, label_names = sampled.model.label_space_, sampled.model.label_space_.column_names
    chosen = _places(labels, label_names, "label")
    columns = _places(words, sampled.names, "word", getattr(sampled.model, "vectorizer_", None))
    # Made before the library is loaded: documents that do not fit are refused without it.
    observed = _observed(sampled, documents, y, space, chosen)
    if observed is None and log_likelihood:
        raise InputError("the likelihood is that of documents; pass them and their labels y as well")
    if log_likelihood and _judged(sampled.model):
        raise NotSupportedError(
            "the likelihood of labels taken several times is not that of their log-odds, so leave-one-out by these "
            "draws would mislead; leave out log_likelihood, or fit with label_replicates=1"
        )
    common = in_step([sampled.draws.labels[k] for k in chosen])
    weight = np.stack([weights_of(one, columns) for one in common], axis=2)
    posterior = {"weight": weight, "intercept": np.stack([one.intercept for one in common], axis=2)}
    scale = np.stack([one.global_scale for one in common], axis=2)
    if not (scale == 1.0).all():
        posterior["global_scale"] = scale
    stats = {"weight_norm": np.stack([np.sqrt((one.weights.astype(np.float64) ** 2).sum(axis=2)) for one in common], 2)}
    groups: dict[str, Any] = {}
    if observed is not None:
        groups["observed_data"] = {"y": observed.y.astype(np.int8)}
        likelihood = [_log_likelihood(one, observed, k, sampled.link) for k, one in enumerate(common)]
        stats["total_log_likelihood"] = np.stack([one.sum(axis=2) for one in likelihood], axis=2)
        if log_likelihood:
            groups["log_likelihood"] = {"y": np.stack(likelihood, axis=3)}
    dims = {"weight": ["label", "word"], "intercept": ["label"], "global_scale": ["label"], "y": ["document", "label"]}
    dims |= {name: ["label"] for name in stats}
    coords = {"label": [label_names[k] for k in chosen], "word": [sampled.names[j] for j in columns]}
    return arviz().from_dict(posterior=posterior, sample_stats=stats, coords=coords, dims=dims, **groups)


def summarise_draws(
    model: TextCategorizer | BayesLinearClassifier | Pipeline,
    *,
    labels: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    as_frame: bool = False,
) -> Any:
    """Mean, standard deviation, interval, bulk and tail ESS and R-hat of a sampled model's weights; without ArviZ.

    Parameters
    ----------
    model, labels, words, names : as for :func:`to_inference_data`
    level : float
        The probability that an interval holds.
    as_frame : bool
        Give a pandas ``DataFrame``.

    Returns
    -------
    list of WeightSummary
        The intercept of each label, then its words; see ``Draws.summary``.
    """
    sampled = _sampled(model, names)
    label_names = sampled.model.label_space_.column_names
    columns = _places(words, sampled.names, "word", getattr(sampled.model, "vectorizer_", None))
    chosen = _places(labels, label_names, "label")
    few = Draws([sampled.draws.labels[k].take(columns) for k in chosen], len(columns))
    return few.summary([sampled.names[j] for j in columns], [label_names[k] for k in chosen], level, as_frame)


class _Observed(NamedTuple):
    """Documents as a matrix, and which of the chosen labels they have."""

    X: Any
    y: BoolArray


class _Sampled(NamedTuple):
    """A sampled model, the steps of a Pipeline before it, and what its draws are of."""

    model: Any
    steps: Any
    draws: Draws
    link: Any
    names: list[str]

    def matrix(self, documents: Any) -> Any:
        """The documents as the draws' columns have them."""
        given = documents if self.steps is None else self.steps.transform(documents)
        if isinstance(self.model, TextCategorizer):
            return self.model.weighting_.transform(self.model.vectorizer_.transform(list(given)))
        return self.model._checked(given)


def _sampled(model: Any, names: Sequence[str] | None) -> _Sampled:
    steps = None
    if isinstance(model, Pipeline):
        steps, model = model[:-1] if len(model) > 1 else None, model[-1]
    if not isinstance(model, (TextCategorizer, BayesLinearClassifier)):
        raise InputError(
            f"a {type(model).__name__} has no draws; pass a TextCategorizer, a BayesLinearClassifier, or a Pipeline "
            "that ends in one"
        )
    check_is_fitted(model, "model_" if isinstance(model, TextCategorizer) else "coef_")
    if model.draws_ is None:
        raise InputError("this model was not sampled and has no draws; fit it with inference='gibbs'")
    found = _word_names(model, steps, model.draws_) if names is None else [str(name) for name in names]
    if len(found) != model.draws_.n_features:
        raise InputError(f"{len(found)} names are given for {model.draws_.n_features} words; pass one for each")
    return _Sampled(model, steps, model.draws_, make_link(getattr(model, "link_", None) or model.link), found)


def _word_names(model: Any, steps: Any, draws: Draws) -> list[str]:
    if isinstance(model, TextCategorizer):
        return [str(name) for name in model.vectorizer_.get_feature_names_out()]
    named = getattr(model, "feature_names_in_", None)
    if named is None and hasattr(steps, "get_feature_names_out"):
        named = steps.get_feature_names_out()
    return [str(name) for name in (range(draws.n_features) if named is None else named)]


def _judged(model: Any) -> bool:
    members = model.model if isinstance(model, TextCategorizer) else model
    members = members if isinstance(members, Sequence) else [members]
    return any(member is not None and label_replicates_of(member.inference) > 1 for member in members)


def _places(wanted: Sequence[str] | None, known: Sequence[str], what: str, vectorizer: Any = None) -> IntArray:
    if wanted is None:
        return np.arange(len(known))
    place = {name: k for k, name in enumerate(known)}
    if vectorizer is not None:  # a word in any form stands for its stem
        read = words_of(vectorizer)
        terms = {name: [name] if name in place else list(read(name)) for name in map(str, wanted)}
        wanted = [own[0] if len(own) == 1 and own[0] in place else name for name, own in terms.items()]
    missing = [str(name) for name in wanted if str(name) not in place]
    if missing:
        raise InputError(f"{what} {missing[0]!r} is not one of the model's{did_you_mean(missing[0], known)}")
    if not len(wanted):
        raise InputError(f"no {what} is named; pass one at least, or None for all")
    return np.array([place[str(name)] for name in wanted], dtype=np.int64)


def _observed(sampled: _Sampled, documents: Any, y: Any, space: Any, chosen: IntArray) -> _Observed | None:
    if documents is None and y is None:
        return None
    if documents is None or y is None:
        raise InputError("documents and their labels y go together; pass both or neither")
    X = sampled.matrix(documents)
    indicator, given = encode_labels(as_labels(y), space.classes.tolist())
    if indicator.shape[1] != space.n_columns:
        raise InputError(f"y is {given.kind} and the model {space.kind}; pass labels in the same form")
    check_same_length(X, "documents", indicator, "y")
    return _Observed(X, indicator[:, chosen])


def in_step(labels: Sequence[LabelDraws]) -> list[LabelDraws]:
    """The labels with equally many draws of equally many chains; one that does not vary is repeated."""
    varying = [one.intercept.shape for one in labels if one.intercept.shape[1] > 1] or [labels[0].intercept.shape]
    n_chains, n_draws = (min(sizes) for sizes in zip(*varying, strict=True))
    out = []
    for one in labels:
        retained = ((np.arange(n_draws) + 0.5) * one.intercept.shape[1] / n_draws).astype(np.int64)
        out.append(
            one._replace(
                weights=one.weights[:n_chains, retained],
                intercept=one.intercept[:n_chains, retained],
                global_scale=one.global_scale[:n_chains, retained],
            )
        )
    return out


def weights_of(one: LabelDraws, columns: IntArray) -> AnyArray:
    """Draws of the words ``columns``, those that the label may not use at the weight they are held at."""
    few = one.take(columns)
    out = np.empty((*one.intercept.shape, len(columns)), dtype=np.float32)
    out[:] = few.elsewhere
    out[:, :, few.columns] = few.weights
    return out


def _log_likelihood(one: LabelDraws, observed: _Observed, label: int, link: Any) -> FloatArray:
    """log p(y | draw), (chain, draw, document)."""
    eta = one.predictors(observed.X.tocsr() if hasattr(observed.X, "tocsr") else observed.X).T
    y = np.broadcast_to(np.where(observed.y[:, label], 1.0, -1.0), eta.shape)
    return np.asarray(link.log_prob(eta, y)).reshape(*one.intercept.shape, -1)

"""A sampled model as ArviZ' InferenceData: diagnostics, comparison and plots of every library that reads it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, MissingExtraError, NotSupportedError
from textbayes.core.labels import encode_labels
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_same_length
from textbayes.core.wording import did_you_mean
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
    model: TextCategorizer | BayesLinearClassifier,
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
    model : TextCategorizer or BayesLinearClassifier
        Fitted with ``inference="gibbs"``.
    documents : texts, or X for a ``BayesLinearClassifier``
    y : their labels, as for ``fit``
        With both, ``observed_data`` has y (document, label), and the likelihood can be had.
    log_likelihood : bool
        Also log p(y | draw) of every document and label, which ``arviz.loo`` and ``arviz.compare`` need: one number in
        double precision per document, label and draw.
    labels, words : which of them; all by default
    names : names of the features of a ``BayesLinearClassifier``; numbers by default

    Returns
    -------
    arviz.InferenceData
        ``posterior``: weight (chain, draw, label, word) in single precision, intercept (chain, draw, label), and
        global_scale where it was sampled. ``sample_stats``: weight_norm, the length of each draw of weights, and with
        documents total_log_likelihood, both (chain, draw, label). A word that a label may not use has the same weight
        in all draws. Labels that were drawn less often than others set the number of draws: the draws of the others
        that are kept lie evenly.
    """
    draws, link, space = _of(model)
    names = _word_names(model, draws) if names is None else [str(name) for name in names]
    if len(names) != draws.n_features:
        raise InputError(f"{len(names)} names are given for {draws.n_features} words; pass one for each")
    label_names = space.column_names
    chosen = _places(labels, label_names, "label")
    columns = _places(words, names, "word", getattr(model, "vectorizer_", None))
    # Made before the library is loaded: what is wrong with documents is told without it.
    observed = _observed(model, documents, y, space, chosen)
    if observed is None and log_likelihood:
        raise InputError("the likelihood is that of documents; pass them and their labels y as well")
    if log_likelihood and _judged(model):
        raise NotSupportedError(
            "the likelihood of labels taken several times is not that of their log-odds, so leave-one-out by these "
            "draws would mislead; leave out log_likelihood, or fit with label_replicates=1"
        )
    common = in_step([draws.labels[k] for k in chosen])
    weight = np.stack([weights_of(one, columns) for one in common], axis=2)
    posterior = {"weight": weight, "intercept": np.stack([one.intercept for one in common], axis=2)}
    scale = np.stack([one.global_scale for one in common], axis=2)
    if not (scale == 1.0).all():
        posterior["global_scale"] = scale
    stats = {"weight_norm": np.stack([np.sqrt((one.weights.astype(np.float64) ** 2).sum(axis=2)) for one in common], 2)}
    groups: dict[str, Any] = {}
    if observed is not None:
        groups["observed_data"] = {"y": observed.y.astype(np.int8)}
        likelihood = [_log_likelihood(one, observed, k, link) for k, one in enumerate(common)]
        stats["total_log_likelihood"] = np.stack([one.sum(axis=2) for one in likelihood], axis=2)
        if log_likelihood:
            groups["log_likelihood"] = {"y": np.stack(likelihood, axis=3)}
    dims = {"weight": ["label", "word"], "intercept": ["label"], "global_scale": ["label"], "y": ["document", "label"]}
    dims |= {name: ["label"] for name in stats}
    coords = {"label": [label_names[k] for k in chosen], "word": [names[j] for j in columns]}
    return arviz().from_dict(posterior=posterior, sample_stats=stats, coords=coords, dims=dims, **groups)


class _Observed(NamedTuple):
    """Documents as a matrix, and which of the chosen labels they have."""

    X: Any
    y: BoolArray


def _of(model: Any) -> tuple[Draws, Any, Any]:
    if not isinstance(model, (TextCategorizer, BayesLinearClassifier)):
        raise InputError(f"a {type(model).__name__} has no draws; pass a TextCategorizer or a BayesLinearClassifier")
    check_is_fitted(model, "model_" if isinstance(model, TextCategorizer) else "coef_")
    if model.draws_ is None:
        raise InputError("this model was not sampled and has no draws; fit it with inference='gibbs'")
    return model.draws_, make_link(getattr(model, "link_", None) or model.link), model.label_space_


def _judged(model: Any) -> bool:
    members = model.model if isinstance(model, TextCategorizer) else model
    members = members if isinstance(members, Sequence) else [members]
    return any(member is not None and label_replicates_of(member.inference) > 1 for member in members)


def _word_names(model: Any, draws: Draws) -> list[str]:
    if isinstance(model, TextCategorizer):
        return [str(name) for name in model.vectorizer_.get_feature_names_out()]
    return [str(name) for name in getattr(model, "feature_names_in_", range(draws.n_features))]


def _places(wanted: Sequence[str] | None, known: Sequence[str], what: str, vectorizer: Any = None) -> IntArray:
    if wanted is None:
        return np.arange(len(known))
    place = {name: k for k, name in enumerate(known)}
    missing = [str(name) for name in wanted if str(name) not in place]
    if missing:
        stems = [] if vectorizer is None else [word for word in words_of(vectorizer)(missing[0]) if word in place]
        hint = f"; did you mean {stems[0]!r}?" if stems else did_you_mean(missing[0], known)
        raise InputError(f"{what} {missing[0]!r} is not one of the model's{hint}")
    if not len(wanted):
        raise InputError(f"no {what} is named; pass one at least, or None for all")
    return np.array([place[str(name)] for name in wanted], dtype=np.int64)


def _observed(model: Any, documents: Any, y: Any, space: Any, chosen: IntArray) -> _Observed | None:
    if documents is None and y is None:
        return None
    if documents is None or y is None:
        raise InputError("documents and their labels y go together; pass both or neither")
    if isinstance(model, TextCategorizer):
        X = model.weighting_.transform(model.vectorizer_.transform(list(documents)))
    else:
        X = model._checked(documents)
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
        kept = ((np.arange(n_draws) + 0.5) * one.intercept.shape[1] / n_draws).astype(np.int64)
        out.append(
            one._replace(
                weights=one.weights[:n_chains, kept],
                intercept=one.intercept[:n_chains, kept],
                global_scale=one.global_scale[:n_chains, kept],
            )
        )
    return out


def weights_of(one: LabelDraws, columns: IntArray) -> AnyArray:
    """Draws of the words ``columns``, those that the label may not use at the weight they are held at."""
    out = np.empty((*one.intercept.shape, len(columns)), dtype=np.float32)
    out[:] = one.elsewhere[columns]
    own = np.isin(columns, one.columns)
    out[:, :, own] = one.weights[:, :, np.searchsorted(one.columns, columns[own])]
    return out


def _log_likelihood(one: LabelDraws, observed: _Observed, label: int, link: Any) -> FloatArray:
    """log p(y | draw), (chain, draw, document)."""
    eta = one.predictors(observed.X.tocsr() if hasattr(observed.X, "tocsr") else observed.X).T
    y = np.broadcast_to(np.where(observed.y[:, label], 1.0, -1.0), eta.shape)
    return np.asarray(link.log_prob(eta, y)).reshape(*one.intercept.shape, -1)

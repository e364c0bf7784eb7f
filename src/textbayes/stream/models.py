"""From models to filters and back.

A filter may go on from a trained model: its labels are topics, its posterior what the filter knows of them. And the
topics of a filter can be saved as a model: the same words, weights and probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.assemble import assembled
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, FloatArray
from textbayes.models.linear.model import LinearModel
from textbayes.models.online import (
    BayesOnlineClassifier,
    DeferredPosterior,
    DiagonalPosterior,
    FullPosterior,
    GaussianProcess,
    OnlineLikelihood,
    OnlinePosterior,
)
from textbayes.models.online.base import Bank
from textbayes.models.online.process import SparseGPClassifier
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import Topic, WordCounts, ready_to_judge
from textbayes.stream.words import FilterLexicon, KeptDocuments, vectorizer_of
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.packed import pack
from textbayes.text.views import TextViews

# Settings that are part of what the model knows.
_OF_THE_MODEL = ("covariance", "kernel", "basis", "variance", "link", "noise", "text", "weighting", "norm")
# Turned round, p(no) becomes p(yes): what is linear in the weights changes its sign.
_MEANS = ("mean", "prior_mean", "settled", "pending", "shift", "alpha")


class _Known(NamedTuple):
    """What a model knows of its columns: words and posterior of each, and the settings that go with it."""

    columns: Sequence[tuple[AnyArray, OnlinePosterior]]
    settings: dict[str, Any]


def filter_from_model(model: TextCategorizer, topics: Iterable[str] | None = None, **settings: Any) -> AdaptiveFilter:
    """A filter that goes on from what a model knows; each of its labels becomes a topic.

    Words are counted and weighed as the model does, so that an online model (or Gaussian process) gives the same
    probabilities as the filter: each label's own, where classes exclude each other. Of a linear model, which must know
    its standard errors (``intervals=True``), the weights are N(weight, error²), independent, under its own link: the
    filter has the same linear predictor, and averages over these errors. Words that a linear model holds at 0 are left
    to join by evidence. A filter forgets nothing, whatever the model's ``forgetting_factor``.

    A model knows no documents: there is nothing to rehearse until some are judged. How many training texts have a word
    is read off its weighting. Words that are not a topic's are taken to be as frequent in its relevant texts as in all,
    and where the weighting does not say, new words are found among the judgements alone.

    Parameters
    ----------
    model : fitted TextCategorizer
    topics : iterable of str, optional
        Labels to filter for; all if not given.
    **settings
        Of :class:`FilterSettings`; those that are the model's own cannot be given. ``threshold`` is that of an
        online model if it has one for all labels, else 0.5.
    """
    vectorizer, weighting = model.vectorizer_, model.weighting_
    if isinstance(vectorizer, TextViews):
        raise InputError(
            "the model reads texts in several views, which a filter cannot do; train one for it with train --preset "
            "linear --intervals"
        )
    if not isinstance(vectorizer, TextVectorizer) or vectorizer.binary:
        what = "counts each word once (binary)" if isinstance(vectorizer, TextVectorizer) else "hashes words"
        raise InputError(f"the model {what}, which a filter cannot do; train one with a plain TextVectorizer")
    known = _known(model.model_)
    known.settings.update(text=vectorizer._fitted(), weighting=weighting.scheme, norm=weighting.norm)
    chosen = _settings(known, settings, model)
    scheme = weighting.scheme, weighting.norm
    frequency = weighting.document_frequency_
    counted = np.zeros(len(weighting.idf_), dtype=np.int64) if frequency is None else frequency
    lexicon = FilterLexicon(pack(list(vectorizer.get_feature_names_out())), counted, weighting.n_docs_, *scheme)
    names, posteriors = _labels(model, known, OnlineLikelihood(chosen.link, chosen.noise))
    n_texts = _label_counts(model) if frequency is not None else {}
    made = []
    for name, (words, posterior) in zip(names, posteriors, strict=True):
        counts = _counts(lexicon, n_texts.get(name))
        ready = ready_to_judge(posterior, chosen)
        made.append(Topic(name, ready, words, WordCounts(*counts[:2]), *counts[2:]))
    if topics is not None:
        made = _chosen(made, list(dict.fromkeys(topics)))
    return AdaptiveFilter(chosen, lexicon, made, KeptDocuments())


def _known(ensemble: Any) -> _Known:
    fitted, calibration = ensemble.single, ensemble.calibration
    if ensemble.recalibration is not None:
        raise InputError(
            f"the model's probabilities are mapped by {ensemble.recalibration.method} calibration, which a filter "
            "cannot go on from; train it without --calibrate-by"
        )
    if ensemble.label_tree is not None:
        raise InputError(
            "the model's labels agree with a label tree, and the topics of a filter are judged one by one; train it "
            "without --label-tree"
        )
    if isinstance(fitted, BayesOnlineClassifier) and calibration == 1.0:  # and Gaussian processes
        return _online(fitted)
    if not isinstance(fitted, LinearModel) or not fitted.gives_intervals:
        raise InputError(
            f"a filter cannot go on from a model of type {_types(ensemble)!r}: it needs a Gaussian posterior of "
            "weights; use one of train --model online or gp, or a linear one of train --intervals"
        )
    if fitted.standard_errors_ is None or fitted.intercept_errors_ is None:
        raise InputError(
            "the model has no standard errors of its weights, which a filter needs to start from it; train it with "
            "--intervals"
        )
    if len({fitted.link_.for_label(label) for label in range(len(fitted.coef_))}) > 1:
        raise InputError(
            "the labels of the model have different links, and the topics of a filter share one; train it with one "
            "link, such as train --link probit --intervals"
        )
    columns = []
    for coef, bias, errors, bias_error in zip(
        fitted.coef_, fitted.intercept_, fitted.standard_errors_, fitted.intercept_errors_, strict=True
    ):
        words = np.flatnonzero((coef != 0.0) | np.isfinite(errors))
        own = np.where(np.isnan(errors[words]), fitted.held_scale_, errors[words])
        mean = calibration * np.concatenate([[bias], coef[words]])
        var = (calibration * np.concatenate([[bias_error], own])) ** 2
        columns.append((words, _diagonal(mean, var, mean, var)))
    link = {"link": fitted.link_.for_label(0).spec, "noise": 1.0}
    return _Known(columns, {"covariance": "diagonal", "variance": fitted.held_scale_**2, **link})


def _types(ensemble: Any) -> str:
    return ", ".join(one.model_type for one in ensemble.members)


def _online(estimator: BayesOnlineClassifier) -> _Known:
    likelihood = estimator.likelihood
    posterior: Any = estimator.posterior_
    own_settings: dict[str, Any] = {"link": likelihood.link.spec, "noise": likelihood.noise}
    if estimator.covariance == "process":
        kernel = getattr(estimator, "kernel", None)
        if not isinstance(kernel, str):
            raise InputError("the kernel of the model is a function, which a filter cannot keep; name one: linear")
        own_settings |= {"covariance": "gp", "kernel": kernel, "basis": max(len(one.alpha) for one in posterior)}
        return _Known([(one.words, one.copy()) for one in posterior], own_settings)
    if isinstance(posterior, Bank):
        columns = [(one.words, one.copy()) for one in posterior]
        variances = np.concatenate([one.prior_var[1:] for one in posterior])
    else:
        parts = (posterior.mean, posterior.var, posterior.prior_mean, posterior.prior_var)
        columns = []
        for k in range(posterior.n_labels):
            own = [part[:, k] for part in parts]
            words = np.flatnonzero((own[0][1:] != 0.0) | (own[1][1:] > 0.0) | (own[3][1:] > 0.0))
            at = np.concatenate([[0], 1 + words])
            columns.append((words, _diagonal(*(part[at] for part in own))))
        variances = posterior.prior_var[1:].ravel()
    positive = variances[variances > 0.0]
    variance = float(np.median(positive)) if len(positive) else FilterSettings.variance
    return _Known(columns, own_settings | {"covariance": estimator.covariance, "variance": variance})


def _diagonal(*parts: FloatArray) -> DiagonalPosterior:
    return DiagonalPosterior(*(np.array(part, dtype=np.float64)[:, None] for part in parts))


def _settings(known: _Known, given: dict[str, Any], model: TextCategorizer) -> FilterSettings:
    """The model's own settings, those given, and defaults that suit the model."""
    for name in _OF_THE_MODEL:
        if name in given and given[name] != known.settings.get(name, getattr(FilterSettings, name, None)):
            raise InputError(
                f"{name}={given[name]!r} is given, but the model has {known.settings.get(name)!r}; leave it out, or "
                "train another model"
            )
    usual = FilterSettings()
    most_words = max((len(words) for words, _ in known.columns), default=0) + usual.most_words - usual.start_words
    closed = OnlineLikelihood(known.settings["link"], known.settings["noise"]).closed_form
    hard = closed is not None and closed[0] == 0.0 < closed[1]
    defaults = {"most_words": max(most_words, usual.most_words), "gain": "paper" if hard else "gaussian"}
    chosen = FilterSettings(**{**defaults, **given, **known.settings})
    same = isinstance(model.model_.single, BayesOnlineClassifier)  # thresholds were chosen for these probabilities
    thresholds = np.unique(getattr(model.rule_, "thresholds_", np.zeros(0)) if same else np.zeros(0))
    highest = 1.0 if closed is None else 1.0 - closed[1]
    if "threshold" not in given and len(thresholds) == 1 and 0.0 <= thresholds[0] < highest:
        chosen = replace(chosen, threshold=float(thresholds[0]))
    return chosen


def _labels(
    model: TextCategorizer, known: _Known, likelihood: OnlineLikelihood
) -> tuple[list[str], Sequence[tuple[AnyArray, OnlinePosterior]]]:
    """Names of topics and what is known of each; of two classes the first is the second turned round."""
    space = model.label_space_
    if space.kind != "binary":
        return space.column_names, known.columns
    at = np.linspace(-3.0, 3.0, 7)
    if not np.allclose(likelihood.link.probability(at) + likelihood.link.probability(-at), 1.0, rtol=0.0, atol=1e-12):
        return space.column_names, known.columns
    words, posterior = known.columns[0]
    turned = {item.name: -getattr(posterior, item.name) for item in fields(posterior) if item.name in _MEANS}
    first = replace(posterior, **turned)
    return space.class_names, [(words, first), (words, posterior)]


def _label_counts(model: TextCategorizer) -> dict[str, int]:
    """Training texts of each label, where the model knows them."""
    counts = model.label_counts_
    if counts is None or counts.max() > model.weighting_.n_docs_:  # it has learnt on since its words were counted
        return {}
    return dict(zip(model.label_space_.class_names, counts.tolist(), strict=True))


def _counts(lexicon: FilterLexicon, n_relevant: int | None) -> tuple[AnyArray, AnyArray, int, int]:
    """Relevant texts with each word, texts beyond the training ones, and the numbers of both.

    Where it is not known how many texts are relevant, the training texts are taken back: evidence begins anew.
    """
    frequency = lexicon.document_frequency.astype(np.int32)
    if n_relevant is None:
        return np.zeros_like(frequency), -frequency, 0, -lexicon.n_docs
    expected = np.rint(n_relevant * frequency / max(lexicon.n_docs, 1)).astype(np.int32)
    return expected, np.zeros_like(frequency), n_relevant, 0


def _chosen(topics: list[Topic], names: list[str]) -> list[Topic]:
    by_name = {topic.name: topic for topic in topics}
    for name in names:
        if name not in by_name:
            raise InputError(
                f"the model has no label {name!r}; choose among {', '.join(list(map(repr, by_name))[:20])}"
            )
    return [by_name[name] for name in names]


def export_model(filter: AdaptiveFilter) -> TextCategorizer:
    """A multi-label ``TextCategorizer`` whose labels are the topics of a filter, with the filter's probabilities.

    What is kept: the words that have a column, how they are weighed, the posterior of every topic, the threshold, and
    how many documents are relevant to each topic. The documents themselves, judgements and schedules are not.

    Parameters
    ----------
    filter : AdaptiveFilter

    Examples
    --------
    >>> from textbayes.core.types import Document
    >>> grain = [Document("", text, ("grain",)) for text in ["corn wheat", "corn rain", "wheat rain"] * 4]
    >>> other = [Document("", text) for text in ["bank rates", "bank loans", "goal match"] * 4]
    >>> news = AdaptiveFilter.start([*grain, *other])
    >>> model = export_model(news)
    >>> model.predict_labels(["the corn harvest", "bank loans"])
    [('grain',), ()]
    """
    settings, n_words = filter.settings, len(filter.lexicon)
    topics = sorted(filter.topics, key=lambda topic: topic.name)
    space = LabelSpace(np.array([topic.name for topic in topics], dtype=object), "multilabel")
    estimator = _estimator(settings)
    posterior, evidence = _posterior(topics, n_words, settings), [0.0] * len(topics)
    nothing = np.zeros((1, len(topics)))
    return assembled(
        estimator,
        estimator.unfitted().with_posterior(posterior, evidence, space, n_words),
        vectorizer_of(settings.text, filter.lexicon),
        _weighting(filter.lexicon),
        f"fixed:threshold={settings.threshold!r}",
        nothing,
        nothing > 0.0,
        np.array([topic.n_relevant for topic in topics]),
        None,  # a filter keeps no texts
    )


def _estimator(settings: FilterSettings) -> BayesOnlineClassifier:
    """What learns the same way from the same prior."""
    shared: dict[str, Any] = {"link": settings.link, "noise": settings.noise, "passes": settings.passes}
    if settings.covariance == "gp":
        return SparseGPClassifier(kernel=settings.kernel, budget=settings.basis, **shared)
    scale = float(np.sqrt(settings.variance))
    return BayesOnlineClassifier(scale=scale, intercept_scale=scale, covariance=settings.covariance, **shared)


def _posterior(topics: Sequence[Topic], n_words: int, settings: FilterSettings) -> DiagonalPosterior | Bank[Any]:
    if settings.covariance != "diagonal":
        return Bank([_own(topic.posterior) for topic in topics])
    names = ("mean", "var", "prior_mean", "prior_var")
    arrays = {name: np.zeros((1 + n_words, len(topics))) for name in names}  # variance 0: not a word of the topic
    for k, topic in enumerate(topics):
        at = np.concatenate([[0], 1 + topic.words])
        for name, array in arrays.items():
            array[at, k] = getattr(topic.posterior, name)[:, 0]
    return DiagonalPosterior(**arrays)


def _own(posterior: OnlinePosterior) -> OnlinePosterior:
    """A posterior of one topic that a file can keep; what waits is brought into the covariance."""
    if isinstance(posterior, GaussianProcess):
        return replace(posterior.copy(), basis=posterior.basis.sorted_indices())
    if not isinstance(posterior, DeferredPosterior):
        return posterior.copy()
    size = posterior.n_weights
    prior = np.zeros(size), np.full(size, posterior.variance)
    return FullPosterior(posterior.words, posterior.mean.copy(), posterior.cov, *prior)


def _weighting(lexicon: FilterLexicon) -> TermWeighting:
    weighting = TermWeighting(lexicon.scheme, lexicon.norm)
    weighting.n_docs_, weighting.idf_, weighting.document_frequency_ = lexicon.n_docs, lexicon.idf.copy(), None
    weighting.check_state()
    return weighting

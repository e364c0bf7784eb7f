"""A model's settings in words, from what is fitted, so that a model read from a file is described as well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.presets import default_classifiers
from textbayes.decide import Rule
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer
from textbayes.tune import BayesLinearClassifierCV

_PATTERNS = {
    r"(?u)\b\w\w+\b": "runs of two or more letters or digits",
    r"(?u)\b[^\W\d_]{2,}\b": "runs of two or more letters",
}
_SCHEMES = {
    "raw": "the count of the word",
    "binary": "1 if the word occurs",
    "log": "1 + ln(count)",
    "ltc": "(1 + log₂ count) × log₂(training texts / training texts with the word)",
    "tfidf": "(1 + ln count) × ln((training texts + 1) / (training texts with the word + 1))",
    "tfidf1": "(1 + ln count) × (1 + ln((training texts + 1) / (training texts with the word + 1)))",
}


def settings_in_words(model: TextCategorizer) -> list[tuple[str, str]]:
    """Name and value of each setting, for people."""
    return [
        ("Labels", _labels(model)),
        ("Words", _words(model.vectorizer_)),
        ("Weight of a word in a text", _weighting(model.weighting_)),
        ("Model", _model(model)),
        ("Decision", _rule(model.rule_)),
    ]


def members_in_words(model: TextCategorizer) -> list[str]:
    """The members of the pool as they were given; empty where the model file has not kept them."""
    given = default_classifiers() if model.classifier is None else model.classifier
    members = list(given) if isinstance(given, Sequence) else [given]
    # A file keeps no members that were given with objects of the user's; the defaults are not meant then.
    return [describe_classifier(member) for member in members] if len(members) == len(model.pool_) else []


def describe_classifier(classifier: BayesLinearClassifier) -> str:
    """Link, prior and scale of one classifier.

    >>> describe_classifier(BayesLinearClassifier(prior="laplace", scale=10.0))
    'logit link, laplace prior of scale 10'
    """
    link, prior = make_link(classifier.link).name, classifier.prior
    name = prior if isinstance(prior, str) else prior.name
    if not isinstance(prior, str):
        return f"{link} link, {name} prior"
    if isinstance(classifier, BayesLinearClassifierCV):
        return f"{link} link, {name} prior, its scale found by {classifier.method}"
    scale = np.asarray(classifier.scale, dtype=np.float64)
    size = f"scale {float(scale):g}" if scale.ndim == 0 else "scales of its own for each word or label"
    return f"{link} link, {name} prior of {size}"


def _labels(model: TextCategorizer) -> str:
    space = model.label_space_
    names = [str(name) for name in space.classes]
    listed = ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:12])} and {len(names) - 12} more"
    if space.kind == "binary":
        return f"yes or no: {names[1]} (yes) or {names[0]} (no)"
    how = "exactly one" if space.kind == "multiclass" else "none, one or several"
    return f"{how} of {len(names)}: {listed}"


def _words(vectorizer: TextVectorizer | HashingTextVectorizer) -> str:
    n_terms = len(vectorizer.get_feature_names_out())
    shortest, longest = vectorizer.ngram_range
    if vectorizer.analyzer != "word":
        where = " within words" if vectorizer.analyzer == "char_wb" else ""
        return f"runs of {shortest} to {longest} characters{where}: {n_terms:,} of them"
    parts = [_PATTERNS.get(vectorizer.token_pattern, f"what matches {vectorizer.token_pattern}")]
    if vectorizer.lowercase:
        parts.append("lower case")
    if vectorizer.stop_words_:
        source = vectorizer.stop_words if isinstance(vectorizer.stop_words, str) else "own"
        parts.append(f"{len(vectorizer.stop_words_)} stop words left out ({source} list)")
    if vectorizer.stemmer is not None:
        parts.append(f"{vectorizer.stemmer.capitalize()} stems")
    if longest > 1:
        parts.append(f"sequences of {shortest} to {longest}")
    if isinstance(vectorizer, HashingTextVectorizer):
        return f"{', '.join(parts)}: hashed into {n_terms:,} columns"
    if vectorizer.vocabulary is None and isinstance(vectorizer.min_df, int) and vectorizer.min_df > 1:
        parts.append(f"in at least {vectorizer.min_df} training texts")
    return f"{', '.join(parts)}: {n_terms:,} different ones"


def _weighting(weighting: TermWeighting) -> str:
    length = ", each text scaled to length one" if weighting.norm == "cosine" else ""
    return _SCHEMES.get(weighting.scheme, weighting.scheme) + length


def _model(model: TextCategorizer) -> str:
    link = {"logit": "logistic", "probit": "probit"}.get(model.link_.name, f"{model.link_.spec}-link")
    used, size = int(np.count_nonzero(model.coef_)), int(model.coef_.size)
    text = f"{link} regression per label; {used:,} of {size:,} weights are not zero"
    if len(model.pool_) > 1:
        shares = ", ".join(f"{weight:.2f}" for weight in model.pool_)
        text += f"; a pool of {len(model.pool_)} models with weights {shares}, fitted on texts they did not see"
    if model.draws_ is not None:
        n_draws = max(one.intercept.size for one in model.draws_.labels)
        how = "averaged over them" if model.average else "at their mean"
        text += f"; {n_draws:,} draws of the posterior, probabilities {how}"
    return text


def _rule(rule: Rule) -> str:
    """The rule's name and the first line of its documentation, so that a new rule needs no entry here."""
    summary = (type(rule).__doc__ or "").strip().partition("\n")[0].replace("``", "")
    return f"{rule.name}: {summary}" if summary else rule.name

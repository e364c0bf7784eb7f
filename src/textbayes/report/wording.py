"""A model's settings in words, from what is fitted, so that a model read from a file is described as well."""

from __future__ import annotations

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.training import members_of
from textbayes.decide import Rule
from textbayes.kinds import kind_of
from textbayes.kinds.linear import FittedLinear
from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer

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
    members = members_of(model)
    # A file keeps no members that were given with objects of the user's; the defaults are not meant then.
    return [kind_of(one).describe_settings(one) for one in members] if len(members) == len(model.pool_) else []


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
    fitted = model.model_
    if isinstance(fitted, FittedLinear):
        link = {"logit": "logistic", "probit": "probit"}.get(fitted.link.name, f"{fitted.link.spec}-link")
        used, size = int(np.count_nonzero(fitted.coef)), int(fitted.coef.size)
        text = f"{link} regression per label; {used:,} of {size:,} weights are not zero"
    else:
        text = "; ".join(members_in_words(model)) or fitted.kind
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

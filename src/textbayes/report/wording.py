"""The figures that matter most, each in a row of three cells: what it is, the figure, and what to hold it against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.prepare import members_of
from textbayes.categorizer.summary import partial_members
from textbayes.core.errors import plural
from textbayes.decide import LabelTree, Rule
from textbayes.evaluate.intervals import figure_in_words
from textbayes.models.linear.model import LinearModel
from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer
from textbayes.text.copies import copies_in_words
from textbayes.text.languages import language_name
from textbayes.text.sentences import SentenceVectorizer
from textbayes.text.tokens import TokenVectorizer
from textbayes.text.views import TextViews

_PATTERNS = {
    r"(?u)\b\w\w+\b": "runs of two or more letters or digits",
    r"(?u)\b[^\W\d_]{2,}\b": "runs of two or more letters",
    "words": "runs of two or more letters",
    "all": "runs of letters or digits, !, ? and emoji",
    "tweets": "runs of letters or digits, #hashtags, @mentions, !, ?, emoji and emoticons",
}
_SCHEMES = {
    "raw": "the count of the word",
    "binary": "1 if the word occurs",
    "log": "1 + ln(count)",
    "ltc": "(1 + log₂ count) × log₂(training texts / training texts with the word)",
    "tfidf": "(1 + ln count) × ln((training texts + 1) / (training texts with the word + 1))",
    "tfidf1": "(1 + ln count) × (1 + ln((training texts + 1) / (training texts with the word + 1)))",
}
_SHOWN_OF_TREE = 10


def settings_in_words(model: TextCategorizer) -> list[tuple[str, str]]:
    """Name and value of each setting, for people."""
    partial = partial_members(model.choice_)
    return [
        ("Labels", _labels(model)),
        *_reading(model.vectorizer_, model.weighting_),
        ("Model", _model(model)),
        *([("Partial", f"{partial}: the training was interrupted")] if partial else []),
        *([] if (found := model.model_.recalibration) is None else [("Calibration", f"{found.method}, by label")]),
        *([] if (tree := model.model_.label_tree) is None else [("Label tree", _tree(tree))]),
        ("Decision", _rule(model.rule_)),
    ]


def _tree(tree: LabelTree) -> str:
    """Labels below others by name, where they are few."""
    pairs = [f"{child} below {' and '.join(parents)}" for child, parents in sorted(tree.parents.items())]
    more = f", and {len(pairs) - _SHOWN_OF_TREE:,} more" if len(pairs) > _SHOWN_OF_TREE else ""
    return ", ".join(pairs[:_SHOWN_OF_TREE]) + more


def members_in_words(model: TextCategorizer) -> list[str]:
    """The members of the ensemble as they were given or chosen; empty where the model file does not hold them."""
    if model.choice_ is not None:
        return [_chosen_member(**member) for member in model.choice_["members"]]
    members = members_of(model)
    # A file keeps no members that were given with objects of the user's; the defaults are not meant then.
    return [one.settings_description() for one in members] if len(members) == len(model.pool_) else []


def folds_in_words(model: TextCategorizer) -> str:
    """Folds of the cross-validation of a training, and how many texts were held out where not all were.

    Parameters
    ----------
    model : fitted TextCategorizer
    """
    choice = model.choice_ or {}
    n_texts, n_held_out = choice.get("n_texts", 0), choice.get("n_held_out") or 0
    folds = f"{choice.get('n_folds') or model.cv} folds"
    return f"{folds}, {n_held_out:,} of {n_texts:,} texts held out" if 0 < n_held_out < n_texts else folds


def cross_validation_in_words(model: TextCategorizer) -> str:
    """Sentences about how the decisions on training texts were made.

    Parameters
    ----------
    model : fitted TextCategorizer
    """
    sentence = (
        f"Cross-validated in {folds_in_words(model)}: each text was classified by a model that was not trained on it."
    )
    return f"{sentence} {copies_in_words(model.copies_, int(model.weighting_.n_docs_))}".rstrip()


def _labels(model: TextCategorizer) -> str:
    space = model.label_space_
    names = [str(name) for name in space.classes]
    listed = ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:12])} and {len(names) - 12} more"
    if space.kind == "binary":
        return f"yes or no: {names[1]} (yes) or {names[0]} (no)"
    how = "exactly one" if space.kind == "multiclass" else "none, one or several"
    return f"{how} of {len(names)}: {listed}"


def _chosen_member(name: str, scale: float | None, weight: float, **others: float) -> str:
    """A member of an automatic ensemble."""
    return f"{name}, {'' if scale is None else f'scale {scale:g}, '}weight {weight:.2f}"


def _reading(vectorizer: Any, weighting: Any) -> list[tuple[str, str]]:
    """How texts are read, view by view where there are several."""
    if not isinstance(vectorizer, TextViews):
        return [("Words", _words(vectorizer)), ("Weight of a word in a text", _weighting(weighting))]
    rows = []
    for view, words, weights in zip(vectorizer.views, vectorizer.vectorizers_, weighting.weightings_, strict=True):
        if isinstance(words, SentenceVectorizer):
            sentence = (
                f"{words.width_} numbers, the sentence vector of {words.name_} (fingerprint {words.fingerprint_[:12]})"
            )
            rows.append((f"View {view.name!r}", sentence))
            continue
        if isinstance(words, TokenVectorizer):
            read = f"the first {words.width_} tokens, by an encoder: {words.name_}, fine-tuned"
            rows.append((f"View {view.name!r}", f"{read} (fingerprint of its files {words.fingerprint_[:12]})"))
            continue
        where = "of the first line of a text: " if view.part == "head" else ""
        share = "" if view.factor == 1.0 else f", times {view.factor:g}"
        rows += [
            (f"View {view.name!r}", where + _words(words)),
            ("  weight of a word", _weighting(weights) + share),
        ]
    return rows


def _words(vectorizer: TextVectorizer | HashingTextVectorizer) -> str:
    n_terms = len(vectorizer.get_feature_names_out())
    shortest, longest = vectorizer.ngram_range
    if vectorizer.analyzer in ("char", "char_wb"):
        where = " within words" if vectorizer.analyzer == "char_wb" else ""
        return f"runs of {shortest} to {longest} characters{where}: {n_terms:,} of them"
    parts = [_PATTERNS.get(vectorizer.token_pattern, f"what matches {vectorizer.token_pattern}")]
    if vectorizer.analyzer == "mixed":
        parts.append("characters and sequences of them in scripts without spaces")
    if vectorizer.lowercase:
        parts.append("lower case")
    if vectorizer.stop_words_:
        source = language_name(vectorizer.stop_words) if isinstance(vectorizer.stop_words, str) else "own"
        parts.append(f"{len(vectorizer.stop_words_)} stop words left out ({source} list)")
    if vectorizer.stemmer is not None:
        parts.append(f"{language_name(vectorizer.stemmer).capitalize()} stems")
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
    fitted = model.model_.linear
    if fitted is not None:
        used, size = int(np.count_nonzero(fitted.coef_)), int(fitted.coef_.size)
        text = f"{_regression(fitted)}; {used:,} of {size:,} weights are not zero"
    else:
        text = "; ".join(members_in_words(model)) or "; ".join(one.model_type for one in model.model_.members)
    if len(model.pool_) > 1:
        shares = ", ".join(f"{weight:.2f}" for weight in model.pool_)
        text += f"; an ensemble of {len(model.pool_)} models "
        if model.pool == "best":
            text += "of which each label has one, the best on texts they did not see"
        else:
            means = " by label, on average" if model.pool == "label" else ""
            text += f"with weights{means} {shares}, fitted on texts they did not see"
    if model.label_space_.kind == "multiclass" and model.inverse_temperature_ != 1.0:
        text += f"; probabilities of the labels to the power {model.inverse_temperature_:.2f} are made to add up to one"
    if model.draws_ is not None:
        n_draws = max(one.intercept.size for one in model.draws_.labels)
        how = "averaged over them" if model.posterior_predictive else "at their mean"
        text += f"; {n_draws:,} draws of the posterior, probabilities {how}"
    return text


def _regression(fitted: LinearModel) -> str:
    n_labels = Counter(fitted.link_.for_label(label) for label in range(fitted.label_space_.n_columns))
    links = [
        {"logit": "logistic", "probit": "probit"}.get(link.name, f"{link.spec}-link")
        + (f" ({n} of {fitted.label_space_.n_columns})" if len(n_labels) > 1 else "")
        for link, n in n_labels.most_common()
    ]
    return f"{', '.join(links)} regression per label"


def _rule(rule: Rule) -> str:
    """The rule's name and the first line of its documentation, so that a new rule needs no entry here."""
    summary = (type(rule).__doc__ or "").strip().partition("\n")[0].replace("``", "")
    return f"{rule.name}: {summary}" if summary else rule.name


FEW_TEXTS = 100  # below this many, figures have two digits and are said to be rough
FEW_OF_A_LABEL = 10


def headline(measures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Rows of the first table that people see: accuracy or micro F1 with its interval, baseline, macro F1, log-loss.

    Parameters
    ----------
    measures : mapping
        As ``textbayes.evaluate.evaluate`` gives them; figures that older model files lack are left out.
    """

    def row(name: str, key: str, said: str = "") -> list[tuple[str, str, str]]:
        value, interval = figure_in_words(measures, key)
        notes = "; ".join(part for part in (interval, said) if part)
        return [] if measures.get(key) is None else [(name, value, notes)]

    support = {name: one["support"] for name, one in (measures.get("labels") or {}).items()}
    n_labels = measures.get("n_labels") or len(support)
    macro = row("Macro F1", "macro_f1", f"mean over {plural(n_labels, 'label')}" if n_labels else "")
    if "accuracy" not in measures:
        rows = [
            *row("Micro F1", "micro_f1"),
            *macro,
            *row("All right", "subset_accuracy", "texts with all labels right"),
        ]
        return [*rows, *row("Log-loss", "log_loss", f"per {_per(measures)}")]
    rows, said = row("Accuracy", "accuracy"), f"per {_per(measures)}"
    if total := sum(support.values()):
        commonest = max(support, key=lambda name: support[name])
        digits = len(rows[0][1].partition(".")[2]) if rows else 2
        share = support[commonest] / total
        rows.append(("Baseline", f"{share:.{digits}f}", f"accuracy of always answering {commonest!r}"))
        entropy = -sum(n / total * math.log(n / total) for n in support.values() if n)
        said += f"; label frequencies: {entropy:.2f}"
    return [*rows, *macro, *row("Log-loss", "log_loss", said)]


def caution(measures: Mapping[str, Any]) -> str:
    """A sentence about figures that rest on few texts; empty where they do not.

    Parameters
    ----------
    measures : mapping
    """
    n_texts = measures.get("n_docs") or 0
    few = [name for name, one in (measures.get("labels") or {}).items() if one["support"] < FEW_OF_A_LABEL]
    if n_texts < FEW_TEXTS:
        return f"These figures rest on {plural(n_texts, 'text')}, so they are rough: see the interval."
    if few:
        which = f"{len(few):,} labels have" if len(few) > 1 else f"Label {few[0]!r} has"
        rough = "their figures are" if len(few) > 1 else "its figures are"
        return f"{which} fewer than {FEW_OF_A_LABEL} texts: {rough} rough."
    return ""


def _per(measures: Mapping[str, Any]) -> str:
    """What the log-loss is a mean over."""
    return "text" if measures.get("log_loss_per") == "text" else "yes-or-no decision"

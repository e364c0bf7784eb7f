"""Defaults of ``TextCategorizer()``, in one place."""

from __future__ import annotations

from textbayes.core.labels import LabelSpace
from textbayes.decide import Rule, make_rule
from textbayes.inference import samples
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.text import Language, TermWeighting, TextVectorizer

POOLS = ("shared", "label", "best")  # a weight for each model; one for each and label; for each label its best model
PRESETS = ("auto", "linear")
BUDGETS = ("quick", "normal", "thorough")


def default_vectorizer(language: Language | None = None) -> TextVectorizer:
    """Stems of words of two letters or more, stop words left out, in at least two texts.

    Parameters
    ----------
    language : Language, optional
        That of the texts; English if not given. One without a stemmer or a stop list has none, one that is not
        recognised neither.
    """
    if language is None or language.name == "english":
        return TextVectorizer(token_pattern=r"(?u)\b[^\W\d_]{2,}\b", stop_words="english", stemmer="porter", min_df=2)
    found = TextVectorizer(token_pattern="words", stop_words=language.stop_words, stemmer=language.stemmer, min_df=2)
    return found if language.spaced else found.set_params(analyzer="mixed", ngram_range=(1, 2))


def default_weighting() -> TermWeighting:
    """Logarithmic counts times an inverse document frequency that keeps common words, at length one."""
    return TermWeighting("tfidf1")


def default_models(family: str | None = None, inference: str | None = None) -> list[BayesLinearClassifier]:
    """A sparse and a dense logistic regression, with scales for texts of length one, to be pooled.

    Parameters
    ----------
    family : str, optional
        Of the priors: the one classifier of this family instead of two.
    inference : str, optional
        How posteriors are found. One that samples has the sparse classifier alone unless ``family`` says otherwise: two
        would take twice as long.
    """
    members = [
        BayesLinearClassifier(prior="laplace", scale=10.0, tol=1e-3),
        BayesLinearClassifier(prior="gaussian", scale=5.5, tol=1e-3, inference="newton"),
    ]
    if family is not None:
        members = [m for m in members if m.prior == family] or [BayesLinearClassifier(prior=family)]
    elif inference is not None and samples(inference):
        members = members[:1]
    return members if inference is None else [member.set_params(inference=inference) for member in members]


def default_rule(space: LabelSpace) -> Rule:
    """The likelier class for one label per text; thresholds per label where there are many."""
    return make_rule({"binary": "fixed", "multiclass": "top_label", "multilabel": "pcut"}[space.kind])

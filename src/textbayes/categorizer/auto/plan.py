"""Choice of views and members: what the texts and labels look like decides what is tried on them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.auto.members import Complement, Member, NaiveBayes, Regression, Told
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.batches import check_each, head
from textbayes.text.language import Language, detect_language
from textbayes.text.views import TextViews, View

_ENGLISH = ("the", "of", "and", "to", "is", "for", "with", "that")
_READ = 500  # characters of a text, for its language
_LOOKED_AT = 1_000  # texts, for what they look like
_HEADLINE = 0.3  # of its text at most, in characters, is a first line that stands for more
# With fewer, words that occur once are kept: they are most of what there is. Naive Bayes of two classes needs as many.
_FEW_TEXTS = 100
_MANY_FOLDS = 20
_FEW_FOLDS = 3  # each costs nearly as much as the fit to all texts
# Texts: what more of them say of pool and thresholds costs more than it tells.
_ENOUGH_HELD_OUT = {"quick": 5_000, "normal": 20_000}
_LEAST_HELD_OUT = 2  # folds: what is fitted to one may be judged by the other
_SOME_TEXTS = 50  # for a sparse model: a few words may say all, as of an author
ENOUGH_TEXTS = 300  # to choose weights and scales by what a fifth of them says, and to learn of first lines
# To learn a threshold on labels cut down to one text: with hundreds of texts it cost more decisions than it gained.
_MANY_TEXTS = 3_000
WORD_SCHEMES = ("tfidf1", "binary")  # weights of plain words: the first is better for topics, the second for long texts


@dataclass(frozen=True)
class Plan:
    """What an automatic training tries.

    Parameters
    ----------
    members : list of Member
        The first are the most useful: an interrupted training keeps those that are done.
    scales : tuple of float
        Those tried for the regressions with a Gaussian prior.
    schemes : tuple of str
        Those tried for the weights of plain words.
    second_pass : bool
        Whether labels may tell of each other.
    rare_threshold : bool
        Whether labels that no held-out text tests get a threshold learnt on larger ones.
    prior : Told or None
        The member, if any, that knows a prior file.
    meaning : int or None
        The view, if any, of sentence vectors, which one member reads: the last view.
    """

    members: list[Member]
    scales: tuple[float, ...]
    schemes: tuple[str, ...]
    second_pass: bool = False
    rare_threshold: bool = False
    prior: Told | None = None
    meaning: int | None = None


def make_plan(
    views: Sequence[str],
    space: LabelSpace,
    n_texts: int,
    budget: str,
    names: Told | None = None,
    prior: Told | None = None,
    meaning: int | None = None,
) -> Plan:
    """Members for these views and labels.

    Parameters
    ----------
    views : sequence of str
        Those that read words, by their names; the first is that of the words.
    space : LabelSpace
    n_texts : int
    budget : {"quick", "normal", "thorough"}
    names, prior : Told, optional
        What the names of the labels say, and what a prior file does.
    meaning : int, optional
        The view of sentence vectors.
    """
    enough = n_texts >= ENOUGH_TEXTS
    schemes = WORD_SCHEMES if enough else WORD_SCHEMES[:1]
    words, stems = (0,), tuple(range(1, len(views)))
    of_stems = "characters" if "chars" in views else "stems"
    members: list[Member] = [_gaussian("ratio, words", words, enough, ratio=True)]
    if stems:
        members.append(_gaussian(f"ratio, {of_stems}", stems, enough, ratio=True))
    members += [one for one in (names, prior) if one is not None]
    if meaning is not None:
        members.append(_gaussian("Gaussian, sentence vectors", (meaning,), enough, ratio=False))
    members += _naive_bayes({"words": words, of_stems: stems[:1]}, space, n_texts)
    if budget == "quick":
        return Plan(members, (6.0,), schemes, prior=prior, meaning=meaning)
    if n_texts >= _SOME_TEXTS:
        sparse, of = (stems, of_stems) if stems and space.kind == "multilabel" else (words, "words")
        members.append(_laplace(f"Laplace, {of}", sparse, enough))
    if budget == "thorough":
        members += [_gaussian("Gaussian, words", words, enough, ratio=False)]
        members += [_gaussian(f"Gaussian, {of_stems}", stems, enough, ratio=False)] if stems else []
    scales = (1.0, 3.0, 6.0, 18.0) if enough else (6.0,)
    rare = n_texts >= _MANY_TEXTS
    return Plan(members, scales, schemes, second_pass=enough, rare_threshold=rare, prior=prior, meaning=meaning)


def folds_for(n_texts: int, cv: int, budget: str) -> int:
    """Folds of a cross-validation: more where texts are few, so that each model has nearly all of them to learn from.

    Parameters
    ----------
    n_texts : int
    cv : int
        Folds where texts are enough; three at most with the budget "quick".
    budget : {"quick", "normal", "thorough"}
    """
    if n_texts < ENOUGH_TEXTS:
        return max(cv, min(n_texts, _MANY_FOLDS))
    return min(cv, _FEW_FOLDS) if budget == "quick" else cv


def folds_held_out(n_texts: int, n_folds: int, budget: str) -> int:
    """How many of the folds are held out in turn: fewer where texts are many, so that training grows with the texts.

    Parameters
    ----------
    n_texts, n_folds : int
    budget : {"quick", "normal", "thorough"}
    """
    if budget == "thorough":
        return n_folds
    return min(n_folds, max(_LEAST_HELD_OUT, math.ceil(n_folds * _ENOUGH_HELD_OUT[budget] / n_texts)))


def fits_to_all(n_texts: int, cv: int, budget: str) -> float:
    """How many fits to all texts a training is worth: one, and one for each fold held out, less that fold.

    Parameters
    ----------
    n_texts, cv : int
    budget : {"quick", "normal", "thorough"}
    """
    n_folds = folds_for(n_texts, cv, budget)
    return 1.0 + folds_held_out(n_texts, n_folds, budget) * (1.0 - 1.0 / n_folds)


def read_views(texts: Sequence[str], vectorizer: Any = None) -> tuple[TextViews, list[Any]]:
    """The views in which these texts have words, fitted, and counts of their words.

    Parameters
    ----------
    texts : sequence of str
    vectorizer : TextVectorizer, optional
        The words to use instead of the views that would be chosen.
    """
    check_each(texts)
    views: list[View] = []
    vectorizers, blocks = [], []
    for view in _views(texts, vectorizer):
        fitted = clone(view.vectorizer).set_output(transform="default")
        try:
            counts = fitted.fit_transform(view.read(texts))
        except InputError:  # no word, or none in two texts
            if views:
                continue
            if vectorizer is not None or fitted.min_df == 1:
                raise
            counts = fitted.set_params(min_df=1).fit_transform(view.read(texts))
        views.append(view)
        vectorizers.append(fitted)
        blocks.append(counts)
    return TextViews.of_fitted(views, vectorizers), blocks


def _views(texts: Sequence[str], vectorizer: Any) -> list[View]:
    if vectorizer is not None:
        return [View("words", vectorizer, TermWeighting(WORD_SCHEMES[0]))]
    language = language_of(texts)
    few, enough = len(texts) < _FEW_TEXTS, len(texts) >= ENOUGH_TEXTS
    # Pairs and first lines of few texts repeat what single words say, and dilute it; pairs of stems, without the words
    # between them, do so longest. Scripts without spaces are read as runs of characters, and need those of several.
    single = few and language.spaced
    read: dict[str, Any] = {"analyzer": "mixed", "min_df": 1 if few else 2}
    words = plain_words().set_params(ngram_range=(1, 1) if single else (1, 2), min_df=read["min_df"])
    views = [View("words", words, TermWeighting(WORD_SCHEMES[0]))]
    if language.stemmer is not None:
        read |= {"ngram_range": (1, 2) if enough else (1, 1), "stop_words": language.stop_words}
        stemmer = "porter" if language.name == "english" else language.stemmer
        stems = TextVectorizer(token_pattern="words", stemmer=stemmer, **read)
        views.append(View("stem", stems, TermWeighting("tfidf1")))
        if enough and has_headlines(texts):
            views.append(View("head", clone(stems), TermWeighting("tfidf1"), part="head", factor=0.5))
    elif language.spaced:  # no stemmer: the beginnings and ends of words do as much
        parts = TextVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=read["min_df"])
        views.append(View("chars", parts, TermWeighting("tfidf1")))
    return views


def plain_words() -> TextVectorizer:
    """Reader of the first view: words of all letters, digits and the like, as they stand."""
    return TextVectorizer(token_pattern="all", analyzer="mixed")


def language_of(texts: Sequence[str]) -> Language:
    """The language of texts; English is known by its commonest words, without loading what knows all others."""
    some = texts[:: max(len(texts) // _LOOKED_AT, 1)]
    words = [word for text in some for word in text[:_READ].lower().split()]
    counts = Counter(words)
    if counts["the"] > 0.015 * len(words) and sum(counts[word] for word in _ENGLISH) > 0.06 * len(words):
        return Language("en", 1.0, "latin")
    return detect_language(texts)


def has_headlines(texts: Sequence[str]) -> bool:
    """Whether most texts begin with a line that is a small part of them."""
    some = texts[:: max(len(texts) // _LOOKED_AT, 1)]
    return bool(np.mean([len(head(text)) <= _HEADLINE * len(text) for text in some]) > 0.5) if some else False


def _gaussian(name: str, views: tuple[int, ...], enough: bool, ratio: bool) -> Regression:
    """A dense regression; how finely its folds are fitted matters only where texts are few."""
    scales = "ratio" if ratio else None
    one = BayesLinearClassifier(prior="gaussian", scale=6.0, word_scales=scales, inference="dual", tol=1e-2)
    return Regression(name, views, one, fold_tol=1e-1 if enough else 1e-2)


def _naive_bayes(named: dict[str, tuple[int, ...]], space: LabelSpace, n_texts: int) -> list[Member]:
    """Naive Bayes, which is fast, where texts are enough to weigh it; of several classes its complement too."""
    views = [(of, read) for of, read in named.items() if read]
    members: list[Member] = []
    if space.kind == "multiclass":
        members += [Complement(f"complement, {of}", read) for of, read in views]
    elif space.kind == "multilabel":
        views = views[-1:]
    if n_texts >= (_FEW_TEXTS if space.kind == "binary" else ENOUGH_TEXTS):
        members += [NaiveBayes(f"naive Bayes, {of}", read) for of, read in views]
    return members


def _laplace(name: str, views: tuple[int, ...], enough: bool) -> Regression:
    one = BayesLinearClassifier(prior="laplace", scale=10.0 if enough else 30.0, tol=1e-3)
    return Regression(name, views, one, fold_tol=1e-2 if enough else 1e-3)

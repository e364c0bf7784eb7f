"""Which members a training fits, how it reads the texts, and what it does with them beyond fitting.

A plan is a list of members and a way to combine them. Automatic training and named models have a plan each; what
is registered in :data:`candidates` becomes a member of every automatic training.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.categorizer.members import Member
from textbayes.categorizer.reading import FEW_TEXTS, WORD_SCHEMES
from textbayes.categorizer.stackers import LabelWeights, Stacker
from textbayes.core.labels import LabelSpace
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.word_sums import NaiveBayesWeights

_MANY_FOLDS = 20
_FEW_FOLDS = 3  # each costs nearly as much as the fit to all texts
# Texts: what more of them say of pool and thresholds costs more than it tells.
_ENOUGH_HELD_OUT = {"quick": 5_000, "normal": 20_000}
_LEAST_HELD_OUT = 2  # folds: what is fitted to one may be judged by the other
_SOME_TEXTS = 50  # for a sparse model: a few words may say all, as of an author
# To learn a threshold on labels cut down to one text: with hundreds of texts it cost more decisions than it gained. An
# encoder would have to be fine-tuned for each.
_MANY_TEXTS = 3_000

candidates: dict[str, Callable[[], Any]] = {}
"""Further members of automatic trainings: a name, and a function that makes an estimator which reads plain words."""


@dataclass(frozen=True)
class Plan:
    """What a training fits and how it combines it.

    Parameters
    ----------
    members : list of Member
        The first are the most useful: an interrupted training keeps those that are done.
    stacker : Stacker
    together : bool
        Whether members are fitted together in each fold, since they read the same view; else one after the other, and
        an interrupted training can keep those that are done.
    scales : tuple of float
        Those tried for the regressions with a Gaussian prior.
    schemes : tuple of str
        Those tried for the weights of plain words.
    automatic : bool
        Whether members of a weight near zero, and small weights of words, are left out, and the choice is described.
    label_stacking : bool
        Whether the scores of other labels may be features of each.
    rare_threshold : bool
        Whether labels that no held-out text tests get a threshold learnt on larger ones.
    prior : Member or None
        The member, if any, that knows a prior file.
    sentences : int or None
        The view, if any, of sentence vectors, which one member reads: behind those of words.
    tokens : int or None
        The view, if any, of tokens, which the members read that are encoders: the last view.
    unlabelled : int or None
        The view, if any, of unlabelled texts, which the members read that learn from these.
    """

    members: list[Member]
    stacker: Stacker
    together: bool = False
    scales: tuple[float, ...] = ()
    schemes: tuple[str, ...] = ()
    automatic: bool = False
    label_stacking: bool = False
    rare_threshold: bool = False
    prior: Member | None = None
    sentences: int | None = None
    tokens: int | None = None
    unlabelled: int | None = None


def auto_plan(
    views: Sequence[str],
    space: LabelSpace,
    n_texts: int,
    budget: str,
    names: Member | None = None,
    prior: Member | None = None,
    sentences: int | None = None,
    unlabelled: Sequence[Member] = (),
    encoders: Sequence[Member] = (),
) -> Plan:
    """Members of an automatic training for these views and labels.

    Parameters
    ----------
    views : sequence of str
        Those that read words, by their names; the first is that of the words.
    space : LabelSpace
    n_texts : int
    budget : {"quick", "normal", "thorough"}
    names, prior : Member, optional
        What the names of the labels say, and what a prior file does.
    sentences : int, optional
        The view of sentence vectors.
    unlabelled : sequence of Member
        What is learnt from unlabelled texts, all of one view.
    encoders : sequence of Member
        Encoders that are fine-tuned, all of one view.
    """
    enough = n_texts >= ENOUGH_TEXTS
    words, stems = (0,), tuple(range(1, len(views)))
    of_stems = "characters" if "chars" in views else "stems"
    members = [_gaussian("ratio, words", words, enough, ratio=True)]
    if stems:
        members.append(_gaussian(f"ratio, {of_stems}", stems, enough, ratio=True))
    members += unlabelled
    members += [one for one in (names, prior) if one is not None]
    if sentences is not None:
        members.append(_gaussian("Gaussian, sentence vectors", (sentences,), enough, ratio=False))
    members += _naive_bayes({"words": words, of_stems: stems[:1]}, space, n_texts)
    members += [Member(f"{name}, words", words, make()) for name, make in candidates.items()]
    members += encoders
    common: dict[str, Any] = {"schemes": WORD_SCHEMES if enough else WORD_SCHEMES[:1], "prior": prior}
    common |= {"sentences": sentences, "automatic": True}
    common |= {"unlabelled": unlabelled[0].views[0] if unlabelled else None}
    common |= {"tokens": encoders[0].views[0] if encoders else None}
    if budget == "quick":
        return Plan(members, LabelWeights(space), scales=(6.0,), **common)
    if n_texts >= _SOME_TEXTS:
        sparse, of = (stems, of_stems) if stems and space.kind == "multilabel" else (words, "words")
        members.append(_laplace(f"Laplace, {of}", sparse, enough))
    if budget == "thorough":
        members += [_gaussian("Gaussian, words", words, enough, ratio=False)]
        members += [_gaussian(f"Gaussian, {of_stems}", stems, enough, ratio=False)] if stems else []
    common |= {"scales": (1.0, 3.0, 6.0, 18.0) if enough else (6.0,)}
    common |= {"label_stacking": enough, "rare_threshold": n_texts >= _MANY_TEXTS and not encoders}
    return Plan(members, LabelWeights(space), **common)


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


def _gaussian(name: str, views: tuple[int, ...], enough: bool, ratio: bool) -> Member:
    """A dense regression; how finely its folds are fitted matters only where texts are few."""
    scales = "ratio" if ratio else None
    one = BayesLinearClassifier(prior="gaussian", scale=6.0, word_scales=scales, inference="dual", tol=1e-2)
    return Member(name, views, one, {"tol": 1e-1 if enough else 1e-2})


def _naive_bayes(named: dict[str, tuple[int, ...]], space: LabelSpace, n_texts: int) -> list[Member]:
    """Naive Bayes, which is fast, where texts are enough to weigh it; of several classes its complement too."""
    views = [(of, read) for of, read in named.items() if read]
    members: list[Member] = []
    if space.kind == "multiclass":
        members += [Member(f"complement, {of}", read, NaiveBayesWeights(complement=True)) for of, read in views]
    elif space.kind == "multilabel":
        views = views[-1:]
    if n_texts >= (FEW_TEXTS if space.kind == "binary" else ENOUGH_TEXTS):
        members += [Member(f"naive Bayes, {of}", read, NaiveBayesWeights()) for of, read in views]
    return members


def _laplace(name: str, views: tuple[int, ...], enough: bool) -> Member:
    one = BayesLinearClassifier(prior="laplace", scale=10.0 if enough else 30.0, tol=1e-3)
    return Member(name, views, one, {"tol": 1e-2 if enough else 1e-3})

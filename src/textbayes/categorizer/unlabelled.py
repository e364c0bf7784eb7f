"""Unlabelled texts in automatic training: a view of their words, members that learn from them, whether these help.

The view has the words and the document frequencies of the unlabelled texts alone, and each fold has the labelled texts
of its training part: held-out texts are as new to the members as later ones will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.held_out import ENOUGH_TEXTS, HeldOut
from textbayes.categorizer.knowledge import Knowledge
from textbayes.categorizer.member_scores import Setting, cross_fitted, expected_weights, parts_of
from textbayes.categorizer.plan import Member
from textbayes.categorizer.reading import language_of
from textbayes.categorizer.sources import Source, TextSource
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray
from textbayes.models.linear.unlabelled import LatentRegression, MixtureWeights, UnlabelledTexts
from textbayes.text import TermWeighting
from textbayes.text.batches import check_each
from textbayes.text.copies import text_fingerprints
from textbayes.text.views import TextViews, View

VIEW = "unlabelled"
LEAST_TEXTS = 20  # with words that others have too: fewer say nothing of which words go together
# Texts that members learn from at most: more take longer and say little more.
MOST_TEXTS = {"quick": 2_000, "normal": 5_000, "thorough": 20_000}
_MOST_WORDS = 30_000
_LOOKED_AT = 1_000  # texts, for which weights of words are too small to matter
_SPREAD = 2.0  # standard deviation of log-odds of two classes
_SURE = 1.0  # standard errors by which members may seem to harm: with few texts chance alone does as much


class UnlabelledView(NamedTuple):
    """How unlabelled texts are read: the view, fitted, and what members learn from."""

    view: View
    vectorizer: Any
    weighting: TermWeighting
    texts: UnlabelledTexts
    sample: list[str]


def read_unlabelled(views: TextViews, texts: Sequence[str], budget: str) -> UnlabelledView | None:
    """The words of unlabelled texts and their weights; None where too few texts have words.

    Parameters
    ----------
    views : TextViews
        Those of the labelled texts, fitted: the last that reads whole texts says how words are read.
    texts : sequence of str
        The unlabelled texts.
    budget : {"quick", "normal", "thorough"}
    """
    if len(texts) < LEAST_TEXTS:
        return None
    most = MOST_TEXTS[budget]
    if len(texts) > most:
        chosen = np.sort(np.random.default_rng(0).choice(len(texts), most, replace=False))
        texts = [texts[i] for i in chosen]
    usual = next(view.vectorizer for view in reversed(views.views) if view.part == "text")
    vectorizer: Any = clone(usual).set_output(transform="default")
    if usual.vocabulary is None:
        vectorizer.set_params(min_df=2, max_features=_MOST_WORDS)
    if language_of(texts).stemmer is not None and not usual.analyzer.startswith("char"):
        vectorizer.set_params(ngram_range=(1, 1))  # pairs repeat what single words say of which texts are alike
    try:
        counts = vectorizer.fit_transform(texts)
    except InputError:  # no word is in two texts
        return None
    counts = counts[np.flatnonzero(np.diff(counts.indptr))]
    if counts.shape[0] < LEAST_TEXTS or counts.shape[1] < LEAST_TEXTS:
        return None
    weighting = TermWeighting("tfidf1").fit(counts)
    view = View(VIEW, clone(vectorizer), TermWeighting("tfidf1"))
    some = list(texts[:: max(len(texts) // _LOOKED_AT, 1)])
    return UnlabelledView(view, vectorizer, weighting, UnlabelledTexts(weighting.transform(counts)), some)


def unlabelled_members(view: int, texts: UnlabelledTexts, space: LabelSpace) -> list[Member]:
    """Members that learn from unlabelled texts: of exclusive classes by expectation–maximisation too.

    A mixture for each of many labels against all texts without it found nothing on Reuters and OHSUMED that a
    regression did not.

    Parameters
    ----------
    view : int
        The number of the view that they read.
    texts : UnlabelledTexts
    space : LabelSpace
    """
    members = [Member("latent regression, unlabelled texts", (view,), LatentRegression(texts))]
    if space.kind != "multilabel":
        # Held-out texts of two classes always tell what it is worth; of many classes with a text each none may. Ten
        # texts do not tell well, and what is far too sure costs most there; of several classes one power is fitted.
        share, spread = (0.0, _SPREAD) if space.kind == "binary" else (1.0, None)
        mixture = Member("mixture, unlabelled texts", (view,), MixtureWeights(texts, spread=spread), share=share)
        members.insert(0, mixture)
    return members


def approve_unlabelled(
    at: Setting, members: list[Member], scores: FloatArray
) -> tuple[list[Member], FloatArray, dict[str, Any] | None]:
    """Members and scores, without those that learn from unlabelled texts if held-out texts say that they harm; and why.

    Weights are fitted to some of the folds and compared on the others, text by text. The members' weights are small
    where they say nothing; they are left out where the log-loss rises by more than a standard error, or, with many
    texts, at all.

    Parameters
    ----------
    at : Setting
    members : list of Member
    scores : array (n_members, n_held_out, n_columns)
    """
    others = np.array([member.views != (at.plan.unlabelled,) for member in members])
    if at.plan.unlabelled is None or others.all():
        return members, scores, None
    rest = [member for member, other in zip(members, others, strict=True) if other]
    part = parts_of(at.held)
    tried = [
        cross_fitted(at, scores, part, expected_weights(members)),
        cross_fitted(at, scores[others], part, expected_weights(rest)),
    ]
    n_counted = max(int(at.held.indicator.shape[0]), 1)
    outcome = {
        "outcome": "kept",
        "log_loss": _mean(at.held, tried[0]),
        "log_loss_without": _mean(at.held, tried[1]),
    }
    harm = at.held.text_losses(tried[0]) - at.held.text_losses(tried[1])
    slack = _SURE * float(harm.std()) * np.sqrt(n_counted) if n_counted < ENOUGH_TEXTS else 0.0
    if harm.sum() <= slack:
        return members, scores, outcome
    return rest, scores[others], outcome | {"outcome": "left out"}


def without_copies(unlabelled: list[str], labelled: Sequence[str]) -> list[str]:
    """The unlabelled texts that are no labelled ones: members must not read a text that is held out.

    >>> without_copies(["corn  prices", "rates"], ["corn prices"])
    ['rates']
    """
    if not unlabelled:
        return unlabelled
    check_each(labelled)
    try:
        check_each(unlabelled)
    except InputError as error:
        raise InputError(f"unlabelled: {error}") from None
    copies = np.isin(text_fingerprints(unlabelled, unique=False), text_fingerprints(labelled))
    return [text for text, is_copy in zip(unlabelled, copies.tolist(), strict=True) if not is_copy]


def unlabelled_outcome(outcome: dict[str, Any] | None, n_texts: int, n_given: int) -> dict[str, Any]:
    """What became of so many unlabelled texts, for ``choice_``; where none could be read, that they were too few.

    Parameters
    ----------
    outcome : dict or None
        What held-out texts said.
    n_texts, n_given : int
        Without copies of labelled texts, and with them.
    """
    unknown = {"outcome": "too few", "log_loss": None, "log_loss_without": None}
    return {"n_texts": n_texts, "n_copies": n_given - n_texts, **(unknown if outcome is None else outcome)}


def settle_unlabelled(
    at: Setting, source: Source, members: list[Member], knowledge: Knowledge | None, outcome: dict[str, Any] | None
) -> tuple[Source, list[Member], Knowledge | None, dict[str, Any] | None]:
    """What became of unlabelled texts; where no member learns from them, texts are not read in their words."""
    v = at.plan.unlabelled
    if v is None or not isinstance(source, TextSource):
        return source, members, knowledge, None
    if any(member.views == (v,) for member in members):
        return source, members, knowledge, outcome
    moved = [replace(member, views=tuple(w - (w > v) for w in member.views)) for member in members]
    if knowledge is not None and knowledge.by_view is not None:
        knowledge = knowledge._replace(by_view=[one for w, one in enumerate(knowledge.by_view) if w != v])
    unknown = {"log_loss": None, "log_loss_without": None}
    return source.without_view(v), moved, knowledge, unknown | (outcome or {}) | {"outcome": "left out"}


def _mean(held: HeldOut, proba: FloatArray) -> float | None:
    loss = held.log_loss(proba)
    return loss if np.isfinite(loss) else None

"""Which members a training fits, how it reads the texts, and what it does with them beyond fitting.

A plan is a list of members (each a name, the views of the texts that it reads, and an estimator) and a way to combine
them. Automatic training and named models have a plan each; what
is registered in :data:`candidates` becomes a member of every automatic training.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.categorizer.knowledge import Knowledge, match_knowledge, words_known
from textbayes.categorizer.reading import FEW_TEXTS, WORD_SCHEMES
from textbayes.categorizer.stackers import LabelWeights, Stacker
from textbayes.core.errors import NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.core.types import BoolArray, FloatArray
from textbayes.inference import inferences
from textbayes.knowledge import MatchedPriors, WordPriors, from_names, match_priors, words_of
from textbayes.knowledge.informative_prior import DEFAULT_STRENGTH
from textbayes.links import is_searched, make_link
from textbayes.models.base import FitOptions, TextModel
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.word_sums import LinearScores, NaiveBayesWeights
from textbayes.priors import make_prior
from textbayes.text.views import TextViews

# Inferences whose work a card can do, and what its tolerance is as a share of theirs: the duality gap that ``dual``
# ends by is of the whole objective, and says less of single words.
_ON_CARD = {"coordinate": 1.0, "newton": 1.0, "dual": 0.1}


class Lexicon(LinearScores):
    """Words that are known to speak for labels: a score that is not learnt, but weighed in the ensemble.

    Parameters
    ----------
    matched : MatchedPriors
        Words of one view and the labels that they speak for.
    """

    def __init__(self, matched: MatchedPriors) -> None:
        self.matched = matched

    @all_or_nothing
    def fit(self, X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> Lexicon:
        """The mean prior weight of each word, given its typical value; labels are not looked at.

        Parameters
        ----------
        X : CSR matrix (n_docs, n_features)
        indicator : boolean array (n_docs, n_columns)
        sample_weight : array (n_docs,), optional
        """
        X = X if sample_weight is None else X[sample_weight > 0.0]
        self.coef_ = np.zeros((self.matched.n_labels, X.shape[1]))
        self.coef_[self.matched.label, self.matched.column] = DEFAULT_STRENGTH.means(self.matched, X)
        self.intercept_ = np.zeros(len(self.coef_))
        return self


@dataclass(frozen=True)
class Member:
    """One model of an ensemble.

    Parameters
    ----------
    name : str
    views : tuple of int
        The views of the texts that it reads, side by side.
    estimator : TextModel
        Not fitted.
    in_folds : dict
        Parameters of fits that score held-out texts and are forgotten.
    share : float
        Of the weight that all members are expected to have together, beside 1 of each other one that learns.
    """

    name: str
    views: tuple[int, ...]
    estimator: Any
    in_folds: dict[str, Any] = field(default_factory=dict)
    share: float = 1.0

    @property
    def learns(self) -> bool:
        """Whether it learns from labels; the weight of one that does not is expected to be 0."""
        return not isinstance(self.estimator, Lexicon)

    @property
    def scale(self) -> float | None:
        """Scale of the prior of a regression, if it has one."""
        scale: Any = getattr(self.estimator, "scale", None)
        return None if scale is None or np.ndim(scale) else float(scale)

    def fit(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions,
        knowledge: Knowledge | None = None,
    ) -> TextModel:  # fmt: skip
        """The member fitted to some documents.

        Parameters
        ----------
        features : Features
        indicator : boolean array (n_docs, n_columns)
        space : LabelSpace
        options : FitOptions
        knowledge : Knowledge, optional
            A prior file, and how far to follow it.
        """
        estimator = self.estimator if knowledge is None else knowledge.with_prior(self.estimator, features, self.views)
        return estimator.fit_features(features, indicator, space, options)

    def with_params(self, **parameters: Any) -> Member:
        """The same with other parameters of its estimator; those that it does not have are left out."""
        known = inspect.signature(type(self.estimator)).parameters
        own = {name: value for name, value in parameters.items() if name in known}
        return replace(self, estimator=self.estimator.unfitted(**own)) if own else self

    def on_card(self) -> Member:
        """The same with its regressions fitted on a graphics card; unchanged where it has none that can be."""
        one, share = self.estimator, _ON_CARD.get(str(getattr(self.estimator, "inference", None)))
        if not isinstance(one, BayesLinearClassifier) or share is None or is_searched(one.link):
            return self
        try:
            inferences.get("gpu").check(make_link(one.link), make_prior(one.prior, 1.0, 0.0, one.sign))
        except NotSupportedError:
            return self
        folds = {name: share * value if name == "tol" else value for name, value in self.in_folds.items()}
        return replace(self.with_params(inference="gpu", tol=share * one.tol), in_folds=folds)

    def for_folds(self) -> Member:
        """The same for fits that score held-out texts."""
        return self.with_params(**self.in_folds) if self.in_folds else self


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


def lexicon_members(
    texts: Sequence[str],
    views: TextViews,
    blocks: list[Any],
    space: LabelSpace,
    new_words: bool,
    table: WordPriors | None = None,
) -> tuple[Member | None, Member | None]:
    """Members that know the names of the labels and what a prior file says; None where they know no word.

    Texts that hold the word "wheat" are likelier to be of the label wheat, but names are often codes, and files may be
    wrong: the pool expects both to say nothing until held-out texts say otherwise. To expect more of a file gained
    nothing with tens of training texts of Reuters, and let wrong ones cost more.

    Parameters
    ----------
    texts : sequence of str
    views, blocks : TextViews, list of CSR matrix
        The views, fitted, and counts of the words of each. Both are widened by new words.
    space : LabelSpace
    new_words : bool
        Whether words of the names that the texts do not have become words of the model; those of a file always do.
    table : WordPriors, optional
        The prior file.
    """
    v = _view(views)
    if v is None:
        return None, None
    vectorizer, named = views.vectorizers_[v], _names(space, views.vectorizers_[v])
    for known in (named if new_words else None, table):
        if known:
            _widen(known, texts, views, blocks, v)
    # Matched when all words are there.
    names = match_priors(named, vectorizer.vocabulary_, space)
    prior = None if table is None else match_knowledge(table, vectorizer, space)
    return (
        Member("names of labels", (v,), Lexicon(names)) if len(names.column) else None,
        Member("prior file", (v,), Lexicon(prior)) if prior is not None and len(prior.column) else None,
    )


def _names(space: LabelSpace, vectorizer: Any) -> WordPriors:
    """The words of the labels' names, but for those that all names have, such as "class" of class-a and class-b."""
    table = from_names(space.class_names, words_of(vectorizer))
    labels_of = Counter(row.word for row in table)
    return WordPriors([row for row in table if labels_of[row.word] < len(space.class_names)])


def _view(views: TextViews) -> int | None:
    """The view whose words are spoken of; None where it has no words, but characters, which other words share."""
    v = next((v for v, view in enumerate(views.views) if view.name == "stem"), 0)
    return None if views.vectorizers_[v].analyzer.startswith("char") else v


def _widen(table: WordPriors, texts: Sequence[str], views: TextViews, blocks: list[Any], v: int) -> None:
    vectorizer = views.vectorizers_[v]
    if new := words_known(table, vectorizer):
        vectorizer.add_terms(new)
        blocks[v] = vectorizer.transform(views.views[v].read(texts))
        views.settle()


def widen_views(table: WordPriors, texts: Sequence[str], views: TextViews, blocks: list[Any]) -> list[int]:
    """The views whose words a prior file is about; its words join their vocabularies, and blocks are counted anew.

    Parameters
    ----------
    table : WordPriors
    texts : sequence of str
    views, blocks : TextViews, list of CSR matrix
        The views, fitted, and counts of the words of each.
    """
    views_with_prior = []
    for v, view in enumerate(views.views):
        # Characters are shared by other words, and the words of first lines are words of the texts.
        if view.part == "text" and not views.vectorizers_[v].analyzer.startswith("char"):
            _widen(table, texts, views, blocks, v)
            views_with_prior.append(v)
    return views_with_prior


def match_views(
    table: WordPriors, views: TextViews, views_with_prior: Sequence[int], space: LabelSpace
) -> list[MatchedPriors]:
    """A prior file in the words of each view; of a view that it is not about, no row.

    Parameters
    ----------
    table : WordPriors
    views : TextViews
        Fitted.
    views_with_prior : sequence of int
        The views that it is about.
    space : LabelSpace
    """
    found = []
    for v, vectorizer in enumerate(views.vectorizers_):
        if v == 0 and v in views_with_prior:
            found.append(match_knowledge(table, vectorizer, space))  # warns of words and labels that are not there
        else:
            names = list(vectorizer.get_feature_names_out())
            rows, words = (table, words_of(vectorizer)) if v in views_with_prior else ([], None)
            found.append(match_priors(rows, names, space, words))
    return found

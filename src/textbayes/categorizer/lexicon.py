"""What is known of words before any text: by the names of labels, or by a prior file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from textbayes.categorizer.knowledge import match_knowledge, words_known
from textbayes.categorizer.members import Lexicon, Member
from textbayes.core.labels import LabelSpace
from textbayes.knowledge import MatchedPriors, WordPriors, from_names, match_priors, words_of
from textbayes.text.views import TextViews


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
    informed = []
    for v, view in enumerate(views.views):
        # Characters are shared by other words, and the words of first lines are words of the texts.
        if view.part == "text" and not views.vectorizers_[v].analyzer.startswith("char"):
            _widen(table, texts, views, blocks, v)
            informed.append(v)
    return informed


def match_views(table: WordPriors, views: TextViews, informed: Sequence[int], space: LabelSpace) -> list[MatchedPriors]:
    """A prior file in the words of each view; of a view that it is not about, no row.

    Parameters
    ----------
    table : WordPriors
    views : TextViews
        Fitted.
    informed : sequence of int
        The views that it is about.
    space : LabelSpace
    """
    found = []
    for v, vectorizer in enumerate(views.vectorizers_):
        if v == 0 and v in informed:
            found.append(match_knowledge(table, vectorizer, space))  # warns of words and labels that are not there
        else:
            names = list(vectorizer.get_feature_names_out())
            found.append(match_priors(table if v in informed else [], names, space, words_of(vectorizer)))
    return found

"""The label tree of a categorizer: training labels completed with those above them, and what each answer makes of it.

Probabilities are made to agree before the rule decides (``Ensemble.proba``, ``Scorer``); then a label that is decided
on decides on those above it (``scorer.decided``). Held-out texts have both, so that thresholds, figures and intervals
are those of the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textbayes.core.errors import InputError, did_you_mean, plural
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import BoolArray, FloatArray
from textbayes.data.skos import is_vocabulary, read_parents
from textbayes.decide import LabelTree

if TYPE_CHECKING:
    from textbayes.categorizer.held_out import HeldOut

_SHOWN = 5  # labels that a message names


def read_tree(given: Any) -> LabelTree | None:
    """The label tree that a parameter means; None of None.

    Parameters
    ----------
    given : mapping of label to its parent or parents, LabelTree, path or None
        A path is that of a table with the columns child and parent, or of a SKOS vocabulary.
    """
    if given is None or isinstance(given, LabelTree):
        return given
    if isinstance(given, str | Path):
        given = read_parents(given)
    if not isinstance(given, Mapping):
        raise InputError(
            f"label_tree is a {type(given).__name__}; pass a mapping of each label to the one above it, such as "
            "{'wheat': 'grain'}, or the path of a table with the columns child and parent"
        )
    if not given:
        raise InputError("label_tree is empty; give at least one label with the one above it, or leave out label_tree")
    return LabelTree(given)


def encode_with_tree(labels: Any, label_tree: Any) -> tuple[BoolArray, LabelSpace, LabelTree | None]:
    """Labels as an indicator, each with all labels above it, the label space, and the tree of its labels.

    Parameters
    ----------
    labels : as of ``encode_labels``
    label_tree : as of ``TextCategorizer``
        None changes nothing. Of a vocabulary, which has more labels than a model, those of the texts are taken; any
        other tree with labels that no text has is refused.
    """
    indicator, space = encode_labels(labels)
    tree = read_tree(label_tree)
    if tree is None:
        return indicator, space, None
    if space.kind != "multilabel":
        raise InputError(
            "label_tree gives texts several labels, and these have exactly one each; give a list of labels for each "
            "text, such as [['wheat'], ['wheat', 'corn']], or leave out label_tree"
        )
    indicator, space = _with_labels_above(tree, indicator, space)
    names = space.class_names
    if not (isinstance(label_tree, str | Path) and is_vocabulary(label_tree)):
        _refuse_unknown(tree, names)
    kept = tree.among(names)
    if not kept.parents:
        raise InputError("label_tree has no label of the texts below another; give the tree of these labels")
    return kept.closed(indicator, names), space, kept


def in_agreement(tree: LabelTree, proba: FloatArray, held: HeldOut) -> FloatArray:
    """Probabilities of held-out texts that agree with the tree.

    A label that no text of the other folds has, or all have, has a probability that means nothing: it stays, and no
    other follows it.
    """
    return tree.coherent(proba, held.space.class_names, held.label_seen)


def _with_labels_above(tree: LabelTree, indicator: BoolArray, space: LabelSpace) -> tuple[BoolArray, LabelSpace]:
    """Room for the labels above those of the texts, which no text need have by itself."""
    names = space.class_names
    missing = sorted({other for name in names for other in tree.above(name)} - set(names))
    if not missing:
        return indicator, space
    if not all(isinstance(name, str) for name in space.classes):
        raise InputError(
            f"label_tree has {missing[0]!r} above others, and the labels are numbers without it; give labels as text, "
            "or a column for each label of the tree"
        )
    classes = sorted([*names, *missing])
    wider = np.zeros((len(indicator), len(classes)), dtype=np.bool_)
    wider[:, np.searchsorted(classes, names)] = indicator
    return wider, LabelSpace(np.array(classes, dtype=object), "multilabel")


def _refuse_unknown(tree: LabelTree, names: Iterable[str]) -> None:
    unknown = sorted(set(tree.parents) - set(names))  # labels above known ones are known by now
    if unknown:
        shown = ", ".join(map(repr, unknown[:_SHOWN])) + (", …" if len(unknown) > _SHOWN else "")
        raise InputError(
            f"label_tree has {plural(len(unknown), 'label')} that no text has: {shown}; correct the spelling, or leave "
            f"out their rows{did_you_mean(unknown[0], list(names))}"
        )

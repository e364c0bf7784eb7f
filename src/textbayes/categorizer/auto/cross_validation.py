"""Members × folds of an automatic training, side by side where an executor is in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from textbayes.categorizer.auto.members import Member
from textbayes.core.executor import spread
from textbayes.core.types import FloatArray

if TYPE_CHECKING:
    from textbayes.categorizer.auto.training import AutoTraining


def cross_validate(
    training: AutoTraining, blocks: list[Any], members: Sequence[Member], n_folds: int
) -> Iterator[tuple[Member, int, FloatArray]]:
    """Each member with its scale, each fold, and the member's scores of the fold's texts after the others.

    Parameters
    ----------
    training : AutoTraining
        Without its blocks.
    blocks : list of CSR matrix
        The words of each view.
    members : sequence of Member
    n_folds : int
    """
    chosen: list[Member] = []

    def work() -> Iterator[tuple[Member, int]]:
        """The folds of each member as soon as it has its scale, while those of others are still looked for."""
        for member in spread(_with_scale, members, training, blocks):
            chosen.append(member)
            yield from ((member, k) for k in range(n_folds))

    for number, scores in enumerate(spread(_score_fold, work(), training, blocks)):
        yield chosen[number // n_folds], number % n_folds, scores


def _with_scale(member: Member, training: AutoTraining, blocks: list[Any]) -> Member:
    return training.reading(blocks).with_scale(member)


def _score_fold(work: tuple[Member, int], training: AutoTraining, blocks: list[Any]) -> FloatArray:
    return training.reading(blocks).score_fold(*work)

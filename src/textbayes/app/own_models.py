"""Models of one person's answers alone, where a project of double screening has chosen so.

Each is a ``Screening`` beside that of the project, made when it is first asked for, of what the person has said since
the project began, or of a snapshot. Few are kept in memory: each takes as much as that of the project.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from textbayes.core.errors import TextBayesError
from textbayes.core.types import BoolArray
from textbayes.screen import Screening
from textbayes.store.event_folder import Entry

if TYPE_CHECKING:
    from textbayes.app.live import ReviewCache

Said: TypeAlias = tuple[int, float, Entry]  # number and time of an event, and what it says
UInt64Array: TypeAlias = npt.NDArray[np.uint64]
_MOST = 8  # models of a project in memory
_SNAPSHOT = 100  # entries learnt since the last snapshot


def is_among_two(ids: Sequence[str], users: Collection[int], user: int) -> BoolArray:
    """Whether somebody is one of the two of several people who read each record; others change little when one comes.

    Everybody has a number for each record, drawn from both; the two with the smallest read it.

    Examples
    --------
    >>> sum(is_among_two(["a", "b", "c"], [1, 2, 3], user).sum() for user in (1, 2, 3))
    np.int64(6)
    """
    if len(users) <= 2:
        return np.ones(len(ids), dtype=np.bool_)
    of_record = np.array([zlib.crc32(id.encode("utf-8", "replace")) for id in ids], dtype=np.uint64)
    drawn = {one: _mixed(of_record + (np.uint64(one) << np.uint64(32))) for one in users}
    before = sum((theirs < drawn[user]).astype(np.int64) for one, theirs in drawn.items() if one != user)
    return np.asarray(before < 2)


def _mixed(values: UInt64Array) -> UInt64Array:
    """Whole numbers as if drawn by chance: the last steps of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass
class _OwnModel:
    screening: Screening
    users: list[int]
    seen: int = 0  # the last event that it has learnt
    at: float = 0.0  # when that was
    n_new: int = 0  # learnt since it was kept


class OwnModels:
    """What each person of a project has said, and the models of it.

    Parameters
    ----------
    project : str
    make : callable
        A screening that has learnt nothing.
    kept : ReviewCache
    """

    def __init__(self, project: str, make: Callable[[], Screening], kept: ReviewCache) -> None:
        self._project, self._make, self._kept = project, make, kept
        self._said: dict[int, list[Said]] = defaultdict(list)
        self._models: OrderedDict[int, _OwnModel] = OrderedDict()

    def note(self, user: int, sequence: int, at: float, entry: Entry) -> None:
        """Remember an answer, or what was said of a word."""
        self._said[user].append((sequence, at, entry))

    def said_by(self, is_person: Callable[[int], bool]) -> tuple[list[int], list[Said]]:
        """The numbers under which a person has said something, and everything said, in order."""
        users = sorted(filter(is_person, self._said))
        return users, sorted((one for each in users for one in self._said[each]), key=lambda one: one[0])

    def of(self, user: int, users: list[int], said: list[Said], strategy: str) -> Screening:
        """The model of a person, with everything learnt.

        Parameters
        ----------
        user : int
        users, said : list
            See :meth:`said_by`.
        strategy : str
            By what records are chosen.
        """
        model = self._models.pop(user, None)
        if model is None or model.users != users:
            model = self._opened(user, users, said)
        for sequence, at, entry in said:
            if sequence > model.seen:
                model.screening.apply(entry)
                model.seen, model.at, model.n_new = sequence, at, model.n_new + 1
        if model.screening.settings.strategy != strategy:
            model.screening.apply({"kind": "strategy", "strategy": strategy})
        self._models[user] = model
        if model.n_new >= _SNAPSHOT:
            self._keep(user, model)
        if len(self._models) > _MOST:
            self._keep(*self._models.popitem(last=False))
        return model.screening

    def snapshot(self) -> None:
        """Keep what all models have learnt."""
        for user, model in self._models.items():
            self._keep(user, model)

    def _opened(self, user: int, users: list[int], said: list[Said]) -> _OwnModel:
        model = _OwnModel(self._make(), users)
        times = {sequence: at for sequence, at, _ in said}
        found = self._kept.newest(self._name(user), self._mark(model), times.get)
        if found is not None:
            sequence, meta, arrays = found
            try:
                model.screening.restore(meta, arrays)
                model.seen, model.at = sequence, times[sequence]
            except TextBayesError:  # one that says what cannot be counts as not there
                model = _OwnModel(self._make(), users)
        return model

    def _keep(self, user: int, model: _OwnModel) -> None:
        if model.n_new:
            self._kept.keep(self._name(user), self._mark(model), model.seen, model.at, model.screening)
            model.n_new = 0

    def _name(self, user: int) -> str:
        return f"{self._project}.{user}"

    def _mark(self, model: _OwnModel) -> Sequence[str]:
        return [*model.screening.collection.ids, *map(str, model.users)]

"""Gibbs runs that survive being interrupted: their states in files, each written whole after every round.

Files are containers as model files are; nothing in them is executed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray
from textbayes.inference.gibbs.running import SamplingProgress
from textbayes.inference.gibbs.sampler import State
from textbayes.models.base import SamplingCallback
from textbayes.store.container import FileFormat, read_container, read_marked_json, write_container

_RUN = FileFormat("textbayes gibbs run", version=2, noun="Gibbs run", remedy="delete it to start anew")
_ABOUT, _SUFFIX = "run.json", ".state"
_MARK = "texts, labels or settings"


class Checkpoint:
    """Keeps the newest state of every label of one fit at ``path``; pass it to ``Gibbs`` both ways.

    >>> import tempfile
    >>> from textbayes.inference.gibbs import Gibbs
    >>> checkpoint = Checkpoint(Path(tempfile.mkdtemp()) / "run.state")
    >>> inference = Gibbs(progress=checkpoint, resume=checkpoint.states())  # empty at first
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._states: dict[int, State] = read_states(self.path) if self.path.exists() else {}

    def states(self) -> dict[int, State]:
        """The states by label; empty where there is no file yet."""
        return dict(self._states)

    def __call__(self, progress: SamplingProgress) -> None:
        """Write the state that a round ended in."""
        self._states[progress.label] = progress.state()
        write_states(self.path, self._states)


class RunFolder(SamplingCallback):
    """A ``TextCategorizer``'s sampling in a folder, of which an interrupted fit is taken up where it stood.

    Each label of each stage has a file, written after every round of draws. Of a fold that is finished what the members
    said of its texts is kept, and the draws are not. The draws are the same to the bit, interrupted or not.

    Parameters
    ----------
    path : str or Path
        The folder; made where there is none.
    about : mapping of str to str
        What decides the draws, by name: a folder that was begun with anything else is refused, naming it.

    Examples
    --------
    >>> import tempfile
    >>> from textbayes import TextCategorizer
    >>> from textbayes.inference.gibbs import Gibbs
    >>> from textbayes.models.linear.classifier import BayesLinearClassifier
    >>> texts = ["corn prices", "corn harvest", "bank rates", "the bank"] * 3
    >>> short = Gibbs(chains=2, warmup=10, max_draws=50, max_r_hat=2.0, target_ess=10)
    >>> model = TextCategorizer(model=BayesLinearClassifier("probit", inference=short), cv=2)
    >>> run = RunFolder(Path(tempfile.mkdtemp()) / "run", {"seed": "0"})
    >>> model.fit(texts, ["grain", "grain", "money", "money"] * 3, sampling=run).predict(["corn"]).tolist()
    ['grain']
    >>> run.remove()
    """

    def __init__(self, path: str | Path, about: Mapping[str, str] | None = None) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{path} is a file; name a folder to keep the run in")
        self._about = dict(about or {})
        self.resumed = (self.path / _ABOUT).exists()
        if self.resumed:
            self._compare(self._about)
            return
        if self.path.exists() and set(self.path.iterdir()) - set(self._half_written()):
            raise InputError(f"{path} is a folder with other files; name one that is empty, or not there yet")
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{path} cannot be made ({error.strerror}); choose a place that allows it") from error
        self._describe()

    def begin(self, labels: Sequence[str], mark: str) -> None:
        self._compare({**self._about, _MARK: mark})
        self._about[_MARK] = mark
        self._describe()

    def progress(self, stage: str, at: SamplingProgress) -> None:
        write_states(self._state_file(stage, at.label), {at.label: at.state()})

    def resume(self, stage: str) -> Mapping[int, State]:
        return _Stage(self, stage)

    def recall(self, fold: str) -> AnyArray | None:
        path = self._file(fold, "result")
        if not path.exists():
            return None
        _, arrays = read_container(path, _RUN)
        with _RUN.damage(path):
            return arrays["result"]

    def finish(self, fold: str, result: AnyArray) -> None:
        write_container(self._file(fold, "result"), _RUN, {}, {"result": result})
        for path in self.path.glob(f"{_slug(fold)}*.label*{_SUFFIX}"):
            path.unlink()

    def remove(self) -> None:
        """Delete the run, and the folder unless it holds anything else."""
        for path in [*self.path.glob(f"*{_SUFFIX}"), *self._half_written(), self.path / _ABOUT]:
            path.unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()

    def state_of(self, stage: str, label: int) -> State | None:
        """The state of a label of a stage, where there is one."""
        path = self._state_file(stage, label)
        return read_states(path)[label] if path.exists() else None

    def labels_of(self, stage: str) -> list[int]:
        """The labels of a stage that have a state."""
        found = self.path.glob(f"{_slug(stage)}.label*{_SUFFIX}")
        return sorted(int(path.name.split(".label")[1].split(".")[0]) for path in found)

    def _half_written(self) -> list[Path]:
        """What is left of files that were being written when the process was killed."""
        return [*self.path.glob(f".*{_SUFFIX}.*.tmp"), *self.path.glob(f".{_ABOUT}.*.tmp")]

    def _file(self, stage: str, what: str) -> Path:
        return self.path / f"{_slug(stage)}.{what}{_SUFFIX}"

    def _state_file(self, stage: str, label: int) -> Path:
        return self._file(stage, f"label{label}")

    def _describe(self) -> None:
        described = {**_RUN.mark(), "about": self._about}
        with atomic_write(self.path / _ABOUT) as stream:
            stream.write(json.dumps(described, indent=1).encode())

    def _compare(self, now: Mapping[str, str]) -> None:
        known = read_marked_json(self.path / _ABOUT, _RUN)
        with _RUN.damage(self.path):
            before = dict(known["about"])
        named = (before.keys() | now.keys()) - (set() if _MARK in before and _MARK in now else {_MARK})
        other = sorted(name for name in named if before.get(name) != now.get(name))
        if other:
            raise InputError(
                f"{self.path} is a run that was begun with other {', '.join(other)}; go on with what it was begun "
                "with, or name another folder"
            )


class _Stage(Mapping[int, State]):
    """States of a stage, read when they are asked for: those of all labels together may be large."""

    def __init__(self, folder: RunFolder, stage: str) -> None:
        self._folder, self._stage = folder, stage

    def __getitem__(self, label: int) -> State:
        found = self._folder.state_of(self._stage, label)
        if found is None:
            raise KeyError(label)
        return found

    def __contains__(self, label: object) -> bool:
        return label in self._folder.labels_of(self._stage)

    def __iter__(self) -> Iterator[int]:
        return iter(self._folder.labels_of(self._stage))

    def __len__(self) -> int:
        return len(self._folder.labels_of(self._stage))


def write_states(path: Path, states: Mapping[int, State]) -> None:
    """Write states of labels to one file, whole or not at all."""
    described = {str(label): meta for label, (meta, _) in states.items()}
    arrays = {name: array for label, (_, parts) in states.items() for name, array in under(str(label), parts).items()}
    write_container(path, _RUN, {"states": described}, arrays)


def read_states(path: Path) -> dict[int, State]:
    """The states that a file holds; anything else is refused."""
    described, arrays = read_container(path, _RUN)
    with _RUN.damage(path):
        return {int(label): (meta, part_of(arrays, label)) for label, meta in described["states"].items()}


def _slug(stage: str) -> str:
    return re.sub(r"\W+", "-", stage)

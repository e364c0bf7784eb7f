"""Fuzz of snapshots of filters and screenings: ``python tests/fuzz/snapshots.py --mutations 20000`` (see ``--help``).

A mutated snapshot is refused with a ``TextBayesError`` when it is read, or it is a state: it decides, ranks, learns, is
told of, exported, and can be written and read again.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from model_mutations import mutate_arrays, mutate_description, mutate_json_text, mutate_tensors
from safetensors.numpy import save
from worker import LateFailureError, main

from textbayes.core.errors import TextBayesError
from textbayes.core.types import Document
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.screen import Collection, Screening, ScreenSettings, solver
from textbayes.screen.folder import SCREEN_FILE
from textbayes.store.container import FileFormat, read_container, write_members
from textbayes.store.event_folder import snapshot_path, snapshots
from textbayes.stream import AdaptiveFilter, FilterFolder, FilterSettings, export_model
from textbayes.stream.folder import newest_state
from textbayes.stream.judgements import FILTER_FILE, read_ledger, read_pending
from textbayes.stream.run import run
from textbayes.stream.settings import PAPER
from textbayes.stream.status import read_status, topic_words
from textbayes.text.sentences import SentenceVectorizer

FOLDER = Path(tempfile.mkdtemp(prefix="textbayes-fuzz-"))
GRAIN, MONEY = (
    ["corn", "wheat", "harvest", "rain", "farm", "crop"],
    ["bank", "rates", "loans", "credit", "interest", "dollar"],
)
OTHER = ["goal", "match", "team", "player", "coach", "league", "season"]
Use = Callable[[Path], Any]


class Base(NamedTuple):
    """A sound snapshot to start from: where it stands, what it says, and how it is used."""

    name: str
    path: Path
    form: FileFormat
    meta: Any
    arrays: dict[str, Any]
    use: Use
    expected: Any


class Case(NamedTuple):
    """A file for a place, what the sound one there gives, and whether this one may give something else."""

    base: int
    described: bytes
    arrays: bytes
    fair: bool


def draw(seed: int, n_docs: int) -> list[Document]:
    """Short documents of two topics and of none."""
    rng = random.Random(seed)
    documents = []
    for i in range(n_docs):
        label, words = rng.choice([("grain", GRAIN), ("money", MONEY), ("", OTHER), ("", OTHER)])
        text = " ".join(rng.choices(words, k=4) + rng.choices(OTHER, k=3))
        documents.append(Document(f"{seed}-{i}", text, (label,) if label else ()))
    return documents


# -- filters ----------------------------------------------------------------------------------------------------------
FILTERS: dict[str, dict[str, Any]] = {
    "full": {},
    "paper": dict(PAPER),
    "low rank": {"covariance": "low_rank"},
    "diagonal": {"covariance": "diagonal", "budget": "3/10", "forgetting_factor": 0.9},
    "gp": {"covariance": "gp", "basis": 8},
    "rbf": {"covariance": "gp", "basis": 8, "kernel": "rbf"},
    "region": {"gain": "region", "rehearsal": "recent:half_life=5", "explore": "constant:rate=0.1"},
}


def filter_folder(name: str, settings: dict[str, Any]) -> Path:
    """The folder of a filter that has seen and learnt something, with nothing in its log after the last snapshot."""
    path = FOLDER / name
    FilterFolder.create(path, AdaptiveFilter.start(draw(0, 40), settings=FilterSettings(**settings), n_jobs=1))
    with FilterFolder.open(path) as folder:
        folder.begin("stream")
        list(run(folder, [draw(1, 30)], by_labels=True, clock=lambda: 1.0))
        list(run(folder, [draw(2, 10)], clock=lambda: 2.0))  # what waits to be judged
    for older in snapshots(path / "snapshots")[:-1]:
        older.unlink()
    return path


def use_filter(place: Path) -> Any:
    """Open a copy of the folder that a snapshot is in, and do all that is done with a filter."""
    path = FOLDER / "used"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(place.parents[1], path)
    FilterFolder.open(path)._events.release()
    with late():
        told: list[Any] = [read_ledger(path), list(read_pending(path)), read_status(path, 0.0, 3.0)]
        filter = newest_state(path).filter
        told += [topic_words(filter, topic.name, 5, 0.9) for topic in filter.topics]
        told.append(export_model(filter).predict_proba([document.text for document in draw(3, 3)]).tolist())
        with FilterFolder.open(path) as folder:
            folder.begin("more", {"explore": "constant:rate=0.2"})
            told.append(list(run(folder, [draw(4, 12)], by_labels=True, clock=lambda: 3.0)))
            for document in list(folder.filter.ids)[-6:]:
                for topic in folder.filter.topics:  # first yes, then no: all are changed once
                    told += [folder.judge(document, topic.name, relevant) for relevant in (True, False)]
            left = repr(folder.filter.ids), len(folder.filter.lexicon)
        with FilterFolder.open(path) as again:
            if (repr(again.filter.ids), len(again.filter.lexicon)) != left:
                raise LateFailureError("written and read again, it is another")
    return repr(told)


# -- screenings -------------------------------------------------------------------------------------------------------
def screening(large: bool = False, vectors: bool = False, **settings: Any) -> Screening:
    """A screening of forty records with some answers, with sentence vectors beside their words if wanted."""
    chosen, documents = ScreenSettings(**settings), draw(5, 40)
    prior = WordPriors([WordPrior("corn", "*", "for"), WordPrior("goal", "*", "against")])
    ids, texts = [document.id for document in documents], [document.text for document in documents]
    model, known = None, {}
    if vectors:
        model = SentenceVectorizer.of_state("tiny", "0" * 64, 8)
        rows = np.random.default_rng(0).normal(size=(len(texts), 8)).astype(np.float32) / 3.0
        known = dict(zip(texts, rows.clip(-1.0, 1.0), strict=True))
    with solvers(large):
        read = Collection.read(ids, texts, chosen.topics, chosen.questions, prior, model, known)
        made = Screening(read, chosen)
        for topic in chosen.topics:
            made.apply(made.word("wheat", "for", topic))
            for document in documents[:12]:
                answer = "relevant" if "grain" in document.labels else "irrelevant"
                made.apply(made.judgement(document.id, answer, topic, 1.0))
            made.apply(made.judgement(documents[13].id, "unsure", topic, 1.0))
            made.apply(made.handing_out(made.next_records(3, topic), topic))
    return made


@contextlib.contextmanager
def solvers(large: bool) -> Iterator[None]:
    """Whether collections count as too large for a Gram matrix."""
    kept, solver._LARGEST_GRAM = solver._LARGEST_GRAM, 0 if large else solver._LARGEST_GRAM
    try:
        yield
    finally:
        solver._LARGEST_GRAM = kept


def use_screening(state: Screening, large: bool, of_records: bool) -> Use:
    """Restore a screening from a file, of its records or of what it has learnt, and go on with it."""

    def use(place: Path) -> Any:
        with solvers(large), SCREEN_FILE.damage(place):
            meta, arrays = read_container(place, SCREEN_FILE)
            collection = Collection.from_state(meta, arrays) if of_records else state.collection
            again = Screening(collection, state.settings)
            again.restore(*(state.to_state() if of_records else (meta, arrays)))
        with solvers(large), late():
            told: list[Any] = []
            for name, topic in again.topics.items():
                told += [topic.strongest_words(5), topic.words_behind(1), topic.predictors.tolist()]
                told += [topic.reading()[0].tolist(), topic.standard_errors(topic.unread()[:3]).tolist()]
                picks = again.next_records(4, name)
                again.apply(again.handing_out(picks, name))
                for pick, answer in zip(picks, ("relevant", "irrelevant", "unsure", "withdrawn"), strict=False):
                    again.apply(again.judgement(collection.ids[pick.row], answer, name, 2.0))
                again.apply(again.judgement(collection.ids[0], "withdrawn", name, 2.0))
                again.apply(again.word("rain", "against", name))
                told.append(topic.predictors.tolist())
                if not np.isfinite(topic.predictors).all():
                    raise LateFailureError("predictors that are none")
            anew = Screening(collection, state.settings)
            anew.restore(*again.to_state())
            if repr(anew.to_state()) != repr(again.to_state()):
                raise LateFailureError("written and read again, it is another")
        return repr(told)

    return use


@contextlib.contextmanager
def late() -> Iterator[None]:
    """What is refused now should have been refused at once."""
    try:
        yield
    except TextBayesError as error:
        raise LateFailureError(str(error)) from error


# -- cases ------------------------------------------------------------------------------------------------------------
def bases() -> list[Base]:
    """Snapshots of filters of every kind, and both files of screenings."""
    found = []
    for name, settings in FILTERS.items():
        path = filter_folder(name, settings)
        place = snapshots(path / "snapshots")[-1]
        found.append(
            Base(
                f"filter {name}", place, FILTER_FILE, *read_container(place, FILTER_FILE), use_filter, use_filter(place)
            )
        )
    several = {"topics": ("grain", "money"), "questions": {"grain": "corn harvest"}}
    kinds = (
        ("small", False, {}),
        ("large", True, {}),
        ("topics", False, several),
        ("vectors", True, {"vectors": True}),
    )
    for name, large, settings in kinds:
        state = screening(large, **settings)
        for part, (meta, arrays) in (("state", state.to_state()), ("records", state.collection.to_state())):
            place = snapshot_path(FOLDER, len(found))
            meta = {**SCREEN_FILE.mark(), **json.loads(json.dumps(meta))}
            use = use_screening(state, large, part == "records")
            plain = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
            write_members(place, SCREEN_FILE, json.dumps(meta).encode(), save(plain), deflate=False)
            found.append(Base(f"screening {name} {part}", place, SCREEN_FILE, meta, plain, use, use(place)))
    return found


def target_of(bases: list[Base]) -> Callable[[Case], str]:
    """Put the file in its place and use it."""

    def target(case: Case) -> str:
        base = bases[case.base]
        write_members(base.path, base.form, case.described, case.arrays, deflate=False)
        try:
            answers = base.use(base.path)
        except TextBayesError as error:
            if "not foreseen" in str(error):
                raise LateFailureError(f"refused by chance: {error.__cause__!r}") from error
            raise
        if not case.fair and answers != base.expected:
            raise LateFailureError("accepted, and gives other answers")
        return "accepted" if answers == base.expected else "another state"

    return target


def mutations(bases: list[Base]) -> Any:
    """``mutate`` of the worker: one to three changes of one of the snapshots."""

    def mutate(rng: random.Random) -> tuple[str, Case]:
        number = rng.randrange(len(bases))
        base = bases[number]
        meta, arrays = copy.deepcopy(base.meta), dict(base.arrays)
        whats, fair = [], False
        level = rng.choice(["meta"] * 5 + ["arrays"] * 5 + ["json", "tensors"])
        for _ in range(rng.choice([1, 1, 1, 2, 3]) if level in ("meta", "arrays") else 0):
            act = mutate_description if rng.random() < (0.9 if level == "meta" else 0.1) else mutate_arrays
            what, one_fair = act(rng, meta if act is mutate_description else arrays)
            whats.append(what)
            fair = fair or one_fair or what.endswith(("deleted", "shuffled"))
            if not arrays or not meta:
                break
        fair = fair or len(whats) > 1
        text, members = json.dumps(meta), save(arrays)
        described = text.encode()
        if level == "json":
            what, described = mutate_json_text(rng, text)
            whats, fair = [what], True
        elif level == "tensors":
            what, members = mutate_tensors(rng, members)
            whats, fair = [what], True
        return f"{base.name}: {'; '.join(whats)}", Case(number, described, members, fair)

    return mutate


if __name__ == "__main__":
    found = bases()
    try:
        sys.exit(main(target_of(found), mutations(found)))
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)

"""Models that people train, one at a time in the background; and what they say of texts, for JSON and for pages."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from sqlalchemy import delete, select, update

from textbayes.app.database import Model, Store, User, note_audit
from textbayes.app.exports import csv_of, model_file
from textbayes.app.importing import as_file, read_documents
from textbayes.app.projects import checked_name
from textbayes.categorizer import Scorer, TextCategorizer
from textbayes.core.errors import InputError, TextBayesError
from textbayes.core.types import Document
from textbayes.report import collect_report
from textbayes.report.render import render_report
from textbayes.report.wording import cross_validation_in_words
from textbayes.store import load_categorizer

TRAINING, READY, FAILED, STOPPED = "training", "ready", "failed", "stopped"
_FEWEST = 4  # texts


@dataclass(frozen=True)
class ListedModel:
    """A model: training, ready, failed or stopped, with a message; when it was begun, and what is being done."""

    id: str
    name: str
    state: str
    message: str
    created: float
    progress: str = ""


class _StoppedError(Exception):
    """Somebody does not want the model any more."""


class Training:
    """Trains models one after the other.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="training")
        self._stops: dict[str, threading.Event] = {}
        self._progress: dict[str, str] = {}
        with store.write() as session:
            lost = "the server was stopped during training; train the model again"
            session.execute(update(Model).where(Model.state == TRAINING).values(state=FAILED, message=lost))

    def begin(self, user: User, name: str, file_name: str, content: bytes, label_field: str = "") -> str:
        """Train a model of a file of labelled texts; returns its id at once.

        Parameters
        ----------
        user : User
        name : str
        file_name : str
        content : bytes
        label_field : str
            Guessed if empty.
        """
        options = {"label_field": label_field} if label_field else {}
        with as_file(file_name, content) as path:
            documents = [one for one in read_documents(path, **options) if not one.lacks_label]
        if len(documents) < _FEWEST or len({label for one in documents for label in one.labels}) < 1:
            raise InputError(
                f"{len(documents)} texts have labels; at least {_FEWEST} are needed: name the field that holds them"
            )
        id, name = secrets.token_hex(8), checked_name(name)
        with self._store.write() as session:
            session.add(Model(id=id, user_id=user.id, name=name, state=TRAINING, message=""))
            note_audit(session, user.name, "train model", name)
        self._stops[id] = threading.Event()
        self._progress[id] = "waiting"
        self._pool.submit(self._train, id, name, documents)
        return id

    def stop(self, id: str) -> None:
        """Stop a training at its next step."""
        if id in self._stops:
            self._stops[id].set()

    def progress(self, id: str) -> str:
        """What is being done for a model."""
        return self._progress.get(id, "")

    def list_models(self, user: User) -> list[ListedModel]:
        """The models of a person, newest first."""
        columns = (Model.id, Model.name, Model.state, Model.message, Model.created)
        found = select(*columns).where(Model.user_id == user.id).order_by(Model.created.desc())
        with self._store.read() as session:
            return [ListedModel(*row, progress=self.progress(row.id)) for row in session.execute(found)]

    def listed(self, found: Model) -> ListedModel:
        """A model as a list shows it."""
        return ListedModel(found.id, found.name, found.state, found.message, found.created, self.progress(found.id))

    def close(self) -> None:
        """Stop everything."""
        for stop in self._stops.values():
            stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _train(self, id: str, name: str, documents: Sequence[Document]) -> None:
        def report(what: str, done: int, total: int | None) -> None:
            if self._stops[id].is_set():
                raise _StoppedError
            self._progress[id] = what if total is None else f"{what}: {done:,} of {total:,}"

        try:
            report("reading", 0, None)
            texts, labels = [one.text for one in documents], _labels(documents)
            model = TextCategorizer(encoder="off").fit(texts, labels, progress=report)
            report("writing the report", 0, None)
            note = cross_validation_in_words(model)
            page = render_report(
                collect_report(model, texts, labels, title=name, split=note, ids=[one.id for one in documents],
                               cross_validated=True)
            )  # fmt: skip
            values: dict[str, Any] = {"state": READY, "message": "", "content": model_file(model), "report": page}
        except _StoppedError:
            values = {"state": STOPPED, "message": "the training was stopped"}
        except TextBayesError as error:
            values = {"state": FAILED, "message": str(error)}
        except Exception as error:
            values = {
                "state": FAILED,
                "message": f"this is a bug in textbayes; please report it: {type(error).__name__}",
            }
        with self._store.write() as session:
            session.execute(update(Model).where(Model.id == id).values(**values))
        self._stops.pop(id, None)
        self._progress.pop(id, None)


def find_model(store: Store, user: User, id: str) -> Model:
    """A model of this person."""
    with store.read() as session:
        found = session.scalar(select(Model).where(Model.id == id, Model.user_id == user.id))
    if found is None:
        raise InputError("there is no such model")
    return found


def open_model(found: Model) -> TextCategorizer:
    """A model that is ready, to be used."""
    if found.content is None:
        raise InputError("the model is not ready; wait until it is trained")
    with tempfile.TemporaryDirectory(prefix="textbayes-") as folder:
        path = Path(folder) / "model.tb"
        path.write_bytes(found.content)
        return load_categorizer(path)


def remove_model(store: Store, user: User, id: str) -> None:
    """Delete a model."""
    with store.write() as session:
        session.execute(delete(Model).where(Model.id == id, Model.user_id == user.id))
        note_audit(session, user.name, "delete model", id)


def classify_file(model: TextCategorizer, file_name: str, content: bytes) -> bytes:
    """A file of texts as CSV: its fields first, then labels and probabilities.

    Parameters
    ----------
    model : TextCategorizer
    file_name : str
    content : bytes
    """
    with as_file(file_name, content) as path:
        documents = list(read_documents(path))
    answers = classify_texts(model, [one.text for one in documents])
    rows = []
    for document, answer in zip(documents, answers, strict=True):
        own: dict[str, Any] = {"id": document.id, "labels": "|".join(answer.labels), "known_words": answer.known_words}
        own |= {f"p_{name}": round(p, 6) for name, p in answer.probabilities.items()}
        fields = dict(document.fields)
        rows.append({**fields, **{name if name not in fields else f"textbayes_{name}": own[name] for name in own}})
    return csv_of(rows)


def _labels(documents: Sequence[Document]) -> list[Any]:
    """One label each where all have exactly one, else lists."""
    if all(len(one.labels) == 1 for one in documents):
        return [one.labels[0] for one in documents]
    return [list(one.labels) for one in documents]


class Classified(BaseModel):
    """What the model says of a text: labels decided on, words of it that are known, probability of every label."""

    labels: list[str]
    known_words: int
    probabilities: dict[str, float]


class WordCounted(BaseModel):
    """A word of a text and what it adds to the log-odds."""

    word: str
    log_odds: float
    occurrences: int


class Explained(BaseModel):
    """How the log-odds of a label add up."""

    label: str
    probability: float
    base: float
    words: list[WordCounted]


def labels_of(model: TextCategorizer | Scorer) -> list[str]:
    """The names of a model's labels."""
    return [str(name) for name in model.classes_]


def check_labels(model: TextCategorizer, labels: list[str]) -> None:
    """Refuse labels that a model does not know."""
    known = labels_of(model)
    for name in labels:
        if name not in known:
            some = ", ".join(known[:20])
            raise InputError(f"the model knows no label {name[:100]!r}; choose among {some}")


def classify_texts(model: TextCategorizer | Scorer, texts: list[str]) -> list[Classified]:
    """Labels and probabilities of texts; a text without a word that the model knows has no label."""
    if not texts:
        return []
    assessed = model.assess(texts)
    names, proba = labels_of(model), model.label_space_.both_columns(assessed.proba)
    labels = model.label_space_.decode(assessed.decisions)
    return [
        Classified(
            labels=list(labels[i]) if assessed.known_words[i] else [],
            known_words=int(assessed.known_words[i]),
            probabilities=dict(zip(names, proba[i].tolist(), strict=True)),
        )
        for i in range(len(texts))
    ]


def explain_text(model: TextCategorizer, text: str, label: str) -> Explained:
    """The words behind a label."""
    check_labels(model, [label])
    (found,) = model.explain(text, [label])
    words = [WordCounted(word=one.word, log_odds=one.log_odds, occurrences=one.occurrences)
             for one in found.contributions]  # fmt: skip
    return Explained(label=label, probability=float(found.probability), base=float(found.base), words=words)

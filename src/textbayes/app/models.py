"""Models that people train, one at a time in the background; and what they say of texts, for JSON and for pages."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import delete, select, update

from textbayes.app.categories import training_texts
from textbayes.app.database import Model, Store, User, note_audit
from textbayes.app.downloads import Download
from textbayes.app.exports import model_file, table_named, table_of
from textbayes.app.importing import as_file, read_documents
from textbayes.app.live import LiveReview, ReviewRegistry
from textbayes.app.projects import checked_name
from textbayes.categorizer import Scorer, TextCategorizer
from textbayes.core.errors import InputError, TextBayesError
from textbayes.core.types import Document
from textbayes.data.formats._fields import NoTextFieldError
from textbayes.data.layout import Columns, Layout
from textbayes.report import collect_report
from textbayes.report.render import render_report
from textbayes.report.wording import cross_validation_in_words
from textbayes.store import load_categorizer

TRAINING, READY, FAILED, STOPPED = "training", "ready", "failed", "stopped"
_FEWEST = 4  # texts
_MOST_WAITING = 5  # trainings of one person at a time
_MOST_VALUES = 50  # different ones that a column may have to be taken for one of labels


@dataclass(frozen=True)
class ListedModel:
    """A model: training, ready, failed or stopped, with a message; when it was begun, and what is being done."""

    id: str
    name: str
    state: str
    message: str
    created: float
    progress: str = ""


class TablePreview(NamedTuple):
    """What a table holds that a model is to be trained on.

    Parameters
    ----------
    name : str
    fields : list of str
    text : tuple of str
        The fields of the text.
    label : str
        The field of the label; empty where none can be told.
    labels : dict
        Label → rows that have it, the most frequent first.
    n_rows, n_labelled : int
    examples : list of Document
        The first rows.
    """

    name: str
    fields: list[str]
    text: tuple[str, ...]
    label: str
    labels: dict[str, int]
    n_rows: int
    n_labelled: int
    examples: list[Document]


def preview_table(
    file_name: str, content: bytes, text_fields: Sequence[str] = (), label_field: str = ""
) -> TablePreview:
    """Look at a table before a model is trained on it; fields that are not named are guessed.

    Parameters
    ----------
    file_name : str
    content : bytes
    text_fields : sequence of str
    label_field : str
    """
    with as_file(file_name, content) as path:
        try:
            columns, documents = _read_table(path, text_fields, label_field)
        except NoTextFieldError as error:
            if text_fields or not error.names:
                raise
            columns, documents = _read_table(path, error.names[:1], label_field)  # let the person choose another
        fields = list(documents[0].fields) if documents else []
        if not label_field and not any(one.labels for one in documents):
            guessed = _label_like(documents, fields, columns.text)
            if guessed:
                columns, documents = _read_table(path, columns.text, guessed)
    counts = Counter(str(label) for one in documents for label in one.labels)
    return TablePreview(
        path.name, fields, columns.text, next(iter(columns.label), ""), dict(counts.most_common()),
        len(documents), sum(not one.lacks_label and bool(one.labels) for one in documents), documents[:_SEVERAL],
    )  # fmt: skip


_SEVERAL = 5


def _read_table(path: Path, text_fields: Sequence[str], label_field: str) -> tuple[Columns, list[Document]]:
    """The rows of a table, and which of its columns are what."""
    layout = Layout()
    named: dict[str, Any] = {"text_field": list(text_fields)} if text_fields else {}
    named |= {"label_field": label_field} if label_field else {}
    documents = list(read_documents(path, layout=layout, **named))
    return layout.found or Columns(), documents


def _label_like(documents: Sequence[Document], fields: Iterable[str], texts: Iterable[str]) -> str:
    """The column with the fewest different values that repeat; empty where there is none like that."""
    found = {}
    for name in set(fields) - set(texts):
        values = Counter(one.fields.get(name, "") for one in documents if one.fields.get(name, "").strip())
        if 2 <= len(values) <= _MOST_VALUES and 2 * len(values) <= sum(values.values()):
            found[name] = len(values)
    return min(found, key=lambda name: (found[name], name), default="")


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

    def begin(
        self,
        user: User,
        name: str,
        file_name: str,
        content: bytes,
        label_field: str = "",
        text_fields: Sequence[str] = (),
    ) -> str:
        """Train a model of the texts of a table that have labels, and classify all its rows; returns its id at once.

        Parameters
        ----------
        user : User
        name : str
        file_name : str
        content : bytes
        label_field : str
            Guessed if empty.
        text_fields : sequence of str
            Guessed if empty.
        """
        with as_file(file_name, content) as path:
            columns, documents = _read_table(path, text_fields, label_field)
        return self._begin(user, name, documents, file=path.name, columns=columns)

    def begin_with_answers(self, user: User, registry: ReviewRegistry, review: LiveReview) -> str:
        """Train a model of the answers of a project of categories; returns its id at once.

        Parameters
        ----------
        user : User
            Whose model it will be.
        registry : ReviewRegistry
        review : LiveReview
        """
        labelled, others = training_texts(registry, review, user.id)
        return self._begin(user, review.name, labelled, others, bool(review.settings["several"]))

    def _begin(
        self,
        user: User,
        name: str,
        rows: Sequence[Document],
        unlabelled: Sequence[str] = (),
        several: bool = False,
        file: str = "",
        columns: Columns | None = None,
    ) -> str:
        labelled = [one for one in rows if not one.lacks_label]
        if len(labelled) < _FEWEST or len({label for one in labelled for label in one.labels}) < 1:
            raise InputError(
                f"{len(labelled)} texts have labels; at least {_FEWEST} are needed: label more, or name the field that "
                "holds them"
            )
        if sum(one.state == TRAINING for one in self.list_models(user)) >= _MOST_WAITING:
            raise InputError(f"{_MOST_WAITING} of your trainings are not done yet; wait for one, or stop one")
        id, name = secrets.token_hex(8), checked_name(name)
        with self._store.write() as session:
            session.add(Model(id=id, user_id=user.id, name=name, state=TRAINING, message="", file=file))
            note_audit(session, user.name, "train model", name)
        self._stops[id] = threading.Event()
        self._progress[id] = "waiting"
        self._pool.submit(self._train, id, name, rows, unlabelled, several, file, columns)
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

    def _train(
        self,
        id: str,
        name: str,
        rows: Sequence[Document],
        unlabelled: Sequence[str],
        several: bool,
        file: str,
        columns: Columns | None,
    ) -> None:
        documents = [one for one in rows if not one.lacks_label]

        def report(what: str, done: int, total: int | None) -> None:
            if self._stops[id].is_set():
                raise _StoppedError
            self._progress[id] = what if total is None else f"{what}: {done:,} of {total:,}"

        try:
            report("reading", 0, None)
            texts, labels = [one.text for one in documents], _labels(documents, several)
            model = TextCategorizer(encoder="off")
            model.fit(texts, labels, progress=report, unlabelled=unlabelled or None)
            model.columns_ = None if columns is None else columns.to_state()
            report("writing the report", 0, None)
            note = cross_validation_in_words(model)
            page = render_report(
                collect_report(model, texts, labels, title=name, split=note, ids=[one.id for one in documents],
                               cross_validated=True)
            )  # fmt: skip
            values: dict[str, Any] = {"state": READY, "message": "", "report": page, "content": model_file(model)}
            if file:
                report("classifying all rows", 0, None)
                values["classified"] = table_of(file, _classified(model, rows, mark_training=True)).content
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


def classify_file(model: TextCategorizer, file_name: str, content: bytes) -> Download:
    """A table of texts with labels and probabilities behind its own columns, as a workbook if it is one, else as CSV.

    Parameters
    ----------
    model : TextCategorizer
    file_name : str
    content : bytes
    """
    expected = None if model.columns_ is None else Columns.from_state(model.columns_)
    with as_file(file_name, content) as path:
        documents = list(read_documents(path, layout=Layout(expected)))
    return table_of(path.name, _classified(model, documents))


def classified_file(found: Model) -> Download:
    """The table that a model was trained on, with what the model says of each of its rows."""
    if found.classified is None:
        raise InputError("there is no classified table; wait until the model is trained")
    return table_named(found.file or "texts", found.classified)


def _classified(
    model: TextCategorizer, documents: Sequence[Document], mark_training: bool = False
) -> list[dict[str, Any]]:
    """Rows: the fields of each text, then labels and probabilities, and whether the model has learnt from it."""
    answers = classify_texts(model, [one.text for one in documents])
    rows = []
    for document, answer in zip(documents, answers, strict=True):
        own: dict[str, Any] = {"id": document.id, "labels": "|".join(answer.labels), "known_words": answer.known_words}
        own |= {f"p_{name}": round(p, 6) for name, p in answer.probabilities.items()}
        own |= {"in_training": "" if document.lacks_label else "yes"} if mark_training else {}
        fields = dict(document.fields)
        rows.append({**fields, **{name if name not in fields else f"textbayes_{name}": own[name] for name in own}})
    return rows


def _labels(documents: Sequence[Document], several: bool) -> list[Any]:
    """One label each where all have exactly one, else lists."""
    if not several and all(len(one.labels) == 1 for one in documents):
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

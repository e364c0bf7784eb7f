"""``textbayes export``, ``serve`` and ``update``: a model in use elsewhere, and kept up to date."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import cloup
import numpy as np

from textbayes import store
from textbayes.app.settings import AppSettings, check_app_extra
from textbayes.cli.answers import class_names
from textbayes.cli.evaluate import label_indicator, unknown_labels
from textbayes.cli.inputs import Inputs, input_options, model_argument, require_documents
from textbayes.cli.labels import Labelling, label_options, read_truth
from textbayes.cli.options import most_used, option
from textbayes.cli.output import Output, check_output, console, make_table, output_options, print_table
from textbayes.cli.terminal import common_options, note, waiting, warn
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, plural
from textbayes.text.copies import text_fingerprints

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.core.types import Document, FloatArray


@cloup.command()
@model_argument
@click.option(
    "-o", "--output", "target", required=True, metavar="FILE", help="The file to write: .json, .sql or .onnx."
)
@click.option("--scorer", metavar="FILE", help="Also write the reference scorer of JSON, a Python file by itself.")
@output_options
@common_options
def export(model: str, target: str, scorer: str | None, output: Output) -> None:
    """Write a model's scoring as JSON, SQL or ONNX.

    JSON has everything from how texts are cut to thresholds; the reference scorer reads it with Python's standard
    library alone and shows other languages how. SQL and ONNX take counts of terms. Probabilities are those of classify:
    to 1e-9, and to 1e-5 in ONNX. What has no such form (a Gaussian process, averages over draws) is refused.

    \b
    textbayes export model.tb -o model.json --scorer score.py
    textbayes export model.tb -o model.sql
    textbayes export model.tb -o model.onnx
    """
    from textbayes.export import export_scoring, reference_scorer

    path = check_output(target)
    copy = None if scorer is None else check_output(scorer)
    with waiting(f"exporting {model}"):
        categorizer = store.load_categorizer(model)
        export_scoring(categorizer, path)
    if copy is not None:
        with atomic_write(copy) as stream:
            stream.write(reference_scorer().read_bytes())
    written: dict[str, Any] = {
        "model": model,
        "output": str(target),
        "format": Path(target).suffix.lower().removeprefix("."),
        "n_terms": len(categorizer.weighting_.idf_),
        "n_labels": len(categorizer.classes_),
        "bytes": path.stat().st_size,
    }
    sizes = (plural(written[f"n_{name}s"], name) for name in ("term", "label"))
    if path.suffix.lower() == ".json":
        stemmers = [name for name in json.loads(path.read_bytes())["functions"] if name.startswith("Snowball")]
        for name in stemmers:
            note(f"whoever scores needs a stemmer of a Snowball library, added to FUNCTIONS of the scorer as {name!r}")
    size = f"{max(written['bytes'] / 1000, 1.0):,.0f} kB"
    output.write_summary(written, f"{target}: {', '.join(sizes)}, {size}")


@cloup.command()
@model_argument
@option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on; 8765, or the next free one.")
@click.option("--origin", metavar="URL", help="What others call it, such as https://model.example.org.")
@option("--max-upload", default=64, type=click.IntRange(1), metavar="MB", help="Of a request.")
@output_options
@common_options
def serve(model: str, host: str, port: int | None, origin: str | None, max_upload: int, output: Output) -> None:
    """Serve a model to other programs, by a REST interface.

    \b
    textbayes serve model.tb
    curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
         -d '{"texts": ["corn rises"]}' http://127.0.0.1:8765/api/v1/classify

    Every request carries a token: that of TEXTBAYES_TOKEN, or else one that is made and shown at the start. Models that
    `update` can teach learn from judgements too (/api/v1/learn); the file has them when the answer comes.
    /api/v1/openapi.json describes it all.
    """

    check_app_extra("serving a model")
    from textbayes.app import run, served_model

    with contextlib.closing(run.listen(host, port)) as listening:
        address = origin or f"http://{host}:{listening.getsockname()[1]}"
        given = served_model.check_token(os.environ.get("TEXTBAYES_TOKEN", ""))
        token = given or secrets.token_urlsafe(24)
        settings = AppSettings(database="", origin=address, largest_upload=max_upload << 20)
        app = served_model.create_model_app(Path(model), settings, token)
        served = {"url": f"{address}/api/v1", "token": None if given else token}
        lines = (f"{model} is served at {served['url']}", f"token: {served['token'] or 'that of TEXTBAYES_TOKEN'}")
        output.write_summary(served, *lines)
        run.serve(app, listening)


_COLUMNS = ("label", "word", "before", "after", "change")


@cloup.command()
@most_used("target", "top", "text_field", "label_field", "sheet", "as_json")
@model_argument
@cloup.option_group(
    "Result",
    click.option(
        "-o", "--output", "target", metavar="FILE", help="Where to write the result; MODEL itself if not given."
    ),
    option("--top", type=click.IntRange(min=0), default=10, help="Words that changed most."),
)
@label_options()
@input_options(usual_part="train", counts=True)
@output_options
@common_options
def update(model: str, target: str | None, top: int, labelling: Labelling, inputs: Inputs, output: Output) -> None:
    """Update a model with more labelled texts.

    The model becomes the prior, and the new texts are the data. Count models learn exactly what they would have learnt
    from all texts at once; online models and Gaussian processes continue learning; linear and multinomial models need
    standard errors of their weights (train --intervals, or --inference gibbs). Words, labels and thresholds stay as
    they are: train again when these have changed.

    The log-loss printed is that of the new texts before they were learnt. A warning names texts that the model was
    trained on already, and they are left out: learning them twice would make probabilities too extreme.

    \b
    textbayes update model.tb more.jsonl
    textbayes update model.tb more.csv -o newer.tb
    """

    path = check_output(target, may_replace=model) if target is not None else Path(model)
    shared = store.SharedModel(model)
    found = shared.model
    inputs = inputs.of_model(found)
    many, tree = found.label_space_.kind == "multilabel", found.model_.label_tree
    documents = list(read_truth(inputs, labelling, class_names(found), many, tree))
    require_documents(documents, inputs)
    if target is None or (path.exists() and path.samefile(model)):
        with shared.change(lambda: note(f"another process is changing {model}; waiting until it is done")) as learner:
            learnt = _learn(learner, documents)
        categorizer = shared.model
    else:
        categorizer = found
        learnt = _learn(categorizer, documents)
        store.save_model(categorizer, path)
    before = learnt.weights
    rows = _changes(categorizer, before, categorizer.model_.word_weights().weights, top)
    counts = None if categorizer.label_counts_ is None else categorizer.label_counts_.tolist()
    summary: dict[str, Any] = {
        "model": str(path),
        "documents": len(documents),
        "known_documents": learnt.n_known,
        "log_loss_before": None if learnt.log_loss is None else round(learnt.log_loss, 4),
        "words_changed": int((before != categorizer.model_.word_weights().weights).any(axis=0).sum()),
    }
    if output.is_table:
        _print(summary, rows, categorizer)
    elif output.kind == "json":
        output.write([summary | {"texts_of_labels": counts, "changes": rows}], [])
    else:
        output.write(rows, _COLUMNS)


def _print(summary: dict[str, Any], rows: list[dict[str, Any]], model: TextCategorizer) -> None:
    from textbayes.text.surface import shown_names

    screen = console()
    learnt = plural(summary["documents"], "text")
    screen.print(
        f"{summary['model']} has learnt {learnt}; weights of {plural(summary['words_changed'], 'word')} changed."
    )
    if (loss := summary["log_loss_before"]) is not None:
        which = "the new ones among these texts" if summary["known_documents"] else "these texts"
        screen.print(f"Log-loss of {which} before they were learnt: {loss:.4f}")
    table = make_table(*_COLUMNS, title="Largest changes of weights", right=_COLUMNS[2:])
    shown = shown_names([row["word"] for row in rows], model.vectorizer_, model.surface_)
    for row, word in zip(rows, shown, strict=True):
        table.add_row(row["label"], word, *(f"{row[name]:+.3f}" for name in _COLUMNS[2:]))
    if rows:
        print_table(table)


class _Learnt(NamedTuple):
    """Weights and log-loss of before; the log-loss is of documents that were new, None where none was."""

    weights: FloatArray
    log_loss: float | None
    n_known: int


def _learn(model: TextCategorizer, documents: list[Document]) -> _Learnt:
    """Teach a model documents, with a warning of those that it has learnt before."""
    names, kind = class_names(model), model.label_space_.kind
    labels = [document.labels for document in documents]
    unknown = unknown_labels(labels, names, strict=False)
    if unknown:
        raise InputError(
            f"the texts have labels that the model does not know ({', '.join(list(unknown)[:5])}); train a model with "
            "all texts, or leave these out"
        )
    texts = [document.text for document in documents]
    before = model.model_.word_weights().weights
    known = np.zeros(len(texts), dtype=np.bool_)
    if model.fingerprints_ is not None:
        known = np.isin(text_fingerprints(texts, unique=False), model.fingerprints_)
    n_known, loss, sampled = int(known.sum()), None, model.draws_ is not None
    if n_known < len(texts):
        new = [text for text, old in zip(texts, known, strict=True) if not old]
        loss = _log_loss(model, new, label_indicator(labels, names)[~known])
    model.update(texts, _typed(model, labels if kind == "multilabel" else [one[0] for one in labels]))
    if n_known:
        warn(
            f"{n_known:,} of {plural(len(texts), 'text')} had been learnt before and now count more than once, so that "
            "the model is too sure of them; give update new texts alone"
        )
    if sampled and model.draws_ is None:
        note("the model was sampled; it now has weights and standard errors, and no draws: words --plot needs these")
    return _Learnt(before, loss, n_known)


def _typed(model: TextCategorizer, labels: Any) -> Any:
    """Labels in the type of the model's classes, which may be numbers."""
    by_name = {str(name): name for name in model.classes_.tolist()}
    if model.label_space_.kind == "multilabel":
        return [tuple(by_name[name] for name in row) for row in labels]
    return [by_name[name] for name in labels]


def _log_loss(model: TextCategorizer, texts: list[str], truth: Any) -> float:
    from textbayes.evaluate import evaluate

    proba = model.label_space_.both_columns(model.assess(texts).proba)
    result = evaluate(truth, proba, proba > 0.5, class_names(model), kind=model.label_space_.kind)
    return float(result["log_loss"] or 0.0)


def _changes(model: TextCategorizer, before: FloatArray, after: FloatArray, top: int) -> list[dict[str, Any]]:
    """The weights that changed most, largest change first."""
    change = after - before
    order = np.argsort(-np.abs(change), axis=None, kind="stable")[:top]
    names, words = model.label_space_.column_names, model.vectorizer_.get_feature_names_out()
    places = [np.unravel_index(place, change.shape) for place in order]
    return [
        {
            "label": names[k], "word": str(words[j]), "before": float(before[k, j]), "after": float(after[k, j]),
            "change": float(change[k, j]),
        }
        for k, j in places
        if change[k, j] != 0.0
    ]  # fmt: skip

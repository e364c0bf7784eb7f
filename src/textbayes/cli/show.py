"""``textbayes show``: what is in a model file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.settings import common_options

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer

_COLUMNS = ("label", "texts", "threshold", "held_out_precision", "held_out_recall", "held_out_f1")
_UNKNOWN = "not recorded"


@cloup.command()
@click.argument("model")
@output_options
@common_options
def show(model: str, output: Output) -> None:
    """Say what is in a model file.

    The kind of model, its labels with the number of training texts and the threshold of each, how it was made, when the
    file was written and by which version, and what the cross-validation of its training found.

    \b
    textbayes show model.tb
    textbayes show model.tb --json
    textbayes show model.tb --csv             (the labels)
    """
    from textbayes.store import load_categorizer, written_by

    categorizer = load_categorizer(model)
    labels = _labels(categorizer)
    if output.kind == "csv":
        output.write(labels, _COLUMNS)
        return
    shown = _summary(categorizer, Path(model), written_by(model))
    if output.is_table:
        _print(categorizer, shown, labels)
    else:
        output.write([shown | {"labels": labels, "settings": _settings(categorizer)}], [])


def _summary(model: TextCategorizer, path: Path, version: str) -> dict[str, Any]:
    """Summary of the model in a few numbers. The file's own time stands for the date of training, which is not kept."""
    from textbayes.categorizer.auto.story import partial_members

    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return {
        "model": str(path),
        "kind": model.label_space_.kind,
        "n_labels": len(model.classes_),
        "n_texts": int(model.weighting_.n_docs_),
        "n_words": int(model.word_columns().sum()),
        "words_with_weight": int(model.words_with_weight().sum()),
        "copies": model.copies_,
        "file_written": written.strftime("%Y-%m-%d %H:%M UTC"),
        "file_bytes": path.stat().st_size,
        "textbayes": version,
        **({"partial": partial} if (partial := partial_members(model.choice_)) else {}),
        "held_out": model.held_out_,
    }


def _labels(model: TextCategorizer) -> list[dict[str, Any]]:
    from textbayes.report.labels import class_thresholds

    thresholds = class_thresholds(model)
    names = [str(name) for name in model.classes_]
    counts = [None] * len(names) if model.label_counts_ is None else model.label_counts_.tolist()
    held_out = model.held_out_.get("labels", {})  # older files have figures over all labels only
    return [
        {"label": name, "texts": n, "threshold": thresholds.get(name)}
        | {f"held_out_{what}": held_out.get(name, {}).get(what) for what in ("precision", "recall", "f1")}
        for name, n in zip(names, counts, strict=True)
    ]


def _settings(model: TextCategorizer) -> dict[str, Any]:
    """Settings the model was made with, for programs."""
    from textbayes.report.wording import members_in_words

    state, _ = model.to_state()
    return {
        **_reading(state["vectorizer"], state["weighting"]),
        "model": state["model"]["kind"],
        "link": state["model"]["state"].get("link"),
        "members": members_in_words(model) or None,
        "pool": model.pool_.tolist(),
        "rule": {"name": state["rule"]["rule"], **state["rule"]["params"]},
        "prior_weight": None if model.prior_weight_ is None else model.prior_weight_.tolist(),
        **state["settings"],
    }


def _reading(vectorizer: dict[str, Any], weighting: dict[str, Any]) -> dict[str, Any]:
    """How texts are read, by each view where there are several."""
    if "views" not in vectorizer:
        params = {"class": vectorizer["class"], **vectorizer["params"]}
        return {"vectorizer": params, "weighting": weighting["params"]}
    views = [view | {"words": view["words"]["params"]} for view in vectorizer["views"]]
    return {"vectorizer": {"class": vectorizer["class"], "views": views}, "weighting": None}


def _print(model: TextCategorizer, shown: dict[str, Any], labels: list[dict[str, Any]]) -> None:
    screen = console()
    screen.print(_grid(_facts(model, shown)))
    screen.print(_label_table(labels))
    screen.print("Cross-validation of its training", style="bold")
    screen.print(_grid(list(_figures(shown["held_out"]))))


def _facts(model: TextCategorizer, shown: dict[str, Any]) -> list[tuple[str, str]]:
    from textbayes.report.wording import folds_in_words, members_in_words, settings_in_words
    from textbayes.text.copies import copies_in_words

    copies = copies_in_words(model.copies_, shown["n_texts"])
    return [
        ("File", f"{shown['model']}, written {shown['file_written']} by textbayes {shown['textbayes']}"),
        ("Kind", shown["kind"]),
        ("Training texts", f"{shown['n_texts']:,}"),
        *([("Copies", copies)] if copies else []),
        *settings_in_words(model),
        ("Members", "; ".join(members_in_words(model)) or _UNKNOWN),
        ("Cross-validation", f"{folds_in_words(model)}, seed {model.random_state}"),
    ]


def _figures(held_out: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in held_out.items():
        if isinstance(value, float):
            of = f" per {held_out['log_loss_per']}" if name == "log_loss" else ""
            yield f"{name.replace('_', ' ')}{of}", f"{value:.4f}"


def _grid(rows: list[tuple[str, str]]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _label_table(labels: list[dict[str, Any]]) -> Table:
    with_thresholds = any(row["threshold"] is not None for row in labels)
    columns = ["texts", *(["threshold"] if with_thresholds else []), "held-out F1"]
    table = make_table("label", *columns, right=columns)
    for row in labels:
        texts = _UNKNOWN if row["texts"] is None else f"{row['texts']:,}"
        f1 = _UNKNOWN if row["held_out_f1"] is None else f"{row['held_out_f1']:.4f}"
        table.add_row(row["label"], texts, *([_threshold(row["threshold"])] if with_thresholds else []), f1)
    return table


def _threshold(value: float) -> str:
    return "never" if value >= 1.0 else "always" if value < 0.0 else f"{value:.3f}"

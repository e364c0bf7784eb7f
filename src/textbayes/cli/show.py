"""``textbayes show``: what is in a model file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes import store
from textbayes.cli.figures import headline_table, measured_in_words
from textbayes.cli.inputs import is_filter
from textbayes.cli.output import Output, console, grid, make_table, output_options
from textbayes.cli.terminal import common_options
from textbayes.data.layout import Columns
from textbayes.stream.ledger import read_config

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer

_COLUMNS = ("label", "texts", "threshold", "held_out_precision", "held_out_recall", "held_out_f1")
_UNKNOWN = "not recorded"
_FACTS = ("Labels", "Model", "Partial", "Decision")  # of the settings, those that say nothing of features
_IN_HEADLINE = ("accuracy", "micro_f1", "macro_f1", "subset_accuracy", "log_loss")
_NAMES = {"brier": "Brier score", "ece": "Calibration error (ECE)"}


@cloup.command()
@click.argument("model")
@output_options
@common_options
def show(model: str, output: Output) -> None:
    """Show what is in a model file.

    The held-out figures of its training; settings and features; members of the ensemble with their weights and held-out
    log-loss; labels with the number of training texts and the threshold of each; when the file was written and by which
    version.

    \b
    textbayes show model.tb
    textbayes show model.tb --json
    textbayes show model.tb --csv             (the labels)
    textbayes show desk                       (the folder of a filter)
    """

    path = Path(model)
    if is_filter(model):
        from textbayes.cli.filter_run import exported

        categorizer, version, path = exported(model), str(read_config(path).get("textbayes", "?")), path / "log.jsonl"
    else:
        categorizer, version = store.load_categorizer(model), store.written_by(model)
    labels = _labels(categorizer)
    if output.kind == "csv":
        output.write(labels, _COLUMNS)
        return
    shown = {"model": model, **_summary(categorizer, path, version)}
    if output.is_table:
        _print(categorizer, shown, labels)
    else:
        output.write([shown | {"labels": labels, "settings": _settings(categorizer)}], [])


def _summary(model: TextCategorizer, path: Path, version: str) -> dict[str, Any]:
    """Summary of the model in a few numbers. The file's own time stands for the date of training, which is not kept."""
    from textbayes.categorizer.summary import partial_members

    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return {
        "kind": model.label_space_.kind,
        "n_labels": len(model.classes_),
        "n_texts": int(model.weighting_.n_docs_),
        "n_words": int(model.word_columns().sum()),
        "words_with_weight": int(model.words_with_weight().sum()),
        "columns": model.columns_,
        "copies": model.copies_,
        "file_written": written.strftime("%Y-%m-%d %H:%M UTC"),
        "file_bytes": path.stat().st_size,
        "textbayes": version,
        **({"partial": partial} if (partial := partial_members(model.choice_)) else {}),
        "held_out": model.held_out_,
    }


def _labels(model: TextCategorizer) -> list[dict[str, Any]]:
    from textbayes.report.figures import class_thresholds

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
    members = state["ensemble"]["members"]
    return {
        **_reading(state["vectorizer"], state["weighting"]),
        "model": members[0]["type"] if len(members) == 1 else "pool",
        "link": members[0]["state"].get("link") if len(members) == 1 else None,
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
    held_out = shown["held_out"]
    if held_out.get("n_docs"):
        screen.print(headline_table(held_out))
        screen.print(measured_in_words(model))
        screen.print()
    facts, features = _facts(model, shown)
    screen.print(grid(facts))
    _print_members(model)
    screen.print(_label_table(labels))
    screen.print("Features", style="bold")
    screen.print(grid(features))
    screen.print()
    more = list(_figures(held_out))
    if more:
        screen.print("More held-out figures", style="bold")
        screen.print(grid(more))


def _facts(model: TextCategorizer, shown: dict[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Facts on file, labels and model; and how texts are made into features."""
    from textbayes.report.wording import folds_in_words, members_in_words, settings_in_words
    from textbayes.text.copies import copies_in_words

    copies = copies_in_words(model.copies_, shown["n_texts"])
    settings = settings_in_words(model)
    facts = {name: value for name, value in settings if name in _FACTS}
    if model.choice_ is not None:
        facts["Model"] = _model(model)
    elif len(model.pool_) == 1 and (members := members_in_words(model)) != [facts.get("Model")]:
        facts["Settings"] = "; ".join(members) or _UNKNOWN
    measured = f"{folds_in_words(model)}, seed {model.random_state}"
    return [
        ("File", f"{shown['model']}, written {shown['file_written']} by textbayes {shown['textbayes']}"),
        ("Training texts", f"{shown['n_texts']:,}"),
        *([("Columns", Columns.from_state(model.columns_).in_words())] if model.columns_ else []),
        *([("Duplicates", copies)] if copies else []),
        *facts.items(),
        ("Cross-validation", measured if shown["held_out"].get("n_docs") else "none, so no held-out figures"),
    ], [row for row in settings if row[0] not in _FACTS]


def _model(model: TextCategorizer) -> str:
    """An automatic model in a sentence, with how many weights it has."""
    from textbayes.categorizer.summary import model_sentence, unlabelled_sentence

    weights = model.model_.word_weights().weights
    told = f"{model_sentence(model.choice_ or {})} {int((weights != 0.0).sum()):,} weights are not zero."
    if unlabelled := (model.choice_ or {}).get("unlabelled"):
        told += f" {unlabelled_sentence(unlabelled)}"
    if model.label_space_.kind == "multiclass" and model.inverse_temperature_ != 1.0:
        told += f" Probabilities are raised to the power {model.inverse_temperature_:.2f} and normalised."
    return told


def _print_members(model: TextCategorizer) -> None:
    """Print a table of the members: what each is, what it reads, its weight in the ensemble, its held-out log-loss."""
    from textbayes.categorizer.summary import member_rows
    from textbayes.report.wording import members_in_words

    screen = console()
    if model.choice_ is not None:
        heads = ("scale", "weight", "log-loss")
        table = make_table("member", "reads", *heads, right=heads)
        for row in member_rows(model.choice_):
            scale = "" if row.scale is None else f"{row.scale:g}"
            loss = "" if row.log_loss is None else f"{row.log_loss:.3f}"
            table.add_row(row.model, row.view, scale, f"{row.weight:+.2f}", loss)
        if (together := model.choice_["log_loss"]) is not None and len(model.choice_["members"]) > 1:
            table.add_section()
            table.add_row("all together", "", "", "", f"{together:.3f}")
        screen.print(table)
        screen.print("Scale: of the prior. Weight: in the ensemble. Log-loss: of each member alone, held out.")
        if left_out := model.choice_["left_out"]:
            screen.print(f"Tried and left out, since their weight was near zero: {'; '.join(left_out)}.")
    elif len(model.pool_) > 1:
        members = members_in_words(model) or [_UNKNOWN] * len(model.pool_)
        table = make_table("member", "weight", right=("weight",))
        for name, weight in zip(members, model.pool_, strict=True):
            table.add_row(name, f"{weight:+.2f}")
        screen.print(table)


def _figures(held_out: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Figures that the headline does not have."""
    for name, value in held_out.items():
        if isinstance(value, float) and name not in _IN_HEADLINE:
            yield _NAMES.get(name, name.replace("_", " ").capitalize()), f"{value:.4f}"


def _label_table(labels: list[dict[str, Any]]) -> Table:
    with_thresholds = any(row["threshold"] is not None for row in labels)
    measured = any(row["held_out_f1"] is not None for row in labels)
    columns = ["texts", *(["threshold"] if with_thresholds else []), *(["held-out F1"] if measured else [])]
    table = make_table("label", *columns, right=columns)
    for row in labels:
        cells = [_UNKNOWN if row["texts"] is None else f"{row['texts']:,}"]
        cells += [_threshold(row["threshold"])] if with_thresholds else []
        if measured:
            cells.append(_UNKNOWN if row["held_out_f1"] is None else f"{row['held_out_f1']:.3f}")
        table.add_row(row["label"], *cells)
    return table


def _threshold(value: float) -> str:
    return "never" if value >= 1.0 else "always" if value < 0.0 else f"{value:.3f}"

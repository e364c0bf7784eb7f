"""What ``train`` and ``show`` say of a model: its figures, members and settings; sampling as it goes; a report."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import progress as rich
from rich.table import Table

from textbayes.categorizer.reading import language_of
from textbayes.categorizer.summary import (
    describe_choice,
    member_rows,
    model_sentence,
    partial_members,
    unlabelled_sentence,
)
from textbayes.cli.figures import (
    LABEL_COLUMNS,
    MOST_LABELS,
    decided_in_words,
    headline_table,
    label_table,
    measured_in_words,
    print_prior,
)
from textbayes.cli.inputs import Inputs
from textbayes.cli.output import grid, make_table
from textbayes.cli.terminal import console, note, shown, waiting
from textbayes.core.state import to_state
from textbayes.core.types import AnyArray
from textbayes.data.layout import Columns
from textbayes.display import cell_width
from textbayes.evaluate.intervals import digits_of
from textbayes.models.base import SamplingCallback
from textbayes.report import collect_report, write_report
from textbayes.report.figures import class_thresholds
from textbayes.report.wording import (
    caution,
    cross_validation_in_words,
    folds_in_words,
    members_in_words,
    settings_in_words,
)
from textbayes.text.copies import copies_in_words
from textbayes.text.languages import UNKNOWN

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer
    from textbayes.cli.labels import LabelledTexts
    from textbayes.inference.gibbs import SamplingProgress
    from textbayes.inference.gibbs.sampler import State
    from textbayes.posterior.draws import Draws


_MOST_WEIGHED = 20  # labels whose weights of the members are shown
LABEL_FIGURES = ("label", "texts", "threshold", "held_out_precision", "held_out_recall", "held_out_f1")
_UNKNOWN = "not recorded"
_FACTS = ("Labels", "Model", "Partial", "Calibration", "Decision")  # settings that say nothing of features
_IN_HEADLINE = ("accuracy", "micro_f1", "macro_f1", "subset_accuracy", "log_loss", "accuracy_decided")
_NAMES = {"brier": "Brier score", "ece": "Calibration error (ECE)"}


def write_training_report(
    path: Path, model: TextCategorizer, given: LabelledTexts, source: str, model_path: Path | None
) -> None:
    """Write a page about the texts a model was just trained on, each decided by a model that had not seen it."""

    name = "" if model_path is None else f"{model_path.name}: "
    with waiting("writing the report"):
        data = collect_report(
            model,
            given.texts,
            given.labels,
            title=f"{name}cross-validation on {source}",
            split=f"{cross_validation_in_words(model)} "
            "Thresholds were tuned on these very decisions, which is a little kind to them.",
            source=source,
            model_name="" if model_path is None else str(model_path),
            ids=[document.id for document in given.documents],
            cross_validated=True,
        )
        write_report(path, data)


class Watching(SamplingCallback):
    """Shows how sampling goes, a line for each label of the present stage, and passes all on to ``folder``."""

    def __init__(self, folder: SamplingCallback, bars: Any) -> None:
        self._folder, self._bars = folder, bars
        self._labels: Sequence[str] = ()
        self._stage = ""
        self._tasks: dict[int, Any] = {}

    def begin(self, labels: Sequence[str], mark: str) -> None:
        self._labels = labels
        self._folder.begin(labels, mark)

    def progress(self, stage: str, at: SamplingProgress) -> None:
        self._folder.progress(stage, at)
        if self._bars is None:
            return
        if stage != self._stage:
            for task in self._tasks.values():
                self._bars.remove_task(task)
            self._stage, self._tasks = stage, {}
        if at.label not in self._tasks:
            drawn = "all classes" if at.together else self._labels[at.label]
            self._tasks[at.label] = self._bars.add_task(f"{stage}: {drawn}", total=None, said="")
        said = f"{at.n_draws:,} draws, R-hat {at.max_r_hat:.3f}, ESS {at.min_ess:,.0f}"
        done = {"total": 1, "completed": 1} if at.finished else {}
        self._bars.update(self._tasks[at.label], said=said, **done)

    def resume(self, stage: str) -> Mapping[int, State] | None:
        return self._folder.resume(stage)

    def recall(self, fold: str) -> AnyArray | None:
        return self._folder.recall(fold)

    def finish(self, fold: str, result: AnyArray) -> None:
        self._folder.finish(fold, result)


@contextlib.contextmanager
def watching(folder: SamplingCallback | None) -> Iterator[SamplingCallback]:
    """A watch that shows draws, the largest R-hat and the least effective sample size of each label as they come."""
    if not shown():
        yield Watching(folder or SamplingCallback(), None)
        return

    columns = [
        rich.SpinnerColumn(finished_text="✓"),
        rich.TextColumn("{task.description}", markup=False),
        rich.TextColumn("{task.fields[said]}"),
        rich.TimeElapsedColumn(),
    ]
    with rich.Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as bars:
        yield Watching(folder or SamplingCallback(), bars)


def print_trained(
    model: TextCategorizer, given: LabelledTexts, inputs: Inputs, path: Path | None, page: Path | None, per_label: bool
) -> None:
    """Print the held-out figures, the labels, what was found in the input, the model in a sentence, and next steps."""

    screen, measures = console(), model.held_out_
    screen.print(headline_table(measures))
    for line in (measured_in_words(model), caution(measures), *decided_in_words(measures)):
        if line:
            screen.print(line)
    shown = None if per_label else MOST_LABELS
    columns = LABEL_COLUMNS if per_label else LABEL_COLUMNS[:4]
    screen.print(label_table(measures, screen.width, columns, shown))
    if shown is not None and (more := len(measures["labels"]) - shown) > 0:
        screen.print(f"The {shown} labels with most texts; --per-label shows {more:,} more.\n")
    _print_section("Training set", list(found_in_words(model, given, inputs)))
    print_prior(model)
    screen.print("\nModel", style="bold")
    screen.print(model_in_words(model, path))
    if scales := measures.get("scales"):
        listed = [f"{name} {_scales(found)}" for name, found in list(scales.items())[:MOST_LABELS]]
        chosen = "; ".join(listed) if len(scales) > 1 else _scales(next(iter(scales.values())))
        screen.print(f"Scale of the prior, chosen on held-out texts: {chosen}{'; …' * (len(scales) > MOST_LABELS)}.")
    _print_steps(list(_next_steps(inputs, path, page)))


def found_in_words(model: TextCategorizer, given: LabelledTexts, inputs: Inputs) -> Iterator[tuple[str, str]]:
    """What was found in the training set: texts, columns, labels, language, duplicates, texts left out."""
    yield "Texts", f"{len(given.documents):,} from {inputs.name}"
    if (columns := inputs.columns()) is not None:
        yield "Columns", columns.in_words()
    each = "any number per text" if model.label_space_.kind == "multilabel" else "one per text"
    yield "Labels", f"{len(model.classes_):,}, {each}"
    if language := _language(model, given):
        yield "Language", language
    if (copies := model.copies_) is not None:
        n_copies = sum(copies.values())
        kinds = f" ({copies['identical']:,} identical, {copies['near']:,} nearly identical)"
        yield "Duplicates", f"{n_copies:,}{kinds}; duplicates share a fold" if n_copies else "none"
    if given.left_out:
        yield "Left out", "; ".join(given.left_out)
    for told in given.oddities:
        yield "Warning", told


def model_in_words(model: TextCategorizer, path: Path | None) -> str:
    """The model in a sentence, and the command that lists what it is made of."""

    if model.choice_ is not None:
        sentence = model_sentence(model.choice_)
        if partial := partial_members(model.choice_):
            sentence += f" The training was interrupted: it has {partial}."
        if (unlabelled := model.choice_.get("unlabelled")) is not None:
            sentence += f" {unlabelled_sentence(unlabelled)}"
    else:
        from textbayes.report.wording import members_in_words, settings_in_words

        names = members_in_words(model) or model.member_names()
        if len(names) == 1:
            what = dict(settings_in_words(model))["Model"]
            described = max(names[0], model.member_names()[0], key=len)
            sentence = f"One model: {described if what == names[0] else f'{what} ({names[0]})'}."
        else:
            sentence = f"An ensemble of {len(names)} models: {'; '.join(names)}."
    if evidence := _evidence(model):
        sentence += f" Log-evidence {evidence['log_evidence']:.1f}: each text was judged before it was learnt."
        if later := evidence.get("pass_log_evidence", ())[1:]:
            told = ", ".join(f"{value:.1f}" for value in later)
            sentence += f" Later passes, over texts that are known by then: {told}."
    if path is None:
        return f"{sentence} It was not saved (--cv-only)."
    return f"{sentence} `textbayes show {shlex.quote(str(path))}` lists members, weights and settings."


def _language(model: TextCategorizer, given: LabelledTexts) -> str:
    """The language of the texts; where these are not at hand, that of the stop words."""

    texts = [document.text for document in given.documents[:: max(len(given.documents) // 1_000, 1)]]
    if not any(texts):
        stop_words = getattr(model.vectorizer_, "stop_words", None)
        return f"stop words: {stop_words}" if isinstance(stop_words, str) else "no stop words"
    found = language_of(texts)
    if found.code == UNKNOWN:
        return "not recognised, so no stemmer and no stop words"
    name = found.name.capitalize()
    return name if found.stemmer or not found.spaced else f"{name} (no stemmer)"


def _next_steps(inputs: Inputs, path: Path | None, page: Path | None) -> Iterator[tuple[str, str]]:
    """Commands with the real names of files, and what each is for."""
    if path is None:
        yield "The same command with -o model.tb instead of --cv-only", "saves the model"
        return
    ending = "" if inputs.corpus is not None else Path(inputs.paths[0]).suffix
    name, new, test = shlex.quote(str(path)), f"new{ending or '.csv'}", f"test{ending or '.csv'}"
    yield f"textbayes classify {name} {new}", "label new texts"
    yield f"textbayes evaluate {name} {test}", "measure on other labelled texts"
    if page is None:
        yield f"textbayes words {name}", "the words behind each label"
    else:
        yield shlex.quote(str(page)), "the report: open it in a browser"


def _print_steps(rows: list[tuple[str, str]]) -> None:
    """Commands and what they are for, side by side where that fits; no command is broken."""

    screen = console()
    screen.print("\nNext", style="bold")
    widest = max(cell_width(command) for command, _ in rows)
    beside = all(widest + 2 + cell_width(what) <= screen.width for _, what in rows)
    for command, what in rows:
        space = " " * (widest - cell_width(command) + 2) if beside else "\n    "
        screen.print(f"{command}{space}{what}", soft_wrap=True)


def _print_section(title: str, rows: list[tuple[str, str]]) -> None:
    screen = console()
    screen.print(title, style="bold")
    screen.print(grid(rows))


def summary_of(model: TextCategorizer, n_docs: int) -> dict[str, Any]:
    """A training in numbers, for programs."""
    space, choice, copies = model.label_space_, model.choice_, model.copies_ or {}
    drawn = {} if model.draws_ is None else _drawn(model.draws_)
    return {
        "documents": n_docs,
        **({f"{name}_copies": n for name, n in copies.items()} if any(copies.values()) else {}),
        "kind": space.kind,
        "labels": len(space.classes),
        "words": int(model.word_columns().sum()),
        "words_with_weight": int(model.words_with_weight().sum()),
        **({} if (tree := model.model_.label_tree) is None else {"label_tree": tree.parents}),
        **drawn,
        **_calibrated(model),
        **_evidence(model),
        **({} if choice is None else {"chosen": describe_choice(choice)}),
        **({"partial": partial} if (partial := partial_members(choice)) else {}),
        "held_out": model.held_out_,
        **({"prior": [advice._asdict() for advice in model.prior_advice_]} if model.prior_weight_ is not None else {}),
    }


def _calibrated(model: TextCategorizer) -> dict[str, Any]:
    """Description of the weights, and the factor or the method of the calibration where it was asked for."""
    found = {"calibration": round(model.calibration_, 4)} if model.calibrate is True else {}
    if model.model_.recalibration is not None:
        found["calibration"] = model.model_.recalibration.method
    return {"weights": model.weights_description, **found}


def _evidence(model: TextCategorizer) -> dict[str, Any]:
    """Log-evidence of a model that learns text by text: of all labels, and of each; of several passes the sums."""
    fitted = model.model_.single
    by_label = getattr(fitted, "log_evidence_", None)
    if by_label is None:
        return {}
    found = {"log_evidence": float(by_label.sum())}
    passes = getattr(fitted, "pass_log_evidence_", by_label[None])
    if len(passes) > 1:
        found |= {"pass_log_evidence": passes.sum(axis=1).tolist()}
    names = model.label_space_.column_names
    return found | {"label_log_evidence": dict(zip(names, by_label.tolist(), strict=True))}


def _drawn(draws: Draws) -> dict[str, Any]:
    """Number of draws the model keeps, and their size before they are packed."""
    arrays = to_state(draws)[1].values()
    r_hat, ess = draws.worst_diagnostics()
    told = {"max_r_hat": round(r_hat, 4), "min_ess": round(ess, 1)} if np.isfinite(r_hat) else {}
    return {
        "draws": max(one.intercept.size for one in draws.labels),
        **told,
        "draws_megabytes": round(sum(array.nbytes for array in arrays) / 1e6, 1),
    }


def note_copies(model: TextCategorizer, n_docs: int) -> None:
    """Say how many texts are copies of others, if any are."""
    if sentence := copies_in_words(model.copies_, n_docs):
        note(sentence)


def model_summary(model: TextCategorizer, path: Path, version: str) -> dict[str, Any]:
    """Summary of the model in a few numbers; its date is the file's own time, since no date of training is stored."""
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return {
        "kind": model.label_space_.kind,
        "n_labels": len(model.classes_),
        "n_texts": int(model.weighting_.n_docs_),
        "n_updated": model.held_out_.get("n_updated", 0),
        "n_words": int(model.word_columns().sum()),
        "words_with_weight": int(model.words_with_weight().sum()),
        **({} if (tree := model.model_.label_tree) is None else {"label_tree": tree.parents}),
        "columns": model.columns_,
        "copies": model.copies_,
        "file_written": written.strftime("%Y-%m-%d %H:%M UTC"),
        "file_bytes": path.stat().st_size,
        "textbayes": version,
        **({"partial": partial} if (partial := partial_members(model.choice_)) else {}),
        **_evidence(model),
        "held_out": model.held_out_,
    }


def label_rows(model: TextCategorizer) -> list[dict[str, Any]]:
    thresholds = class_thresholds(model)
    names = [str(name) for name in model.classes_]
    counts = [None] * len(names) if model.label_counts_ is None else model.label_counts_.tolist()
    held_out = model.held_out_.get("labels", {})  # older files have figures over all labels only
    scales = model.held_out_.get("scales", {})  # of two classes, of the second
    weights = _label_weights(model)
    return [
        {"label": name, "texts": n, "threshold": thresholds.get(name)}
        | ({"scales": scales.get(name) or next(iter(scales.values()))} if scales else {})
        | {f"held_out_{what}": held_out.get(name, {}).get(what) for what in ("precision", "recall", "f1")}
        | ({"model": _chosen(weights[name])} if weights and model.pool == "best" else {})
        | ({"weights": weights[name]} if weights else {})
        for name, n in zip(names, counts, strict=True)
    ]


def _label_weights(model: TextCategorizer) -> dict[str, dict[str, float]]:
    """Weights of the members for each label, where they differ by label; both of two classes have the same."""
    if model.label_pool_ is None:
        return {}
    names = members_in_words(model) or model.member_names()
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    labels = model.label_space_.class_names
    columns = [0] * len(labels) if model.label_space_.kind == "binary" else range(len(labels))
    return {
        label: dict(zip(names, model.label_pool_[:, column].tolist(), strict=True))
        for label, column in zip(labels, columns, strict=True)
    }


def _chosen(weights: dict[str, float]) -> str | None:
    """The one model that a label has; None where it has none, and only the frequency of the label is known."""
    return next((name for name, weight in weights.items() if weight != 0.0), None)


def settings_for_programs(model: TextCategorizer) -> dict[str, Any]:
    """Settings the model was made with, for programs."""
    state, _ = model.to_state()
    members = state["ensemble"]["members"]
    return {
        **_text_settings(state["vectorizer"], state["weighting"]),
        "model": members[0]["type"] if len(members) == 1 else "ensemble",
        "link": members[0]["state"].get("link_") if len(members) == 1 else None,
        "members": members_in_words(model) or None,
        "ensemble": model.pool_.tolist(),
        "rule": _parameters(state["rule"]),
        "prior_weight": None if model.prior_weight_ is None else model.prior_weight_.tolist(),
        **state["settings"],
    }


def _text_settings(vectorizer: dict[str, Any], weighting: dict[str, Any]) -> dict[str, Any]:
    """How texts are read, by each view where there are several."""
    if vectorizer["name"] != "views":
        return {"vectorizer": _parameters(vectorizer), "weighting": _parameters(weighting)}
    views = [
        {"name": name, "part": view["part"], "factor": view["factor"]}
        | {"weighting": _parameters(view["weighting"]), "vectorizer": _parameters(view["vectorizer"])}
        for name, view in vectorizer["fields"]["fitted_views"].items()
    ]
    return {"vectorizer": {"name": "views", "views": views}, "weighting": None}


def _parameters(part: dict[str, Any]) -> dict[str, Any]:
    """Name and parameters of a part of a model file, without what it learnt, whose names end in an underscore."""
    return {"name": part["name"], **{name: one for name, one in part["fields"].items() if not name.endswith("_")}}


def print_model(model: TextCategorizer, shown: dict[str, Any], labels: list[dict[str, Any]]) -> None:
    screen = console()
    held_out = shown["held_out"]
    if held_out.get("n_docs"):
        screen.print(headline_table(held_out))
        for line in (measured_in_words(model), *decided_in_words(held_out)):
            screen.print(line)
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
    copies = copies_in_words(model.copies_, shown["n_texts"])
    settings = settings_in_words(model)
    facts = {name: value for name, value in settings if name in _FACTS}
    if model.choice_ is not None:
        facts["Model"] = _automatic_in_words(model)
    elif len(model.pool_) == 1 and (members := members_in_words(model)) != [facts.get("Model")]:
        facts["Settings"] = "; ".join(members) or _UNKNOWN
    if (draws := model.draws_) is not None:
        facts["Draws"] = _draws_in_words(draws)
    since = f", and {n:,} learnt since by update" if (n := shown["n_updated"]) else ""
    measured = f"{folds_in_words(model)}, seed {model.random_state}"
    return [
        ("File", f"{shown['model']}, written {shown['file_written']} by textbayes {shown['textbayes']}"),
        ("Training texts", f"{shown['n_texts']:,}{since}"),
        *([("Columns", Columns.from_state(model.columns_).in_words())] if model.columns_ else []),
        *([("Duplicates", copies)] if copies else []),
        *facts.items(),
        ("Cross-validation", measured if shown["held_out"].get("n_docs") else "none, so no held-out figures"),
    ], [row for row in settings if row[0] not in _FACTS]


def _draws_in_words(draws: Draws) -> str:
    """How many draws are stored, and whether their chains agree."""
    from textbayes.posterior.draws import DIAGNOSED

    n_chains, n_draws = max((one.intercept.shape for one in draws.labels), key=np.prod)
    text = f"{n_chains} chains of {n_draws:,}"
    r_hat, ess = draws.worst_diagnostics()
    if np.isfinite(r_hat):
        text += f"; largest R-hat {r_hat:.3f}, smallest ESS {ess:,.0f}: of the intercepts and the {DIAGNOSED} largest "
        text += "weights of each label"
    return text


def _automatic_in_words(model: TextCategorizer) -> str:
    """An automatic model in a sentence, with how many weights it has."""
    weights = model.model_.word_weights().weights
    sentence = f"{model_sentence(model.choice_ or {})} {int((weights != 0.0).sum()):,} weights are not zero."
    if unlabelled := (model.choice_ or {}).get("unlabelled"):
        sentence += f" {unlabelled_sentence(unlabelled)}"
    if model.label_space_.kind == "multiclass" and model.inverse_temperature_ != 1.0:
        sentence += f" Probabilities are raised to the power {model.inverse_temperature_:.2f} and normalised."
    return sentence


def _print_members(model: TextCategorizer) -> None:
    """Print a table of the members: what each is, what it reads, its weight in the ensemble, its held-out log-loss."""
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
        if (by_label := _label_weights(model)) and model.pool == "best":
            told, shown = "labels", [f"{n:,}" for n in np.count_nonzero(np.asarray(model.label_pool_), axis=1)]
        else:
            told, shown = "mean weight" if by_label else "weight", [f"{weight:+.2f}" for weight in model.pool_]
        table = make_table("member", told, right=(told,))
        for name, value in zip(members, shown, strict=True):
            table.add_row(name, value)
        screen.print(table)
        if by_label and model.pool == "label":
            _print_weights(by_label)


def _print_weights(by_label: dict[str, dict[str, float]]) -> None:
    """Print the weight of each member for each label, where the labels are few."""
    screen = console()
    if len(by_label) > _MOST_WEIGHED:
        screen.print(f"The weights of {len(by_label):,} labels: textbayes show MODEL --json.")
        return
    names = list(next(iter(by_label.values())))
    widest = max(map(cell_width, by_label))
    if widest + sum(max(cell_width(name), 5) + 2 for name in names) > screen.width:  # in the order of the members
        names = [f"member {number}" for number in range(1, len(names) + 1)]
    table = make_table("label", *names, right=names, title="Weights by label")
    for label, weights in by_label.items():
        table.add_row(label, *(f"{weight:+.2f}" for weight in weights.values()))
    screen.print(table)


def _figures(held_out: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Figures that the headline does not have, with as many digits as it has."""
    digits = digits_of(held_out.get("accuracy_interval") or held_out.get("micro_f1_interval") or (0.0, 0.01))
    for name, value in held_out.items():
        if isinstance(value, float) and name not in _IN_HEADLINE:
            yield _NAMES.get(name, name.replace("_", " ").capitalize()), f"{value:.{digits}f}"


def _label_table(labels: list[dict[str, Any]]) -> Table:
    with_thresholds = any(row["threshold"] is not None for row in labels)
    measured = any(row["held_out_f1"] is not None for row in labels)
    scaled = any("scales" in row for row in labels)
    columns = ["texts", *(["threshold"] if with_thresholds else []), *(["held-out F1"] if measured else [])]
    columns += ["scale of prior"] if scaled else []
    chosen = any("model" in row for row in labels)
    table = make_table("label", *columns, *(["model"] if chosen else []), right=columns)
    for row in labels:
        cells = [_UNKNOWN if row["texts"] is None else f"{row['texts']:,}"]
        cells += [_threshold(row["threshold"])] if with_thresholds else []
        if measured:
            cells.append(_UNKNOWN if row["held_out_f1"] is None else f"{row['held_out_f1']:.3f}")
        cells += [_scales(row["scales"])] if scaled else []
        cells += [row["model"] or "none"] if chosen else []
        table.add_row(row["label"], *cells)
    return table


def _scales(found: list[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in found)


def _threshold(value: float) -> str:
    return "never" if value >= 1.0 else "always" if value < 0.0 else f"{value:.3f}"

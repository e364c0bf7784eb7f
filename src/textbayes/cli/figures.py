"""Figures of an evaluation, the confusion matrix and errors, on a terminal; imported by commands when they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.table import Table

from textbayes.cli.answers import Assessed
from textbayes.cli.output import console, make_table
from textbayes.cli.terminal import echo
from textbayes.core.errors import plural
from textbayes.core.types import BoolArray, Document
from textbayes.display import cell_width, snippet
from textbayes.evaluate import Confused
from textbayes.evaluate.measures import mistake_sureness
from textbayes.knowledge.rows import ALL_LABELS
from textbayes.report.wording import caution, headline

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.categorizer.knowledge import Advice

LABEL_COLUMNS = ("support", "precision", "recall", "f1", "log_loss", "brier", "ece")
MOST_LABELS = 20  # rows of a table that is shown unasked
_HEADS = {"support": "texts", "f1": "F1", "log_loss": "log-loss", "brier": "Brier", "ece": "ECE"}
_MOST_COLUMNS = 12  # of a confusion matrix that still fits a screen
_MOST_PAIRS = 20
_MANY = 100  # texts of each label, from which on its figures have three digits
_LABEL_WIDTH = 24  # columns of a terminal that labels have before columns of figures are left out


def print_figures(result: Mapping[str, Any], per_label: bool) -> None:
    """Print the measures of ``textbayes.evaluate.evaluate``: the headline, then the others."""
    screen = console()
    screen.print(f"{plural(result['n_docs'], 'text')}, {plural(result['n_labels'], 'label')}", style="bold")
    screen.print(headline_table(result))
    for line in (caution(result), _unknown(result), *_more_figures(result)):
        if line:
            screen.print(line)
    if per_label:
        screen.print(label_table(result, screen.width, LABEL_COLUMNS))


def _unknown(result: Mapping[str, Any]) -> str:
    """What the figures make of texts whose one label is not in the training set; empty where there are none."""
    n_unknown = sum(result.get("unknown_labels", {}).values())
    if not n_unknown or result["kind"] == "multilabel":
        return ""
    known = plural(result["n_docs"] - n_unknown, "other text")
    return f"Texts of other labels ({n_unknown:,}) count as errors; the log-loss is of the {known}."


def headline_table(result: Mapping[str, Any]) -> Table:
    """Accuracy or micro F1 with its interval, the baseline, macro F1 and log-loss."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="ellipsis")
    for number, row in enumerate(headline(result)):
        table.add_row(*row, style="" if number else "bold")
    return table


def flat_figures(result: Mapping[str, Any]) -> dict[str, Any]:
    """Figures over all labels, for a row of a table: the ends of an interval in columns of their own."""
    flat: dict[str, Any] = {}
    for name, value in result.items():
        if name.endswith("_interval"):
            flat |= dict(zip((f"{name[:-9]}_low", f"{name[:-9]}_high"), value or (None, None), strict=True))
        elif name not in ("labels", "scales"):
            flat[name] = value
    return flat


def _more_figures(result: Mapping[str, Any]) -> list[str]:
    """Precision and recall where F1 alone does not say them, Brier score, calibration, what is left unsure."""
    lines = []
    exclusive = "accuracy" in result
    averages = ("macro",) if exclusive else ("micro", "macro")
    for name in averages:
        shares = [number(result[f"{name}_{measure}"]) for measure in ("precision", "recall")]
        lines.append(f"{name.capitalize()} precision {shares[0]}, {name} recall {shares[1]}.")
    if "log_loss" in result:
        lines.append(f"Brier score {number(result['brier'])}, calibration error (ECE) {number(result['ece'])}.")
    return [*lines, *decided_in_words(result)]


def decided_in_words(result: Mapping[str, Any]) -> list[str]:
    """How many texts the rule decides and how many of those rightly, where it leaves some to people."""
    if "accuracy" not in result:
        if result.get("unsure") is None:
            return []
        total = result["n_docs"] * result["n_labels"]
        share = result["unsure"] / total if total else 0.0
        return [f"Left to people as unsure: {result['unsure']:,} of {total:,} decisions ({share:.1%})."]
    total, decided = result["n_docs"], result.get("n_decided", result["n_docs"])
    if decided == total:
        return []
    right = result["accuracy_decided"]
    correct = "" if right is None else f"; {100 * right:.1f} % of them correct"
    one = total - decided == 1
    if result["unsure"] is None:
        counted = f", and {'counts as an error' if one else 'count as errors'} in the accuracy"
    else:  # a band of probabilities, in which the rule still has a label
        counted = f"; the accuracy counts the label that the rule prefers for {'it' if one else 'them'}"
    return [
        f"Decided {decided:,} of {plural(total, 'text')} ({100 * decided / total:.1f} %){correct}. "
        f"{total - decided:,} {'is' if one else 'are'} left to people{counted}."
    ]


def label_table(
    result: Mapping[str, Any], width: int, columns: Sequence[str] = LABEL_COLUMNS[:4], most: int | None = None
) -> Table:
    """A row for each label, or for those ``most`` that have most texts; columns that do not fit are left out.

    The log-loss of a label is per text of the class, or per decision.
    """
    labels = result["labels"]
    names = list(labels)
    if most is not None and len(names) > most:
        names = sorted(names, key=lambda name: (-labels[name]["support"], name))[:most]
    columns = [name for name in columns if all(name in labels[label] for label in names)]
    digits = 3 if all(labels[name]["support"] >= _MANY for name in names) else 2
    room = width - min(max(map(cell_width, names), default=0), _LABEL_WIDTH)
    while len(columns) > 1 and sum(max(len(_head(name)), 2 + digits) + 2 for name in columns) + 2 > room:
        columns.pop()
    rows = make_table("label", *map(_head, columns), right=[_head(name) for name in columns])
    for name in names:
        rows.add_row(name, *(number(labels[name][column], digits) for column in columns))
    return rows


def _head(column: str) -> str:
    return _HEADS.get(column, column)


def print_confusion(found: Sequence[Confused], multilabel: bool) -> None:
    """Print true labels down, predicted ones across; if too wide, or texts have several, the common mistakes."""
    rows = list(dict.fromkeys(pair.true for pair in found))
    columns = sorted({pair.given for pair in found})
    columns = columns if multilabel else sorted(set(rows) | set(columns))
    width = cell_width("true ↓ predicted →") + 2 + sum(max(cell_width(name), 5) + 2 for name in columns)
    if multilabel or len(columns) > _MOST_COLUMNS or width > console().width:
        _print_pairs([pair for pair in found if pair.true != pair.given])
        return
    counts = {(pair.true, pair.given): pair.n for pair in found}
    table = make_table("true ↓ predicted →", *columns, right=columns)
    for row in rows:
        table.add_row(row, *(f"{counts.get((row, column), 0):,}" for column in columns))
    console().print(table)


def _print_pairs(wrong: list[Confused]) -> None:
    shown = sorted(wrong, key=lambda pair: -pair.n)[:_MOST_PAIRS]
    table = make_table("true", "predicted", "texts", right=("texts",))
    for pair in shown:
        table.add_row(pair.true, pair.given, f"{pair.n:,}")
    if not wrong:
        table.add_row("no mistakes", "", "0")
    console().print(table)
    if len(wrong) > len(shown):
        console().print(f"and {len(wrong) - len(shown):,} rarer confusions (--json and --csv have them all)")


def number(value: float | int | None, digits: int = 3) -> str:
    """A figure to so many decimals, a count as it is."""
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


COLUMNS = ("id", "true", "given", "label", "mistake", "probability", "snippet", "words")
_WORDS = 6
_SNIPPET = 160  # characters


class _Mistake(NamedTuple):
    sureness: float
    document: Document
    given: tuple[str, ...]
    label: str
    probability: float
    was_given: bool


class Mistakes:
    """The ``most`` documents whose worst decision was wrong with the greatest probability, kept while batches pass."""

    def __init__(self, most: int, names: list[str], exclusive: bool) -> None:
        self._most, self._names, self._exclusive = most, names, exclusive
        self._kept: list[_Mistake] = []

    def add(self, batch: Assessed, truth: BoolArray) -> None:
        """Look at a batch; ``truth`` is the indicator of its documents."""
        sureness = mistake_sureness(truth, batch.decisions, batch.proba, self._exclusive)
        for i in np.flatnonzero(sureness.max(axis=1, initial=-1.0) >= 0.0):
            j = int(sureness[i].argmax())
            self._kept.append(
                _Mistake(
                    float(sureness[i, j]),
                    batch.documents[i],
                    tuple(self._names[k] for k in np.flatnonzero(batch.decisions[i])),
                    self._names[j],
                    float(batch.proba[i, j]),
                    bool(batch.decisions[i, j]),
                )
            )
        self._kept.sort(key=lambda mistake: -mistake.sureness)  # stable: of equal ones the first met
        del self._kept[self._most :]

    def rows(self, model: TextCategorizer) -> list[dict[str, Any]]:
        """One object per mistake: what was true, what was given, the label in question, and the words behind it."""
        return [
            {
                "id": one.document.id,
                "true": list(one.document.labels),
                "given": list(one.given),
                "label": one.label,
                "mistake": "given" if one.was_given else "missed",
                "probability": one.probability,
                "snippet": snippet(one.document.text, _SNIPPET),
                "words": _words(model, one),
            }
            for one in self._kept
        ]


def flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Flatten mistakes for CSV, whose cells hold no objects."""
    return [row | {"words": [f"{part['word']} {part['log_odds']:+.4f}" for part in row["words"]]} for row in rows]


def print_mistakes(rows: list[dict[str, Any]], n_wrong: int) -> None:
    """Print the mistakes for people to read."""
    echo(f"The {len(rows):,} most confident of {plural(n_wrong, 'wrong decision')}", bold=True)
    for row in rows:
        true, given = (" + ".join(row[name]) or "(none)" for name in ("true", "given"))
        what = f"{row['label']} {row['mistake']} at probability {row['probability']:.3f}"
        echo(f"\n{row['id']}: true {true}, predicted {given} ({what})", bold=True)
        echo(f"  {row['snippet']}")
        words = ", ".join(f"{part['word']} {part['log_odds']:+.2f}" for part in row["words"])
        echo(f"  words: {words or 'none; the decision rests on the frequency of the label'}")


def _words(model: TextCategorizer, one: _Mistake) -> list[dict[str, Any]]:
    """The words that spoke for the mistake, the strongest first."""
    (explanation,) = model.explain(one.document.text, [one.label])
    sign = 1.0 if one.was_given else -1.0
    spoke = [part for part in explanation.contributions if sign * part.log_odds > 0.0][:_WORDS]
    return [{"word": part.word, "log_odds": part.log_odds} for part in spoke]


def measured_in_words(model: TextCategorizer) -> str:
    """How the held-out figures of a training were measured, in a sentence or two."""
    choice, n_texts = model.choice_ or {}, int(model.weighting_.n_docs_)
    n_held_out = model.held_out_.get("n_docs") or n_texts
    folds = f"{choice.get('n_folds') or model.cv}-fold cross-validation"
    if n_held_out < n_texts:
        sentence = f"Measured on {n_held_out:,} of {n_texts:,} texts, held out in folds of a {folds}."
    else:
        sentence = f"Measured by {folds} on {plural(n_texts, 'text')}."
    if n_updated := model.held_out_.get("n_updated"):
        sentence += f" {plural(n_updated, 'text')} learnt since by update: the figures are from before."
    if model.label_space_.kind == "multilabel":
        sentence += " Thresholds were chosen without the texts that they are judged on."
    return sentence


_VERDICTS = {
    "supported by held-out texts": "supported",
    "not supported by held-out texts": "not supported",
    "used, but held-out texts are inconclusive": "inconclusive",
    "used, but contradicted by held-out texts": "contradicted",
    "not tested: none of its words is in the texts": "not tested",
}


def print_prior(model: TextCategorizer) -> None:
    """Print how each label follows the prior file, what the columns mean, and which rows were ignored."""
    screen, table = console(), model.prior_table_
    if model.prior_advice_:
        screen.print(advice_table(model.prior_advice_))
        legend = (
            "Log-loss: change on held-out texts with the file, ± its standard error; below zero is better. Supported: "
        )
        legend += "better by more than two standard errors."
        if any(row.tried != row.weight for row in model.prior_advice_):
            legend += " At: the weight that was tried, where another is used."
        if model.label_space_.kind == "binary":
            legend += " Words of the other label count as evidence against this one."
        screen.print(legend)
        if len(model.prior_advice_) > 1:
            screen.print(_overall(model.prior_advice_))
    known = {ALL_LABELS, *map(str, model.classes_)}
    if table is not None and (unknown := [name for name in table.labels if name not in known]):
        screen.print(f"Ignored: the rows of {', '.join(unknown)}, which no text has as its label.")


def advice_table(rows: Sequence[Advice]) -> Table:
    """Table of the prior file: a line for each label, with how held-out log-loss changes and what that means."""
    heads = ("weight", "words", "not in texts", "log-loss")
    table = make_table("prior of", *heads, "held-out texts", right=heads)
    for row in rows:
        verdict = _VERDICTS.get(row.why, row.why)
        table.add_row(row.label, f"{row.weight:.2g}", f"{row.words:,}", f"{row.not_in_texts:,}", _change(row), verdict)
    return table


def _overall(rows: Sequence[Advice]) -> str:
    """How many labels use the file, and for how many of them held-out texts support it."""
    used = [row for row in rows if row.weight > 0.0]
    better = sum(_VERDICTS.get(row.why) == "supported" for row in used)
    worse = sum(_VERDICTS.get(row.why) == "contradicted" for row in used)
    against = f", contradict it for {worse}" if worse else ""
    return f"Used for {len(used)} of {plural(len(rows), 'label')}; held-out texts support it for {better}{against}."


def _change(row: Advice) -> str:
    """The change of the held-out log-loss, "−12.1 % ± 3.0 at 0.5"; a dash where there is none to tell."""
    if row.change != row.change:  # NaN
        return "–"
    at = "" if row.tried == row.weight else f" at {row.tried:.2g}"
    return f"{100 * row.change:+.1f} % ± {100 * row.error:.1f}{at}".replace("-", "−")

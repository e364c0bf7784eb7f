"""``textbayes keyness``: words used more, or less, in a category than elsewhere, with effect sizes and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import cloup
import numpy as np

from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.labelled import read_labelled
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.options import (
    COUNT,
    SHARE,
    fdr_method_option,
    fdr_option,
    label_option,
    mirrored,
    most_used,
    top_option,
)
from textbayes.cli.output import Output, make_table, output_options, print_table
from textbayes.cli.progress import waiting
from textbayes.cli.settings import common_options
from textbayes.cli.text_options import TextChoices, text_options
from textbayes.core.errors import InputError
from textbayes.core.wording import did_you_mean

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.lexical.keyness import Keyness

_EFFECTS = ("log_ratio", "percent_difference", "odds_ratio")
_COLUMNS = (
    "label", "rank", "word", "count", "other_count", "rate", "other_rate",
    *(f"{name}{end}" for name in _EFFECTS for end in ("", "_low", "_high")),
    "delta2", "log_likelihood", "dispersion", "p_value", "q_value",
)  # fmt: skip
_SORT = {"p": "p_values", "log-ratio": "log_ratio", "log-likelihood": "log_likelihood", "delta2": "delta2"}


_KEYNESS = "textbayes.lexical.keyness:keyness"


@cloup.command()
@most_used("labels", "top", "sort", "negative", "fdr", "min_count", "text_field", "label_field", "as_csv")
@label_options()
@cloup.option_group(
    "Test",
    mirrored(
        _KEYNESS,
        "--model",
        "model",
        type=click.Choice(["negative_binomial", "poisson"]),
        help="Whether words may come in bursts, or every occurrence counts as independent.",
    ),
    mirrored(
        _KEYNESS,
        "--method",
        "method",
        type=click.Choice(["exact", "chi2", "monte_carlo"]),
        help="Of the p-value of Δ².",
    ),
    mirrored(_KEYNESS, "--level", "level", type=SHARE, help="Probability that an interval holds its effect."),
    fdr_option,
    fdr_method_option,
)
@cloup.option_group(
    "What is shown",
    label_option("This category only; may be given several times."),
    top_option("Words per label.", 20),
    click.option(
        "--sort", type=click.Choice(list(_SORT)), default="p", show_default=True, help="What the words are ranked by."
    ),
    click.option("--negative", is_flag=True, help="Words used less in the category, instead of those used more."),
    click.option("--min-count", type=COUNT, default=5, show_default=True, help="Occurrences in all texts."),
)
@text_options
@input_options(usual_part="train")
@output_options
@common_options
def keyness(
    inputs: Inputs, labelling: Labelling, labels: tuple[str, ...], text: TextChoices, output: Output, **rules: Any
) -> None:
    """Compare how often words are used in a category and elsewhere.

    Rates are per thousand words of running text, stop words included. The log ratio is 1 where a word is used twice as
    often, 2 where four times; its interval and the p-value allow for words that come in bursts.

    \b
    textbayes keyness train.jsonl --stop-words none --stemmer none --fdr 0.01
    """
    given = read_labelled(inputs, labelling)
    with waiting("comparing word frequencies"):
        words, names, table = _measure(given.texts, given.labels, text, rules)
    for label in labels:
        if label not in names:
            raise InputError(
                f"label {label!r} is not known; choose one of {', '.join(names)}{did_you_mean(label, names)}"
            )
    rows = {name: _rows(table, words, names, names.index(name), rules) for name in labels or names}
    if output.is_table:
        for name, found in rows.items():
            print_table(_table(name, found, table.lengths[names.index(name)]))
    else:
        output.write([row for found in rows.values() for row in found], _COLUMNS)


def _measure(
    texts: list[str], labels: Any, text: TextChoices, rules: dict[str, Any]
) -> tuple[list[tuple[str, str]], list[str], Keyness]:
    """The words, as counted and as shown, the labels, and how much more the words are used in each."""
    from textbayes.core.labels import encode_labels
    from textbayes.lexical import keyness as measure
    from textbayes.text.surface import shown, surface_forms

    if text.weighting is not None:
        raise InputError(f"weighting={text.weighting!r} was given, but keyness compares counts; leave it out")
    indicator, space = encode_labels(labels)
    if space.kind == "binary":  # the first class is a category as well
        indicator = np.hstack([~indicator, indicator])
    vectorizer = text.vectorizer()
    counts = vectorizer.fit_transform(texts)
    enough = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel() >= rules["min_count"])
    if not enough.size:
        raise InputError(f"no word occurs min_count={rules['min_count']} times; lower it")
    lengths = vectorizer.document_lengths(texts)
    options = {name: rules[name] for name in ("model", "method", "level", "fdr_method")}
    found = measure(counts[:, enough], indicator, lengths=lengths, **options)
    words = [str(word) for word in vectorizer.get_feature_names_out()[enough]]
    forms = surface_forms(texts, vectorizer)
    both = [(word, shown(word, forms)) for word in words]
    return both, [str(name) for name in space.classes], found


def _rows(
    table: Keyness, words: list[tuple[str, str]], names: list[str], label: int, rules: dict[str, Any]
) -> list[dict[str, Any]]:
    sign = -1.0 if rules["negative"] else 1.0
    strength = sign * table.log_ratio.value[label]
    kept = np.flatnonzero(strength > 0.0)
    if rules["fdr"] is not None:
        kept = kept[table.q_values[label, kept] <= rules["fdr"]]
    chosen = _SORT[rules["sort"]]
    key = {"p_values": -table.p_values[label], "log_ratio": strength}.get(chosen)
    if key is None:
        key = getattr(table, chosen)[label]
    kept = kept[np.lexsort((-strength[kept], -key[kept]))][: rules["top"]]
    rows = []
    for rank, j in enumerate(kept, start=1):
        row: dict[str, Any] = {"label": names[label], "rank": rank, "word": words[j][0], "form": words[j][1]}
        row |= {"count": int(table.occurrences[label, j]), "other_count": int(table.other_occurrences[label, j])}
        row |= {name: float(getattr(table, name)[label, j]) for name in ("rate", "other_rate")}
        for name in _EFFECTS:
            value, low, high = (float(part[label, j]) for part in getattr(table, name))
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        row |= {name: float(getattr(table, name)[label, j]) for name in ("delta2", "log_likelihood", "dispersion")}
        rows.append(row | {"p_value": float(table.p_values[label, j]), "q_value": float(table.q_values[label, j])})
    return rows


def _table(label: str, rows: list[dict[str, Any]], lengths: Any) -> Table:
    title = f"{label} ({1000 * lengths[0]:,.0f} words, {1000 * lengths[1]:,.0f} elsewhere)"
    numbers = ("in", "out", "rate in", "rate out", "log ratio", "low", "high", "q")
    table = make_table("word", *numbers, title=title if rows else f"{label}: no word passes", right=numbers)
    for row in rows:
        rates = (f"{row[name]:.3g}" for name in ("rate", "other_rate"))
        effects = (f"{row[name]:+.2f}" for name in ("log_ratio", "log_ratio_low", "log_ratio_high"))
        counts = (f"{row[name]:,}" for name in ("count", "other_count"))
        table.add_row(row["form"], *counts, *rates, *effects, f"{row['q_value']:.2g}")
    return table

"""``textbayes words``: the strongest words of each label, or of each topic of a filter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup
import numpy as np

from textbayes import report, store
from textbayes.cli.answers import class_names
from textbayes.cli.inputs import Inputs, is_filter
from textbayes.cli.options import (
    COUNT,
    FloatRange,
    check_labels,
    label_option,
    level_option,
    most_used,
    option,
    top_option,
)
from textbayes.cli.output import Output, check_output, console, make_table, output_options, print_table
from textbayes.cli.terminal import common_options, echo, note, waiting
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, plural

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer
    from textbayes.categorizer.words import LabelWord
    from textbayes.lexical.burstiness import Burstiness

AUDIT_COLUMNS = (
    "word", "label", "source", "prior_mean", "prior_scale", "posterior", "posterior_of", "weight", "weight_of", "shift",
    "n_documents", "p_value", "conflict",
)  # fmt: skip


@cloup.command()
@most_used("labels", "top", "intervals", "level", "by", "plot", "target", "as_csv", "as_json")
@click.argument("model")
@cloup.option_group(
    "What is shown",
    label_option(),
    top_option("Words per label.", 20),
    click.option(
        "--prior", "audit", is_flag=True, help="What became of the prior of each word, most surprising first."
    ),
    click.option(
        "--burstiness",
        "bursts",
        metavar="FILE",
        help="How evenly the words are distributed over these texts, burstiest first.",
    ),
    click.option(
        "--texts",
        "over",
        metavar="FILE",
        help="Mean parts of words in the answers to these texts, best held-out ones; the encoder's too.",
    ),
    option(
        "--min-texts",
        type=COUNT,
        default=5,
        metavar="N",
        help="With --burstiness: words of fewer of the texts are left out.",
    ),
)
@cloup.option_group(
    "Uncertainty of weights",
    click.option(
        "--intervals",
        is_flag=True,
        help="The interval of each weight, of a model trained with --intervals or --inference gibbs.",
    ),
    level_option("Probability that an interval holds its weight."),
    option(
        "--by",
        choices=["contribution", "weight", "mean", "sign", "inclusion"],
        default="contribution",
        help="Rank by weight × frequency or by weight; of a sampled model also by the mean with its interval, by how "
        "certain the sign is, or by P(|weight| > SIZE).",
    ),
    option("--size", type=FloatRange(min=0), default=1.0, help="Smaller weights are negligible."),
)
@cloup.option_group(
    "Plot",
    option(
        "--plot",
        choices=["forest", "trace", "rank", "variance"],
        help="Draw the words of a sampled model; with --burstiness, observed against fitted variance.",
    ),
    click.option(
        "-o", "--output", "target", metavar="FILE", help="Where to draw them: a file ending in .svg, .pdf or .png."
    ),
)
@output_options
@common_options
def words(
    model: str,
    labels: tuple[str, ...],
    audit: bool,
    intervals: bool,
    bursts: str | None,
    over: str | None,
    min_texts: int,
    by: str,
    size: float,
    plot: str | None,
    target: str | None,
    level: float,
    top: int,
    output: Output,
) -> None:
    """List the strongest words of each label.

    A positive weight raises the log-odds of the label, a negative one lowers them. By weight alone misspellings and
    rare names would come first, so words are ranked by what they add to the log-odds of the training texts on average,
    weight times frequency: two thirds of those listed have positive weights, the others negative ones. Beside it are
    the weight and the number of training texts with the word. Its forms, and the views of it that a model may have, are
    one word.

    Of several classifiers the weights are those of their ensemble, as the line above them says ("weight_of" in JSON and
    CSV).
    With --prior the words of the prior file are listed instead: prior mean and scale as in the file, however far it is
    followed, the weight that the first classifier learnt, that in the ensemble if there are several, its shift in prior
    scales, and whether the texts contradict the prior (the probability of texts that contradict a correct prior at
    least as much). For models that are not linear, a logistic regression with the same prior is used.

    Of a model that was sampled (train --inference gibbs), --intervals also lists the standard deviation of each weight,
    the probability of its sign, and that of a weight larger than SIZE; --plot draws intervals (forest), the course of
    the chains (trace) or whether they agree (rank).

    With --burstiness, the words of the model that come in bursts in given texts, by how much more their counts vary
    than evenly distributed ones (Poisson) would: the dispersion δ. Words of fewer than --min-texts of the texts are
    left out, since one text can make any δ. Tests say how far counts are from Poisson, and whether a negative binomial
    fits.

    With --texts, the means of what explain finds for each of the texts: what a word adds to the log-odds of all of
    them, and of those that have it. Of a model with a fine-tuned encoder, which has no weights of words, this is the
    list that has its parts; give texts that the model was not trained on.

    Of a filter, whose folder stands in place of the model, the words of each topic and the intervals of their weights.

    \b
    textbayes words model.tb --intervals --by sign
    textbayes words desk --label grain
    textbayes words model.tb --burstiness texts.jsonl
    textbayes words model.tb --texts held_out.jsonl
    textbayes words model.tb --label sport --top 15 --plot forest -o sport.svg
    """
    if (plot is None) != (target is None):
        raise click.UsageError("--plot and --output go together: what to draw, and the file to draw it to.")
    if (plot == "variance") != (bursts is not None and plot is not None):
        raise click.UsageError("--plot variance belongs to --burstiness, and no other plot does.")
    if is_filter(model):
        if audit or bursts is not None or over is not None or plot is not None or by not in ("contribution", "mean"):
            raise click.UsageError(
                f"{model} is a filter: --prior, --burstiness, --texts, --plot and --by belong to models."
            )
        from textbayes.cli.filter_run import show_topic_words

        show_topic_words(model, labels, level, top, output)
        return

    if over is not None and (audit or intervals or bursts is not None or plot is not None or by != "contribution"):
        raise click.UsageError("--texts lists mean parts alone: leave out --prior, --intervals, --burstiness and --by.")
    categorizer = store.load_categorizer(model)
    if over is not None:
        texts = [document.text for document in Inputs((over,)).of_model(categorizer).documents()]
        _show_mean_parts(categorizer, texts, labels, top, output)
        return
    if bursts is not None:
        texts = [document.text for document in Inputs((bursts,)).of_model(categorizer).documents(count=False)]
        show_burstiness(categorizer, texts, top, output, None if target is None else check_output(target), min_texts)
        return
    if audit:
        _show_audit(categorizer, labels, top, output)
        return
    ranking = "mean" if by in ("contribution", "weight") else by  # of weights with intervals
    if plot is not None and target is not None:
        _plot(categorizer, plot, target, labels, ranking, size, level, top)
        return
    if intervals or ranking == by:
        _show_intervals(categorizer, labels, level, top, ranking, size, output)
        return
    _show_words(categorizer, labels, top, by, output)


def _show_words(categorizer: TextCategorizer, labels: tuple[str, ...], top: int, by: str, output: Output) -> None:
    chosen = {label: categorizer.label_words(label, top, by=by) for label in labels or class_names(categorizer)}
    if by == "contribution" and categorizer.weighting_.document_frequency_ is None:
        note("the file does not say how frequent words are, so they are ranked by weight; train anew to have it")
    if output.is_table:
        from rich.columns import Columns

        _print_heading(categorizer, "adds: mean part in the log-odds; texts: training texts with the word")
        console().print(Columns([_table(label, found) for label, found in chosen.items()], padding=(0, 3)))
        return
    rows: list[dict[str, Any]] = [
        {"label": label, "rank": rank, **one._asdict(), "weight_of": categorizer.weights_description}
        for label, found in chosen.items()
        for rank, one in enumerate(found, start=1)
    ]
    output.write(rows, ["label", "rank", "word", "weight", "contribution", "texts", "weight_of"])


def _show_mean_parts(
    categorizer: TextCategorizer, texts: list[str], labels: tuple[str, ...], top: int, output: Output
) -> None:
    if not texts:
        raise InputError("there are no texts to explain; give a file that has some")
    check_labels(labels, class_names(categorizer))
    found = categorizer.mean_parts(texts, labels or None, top)
    rows = [
        {"label": label, "rank": rank, **one._asdict()}
        for label, parts in found.items()
        for rank, one in enumerate(parts, start=1)
    ]
    if output.is_table:
        given = plural(len(texts), "text")
        note(f"parts of words in the log-odds, means over {given} (adds) and over those with the word")
    columns = {"label": "label", "word": "word", "adds": "contribution:+.3f", "where it is": "part:+.2f"}
    output.write_table(rows, ["label", "rank", *MEAN_PART], columns | {"texts": "texts:,"})


def _plot(
    categorizer: TextCategorizer,
    kind: str,
    target: str,
    labels: tuple[str, ...],
    by: str,
    size: float,
    level: float,
    top: int,
) -> None:
    path = check_output(target)
    with waiting("drawing"):
        report.plot_words(categorizer, path, kind, labels or None, top=top, by=by, size=size, level=level)
    note(f"drawn to {path}")


def _show_intervals(
    categorizer: TextCategorizer,
    labels: tuple[str, ...],
    level: float,
    top: int,
    by: str,
    size: float,
    output: Output,
) -> None:
    sampled = categorizer.draws_ is not None
    rows = [
        {"label": label, "rank": rank, **found._asdict(), "level": level, "weight_of": categorizer.weights_description}
        for label in labels or class_names(categorizer)
        for rank, found in enumerate(
            categorizer.word_intervals(label, top, level=level, by=by, size=size, whole=False), start=1
        )
    ]
    shown = _shown(categorizer, [row["word"] for row in rows])
    if not output.is_table:
        more = ("sd", "sign_probability", "inclusion_probability") if sampled else ()
        rows = [row | {"form": word} for row, word in zip(rows, shown, strict=True)]
        output.write(rows, ["label", "rank", "word", "form", "weight", "low", "high", *more, "level", "weight_of"])
        return
    ensemble = not sampled and len(categorizer.member_names()) > 1
    bounds = "; of an ensemble upper bounds of their width" if ensemble else ""
    _print_heading(categorizer, f"low and high: {100 * level:g}% credible intervals{bounds}")
    heads = ("weight", "low", "high", *(("sd", "P(sign)", f"P(|w|>{size:g})") if sampled else ()))
    table = make_table("label", "word", *heads, right=heads)
    for row, word in zip(rows, shown, strict=True):
        cells = [f"{row[name]:+.2f}" for name in ("weight", "low", "high")]
        if sampled:
            chances = (row["sign_probability"], row["inclusion_probability"])
            cells += [f"{row['sd']:.2f}", *(f"{chance:.3f}" for chance in chances)]
        table.add_row(row["label"], word, *cells)
    print_table(table)


def _print_heading(categorizer: TextCategorizer, columns: str) -> None:
    """Say what the weights are of, and what the columns are."""
    members = len(categorizer.member_names())
    if categorizer.choice_ is not None and members > 1:
        what = f"Weights in the ensemble of {members} models (log-odds)"
    else:
        what = categorizer.weights_description
        what = what[0].upper() + what[1:]
    console().print(what, style="bold")
    console().print(columns)


def _shown(categorizer: TextCategorizer, names: list[str]) -> list[str]:
    """Names of columns with stems as whole words."""
    from textbayes.text.surface import shown_names

    return shown_names(names, categorizer.vectorizer_, categorizer.surface_)


def _show_audit(categorizer: TextCategorizer, labels: tuple[str, ...], top: int, output: Output) -> None:
    names = categorizer.label_space_.column_names
    check_labels(labels, names)
    if categorizer.prior_weight_ is None:
        raise InputError("this model was trained without a prior file; give one to train with --prior")
    rows = []
    for label in labels or names:
        rows += _audited(categorizer, label, top)
    if not output.is_table:
        output.write(rows, [*AUDIT_COLUMNS, "followed"])
        return
    weights, why = _followed(categorizer)
    for label in labels or why or names:
        # A weight of 0 is how bad advice is turned down: worth a line of its own.
        reason = f" ({why[label]})" if label in why else ""
        echo(f"{label}: the prior is followed at weight {weights[label]:.2g}{reason}")
    has_several = len(categorizer.pool_) > 1 and categorizer.choice_ is None
    echo("prior: mean ± scale, as the prior file has them")
    echo(f"posterior: the learnt weight ({_first_of(categorizer)})")
    if has_several:
        echo(f"ensemble: the {categorizer.weights_description}")
    heads = ("prior", "posterior", *(["ensemble"] if has_several else []), "shift", "p")
    table = make_table("label", "word", *heads, "", right=heads)
    shown = _shown(categorizer, [row["word"] for row in rows])
    for row, word in zip(rows, shown, strict=True):
        prior = f"{row['prior_mean']:+.2f} ± {row['prior_scale']:.2f}"
        in_ensemble = [f"{row['weight']:+.2f}"] if has_several else []
        table.add_row(
            row["label"], word, prior, f"{row['posterior']:+.2f}", *in_ensemble, f"{row['shift']:+.1f}",
            f"{row['p_value']:.3f}", "conflict" if row["conflict"] else "",
        )  # fmt: skip
    print_table(table)


def _audited(categorizer: TextCategorizer, label: str, top: int) -> list[dict[str, Any]]:
    """The audit of one label's words, with the weights that the model uses beside those of its first classifier."""
    column = categorizer.label_space_.column_names.index(label)
    vocabulary = categorizer.vectorizer_.vocabulary_
    described = {"posterior_of": _first_of(categorizer), "weight_of": categorizer.weights_description}
    followed, weights = _followed(categorizer)[0][label], categorizer.model_.word_weights().weights
    return [
        row._asdict() | {"weight": float(weights[column, vocabulary[row.word]]), "followed": followed} | described
        for row in [row for row in categorizer.prior_audit_ if row.label == label][:top]
    ]


def _first_of(categorizer: TextCategorizer) -> str:
    if categorizer.choice_ is not None:  # of an automatic training, which adds its members up
        return str(categorizer.weights_description)
    first, *others = categorizer.member_names()
    return f"{first}, the first classifier" if others else first


def _followed(categorizer: TextCategorizer) -> tuple[dict[str, float], dict[str, str]]:
    """Prior weight of each label, and the reason for it, where that is known."""
    names = categorizer.label_space_.column_names
    weights = [] if categorizer.prior_weight_ is None else categorizer.prior_weight_.tolist()
    return dict(zip(names, weights, strict=True)), {advice.label: advice.why for advice in categorizer.prior_advice_}


def _table(label: str, found: list[LabelWord]) -> Table:
    heads = ("adds", "weight", "texts")
    table = make_table("word", *heads, title=label, right=heads)
    table.min_width = min(len(label) + 1, 40)  # else the label is broken into lines of the width of the words
    for one in found:
        adds = "" if one.contribution is None else f"{one.contribution:+.3f}"
        table.add_row(one.word, adds, f"{one.weight:+.2f}", "" if one.texts is None else f"{one.texts:,}")
    if not found:
        table.add_row("(none)", "", "", "")
    return table


MEAN_PART = ("word", "contribution", "part", "texts")
COLUMNS = (
    "rank", "word", "count", "documents", "rate", "dispersion", "variance", "poisson_variance", "fitted_variance",
    "z", "p_value", "ks_poisson", "ks_negative_binomial", "fit_poisson", "fit_negative_binomial",
)  # fmt: skip


def show_burstiness(
    categorizer: TextCategorizer,
    texts: list[str],
    top: int,
    output: Output,
    target: Path | None = None,
    min_texts: int = 5,
) -> None:
    """Write the ``top`` burstiest words of a model in these texts, of those that ``min_texts`` texts have.

    ``target`` is a file for the drawing of observed against fitted variance (SVG).
    """
    from textbayes.lexical import burstiest, burstiness
    from textbayes.text.surface import readings

    vectorizer = readings(categorizer.vectorizer_)[0].vectorizer  # of several views the words themselves
    counts, lengths = vectorizer.transform(texts), vectorizer.document_lengths(texts)
    if not counts.nnz:
        raise InputError("no word of the model occurs in the texts; give texts like those it was trained on")
    chosen = burstiest(counts, lengths, top, min_texts)
    if not chosen.size:
        raise InputError(
            f"no word of the model occurs in min_texts={min_texts} of the {len(texts):,} texts; give more texts or a "
            "smaller number"
        )
    found = burstiness(counts, lengths, words=chosen)  # the tests cost milliseconds to a second a word
    words = [str(word) for word in vectorizer.get_feature_names_out()[chosen]]
    if target is not None:
        from textbayes.report.plots import variance_svg

        with atomic_write(target) as stream:
            stream.write(variance_svg(found, words).encode("utf-8"))
    rows = _rows(found, words)
    columns = {"word": "word", "count": "count:,", "texts": "documents:,", "rate": "rate:.3g", "δ": "dispersion:.3g"}
    tests = {"p": "p_value:.2g", "fit Poisson": "fit_poisson:.2g", "fit neg. bin.": "fit_negative_binomial:.2g"}
    output.write_table(rows, COLUMNS, columns | tests)


def _rows(found: Burstiness, words: list[str]) -> list[dict[str, Any]]:
    order = np.argsort(-found.dispersion, kind="stable")
    return [
        {"rank": rank, "word": words[j], "count": int(found.occurrences[j]), "documents": int(found.documents[j])}
        | {name: float(getattr(found, name)[j]) for name in COLUMNS[4:]}
        for rank, j in enumerate(order, start=1)
    ]

"""``textbayes keyness`` and ``textbayes select``: words that tell categories apart, by tests and by scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click
import cloup
import numpy as np

from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.labels import Labelling, label_options, read_labelled
from textbayes.cli.options import (
    COUNT,
    SEED,
    SHARE,
    NameOption,
    RegistryName,
    TextChoices,
    check_labels,
    fdr_method_option,
    fdr_option,
    label_option,
    mirrored,
    most_used,
    option,
    text_options,
    top_option,
)
from textbayes.cli.output import Output, check_report_target, output_options, print_table, table_of
from textbayes.cli.terminal import common_options, echo, reporting, waiting
from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, FloatArray

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
    option("--sort", choices=list(_SORT), default="p", help="What the words are ranked by."),
    click.option("--negative", is_flag=True, help="Words used less in the category, instead of those used more."),
    option("--min-count", type=COUNT, default=5, help="Occurrences in all texts."),
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
    check_labels(labels, names)
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
    selected = np.flatnonzero(strength > 0.0)
    if rules["fdr"] is not None:
        selected = selected[table.q_values[label, selected] <= rules["fdr"]]
    chosen = _SORT[rules["sort"]]
    key = {"p_values": -table.p_values[label], "log_ratio": strength}.get(chosen)
    if key is None:
        key = getattr(table, chosen)[label]
    selected = selected[np.lexsort((-strength[selected], -key[selected]))][: rules["top"]]
    rows = []
    for rank, j in enumerate(selected, start=1):
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
    counts = {"in": "count:,", "out": "other_count:,", "rate in": "rate:.3g", "rate out": "other_rate:.3g"}
    effects = {"log ratio": "log_ratio:+.2f", "low": "log_ratio_low:+.2f", "high": "log_ratio_high:+.2f"}
    columns = {"word": "form", **counts, **effects, "q": "q_value:.2g"}
    return table_of(rows, columns, title if rows else f"{label}: no word passes")


_SCORE_COLUMNS = ("label", "rank", "word", "score", "p_value", "q_value", "in_category", "outside", "category_size")


class _Ranking(NamedTuple):
    """Words × categories: scores, what was chosen, and documents with the word in the category and in all."""

    words: AnyArray
    forms: dict[str, str]
    names: list[str]
    scores: FloatArray
    p_values: FloatArray | None
    q_values: FloatArray | None
    chosen: BoolArray
    inside: AnyArray
    frequency: AnyArray
    sizes: AnyArray


@cloup.command()
@most_used("score", "top_k", "threshold", "by_path", "labels", "text_field", "label_field", "stemmer", "as_csv")
@label_options()
@cloup.option_group(
    "Score",
    option(
        "--score",
        cls=NameOption,
        type=RegistryName("textbayes.select:scores", "textbayes.select.score_functions"),
        default="likelihood_ratio",
        help="Score function.",
    ),
    click.option("--top-k", type=COUNT, help="Words per category at most; 20 if no rule is given."),
    click.option("--threshold", type=float, help="Only words with a score above it."),
    fdr_option,
    fdr_method_option,
    label_option("This category only; may be given several times."),
)
@cloup.option_group(
    "How many words a model needs",
    click.option(
        "--path",
        "by_path",
        is_flag=True,
        help="Held-out F1 and log-loss of Laplace regressions, from few words to many, instead of a ranking.",
    ),
    click.option("--report", metavar="FILE", help="With --path: write an HTML page with the curve as well."),
    option("--seed", type=SEED, default=0, help="With --path: of the folds."),
)
@text_options
@input_options(usual_part="train")
@output_options
@common_options
def select(
    inputs: Inputs,
    labelling: Labelling,
    score: str,
    labels: tuple[str, ...],
    text: TextChoices,
    by_path: bool,
    report: str | None,
    seed: int,
    output: Output,
    **rules: Any,
) -> None:
    """Rank words by how well they distinguish a category.

    The words are those that `textbayes train --select` with the same options would use. A high score says that a word
    is more frequent in the category than outside, or rarer: see the numbers of documents.

    With --path, how well texts are categorised with few words and with many: cross-validated F1 along the scale of a
    Laplace prior. Chosen is the sparsest model whose F1 is within a standard error of the best.

    \b
    textbayes select train.jsonl --score likelihood_ratio --threshold 12 --top-k 9
    textbayes select train.jsonl --path --report words.html
    """
    if by_path:
        _refuse_ranking(labels)
        _show_path(inputs, labelling, text, seed, report, output)
        return
    if report is not None:
        raise click.UsageError("--report draws the curve of --path; give --path as well, or leave out --report.")
    given = read_labelled(inputs, labelling)
    with waiting("ranking words"):
        ranking = _rank(given.texts, given.labels, score, text, rules)
    check_labels(labels, ranking.names)
    rows = [row for name in labels or ranking.names for row in _score_rows(ranking, ranking.names.index(name))]
    if output.is_table:
        for name in labels or ranking.names:
            print_table(_score_table(name, [row for row in rows if row["label"] == name]))
    else:
        output.write(rows, _SCORE_COLUMNS)


def _refuse_ranking(labels: tuple[str, ...]) -> None:
    """Refuse options of the ranking beside --path."""
    context = click.get_current_context()
    names = ("score", "top_k", "threshold", "fdr", "fdr_method")
    given = [name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if given or labels:
        option = "label" if labels else given[0].replace("_", "-")
        raise click.UsageError(f"--{option} ranks words of a category and --path is of all labels; leave out one.")


def _show_path(
    inputs: Inputs, labelling: Labelling, text: TextChoices, seed: int, report: str | None, output: Output
) -> None:
    """Measure models along the path of a Laplace prior; write the table, and the page if one is asked for."""
    from textbayes.core.cross_validation import Folds
    from textbayes.core.labels import encode_labels
    from textbayes.text.copies import find_copies, text_sketches
    from textbayes.tune import sparsity_path

    page = None if report is None else check_report_target(report)
    given = read_labelled(inputs, labelling)
    vectorizer = text.vectorizer()
    counts, indicator = vectorizer.fit_transform(given.texts), encode_labels(given.labels)[0]
    copies = find_copies(text_sketches(given.texts, vectorizer)).first
    folds = Folds.stratified(indicator, 5, seed, copies=copies)
    with reporting() as progress:
        found = sparsity_path(
            counts, given.labels, weighting=text.term_weighting(), cv=folds, n_jobs=-1, progress=progress
        )
    if page is not None:
        from textbayes.report.render import write_sparsity_page

        write_sparsity_page(page, found, f"{inputs.name}, {len(given.texts):,} texts")
    rows = found.rows()
    output.write_table(rows, list(rows[0]), _PATH_COLUMNS)
    if output.is_table:
        scale = f"{rows[found.chosen]['scale']:.3g}"
        echo("Words: with a weight for some label. F1: macro average, ± its standard error, on texts held out.")
        echo(f"Chosen: the sparsest within a standard error of the best; `train --family laplace --scale {scale}`.")


_PATH_COLUMNS = {
    "": "mark", "scale": "scale:.3g", "words": "words:,", "per label": "words_per_label:,.0f", "F1": "macro_f1:.3f",
    "±": "standard_error:.3f", "micro F1": "micro_f1:.3f", "log-loss": "log_loss:.3f",
}  # fmt: skip


def _rank(texts: list[str], labels: Any, score: str, text: TextChoices, rules: dict[str, Any]) -> _Ranking:
    from textbayes.core.labels import encode_labels
    from textbayes.lexical import benjamini_hochberg, storey, takes_counts
    from textbayes.select import scores, select_per_label
    from textbayes.text.surface import surface_forms

    indicator, space = encode_labels(labels)
    if space.kind == "binary":  # the first class is a category as well
        indicator = np.hstack([~indicator, indicator])
    vectorizer = text.vectorizer()
    counts = vectorizer.fit_transform(texts)
    function = scores.get(score)
    result = function(counts if takes_counts(function) else text.term_weighting().fit_transform(counts), indicator)
    k, threshold, fdr = rules["top_k"], rules["threshold"], rules["fdr"]
    if k is None and threshold is None and fdr is None:
        k = 20
    chosen = select_per_label(result, k=k, threshold=threshold, fdr=fdr, fdr_method=rules["fdr_method"])
    q_values = {"bh": benjamini_hochberg, "storey": storey}[rules["fdr_method"]]
    present = counts.astype(bool).astype(np.int64)
    forms = surface_forms(texts, vectorizer)
    return _Ranking(
        vectorizer.get_feature_names_out(),
        forms,
        [str(name) for name in space.classes],
        result.scores,
        result.p_values,
        None if result.p_values is None else q_values(result.p_values),
        chosen,
        np.asarray((present.T @ indicator.astype(np.int64)).T),
        np.asarray(present.sum(axis=0)).ravel(),
        indicator.sum(axis=0),
    )


def _score_rows(ranking: _Ranking, label: int) -> list[dict[str, Any]]:
    from textbayes.text.surface import shown

    scores = ranking.scores[label]
    columns = np.flatnonzero(ranking.chosen[label])
    columns = columns[np.argsort(-scores[columns], kind="stable")]
    return [
        {
            "label": ranking.names[label],
            "rank": rank,
            "word": str(ranking.words[j]),
            "form": shown(str(ranking.words[j]), ranking.forms),
            "score": float(scores[j]),
            "p_value": None if ranking.p_values is None else float(ranking.p_values[label, j]),
            "q_value": None if ranking.q_values is None else float(ranking.q_values[label, j]),
            "in_category": int(ranking.inside[label, j]),
            "outside": int(ranking.frequency[j] - ranking.inside[label, j]),
            "category_size": int(ranking.sizes[label]),
        }
        for rank, j in enumerate(columns, start=1)
    ]


def _score_table(label: str, rows: list[dict[str, Any]]) -> Table:
    size = f" ({rows[0]['category_size']:,} documents)" if rows else ": no word passes"
    tested = {"word": "form", "score": "score:.4g", "p": "p_value:.2g", "q": "q_value:.2g"}
    return table_of(rows, tested | {"in category": "in_category:,", "outside": "outside:,"}, f"{label}{size}")

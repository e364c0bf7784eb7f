"""``textbayes select``: words ranked by how well they tell a category apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click
import cloup
import numpy as np

from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.labelled import read_labelled
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.options import COUNT, fdr_method_option, fdr_option, label_option, most_used
from textbayes.cli.output import Output, make_table, output_options, print_table
from textbayes.cli.parameters import NameOption, RegistryName
from textbayes.cli.progress import waiting
from textbayes.cli.settings import common_options
from textbayes.cli.text_options import TextChoices, text_options
from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.core.wording import did_you_mean

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = ("label", "rank", "word", "score", "p_value", "q_value", "in_category", "outside", "category_size")


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
@most_used("score", "top_k", "threshold", "fdr", "labels", "text_field", "label_field", "stemmer", "as_csv")
@label_options()
@cloup.option_group(
    "Score",
    click.option(
        "--score",
        cls=NameOption,
        type=RegistryName("textbayes.select:scores", "textbayes.select.score_functions"),
        default="likelihood_ratio",
        show_default=True,
        help="Score function.",
    ),
    click.option("--top-k", type=COUNT, help="Words per category at most; 20 if no rule is given."),
    click.option("--threshold", type=float, help="Only words with a score above it."),
    fdr_option,
    fdr_method_option,
    label_option("This category only; may be given several times."),
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
    output: Output,
    **rules: Any,
) -> None:
    """Rank words by how well they tell a category apart.

    The words are those that `textbayes train --select` with the same options would use. A high score says that a word
    is more frequent in the category than outside, or rarer: see the numbers of documents.

    \b
    textbayes select train.jsonl --score likelihood_ratio --threshold 12 --top-k 9
    """
    given = read_labelled(inputs, labelling)
    with waiting("ranking words"):
        ranking = _rank(given.texts, given.labels, score, text, rules)
    for label in labels:
        if label not in ranking.names:
            raise InputError(
                f"label {label!r} is not known; choose one of {', '.join(ranking.names)}"
                f"{did_you_mean(label, ranking.names)}"
            )
    rows = [row for name in labels or ranking.names for row in _rows(ranking, ranking.names.index(name))]
    if output.is_table:
        for name in labels or ranking.names:
            print_table(_table(name, [row for row in rows if row["label"] == name]))
    else:
        output.write(rows, _COLUMNS)


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


def _rows(ranking: _Ranking, label: int) -> list[dict[str, Any]]:
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


def _table(label: str, rows: list[dict[str, Any]]) -> Table:
    size = f" ({rows[0]['category_size']:,} documents)" if rows else ": no word passes"
    numbers = ("score", "p", "q", "in category", "outside")
    table = make_table("word", *numbers, title=f"{label}{size}", right=numbers)
    for row in rows:
        p, q = ("" if row[name] is None else f"{row[name]:.2g}" for name in ("p_value", "q_value"))
        table.add_row(row["form"], f"{row['score']:.4g}", p, q, f"{row['in_category']:,}", f"{row['outside']:,}")
    return table

"""``textbayes export``: the scoring of a model for programs other than textbayes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import cloup

from textbayes.cli.inputs import model_argument
from textbayes.cli.output import Output, console, output_options
from textbayes.cli.progress import waiting
from textbayes.cli.settings import common_options
from textbayes.core.wording import plural


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
    from textbayes.cli.files import check_output
    from textbayes.core.atomic import atomic_write
    from textbayes.export import export_scoring, reference_scorer
    from textbayes.store import load_categorizer

    path = check_output(target)
    copy = None if scorer is None else check_output(scorer)
    with waiting(f"exporting {model}"):
        categorizer = load_categorizer(model)
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
    if output.is_table:
        console().print(
            f"{target}: {plural(written['n_terms'], 'term')}, {plural(written['n_labels'], 'label')}, "
            f"{plural(written['bytes'], 'byte')}"
        )
    else:
        output.write([written], list(written))

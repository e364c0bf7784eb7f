"""The HTML page that a command writes: refused early if it could not be written, and the page of ``train --report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textbayes.cli.files import check_output
from textbayes.cli.progress import waiting

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.cli.labelled import Labelled


def check_report_target(target: str) -> Path:
    """The path of the page, if it can be written there, replaces no other file and the packages it needs are here."""
    from textbayes.report import check_report_extra

    check_report_extra()
    return check_output(target)


def write_training_report(
    path: Path, model: TextCategorizer, given: Labelled, source: str, model_path: Path | None
) -> None:
    """Write a page about the texts a model was just trained on, each decided by a model that had not seen it."""
    from textbayes.report import collect_report, write_report
    from textbayes.report.wording import cross_validation_in_words

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

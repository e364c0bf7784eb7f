"""``textbayes datasets`` and ``textbayes compile``: corpora that are known by name, and kernels compiled in advance."""

from __future__ import annotations

import logging
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.inputs import Inputs
from textbayes.cli.options import KeyValue, RegistryName, download_option, option
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.terminal import common_options, downloading, reporting
from textbayes.core.errors import InputError
from textbayes.data import CORPORA, check_corpus, corpus_path, download_corpus, list_corpora

if TYPE_CHECKING:
    from textbayes.data import CorpusInfo, CorpusReport

_CORPUS = RegistryName("textbayes.data:CORPORA", "textbayes.data.corpora")
_EXCERPT = 200


@cloup.group(invoke_without_command=True)
@output_options
@common_options
@click.pass_context
def datasets(context: click.Context, output: Output) -> None:
    """List, check and show the corpora known by name.

    A corpus is looked for in $TEXTBAYES_DATA, beside the checkout and in the user's cache; --download fetches it, or
    builds it from its public source, where one is known. Any command reads one with --corpus NAME.
    """
    if context.invoked_subcommand is None:
        _list(output)


@datasets.command("list")
@output_options
@common_options
def list_(output: Output) -> None:
    """List all corpora: licence, counts, where found or how to get it."""
    _list(output)


@datasets.command()
@click.argument("names", nargs=-1, type=_CORPUS, metavar="[NAME]...")
@click.option("--path", metavar="FILE|FOLDER", help="Where the corpus is; needs one NAME.")
@download_option
@output_options
@common_options
def check(names: tuple[str, ...], path: str | None, download: bool, output: Output) -> None:
    """Count what a copy holds against what it should; all that are found, if none is named.

    Exit code 1 says that a copy is missing or differs.
    """

    if path is not None and len(names) != 1:
        raise click.UsageError("--path is that of one corpus; name it.")
    chosen = names or tuple(name for name in CORPORA.names() if corpus_path(name) is not None)
    if download and path is None:
        for name in chosen:
            with downloading(name) as progress:
                download_corpus(name, progress)
    reports = []
    with reporting() as progress:
        for done, name in enumerate(chosen):
            progress("checking", done, len(chosen))
            reports.append(check_corpus(name, path))
    _write_reports(reports, output)
    if not all(report.ok for report in reports):
        raise click.exceptions.Exit(1)


@datasets.command()
@click.argument("name", type=_CORPUS, metavar="NAME")
@click.option("--part", "parts", multiple=True, metavar="PART", help="A part of it, such as train or test.")
@click.option("--label", metavar="LABEL", help="Documents of this label only.")
@option("-n", "--number", type=click.IntRange(min=1), default=3, help="Documents to show.")
@click.option("--full", is_flag=True, help="Whole texts, not their beginnings (JSON and CSV have them whole).")
@download_option
@click.option("--reader-option", "options", type=KeyValue(), multiple=True, help="An option of the corpus.")
@output_options
@common_options
def show(name: str, label: str | None, number: int, full: bool, output: Output, **where: Any) -> None:
    """Show some documents of a corpus; as JSON lines they are input for the other commands."""
    inputs = Inputs((), corpus=name, usual_part="", **where)
    documents = list(
        islice((doc for doc in inputs.documents(count=False) if label is None or label in doc.labels), number)
    )
    if not documents:
        raise InputError(f"corpus {name!r} has no document of label {label!r}; leave out --label to see some labels")
    if not output.is_table:
        columns = ("id", "text", "labels")
        output.write(({name: getattr(document, name) for name in columns} for document in documents), columns)
        return
    screen = console()
    for document in documents:
        text = document.text if full else _shortened(document.text)
        screen.print(f"{document.id}  [{', '.join(document.labels) or 'no label'}]", style="bold")
        screen.print(f"{text}\n")


def _list(output: Output) -> None:
    rows = [_described(info) for info in list_corpora()]
    if not output.is_table:
        output.write(rows, ["name", "title", "documents", "labels", "licence", "homepage", "path", "to_get_it"])
        return
    table = make_table("corpus", "what it is")
    for row in rows:
        counts = ", ".join(f"{number:,} {what}" for what, number in row["expected"].items() if not what.isdecimal())
        where = f"Found in {row['path']}" if row["path"] else f"To get it: {row['to_get_it']}"
        table.add_row(row["name"], f"{row['title']}\n{counts}\nLicence: {row['licence']}\n{where}\n")
    console().print(table)


def how_to_get(name: str) -> str:
    """How to get a corpus, in the words of the command line."""

    return CORPORA.get(name).advice.replace("pass download=True", f"textbayes datasets check {name} --download")


def _described(info: CorpusInfo) -> dict[str, Any]:
    path = corpus_path(info.name)
    return {
        "name": info.name,
        "title": info.title,
        "documents": info.expected.get("documents"),
        "labels": info.expected.get("labels"),
        "expected": dict(info.expected),
        "licence": info.licence,
        "homepage": info.homepage,
        "options": info.options,
        "path": None if path is None else str(path),
        "to_get_it": how_to_get(info.name),
    }


def _write_reports(reports: list[CorpusReport], output: Output) -> None:
    rows = [
        {
            "name": report.name,
            "ok": report.ok,
            "problem": report.problem,
            "path": None if report.path is None else str(report.path),
            "found": dict(report.found),
            "expected": dict(report.expected),
        }
        for report in reports
    ]
    if not output.is_table:
        output.write(rows, ["name", "ok", "problem", "path"])
        return
    table = make_table("corpus", "", "counts")
    for report in reports:
        counts = ", ".join(f"{what} {number:,}" for what, number in report.found.items())
        table.add_row(report.name, "ok" if report.ok else "no", counts if report.ok else report.problem)
    console().print(table)


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _EXCERPT else f"{flat[:_EXCERPT].rsplit(' ', 1)[0]} …"


@cloup.command("compile")
@click.option(
    "--only", "chosen", multiple=True, metavar="FEATURE", help="This feature only; may be given several times."
)
@output_options
@common_options
def compile_kernels(chosen: tuple[str, ...], output: Output) -> None:
    """Compile everything now, so that no later command waits.

    Loops are compiled for this machine when a feature is first used, and kept. This compiles those of all features,
    which takes a few minutes once, and says what each took; what is compiled already is left as it is.
    """

    from textbayes.cli.compile_jobs import JOBS, compiled_by

    for name in chosen:
        if name not in JOBS:
            raise click.UsageError(f"There is no feature {name!r}; choose among: {', '.join(JOBS)}.")
    names = list(dict.fromkeys(chosen)) or list(JOBS)
    logging.getLogger("textbayes").setLevel(logging.ERROR)  # the rows below say it
    rows: list[dict[str, Any]] = []
    with reporting() as progress, tempfile.TemporaryDirectory() as folder:
        for done, name in enumerate(names):
            progress(f"compiling for {name}", done, len(names))
            rows.append(compiled_by(name, Path(folder)))
    shown = {"feature": "feature", "compiled": "compiled:d", "seconds": "seconds:.1f"}
    output.write_table(rows, list(shown), shown)

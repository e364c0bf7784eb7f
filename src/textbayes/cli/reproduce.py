"""``textbayes reproduce``: run a paper's experiments again and set the figures beside the published ones."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.parameters import RegistryName
from textbayes.cli.progress import reporting
from textbayes.cli.settings import common_options, note, warn
from textbayes.core.errors import CorpusNotFoundError, InputError

if TYPE_CHECKING:
    from textbayes.reproduce import Experiment, Result

_COLUMNS = ("paper", "table", "row", "column", "published", "ours", "difference")


@cloup.command()
@click.argument("paper", required=False, type=RegistryName("textbayes.reproduce:papers"), metavar="[PAPER]")
@click.option("--only", multiple=True, metavar="NUMBER", help='A part, such as "table 4"; may be given several times.')
@click.option("--quick", is_flag=True, help="Part of the work, done in minutes; what is left out shows as a dash.")
@click.option(
    "--draws",
    type=click.IntRange(min=8),
    metavar="N",
    help="Draws kept of each posterior, where the paper samples (gibbs); as many as are needed unless given.",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports"),
    show_default=True,
    help="Folder for the Markdown and HTML pages; made if need be.",
)
@output_options
@common_options
def reproduce(
    paper: str | None, only: tuple[str, ...], quick: bool, draws: int | None, folder: Path, output: Output
) -> None:
    """Run a paper's experiments again, beside the published figures.

    Without PAPER the papers are listed. Tables are printed, and the pages PAPER.md and PAPER.html written anew, after
    each table that is done, so that an interrupted run leaves what was finished. Corpora are looked for in
    $TEXTBAYES_DATA, see `textbayes datasets`; tables whose corpus is not there are named and left out, unless they were
    asked for with --only.

    \b
    textbayes reproduce sparse --quick
    textbayes reproduce sparse --only "table 4"
    textbayes reproduce gibbs --draws 40000
    """
    from textbayes.reproduce import papers

    if paper is None:
        _list([papers.get(name) for name in papers.names()], output)
        return
    found = papers.get(paper)
    options = ["--quick"] if quick else []
    if draws is not None:
        try:
            found = found.with_draws(draws)
        except InputError as error:
            raise click.BadParameter(f"{error}.", param_hint="--draws") from error
        options += ["--draws", str(draws)]
    _run(found, only, quick, options, folder, output)


def _run(
    paper: Experiment, only: tuple[str, ...], quick: bool, options: list[str], folder: Path, output: Output
) -> None:
    from textbayes.reproduce.render import Pages, print_result

    try:
        wanted = paper.choose(only)
    except InputError as error:
        raise click.BadParameter(f"{error}.", param_hint="--only") from error
    wanted = _with_corpora(paper, wanted, named=bool(only))
    command = ["textbayes", "reproduce", paper.name, *options]
    command += [part for number in only for part in ("--only", number)]
    start, screen = time.perf_counter(), console()
    pages = Pages(folder, paper, shlex.join(command))
    with reporting() as progress:
        for result in paper.run(wanted, quick, progress):
            pages.add(result)
            if output.is_table:
                print_result(result, screen)
            else:
                output.write(_rows(paper, result), _COLUMNS, header=len(pages.results) == 1)
    note(f"{pages.markdown} and {pages.html} written; took {time.perf_counter() - start:.0f} s")


def _with_corpora(paper: Experiment, wanted: tuple[str, ...], named: bool) -> tuple[str, ...]:
    """Experiments that can be run with the corpora that are there; one named by the user that cannot is refused."""
    ready = tuple(number for number in wanted if not paper.missing_corpora((number,)))
    if len(ready) == len(wanted):
        return wanted
    what = (
        f"{', '.join(number for number in wanted if number not in ready)}: not found: "
        f"{', '.join(paper.missing_corpora(wanted))}. Put each corpus into a folder of its name within the folder that "
        "$TEXTBAYES_DATA names; `textbayes datasets list` says where to get it"
    )
    if named or not ready:
        raise CorpusNotFoundError(f"corpora are needed for {what}")
    warn(f"left out, for want of corpora: {what}")
    return ready


def _rows(paper: Experiment, result: Result) -> list[dict[str, Any]]:
    """The cells of a table one by one; a figure has none."""
    from textbayes.reproduce import Table

    if not isinstance(result, Table):
        return []
    return [
        {
            "paper": paper.name,
            "table": result.number,
            "row": row,
            "column": column,
            "published": result.published[i][j],
            "ours": result.ours[i][j],
            "difference": result.difference(i, j),
        }
        for i, row in enumerate(result.rows)
        for j, column in enumerate(result.columns)
    ]


def _list(found: list[Experiment], output: Output) -> None:
    rows = [
        {"paper": paper.name, "title": paper.title, "reference": paper.reference, "numbers": paper.numbers}
        for paper in found
    ]
    if not output.is_table:
        output.write(rows, ["paper", "title", "reference", "numbers"])
        return
    table = make_table("paper", "what it is")
    for paper in found:
        table.add_row(paper.name, f"{paper.title}\n{paper.reference}\nCan be run again: {', '.join(paper.numbers)}\n")
    console().print(table)

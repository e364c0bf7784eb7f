"""``textbayes reproduce``: run a paper's experiments again and set the figures beside the published ones."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.cluster import cluster_option, on_cluster
from textbayes.cli.maintenance import how_to_get
from textbayes.cli.options import RegistryName, option
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.terminal import common_options, note, reporting, warn
from textbayes.core.errors import CorpusNotFoundError, InputError, NotSupportedError

if TYPE_CHECKING:
    from textbayes.reproduce import Experiment, Result

_COLUMNS = ("paper", "table", "row", "column", "published", "ours", "difference")
_ALL = "all"


class PaperName(RegistryName):
    """The name of a paper, or all of them."""

    def __init__(self) -> None:
        super().__init__("textbayes.reproduce:papers")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == _ALL else super().convert(value, param, ctx)


@cloup.command()
@click.argument("paper", required=False, type=PaperName(), metavar="[PAPER|all]")
@click.option("--only", multiple=True, metavar="NUMBER", help='A part, such as "table 4"; may be given several times.')
@click.option("--quick", is_flag=True, help="Part of the work, done in minutes; what is left out shows as a dash.")
@click.option(
    "--draws",
    type=click.IntRange(min=8),
    metavar="N",
    help="Draws kept of each posterior, where the paper samples (gibbs); as many as are needed unless given.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=8),
    metavar="N",
    help="One chain of so many, a third of them burn-in, as a row beside the others in Table 2a (gibbs: 60000).",
)
@option(
    "-o",
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports"),
    help="Folder for the Markdown and HTML pages; made if needed.",
)
@cluster_option
@output_options
@common_options
def reproduce(
    paper: str | None,
    only: tuple[str, ...],
    quick: bool,
    draws: int | None,
    iterations: int | None,
    folder: Path,
    cluster: str | None,
    output: Output,
) -> None:
    """Rerun a paper's experiments, beside the published figures.

    Without PAPER the papers are listed, with the corpora they need, whether these are found, and how long it takes;
    `all` runs one after the other. Tables are printed one by one, and the pages PAPER.md and PAPER.html replaced when
    all is done; an interrupted run leaves what was finished in PAPER.partial.md and PAPER.partial.html. Corpora are
    looked for in $TEXTBAYES_DATA, see `textbayes datasets`; tables whose corpus is not there are named and left out,
    unless they were asked for with --only.

    \b
    textbayes reproduce
    textbayes reproduce all --quick
    textbayes reproduce sparse --only "table 4"
    textbayes reproduce gibbs --iterations 60000
    """
    from textbayes.reproduce import papers

    if paper is None:
        _list([papers.get(name) for name in papers.names()], output)
        return
    click.get_current_context().with_resource(on_cluster(cluster))
    if paper == _ALL:
        if only:
            raise click.BadParameter("names parts of one paper; give its name instead of 'all'.", param_hint="--only")
        every = [papers.get(name) for name in papers.names()]
        _run_all([one.with_chains(draws, iterations) if one.samples else one for one in every], quick, folder, output)
        return
    try:
        found = papers.get(paper).with_chains(draws, iterations)
    except InputError as error:
        hint = "--iterations" if draws is None else "--draws"
        raise click.BadParameter(f"{error}.", param_hint=hint) from error
    _run(found, only, quick, folder, output)


def _run_all(found: list[Experiment], quick: bool, folder: Path, output: Output) -> None:
    """Run all papers of which a corpus is there; progress is reported paper by paper."""
    note(f"{len(found)} papers, about {sum(paper.minutes[quick] for paper in found)} minutes on two cores")
    for place, paper in enumerate(found, 1):
        note(f"{place} of {len(found)}: {paper.name}, about {paper.minutes[quick]} minutes")
        try:
            _run(paper, (), quick, folder, output, header=place == 1)
        except CorpusNotFoundError as error:
            warn(str(error))


def _run(
    paper: Experiment, only: tuple[str, ...], quick: bool, folder: Path, output: Output, header: bool = True
) -> None:
    from textbayes.reproduce.render import Pages, print_result

    try:
        wanted = paper.choose(only)
    except InputError as error:
        raise click.BadParameter(f"{error}.", param_hint="--only") from error
    wanted = _with_corpora(paper, wanted, named=bool(only))
    command = ["textbayes", "reproduce", paper.name, *(["--quick"] if quick else [])]
    for name, given in (("--draws", paper.draws), ("--iterations", paper.iterations)):
        command += [] if given is None else [name, str(given)]
    command += [part for number in only for part in ("--only", number)]
    start, screen = time.perf_counter(), console()
    pages = Pages(folder, paper, shlex.join(command))
    with reporting() as progress:
        for result in paper.run(wanted, quick, progress):
            pages.add(result)
            if output.is_table:
                print_result(result, screen)
            else:
                output.write(_rows(paper, result), _COLUMNS, header=header and len(pages.results) == 1)
    if not pages.results:
        raise NotSupportedError(
            f"nothing came of {', '.join(wanted)} of paper {paper.name!r}"
            + ("; leave --quick out" if quick else f"; it has {', '.join(paper.numbers)}")
        )
    pages.finish()
    note(f"{pages.markdown} and {pages.html} written; took {time.perf_counter() - start:.0f} s")


def _with_corpora(paper: Experiment, wanted: tuple[str, ...], named: bool) -> tuple[str, ...]:
    """Experiments that can be run with the corpora that are there; one named by the user that cannot is refused."""
    ready = tuple(number for number in wanted if not paper.missing_corpora((number,)))
    if len(ready) == len(wanted):
        return wanted
    what = (
        f"{', '.join(number for number in wanted if number not in ready)}: not found: "
        f"{', '.join(paper.missing_corpora(wanted))}. Put each corpus into a folder of its name within the folder that "
        "$TEXTBAYES_DATA names. To get it: "
        + "; ".join(f"{name}: {how_to_get(name)}" for name in paper.missing_corpora(wanted))
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
            "published": getattr(result.published[i][j], "printed", result.published[i][j]),  # a misprint as it is
            "ours": result.ours[i][j],
            "difference": result.difference(i, j),
        }
        for i, row in enumerate(result.rows)
        for j, column in enumerate(result.columns)
    ]


def _list(found: list[Experiment], output: Output) -> None:
    missing = {paper.name: paper.missing_corpora(paper.numbers) for paper in found}
    if not output.is_table:
        rows = [
            {
                "paper": paper.name,
                "title": paper.title,
                "reference": paper.reference,
                "numbers": paper.numbers,
                "corpora": paper.corpora_for(paper.numbers),
                "missing": missing[paper.name],
                "minutes": paper.minutes[0],
                "minutes_quick": paper.minutes[1],
            }
            for paper in found
        ]
        output.write(rows, list(rows[0]))
        return
    table = make_table("paper", "what it is")
    for paper in found:
        corpora = (
            f"{name} ({'not found' if name in missing[paper.name] else 'found'})"
            for name in paper.corpora_for(paper.numbers)
        )
        lines = (
            paper.title,
            paper.reference,
            f"Can be run again: {', '.join(paper.numbers)}",
            f"Corpora: {', '.join(corpora)}",
            f"Takes about {paper.minutes[0]} minutes on two cores, {paper.minutes[1]} with --quick",
        )
        table.add_row(paper.name, "\n".join(lines) + "\n")
    console().print(table)
    for name in sorted({name for names in missing.values() for name in names}):
        note(f"{name} is not there; to get it: {how_to_get(name)}")

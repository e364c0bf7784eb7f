"""``textbayes compile``: compile every kernel now, so that no later command waits for it."""

from __future__ import annotations

import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import cloup

from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.progress import reporting
from textbayes.cli.settings import common_options

COLUMNS = ("feature", "compiled", "seconds")


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
    from textbayes.cli.compile_jobs import JOBS

    for name in chosen:
        if name not in JOBS:
            raise click.UsageError(f"There is no feature {name!r}; choose among: {', '.join(JOBS)}.")
    names = list(dict.fromkeys(chosen)) or list(JOBS)
    logging.getLogger("textbayes").setLevel(logging.ERROR)  # the rows below say it
    rows: list[dict[str, Any]] = []
    with reporting() as progress, tempfile.TemporaryDirectory() as folder:
        for done, name in enumerate(names):
            progress(f"compiling for {name}", done, len(names))
            rows.append(_compiled(name, Path(folder)))
    if not output.is_table:
        output.write(rows, COLUMNS)
        return
    table = make_table(*COLUMNS, right=COLUMNS[1:])
    for row in rows:
        table.add_row(row["feature"], str(row["compiled"]), f"{row['seconds']:.1f}")
    console().print(table)


def _compiled(name: str, folder: Path) -> dict[str, Any]:
    """Run the small job of a feature, and count the kernels that were not in the cache."""
    from textbayes.cli.compile_jobs import run_job
    from textbayes.kernels import n_compiled

    before, start = n_compiled(), time.perf_counter()
    run_job(name, folder)
    return {"feature": name, "compiled": n_compiled() - before, "seconds": round(time.perf_counter() - start, 2)}

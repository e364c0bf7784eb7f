"""The command ``textbayes``: a table of commands, each imported only when it runs, so that ``--help`` is immediate."""

from __future__ import annotations

import difflib
import importlib
import signal
import sys
from typing import Any, NamedTuple

import click

from textbayes._version import __version__
from textbayes.cli.errors import TYPED, in_one_sentence, show_like_others
from textbayes.cli.help import shorten_help
from textbayes.cli.repeats import refuse_repeats
from textbayes.cli.settings import common_options


class Lazy(NamedTuple):
    """Module and name of a command, and its help line: the first of the command's own help (tested)."""

    target: str
    help: str


GROUPS = {
    "Start": {
        "demo": Lazy("textbayes.cli.demo:demo", "Train, evaluate and explain on the embedded news corpus."),
        "train": Lazy("textbayes.cli.train:train", "Learn a model from labelled texts."),
        "classify": Lazy("textbayes.cli.classify:classify", "Give new texts labels and probabilities."),
        "evaluate": Lazy("textbayes.cli.evaluate:evaluate", "Measure a model on labelled texts."),
    },
    "Understand a model": {
        "show": Lazy("textbayes.cli.show:show", "Show what is in a model file."),
        "explain": Lazy("textbayes.cli.explain:explain", "Show the words behind a decision."),
        "words": Lazy("textbayes.cli.words:words", "List the strongest words of each label."),
        "report": Lazy("textbayes.cli.report:report", "Write a page about a model tried on labelled texts."),
    },
    "Use a model elsewhere, and keep it up to date": {
        "update": Lazy("textbayes.cli.update:update", "Update a model with more labelled texts."),
        "serve": Lazy("textbayes.cli.serve:serve", "Serve a model to other programs, by a REST interface."),
        "export": Lazy("textbayes.cli.export:export", "Write a model's scoring as JSON, SQL or ONNX."),
    },
    "Few labels and prior knowledge": {
        "prior": Lazy("textbayes.cli.prior:prior", "Make a prior file: what is known of words before any text."),
        "clusters": Lazy("textbayes.cli.clusters:clusters", "Group texts by their words."),
    },
    "Streams": {
        "filter": Lazy("textbayes.cli.filter:filter_stream", "Deliver what matters from a stream, ask, and learn."),
        "judge": Lazy("textbayes.cli.judge:judge", "Tell a filter whether a document is relevant."),
    },
    "Literature reviews": {
        "screen": Lazy("textbayes.cli.screen:screen", "Read records in the best order, and know when to stop."),
        "app": Lazy("textbayes.cli.app:app", "Screen records and manage reviews in the browser."),
        "simulate": Lazy("textbayes.cli.simulate:simulate", "Screen reviews again whose answers are known."),
    },
    "Statistics and research": {
        "keyness": Lazy(
            "textbayes.cli.keyness:keyness", "Compare how often words are used in a category and elsewhere."
        ),
        "select": Lazy("textbayes.cli.select:select", "Rank words by how well they tell a category apart."),
        "compare": Lazy("textbayes.cli.compare:compare", "Test whether two systems differ significantly."),
        "link": Lazy("textbayes.cli.link:link", "Compare link functions: heavy tails, asymmetry."),
        "reproduce": Lazy(
            "textbayes.cli.reproduce:reproduce", "Run a paper's experiments again, beside the published figures."
        ),
    },
    "Data and maintenance": {
        "datasets": Lazy("textbayes.cli.datasets:datasets", "List, check and show the corpora known by name."),
        "compile": Lazy(
            "textbayes.cli.compile:compile_kernels", "Compile everything now, so that no later command waits."
        ),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


class LazyGroup(click.Group):
    """A group that knows its commands from a table and reports their errors in one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].target.partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return shorten_help(refuse_repeats(command))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), command.help) for name, command in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(COMMANDS)}."
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[TYPED] = list(args)
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **given: Any) -> click.Context:
        try:
            return super().make_context(*args, **given)
        except click.ClickException as error:
            show_like_others(error)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        def running() -> click.Command | None:
            return self.get_command(ctx, ctx.invoked_subcommand) if ctx.invoked_subcommand else None

        with in_one_sentence(running):
            return super().invoke(ctx)


@click.group("textbayes", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="textbayes", message="%(prog)s %(version)s")
@common_options
def cli() -> None:
    """Categorise texts: probabilities, decisions and the words behind them.

    \b
    textbayes train train.csv -o model.tb
    textbayes classify model.tb new.csv -o answers.csv
    textbayes evaluate model.tb test.csv

    Texts come from spreadsheets (CSV, XLSX), JSON lines, other files, folders or standard input; columns such as "text"
    and "label" are found by their names. Results are tables on a terminal and JSON lines in a pipe. `textbayes COMMAND
    --help` has examples. Exit codes: 0 success, 1 a problem with the data or the result, 2 a command that cannot be
    understood.
    """


shorten_help(cli)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    # Ends the run as an exception does, so that temporary files are removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # JSON is UTF-8 wherever it goes; what cannot be encoded becomes an escape, which JSON reads back.
            reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    cli(prog_name="textbayes")


if __name__ == "__main__":
    main()

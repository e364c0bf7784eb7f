"""The command ``textbayes``: a table of commands, each imported only when it runs, and how their help is shown."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
import textwrap
from typing import Any, NamedTuple

import click
from click import _textwrap

from textbayes._version import __version__
from textbayes.cli.errors import INTERRUPTED, TYPED, Signals, in_one_sentence, listen, show_like_others
from textbayes.cli.terminal import MOST_USED, common_options, echo

_MOST_EXAMPLES = 5
_ALL = "help_all"


# click would break lines within --cv-only; it offers no other way to have words left whole.
_textwrap.TextWrapper.wordsep_re = textwrap.TextWrapper.wordsep_simple_re


def shorten_help(command: click.Command) -> click.Command:
    """The command, and those below it, with ``--help-all``; ``--help`` is short where some options are most used.

    Parameters
    ----------
    command : click.Command
        Changed in place; what was changed before is left alone.
    """
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        shorten_help(below)
    if any(parameter.name == _ALL for parameter in command.params):  # done before
        return command
    number = sum(isinstance(parameter, click.Option) for parameter in command.params)
    is_long = bool(_most_used(command))
    shows_all = click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        hidden=not is_long,  # the same as --help then
        help=f"Show all {number} options and exit.",
    )
    command.params.append(shows_all)
    if not is_long:
        return command

    def format_help(ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_short(command, shows_all, ctx, formatter)

    command.format_help = format_help  # type: ignore[method-assign]
    return command


def full_help(command: click.Command, ctx: click.Context) -> str:
    """All that there is to say of a command."""
    formatter = ctx.make_formatter()
    type(command).format_help(command, ctx, formatter)
    return formatter.getvalue().rstrip("\n")


def _show_all(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        echo(full_help(ctx.command, ctx))
        ctx.exit()


def _most_used(command: click.Command) -> list[click.Parameter]:
    return [one for one in command.params if getattr(getattr(one, "group", None), "title", None) == MOST_USED]


def _write_short(
    command: click.Command, shows_all: click.Option, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    command.format_usage(ctx, formatter)
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(paragraphs[0])
    examples = [one for one in paragraphs if one.startswith("\b\n")]
    if examples:
        lines = examples[0].split("\n")[1:]
        with formatter.section("Examples"):
            formatter.write_text("\b\n" + "\n".join(_whole(lines)[:_MOST_EXAMPLES]))
    own: Any = command.get_help_option(ctx)
    for title, options in ((f"{MOST_USED} options", _most_used(command)), ("More", [shows_all, own])):
        with formatter.section(title):
            formatter.write_dl([record for one in options if (record := one.get_help_record(ctx)) is not None])


def _whole(lines: list[str]) -> list[str]:
    """Lines, with those that go on by a backslash in one piece."""
    found: list[str] = []
    for line in lines:
        if found and found[-1].endswith("\\"):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def refuse_repeats(command: click.Command) -> click.Command:
    """The command, and those below it, which now refuse an option given with two values; the same value twice is fine.

    Options that take several values, and those that count, are left alone.
    """
    if "make_parser" in vars(command):  # done before
        return command
    make_parser: Any = command.make_parser

    def make_guarded(ctx: click.Context) -> Any:
        parser = make_parser(ctx)
        given: dict[str, tuple[str, Any]] = {}  # the option as it was first written, and its value
        for name, option in {**parser._short_opt, **parser._long_opt}.items():
            if option.action in ("store", "store_const"):
                option.process = _guarded(option, option.process, name, given, ctx)
        return parser

    command.make_parser = make_guarded  # type: ignore[method-assign]
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        refuse_repeats(below)
    return command


def _guarded(option: Any, process: Any, name: str, given: dict[str, tuple[str, Any]], ctx: click.Context) -> Any:
    flag = option.action == "store_const"

    def guarded(value: Any, state: Any) -> None:
        chosen = option.const if flag else value
        first, before = given.setdefault(option.dest, (name, chosen))
        if before != chosen:
            if flag:
                raise click.UsageError(f"{first} and {name} were both given; choose one of them.", ctx)
            values = f"{_shown(before)} and {_shown(chosen)}"
            raise click.UsageError(f"{name} was given twice, with {values}; give it once.", ctx)
        process(value, state)

    return guarded


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


class Lazy(NamedTuple):
    """Module and name of a command, and its help line: the first of the command's own help (tested)."""

    target: str
    help: str


GROUPS = {
    "Start": {
        "demo": Lazy("textbayes.cli.demo:demo", "Train, evaluate and explain on a corpus of BBC news."),
        "train": Lazy("textbayes.cli.train:train", "Learn a model from labelled texts."),
        "classify": Lazy("textbayes.cli.classify:classify", "Give new texts labels and probabilities."),
        "evaluate": Lazy("textbayes.cli.evaluate:evaluate", "Measure a model on labelled texts."),
    },
    "Understand a model": {
        "show": Lazy("textbayes.cli.show:show", "Show what is in a model file."),
        "explain": Lazy("textbayes.cli.show:explain", "Show the words behind a decision."),
        "words": Lazy("textbayes.cli.words:words", "List the strongest words of each label."),
        "report": Lazy("textbayes.cli.evaluate:report", "Write an HTML page: how good a model is on labelled texts."),
    },
    "Use a model elsewhere, and keep it up to date": {
        "update": Lazy("textbayes.cli.deploy:update", "Update a model with more labelled texts."),
        "serve": Lazy("textbayes.cli.deploy:serve", "Serve a model to other programs, by a REST interface."),
        "export": Lazy("textbayes.cli.deploy:export", "Write a model's scoring as JSON, SQL or ONNX."),
    },
    "Few labels and prior knowledge": {
        "ask": Lazy("textbayes.cli.ask:ask", "List the texts whose labels would help the model most."),
        "prior": Lazy("textbayes.cli.prior:prior", "Make a prior file: what you know about words, for train."),
        "clusters": Lazy("textbayes.cli.clusters:clusters", "Group texts by their words."),
    },
    "Streams": {
        "filter": Lazy(
            "textbayes.cli.filter:filter_stream", "Deliver the relevant texts of a stream; learn from answers."
        ),
        "judge": Lazy("textbayes.cli.filter:judge", "Tell a filter whether a document is relevant."),
    },
    "Literature reviews": {
        "screen": Lazy("textbayes.cli.screen:screen", "Read records in the best order, and know when to stop."),
        "app": Lazy("textbayes.cli.app:app", "Screen records and manage reviews in the browser."),
        "simulate": Lazy("textbayes.cli.simulate:simulate", "Simulate screening on reviews whose answers are known."),
    },
    "Statistics and research": {
        "keyness": Lazy(
            "textbayes.cli.keyness:keyness", "Compare how often words are used in a category and elsewhere."
        ),
        "select": Lazy("textbayes.cli.keyness:select", "Rank words by how well they distinguish a category."),
        "compare": Lazy("textbayes.cli.compare:compare", "Test whether two systems differ significantly."),
        "link": Lazy("textbayes.cli.compare:link", "Compare link functions: heavy tails, asymmetry."),
        "reproduce": Lazy(
            "textbayes.cli.reproduce:reproduce", "Rerun a paper's experiments, beside the published figures."
        ),
    },
    "Data and maintenance": {
        "datasets": Lazy("textbayes.cli.maintenance:datasets", "List, check and show the corpora known by name."),
        "compile": Lazy(
            "textbayes.cli.maintenance:compile_kernels", "Compile everything now, so that no later command waits."
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
    --help` has examples. Exit codes: 0 success, 1 a problem with the data or the result, 2 an unknown
    command or option.
    """


shorten_help(cli)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    listen()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # JSON is UTF-8 wherever it goes; what cannot be encoded becomes an escape, which JSON reads back.
            reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    try:
        cli(prog_name="textbayes")
    except KeyboardInterrupt:  # after the command, or before it
        sys.exit(INTERRUPTED)
    finally:
        Signals.phase = "ended"


if __name__ == "__main__":
    main()

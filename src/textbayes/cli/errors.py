"""Errors reported in one sentence on stderr; exit 1 for data and results, 130 for Ctrl-C."""

from __future__ import annotations

import _thread
import atexit
import contextlib
import errno
import functools
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from textbayes.cli.terminal import echo, settings, warn
from textbayes.core.errors import TextBayesError, is_interrupt

_INTERRUPTED = "interrupted; no file was left half-written"
COMMAND = "  textbayes "  # how a line begins that is a command to copy
TYPED = "textbayes.typed"  # where a context keeps the words of the command line
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_SOON = 0.05  # seconds
# How a warning begins that counts fits or posteriors, and its numbers.
_COUNTED, _NUMBER = re.compile(r"\d+ of \d+ \w+ "), re.compile(r"\d[\d.,e+-]*")


@contextlib.contextmanager
def in_one_sentence(command: Callable[[], click.Command | None]) -> Iterator[None]:
    """Turn errors and warnings of the block into sentences; ``command`` finds the command that ran, for its options."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = functools.partial(_show_warning, set())
            yield
        sys.stdout.flush()  # here, so that a full disk or a closed pipe is met while it can still be reported
    except click.ClickException as error:
        show_like_others(error)
        raise
    except (click.Abort, click.exceptions.Exit, BrokenPipeError):
        raise  # click's own; it also ends quietly when the reader of a pipe has gone
    except KeyboardInterrupt:
        _fail(_INTERRUPTED, INTERRUPTED)
    except TextBayesError as error:
        running = command()
        notes = [as_options(line, running) for line in getattr(error, "__notes__", ())]
        _fail(f"error: {as_options(str(error), running)}", notes=notes)
    except MemoryError:
        _fail("error: the memory is not enough; use fewer documents, or fewer words (--min-df)")
    except OSError as error:
        _forget_output(error)
        where = error.filename or "standard output"
        _fail(f"error: {where}: {error.strerror or error}; check the place and its free space")
    except Exception as error:
        if is_interrupt(error) or Signals.dropped:  # a compilation goes on without what the callback had to do
            _fail(_INTERRUPTED, INTERRUPTED)
        what = f"{type(error).__name__}: {error}"
        _fail(f"internal error ({what}); please report it with what `textbayes --debug …` shows")


def show_like_others(error: click.ClickException) -> None:
    """Have click show an error as all errors are shown: after "textbayes: error:", broken between words."""
    if type(error).show in (click.ClickException.show, click.UsageError.show):  # others show help, say
        error.show = functools.partial(_show, error)  # type: ignore[method-assign]


def _show(error: click.ClickException, file: Any = None) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        echo(context.get_usage(), err=True)
        if context.command.get_help_option(context) is not None:
            echo(f"Try '{context.command_path} {context.help_option_names[-1]}' for help.", err=True)
        echo(err=True)
    echo(f"textbayes: error: {error.format_message()}{_value_of_flag(error)}{_no_output(error)}", err=True)


def _value_of_flag(error: click.ClickException) -> str:
    """The end of a message on a word too many that was given as the value of a flag, such as ``--intervals 0.9``."""
    extra = re.search(r"unexpected extra argument \((\S+)\)", error.format_message())
    context = error.ctx if isinstance(error, click.UsageError) else None
    if extra is None or context is None:
        return ""
    typed = context.find_root().meta.get(TYPED, [])
    before = typed[typed.index(extra[1]) - 1] if extra[1] in typed[1:] else ""
    options = {name: option for option in _options(context.command) for name in option.opts}
    if before not in options or not options[before].is_flag:
        return ""
    level = "--level" in options and before == "--intervals"
    return f". {before} takes no value" + (f"; the level is --level {extra[1]}" if level else "")


def _no_output(error: click.ClickException) -> str:
    """The end of a message on -o, of a command that writes to standard output alone."""
    if not isinstance(error, click.NoSuchOption) or error.option_name not in ("-o", "--output") or error.ctx is None:
        return ""
    if all(option.name != "as_csv" for option in _options(error.ctx.command)):
        return ""
    return " Write to a file with > FILE, as CSV with --csv > FILE.csv."


def as_options(message: str, command: click.Command | None) -> str:
    """A message of the library in the words of the command line: ``encoding='latin-1'`` is ``--encoding latin-1``.

    Only parameters that the command has under the same name are rewritten, and values of a flag that has an option with
    ``-by`` beside it: ``calibrate='beta'`` is ``--calibrate-by beta``.
    """
    for parameter in _options(command):
        if not parameter.name:
            continue
        option = max(parameter.opts, key=len)
        if parameter.is_flag:
            message = re.sub(rf"\b{parameter.name}=True\b", option, message)
            for other in parameter.secondary_opts:
                message = re.sub(rf"\b{parameter.name}=False\b", other, message)
        else:
            name = re.sub("_by$", "(?:_by)?", parameter.name)
            message = re.sub(rf"\b{name}='([^']*)'", functools.partial(_typed, option), message)
            message = re.sub(rf"\b{parameter.name}=(?=[\w.−-])", f"{option} ", message)
        message = re.sub(rf"\bleave out {parameter.name}\b", f"leave out {option}", message)
        if "_" in parameter.name:  # one-word names are ordinary words as well
            message = re.sub(rf"\b{parameter.name}\b", option, message)
    return message


def _typed(option: str, found: re.Match[str]) -> str:
    """An option with a value as it is typed."""
    return f"{option} {shlex.quote(found[1])}"


def typed_again(*more: str, instead: Mapping[str, str] | None = None) -> str:
    """The command line at hand, with further options and other words ``instead`` of some, as one would type it."""
    return shlex.join(["textbayes", *((instead or {}).get(word, word) for word in _words()), *more])


def typed_with(option: str, wrong: str, better: str) -> str:
    """The command line at hand with another value of an option."""
    words = [f"{option}={better}" if word == f"{option}={wrong}" else word for word in _words()]
    pairs = zip(["", *words], words, strict=False)
    return shlex.join(["textbayes", *(better if pair == (option, wrong) else pair[1] for pair in pairs)])


def _words() -> list[str]:
    """What was typed after the name of the program."""
    context = click.get_current_context(silent=True)
    return [] if context is None else list(context.find_root().meta.get(TYPED, []))


def command_lines(line: str, width: int) -> list[str]:
    """A command in lines of at most ``width`` columns: broken before options with a backslash, as a shell reads it."""
    indent = " " * (len(line) - len(line.lstrip()))
    parts: list[str] = []
    for word in shlex.split(line):
        if parts and not word.startswith("-"):
            parts[-1] += f" {shlex.quote(word)}"
        else:
            parts.append(shlex.quote(word))
    from rich.cells import cell_len

    lines = [indent + parts[0]]
    for part in parts[1:]:
        if cell_len(f"{lines[-1]} {part} \\") > width:
            lines[-1] += " \\"
            lines.append(f"{indent}  {part}")
        else:
            lines[-1] += f" {part}"
    return lines


def offers(name: str) -> bool:
    """Whether the command at hand has an option or argument of this name."""
    context = click.get_current_context(silent=True)
    return context is not None and any(one.name == name for one in context.command.params)


def _options(command: click.Command | None) -> Iterator[click.Option]:
    """The options of a command, or of all commands of a group."""
    if isinstance(command, click.Group):
        for member in command.commands.values():
            yield from _options(member)
    if command is not None:
        yield from (parameter for parameter in command.params if isinstance(parameter, click.Option))


class Signals:
    """Where a run stands when Ctrl-C or a signal to end it comes."""

    phase = "runs"  # then "speaks", when its last sentence is written, and "ended", when only threads are waited for
    dropped = False  # whether Python dropped one
    held = False  # whether one waits until what is at hand is done; a second one does not
    waiting = 0  # the number of one that waits


def hold_signals() -> None:
    """Let the next signal wait until :func:`let_signals_through`: a step is done whole or not at all."""
    Signals.held = True


def let_signals_through() -> None:
    """End the wait; a signal that came meanwhile ends the run here."""
    Signals.held, number, Signals.waiting = False, Signals.waiting, 0
    if number:
        _on_signal(number, None)


def listen() -> None:
    """End the run as an exception does when a signal says so, however often it comes; its exit code is 128 + number."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _on_signal)
        # At the interpreter's own end Python would have the next one kill it. What is registered first runs last.
        atexit.register(signal.signal, number, signal.SIG_IGN)
    sys.unraisablehook = _on_dropped


def _on_signal(number: int, _: Any) -> None:
    if Signals.phase == "ended":
        os._exit(128 + number)
    if Signals.held and not Signals.waiting:
        Signals.waiting = number
    elif Signals.phase == "runs":
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _on_dropped(error: Any) -> None:
    """Repeat a signal that Python dropped, since it came inside a destructor or a callback; show other errors."""
    if isinstance(error.exc_value, KeyboardInterrupt | SystemExit):
        Signals.dropped = True
        number = signal.SIGINT if isinstance(error.exc_value, KeyboardInterrupt) else signal.SIGTERM
        again = threading.Timer(_SOON, _thread.interrupt_main, [number])
        again.daemon = True
        again.start()
    elif Signals.phase == "runs":  # later ones come of what was interrupted
        sys.__unraisablehook__(error)


def _fail(message: str, code: int = 1, notes: Sequence[str] = ()) -> None:
    Signals.phase = "speaks"
    if settings().debug:
        echo(traceback.format_exc(), err=True)
    echo(f"textbayes: {' '.join(message.split())}", err=True)
    for line in notes:
        if not line.startswith(COMMAND):
            echo(line, err=True)
            continue
        for part in command_lines(line, shutil.get_terminal_size().columns) if sys.stderr.isatty() else [line]:
            echo(part, err=True, wrap=False)
    raise click.exceptions.Exit(code)


def _forget_output(error: OSError) -> None:
    """Drop what could not be written: the interpreter would try again at its end, with a traceback."""
    if error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.close()


def _show_warning(counted: set[str], message: Warning | str, category: type[Warning], *_: Any) -> None:
    """Show a warning; of "2 of 5 fits …", which every fold would say with other numbers, the first."""
    text = str(message)
    if _COUNTED.match(text):
        kind = _NUMBER.sub("", text)
        if kind in counted:
            return
        counted.add(kind)
    warn(text)

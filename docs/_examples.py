"""The Python and bash blocks of a page: found, run in order in a temporary folder, and what they print."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import _forked

WIDTH = 80  # columns of the terminal

_FENCED = re.compile(
    r"(?P<not_run><!-- not run -->\n)?"
    r"^```(?P<language>python|bash)\n(?P<code>.*?)^```\n"
    r"(?P<printed>\n?^```text\n(?P<output>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)


class Example(NamedTuple):
    """A block of a page that is run: where it and its output stand, and what the page says it prints."""

    start: int
    end: int
    line: int
    language: str
    source: str
    shown: str


def examples(text: str) -> Iterator[Example]:
    """The blocks of a page that are run, in order."""
    for found in _FENCED.finditer(text):
        if not found["not_run"]:
            line = text[: found.start("code")].count("\n")
            yield Example(*found.span(), line, found["language"], found["code"], found["output"] or "")


def not_run(text: str) -> Iterator[str]:
    """The blocks of a page that are not run."""
    return (found["code"] for found in _FENCED.finditer(text) if found["not_run"])


@contextlib.contextmanager
def page_folder() -> Iterator[Path]:
    """A temporary folder to run a page's examples in, and ``textbayes`` on its path: warnings are errors there."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as bin_:
        program = Path(bin_, "textbayes")
        program.write_text(f'#!/bin/sh\nexec {shlex.join(_forked.command())} "$@"\n')
        program.chmod(0o755)
        old_path = os.environ.get("PATH", "")
        os.environ["PATH"] = os.pathsep.join((bin_, old_path))
        os.environ.setdefault("TEXTBAYES_ENCODER", "off")
        os.environ.setdefault("TEXTBAYES_EMBEDDINGS", "off")  # pages say the same whatever is installed
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            os.environ["PATH"] = old_path


def run_page(page: str, text: str, width: int = WIDTH, notes: bool = False) -> Iterator[tuple[Example, str]]:
    """Run the examples of a page one after the other; each with what it printed (with ``notes``, on stderr as well)."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with page_folder() as folder:
        for example in examples(text):
            if example.language == "bash":
                yield example, run_bash(example.source, folder, width=width, notes=notes)
            else:
                yield example, run_python(example, page, namespace)


def run_python(example: Example, page: str, namespace: dict[str, Any]) -> str:
    """What a Python block prints; the names it makes stay for the blocks after it."""
    # Empty lines before it, so that a traceback shows the line of the page.
    compiled = compile("\n" * example.line + example.source, page, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compiled, namespace)
    return tidy(printed.getvalue())


def run_bash(script: str, folder: Path, terminal: bool = True, width: int = WIDTH, notes: bool = False) -> str:
    """What a shell script shows on a terminal without colours; what goes to stderr only with ``notes``."""
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "dumb"}
    with tempfile.TemporaryFile() as errors:
        ours, theirs = os.openpty() if terminal else os.pipe()
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs if notes else errors,
        )
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
            while chunk := os.read(ours, 4096):
                shown += chunk
        os.close(ours)
        errors.seek(0)
        if process.wait():
            said = errors.read().decode() or shown.decode()
            raise RuntimeError(f"exit code {process.returncode} of\n{script}\n{said}")
    return tidy(shown.decode())


def tidy(text: str) -> str:
    """Without trailing blanks, and with … for the seconds that something took."""
    text = re.sub(r"[ \r]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(seconds +)\S+", r"\1…", text, flags=re.MULTILINE)
    return re.sub(r"^Took .*\n", "", text, flags=re.MULTILINE)

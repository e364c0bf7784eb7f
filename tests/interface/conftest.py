"""A dozen short documents, models trained on them, and two ways to run a command: in this process and in its own."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from textbayes.categorizer import TextCategorizer
from textbayes.cli.main import cli
from textbayes.store import save_model

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
forked = importlib.import_module("_forked")  # a command of its own process without the seconds of its start

TEXTS = {
    "grain": [
        "wheat and corn prices rise",
        "corn harvest falls after rain",
        "corn exports to the east",
        "wheat harvest is large",
        "farmers sow wheat and corn",
    ],
    "money": [
        "bank raises rates",
        "the bank cuts its rates",
        "bank loans and rates",
        "central bank holds rates",
        "loans from the bank",
    ],
    "sport": [
        "a goal in the last minute",
        "the match ended without a goal",
        "the striker scored a goal",
        "team wins the match",
        "match tickets for the team",
    ],
}


def _documents(*labels: str) -> list[dict[str, Any]]:
    return [
        {"id": f"{label}-{i}", "text": text, "labels": label} for label in labels for i, text in enumerate(TEXTS[label])
    ]


@pytest.fixture(scope="session")
def documents() -> list[dict[str, Any]]:
    """Fifteen documents of three labels, one each."""
    return _documents(*TEXTS)


@pytest.fixture(scope="session")
def many_labels(documents) -> list[dict[str, Any]]:
    """The same, with lists of labels: none, one or two."""
    return [
        doc | {"labels": [] if i % 5 == 4 else [doc["labels"], *(["news"] if i % 5 == 0 else [])]}
        for i, doc in enumerate(documents)
    ]


@pytest.fixture(scope="session")
def models(tmp_path_factory, documents, many_labels) -> dict[str, Path]:
    """Model files by kind."""
    folder = tmp_path_factory.mktemp("models")
    rows = {"multiclass": documents, "binary": _documents("grain", "money"), "multilabel": many_labels}
    paths = {}
    for kind, given in rows.items():
        model = TextCategorizer().fit([doc["text"] for doc in given], [doc["labels"] for doc in given])
        paths[kind] = folder / f"{kind}.tb"
        save_model(model, paths[kind])
    return paths


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Write documents to a JSON lines file and give its path."""

    def make(rows: Iterable[dict[str, Any]], name: str = "texts.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return make


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run a command in this process; the exit code must be the one given."""

    def call(*arguments: object, code: int = 0, stdin: str | bytes | None = None) -> Result:
        done = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)
        assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
        return done

    return call


@pytest.fixture
def lines(run) -> Callable[..., list[dict[str, Any]]]:
    """Run a command and read its JSON lines."""

    def call(*arguments: object, **options: Any) -> list[dict[str, Any]]:
        return [json.loads(line) for line in run(*arguments, **options).stdout.splitlines()]

    return call


@pytest.fixture
def start() -> Iterable[Callable[..., subprocess.Popen[bytes]]]:
    """Start the command as a process of its own; it is ended with the test."""
    running: list[subprocess.Popen[bytes]] = []

    def call(*arguments: object, program: list[str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        command = [*(program or [sys.executable, "-m", "textbayes.cli.main"]), *map(str, arguments)]
        running.append(subprocess.Popen(command, env={**os.environ, "PYTHONUNBUFFERED": ""}, **pipes))
        return running[-1]

    yield call
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def on_terminal(start) -> Callable[..., tuple[str, str]]:
    """Run a command with one of its streams on a terminal; what that and what the other one showed."""

    def call(*arguments: object, stream: str = "stdout") -> tuple[str, str]:
        if not hasattr(os, "openpty"):
            pytest.skip("needs a pseudo-terminal")
        ours, theirs = os.openpty()
        process = start(*arguments, program=forked.command(), **{stream: theirs})
        os.close(theirs)
        piped: list[bytes] = []
        other = process.stderr if stream == "stdout" else process.stdout
        reader = threading.Thread(target=lambda: piped.append(other.read()))  # a full pipe would stop the command
        reader.start()
        shown = b""
        with contextlib.suppress(OSError):  # Linux reports the end as an error
            while chunk := os.read(ours, 4096):
                shown += chunk
        os.close(ours)
        reader.join()
        assert process.wait() == 0, piped
        return shown.decode(), piped[0].decode()

    return call

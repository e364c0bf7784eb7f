"""``textbayes compile``: after it no command waits for the compiler."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import textbayes
from textbayes.cli.compile_jobs import JOBS
from textbayes.cli.main import cli
from textbayes.kernels import FEATURES, feature_of

SOURCES = Path(textbayes.__file__).parent


def called_kernels() -> set[tuple[str, str]]:
    """Kernels that code outside of ``kernels`` calls, as (file, function)."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        if path.is_relative_to(SOURCES / "kernels"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textbayes.kernels."):
                found |= {(node.module or "", name.name) for name in node.names}
    return found


def test_every_kernel_file_belongs_to_one_feature_that_has_a_job():
    kernels = SOURCES / "kernels"
    modules = [".".join(path.relative_to(kernels).with_suffix("").parts) for path in kernels.rglob("[!_]*.py")]
    owners = {feature_of(module).name for module in modules}
    assert owners == {feature.name for feature in FEATURES}
    assert [feature.name for feature in FEATURES] == list(JOBS)


# In a process of its own, where no other test has used a kernel yet: what the jobs of two features load (or compile, on
# a machine that is new), what commands use beside it, and what no job of all uses.
JOBS_AND_COMMANDS = """
import importlib, json, pathlib, sys
from textbayes.cli.compile_jobs import JOBS, run_job
from textbayes.cli.main import cli

def loaded():
    return {
        (module, name, str(types))
        for module in list(sys.modules) if module.startswith("textbayes.kernels.")
        for name, kernel in vars(sys.modules[module]).items()
        for types in getattr(kernel, "signatures", ())
    }

first = ("reading words", "linear models")
for job in first:
    run_job(job, pathlib.Path("."))
compiled = loaded()
for command in ("train texts.jsonl --folds 2 -o m.tb", "classify m.tb texts.jsonl", "evaluate m.tb texts.jsonl"):
    cli(command.split(), standalone_mode=False)
beside = sorted(loaded() - compiled)
for job in JOBS:
    if job not in first:
        run_job(job, pathlib.Path("."))
kernels = [(module, getattr(importlib.import_module(module), name)) for module, name in json.loads(sys.argv[1])]
unused = [f"{module}.{kernel.__name__}" for module, kernel in kernels if getattr(kernel, "signatures", None) == []]
print(json.dumps({"compiled": len(compiled), "kernels": len(kernels), "beside": beside, "unused": unused}))
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    pairs = [("wheat corn", "grain"), ("corn barley", "grain"), ("bank rates", "money"), ("rates loan", "money")] * 4
    rows = [{"id": str(i), "text": f"{text} again", "labels": [label]} for i, (text, label) in enumerate(pairs)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run(program=["-c", JOBS_AND_COMMANDS, json.dumps(sorted(called_kernels()))], cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_the_jobs_use_every_kernel_that_other_code_calls(jobs):
    assert jobs["kernels"] > 50
    assert jobs["unused"] == []


@pytest.mark.slow
def test_commands_use_nothing_that_the_jobs_of_their_features_do_not_compile(jobs):
    """A kernel compiled for other types is another one: each is looked for with the types of its arguments."""
    assert jobs["compiled"] > 10
    assert jobs["beside"] == []


def run(
    *arguments: str, cwd: Path, cache: Path | None = None, program: Sequence[str] = ("-m", "textbayes.cli.main")
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {})
    return subprocess.run(
        [sys.executable, *program, *arguments],
        capture_output=True, text=True, env=environment, cwd=cwd, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_feature_is_compiled_once_and_the_rows_say_what_it_took(tmp_path):
    """The smallest feature, from nothing; that others say that they compile is tested in tests/unit/test_package.py."""
    told = []
    for _ in range(2):
        done = run("compile", "--json", "--only", "keyness", cache=tmp_path / "cache", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "compiling" not in done.stderr, "the rows say it"
        told += [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["feature"] for row in told] == ["keyness"] * 2
    assert told[0]["compiled"] > 0
    assert told[0]["seconds"] > 0
    assert told[1]["compiled"] == 0


def test_an_unknown_feature_is_refused_with_the_names():
    done = CliRunner().invoke(cli, ["compile", "--only", "everything"])
    assert done.exit_code == 2
    assert "There is no feature 'everything'; choose among: reading words" in done.stderr

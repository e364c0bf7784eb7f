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

import textbayes
from textbayes.cli.compile_jobs import JOBS, run_job
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


@pytest.mark.slow
def test_the_jobs_use_every_kernel_that_other_code_calls(tmp_path):
    for name in JOBS:
        run_job(name, tmp_path)
    for module, name in sorted(called_kernels()):
        kernel = getattr(sys.modules[module], name)
        if hasattr(kernel, "signatures"):
            assert kernel.signatures, f"no job uses {module}.{name}"


ONE_AFTER_THE_OTHER = """
import sys
from textbayes.cli.main import cli
cli("train texts.jsonl -o model.tb".split(), standalone_mode=False)
cli("classify model.tb texts.jsonl".split(), standalone_mode=False)
cli("evaluate model.tb texts.jsonl".split(), standalone_mode=False)
print("now keyness", file=sys.stderr)
cli("keyness texts.jsonl".split(), standalone_mode=False)
"""


def run(
    *arguments: str, cache: Path, cwd: Path, program: Sequence[str] = ("-m", "textbayes.cli.main")
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, *program, *arguments],
        capture_output=True, text=True, env=environment, cwd=cwd, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_commands_compile_nothing_after_it_and_say_what_and_how_long_before(tmp_path):
    cache = tmp_path / "cache"
    texts = tmp_path / "texts.jsonl"
    pairs = [("wheat corn", "grain"), ("corn barley", "grain"), ("bank rates", "money"), ("rates loan", "money")] * 4
    rows = [{"id": str(i), "text": f"{text} again", "labels": [label]} for i, (text, label) in enumerate(pairs)]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run("compile", "--json", "--only", "reading words", "--only", "linear models", cache=cache, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["feature"] for row in told] == ["reading words", "linear models"]
    assert all(row["compiled"] > 0 and row["seconds"] > 0 for row in told)
    assert "compiling" not in done.stderr, "the rows say it"
    done = run(program=["-c", ONE_AFTER_THE_OTHER], cache=cache, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    before, _, keyness = done.stderr.partition("now keyness\n")
    assert "compiling" not in before
    assert "compiling the kernels for keyness on this machine, once, about" in keyness
    assert "textbayes compile" in keyness


def test_an_unknown_feature_is_refused_with_the_names(tmp_path):
    done = run("compile", "--only", "everything", cache=tmp_path, cwd=tmp_path)
    assert done.returncode == 2
    assert "There is no feature 'everything'; choose among: reading words" in done.stderr

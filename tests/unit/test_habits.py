"""Configuration of the checks that run elsewhere: before a commit, and on a forge."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = ".github/workflows/ci.yml"
HOOKS = ".pre-commit-config.yaml"


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step["run"] for step in job["steps"] if "run" in step)


def hook(name: str) -> dict[str, Any]:
    [local] = read(HOOKS)["repos"]
    return next(one for one in local["hooks"] if one["id"] == name)


def test_tests_run_on_every_system_and_python_version_that_is_promised():
    job = read(WORKFLOW)["jobs"]["tests"]
    matrix = job["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert "python -m pytest" in commands(job)
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert lowest == f">={matrix['python'][0]}"


def test_one_job_has_no_extras_and_one_the_lowest_versions():
    jobs = read(WORKFLOW)["jobs"]
    assert commands(jobs["without-extras"]) == "make smoke RESOLUTIONS=highest"
    assert commands(jobs["lowest-versions"]) == "make smoke RESOLUTIONS=lowest-direct"
    assert "$(RESOLUTIONS)" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_step_of_a_job_does_something_and_every_target_of_make_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name, job in read(WORKFLOW)["jobs"].items():
        assert all(("run" in step) != ("uses" in step) for step in job["steps"]), name
        assert set(re.findall(r"^make (\w+)", commands(job), re.MULTILINE)) <= targets, name


@pytest.mark.parametrize("name", [WORKFLOW, HOOKS])
def test_no_package_registry_is_named(name):
    text = (ROOT / name).read_text(encoding="utf-8").lower()
    for host in ("pypi", "pythonhosted", "npmjs", "conda", "index-url", "http://", "https://"):
        assert host not in text


def test_hooks_run_the_checks_of_make_with_the_tools_of_the_lock():
    [local] = read(HOOKS)["repos"]
    assert local["repo"] == "local", "a repository elsewhere would bring versions of its own"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for package, name in {"ruff": "ruff-check", "mypy": "mypy", "import-linter": "lint-imports"}.items():
        assert re.search(rf"^{package}==", lock, re.MULTILINE)
        command = hook(name)["entry"].removesuffix(" --force-exclude").replace(".venv/bin", "$(BIN)")
        assert command in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize(("length", "refused"), [(1, False), (71, False), (72, True), (100, True)])
def test_a_commit_subject_has_fewer_than_72_characters(length, refused):
    subject = hook("commit-subject")
    assert subject["stages"] == ["commit-msg"]
    assert subject["args"] == ["--multiline"]  # then pygrep looks at the whole message at once, as here
    message = "é" * length + "\n\n" + "The body may be as long as it likes. " * 5
    assert bool(re.search(subject["entry"], message, re.MULTILINE | re.DOTALL)) == refused


@pytest.mark.parametrize("page", ["docs/design.md", "docs/internals.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_names_is_there(page):
    """Paths from the root, from the package or from the categorizer; a file by its name alone is anywhere."""
    text = (ROOT / page).read_text(encoding="utf-8")
    package = ROOT / "src/textbayes"
    named = set(re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", text))
    paths = {name for name in named if name.endswith(".py") or ("/" in name and not name.startswith(("http", "/")))}
    places = [ROOT, package, package / "categorizer"]
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "docs", ".ci")]
    files = {file.name for folder in folders for file in folder.rglob("*.py")}
    missing = [name for name in paths if name not in files and not any((place / name).exists() for place in places)]
    assert len(paths) > 10
    assert missing == []

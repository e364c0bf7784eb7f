"""Settings for all tests."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # pytest imports by path: so that tests find ``references``

# Answers must not depend on whether the extra is installed, and nothing is looked for on the network.
os.environ |= {"TEXTBAYES_EMBEDDINGS": "off", "TEXTBAYES_ENCODER": "off", "HF_HUB_OFFLINE": "1"}
# Tests run on all cores already: threads of linear algebra would only wait for each other.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# A shell has what it starts in the background ignore Ctrl-C, and commands started by tests would never be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: the first example pays for compilation or a busy machine. The same examples in every run: a red run can
# be repeated; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("textbayes", deadline=None, derandomize=True)
settings.load_profile("textbayes")


def pytest_configure(config: pytest.Config) -> None:
    """Tests of a paper's equations say which: docs/papers/index.md lists them by it (docs/_equations.py)."""
    config.addinivalue_line("markers", "equation(paper, *numbers): equations of docs/papers/equations.toml held here")
    config.addinivalue_line("markers", "slow: takes more than three seconds of CPU")
    config.addinivalue_line("markers", "browser: looks at pages in Chromium")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests wait for processes, servers and pages a fifth of their time."""
    return (os.cpu_count() or 1) + 1


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels on all cores before workers begin, each of which would compile them for itself."""
    if hasattr(session.config, "workerinput") or not getattr(session.config.option, "numprocesses", None):
        return
    from textbayes.kernels import FEATURES
    from textbayes.kernels._cache import compiled_folder

    done = compiled_folder() / "all-features"
    shares: list[list[str]] = [[] for _ in range(min(os.cpu_count() or 1, len(FEATURES)))]
    for number, feature in enumerate(sorted(FEATURES, key=lambda feature: -feature.seconds)):
        shares[number % len(shares)] += ["--only", feature.name]
    commands = [[sys.executable, "-m", "textbayes.cli.main", "compile", "--json", *share] for share in shares]
    running = [] if done.exists() else [subprocess.Popen(one, stdout=subprocess.DEVNULL) for one in commands]
    failed = [process.args for process in running if process.wait()]
    if not failed:
        done.touch()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for a browser is marked by that."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


def pytest_runtest_teardown() -> None:
    """Commands that ran in this process with --quiet leave no later test without the warnings it looks for."""
    logging.getLogger("textbayes").setLevel(logging.NOTSET)


@pytest.fixture
def sentence_model(tmp_path, monkeypatch) -> Callable[..., Path]:
    """Make a folder that passes for a sentence model, with a function of texts for its encoder: "auto" takes it."""
    from references.sentences import by_first_letter, write_model

    def make(encode: Any = by_first_letter, name: str = "tiny") -> Path:
        folder = write_model(tmp_path / "sentence models" / name)
        monkeypatch.setenv("TEXTBAYES_EMBEDDINGS", str(folder))
        monkeypatch.setattr("textbayes.text.sentences.is_installed", lambda: True)
        monkeypatch.setattr("textbayes.text.sentences.load_encoder", lambda folder: encode)
        monkeypatch.setattr("textbayes.text.sentences._encoders", {})
        return folder

    return make

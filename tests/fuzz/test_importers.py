"""A small part of the mutations that `python tests/fuzz/importers.py` makes, the same in every run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="extra 'parquet' is not installed")
pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")

sys.path.insert(0, str(Path(__file__).parent))

import importers

from textbayes.data import FORMATS


@pytest.mark.parametrize("name", importers.READERS)
def test_mutated_files_are_read_or_refused(name):
    found = importers.run(name, n=60, seed=13)
    assert found.n_run == 60
    assert not found.findings, "\n".join(map(str, found.findings))


def test_every_format_is_fuzzed():
    assert set(FORMATS.names()) <= set(importers.READERS)

"""A small part of the mutations that `python tests/fuzz/prior_tables.py` makes, the same in every run."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import prior_tables


def test_mutated_tables_are_refused_or_make_models_that_load():
    found = prior_tables.run(n=60, seed=13)
    assert found.n_run == 60
    assert not found.findings, "\n".join(map(str, found.findings))
    assert found.outcomes["trained"] > 12

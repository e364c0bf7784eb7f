"""What we typed in of Madahian & Faghihi (2014) is what the paper prints."""

from __future__ import annotations

import re

import numpy as np
import pytest

from textbayes.reproduce.gibbs import sampling, systems
from textbayes.reproduce.results import Misprint, published_figures

_NAME = "002_7aa07b9f03c32393.txt"
PUBLISHED = published_figures("gibbs")


@pytest.fixture(scope="module")
def text(seed_text) -> str:
    return seed_text(_NAME)


def printed_rows(text: str, number: int) -> list[tuple[str, list[str]]]:
    """Name and cells of the rows of a table: lines with a measure and ten numbers."""
    rows = []
    for line in text.split(f"\nTable {number}. ")[1].splitlines()[1:]:
        if line.startswith("Table"):
            break
        found = re.search(r"(Sensitivity|Specificity)\W+([\d. ]+)$", line)
        if found:
            rows.append((found[1].lower(), found[2].split()))
    return rows


@pytest.mark.parametrize("number", [1, 2])
def test_both_tables_are_typed_in_as_printed(text, number):
    rows = printed_rows(text, number)
    assert [name for name, _ in rows] == ["sensitivity", "specificity"] * 2
    for (_, cells), typed in zip(rows, PUBLISHED[f"table {number}"], strict=True):
        for cell, value in zip(cells, typed, strict=True):
            assert cell == getattr(value, "printed", None) or float(cell) == value
    lost = [v for row in PUBLISHED[f"table {number}"] for v in row if isinstance(v, Misprint)]
    assert [(value.printed, float(value)) for value in lost] == ([("091", 0.91)] if number == 2 else [])


def test_the_settings_are_those_of_the_text(text):
    flat = " ".join(text.split())
    for fragment in (
        "60 documents for each domain",
        "300 training samples and 300 test samples",
        "30 documents out of 60",
        "50 re-samplings",
        "60 k iterations and the first 20 k",
        "The top 800 words",
        "Using top 80 words",
        "set y=0.2 sothat var(n) =100",  # λ and η, as the scan has them
    ):
        assert fragment in flat
    assert systems.N_OF_DOMAIN * len(systems.DOMAINS) == 600
    assert len(systems.DOMAINS) == len(PUBLISHED["domains"]) == len(set(systems.DOMAINS)) == 10
    assert (systems.N_WORDS, sampling.N_TOP, systems.N_RESAMPLINGS) == (800, 80, 50)
    assert (sampling.ITERATIONS, sampling.BURN_IN) == (60_000, 20_000)
    variance = (2.0 / sampling.LAMBDA) ** 2  # of an exponential of rate λ/2
    assert variance == pytest.approx(100.0)


def test_the_text_and_table_2_disagree_on_physics():
    # "In Art and physics domains the specificity of SVM is better": by the table it is art and computer science.
    _, spbm, _, svm = (np.array(row) for row in PUBLISHED["table 2"])
    better = [name for name, gain in zip(PUBLISHED["domains"], svm - spbm, strict=True) if gain > 0]
    assert better == ["CS", "Art"]

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbayes.core.spreadsheet import escape_formula, unescape_formula
from textbayes.knowledge import WordPrior, WordPriors

FORMULAS = ['=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "--"]
PLAIN = ["-3.5", "+49", "-1,234.5", "1e-5", "-1e-5", "-12%", "-", "=", "a=b", "'x", ""]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_become_text(text):
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_ordinary_text_stay_as_they_are(text):
    assert escape_formula(text) == text
    assert unescape_formula(text) == text


@given(st.text(alphabet="=+-@a1 \t", max_size=6))
def test_what_was_escaped_comes_back(text):
    assert unescape_formula(escape_formula(text)) == text


def test_a_prior_file_holds_no_formula_and_reads_back_the_same(tmp_path):
    table = WordPriors([WordPrior("corn", "=cmd()", mean=-1.5, sign=-1), WordPrior("wheat", "@x", mean=2.0)])
    path = tmp_path / "priors.csv"
    path.write_text(table.to_csv(), encoding="utf-8")
    assert "corn,'=cmd(),-1.5," in table.to_csv()
    assert list(WordPriors.read(path)) == list(table)

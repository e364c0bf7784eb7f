"""Lines that fit a terminal."""

from __future__ import annotations

import pytest

from textbayes.display import cell_width, padded, shortened, wrapped

TEXT = "The members agree, and disagree about 貨幣市場 now and then"


@pytest.mark.parametrize("width", range(12, 60, 7))
def test_lines_are_broken_between_words_and_fit(width):
    lines = wrapped(TEXT, width, "  ").split("\n")
    assert max(map(cell_width, lines)) <= width
    assert " ".join(line.strip() for line in lines) == TEXT
    assert all(line.startswith("  ") for line in lines[1:])


def test_a_word_longer_than_a_line_stays_whole():
    path = "/a/very/long/path/of/a/file"
    assert path in wrapped(f"see {path} for more", 12, "  ").split("\n")[1].strip()


def test_text_without_spaces_is_broken_by_the_width_of_its_characters():
    lines = wrapped("記" * 30, 20).split("\n")
    assert [cell_width(line) for line in lines] == [20, 20, 20]


def test_what_fits_is_left_alone_and_paragraphs_stay_apart():
    assert wrapped("a   b\n  c", 20, "    ") == "a   b\n  c"


def test_a_lead_and_spaces_that_hold_together():
    assert wrapped("one\u00a01 two\u00a02", 10, "    ", "a:  ") == "a:  one\u00a01\n    two\u00a02"


@pytest.mark.parametrize("width", [8, 14, 20, 33])
def test_beginnings_are_of_at_most_the_width_and_end_with_dots(width):
    short = shortened(TEXT, width)
    assert cell_width(short) <= width
    assert short.endswith("…")
    assert TEXT.startswith(short.removesuffix("…"))
    assert cell_width(padded(TEXT, width)) == width


def test_a_beginning_is_on_one_line():
    assert shortened("  a\n\tb  ", 20) == "a b"
    assert shortened("x " * 1_000_000, 5) == "x x…"

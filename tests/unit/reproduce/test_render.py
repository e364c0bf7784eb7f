from __future__ import annotations

import importlib.util
import os
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from rich.console import Console

from textbayes.core.errors import InputError, MissingExtraError
from textbayes.reproduce import Experiment, Figure, Table
from textbayes.reproduce.render import SERIES, Pages, print_result, sketch, table_markdown, to_html, to_markdown

SHORT = Experiment("short", "Priors <&> posteriors", "A & B (1999)", {"table 1": ()}, dict)
TABLE = Table(
    number="1",
    caption="F1 <by> topic",
    rows=("earn", "a|b"),
    columns=("Naive & simple", "Ours"),
    published=((96.6, 97.1), (91.7, None)),
    ours=((None, 95.0), (91.9, 88.0)),
    digits=1,
    notes=("p < 0.05",),
)
FIGURE = Figure(
    "2", "A curve", "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'></svg>", ("a note",), "rising"
)


class Cells(HTMLParser):
    """The text of every table cell, row by row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.inside = tag in ("td", "th", "span")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside and self.rows:
            self.rows[-1][-1] += data


def test_markdown_sets_published_and_ours_side_by_side():
    lines = table_markdown(TABLE).splitlines()
    assert lines[0] == "## Table 1"
    assert lines[4] == "|  | Naive & simple | Ours |"
    assert lines[5] == "|---|---:|---:|"
    assert lines[6] == "| earn | 96.6 / – | **97.1 / 95.0 (−2.1)** |"
    assert lines[7] == "| a\\|b | 91.7 / 91.9 (+0.2) | – / 88.0 |"
    assert lines[-1] == "- p < 0.05"


def test_a_table_beyond_the_paper_shows_ours_alone():
    alone = TABLE._replace(published=((None, None), (None, None)))
    assert "| earn | – | 95.0 |" in table_markdown(alone)
    assert Cells(to_html(SHORT, [alone], "c")).rows[1:] == [["earn", "–", "95.0"], ["a|b", "91.9", "88.0"]]


def test_html_holds_every_figure_and_escapes_all_text():
    html = to_html(SHORT, [TABLE, FIGURE], "textbayes reproduce short --only 'table 1'")
    rows = Cells(html).rows
    assert rows[0] == ["", "Naive & simple", "Ours"]
    assert rows[2] == ["earn", "96.6", "–", "", "97.1", "95.0", "−2.1 (beyond the margin)"]
    assert rows[3] == ["a|b", "91.7", "91.9", "+0.2", "–", "88.0", ""]
    assert "Priors &lt;&amp;&gt; posteriors" in html
    assert "F1 &lt;by&gt; topic" in html
    assert "p &lt; 0.05" in html
    assert '<img src="data:image/svg+xml;base64,' in html
    assert 'alt="rising"' in html
    assert "http" not in html, "the page needs nothing from elsewhere"
    assert "<script" not in html


def test_pages_are_written_anew_after_every_result(tmp_path):
    pages = Pages(tmp_path / "a" / "b", SHORT, "the command")
    assert os.listdir(tmp_path / "a" / "b") == []
    pages.add(TABLE)
    first = (tmp_path / "a" / "b" / "short.partial.md").read_text(encoding="utf-8")
    assert "`the command`" in first
    assert "Figure 2" not in first
    pages.add(FIGURE)
    assert "![rising](short.partial-figure-2.svg)" in (tmp_path / "a" / "b" / "short.partial.md").read_text("utf-8")
    assert (tmp_path / "a" / "b" / "short.partial-figure-2.svg").exists()
    assert not pages.markdown.exists()
    pages.finish()
    assert pages.markdown.read_text(encoding="utf-8") == to_markdown(SHORT, [TABLE, FIGURE], "the command")
    assert "![rising](short-figure-2.svg)" in pages.markdown.read_text(encoding="utf-8")
    assert pages.html.read_text(encoding="utf-8").count("<section>") == 2
    assert sorted(os.listdir(tmp_path / "a" / "b")) == ["short-figure-2.svg", "short.html", "short.md"]


def test_a_page_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    pages = Pages(tmp_path, SHORT, "c")
    pages.add(TABLE)
    pages.finish()
    before = pages.html.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        pages.finish()
    assert pages.html.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["short.html", "short.md"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be made .* --output"):
        Pages(tmp_path / "file" / "sub", SHORT, "c")


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_refused_before_any_work(tmp_path, monkeypatch, package):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else real(name, *rest))
    with pytest.raises(MissingExtraError, match=f"needs {package}, which is not installed"):
        Pages(tmp_path, SHORT, "c")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_a_terminal_of_any_width_shows_every_figure(width):
    screen = Console(width=width, record=True, file=open(os.devnull, "w"), markup=False)  # noqa: SIM115
    wide = TABLE._replace(
        columns=tuple(f"column {j}" for j in range(6)),
        published=tuple(tuple(10.0 * i + j for j in range(6)) for i in range(2)),
        ours=tuple(tuple(10.0 * i + j + 2.5 for j in range(6)) for i in range(2)),
    )
    print_result(wide, screen)
    screen.file.close()
    shown = screen.export_text().split()
    for i in range(2):
        for j in range(6):
            assert {f"{10.0 * i + j:.1f}", f"{10.0 * i + j + 2.5:.1f}"} <= set(shown)
    if width >= 60:
        assert shown.count("+2.5") == 12


def test_a_drawing_stands_alone_and_is_the_same_every_time():
    def draw() -> str:
        with sketch(2.0, 1.0) as drawn:
            drawn.axes.plot([0, 1], [1, 0], color=SERIES[0])
        return drawn.svg

    root = ET.fromstring(draw())
    assert root.tag.endswith("svg")
    assert draw() == draw()

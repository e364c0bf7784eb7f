from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import textbayes.report
from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.evaluate.intervals import figure_in_words
from textbayes.report import check_report_extra, collect_report, render_report, write_report
from textbayes.report.records import Fragment
from textbayes.report.render import axis_start, beginning, odds, percent, signed

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Reads a page strictly: every element closed in order, ids once, attributes and texts by element."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.texts.append((self.open[-1], data))


@pytest.fixture
def html(case) -> str:
    return render_report(collect_report(case.model, case.texts, case.labels, title="A title", notes=["A note"]))


def test_the_page_is_well_formed(html):
    assert html.startswith("<!DOCTYPE html>\n<html lang=")
    page = Page(html)
    assert page.tags.count("h1") == page.tags.count("main") == page.tags.count("title") == 1
    assert len(page.ids) == len(set(page.ids))
    local = [value[1:] for _, name, value in page.attributes if name.endswith("href")]
    assert set(local) <= set(page.ids)


def test_the_page_reads_well_aloud(html):
    page = Page(html)
    assert page.tags.count("table") == page.tags.count("caption") + 1, "every table but the settings has a caption"
    assert page.tags.count("figure") == page.tags.count("figcaption")
    described = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert len(described) == page.tags.count("svg") > 0
    assert all(described)
    assert "th" in page.tags
    assert ("html", "lang", "en") in page.attributes


def test_the_page_needs_no_network_and_no_script(html):
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", html)
    page = Page(html)
    assert not {"script", "link", "iframe", "img", "object"}.intersection(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "src"]


def test_the_page_follows_theme_paper_and_phone(html):
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert 'name="viewport"' in html
    assert not re.search(r"(fill|stroke): #0[1-5]0", html), "colours of a plot that the theme does not reach"


def test_what_the_report_says(case, html):
    words = [text for _, text in Page(html).texts]
    assert {"A title", "A note"} <= set(words)
    for label in case.model.label_space_.column_names:
        assert label in words
    assert "corn" in words


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_the_page_begins_with_the_figure_and_its_interval(kind, cases):
    data = collect_report(*cases[kind])
    top = " ".join(re.sub(r"<[^>]+>", " ", render_report(data).partition("<main>")[2].partition("<nav")[0]).split())
    if kind == "multilabel":
        value, interval = figure_in_words(data.measures, "micro_f1")
        assert top.startswith(f"Micro F1 {value} {interval}")
        assert data.measures["micro_f1"] == pytest.approx(float(value), abs=0.005)
    else:
        low, high = (percent(end, 0) for end in data.measures["accuracy_interval"])  # texts are few
        assert top.startswith(f"Accuracy {percent(data.right.share, 0)} 95% interval {low} to {high}")
        most = max(data.labels, key=lambda row: row.n_texts)
        assert f"Baseline {percent(most.n_texts / len(cases[kind].texts))}" in top
    assert "One text, explained" in top
    for row in data.labels:
        assert f"{row.label} {row.f1.share:.3f}" in top
    starts = axis_start(data.labels)
    assert 0.0 <= starts <= min(0.9, *(row.f1.low for row in data.labels))


def test_the_text_at_the_top_is_cut_between_words():
    words = [Fragment("corn " * 60), Fragment("wheat", 1.0, 3), Fragment(" and " * 60)]
    kept = beginning(words)
    assert kept[:2] == words[:2]
    text = "".join(piece.text for piece in kept)
    assert 300 < len(text) <= 380
    assert text.endswith("and")
    assert beginning(words[:2]) == words[:2]


def test_hostile_texts_and_labels_are_shown_not_obeyed(hostile):
    model, texts, labels = hostile
    bad = "<script>alert('x')</script>"
    html = render_report(
        collect_report(
            model,
            texts,
            labels,
            title=bad,
            corpus=bad,
            split=bad,
            notes=[bad],
            ids=[f'{bad}"{i}' for i in range(4)],
            settings=[(bad, bad)],
            timings={bad: 1.0},
        )
    )
    page = Page(html)
    assert not {"script", "b"}.intersection(page.tags)
    assert bad in "".join(text for _, text in page.texts)
    assert "<script" not in html


def test_what_cannot_be_seen_is_named():
    """An override turns round the text after it, and a control character may hide in a label."""
    override, escape, mark = "\u202e", "\x1b", "\u200f"
    texts = [f"wheat corn {override}txt", "bank rates", f"corn {escape}[31m", "the bank rates"] * 4
    labels = [f"gr{mark}ain", "money"] * 8
    model = TextCategorizer(cv=2).fit(texts, labels)
    ids = [f"{override}{i}" for i in range(3)]
    html = render_report(collect_report(model, texts[:3], ["money", *labels[1:3]], ids=ids, title=f"A{override}"))
    assert not set(html) & {override, escape, mark}
    for shown in (r"corn \u202etxt", r"gr\u200fain", r"\u202e0", r"A\u202e"):
        assert shown in html


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(cases, hostile, monkeypatch):
    data = collect_report(*hostile)
    frame = Page(data._repr_html_())
    assert frame.tags == ["iframe"]
    attributes = {name: value for _, name, value in frame.attributes}
    assert attributes["sandbox"] == ""
    assert attributes["srcdoc"] == render_report(data)
    assert "<script" not in data._repr_html_()
    assert (
        repr(collect_report(*cases["binary"], title="News"))
        == "<report 'News': 8 texts, 87.5% with all labels correct>"
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    assert data._repr_html_() is None, "without the extra the short form is shown"


def test_lone_surrogates_can_be_written(cases, tmp_path):
    model, texts, labels = cases["binary"]
    data = collect_report(model, [text + " \udce9" for text in texts], labels)
    write_report(tmp_path / "r.html", data)
    Page((tmp_path / "r.html").read_text(encoding="utf-8"))


def test_the_same_data_give_the_same_page(cases):
    data = collect_report(*cases["multiclass"])
    assert render_report(data) == render_report(data)


def test_a_failed_report_leaves_what_was_there(cases, tmp_path, monkeypatch):
    data = collect_report(*cases["binary"])
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="was not written: No space left on device"):
        write_report(path, data)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_an_unknown_folder_is_refused(cases, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_report(tmp_path / "no" / "report.html", collect_report(*cases["binary"]))


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_named(monkeypatch, package):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else real(name, *rest))
    with pytest.raises(MissingExtraError, match=rf"the HTML report needs {package}.*pip install 'textbayes\[demo\]'"):
        check_report_extra()


@pytest.mark.slow
def test_importing_is_cheap_and_collecting_needs_no_plots():
    code = (
        "import sys, textbayes.report; from textbayes.report import collect_report, print_report, write_report;"
        "print(*{'jinja2', 'matplotlib'}.intersection(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_public_names_are_there():
    assert set(dir(textbayes.report)) == set(textbayes.report.__all__)
    for name in textbayes.report.__all__:
        assert getattr(textbayes.report, name) is not None
    with pytest.raises(AttributeError):
        textbayes.report.nothing  # noqa: B018


def test_template_and_style_are_beside_the_code():
    folder = Path(textbayes.report.__file__).parent
    assert {"report.html.jinja", "report.css"} <= set(os.listdir(folder))


def test_numbers_in_words():
    assert [percent(value) for value in (0.0, 1.0, 0.5, 0.99999, 1e-9)] == [
        "0.0%",
        "100.0%",
        "50.0%",
        "> 99.9%",
        "< 0.1%",
    ]
    assert signed(-1.0, 1) == "−1.0"
    assert [odds(value) for value in (0.0, 3.0, -800.0)] == ["1.0 to 1", "20 to 1", "1 to over a million"]

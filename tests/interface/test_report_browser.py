"""Reports in Chromium: nothing clipped, nothing wider than the screen, light and dark readable, sorted without script.

Looks for Chromium where systems have it; skips where it or Playwright, which drives it, is missing.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textbayes.categorizer import TextCategorizer
from textbayes.report import collect_report, write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python (extra dev)")
pytest.importorskip("jinja2", reason="needs the extra demo")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
CHECKS = Path(__file__).with_name("page_checks.js").read_text(encoding="utf-8")
SCREENS = {"large": {"width": 1280, "height": 800}, "small": {"width": 390, "height": 844}}
KINDS = ["binary", "5 classes", "65 classes", "many labels"]
LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen"


def _texts(n_labels: int, n_texts: int) -> tuple[list[str], list[int]]:
    """Texts of two words of their topic, one of the next and some of all; every sixth belongs to the next topic."""
    rng = np.random.default_rng(0)
    texts, topics = [], []
    for i in range(n_texts):
        topic, after = i % n_labels, (i + 1) % n_labels
        own, others = [[_word(one, k) for k in range(4)] for one in (topic, after)]
        common = ["common", "usual", "ordinary", LONG.lower()]
        words = [*rng.choice(own, 2), rng.choice(others), *rng.choice(common, 4)]
        texts.append(" ".join(words))
        topics.append(after if rng.random() < 1 / 6 else topic)
    return texts, topics


def _word(topic: int, number: int) -> str:
    """A word without digits, which are no part of words by default."""
    return "word" + f"{topic}x{number}".translate(str.maketrans("0123456789", "abcdefghij"))


def _name(topic: int) -> str:
    """Labels of all shapes: short, long, without a place to break, from right to left, with mark-up."""
    shapes = ["label", "a rather long label of several words", LONG, "تسمية", "<b>&amp;</b>"]
    return f"{shapes[topic % len(shapes)]} {topic}"


def _report(kind: str, path: Path) -> Path:
    n_labels = {"binary": 2, "5 classes": 5, "65 classes": 65, "many labels": 8}[kind]
    texts, topics = _texts(n_labels, max(240, 8 * n_labels))
    labels: list[Any] = [_name(topic) for topic in topics]
    if kind == "many labels":
        labels = [[name] if i % 3 else [name, _name((topics[i] + 3) % n_labels)] for i, name in enumerate(labels)]
    half = len(texts) // 2
    model = TextCategorizer(cv=2, budget="quick").fit(texts[:half], labels[:half])
    data = collect_report(
        model, texts[half:], labels[half:], title=f"A report on {kind}: {LONG}", source=f"{LONG}/{LONG}.csv",
        model_name="model.tb", ids=[f"folder/{LONG}/{i}.txt" for i in range(half)], notes=["A note."],
    )  # fmt: skip
    write_report(path, data)
    assert data.n_wrong > 10, "the list of errors is to be seen as well"
    return path


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> Callable[[str], Path]:
    """The report of a kind of labels, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("reports")
    return functools.cache(lambda kind: _report(kind, folder / f"{kind.replace(' ', '-')}.html"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def opened(browser) -> Iterator[Any]:
    """Open a page; what it says on the console is an error."""
    pages, said = [], []

    def call(path: Path, screen: str = "large", **options: Any) -> Any:
        page = browser.new_page(viewport=SCREENS[screen], **options)
        pages.append(page)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(path.as_uri())
        return page

    yield call
    for page in pages:
        page.close()
    assert said == []


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_clipped_or_faint(kind, screen, reports, opened):
    page = opened(reports(kind), screen)
    page.eval_on_selector_all("details", "all => all.forEach((one) => (one.open = true))")
    backgrounds = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CHECKS) == [], scheme
        backgrounds.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert len(backgrounds) == 2


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        ("document.querySelector('h1').style.whiteSpace = 'nowrap'", "wide in 390"),
        ("Object.assign(document.querySelector('.lists').style, {overflow: 'hidden', width: '6rem'})", "is clipped"),
        ("document.body.style.color = '#999'", "has a contrast of 2."),
        ("document.querySelector('.confusion').style.width = '20rem'; document.querySelectorAll('.confusion td')"
         ".forEach((one) => (one.textContent = '123,456,789'))", "runs out of its <TD>"),
        ("document.body.append(document.createElement('script'))", "there is a script"),
        ("document.querySelector('figure svg').style.width = '5rem'", "pixels high"),
    ],
)  # fmt: skip
def test_the_check_finds_what_it_looks_for(harm, found, reports, opened):
    page = opened(reports("5 classes"), "small")
    page.evaluate(f"() => {{ {harm} }}")
    assert any(found in problem for problem in page.evaluate(CHECKS))


@pytest.mark.parametrize("screen", SCREENS)
def test_labels_are_sorted_by_the_button_chosen(screen, reports, opened):
    page = opened(reports("65 classes"), screen, java_script_enabled=False)  # the page needs none
    rows = page.locator(".sortable tbody tr")
    assert rows.count() == 65

    def column(name: str) -> list[float]:
        """The numbers of a column from top to bottom, as they are seen."""
        place = "cells => cells.map((one) => [one.getBoundingClientRect().top, one.innerText.split(/\\s/)[0]])"
        found = page.locator(f".sortable tbody td[data-name='{name}']").evaluate_all(place)
        return [float(text) for _, text in sorted(found) if text != "–"]

    page.locator("label[for=sort-f1]").click()
    assert column("F1") == sorted(column("F1"))
    assert len(set(column("F1"))) > 5
    page.locator("label[for=sort-reverse]").click()
    assert column("F1") == sorted(column("F1"), reverse=True)
    page.locator("label[for=sort-reverse]").click()
    page.locator("#sort-f1").press("ArrowLeft")  # by keyboard, to the button before
    assert column("Recall") == sorted(column("Recall"))


def test_on_paper_everything_is_there(reports, opened, tmp_path):
    page = opened(reports("65 classes"))
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 with margins
    assert page.evaluate(CHECKS) == []
    body = "getComputedStyle(document.body)"
    colours = page.evaluate(f"() => [{body}.color, {body}.backgroundColor]")
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert not page.locator("nav").is_visible()
    assert page.locator(".taken li").first.is_visible(), "what is folded on the screen is printed"
    assert page.pdf(format="A4").startswith(b"%PDF")

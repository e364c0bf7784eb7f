"""The review room in Chromium: from a file to an export, by keyboard alone, on large and small screens, light and dark.

Looks for Chromium where systems have it; skips where it, Playwright, which drives it, or axe-core is missing.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python (extra dev)")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
pytest.importorskip("fastapi", reason="needs the extra app")

import uvicorn  # noqa: E402

from textbayes.app import (  # noqa: E402
    AppSettings,
    create_app,
    judging,
)
from textbayes.app.accounts import create_user, local_user  # noqa: E402
from textbayes.app.assignments import ReviewerQueue  # noqa: E402
from textbayes.app.projects import NewProject, create_project  # noqa: E402
from textbayes.app.run import open_browser  # noqa: E402
from textbayes.categorizer import TextCategorizer  # noqa: E402
from textbayes.core.types import Document  # noqa: E402
from textbayes.screen import ScreenSettings  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
SCREENS = {"large": {"width": 1280, "height": 800}, "small": {"width": 390, "height": 844}}
CHECKS = Path(__file__).with_name("page_checks.js").read_text(encoding="utf-8")
OTHER_TITLE = """(old) => {
  const title = document.querySelector("article:not([hidden]) .title");
  return title && title.textContent.trim() !== old;
}"""
PICTURES = os.environ.get("TEXTBAYES_SCREENSHOTS")  # a folder: `make generate` takes the pictures of the guide


@contextlib.contextmanager
def served(database: str, team: bool = False) -> Iterator[tuple[str, Any]]:
    """Serve a room in a thread of the test; the address of it, and the room."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = create_app(AppSettings(database=database, team=team, origin=origin), "the-secret")
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
        assert thread.is_alive()
    try:
        yield origin, app.state.registry
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def quick_training(monkeypatch) -> None:
    """Rooms train with the least effort, where a test is about what follows."""
    monkeypatch.setattr("textbayes.app.models.TextCategorizer", functools.partial(TextCategorizer, budget="quick"))


@pytest.fixture
def refs(tmp_path) -> Path:
    """Eighty references, a quarter of them about tea, one of them twice."""
    path = tmp_path / "refs.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["Heading", "Summary", "Year", "DOI"])
        for i in range(80):
            what = ["brewing", "quality", "prices"][i % 3]
            heading = f"Green tea {what} in adults {i}" if i % 4 == 0 else f"Iron ore {what} in northern mines {i}"
            writer.writerow([heading, f"A study of {what}; what was found, part {i % 7}.", 1990 + i % 30, f"10.1/{i}"])
        writer.writerow(["Another title", "", 2001, "https://doi.org/10.1/3"])
    return path


# No other files are asked for: of all rules only those about sound and film need them.
SERIOUS = """(only) => axe.run({ resultTypes: ["violations"], preload: false, ...only }).then((found) =>
  found.violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html}`)))"""
_OF_COLOURS = ["color-contrast", "link-in-text-block"]  # all of them but that of level AAA, which is off by default
COLOURS = {"runOnly": {"type": "rule", "values": _OF_COLOURS}}


def faults(page: Any, colours_alone: bool = False) -> list[str]:
    """What axe-core finds serious, and what is clipped, faint or too wide.

    ``colours_alone`` is for a page that was looked at in other colours: axe-core has rules that ask about nothing else.
    """
    if page.evaluate("() => !window.axe"):
        page.evaluate(axe.Axe().axe_script)
    grave = page.evaluate(SERIOUS, COLOURS if colours_alone else {})
    of_reports = ("there is a script", "only ")  # which have none, and are long
    return grave + [one for one in page.evaluate(CHECKS) if not one.startswith(of_reports)]


def focus(page: Any, selector: str) -> None:
    """Go to an element by the Tab key alone."""
    for _ in range(120):
        if page.evaluate("(wanted) => document.activeElement?.matches(wanted)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by the Tab key")


def picture(page: Any, name: str, screen: str, scheme: str) -> None:
    if PICTURES is not None and (screen, scheme) == ("large", "light"):
        page.screenshot(path=Path(PICTURES) / f"room-{name}.png")


@pytest.mark.parametrize(("screen", "scheme"), [("large", "light"), ("small", "dark")])
def test_from_a_file_to_an_export_by_keyboard(screen, scheme, browser, refs, tmp_path):
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, _):
        page = browser.new_page(viewport=SCREENS[screen], color_scheme=scheme, accept_downloads=True)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        # Heard from the start: where hearing begins with the wait, a key can reach Chromium first, which then has no
        # chooser to show.
        page.on("filechooser", lambda chooser: None)
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        assert faults(page) == []

        # A file whose fields have names of its own.
        focus(page, "input[type=file]")
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Space")
        chooser.value.set_files(refs)
        focus(page, "form.records button")
        page.keyboard.press("Enter")
        page.wait_for_url("**/uploads/*")
        focus(page, "select[name=title_field]")
        page.keyboard.type("Heading")
        focus(page, "select[name=text_field]")
        page.keyboard.type("Summary")
        focus(page, "button[value=look]")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert "80 records, read as csv; 1 duplicate merged." in page.text_content("main")
        assert faults(page) == []
        picture(page, "preview", screen, scheme)
        focus(page, "input[name=name]")
        page.keyboard.press("Control+A")
        page.keyboard.type("Tea")
        focus(page, "textarea[name=questions]")
        page.keyboard.type("ore in mines")  # which is wrong: words put it right
        focus(page, "button[value=create]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/judge")  # where a reviewer goes on

        # Words.
        focus(page, "nav.parts a[href*=words]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/words*")
        focus(page, "input[name=word]")
        page.keyboard.type("tea, green")
        focus(page, "form.row button[value=for]")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        focus(page, "input[name=word]")
        page.keyboard.type("ore")
        focus(page, "form.row button[value=against]")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.locator("tbody th").first.text_content().strip() == "tea"
        assert faults(page) == []
        picture(page, "words", screen, scheme)

        # Thirty answers; the buttons stay where they are.
        focus(page, "nav.parts a[href*=judge]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/judge*")
        assert faults(page) == []
        answers = page.locator(".answers button").all()
        assert [button.is_visible() for button in answers] == [True] * 5
        place = page.locator("button.relevant").bounding_box()
        seen = []
        for i in range(30):
            title = page.locator("article:not([hidden]) .title")
            seen.append(title.text_content().strip())
            if i == 12:
                picture(page, "judge", screen, scheme)
            page.keyboard.press("r" if "tea" in seen[-1] else "i")
            page.wait_for_function(OTHER_TITLE, arg=seen[-1])
            assert page.locator("button.relevant").bounding_box() == place
        page.wait_for_function("() => document.getElementById('state')?.textContent.includes('saved')")
        assert len(set(seen)) == 30
        assert sum("tea" in title for title in seen) == 20
        assert page.text_content("#n-read") == "30"

        # The last answer is taken back and given again; a note.
        page.keyboard.press("b")
        page.wait_for_function("() => document.getElementById('n-read')?.textContent === '29'")
        assert page.text_content("article:not([hidden]) .title").strip() == seen[-1]
        page.keyboard.press("n")
        page.keyboard.type("read again")
        focus(page, "article:not([hidden]) form.note button")
        page.keyboard.press("Enter")
        page.keyboard.press("i")
        page.wait_for_function("() => document.getElementById('n-read')?.textContent === '30'")
        page.wait_for_function("() => document.getElementById('state')?.textContent.includes('saved')")

        # The estimate.
        focus(page, "nav.parts a[href*=dashboard]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/dashboard*")
        assert "30 of 80" in page.text_content(".figures")
        assert page.locator("figure svg").count() == 4
        assert faults(page) == []
        picture(page, "dashboard", screen, scheme)

        # Everything leaves as a table.
        focus(page, "nav.parts a[href*=settings]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/settings*")
        assert faults(page) == []
        focus(page, "a[href*='export.csv']")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines()))
        assert len(rows) == 80
        assert sum(row["decision"] == "relevant" for row in rows) == 20
        assert sum(row["decision"] == "irrelevant" for row in rows) == 10
        assert [row["Heading"] for row in rows if row["note"] == "read again"] == [seen[-1]]
        page.close()
        assert said == []


def test_a_conflict_is_settled(browser, tmp_path):
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}", team=True) as (origin, room):
        ann, bob = (create_user(room.store, name, "a long password") for name in ("Ann", "Bob"))
        records = [Document(f"r{i}", f"Tea of the {i}th kind\nIt was green.") for i in range(12)]
        project = create_project(room, ann, NewProject("Tea", ScreenSettings(), double=True, prior="none"), records)
        for user, answer in ((ann.id, "relevant"), (bob.id, "irrelevant")):
            judging.judge(room.review(project), ReviewerQueue(user, "relevant"), "r3", answer)
        page = browser.new_page()
        page.goto(f"{origin}/login")
        page.fill("input[name=name]", "Ann")
        page.fill("input[name=password]", "a long password")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/conflicts")
        page.click("article button[value=relevant]")
        page.wait_for_function("() => document.body.textContent.includes('No conflicts')")
        page.close()


DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name, { type: "text/csv" }));
  document.querySelector("form.table").dispatchEvent(new DragEvent("drop", { dataTransfer: files, cancelable: true }));
}"""


def test_a_dropped_spreadsheet_becomes_a_model_a_report_and_a_classified_spreadsheet(browser, tmp_path):
    """From the home screen to a model in use; what axe-core finds on its pages, the report's among them."""

    def all_faults():
        found = []
        for screen, scheme in (("large", "dark"), ("small", "light")):
            page.set_viewport_size(SCREENS[screen])
            page.emulate_media(color_scheme=scheme)
            found += faults(page)
        return found

    rows = [("grain", "wheat corn harvest"), ("money", "bank rates loans")] * 8
    lines = [f"{label if i < 12 else ''},{text} part {i}\n" for i, (label, text) in enumerate(rows)]
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, _):
        page, said = browser.new_page(accept_downloads=True), []
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        with page.expect_navigation():
            page.evaluate(DROP, ["topics.csv", "what,text\n" + "".join(lines)])
        assert "16 rows, 12 with a label: grain (6), money (6)." in page.text_content("main")
        assert all_faults() == []
        focus(page, "input[name=name]")
        page.keyboard.press("Control+A")
        page.keyboard.type("Topics")
        focus(page, "button[value=train]")
        page.keyboard.press("Enter")
        page.wait_for_selector("textarea[name=text]", timeout=240_000)  # it looks again by itself
        assert all_faults() == []
        focus(page, "a[href$=classified]")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.suggested_filename == "topics-classified.csv"
        found = list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines()))
        assert [row["labels"] for row in found] == [label for label, _ in rows]
        assert [row["in_training"] for row in found] == ["yes"] * 12 + [""] * 4
        page.fill("textarea[name=text]", "corn loans and more corn")
        page.click("text=Classify the text")
        assert page.text_content("main p strong") == "grain"
        assert page.locator("mark.for").first.text_content() == "corn"
        assert all_faults() == []
        page.click("main >> text=Report")
        assert "Topics" in page.title()
        assert all_faults() == []
        page.close()
        assert said == []


def test_the_file_that_the_browser_is_given_leads_into_the_room(browser, tmp_path, monkeypatch):
    """Chromium sends no strict cookie with what a file asks for: the first page of ours asks for the next."""
    monkeypatch.setattr("webbrowser.open", lambda url: None)
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, _):
        file = open_browser(origin, "the-secret", tmp_path)
        page = browser.new_page()
        page.goto(file.as_uri())
        page.wait_for_url(f"{origin}/")
        assert "New project" in page.text_content("main")
        page.close()


def test_a_server_that_comes_back_gets_every_answer(browser, tmp_path):
    """While nothing answers the page stays as it is, says so, and tries again."""
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, room):
        records = [Document(f"r{i}", f"Tea of the {i}th kind\nIt was green.") for i in range(6)]
        project = create_project(
            room, local_user(room.store), NewProject("Tea", ScreenSettings(), prior="none"), records
        )
        page = browser.new_page()
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/judge")
        first = page.text_content("article:not([hidden]) .title")
        page.route("**/judge*", lambda route: route.abort())
        page.keyboard.press("r")
        page.wait_for_function("() => document.getElementById('state')?.textContent.includes('trying again')")
        page.keyboard.press("i")
        assert page.text_content("#n-read") == "2"
        page.unroute("**/judge*")
        page.wait_for_function("() => document.getElementById('state')?.textContent === '· saved'")
        with room.review(project).looking() as assignments:
            answers = [said.values() for said in assignments.opinions["relevant"].values()]
        assert [list(said) for said in answers] == [["relevant"], ["irrelevant"]]
        assert page.text_content("article:not([hidden]) .title") != first
        page.close()

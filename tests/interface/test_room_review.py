"""A whole review in Chromium by keyboard: two who are blind, a conflict, full texts, the diagram, what is exported.

Every page is looked at with axe-core, at both sizes, light and dark.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python (extra dev)")
pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
pytest.importorskip("fastapi", reason="needs the extra app")
pytest.importorskip("pypdf", reason="needs the extra app")
sys.path.insert(0, str(Path(__file__).parent))

from test_room_browser import SCREENS, browser, faults, focus, pytestmark, served  # noqa: F401

from textbayes.app.accounts import create_user, local_user, set_role
from textbayes.app.projects import NewProject, create_project
from textbayes.core.types import Document
from textbayes.screen import ScreenSettings

TITLE = "article:not([hidden]):not([data-id='']) .title"
SAVED = "() => document.getElementById('state')?.textContent === '· saved'"
LOOKS = [("large", "light"), ("small", "dark")]
RECORDS = [
    Document(f"r{i}", f"{'Green tea' if i % 2 else 'Iron ore'} of the {i}th kind\nIt was studied, part {i}.", (),
             {"doi": f"10.1000/{i}"}) for i in range(6)
]  # fmt: skip


def go(page, part):
    """Follow a link of the project's navigation by keyboard."""
    focus(page, f"nav.parts a[href*='/{part}']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{part}*")
    assert faults(page) == [], part


def press(page, selector, key="Enter"):
    """Press a button that leads to another page."""
    focus(page, selector)
    with page.expect_navigation():
        page.keyboard.press(key)


def answer(page, n, key_of):
    """Answer records by keys; the titles."""
    seen = []
    for _ in range(n):
        page.wait_for_selector(TITLE)
        seen.append(page.text_content(TITLE).strip())
        page.keyboard.press(key_of(seen[-1]))
    page.wait_for_function(SAVED)
    return seen


def log_in(browser, origin, name, screen, scheme):  # noqa: F811
    page = browser.new_context(viewport=SCREENS[screen], color_scheme=scheme, accept_downloads=True).new_page()
    page.goto(f"{origin}/login")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{origin}/")
    return page


@pytest.mark.parametrize(("screen", "scheme"), LOOKS)
def test_two_who_are_blind_a_conflict_the_diagram_and_an_export(screen, scheme, browser, tmp_path):  # noqa: F811
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}", team=True) as (origin, room):
        ann, bob = (create_user(room.store, name, "a long password") for name in ("Ann", "Bob"))
        plan = NewProject("Tea", ScreenSettings(), double=True, prior="none")
        project = create_project(room, ann, plan, RECORDS)
        set_role(room.store, ann, room.review(project), bob.name, "reviewer")
        pages = {name: log_in(browser, origin, name, screen, scheme) for name in ("Ann", "Bob")}

        # Ann makes the lists, and answers first.
        page = pages["Ann"]
        page.goto(f"{origin}/projects/{project}/settings")
        focus(page, "textarea[name=reasons]")
        page.keyboard.type("no tea")
        page.keyboard.press("Enter")
        page.keyboard.type("too old")
        focus(page, "textarea[name=tags]")
        page.keyboard.type("to discuss")
        press(page, "form[action$=lists] button")
        go(page, "judge")
        first = answer(page, 5, lambda title: "r" if "tea" in title else "1")
        page.wait_for_selector(TITLE)
        page.keyboard.press("Shift+Digit1")  # a tag of the sixth
        page.wait_for_function(
            "() => document.querySelector('article:not([hidden]) .tags input[type=checkbox]')?.checked"
        )
        page.keyboard.press("u" if "tea" in page.text_content(TITLE) else "1")
        page.wait_for_function("() => document.getElementById('n-read')?.textContent === '6'")
        page.wait_for_function(SAVED)
        assert len(set(first)) == 5

        # Bob sees nothing of it; he takes one for the other, and undoes and repeats an answer.
        page = pages["Bob"]
        page.goto(f"{origin}/projects/{project}/records")
        assert page.locator(".said").count() == 0
        go(page, "prisma")
        assert "Records screened (n = 0)" in page.text_content("main")
        go(page, "judge")
        odd = "Green tea of the 1th kind"
        answer(page, 6, lambda title: "2" if title == odd else ("r" if "tea" in title else "1"))
        assert page.text_content("#n-read") == "6"

        # Ann settles the conflict, with a reason.
        page = pages["Ann"]
        go(page, "conflicts")
        text = " ".join(page.text_content("main").split())
        n_conflicts = int(re.search(r"(\d+) records? (?:has|have) different answers", text)[1])
        assert odd in text
        assert re.search("Ann: (relevant|unsure) Bob: not relevant", text)
        assert page.locator("td[data-name*=κ]").text_content().count(" to ") == 1  # with an interval
        for _ in range(n_conflicts):
            focus(page, "article select[name=reason]")
            page.keyboard.type("too old")
            press(page, "article button[value=irrelevant]")
        assert "No conflicts" in page.text_content("main")

        # The diagram, and what is in the review.
        go(page, "prisma")
        drawn = page.text_content("main")
        assert "Records screened (n = 6)" in drawn
        assert "no tea (n = 3)" in drawn
        assert f"too old (n = {n_conflicts})" in drawn
        assert f"Reports included in the review (n = {3 - n_conflicts})" in drawn
        focus(page, "main a[href*='prisma.svg']")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.path().read_text(encoding="utf-8").startswith("<svg")
        go(page, "settings")
        focus(page, "a[href*='export.ris'][href*='only=included']")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.suggested_filename == "Tea-included.ris"
        saved = download.value.path().read_text(encoding="utf-8")
        assert saved.count("TY  - ") == 3 - n_conflicts
        assert odd not in saved
        for page in pages.values():
            page.context.close()


@pytest.mark.parametrize(("screen", "scheme"), LOOKS)
def test_full_texts_with_their_papers(screen, scheme, browser, tmp_path):  # noqa: F811
    paper = tmp_path / "kettles.pdf"
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, room):
        plan = NewProject("Tea", ScreenSettings(), prior="none")
        project = create_project(room, local_user(room.store), plan, RECORDS)
        page = browser.new_page(viewport=SCREENS[screen], color_scheme=scheme, accept_downloads=True)
        page.on("filechooser", lambda chooser: None)
        page.set_content("<h1>Kettles of the north</h1><p>They boiled for nine minutes.</p>")
        page.pdf(path=paper)
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/full-texts")
        assert "No record is included" in page.text_content("main")
        go(page, "judge")
        answer(page, 6, lambda title: "r" if "tea" in title else "i")

        # The first of three records gets its paper, by keyboard.
        go(page, "full-texts")
        assert "3 records are included on title and abstract; 0 have a PDF, 0 an answer." in page.text_content("main")
        focus(page, "input[type=file]")
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Space")
        chooser.value.set_files(paper)
        press(page, "form.upload button")
        assert "1 have a PDF" in page.text_content("main")
        assert faults(page) == []

        # Its text is there to be read. A full text is not excluded without a reason; a key that is held answers once.
        press(page, "a.button")
        assert faults(page) == []
        page.wait_for_function("() => document.querySelector('article:not([hidden])')")
        assert "They boiled for nine minutes." in page.text_content("article:not([hidden])")
        page.keyboard.press("i")
        page.wait_for_function("() => document.getElementById('state').textContent.includes('choose the reason')")
        assert page.text_content("#n-read") == "0"
        title = page.text_content(TITLE).strip()
        for _ in range(4):
            page.keyboard.down("Digit2")  # the second and later ones repeat, as of a key that is held
        page.keyboard.up("Digit2")
        page.wait_for_function("() => document.getElementById('n-read').textContent === '1'")
        page.wait_for_function(SAVED)
        assert page.text_content(TITLE).strip() != title
        page.keyboard.press("Digit7")  # not available
        page.wait_for_function("() => document.getElementById('n-read').textContent === '2'")
        page.wait_for_selector(TITLE)
        page.keyboard.press("r")
        page.wait_for_function("() => document.getElementById('n-read').textContent === '3'")
        page.wait_for_function(SAVED)
        page.reload()
        assert "No more full texts to screen" in page.text_content("main")
        go(page, "full-texts")
        focus(page, "a[href*='full-text.pdf']")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.path().read_bytes() == paper.read_bytes()
        go(page, "prisma")
        drawn = page.text_content("main")
        for line in (
            "Reports sought for retrieval (n = 3)",
            "Reports not retrieved (n = 1)",
            "Reports excluded (n = 1)",
            "wrong intervention (n = 1)",
            "Reports included in the review (n = 1)",
        ):
            assert line in drawn
        page.close()


@pytest.mark.parametrize(("screen", "scheme"), LOOKS)
def test_decisions_of_another_program_become_answers_or_are_seen_by_nobody(screen, scheme, browser, tmp_path):  # noqa: F811
    file = tmp_path / "earlier.csv"
    rows = [f"Tea of the {i}th kind,It was green.,{'' if i > 7 else i % 2}\n" for i in range(12)]
    file.write_text("title,abstract,included\n" + "".join(rows), encoding="utf-8")
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, _):
        page = browser.new_page(viewport=SCREENS[screen], color_scheme=scheme)
        page.on("filechooser", lambda chooser: None)
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        for take in (True, False):
            page.goto(origin)
            focus(page, "input[type=file]")
            with page.expect_file_chooser() as chooser:
                page.keyboard.press("Space")
            chooser.value.set_files(file)
            press(page, "form.records button")
            assert "included: 4 relevant, 4 not relevant, 0 unsure" in page.text_content("main")
            assert faults(page) == []
            if take:
                focus(page, "input[name=take_answers]")
                page.keyboard.press("Space")
            press(page, "button[value=create]")
            assert page.text_content("#n-read") == ("8" if take else "0")
            assert "included" not in page.text_content("#desk")
            go(page, "records")
            assert page.locator(".said").count() == (8 if take else 0)
        page.close()

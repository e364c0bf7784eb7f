"""What a person says in Chromium reaches the room once, whatever comes between: gateways, reloads, held keys."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python (extra dev)")
pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
pytest.importorskip("fastapi", reason="needs the extra app")
sys.path.insert(0, str(Path(__file__).parent))

from sqlalchemy import select
from test_room_browser import OTHER_TITLE, browser, pytestmark, served  # noqa: F401

from textbayes.app.accounts import local_user
from textbayes.app.database import Event
from textbayes.app.projects import NewProject, create_project
from textbayes.core.types import Document
from textbayes.screen import ScreenSettings

STATE = "(text) => document.getElementById('state').textContent.includes(text)"
SAVED = "() => document.getElementById('state').textContent === '· saved'"
TITLE = "article:not([hidden]) .title"


@pytest.fixture
def judging(browser, tmp_path):  # noqa: F811
    """A page of a project of twelve records, what was stored of it, and what the browser asked a person who left."""
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, room):
        records = [Document(f"r{i}", f"Tea of the {i}th kind\nIt was green.") for i in range(12)]
        project = create_project(
            room, local_user(room.store), NewProject("Tea", ScreenSettings(), prior="none"), records
        )
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/judge")

        def stored(kind="judgement"):
            with room.store.read() as session:
                found = select(Event.body).where(Event.project_id == project).order_by(Event.sequence)
                return [body for body in session.scalars(found) if body["kind"] == kind]

        page.stored = stored
        yield page
        context.close()


def say(page, *keys):
    """Answer by keys; the titles of what was answered."""
    seen = []
    for key in keys:
        seen.append(page.text_content(TITLE).strip())
        page.keyboard.press(key)
        page.wait_for_function(OTHER_TITLE, arg=seen[-1])
    return seen


def answers(page):
    titles = {f"r{i}": f"Tea of the {i}th kind" for i in range(12)}
    return [(titles[body["id"]], body["answer"]) for body in page.stored()]


@pytest.mark.parametrize("status", [500, 503])  # 502 is that of the next test
def test_a_server_that_fails_gets_every_answer_once(judging, status):
    """A gateway's error is not the room's word: what was said is sent again."""
    judging.route("**/judge", lambda route: route.fulfill(status=status, body="<h1>Bad Gateway</h1>"))
    first = judging.text_content(TITLE).strip()
    judging.keyboard.press("r")
    judging.wait_for_function(STATE, arg=f"the server returned error {status}; trying again")
    assert judging.text_content("#n-read") == "1"
    judging.unroute("**/judge")
    judging.wait_for_function(SAVED)
    assert answers(judging) == [(first, "relevant")]


def test_an_answer_whose_reply_was_lost_is_stored_once(judging):
    """The server has kept it, the gateway says 502: the browser sends it again, and it is there once."""
    lost = []

    def lose(route):
        if route.request.method == "POST" and len(lost) < 2:
            lost.append(route.fetch().status)
            route.fulfill(status=502, body="Bad Gateway")
        else:
            route.continue_()

    judging.route("**/judge", lose)
    (first,) = say(judging, "r")
    judging.wait_for_function(SAVED, timeout=60_000)
    assert lost == [200, 200]
    assert answers(judging) == [(first, "relevant")]
    judging.unroute("**/judge")
    judging.route("**/undo", lose)
    lost.clear()
    say(judging, "i")
    judging.keyboard.press("b")
    judging.wait_for_function("() => document.getElementById('n-read').textContent === '1'")
    judging.wait_for_function(SAVED, timeout=60_000)
    assert [said for _, said in answers(judging)] == ["relevant", "irrelevant", "withdrawn"], "taken back once"


def test_answers_outlive_the_page(judging):
    """One who is offline answers, is warned when leaving, and leaves: the next page sends what is left, once."""
    judging.context.set_offline(True)
    first = say(judging, "r")
    judging.wait_for_function(STATE, arg="trying again")
    asked = []

    def leave(dialog):
        asked.append(dialog.type)
        dialog.accept()

    judging.on("dialog", leave)
    address = judging.url
    judging.context.set_offline(False)
    judging.route("**/judge", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    judging.goto("about:blank")
    assert asked == ["beforeunload"]
    assert answers(judging) == []
    judging.goto(address)
    assert judging.text_content(TITLE).strip() != first[0], "what was answered does not come back"
    assert judging.text_content("#n-read") == "1"
    judging.unroute("**/judge")
    judging.wait_for_function(SAVED)
    assert answers(judging) == [(first[0], "relevant")]
    judging.reload()
    assert judging.text_content("#n-read") == "1"
    assert asked == ["beforeunload"], "nothing is left to warn of"


def test_a_page_of_the_project_sends_what_another_left(judging):
    judging.route("**/judge", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    first = say(judging, "i")
    judging.wait_for_function(STATE, arg="trying again")
    judging.on("dialog", lambda dialog: dialog.accept())
    judging.unroute("**/judge")
    with judging.expect_response("**/judge"):
        judging.goto(judging.url.partition("/projects")[0])
    judging.wait_for_function("() => localStorage.length === 0")
    assert answers(judging) == [(first[0], "irrelevant")]


def test_what_the_room_refuses_is_told(judging):
    """Somebody else has the record meanwhile, or it is gone: the answer is not tried for ever."""
    judging.evaluate("""() => { document.querySelector("article:not([hidden])").dataset.id = "nowhere"; }""")
    judging.keyboard.press("r")
    judging.wait_for_function(STATE, arg="not saved: There is no record 'nowhere'")
    assert answers(judging) == []
    assert judging.evaluate("() => localStorage.length") == 0


@pytest.mark.parametrize("leave", ["Escape", "r", "reload", "link"])
def test_notes_save_themselves(judging, leave):
    """However the field is left: by Esc, by an answer, by loading another page."""
    id = judging.get_attribute("article:not([hidden])", "data-id")
    judging.keyboard.press("n")
    judging.keyboard.type("read again")
    judging.on("dialog", lambda dialog: dialog.accept())
    if leave == "reload":
        judging.reload()
    elif leave == "link":
        judging.click("nav.parts a[href*=records]")
    else:
        judging.keyboard.press("Escape")
        if leave == "r":
            judging.keyboard.press("r")
    judging.wait_for_function("() => localStorage.length === 0")
    assert [(body["id"], body["text"]) for body in judging.stored("note")] == [(id, "read again")]


def test_a_note_saves_itself_while_one_goes_on_writing(judging):
    judging.keyboard.press("n")
    judging.keyboard.type("read")
    judging.wait_for_function(SAVED)
    assert [body["text"] for body in judging.stored("note")] == ["read"]
    assert judging.evaluate("() => document.activeElement.tagName") == "TEXTAREA"
    judging.keyboard.type(" again")
    judging.keyboard.press("Escape")
    judging.wait_for_function("() => localStorage.length === 0")
    assert [body["text"] for body in judging.stored("note")] == ["read", "read again"]


def test_a_key_that_is_held_answers_once(judging):
    first = judging.text_content(TITLE).strip()
    hold(judging, "i")
    judging.wait_for_function(SAVED)
    assert answers(judging) == [(first, "irrelevant")]
    assert judging.text_content("#n-read") == "1"


def test_a_double_click_answers_once(judging):
    first = judging.text_content(TITLE).strip()
    judging.dblclick("#answer button[value=relevant]")
    judging.wait_for_function(SAVED)
    assert answers(judging) == [(first, "relevant")]


def test_enter_that_is_held_takes_one_answer_back(judging):
    say(judging, "r", "i", "u")
    judging.wait_for_function(SAVED)
    judging.focus("button.undo")
    hold(judging, "Enter")
    judging.wait_for_function("() => document.getElementById('n-read').textContent === '2'")
    judging.wait_for_function("() => localStorage.length === 0")
    assert [said for _, said in answers(judging)] == ["relevant", "irrelevant", "unsure", "withdrawn"]


def hold(page, key):
    """Hold a key down: the keyboard repeats it, and the browser marks all but the first as repeated."""
    for _ in range(5):
        page.keyboard.down(key)
    page.keyboard.up(key)

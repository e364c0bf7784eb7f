"""Every page of the review room in Chromium, at both sizes, light and dark: axe-core finds nothing serious, nothing is
clipped, faint or too wide; and what the home page says of projects.

A page that is added to the room must be added to ``PAGES`` here. Skips as ``test_room_browser.py`` does.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python (extra dev)")
pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
pytest.importorskip("fastapi", reason="needs the extra app")
sys.path.insert(0, str(Path(__file__).parent))

from test_room_browser import CHROMIUM, OTHER_TITLE, PICTURES, SCREENS, browser, faults, quick_training, served  # noqa: F401

from textbayes.app import judging
from textbayes.app.accounts import create_user, local_user, set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.categories import NewCategories, create_categories
from textbayes.app.importing import keep_upload
from textbayes.app.invites import make_invite
from textbayes.app.pages import page_router
from textbayes.app.projects import NewProject, create_project
from textbayes.app.words import say
from textbayes.core.types import Document
from textbayes.screen import ScreenSettings

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
PASSWORD = "a long password"
# Route → what is asked for; {tea} is a project that is under way, {new} one without an answer, {news} has categories.
PAGES: dict[str, list[str]] = {
    "/login": [],  # before anybody is logged in
    "/join": ["/join?invite={invite}"],
    "/": ["/"],
    "/account": ["/account"],
    "/people": ["/people"],
    "/models": ["/models"],
    "/models/new/{upload_id}": ["/models/new/{table}"],
    "/models/{model_id}": ["/models/{model}"],
    "/uploads/{upload_id}": ["/uploads/{upload}"],
    "/projects/{project_id}/judge": ["/projects/{tea}/judge?topic=tea", "/projects/{news}/judge"],
    "/projects/{project_id}/full-texts": ["/projects/{tea}/full-texts?topic=tea", "/projects/{new}/full-texts"],
    "/projects/{project_id}/words": ["/projects/{tea}/words?topic=tea", "/projects/{new}/words"],
    "/projects/{project_id}/dashboard": [f"/projects/{{{name}}}/dashboard" for name in ("tea", "new", "news", "pair")],
    "/projects/{project_id}/records": ["/projects/{tea}/records?find=green", "/projects/{new}/records?show=unsure"],
    "/projects/{project_id}/record": [
        "/projects/{tea}/record?id=r3",
        "/projects/{news}/record?id=r1",
        "/projects/{pair}/record?id=r2",
    ],
    "/projects/{project_id}/conflicts": [
        "/projects/{tea}/conflicts?topic=tea",
        "/projects/{tea}/conflicts?topic=harms",
        "/projects/{pair}/conflicts",
    ],
    "/projects/{project_id}/simulation": ["/projects/{new}/simulation"],
    "/projects/{project_id}/prisma": ["/projects/{tea}/prisma"],
    "/projects/{project_id}/settings": ["/projects/{tea}/settings", "/projects/{news}/settings"],
    "/projects/{project_id}/duplicates": ["/projects/{tea}/duplicates", "/projects/{new}/duplicates"],
    "/projects/{project_id}/labels": ["/projects/{news}/labels"],
}
NO_PAGE = ("report", ".svg", ".{format}", ".{kind}", ".pdf", "model.tb", "classified", "favicon.ico", "/enter")


def test_all_pages_are_looked_at():
    """What is shown to people, neither files nor what leads elsewhere."""
    nested = page_router.routes  # FastAPI >= 0.130 keeps routers within
    parts = [getattr(one, "effective_route_contexts", lambda one=one: [one])() for one in nested]
    paths = {route.path for routes in parts for route in routes if "GET" in route.methods}
    assert {path for path in paths if not path.endswith(NO_PAGE) and path != "/projects/{project_id}"} == set(PAGES)


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """A room of a team with a project of each kind, under way and not begun; address, registry and parts of paths."""
    folder = tmp_path_factory.mktemp("pages")
    with served(f"sqlite:///{folder / 'room.sqlite3'}", team=True) as (origin, registry):
        ann, bob = (create_user(registry.store, name, PASSWORD, admin=True) for name in ("Ann", "Bob"))
        records = [
            Document(f"r{i}", f"Tea of the {i}th kind\nIt was {'green' if i % 2 else 'black'}.") for i in range(12)
        ]
        settings = ScreenSettings(topics=("tea", "harms"), questions={"tea": "green tea"})
        tea = create_project(registry, ann, NewProject("Tea", settings, double=True, prior="none"), records)
        review = registry.review(tea)
        set_role(registry.store, ann, review, "Bob", "reviewer")
        judging.change_lists(review, ann.id, ["wrong country", "too old"], ["quote", "read again"])
        for id, answers in {
            "r3": ("relevant", "irrelevant"),
            "r4": ("relevant", "relevant"),
            "r5": ("irrelevant",),
        }.items():
            for user, answer in zip((ann.id, bob.id), answers, strict=False):
                judging.judge(review, ReviewerQueue(user, "tea"), id, answer)
        say(review, ReviewerQueue(ann.id, "tea"), "green", "for")
        new = create_project(
            registry, ann, NewProject("A review that nobody has begun", ScreenSettings(), prior="none"), records
        )
        plan = NewCategories("Kinds", {"green": "green tea", "black": "black tea"})
        news = create_categories(registry, ann, plan, records)
        judging.judge(registry.review(news), ReviewerQueue(ann.id, "label"), "r1", "1")
        pair = create_categories(registry, ann, plan._replace(name="By two", several=True, double=True), records)
        by_two = registry.review(pair)
        set_role(registry.store, ann, by_two, "Bob", "reviewer")
        judging.set_gold(by_two, ReviewerQueue(ann.id, "label"), "r2", "2")
        for id, answers in {"r1": ("1", "2"), "r3": ("1", "1"), "r5": ("1", "1 2"), "r2": ("", "1")}.items():
            for user, answer in zip((ann.id, bob.id), answers, strict=True):
                if answer:
                    judging.judge(by_two, ReviewerQueue(user, "label"), id, answer)
        table = "what,text\n" + "".join(
            f"{'green' if i % 2 else 'black'},{one.text.split()[-1]} tea {i}\n" for i, one in enumerate(records)
        )
        parts = {"tea": tea, "new": new, "news": news, "pair": pair}
        parts["invite"] = make_invite(registry.store, ann, tea).partition("=")[2]
        parts |= {name: keep_upload(registry.store, ann, "table.csv", table.encode()) for name in ("table", "upload")}
        yield origin, registry, parts


def enter(page, origin, name="Ann"):
    page.goto(f"{origin}/login")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{origin}/")


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS)
def test_no_page_has_a_serious_fault(screen, browser, room, quick_training):  # noqa: F811
    origin, _, parts = room
    page, found = browser.new_page(viewport=SCREENS[screen]), {}

    def look(path):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if wrong := faults(page, colours_alone=scheme == "dark"):
                found[path, scheme] = wrong

    page.goto(f"{origin}/login")
    look("/login")
    enter(page, origin)
    if "model" not in parts:
        page.goto(f"{origin}/models/new/{parts['table']}")
        look("/models/new")
        page.click("button[value=train]")
        page.wait_for_selector("textarea[name=text]", timeout=240_000)
        parts["model"] = page.url.rpartition("/")[2]
        parts["table"] = ""
    for path in [path for paths in PAGES.values() for path in paths] + ["/nowhere"]:
        if "{table}" in path and not parts["table"]:
            continue  # it became a model
        page.goto(origin + path.format(**parts))
        look(path)
    page.close()
    assert found == {}


@pytest.mark.parametrize("screen", SCREENS)
def test_the_home_page_shows_the_progress_of_each_project(screen, browser, room):  # noqa: F811
    origin, registry, parts = room
    page = browser.new_page(viewport=SCREENS[screen])
    enter(page, origin)

    def card(name):
        return page.locator(f"[data-project='{parts[name]}']")

    text = " ".join(card("tea").text_content().split())
    assert "in progress" in text
    assert "tea: 2 of 12 screened, 1 relevant found" in text
    assert "harms: 0 of 12 screened, 0 relevant found" in text
    assert "1 in conflict, 1 waiting for a second reviewer" in text
    bar = card("tea").locator("progress").first
    assert (bar.get_attribute("value"), bar.get_attribute("max")) == ("2", "12")
    assert bar.bounding_box()["width"] > 200
    assert "not started" in card("new").text_content()
    assert "1 of 12 labelled" in " ".join(card("news").text_content().split())
    # What others answer meanwhile is counted; a project that is not in memory is counted by its events.
    new, ann = registry.review(parts["new"]), 1
    for k in range(12):
        judging.judge(new, ReviewerQueue(ann, "relevant"), f"r{k}", "relevant" if k < 3 else "irrelevant")
    for in_memory in (True, False):
        if not in_memory:
            registry.forget(parts["new"])
        page.reload()
        assert re.search(
            r"complete\s+12 of 12 screened, 3 relevant found", " ".join(card("new").text_content().split())
        )
    judging.undo(registry.review(parts["new"]), ReviewerQueue(ann, "relevant"))
    page.reload()
    assert "11 of 12 screened" in " ".join(card("new").text_content().split())
    for _ in range(11):
        judging.undo(registry.review(parts["new"]), ReviewerQueue(ann, "relevant"))
    page.close()


def test_who_has_no_project_is_told_what_to_do(browser, tmp_path):  # noqa: F811
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, _):
        page = browser.new_page(viewport=SCREENS["small"])
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        assert "No projects yet" in page.text_content("section.empty h2")
        assert "Upload a file of references or texts below" in page.text_content("section.empty")
        assert faults(page) == []
        page.goto(f"{origin}/models")
        assert "No models yet" in page.text_content("section.empty h2")
        assert faults(page) == []
        page.close()


def test_a_review_that_is_answered_is_simulated(browser, tmp_path):  # noqa: F811
    """Begun by a button; the page shows how far it is, then the curve, what it says in words, and the stops."""
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, registry):
        me = local_user(registry.store)
        records = [
            Document(f"r{i}", f"{'Green tea' if i % 8 == 0 else 'Iron ore'} of the year {i}\nPart {i % 5}.")
            for i in range(80)
        ]
        settings = ScreenSettings(questions={"relevant": "green tea"})
        project = create_project(registry, me, NewProject("Tea", settings, prior="none"), records)
        review, place = registry.review(project), ReviewerQueue(me.id, "relevant")
        page = browser.new_page(viewport=SCREENS["small"])
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/simulation")
        assert "0 records have the answer" in page.text_content("section.empty")
        judging.judge_many(review, place, [f"r{i}" for i in range(80) if i % 8], "irrelevant")
        judging.judge_many(review, place, [f"r{i}" for i in range(0, 80, 8)], "relevant")
        page.goto(f"{origin}/projects/{project}/dashboard")
        page.click("main a[href*=simulation]")
        page.wait_for_url("**/simulation*")
        assert "80 of 80 records have an answer, 10 of them are relevant" in page.text_content("main")
        page.click("text=Simulate")
        page.wait_for_selector("figure svg", timeout=120_000)
        assert page.text_content(".estimate strong") == "10"
        told = page.get_attribute("figure svg", "aria-label")
        assert "95% of 10 relevant records after 10 of 80 records, in random order after about 74" in told
        rows = page.locator("table >> nth=0 >> tbody tr").all_text_contents()
        assert [cell for cell in ("8 (10%)", "80%") if cell in rows[1]] == ["8 (10%)", "80%"]
        assert page.locator("table >> nth=1 >> tbody th").all_text_contents() == [
            "estimate",
            "hypergeometric",
            "consecutive",
            "share",
        ]
        for screen in SCREENS:
            page.set_viewport_size(SCREENS[screen])
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert faults(page, colours_alone=scheme == "dark") == [], screen
            if PICTURES is not None:
                page.screenshot(path=Path(PICTURES) / f"room-simulation-{screen}.png", full_page=True)
        page.reload()
        assert page.locator("figure svg").count() == 1  # kept
        judging.undo(review, place)
        page.reload()
        assert page.locator("figure svg").count() == 0  # answers have changed
        page.close()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_word_is_given_a_strength(screen, browser, room):  # noqa: F811
    origin, _, parts = room
    page = browser.new_page(viewport=SCREENS[screen])
    enter(page, origin)
    page.goto(f"{origin}/projects/{parts['new']}/words")
    priors = {}
    for strength in ("weak", "strong"):
        page.fill("input[name=word]", "green")
        page.select_option("form.row select[name=strength]", strength)
        page.click("form.row button[value=for]")
        row = page.locator("tbody tr", has_text=f"for, {strength}")  # waited for: the page may still be the last one
        row.first.wait_for()
        cells = row.first.locator("td").all_text_contents()
        priors[strength] = float(cells[1])
    assert priors["strong"] == pytest.approx(4 * priors["weak"], abs=0.03)
    assert faults(page) == []
    page.click("button[aria-label='Remove green']")
    page.close()


def test_all_records_of_a_page_are_ticked_at_once(browser, room):  # noqa: F811
    origin, _, parts = room
    page = browser.new_page()
    enter(page, origin)
    page.goto(f"{origin}/projects/{parts['new']}/records")
    ticks = page.locator("ol.list input[type=checkbox]")
    n = ticks.count()
    assert n >= 9  # of twelve; another test may have answered some
    for ticked in (n, 0):
        page.click("#tick-all")
        assert page.locator("ol.list input:checked").count() == ticked
    page.close()


def test_on_a_slow_line_ten_records_are_ahead(browser, tmp_path):  # noqa: F811
    """On a quick one there are two; those fetched ahead are answered without a line, and free when the page is left."""
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, registry):
        me = local_user(registry.store)
        records = [Document(f"r{i}", f"Tea of the {i}th kind\nIt was green.") for i in range(150)]
        project = create_project(registry, me, NewProject("Tea", ScreenSettings(), prior="none"), records)
        review, place = registry.review(project), ReviewerQueue(me.id, "relevant")
        context = browser.new_context(viewport=SCREENS["small"])  # what is fetched does not depend on it
        page = context.new_page()
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/judge")
        assert page.locator("article").count() == 2

        def press(key):
            title = page.text_content("article:not([hidden]) .title").strip()
            page.keyboard.press(key)
            page.wait_for_function(OTHER_TITLE, arg=title)
            return title

        line = context.new_cdp_session(page)
        line.send("Network.enable")
        slow = {"offline": False, "latency": 2100, "downloadThroughput": -1, "uploadThroughput": -1}
        line.send("Network.emulateNetworkConditions", slow)
        press("r")
        page.wait_for_function("() => document.querySelectorAll('article').length === 10")
        with review.looking() as assignments:
            assert len(assignments.held[place]) == 10
        line.send("Network.emulateNetworkConditions", {**slow, "offline": True, "latency": 0})
        seen = [press("i") for _ in range(9)]  # without waiting for anything
        assert len(set(seen)) == 9
        line.send("Network.emulateNetworkConditions", {**slow, "latency": 0})
        page.wait_for_function("() => document.getElementById('state').textContent === '· saved'", timeout=60_000)
        with review.looking() as assignments:
            said = [next(iter(one.values())) for one in assignments.opinions["relevant"].values()]
        assert said == ["relevant"] + 9 * ["irrelevant"]
        line.send("Network.emulateNetworkConditions", slow)
        press("i")
        page.wait_for_function("() => document.querySelectorAll('article').length === 10")
        page.wait_for_function("() => document.getElementById('state').textContent === '· saved'")
        line.send("Network.emulateNetworkConditions", {**slow, "latency": 0})
        page.goto(f"{origin}/account")
        for _ in range(100):  # the browser sends it while it leaves
            with review.looking() as assignments:
                if len(assignments.held[place]) == 2:
                    break
            time.sleep(0.1)
        assert len(assignments.held[place]) == 2
        context.close()

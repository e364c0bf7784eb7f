"""Labelling in Chromium: forty stories into five categories by keyboard, a label renamed, a model of the answers; and a
server that is killed in the middle.

Skips where Chromium, Playwright, which drives it, or axe-core is missing.
"""

from __future__ import annotations

import contextlib
import csv
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python (extra dev)")
pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
pytest.importorskip("fastapi", reason="needs the extra app")
sys.path.insert(0, str(Path(__file__).parent))

from test_room_browser import CHROMIUM, OTHER_TITLE, SCREENS, browser, faults, focus, picture, quick_training, served  # noqa: F401

from textbayes.app import judging
from textbayes.app.accounts import create_user, local_user, set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.categories import NewCategories, create_categories
from textbayes.app.database import Store
from textbayes.app.labelling import TOPIC
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.core.atomic import cache_folder
from textbayes.core.types import Document
from textbayes.data import load_corpus

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
DESCRIBED = {
    "business": "companies, profits, markets and the economy",
    "entertainment": "film, music, actors and awards",
    "politics": "ministers, parties, parliament and elections",
    "sports": "matches, coaches, clubs and injuries",
}
TITLE_IS = "(old) => document.querySelector('article:not([hidden]) .title').textContent.trim() === old"
SAVED = "() => document.getElementById('state')?.textContent === '· saved'"


@pytest.fixture(scope="module")
def stories() -> dict[str, tuple[str, str]]:
    """Two hundred stories of BBC news: title → text and topic."""
    with contextlib.suppress(Exception):
        news = load_corpus("bbc")
        rows = list(zip(news.texts, news.targets, strict=True))[::11]
        return {text.split("\n", 1)[0].strip(): (text, topic) for text, topic in rows}
    pytest.skip("needs the embedded news (extra demo)")


def shown_title(page) -> str:
    return page.text_content("article:not([hidden]) .title").strip()


@pytest.mark.parametrize("screen", SCREENS)
def test_forty_texts_into_five_categories_by_keyboard(screen, browser, stories, tmp_path, request):  # noqa: F811
    if screen == "small":  # on the large one the model is trained as ever
        request.getfixturevalue("quick_training")
    table = tmp_path / "news.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "number"])
        writer.writerows([text, i] for i, (text, _) in enumerate(stories.values()))
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, _):
        page = browser.new_page(viewport=SCREENS[screen], accept_downloads=True)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("filechooser", lambda chooser: None)
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        focus(page, "input[type=file]")
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Space")
        chooser.value.set_files(table)
        focus(page, "form.drop button")
        page.keyboard.press("Enter")
        page.wait_for_url("**/uploads/*")

        # Four labels with descriptions to begin with.
        focus(page, "input[name=kind]")
        page.keyboard.press("ArrowDown")
        focus(page, "textarea[name=labels]")
        page.keyboard.type("\n".join(f"{name}: {told}" for name, told in DESCRIBED.items()))
        assert not page.is_visible("textarea[name=questions]")
        assert faults(page) == []
        focus(page, "button[value=create]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/judge")
        assert page.locator(".guess").first.is_visible(), "names and descriptions give guesses"
        assert faults(page) == []
        picture(page, "label", screen, "light")

        # The fifth is made on the way.
        page.keyboard.press("l")
        page.keyboard.type("technology")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        keys = {"business": "1", "entertainment": "2", "politics": "3", "sports": "4", "tech": "5"}

        def label(n: int) -> None:
            for _ in range(n):
                title = shown_title(page)
                given[title] = stories[title][1]
                page.keyboard.press(keys[given[title]])
                page.wait_for_function(OTHER_TITLE, arg=title)

        given: dict[str, str] = {}
        label(20)

        # A label gets another name in the middle; answers stay.
        page.wait_for_function(SAVED)
        focus(page, "nav.parts a[href*=labels]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/labels*")
        assert faults(page) == []
        focus(page, "section.label:nth-of-type(5) input[name=name]")
        page.keyboard.press("Control+A")
        page.keyboard.type("tech")
        focus(page, "section.label:nth-of-type(5) form button")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.text_content("section.label:nth-of-type(5) h2").split()[0] == "tech"
        focus(page, "nav.parts a[href*=judge]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/judge*")

        # An answer taken back and given again; the guess hidden and shown.
        label(1)
        last = list(given)[-1]
        page.keyboard.press("b")
        page.wait_for_function(TITLE_IS, arg=last)
        focus(page, "#guess")
        page.keyboard.press("Space")
        assert not page.locator(".guess").first.is_visible()
        page.keyboard.press("Space")
        assert page.locator(".guess").first.is_visible()
        label(20)
        page.wait_for_function(SAVED)
        assert page.text_content("#n-read") == "40"
        assert len(given) == 40
        page.reload()
        assert "95% interval" in page.text_content("#share")

        # Progress, the answers as a table.
        focus(page, "nav.parts a[href*=dashboard]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/dashboard*")
        assert faults(page) == []
        picture(page, "categories", screen, "light")
        names, numbers = (page.locator(f"table >> nth=0 >> tbody {cell}").all_text_contents() for cell in ("th", "td"))
        assert dict(zip(names, map(int, numbers), strict=True)) == dict.fromkeys(keys, 0) | Counter(given.values())
        focus(page, "nav.parts a[href*=settings]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/settings*")
        assert faults(page) == []
        focus(page, "a[href*='export.csv']")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines(keepends=True)))
        assert {row["text"].split("\n", 1)[0].strip(): row["label"] for row in rows if row["label"]} == given

        # A model of them classifies.
        focus(page, "nav.parts a[href*=dashboard]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/dashboard*")
        focus(page, "main form button")
        page.keyboard.press("Enter")
        page.wait_for_url("**/models/*")
        page.wait_for_selector("textarea[name=text]", timeout=300_000)  # it looks again by itself
        focus(page, "textarea[name=text]")
        page.keyboard.type("The prime minister and his party face an election, and Labour attacks the Tory leader.")
        focus(page, "main form button.first")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.text_content("main p strong") == "politics"
        page.close()
        assert said == []


@pytest.mark.parametrize("screen", SCREENS)
def test_two_people_label_blind_and_an_owner_settles_what_they_differ_in(
    screen, browser, stories, tmp_path, monkeypatch,  # noqa: F811
):  # fmt: skip
    """Ann and Bob label the same eight stories by keyboard; Bob takes one for another; a gold question catches him."""
    titles = list(stories)[:8]
    texts = [Document(f"t{i}", stories[title][0], (), {}) for i, title in enumerate(titles)]
    keys = {name: str(k) for k, name in enumerate([*DESCRIBED, "tech"], start=1)}
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}", team=True) as (origin, registry):
        ann, bob = (create_user(registry.store, name, "a long password") for name in ("Ann", "Bob"))
        plan = NewCategories("News", {**DESCRIBED, "tech": ""}, double=True)
        project = create_categories(registry, ann, plan, texts)
        review = registry.review(project)
        set_role(registry.store, ann, review, "Bob", "reviewer")
        wrong, known = titles[3], titles[5]
        judging.set_gold(review, ReviewerQueue(ann.id, TOPIC), "t5", keys[stories[known][1]])
        drawn = SimpleNamespace(random=lambda: 0.0, randrange=lambda n: 0)
        monkeypatch.setattr(judging, "_chance", drawn)  # the first question to Bob is the gold question

        def page_of(name):
            page = browser.new_context(viewport=SCREENS[screen]).new_page()
            page.goto(f"{origin}/login")
            page.fill("input[name=name]", name)
            page.fill("input[name=password]", "a long password")
            page.keyboard.press("Enter")
            page.wait_for_url(f"{origin}/")
            page.goto(f"{origin}/projects/{project}/judge")
            return page

        def label(page, others=()):
            seen = []
            for _ in range(8):
                title = shown_title(page)
                if title not in titles or title in seen:
                    break
                seen.append(title)
                right = stories[title][1]
                page.keyboard.press(keys["tech" if title in others and right != "tech" else right])
                page.wait_for_function(SAVED)
                page.reload()
            return seen

        anns = page_of("Ann")
        assert set(label(anns)) == set(titles) - {known}, "who made a gold question is not asked"
        bobs = page_of("Bob")
        for page, address in ((bobs, "records?show=unread"), (bobs, "dashboard"), (bobs, "labels")):
            page.goto(f"{origin}/projects/{project}/{address}")
            said = page.text_content("main")
            assert "8 found" in said or address != "records?show=unread", "nothing that Ann said is shown"
        bobs.goto(f"{origin}/projects/{project}/judge")
        other = "tech" if stories[wrong][1] != "tech" else "business"
        assert set(label(bobs, others=(wrong, known))) == set(titles), "Bob is asked about all, and the gold question"

        # The two differ in one story: an owner settles it by keyboard.
        focus(anns, "nav.parts a[href*=conflicts]")
        anns.keyboard.press("Enter")
        anns.wait_for_url("**/conflicts*")
        assert faults(anns) == []
        assert anns.locator("article.record").count() == 1
        assert wrong in anns.text_content("article.record .title")
        shown = " ".join(anns.text_content("article.record").split())
        assert f"Ann: {stories[wrong][1]} Bob: {other}" in shown
        assert "Cohen’s κ" in anns.text_content("table")
        anns.locator(f"article.record button[value='{keys[stories[wrong][1]]}']").focus()
        with anns.expect_navigation():
            anns.keyboard.press("Enter")
        assert "No conflicts" in anns.text_content("main")
        anns.goto(f"{origin}/projects/{project}/dashboard")
        assert faults(anns) == []
        row = anns.locator("table:has(caption:text('Answers to gold questions')) tbody tr")
        n_right = int(stories[known][1] == "tech")
        assert row.locator("th, td").all_text_contents()[:3] == ["Bob", "1", str(n_right)]
        with review.looking() as assignments:
            stands = {titles[int(id[1:])]: assignments.labels.shown(assignments.answer(TOPIC, id))
                      for id in assignments.opinions[TOPIC]}  # fmt: skip
            asked = assignments.gold_answers(TOPIC)
        assert stands == {title: stories[title][1] for title in titles}
        assert asked == {bob.id: [bool(n_right)]}


def test_digits_count_by_their_place_and_on_the_number_pad(browser, tmp_path):  # noqa: F811
    """On French keyboards the digits need Shift; what the key without it writes does not matter."""
    with served(f"sqlite:///{tmp_path / 'room.sqlite3'}") as (origin, registry):
        texts = [Document(f"t{i}", f"Text {i}\nof a kind", (), {}) for i in range(4)]
        project = create_categories(registry, local_user(registry.store), NewCategories("X", {"a": "", "b": ""}), texts)
        page = browser.new_context().new_page()
        page.goto(f"{origin}/enter?token=the-secret")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/judge")
        first = shown_title(page)
        page.evaluate(
            "() => document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '&', code: 'Digit1', bubbles: true}))"
        )
        page.wait_for_function(OTHER_TITLE, arg=first)
        second = shown_title(page)
        page.keyboard.press("Numpad2")
        page.wait_for_function(OTHER_TITLE, arg=second)
        page.wait_for_function(SAVED)
        with registry.review(project).looking() as assignments:
            said = {id: next(iter(one.values())) for id, one in assignments.opinions[TOPIC].items()}
        assert said == {f"t{first.split()[-1]}": "1", f"t{second.split()[-1]}": "2"}
        page.context.close()


def test_a_killed_server_loses_no_acknowledged_label(browser, stories, tmp_path):  # noqa: F811
    """The page says "saved", the server is killed with -9, and again while answers are under way."""
    database = f"sqlite:///{tmp_path / 'room.sqlite3'}"
    store = Store(database)
    room = ReviewRegistry(store, ReviewCache(None))
    person = create_user(store, "Ann", "a long password")
    texts = [Document(f"t{i}", text, (), {}) for i, (text, _) in enumerate(stories.values())]
    project = create_categories(room, person, NewCategories("News", {**DESCRIBED, "tech": ""}), texts)
    store.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"

    own = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(cache_folder())}  # but what is compiled is found

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "textbayes.cli.main", "app", "--team", "--database", database]
        found = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=os.environ | own)  # fmt: skip
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return found
            time.sleep(0.1)
        raise AssertionError("the room did not start")

    def kill() -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    keys = {name: str(k) for k, name in enumerate([*DESCRIBED, "tech"], start=1)}
    process = start()
    try:
        page = browser.new_page(viewport=SCREENS["large"])
        page.goto(f"{origin}/login")
        page.fill("input[name=name]", "Ann")
        page.fill("input[name=password]", "a long password")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{origin}/")
        page.goto(f"{origin}/projects/{project}/judge", timeout=120_000)
        given: dict[str, str] = {}

        def label(n: int) -> None:
            for _ in range(n):
                title = shown_title(page)
                given[title] = stories[title][1]
                page.keyboard.press(keys[given[title]])
                page.wait_for_function(OTHER_TITLE, arg=title, timeout=60_000)

        label(8)
        page.wait_for_function(SAVED)
        kill()
        title = shown_title(page)
        given[title] = stories[title][1]
        page.keyboard.press(keys[given[title]])  # nobody is there to take it
        page.wait_for_function("() => document.getElementById('state').textContent.includes('trying again')")
        process = start()
        page.wait_for_function(SAVED, timeout=120_000)
        page.wait_for_function(OTHER_TITLE, arg=title, timeout=120_000)
        label(4)
        kill()  # while the last may be under way
        process = start()
        page.wait_for_function(SAVED, timeout=120_000)
        page.close()
    finally:
        kill()
    store = Store(database)
    review = ReviewRegistry(store, ReviewCache(None)).review(project)
    with review.looking() as assignments:
        said = {id: assignments.labels.shown(assignments.answer(TOPIC, id)) for id in assignments.opinions[TOPIC]}
    store.close()
    titles = {f"t{i}": title for i, title in enumerate(stories)}
    assert {titles[id]: label for id, label in said.items()} == given

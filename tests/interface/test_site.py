"""The documentation site: built without a warning, no dead link or anchor, nothing too wide, no grave axe-core fault.

Skips where Sphinx, the theme or Chromium is missing (`make docs` installs the first two). TEXTBAYES_SITE names a site
that is built already, TEXTBAYES_SCREENSHOTS a folder for pictures of some pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

for _module in ("sphinx", "pydata_sphinx_theme", "sphinx_design", "sphinx_copybutton", "myst_parser", "numpydoc"):
    pytest.importorskip(_module, reason=f"needs {_module} (extra docs): run make docs first")

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
SCREENS = {1280: {"width": 1280, "height": 800}, 390: {"width": 390, "height": 844}}
PICTURES = os.environ.get("TEXTBAYES_SCREENSHOTS")
SHOWN = ("index", "tutorials/route-messages", "tutorials/priors-intervals", "guide/filter", "papers/sparse")
SHOWN += ("reference/api", "concepts/models", "concepts/which-model", "benchmarks", "guide/index")
TOO_WIDE = """() => {
  // Elements that make the page wider than the screen, the innermost ones.
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth <= width) return [];
  const scrolls = (one) => one && one !== document.body
    && (["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > width + 1 && !scrolls(one.parentElement))
    .slice(-3).map((one) => one.outerHTML.slice(0, 120));
}"""
SHORTEN = """() => {
  // Leaves the first four of the elements of the main part that are alike: same tag and class, in the same class of
  // element, with the same tags inside (entries of the reference: whatever is inside). axe-core takes a time that grows
  // faster than the number of elements.
  const seen = new Map();
  const repeated = ":is(dl.py, tr, pre > span, li, p, math, div.highlight)";
  for (const one of document.querySelectorAll(`:is(article, .bd-sidebar-secondary) ${repeated}`)) {
    if (!one.isConnected) continue;
    const parts = one.matches("dl") ? [] : [...one.querySelectorAll("*")];
    const inside = new Set(parts.map((part) => part.tagName));
    const kind = [one.tagName, one.className, one.parentElement.className, ...[...inside].sort()].join(" ");
    seen.set(kind, (seen.get(kind) || 0) + 1);
    if (seen.get(kind) > 4) one.remove();
  }
  return document.querySelectorAll("*").length;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The folder of the built site; a warning of the build is an error."""
    if "TEXTBAYES_SITE" in os.environ:
        return Path(os.environ["TEXTBAYES_SITE"]).absolute()
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def _pages(site: Path) -> list[Path]:
    """All pages that were written by somebody."""
    made = ("search", "genindex", "py-modindex")
    return [page for page in sorted(site.rglob("*.html")) if page.stem not in made and "_static" not in page.parts]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        self.targets |= {value for name in ("href", "src") if (value := given.get(name))}


def test_no_link_or_anchor_is_dead(site):
    links = {}
    for page in site.rglob("*.html"):
        if "_static" in page.parts:  # a template that the theme leaves there
            continue
        links[page.resolve()] = _Links()
        links[page.resolve()].feed(page.read_text(encoding="utf-8"))
    dead = []
    for page, found in links.items():
        for target in found.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment)
            if not path.exists() or (anchor and path in links and anchor not in links[path].anchors):
                dead.append(f"{page.relative_to(site.resolve())}: {target}")
    assert len(links) > 40
    assert dead == []


def test_pages_can_be_read_offline(site):
    """What a page needs comes with it; only links that people follow lead elsewhere."""
    for page in _pages(site):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//[^"]*"', text)
        loaded += re.findall(r'<link[^>]*rel="(?:stylesheet|preload)"[^>]*href="(?:https?:)?//[^"]*"', text)
        assert loaded == [], page


def test_equations_are_typeset(site):
    for name in ("concepts/models", "tutorials/priors-intervals"):
        text = (site / f"{name}.html").read_text(encoding="utf-8")
        assert text.count("<math") > 2
        assert "$" not in re.sub(r"<(pre|code|script)\b.*?</\1>", "", text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python (extra dev)")
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


def _view(browser: Any, site: Path, width: int, scheme: str, some: bool = False) -> Iterator[tuple[str, Any]]:
    """Every page in turn, or those with a picture: its name and the tab that shows it."""
    tab = browser.new_page(viewport=SCREENS[width], color_scheme=scheme)
    said: list[str] = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    for page in _pages(site):
        name = page.relative_to(site).with_suffix("").as_posix()
        if some and name not in SHOWN:
            continue
        tab.goto(page.as_uri())
        yield name, tab
        if PICTURES is not None and name in SHOWN:
            tab.screenshot(path=Path(PICTURES) / f"{name.replace('/', '-')}-{width}-{scheme}.png")
    tab.close()
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("width", SCREENS)
def test_no_page_is_wider_than_the_screen(width, browser, site):
    found = {name: wide for name, tab in _view(browser, site, width, "light") if (wide := tab.evaluate(TOO_WIDE))}
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_serious(width, scheme, browser, site):
    """All pages in light, those with a picture in dark.

    Of elements that are alike on a page the first four are looked at. Contrast, which takes most of the time, is
    looked at on the pages with a picture, which show each template: colours are the same on all.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
    found = []
    for name, tab in _view(browser, site, width, scheme, some=scheme == "dark"):
        assert tab.evaluate(SHORTEN) < 2000, name
        options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": name in SHOWN}}}
        for one in axe.Axe().run(tab, options=options).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                found += [f"{name}: {one['id']}: {node['html'][:150]}" for node in one["nodes"][:3]]
    assert found == []

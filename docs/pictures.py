"""Take the picture of the demo's report that README.md and the front page show.

    python docs/pictures.py

Runs `textbayes demo`, opens its report in Chromium and writes docs/images/report.png. Needs the extra dev (Playwright)
and Chromium. Run it after a change of the report; it is committed, since GitHub shows README.md without building.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).resolve().parent / "images"
SIZE = {"width": 1100, "height": 1000}
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium was not found: install it first (on Debian and Ubuntu, apt install chromium).")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        environment = {**os.environ, "TEXTBAYES_EMBEDDINGS": "off"}  # the same picture whatever is installed
        command = [sys.executable, "-m", "textbayes", "--quiet", "demo"]
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto((Path(folder) / "reports" / "demo.html").as_uri())
        overview = page.locator("section.overview").bounding_box() or {"y": 0, "height": 1000}
        height = overview["y"] + overview["height"] + 2
        page.screenshot(
            path=IMAGES / "report.png", full_page=True, clip={"x": 0, "y": 0, "width": 1100, "height": height}
        )
        browser.close()


if __name__ == "__main__":
    main()

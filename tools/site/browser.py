"""Opens pages of the site in Chromium: no error in the console, nothing that axe finds, no line
wider than a phone, light and dark, a player that steps, and a search that finds.

`python tools/site/browser.py HTML [PICTURES]` writes screenshots to a folder PICTURES, too.

Everything comes from this machine: requests to other hosts are refused and counted as errors.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    os.environ.get("LYCEUM_BROWSER", ""),
)
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
PAGES = (
    "index",
    "chapters/06_trees",
    "chapters/12_clustering",
    "gallery/index",
    "gallery/06_trees/id3",
    "howto/01_costs_and_doubt",
    "start/3_for_teachers",
    "reference/names/lyceum.trees.ID3",
    "about",
)
LOOKS = (("light", 1200), ("dark", 1200), ("light", 375), ("dark", 375))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing: the terminal is for what is wrong."""


def main(site: Path, pictures: Path | None) -> list[str]:
    handler = functools.partial(_Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as started:
        context = started.chromium.launch_persistent_context(
            profile, executable_path=BROWSER, headless=True, args=list(FLAGS)
        )
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda message: (
                wrong.append(f"{page.url}: {message.text}")
                if message.type == "error"
                else None
            ),
        )
        page.on(
            "response",
            lambda response: (
                wrong.append(f"{page.url}: {response.status} of {response.url}")
                if response.status >= 400
                else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((origin, "data:", "blob:"))
                else wrong.append(f"{page.url} asks for {request.url}")
            ),
        )
        for name in PAGES:
            for theme, width in LOOKS:
                wrong += _look(page, f"{origin}/{name}.html", theme, width, pictures)
        wrong += _step(page, origin)
        wrong += _search(page, origin)
        context.close()
    server.shutdown()
    return wrong


def _look(
    page: Page, address: str, theme: str, width: int, pictures: Path | None
) -> list[str]:
    """What is wrong on one page in one look."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.goto(address)
    # colors fade when the theme changes, on a busy machine for seconds: axe looks at their end
    page.add_style_tag(content="*, *::before, *::after { transition: none !important }")
    page.wait_for_timeout(400)
    where = f"{address.partition('//')[2].partition('/')[2]} ({theme}, {width})"
    if pictures is not None:
        name = where.replace("/", "_").replace(" ", "_")
        page.screenshot(path=pictures / f"{name}.png")
    # axe would fetch style sheets once more, from wrong places
    looked = Axe().run(page, options={"preload": False})
    wrong = [
        f"{where}: {found['id']}: {[node['html'][:160] for node in found['nodes'][:2]]}"
        for found in looked.response["violations"]
    ]
    extra = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if extra > 0:
        wrong.append(f"{where}: {extra} pixels wider than the window")
    return wrong


def _step(page: Page, origin: str) -> list[str]:
    """The player of a chapter goes on, without a server."""
    page.goto(f"{origin}/chapters/06_trees.html")
    player = page.locator(".lyceum-play").first
    before = player.inner_text()
    player.get_by_role("button", name="Next").click()
    return [] if player.inner_text() != before else ["the player does not step"]


def _search(page: Page, origin: str) -> list[str]:
    page.goto(f"{origin}/search.html?q=entropy")
    page.wait_for_selector("#search-results li a")
    titles = page.locator("#search-results li a").all_inner_texts()
    if not any("trees" in title.lower() for title in titles):
        return [f"a search for entropy finds {titles[:5]}"]
    return []


if __name__ == "__main__":
    if not BROWSER:
        sys.exit(print("no browser: pages were not opened (apt-get install chromium)"))
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    sys.exit("\n".join(main(Path(sys.argv[1]), folder)) or None)

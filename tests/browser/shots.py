"""Screenshots of pages in light, dark and phone width: shots.py FOLDER OUT ADDRESS..., to look at.

python tests/browser/shots.py data-folder /tmp/shots "/data?file=penguins.csv&target=species"
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.browser.conftest import BROWSER, FLAGS
from tests.workbench.started import opened

LOOKS = {
    "light": ({"width": 1200, "height": 900}, "light"),
    "dark": ({"width": 1200, "height": 900}, "dark"),
    "phone": ({"width": 375, "height": 800}, "light"),
}


def main(folder, out, *addresses):
    Path(out).mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as profile,
        opened(folder) as workbench,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch_persistent_context(
            profile, executable_path=BROWSER, headless=True, args=FLAGS
        )
        page = browser.new_page()
        page.goto(workbench.address)
        for number, address in enumerate(addresses):
            name = address.strip("/").partition("?")[0]
            for look, (size, theme) in LOOKS.items():
                page.set_viewport_size(size)
                page.emulate_media(color_scheme=theme)
                page.goto(workbench.origin + address)
                page.wait_for_timeout(1500)
                path = Path(out) / f"{number}-{name}-{look}.png"
                page.screenshot(path=path, full_page=True)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

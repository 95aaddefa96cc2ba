"""Pages of the workbench in a real browser."""

import os
import shutil

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("msgspec")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="no playwright: pip install lyceum-ml[test]"
)
# a busy machine takes its time
playwright.expect.set_options(timeout=30_000)

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    os.environ.get("LYCEUM_BROWSER", ""),
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if not BROWSER:
        pytest.skip(
            "no browser is installed: apt-get install chromium, or set LYCEUM_BROWSER"
        )
    with playwright.sync_playwright() as started:
        context = started.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("browser")),
            executable_path=BROWSER,
            headless=True,
            args=FLAGS,
            viewport={"width": 1200, "height": 900},
        )
        context.set_default_timeout(20_000)
        yield context
        context.close()


@pytest.fixture
def page(browser):
    """A page whose script must not fail; what the browser complains about fails the test."""
    page = browser.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(error.stack or str(error)))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text) if message.type == "error" else None
        ),
    )
    # a status alone does not say which address has it
    page.on(
        "response",
        lambda response: (
            complaints.append(f"{response.status} {response.url}")
            if response.status >= 400
            else None
        ),
    )
    page.complaints = complaints
    yield page
    page.close()
    assert complaints == []

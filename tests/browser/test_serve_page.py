"""The page to try models on, used as a person would."""

import pytest
from tests.serve.conftest import Server, models  # noqa: F401
from tests.workbench.started import check_accessible

import lyceum

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def server(models):  # noqa: F811
    started = Server(*sorted(models.glob("*.lyceum")))
    yield started
    assert started.stop() == (0, "")


def test_a_person_tries_a_model(server, page, models):  # noqa: F811
    page.goto(server.address)
    page.locator("#model").select_option("credit")
    page.get_by_text("LogisticRegression of class").wait_for()
    expect(page.get_by_label("Key")).to_be_hidden()
    page.get_by_role("button", name="Decide").click()
    answer = page.locator("#answer")
    answer.get_by_role("heading").wait_for()
    model = lyceum.load(models / "credit.lyceum")
    record = server.get("/models/credit")["example"]
    record["duration"] = 70.0
    record["purpose"] = None
    page.locator("[name=duration]").fill("70")
    page.locator("[name=purpose]").select_option("(missing)")
    page.get_by_role("button", name="Decide").click()
    decision = lyceum.decide(model, record)
    share = f"{100 * decision.probabilities['good']:.1f} %"
    answer.get_by_text(share).wait_for()
    expect(answer.get_by_role("heading")).to_have_text(decision.predicted)
    expect(answer).to_contain_text("purpose: missing")
    expect(answer.locator("table:not(.chances) tr")).to_have_count(1 + len(record))
    page.locator("#model").select_option("mass")
    page.locator("[name=flipper_length_mm]").fill("200")
    page.get_by_role("button", name="Decide").click()
    answer.get_by_role("heading").wait_for()
    assert 2000 < float(answer.get_by_role("heading").inner_text()) < 7000
    page.locator("[name=flipper_length_mm]").fill("9999")
    page.get_by_role("button", name="Decide").click()
    answer.get_by_text("outside the range").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_fits_every_screen(server, page, width, theme, tmp_path):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.goto(server.address)
    page.get_by_role("button", name="Decide").click()
    page.locator("#answer").get_by_role("heading").wait_for()
    check_accessible(page)
    lines = page.locator("td.number").evaluate_all(
        """cells => cells.map(cell => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return range.getClientRects().length;
        })"""
    )
    assert len(lines) >= 20
    assert set(lines) == {1}  # no number is broken
    beyond = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert beyond <= 0
    page.screenshot(path=tmp_path / "page.png", full_page=True)

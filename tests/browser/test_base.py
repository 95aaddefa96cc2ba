"""The shell of the workbench: who comes in, tabs, undo, light and dark, phone width, keyboard."""

import shutil

import pytest
from tests.workbench.started import check_accessible, opened

from lyceum import datasets

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    shutil.copy(datasets.path("penguins"), folder / "penguins.csv")
    shutil.copy(datasets.path("old_faithful"), folder / "geyser.csv")
    with opened(folder) as workbench:
        yield workbench


def test_the_printed_address_lets_in_and_hides_the_token(workbench, page):
    page.goto(workbench.address)
    page.get_by_role("heading", name="Choose a table").wait_for()
    assert "token" not in page.url
    expect(page.get_by_role("link", name="penguins.csv")).to_be_visible()


def test_the_first_page_is_small(workbench, page):
    sizes = []
    page.on("response", lambda answer: sizes.append(len(answer.body())))
    page.goto(workbench.address)
    page.get_by_role("link", name="geyser.csv").wait_for()
    assert sum(sizes) < 150 * 1024


def test_going_back_undoes_a_click(workbench, page):
    page.goto(workbench.address)
    page.get_by_role("link", name="penguins.csv").click()
    page.get_by_label("To predict").select_option("species")
    page.wait_for_url("**/data?file=penguins.csv&target=species")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url("**/data?file=penguins.csv")
    expect(page.get_by_label("To predict")).to_have_value("")


def test_every_action_is_shown_as_a_command_as_python_and_as_a_recipe(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/data?file=penguins.csv&target=species")
    page.get_by_role("button", name="as command").first.click()
    command = "lyceum inspect penguins.csv --target species"
    page.get_by_text(command, exact=True).wait_for()
    page.get_by_role("button", name="as Python").first.click()
    python = "inspection = lyceum.data.inspect('penguins.csv', target='species')"
    expect(page.get_by_text(python)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/data", "/data?file=penguins.csv&target=species"])
def test_axe_finds_nothing(theme, path, workbench, page):
    page.emulate_media(color_scheme=theme)
    page.goto(workbench.address)
    page.goto(workbench.origin + path)
    page.get_by_role("table").first.wait_for()
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    check_accessible(page)


def test_nothing_is_wider_than_a_phone(workbench, page):
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/data?file=penguins.csv&target=species")
    page.get_by_role("table").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_the_keyboard_reaches_the_page(workbench, page):
    page.goto(workbench.address)
    page.get_by_role("link", name="geyser.csv").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_role("link", name="geyser.csv").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/data?file=geyser.csv")


def test_a_fault_is_a_sentence_where_it_belongs(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/data?file=none.csv")
    expect(page.get_by_role("alert")).to_have_text("there is no file none.csv")
    page.complaints.clear()  # the browser's own note on status 404


def test_a_dropped_file_is_put_beside_the_others(workbench, page, tmp_path):
    table = tmp_path / "new table.csv"
    table.write_text("age,club\n31,a\n45,b\n")
    page.goto(workbench.address)
    page.locator("input[type=file]").set_input_files(table)
    page.get_by_role("heading", name="new table.csv").wait_for()
    assert (workbench.folder / "new table.csv").read_text() == table.read_text()


def test_several_tabs_agree(workbench, browser, page):
    other = browser.new_page()
    other.goto(workbench.address)
    other.get_by_role("heading", name="Choose a table").wait_for()
    page.goto(workbench.address)
    page.locator("input[type=file]").set_input_files(
        {"name": "both.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n3,4\n"}
    )
    page.get_by_role("heading", name="both.csv").wait_for()
    # the other tab hears of it without being asked
    other.get_by_role("link", name="both.csv").wait_for()
    other.close()


def test_the_first_page_is_there_soon(workbench, page):
    """Within a second of the page's own time; other programs may take the machine's."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(workbench.address)
    page.get_by_role("link", name="geyser.csv").wait_for()
    numbers = session.send("Performance.getMetrics")["metrics"]
    seconds = {number["name"]: number["value"] for number in numbers}
    assert 0.0 < seconds["ScriptDuration"] < seconds["TaskDuration"] < 1.0


def test_axe_does_find_what_is_wrong(workbench, page):
    page.goto(workbench.address)
    page.get_by_role("link", name="geyser.csv").wait_for()
    page.evaluate("document.querySelector('main').append(new Image())")
    with pytest.raises(AssertionError, match="image-alt"):
        check_accessible(page)

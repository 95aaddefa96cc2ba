"""Theatre: steps forwards and back, the next number asked for, on textbook tables and on a file."""

import json
import shlex
import shutil

import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

from lyceum import datasets
from lyceum.theatre import play

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theatre")
    shutil.copy(datasets.path("penguins"), folder / "penguins.csv")
    with opened(folder, "penguins.csv") as workbench:
        yield workbench


def open_theatre(workbench, page, query=""):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/theatre?{query}")
    page.get_by_role("group", name="Steps").wait_for()


def check_scene(page, shown, index):
    """What the library says of a step is what the page shows."""
    scene = shown.scenes[index]
    title = f"{index + 1} of {len(shown.scenes)}. {scene.title}"
    expect(page.locator(".scene-title")).to_have_text(title)
    for line in scene.lines:
        expect(page.locator(".lines")).to_contain_text(line)
    row = page.locator("tr[aria-current=step]").first
    cells = shown.as_dict()["table"]["rows"][index]
    expect(row.locator("th, td")).to_have_text(cells)


def test_forwards_and_back_by_button_and_by_key(workbench, page):
    open_theatre(workbench, page, "method=perceptron")
    shown = play("perceptron")
    check_scene(page, shown, 0)
    page.get_by_role("button", name="Next").click()
    check_scene(page, shown, 1)
    page.keyboard.press("ArrowRight")
    check_scene(page, shown, 2)
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Back").click()
    check_scene(page, shown, 0)
    expect(page.get_by_role("button", name="Back")).to_be_disabled()
    page.keyboard.press("End")
    check_scene(page, shown, len(shown.scenes) - 1)
    # the address names the step
    assert page.url.endswith(f"step={len(shown.scenes)}")
    page.reload()
    check_scene(page, shown, len(shown.scenes) - 1)


def test_your_turn_a_wrong_answer_is_diagnosed_and_a_right_one_goes_on(workbench, page):
    open_theatre(workbench, page, "method=id3")
    shown = play("id3")
    page.get_by_label("Your turn").check()
    page.get_by_role("button", name="Next").click()
    question = shown.scenes[1].question
    answer = page.get_by_label(question.text)
    # the number is not shown before it is answered
    expect(page.locator(".lines")).not_to_contain_text("0.2467")
    answer.fill("0.1710")  # with the natural logarithm
    page.get_by_role("button", name="Check").click()
    page.get_by_text("that is with the natural logarithm").wait_for()
    answer.fill("much")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("is not a number").wait_for()
    answer.fill("0,247")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("Right: 0.2467.").wait_for()
    check_scene(page, shown, 1)
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Show me").click()
    page.get_by_text("It is 0.02922.").wait_for()
    check_scene(page, shown, 2)


def test_columns_of_the_open_file_and_the_same_by_command(workbench, page):
    open_theatre(workbench, page, "file=penguins.csv&method=kmeans")
    page.get_by_label("Table").select_option(label="penguins.csv")
    page.get_by_label("Column 1").select_option("bill_length_mm")
    page.get_by_label("Column 2").select_option("flipper_length_mm")
    page.get_by_label("the number of clusters").fill("3")
    page.get_by_label("the number of clusters").press("Tab")
    page.get_by_label("standardize").check()
    shown = play(
        "kmeans",
        workbench.folder / "penguins.csv",
        columns=["bill_length_mm", "flipper_length_mm"],
        settings={"k": 3, "standardize": True},
    )
    check_scene(page, shown, 0)
    page.get_by_role("button", name="as command").click()
    command = shlex.split(page.locator(".code pre").inner_text())
    printed = by_command([*command, "--json"], workbench.folder)
    assert json.loads(printed)["scenes"] == shown.as_dict()["scenes"]
    page.get_by_role("button", name="as recipe").click()
    page.get_by_text("standardize = true").wait_for()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("standardize")).not_to_be_checked()


def test_a_saved_page_plays_without_a_server(workbench, page, tmp_path):
    open_theatre(workbench, page, "method=kmeans")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as a page of its own").click()
    path = tmp_path / "kmeans.html"
    download.value.save_as(path)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    shown = play("kmeans")
    page.keyboard.press("ArrowRight")
    check_scene(page, shown, 1)
    assert requests == [path.as_uri()]
    check_accessible(page)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_fault_is_a_sentence(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/theatre?method=kmeans&set=k%3D99")
    expect(page.get_by_role("alert").first).to_contain_text("from 1 to 6")
    page.complaints.clear()  # the browser's own note on status 422


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_a_phone_is_wide_enough(workbench, page, theme):
    page.emulate_media(color_scheme=theme)
    open_theatre(workbench, page, "method=id3&step=9")
    page.get_by_label("Your turn").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Check").wait_for()
    check_accessible(page)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_three_columns_stand_in_a_space_that_is_turned(workbench, page):
    query = "file=penguins.csv&table=file&method=kmeans&set=standardize%3Dtrue"
    open_theatre(workbench, page, query)
    page.get_by_label("Column 1").select_option("bill_length_mm")
    page.get_by_label("Column 2").select_option("bill_depth_mm")
    page.get_by_label("Column 3").select_option("body_mass_g")
    names = ["bill_length_mm", "bill_depth_mm", "body_mass_g"]
    shown = play(
        "kmeans",
        datasets.path("penguins"),
        columns=names,
        settings={"standardize": True},
    )
    space = page.locator("svg.space")
    space.wait_for()
    check_scene(page, shown, 0)
    dots = space.locator(".dot")
    expect(dots).to_have_count(60)
    before = dots.first.bounding_box()
    row = shown.scenes[0].pictures[0]["marks"][0]
    title = f"1: {row['x'][0]}, {row['y'][0]}, {row['z'][0]}"
    assert dots.first.locator("title").text_content() == title
    page.get_by_label("Turn", exact=True).fill("90")
    assert dots.first.bounding_box() != before
    # pulled by the pointer
    turned = dots.first.bounding_box()
    box = space.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 90, steps=4)
    page.mouse.up()
    assert dots.first.bounding_box() != turned
    # the next step is seen from the same side
    angle = page.get_by_label("Turn", exact=True).input_value()
    page.get_by_role("button", name="Next").click()
    check_scene(page, shown, 1)
    expect(page.get_by_label("Turn", exact=True)).to_have_value(angle)
    check_accessible(page)

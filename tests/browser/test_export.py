"""Any page as one HTML file: without a server it shows the same, and goes on deciding."""

import shutil

import pytest
from tests.workbench.started import check_accessible, opened

import lyceum
from lyceum import datasets
from lyceum.workbench.app import PAGES

expect = pytest.importorskip("playwright.sync_api").expect

# an address of every page; one of a new page is missed by the test below
ADDRESSES = {
    "data": "file=penguins.csv&target=species",
    "question": "file=penguins.csv&target=species",
    "study": "out=play-study",
    "decide": "out=play-study&loss=no:yes=3,yes:no=1",
    "ask": "out=play-study&row={}",
    "errors": "out=play-study&row=3",
    "networks": "net=asia&evidence=xray=yes&query=lung&first=asia&second=smoke",
    "theatre": "method=id3",
    "clusters": "file=penguins.csv&clusters=3",
    "columns": "file=penguins.csv&target=species",
    "compare": "study=play-study&study=windy-study",
}


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    shutil.copy(datasets.path("penguins"), folder / "penguins.csv")
    shutil.copy(datasets.path("weather"), folder / "weather.csv")
    for target in ("play", "windy"):
        lyceum.study(
            folder / "weather.csv",
            target,
            learners=["NaiveBayes", "KNeighborsClassifier"],
            folds=2,
            n_settings=1,
            committees=False,
            out=folder / f"{target}-study",
        )
    with opened(folder) as workbench:
        yield workbench


def export(workbench, page, name, query, path):
    """Export a page; what it said, and the file, opened."""
    page.goto(f"{workbench.origin}/{name}?{query}")
    main = page.locator("main")
    page.get_by_role("button", name="as command").first.or_(
        page.get_by_role("button", name="Save this operating point")
    ).first.wait_for()
    expect(page.get_by_text("Reading …")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    download.value.save_as(path)
    expect(page.get_by_text("Reading …")).to_have_count(0)
    said = main.inner_text()
    page.goto(path.as_uri())
    page.get_by_text("and asks no server.").wait_for()
    expect(page.get_by_text("Reading …")).to_have_count(0)
    return said


def test_every_page_has_an_address_here():
    assert set(ADDRESSES) == {page.name for page in PAGES}


@pytest.mark.parametrize("name", ADDRESSES)
def test_the_file_says_what_the_page_said_and_asks_nobody(
    workbench, page, tmp_path, name
):
    page.goto(workbench.address)
    path = tmp_path / f"{name}.html"
    requests = []
    said = export(workbench, page, name, ADDRESSES[name], path)
    page.on("request", lambda request: requests.append(request.url))
    page.reload()
    page.get_by_text("and asks no server.").wait_for()
    expect(page.get_by_text("Reading …")).to_have_count(0)
    lines = [line.strip() for line in said.splitlines() if line.strip()]

    def shown():
        text = page.locator("main").inner_text()
        return [line.strip() for line in text.splitlines() if line.strip()][:-1]

    # the file is as quick as its script
    for _ in range(50):
        if shown() == lines:
            break
        page.wait_for_timeout(100)
    assert shown() == lines
    assert all(url.startswith(("file:", "data:")) for url in requests)
    assert path.stat().st_size < 1 << 20


def test_sliders_and_undo_work_in_the_file(workbench, page, tmp_path):
    page.goto(workbench.address)
    path = tmp_path / "decide.html"
    export(workbench, page, "decide", ADDRESSES["decide"], path)
    before = page.locator("#sentence").inner_text()
    field = page.get_by_label("A no taken for yes costs, as a number")
    field.fill("9")
    field.press("Tab")
    expect(page.locator("#sentence")).not_to_have_text(before)
    page.get_by_role("button", name="Save this operating point").click()
    page.get_by_text("This file holds what was open when").first.wait_for()
    check_accessible(page)
    export(workbench, page, "networks", "net=asia&query=lung", tmp_path / "net.html")
    page.get_by_role("button", name="Next step").click()
    page.get_by_text("Step 2 of").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Step 1 of").wait_for()
    check_accessible(page)

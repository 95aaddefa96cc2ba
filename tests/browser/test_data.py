"""The Data page: numbers as the library has them, repairs as steps, a million rows."""

import shlex
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

from lyceum import datasets
from lyceum.data import inspect, inspect_pair

expect = pytest.importorskip("playwright.sync_api").expect

MILLION = 1_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    shutil.copy(datasets.path("penguins"), folder / "penguins.csv")
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 80, 150).astype(str)
    ages[77] = "3a"
    clubs = rng.choice(["red", "blue"], 150)
    lines = [f"{age},{club}" for age, club in zip(ages, clubs)]
    (folder / "people.csv").write_text("age,club\n" + "\n".join(lines) + "\n")
    x = rng.normal(size=MILLION)
    large = pa.table(
        {"x": x, "y": x + rng.normal(size=MILLION), "n": np.arange(MILLION)}
    )
    pq.write_table(large, folder / "large.parquet")
    return folder


@pytest.fixture(scope="module")
def workbench(folder):
    with opened(folder) as workbench:
        yield workbench


@pytest.fixture
def visit(workbench, page):
    def visit(path):
        page.goto(workbench.address)
        page.goto(workbench.origin + path)
        page.get_by_role("region", name="Rows of the table").wait_for()
        return page

    return visit


def cells(page, name):
    """The texts of the row of the table of columns."""
    return page.locator(f"tr:has(#kind-{name}) > *").all_text_contents()


def test_columns_are_as_inspect_says(visit):
    page = visit("/data?file=penguins.csv&target=species")
    inspection = inspect(datasets.path("penguins"), "species")
    for column in inspection.columns:
        kind = page.get_by_label(f"kind of {column.name}", exact=True)
        expect(kind).to_have_value(column.kind)
        row = cells(page, column.name)
        assert row[2] == column.why
        share = f"{100 * column.n_missing / inspection.n_rows:.1f} %"
        assert row[3] == (share if column.n_missing else "–")
    page.get_by_role("button", name="body_mass_g").click()
    expect(
        page.get_by_text("continuous · 2 missing cells · 94 distinct")
    ).to_be_visible()
    histogram = inspection["body_mass_g"].histogram
    page.get_by_role("img", name="Distribution of body_mass_g").wait_for()
    titles = page.locator("svg[aria-labelledby] rect > title").all_text_contents()
    assert [int(text.rpartition(": ")[2]) for text in titles] == list(histogram)


def test_a_slip_is_shown_with_its_row_and_repaired_by_a_step(visit, workbench, folder):
    page = visit("/data?file=people.csv")
    sentence = "1 of 150 cells of age is no number: 3a in row 77"
    page.get_by_text(f"{sentence}: repair, drop or keep as text.").wait_for()
    expect(page.get_by_label("kind of age")).to_have_value("categorical")
    page.get_by_role("button", name="show the row").click()
    page.locator("tr[data-row='77'] td.odd").wait_for()
    page.get_by_label("right value of age in row 77").fill("34")
    page.get_by_role("button", name="repair 3a in row 77").click()
    page.get_by_role("heading", name="Repairs, as steps").wait_for()
    expect(page.get_by_label("kind of age")).to_have_value("continuous")
    expect(page.get_by_text("set age 77 34").first).to_be_visible()
    check_accessible(page)
    # what is shown as a command does the same
    region = page.get_by_label("How to do these repairs without the workbench")
    region.get_by_role("button", name="as command").click()
    command = shlex.split(region.locator("pre").text_content())
    by_command(command, folder)
    saved = (folder / "people-repaired.csv").read_bytes()
    page.get_by_role("button", name="Save the repaired table").click()
    page.get_by_role("heading", name="people-repaired.csv").wait_for()
    assert (folder / "people-repaired.csv").read_bytes() == saved
    assert inspect(folder / "people-repaired.csv")["age"].kind == "continuous"
    assert "set age 77 34" in (folder / "people-repaired.toml").read_text()
    assert b"3a" in (folder / "people.csv").read_bytes()


def test_a_kind_is_changed_and_taken_back(visit):
    page = visit("/data?file=penguins.csv")
    by_itself = inspect(datasets.path("penguins"))["year"].kind
    page.get_by_label("kind of year").select_option("categorical")
    page.get_by_text(f"by itself {by_itself}").wait_for()
    kinds = {"year": "categorical"}
    expected = inspect(datasets.path("penguins"), kinds=kinds)["year"]
    assert cells(page, "year")[2].startswith(expected.why)
    page.get_by_role("button", name="take back").click()
    page.get_by_text("by itself").wait_for(state="hidden")
    assert by_itself != "categorical"
    expect(page.get_by_label("kind of year")).to_have_value(by_itself)


def test_a_pair_has_the_librarys_number_and_points(visit):
    page = visit("/data?file=penguins.csv")
    page.get_by_label("Across").select_option("bill_length_mm")
    page.get_by_role("combobox", name="Up", exact=True).select_option("body_mass_g")
    pair = inspect_pair(datasets.path("penguins"), "bill_length_mm", "body_mass_g")
    page.get_by_text(f"correlation {pair.strength:.4g} on 342 rows").wait_for()
    expect(page.locator("circle.point")).to_have_count(342)
    page.get_by_label("Across").select_option("island")
    ratio = inspect_pair(datasets.path("penguins"), "island", "body_mass_g").strength
    page.get_by_text(f"correlation ratio {ratio:.4g}").wait_for()
    check_accessible(page)


def test_a_million_rows_are_scrolled_through(visit):
    page = visit("/data?file=large.parquet")
    page.get_by_label("Go to row").fill("999999")
    page.keyboard.press("Tab")
    page.locator("tr[data-row='999999']").wait_for()
    expect(page.locator("tr[data-row='999999'] td").nth(2)).to_have_text("999999")
    page.get_by_label("Go to row").fill("500000")
    page.keyboard.press("Tab")
    page.locator("tr[data-row='500000']").wait_for()
    expect(page.locator("tr[data-row='500000']")).to_be_visible()

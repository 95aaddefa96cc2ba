"""The whole way of somebody with a spreadsheet: file, repair, question with costs, study,
decision, a row asked about, the page as a file; and the same by the commands that were shown."""

import json
import shlex
import shutil

import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

import lyceum
from lyceum import datasets
from lyceum.studies import Study
from lyceum.workflows import ask_model

openpyxl = pytest.importorskip("openpyxl")
expect = pytest.importorskip("playwright.sync_api").expect

COLUMNS = (
    "class",
    "duration",
    "credit_history",
    "purpose",
    "credit_amount",
    "employment",
    "age",
    "housing",
)


def write_spreadsheet(path):
    """Loans as an office has them: a title, an empty row, a number per loan, a slip in a cell."""
    import csv

    with open(datasets.path("german_credit"), encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))[:400]
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Loans of the Ulm branch, as of 3 March"])
    sheet.append([])
    sheet.append(["loan no.", *COLUMNS])
    for number, record in enumerate(records):
        cells = [record[name] for name in COLUMNS]
        cells = [int(cell) if cell.isdecimal() else cell for cell in cells]
        if number == 77:
            cells[COLUMNS.index("age")] = "3a"
        sheet.append([1000 + number, *cells])
    book.save(path)


def commands(region):
    """The lines that are shown for the shell, as words."""
    region.get_by_role("button", name="as command").first.click()
    text = region.locator(".code pre").first.inner_text()
    return [shlex.split(line) for line in text.splitlines()]


def run(folder, command, *more):
    return by_command([*command, *more], folder)


def results(folder):
    """Everything of a study but its times and where it lies."""
    said = Study.open(folder).as_dict()
    return {k: v for k, v in said.items() if k not in ("timings", "recipe")}


def test_from_a_spreadsheet_to_a_decision_with_costs(tmp_path, page):
    mine = tmp_path / "mine"
    mine.mkdir()
    write_spreadsheet(tmp_path / "loans.xlsx")
    with opened(mine) as workbench:
        page.goto(workbench.address)
        page.get_by_label("Drop a table here").set_input_files(tmp_path / "loans.xlsx")
        # the title is no row, and the page says so without words of the shell
        page.get_by_text("the first 2 rows were taken for a title").wait_for()
        assert "--header-row" not in page.locator("main").inner_text()
        page.get_by_text("1 of 400 cells of age is no number: 3a in row 77").wait_for()
        page.get_by_label("right value of age in row 77").fill("34")
        page.get_by_role("button", name="repair 3a in row 77").click()
        page.get_by_role("heading", name="Repairs, as steps").wait_for()
        page.get_by_role("button", name="leave loan no. out").click()
        page.get_by_text("drop-column").first.wait_for()
        page.get_by_label("To predict").select_option("class")
        page.get_by_role("link", name="Ask a question").click()
        page.get_by_label("cost of taking bad for good").fill("5")
        page.keyboard.press("Tab")
        page.get_by_text("A bad taken for good costs 5.").wait_for()
        page.get_by_label("Folds").fill("3")
        page.keyboard.press("Tab")
        page.wait_for_url("**folds=3**")
        page.get_by_text("Learners: chosen for this table").click()
        for name in ("NaiveBayes", "LogisticRegression"):
            page.get_by_label(name, exact=True).check()
            page.get_by_text("Learners:").filter(has_text=name).wait_for()
        asked = commands(page.locator("main"))
        page.get_by_role("button", name="Run the study").click()
        page.get_by_role("heading", name="Answer", exact=True).wait_for(timeout=180_000)
        study = Study.open(mine / "loans-study")
        expect(page.get_by_text(study.answer)).to_be_visible()
        page.get_by_role("link", name="Decide: move costs and doubt").click()
        page.locator("#sentence").filter(has_text="per row").wait_for()
        field = page.get_by_label("A bad taken for good costs, as a number")
        field.fill("8")
        field.press("Tab")
        page.wait_for_url("**bad%3Agood%3D8**")
        saving = page.get_by_role("region", name="Save")
        decided = commands(saving)
        page.get_by_role("button", name="Save this operating point").click()
        page.get_by_text("Saved as loans-study/model-decides.lyceum").wait_for()
        page.get_by_role("link", name="Ask it about a row").click()
        page.get_by_role("heading", name="What is class?").wait_for()
        page.get_by_label("duration", exact=True).fill("60")
        page.wait_for_url("**duration**")
        (answer,) = ask_model(
            mine / "loans-study/model-decides.lyceum", [{"duration": 60}]
        )
        page.get_by_role("heading", name=f"{answer.action}, ").wait_for()
        (question,) = commands(page.locator("main"))
        check_accessible(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Export", exact=True).click()
        download.value.save_as(tmp_path / "answer.html")
        said = page.get_by_role("region", name="Answer to row 1").inner_text()
        page.goto((tmp_path / "answer.html").as_uri())
        page.get_by_text("and asks no server.").wait_for()
        expect(page.get_by_role("heading", name=f"{answer.action}, ")).to_be_visible()
        assert said.splitlines()[0] in page.locator("main").inner_text()
    # the same by the commands that were shown, elsewhere
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "loans.xlsx", other / "loans.xlsx")
    for command in [*asked, *decided]:
        run(other, command)
    assert results(other / "loans-study") == results(mine / "loans-study")
    both = [
        lyceum.load(folder / "loans-study/model-decides.lyceum")
        for folder in (mine, other)
    ]
    rows = lyceum.scan(mine / "loans-repaired.csv", target="class")
    assert both[0].predict(rows).tolist() == both[1].predict(rows).tolist()
    assert json.loads(run(other, question, "--json")) == [answer.as_dict()]

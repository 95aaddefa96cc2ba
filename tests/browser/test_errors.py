"""Errors: the worst group, wrong rows explained, and learners that disagree."""

import json
import shlex
import shutil

import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

import lyceum
from lyceum import datasets
from lyceum.studies import study_errors

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    shutil.copy(datasets.path("german_credit"), folder / "credit.csv")
    lyceum.study(
        folder / "credit.csv",
        "class",
        learners=["NaiveBayes", "LogisticRegression"],
        folds=3,
        n_settings=1,
        committees=False,
        out=folder / "study",
    )
    with opened(folder) as workbench:
        yield workbench


def test_the_worst_group_and_wrong_rows_are_those_of_the_library(workbench, page):
    errors = study_errors(workbench.folder / "study", "NaiveBayes")
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/errors")
    page.get_by_role("link", name="study", exact=True).click()
    page.get_by_role("combobox", name="Learner").select_option("NaiveBayes")
    page.get_by_text(f"{errors.n_wrong} rows of 1,000 are decided wrongly").wait_for()
    expect(page.get_by_role("region", name="The worst group")).to_contain_text(
        errors.worst_group
    )
    first = errors.wrong_rows(1)[0]
    table = page.get_by_role("table", name="Wrong rows, the dearest and surest first")
    line = table.get_by_role("row").nth(1)
    expect(line).to_contain_text(f"{100 * first.probability:.1f} %")
    line.get_by_role("button", name=f"Explain row {first.row}").click()
    card = page.get_by_role("region", name=f"Row {first.row}:")
    example = errors.explain(first.row)
    adds = dict(zip(example.explanation.names, example.explanation.contributions[0]))
    largest = max(adds, key=lambda name: abs(adds[name]))
    card.get_by_text("numbers").click()
    expect(card.get_by_role("row").nth(1)).to_contain_text(f"{adds[largest]:.3g}")
    card.get_by_role("button", name="as command").click()
    command = shlex.split(card.locator(".code pre").inner_text())
    printed = by_command([*command, "--json"], workbench.folder)
    assert json.loads(printed) == json.loads(json.dumps(example.as_dict()))
    disputed = page.get_by_role("region", name="Rows that learners do not agree on")
    expect(disputed).to_contain_text(f"{errors.n_disputed} rows")
    page.get_by_role("button", name="Undo").click()
    expect(card).to_have_count(0)
    check_accessible(page)


def test_errors_in_the_dark_and_on_a_phone(workbench, page):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/errors?out=study&row=3")
    page.get_by_role("region", name="Row 3:").get_by_role("figure").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    check_accessible(page)

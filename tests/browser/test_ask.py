"""Ask: a form from the schema; what the model says moves with every cell."""

import json
import shlex
import shutil

import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

import lyceum
from lyceum import datasets
from lyceum.workflows import ask_model, fit_file

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ask")
    for learner in ("LogisticRegression", "KNeighborsClassifier"):
        model = fit_file(datasets.path("german_credit"), "class", learner)
        lyceum.save(model, folder / f"{learner}.lyceum")
    shutil.copy(datasets.path("weather"), folder / "weather.csv")
    with opened(folder, "LogisticRegression.lyceum") as workbench:
        yield workbench


def asked(workbench, name, *rows):
    return ask_model(workbench.folder / f"{name}.lyceum", rows)


def card(page, row=1):
    return page.get_by_role("region", name=f"Answer to row {row}")


def share_text(answer, label):
    return f"{100 * answer.decision.probabilities[label]:.1f} %"


def check_card(page, answer, row=1):
    """The card says what the library says."""
    share = share_text(answer, answer.action)
    heading = card(page, row).get_by_role("heading", level=2)
    heading.get_by_text(f"{answer.action}, {share}").wait_for()
    first = answer.as_dict()["contributions"][0]
    line = card(page, row).get_by_role("row").filter(has_text=first["column"]).first
    expect(line).to_contain_text(f"{first['adds']:.4g}")


def test_cells_move_posterior_explanation_and_action(workbench, page):
    page.goto(workbench.address)
    page.get_by_role("heading", name="What is class?").wait_for()
    (typical,) = asked(workbench, "LogisticRegression", {})
    check_card(page, typical)
    page.get_by_label("duration", exact=True).fill("60")
    page.get_by_label("purpose").select_option(label="new car")
    cells = {"duration": 60, "purpose": "new car"}
    check_card(page, asked(workbench, "LogisticRegression", cells)[0])
    page.get_by_label("housing").select_option(label="(missing)")
    page.get_by_text("housing: missing").wait_for()
    check_card(
        page, asked(workbench, "LogisticRegression", {**cells, "housing": None})[0]
    )
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("purpose")).to_have_value('"radio/tv"')
    check_card(page, asked(workbench, "LogisticRegression", {"duration": 60})[0])


def test_the_smallest_change_can_be_taken(workbench, page):
    page.goto(workbench.address)
    (typical,) = asked(workbench, "LogisticRegression", {})
    page.get_by_text(f"It would be {typical.change.action} with").wait_for()
    page.get_by_role("button", name="Change it so").click()
    (altered,) = asked(workbench, "LogisticRegression", typical.change.columns)
    assert altered.action == typical.change.action
    check_card(page, altered)


def test_rows_stand_side_by_side_up_to_five(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/ask?model=KNeighborsClassifier.lyceum")
    more = page.get_by_role("button", name="Another row beside it")
    more.click()
    page.get_by_label("age, row 2", exact=True).fill("70")
    answers = asked(workbench, "KNeighborsClassifier", {}, {"age": 70})
    for row, answer in enumerate(answers, start=1):
        check_card(page, answer, row)
        shown = card(page, row).get_by_role("table", name="Neighbors")
        for neighbor in answer.detail.rows:
            expect(shown.get_by_role("rowheader", name=str(neighbor[0]))).to_have_count(
                1
            )
    for row in (3, 4, 5):
        more.click()
        card(page, row).wait_for()
    expect(more).to_be_disabled()
    page.get_by_role("button", name="Remove row 1").click()
    check_card(page, answers[1], 1)
    check_accessible(page)
    expect(card(page, 5)).to_have_count(0)


def test_the_command_gives_the_same_answer(workbench, page):
    page.goto(workbench.address)
    query = (
        "model=LogisticRegression.lyceum&row=%7B%22age%22%3A20%2C%22job%22%3Anull%7D"
    )
    page.goto(f"{workbench.origin}/ask?{query}")
    page.get_by_role("button", name="as command").click()
    command = shlex.split(page.locator(".code pre").inner_text())
    assert command[:3] == ["lyceum", "ask", "LogisticRegression.lyceum"]
    printed = by_command([*command, "--json"], workbench.folder)
    (answer,) = asked(workbench, "LogisticRegression", {"age": 20, "job": None})
    assert json.loads(printed) == [answer.as_dict()]
    check_card(page, answer)
    page.get_by_role("button", name="as recipe").click()
    page.get_by_text("age = 20").wait_for()


def test_a_fault_is_a_sentence_and_the_form_stays(workbench, page):
    page.goto(workbench.address)
    page.goto(
        f'{workbench.origin}/ask?model=LogisticRegression.lyceum&row={{"agee":1}}'
    )
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("did you mean 'age'?")
    page.get_by_role("button", name="Back to the typical row").click()
    check_card(page, asked(workbench, "LogisticRegression", {})[0])
    page.complaints.clear()  # the browser's own note on status 422


def test_without_a_model_one_is_chosen(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/ask")
    page.get_by_role("link", name="KNeighborsClassifier.lyceum").click()
    page.get_by_role("heading", name="What is class?").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_a_phone_is_wide_enough(workbench, page, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(workbench.address)
    page.get_by_text("It would be").wait_for()
    check_accessible(page)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375

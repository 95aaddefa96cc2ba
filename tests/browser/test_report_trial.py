"""The model in the report of a study: a person changes a cell, and page and Python agree."""

import json
from functools import partial

import pandas as pd
import pytest
from tests.studies.conftest import shorten_conclusions

import lyceum
from lyceum import datasets

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        shorten_conclusions(patch)
        return lyceum.study(
            datasets.path("german_credit"),
            "class",
            learners=["LogisticRegression"],
            folds=2,
            n_settings=1,
            out=tmp_path_factory.mktemp("study") / "study",
        )


def answer_of(page):
    return json.loads(page.locator("#try-form").get_attribute("data-answer"))


def cells_of(page):
    read = """() => Object.fromEntries([...document.querySelectorAll("#try-form [name]")].map(
        (e) => [e.name, e.value === "" ? null : e.type === "number" ? +e.value : e.value]))"""
    return page.evaluate(read)


def check(page, model):
    expected = lyceum.decide(model, cells_of(page)).probabilities
    given = answer_of(page)["probabilities"]
    assert max(abs(given[label] - share) for label, share in expected.items()) < 1e-12
    return given


def test_cells_of_the_saved_page_move_the_decision_as_in_python(study, page):
    page.goto(study.report_path.as_uri())
    model = study.model
    seen = [check(page, model)]
    frame = pd.read_csv(datasets.path("german_credit"))
    numbers = [name for name in frame if frame[name].dtype.kind in "if"]
    for name in numbers[:3]:
        for value in ("1", "40"):
            page.locator(f'#try-form [name="{name}"]').fill(value)
            seen.append(check(page, model))
    account = page.locator('#try-form [name="checking_status"]')
    for i in range(account.locator("option").count() - 1):
        account.select_option(index=i)
        seen.append(check(page, model))
    assert len({round(shares["good"], 9) for shares in seen}) > 5
    text = page.locator("#try-answer").inner_text()
    assert f"{100 * seen[-1]['good']:.1f} %" in text
    account.select_option("")  # missing, which this model refuses in Python too
    expect(page.locator("#try-answer")).to_contain_text("'checking_status' is missing")
    page.get_by_role("button", name="The row at first").click()
    assert check(page, model) == seen[0]


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_form_fits_every_screen(study, page, width, theme, tmp_path):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.goto(study.report_path.as_uri() + "#try")
    page.locator("#try-form").scroll_into_view_if_needed()
    beyond = partial(
        page.evaluate, "() => document.documentElement.scrollWidth - innerWidth"
    )
    assert beyond() <= 0
    page.locator("#try").screenshot(path=tmp_path / "try.png")

"""Compare: several studies side by side, with their ranks and the critical difference."""

import json
import shlex
import shutil

import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

import lyceum
from lyceum import datasets
from lyceum.errors import SettingError
from lyceum.studies import Study, compare_studies

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    shutil.copy(datasets.path("weather"), folder / "weather.csv")
    for target in ("play", "windy", "outlook"):
        lyceum.study(
            folder / "weather.csv",
            target,
            learners=["NaiveBayes", "KNeighborsClassifier", "DecisionTreeClassifier"],
            folds=2,
            n_settings=1,
            committees=False,
            out=folder / f"{target}-study",
        )
    with opened(folder) as workbench:
        yield workbench


def test_ranks_are_those_of_the_library(workbench, page):
    folder = workbench.folder
    names = ["play-study", "windy-study", "outlook-study"]
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/compare")
    for name in names:
        page.get_by_label(name).check()
    comparison = compare_studies([folder / name for name in names])
    # by hand from what the studies themselves say
    for name, row in zip(names, comparison.losses):
        study = Study.open(folder / name)
        said = [study.comparison[learner].loss for learner in comparison.learners]
        assert said == row.tolist()
    page.get_by_text(f"chi-square {comparison.statistic:.4g}, p =").wait_for()
    picture = page.get_by_role("img", name="Mean ranks")
    labels = picture.locator("g.rank > title").all_text_contents()
    study = Study.open(folder / names[0])
    wanted = {
        f"{study.comparison[learner].label}: {rank:.2f}"
        for learner, rank in zip(comparison.learners, comparison.mean_ranks)
    }
    assert set(labels) == wanted
    critical = f"CD {comparison.critical_difference:.2f}"
    expect(picture).to_contain_text(critical)
    pair = comparison.pairs[0]
    line = page.get_by_role("table", name="Pairs by Wilcoxon").get_by_role("row").nth(1)
    expect(line).to_contain_text(study.comparison[pair.first].label)
    expect(line).to_contain_text(f"{pair.p_value:.3g}")
    page.get_by_text("with so few, Wilcoxon's test cannot show").wait_for()
    check_accessible(page)
    page.get_by_role("button", name="as command").click()
    command = shlex.split(page.locator(".code pre").inner_text())
    printed = by_command([*command, "--json"], folder)
    assert json.loads(printed) == json.loads(json.dumps(comparison.as_dict()))
    page.get_by_role("button", name="as Python").click()
    page.get_by_text("lyceum.studies.compare_studies(").wait_for()
    page.get_by_label("outlook-study").uncheck()
    two = compare_studies([folder / name for name in names[:2]])
    page.get_by_text(f"over 2 tables: chi-square {two.statistic:.4g}").wait_for()
    with pytest.raises(SettingError, match="'Ridge' is not in all of them"):
        compare_studies([folder / name for name in names], learners=["Ridge"])


def test_compare_in_the_dark_and_on_a_phone(workbench, page):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/compare?study=play-study&study=windy-study")
    page.get_by_role("img", name="Mean ranks").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    check_accessible(page)


def test_studies_of_several_tables_are_run_and_ranked(tmp_path, page):
    shutil.copy(datasets.path("weather"), tmp_path / "weather.csv")
    shutil.copy(datasets.path("penguins"), tmp_path / "penguins.csv")
    with opened(tmp_path) as workbench:
        page.goto(workbench.address)
        page.goto(f"{workbench.origin}/compare")
        page.get_by_role("heading", name="Run studies of several tables").click()
        page.get_by_label("weather.csv", exact=True).check()
        page.get_by_label("penguins.csv", exact=True).check()
        page.get_by_label("To predict in weather.csv").select_option("play")
        page.get_by_label("To predict in penguins.csv").select_option("species")
        page.get_by_label("NaiveBayes", exact=True).check()
        page.get_by_text("choose two learners at least").first.wait_for()
        page.get_by_label("KNeighborsClassifier", exact=True).check()
        page.get_by_label("Folds").fill("2")
        page.keyboard.press("Tab")
        page.wait_for_url("**folds=2**")
        check_accessible(page)
        page.get_by_role("button", name="as command").first.click()
        lines = page.locator(".code pre").inner_text().splitlines()
        page.get_by_role("button", name="Run 2 studies").click()
        page.get_by_text("Friedman's test over 2 tables").wait_for(timeout=300_000)
        outs = ["compare/weather.csv-play", "compare/penguins.csv-species"]
        comparison = compare_studies(
            [tmp_path / out for out in outs],
            learners=["NaiveBayes", "KNeighborsClassifier"],
        )
        shown = page.get_by_text(f"chi-square {comparison.statistic:.4g}, p =")
        expect(shown).to_be_visible()
        page.get_by_role("button", name="All are finished").wait_for()
        check_accessible(page)
        page.goto("about:blank")
    # the shown commands do the same in another folder
    other = tmp_path / "by-command"
    other.mkdir()
    for name in ("weather.csv", "penguins.csv"):
        shutil.copy(tmp_path / name, other / name)
    for line in lines:
        command = shlex.split(line)
        options = ["--json"] if command[1] == "ranks" else []
        said = by_command([*command, *options], other)
    printed = json.loads(said)
    wanted = json.loads(json.dumps(comparison.as_dict()))
    assert printed["losses"] == wanted["losses"]
    assert printed["mean_ranks"] == wanted["mean_ranks"]


def test_a_killed_comparison_goes_on_where_it_was(tmp_path, page):
    shutil.copy(datasets.path("weather"), tmp_path / "weather.csv")
    lines = datasets.path("german_credit").read_text("utf-8").splitlines(True)
    (tmp_path / "credit.csv").write_text("".join(lines[:401]), "utf-8")
    slow = "HistGradientBoostingClassifier,NaiveBayes"
    query = f"on=credit.csv%3Dclass&on=weather.csv%3Dplay&learners={slow}&folds=3"
    with opened(tmp_path) as workbench:
        page.goto(workbench.address)
        page.goto(f"{workbench.origin}/compare?{query}")
        page.get_by_role("button", name="Run 2 studies").click()
        progress = page.get_by_role("progressbar", name="finished folds of credit.csv")
        progress.wait_for(timeout=60_000)
        workbench.process.kill()
        workbench.process.wait()
    page.complaints.clear()  # the connection of the killed one
    with opened(tmp_path) as workbench:
        page.goto(workbench.address)
        page.goto(f"{workbench.origin}/compare?{query}")
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Stop after what is finished").click()
        # the first answers from what it has, the second does not begin
        page.get_by_text("has results from a part").wait_for(timeout=300_000)
        expect(page.get_by_text("not begun")).to_be_visible()
        page.get_by_role("button", name="Continue 2 studies").click()
        page.get_by_text("Friedman's test over 2 tables").wait_for(timeout=300_000)
        page.goto("about:blank")
    page.complaints.clear()
    assert Study.open(tmp_path / "compare/credit.csv-class").finished
    assert Study.open(tmp_path / "compare/weather.csv-play").finished

"""Question and Study: asked by pointing, followed as folds finish, stopped, killed, continued."""

import re
import shlex
import shutil
import time

import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

import lyceum
from lyceum import datasets
from lyceum.studies import Study, ranking_so_far

expect = pytest.importorskip("playwright.sync_api").expect

SLOW = "RandomForestClassifier,HistGradientBoostingClassifier,SVC,MLPClassifier"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    shutil.copy(datasets.path("penguins"), folder / "penguins.csv")
    # a part of the table: its folds take as long as a browser needs to follow them, no longer
    lines = datasets.path("german_credit").read_text("utf-8").splitlines(True)
    (folder / "credit.csv").write_text("".join(lines[:301]), "utf-8")
    return folder


@pytest.fixture(scope="module")
def workbench(folder):
    with opened(folder) as workbench:
        yield workbench


def values(results):
    """Everything of a study but its times."""
    return {
        k: v for k, v in results.as_dict().items() if k not in ("timings", "recipe")
    }


def test_from_a_file_to_an_answer_that_the_shown_command_repeats(
    workbench, folder, page
):
    page.goto(workbench.address)
    page.get_by_role("link", name="penguins.csv").click()
    page.get_by_label("To predict").select_option("sex")
    page.get_by_role("link", name="Ask a question").click()
    page.get_by_text("2 classes: female 165 · male 168").wait_for()
    page.get_by_text("333 rows: an error rate of 10 % would be known as").wait_for()
    page.get_by_label("cost of taking female for male").fill("4")
    page.keyboard.press("Tab")
    page.get_by_text("A female taken for male costs 4.").wait_for()
    assert page.get_by_text(
        "So female is the answer from a posterior of 20.0 %"
    ).count()
    page.get_by_label("Folds").fill("3")
    page.keyboard.press("Tab")
    page.get_by_text("Learners: chosen for this table").click()
    page.get_by_label("NaiveBayes", exact=True).check()
    page.get_by_text("Learners: NaiveBayes").wait_for()
    page.get_by_label("LogisticRegression", exact=True).check()
    page.get_by_text("Learners: NaiveBayes, LogisticRegression").wait_for()
    check_accessible(page)
    page.get_by_role("button", name="as command").click()
    command = shlex.split(page.locator(".code pre").text_content())
    page.get_by_role("button", name="Run the study").click()
    page.get_by_role("heading", name="Answer", exact=True).wait_for(timeout=60_000)
    check_accessible(page)
    study = Study.open(folder / "penguins-study")
    expect(page.get_by_text(study.answer)).to_be_visible()
    for learner in study.comparison.learners:
        row = page.locator(f"tr[data-learner='{learner.name}']")
        cells = row.locator("td").all_text_contents()
        assert cells[0] == study.comparison.loss_text(learner)
        assert cells[1] == study.comparison.interval_text(learner)
    # the same from the command that was shown
    command[command.index("--out") + 1] = "by-command"
    by_command(command, folder)
    assert values(Study.open(folder / "by-command")) == values(study)


def test_a_learner_is_looked_at_and_another_one_added(workbench, folder, page):
    out = folder / "geyser-study"
    shutil.copy(datasets.path("old_faithful"), folder / "geyser.csv")
    options = {"target": "waiting", "folds": 3, "committees": False}
    lyceum.study(folder / "geyser.csv", **options, learners=["Ridge"], out=out)
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/study?out=geyser-study")
    page.get_by_role("button", name="ridge regression").click()
    page.get_by_role("heading", name="ridge regression").wait_for()
    ridge = Study.open(out).comparison["Ridge"]
    row = page.locator("tr:has(th[scope=row]:text-is('RMSE'))")
    expect(row.locator("td")).to_have_text(f"{ridge.rmse:.4g}")
    page.get_by_label("Another learner, on the same folds").select_option(
        "LinearRegression"
    )
    page.get_by_role("button", name="Add it").click()
    page.locator("tr[data-learner='LinearRegression']").wait_for(timeout=60_000)
    both = lyceum.study(
        folder / "geyser.csv",
        **options,
        learners=["Ridge", "LinearRegression"],
        out=folder / "both",
    )
    assert values(Study.open(out)) == values(both)


def test_a_study_is_stopped_with_an_answer_from_what_is_finished(
    workbench, folder, page
):
    page.goto(workbench.address)
    query = f"file=credit.csv&target=class&out=stopped&learners={SLOW}"
    page.goto(f"{workbench.origin}/question?{query}")
    page.get_by_role("button", name="Run the study").click()
    page.get_by_role("img", name="error rate on unseen rows").wait_for(timeout=60_000)
    page.get_by_role("button", name="Stop, and answer").click()
    page.get_by_role("heading", name="Answer", exact=True).wait_for(timeout=60_000)
    expect(page.get_by_text("this is the answer so far")).to_be_visible()
    study = Study.open(folder / "stopped")
    assert not study.finished
    expect(page.get_by_text(study.answer)).to_be_visible()
    # continued, it runs the folds that are left, with the time that was asked for
    before = ranking_so_far(folder / "stopped").n_done
    page.get_by_role("button", name="Continue").click()
    wanted = re.compile(f"(?!{before} )\\d+ of \\d+ folds")
    page.get_by_role("status").filter(has_text=wanted).wait_for(timeout=120_000)
    page.get_by_role("button", name="Stop, and answer").click()
    page.get_by_text("this is the answer so far").wait_for(timeout=120_000)
    assert ranking_so_far(folder / "stopped").n_done > before


def test_a_killed_workbench_loses_no_fold(folder, page):
    with opened(folder) as workbench:
        page.goto(workbench.address)
        query = f"file=credit.csv&target=class&out=killed&learners={SLOW}"
        page.goto(f"{workbench.origin}/question?{query}")
        page.get_by_role("button", name="Run the study").click()
        page.get_by_role("img", name="error rate").wait_for(timeout=60_000)
        workbench.process.kill()
        workbench.process.wait()
    ranking = wait_for_study(folder / "killed")
    assert 0 < ranking.n_done < ranking.n_tasks
    page.complaints.clear()  # the connection of the killed one
    with opened(folder) as workbench:
        page.goto(workbench.address)
        page.goto(f"{workbench.origin}/study?out=killed")
        done = f"{ranking.n_done} of {ranking.n_tasks} folds"
        page.get_by_text(done).wait_for()
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("running").wait_for()
        page.get_by_role("button", name="Stop, and answer").click()
        page.get_by_role("heading", name="Answer", exact=True).wait_for(timeout=60_000)
        page.goto("about:blank")
    assert ranking_so_far(folder / "killed").n_done >= ranking.n_done
    page.complaints.clear()


def wait_for_study(folder):
    """The ranking once the process of the study has noticed that its workbench is gone."""
    end = time.monotonic() + 60
    while True:
        try:
            return ranking_so_far(folder)
        except lyceum.errors.LyceumError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)

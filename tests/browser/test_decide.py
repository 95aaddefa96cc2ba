"""The Decide page: costs, doubt and shares by sliders, with the library's numbers."""

import re
import shlex
import shutil

import numpy as np
import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

import lyceum
from lyceum import datasets
from lyceum.decision import error_reject_curve, minimum_risk
from lyceum.workflows import ask_model

expect = pytest.importorskip("playwright.sync_api").expect

CLASSES = ["bad", "good"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decisions")
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
    return folder


@pytest.fixture(scope="module")
def workbench(folder):
    with opened(folder) as workbench:
        yield workbench


def expected(study, name, loss, doubt=None, priors=None):
    """Cost, error and reject rate of the decisions, in plain NumPy."""
    y, proba = study.out_of_sample(name)
    weight = np.ones(len(y))
    if priors is not None:
        ratio = np.asarray(priors) / (np.bincount(y) / len(y))
        proba = proba * ratio
        proba = proba / proba.sum(axis=1, keepdims=True)
        weight = ratio[y]
    index = minimum_risk(proba, loss, doubt).index
    rejected = index < 0
    costs = np.where(rejected, doubt or 0.0, np.asarray(loss)[y, index])
    error = np.nan
    if not rejected.all():
        error = weight[(index != y) & ~rejected].sum() / weight[~rejected].sum()
    shares = [
        weight @ costs / weight.sum(),
        error,
        weight[rejected].sum() / weight.sum(),
    ]
    return [float(share) for share in shares]


def numbers(page, cost):
    """The numbers of the sentence, once it names this cost."""
    text = page.locator("#sentence")
    text.filter(has_text=f"costs {float(f'{cost:.4g}'):g} per row").wait_for()
    return [float(part) for part in re.findall(r"\d+\.?\d*", text.text_content())]


def fill(page, label, value):
    field = page.get_by_label(f"{label}, as a number")
    field.fill(str(value))
    field.press("Tab")


def test_the_sentence_the_table_and_the_ranking_follow_the_costs(
    workbench, folder, page
):
    study = lyceum.studies.Study.open(folder / "study")
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/decide?out=study")
    name = study.choice.name
    cost, error, _ = expected(study, name, [[0.0, 1.0], [1.0, 0.0]])
    assert numbers(page, cost)[:2] == pytest.approx([cost, 100 * error], abs=0.06)
    fill(page, "A bad taken for good costs", 5)
    loss = [[0.0, 5.0], [1.0, 0.0]]
    cost, error, _ = expected(study, name, loss)
    assert numbers(page, cost)[:2] == pytest.approx([cost, 100 * error], abs=0.06)
    page.get_by_label("Rows may be left to a person").check()
    fill(page, "Not to decide costs", 0.6)
    cost, error, rejected = expected(study, name, loss, 0.6)
    seen = numbers(page, cost)
    assert seen == pytest.approx([cost, 100 * error, 100 * rejected], abs=0.06)
    y, proba = study.out_of_sample(name)
    at = error_reject_curve(y, proba, loss=loss).at(0.6)
    assert [at["error"], at["reject_rate"]] == pytest.approx([error, rejected])
    # the confusion table
    index = minimum_risk(proba, loss, 0.6).index
    table = np.zeros((2, 3))
    np.add.at(table, (y, index % 3), 1)
    cells = page.locator("svg.matrix g.cell text").all_text_contents()
    assert [float(cell) for cell in cells] == table.ravel().tolist()
    # the ranking
    titles = page.locator("section[aria-label=Ranking] g.dot > title")
    costs = {
        learner.label: expected(study, learner.name, loss, 0.6)[0]
        for learner in study.comparison.learners
    }
    for title in titles.all_text_contents():
        label, _, value = title.rpartition(": ")
        assert float(value) == pytest.approx(costs[label], rel=1e-3)
    check_accessible(page)


def test_undo_moves_the_sliders_back(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/decide?out=study")
    sentence = page.locator("#sentence")
    sentence.filter(has_text="per row").wait_for()
    texts = [sentence.text_content()]
    for cost in (3, 6):
        fill(page, "A bad taken for good costs", cost)
        page.wait_for_url(f"**bad%3Agood%3D{cost}**")
        texts.append(sentence.text_content())
    assert len(set(texts)) == 3
    field = page.get_by_label("A bad taken for good costs, as a number")
    for cost, text in ((3, texts[1]), (1, texts[0])):
        page.get_by_role("button", name="Undo").click()
        expect(sentence).to_have_text(text)
        expect(field).to_have_value(str(cost))
    page.go_forward()
    expect(sentence).to_have_text(texts[1])


def test_the_model_of_a_study_is_asked_by_its_folder(workbench, folder, page):
    (answer,) = ask_model(folder / "study" / "model.lyceum", [{"duration": 60}])
    page.goto(workbench.address)
    page.goto(f'{workbench.origin}/ask?out=study&row={{"duration":60}}')
    share = f"{100 * answer.decision.probabilities[answer.action]:.1f} %"
    page.get_by_role("heading", name=f"{answer.action}, {share}").wait_for()
    page.get_by_role("button", name="as command").click()
    page.get_by_text("lyceum ask study/model.lyceum --row").wait_for()
    page.goto(f"{workbench.origin}/ask?out=none")
    expect(page.get_by_role("alert").first).to_have_text(
        "the study none has no model yet"
    )
    page.complaints.clear()  # the browser's own note on status 404


def test_other_shares_and_the_operating_point_in_the_model(workbench, folder, page):
    study = lyceum.studies.Study.open(folder / "study")
    page.goto(workbench.address)
    query = "out=study&loss=bad:good=5,good:bad=1&doubt=0.6"
    page.goto(f"{workbench.origin}/decide?{query}")
    fill(page, "Share of bad where it is used", 0.1)
    loss = [[0.0, 5.0], [1.0, 0.0]]
    cost, error, rejected = expected(study, study.choice.name, loss, 0.6, [0.1, 0.9])
    seen = numbers(page, cost)
    assert seen == pytest.approx([cost, 100 * error, 100 * rejected], abs=0.06)
    page.wait_for_url("**prior=bad%3D0.1**")
    page.get_by_role("button", name="as command").click()
    page.get_by_text("--prior bad=0.1").wait_for()
    command = shlex.split(page.locator(".code pre").text_content())
    page.get_by_role("button", name="Save this operating point").click()
    page.get_by_text("Saved as study/model-decides.lyceum").wait_for()
    saved = lyceum.load(folder / "study" / "model-decides.lyceum")
    rows = lyceum.scan(folder / "credit.csv", target="class")
    proba = study.model.predict_proba(rows) * (np.array([0.1, 0.9]) / [0.3, 0.7])
    proba = proba / proba.sum(axis=1, keepdims=True)
    index = minimum_risk(proba, loss, 0.6).index
    wanted = np.array(["bad", "good", "reject"])[index]
    assert saved.predict(rows).tolist() == wanted.tolist()
    command[command.index("--out") + 1] = "by-command.lyceum"
    by_command(command, folder)
    again = lyceum.load(folder / "by-command.lyceum")
    assert again.predict(rows).tolist() == wanted.tolist()


def test_a_million_posteriors_are_decided_as_by_the_library(workbench, page):
    page.goto(workbench.address)
    page.get_by_role("link", name="credit.csv").wait_for()
    result = page.evaluate(
        """async () => {
          const { decide } = await import("/page/pages/decide/engine.js");
          const n = 1_000_000;
          const y = Float64Array.from({ length: n }, (_, i) => (i * 7) % 3 === 0 ? 0 : 1);
          const p = Float64Array.from({ length: n }, (_, i) => ((i * 7919) % 10007) / 10007);
          const sample = { y, weight: null, posteriors: [p, p.map((each) => 1 - each)] };
          const shares = [0.3, 0.7];
          const point = { loss: [[0, 5], [1, 0]], doubt: 0.6, priors: shares, trained: shares };
          let best = Infinity;
          let made;
          for (let i = 0; i < 7; i += 1) {
            const begin = performance.now();
            made = decide(sample, point);
            best = Math.min(best, performance.now() - begin);
          }
          return { best, cost: made.cost, rejected: made.rejectRate };
        }"""
    )
    i = np.arange(1_000_000)
    y = np.where((i * 7) % 3 == 0, 0, 1)
    p = (i * 7919) % 10007 / 10007
    loss = np.array([[0.0, 5.0], [1.0, 0.0]])
    index = minimum_risk(np.column_stack([p, 1 - p]), loss, 0.6).index
    costs = np.where(index < 0, 0.6, loss[y, index])
    assert result["cost"] == pytest.approx(costs.mean(), rel=1e-9)
    assert result["rejected"] == pytest.approx((index < 0).mean(), rel=1e-9)
    print(f"decided in {result['best']:.1f} ms")  # a frame has 16

"""`lyceum study`."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

import lyceum
from lyceum.studies import Study
from lyceum.studies.report import page as _report

RENDER = _report.render
FEW = ("--learners", "NaiveBayes,LinearDiscriminantAnalysis", "--folds", "3")


@pytest.fixture(scope="module", autouse=True)
def no_pictures():
    """A report of one line: tests/studies has the pages, and one test here a page from a
    command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            _report,
            "render",
            lambda study, problems=None, content=None: "<!doctype html>",
        )
        yield


@pytest.fixture(scope="module")
def applicants(tmp_path_factory, credit):
    """Every fourth row of german_credit, and five of its columns."""
    path = tmp_path_factory.mktemp("data") / "applicants.csv"
    names = ["checking_status", "duration", "credit_amount", "age", "housing", "class"]
    pd.read_csv(credit)[names][::4].to_csv(path, index=False)
    return str(path)


@pytest.fixture(scope="module")
def done(tmp_path_factory, applicants, no_pictures):
    """A finished study of two learners."""
    folder = tmp_path_factory.mktemp("study") / "credit"
    costs = {("bad", "good"): 5, ("good", "bad"): 1}
    return lyceum.study(
        applicants,
        "class",
        learners=["NaiveBayes", "LinearDiscriminantAnalysis"],
        loss=costs,
        folds=3,
        out=folder,
    )


def test_the_terminal_has_ranking_answer_and_places(
    command, applicants, done, tmp_path
):
    out = tmp_path / "s"
    code, text, err = command(
        "study",
        applicants,
        "-t",
        "class",
        *FEW,
        "--loss",
        "bad:good=5,good:bad=1",
        "-o",
        out,
        width=110,
    )
    assert (code, err) == (0, "")
    assert max(map(len, text.splitlines())) <= 110
    found = Study.open(out)
    assert [s.loss for s in found.comparison.learners] == [
        s.loss for s in done.comparison.learners
    ]
    assert " ".join(done.answer.split()) in " ".join(text.split())
    assert all(s.label in text for s in found.comparison.learners)
    assert text.count("●") == 3
    for name in ("report.html", "model.lyceum", "results.json"):
        assert (out / name).is_file()
        assert name in "".join(text.split())


def finished(applicants, done):
    """The command of the study that is done."""
    loss = "bad:good=5,good:bad=1"
    return ["study", applicants, "-t", "class", *FEW, "--loss", loss, "-o", done.folder]


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_has_the_ranking_without_drawings(
    command, applicants, done, width
):
    code, text, _ = command(*finished(applicants, done), width=width)
    assert code == 0
    assert max(map(len, text.splitlines())) <= width
    assert "●" not in text


def test_json_is_results_json(command, applicants, done):
    code, text, _ = command(*finished(applicants, done), "--json")
    assert code == 0
    assert json.loads(text) == json.loads(done.results_path.read_text(encoding="utf-8"))


def test_a_recipe_runs_again_and_its_page_has_pictures(
    command, done, tmp_path, monkeypatch
):
    monkeypatch.setattr(_report, "render", RENDER)
    code, _, err = command(
        "study", "--recipe", done.folder / "recipe.toml", "-o", tmp_path / "again"
    )
    assert (code, err) == (0, "")
    again = Study.open(tmp_path / "again")
    assert again.report_path.read_text(encoding="utf-8").count("<figure>") > 5
    assert [s.loss for s in again.comparison.learners] == [
        s.loss for s in done.comparison.learners
    ]


def test_the_model_decides_by_the_costs_of_the_study(
    command, applicants, done, tmp_path
):
    assert (
        command("predict", done.model_path, applicants, "-o", tmp_path / "p.csv")[0]
        == 0
    )
    proba = done.model.predict_proba(lyceum.scan(applicants, target="class"))
    said = pd.read_csv(tmp_path / "p.csv")["predicted"]
    assert ((said == "bad") == (5 * proba[:, 0] > proba[:, 1])).all()


def test_another_study_is_not_replaced_without_force(
    command, applicants, done, tmp_path
):
    out = shutil.copytree(done.folder, tmp_path / "s")
    before = (out / "results.json").read_bytes()
    costs = ("--loss", "bad:good=5,good:bad=1")
    arguments = [
        "study",
        applicants,
        "-t",
        "class",
        *FEW,
        *costs,
        "-o",
        out,
        "--seed",
        "7",
    ]  # only the seed
    code, text, err = command(*arguments)
    assert (code, text) == (2, "")
    assert "force" in err
    assert (out / "results.json").read_bytes() == before
    assert command(*arguments, "--force")[0] == 0
    assert (out / "results.json").read_bytes() != before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv", "-t", "y"], "there is no file nothing.csv"),
        (["{credit}"], "which column to predict"),
        (["{credit}", "-t", "clas"], "did you mean 'class'"),
        (
            ["{credit}", "-t", "class", "--learners", "NaiveBays"],
            "did you mean NaiveBayes",
        ),
        (
            ["{credit}", "-t", "class", "--loss", "bad:good=5,good:bad=1,ugly:bad=3"],
            "ugly",
        ),
        (["{credit}", "-t", "class", "--folds", "1"], "at least 2"),
        (["{credit}", "-t", "age", "--doubt", "0.1"], "numbers"),
        ([], "no data"),
    ],
)
def test_a_fault_is_one_sentence_and_leaves_nothing(
    command, credit, tmp_path, arguments, message
):
    code, out, err = command(
        "study", *(a.format(credit=credit) for a in arguments), "-o", tmp_path / "s"
    )
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(applicants, tmp_path):
    out = tmp_path / "s"
    run = [
        sys.executable,
        "-c",
        "from lyceum.cli import main; main()",
        "study",
        applicants,
        "-t",
        "class",
    ]
    run += [
        "--learners",
        "NaiveBayes,LogisticRegression",
        "--folds",
        "10",
        "--repeats",
        "10",
        "-o",
        str(out),
    ]
    process = subprocess.Popen(
        run, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while process.poll() is None and len(list(out.glob("predictions/*.parquet"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same study again" in err
    assert "Traceback" not in err
    assert not (out / "report.html").exists()

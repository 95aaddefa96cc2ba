"""No figure, statement, table or later step can lose a study: what fails is named, the rest
stands."""

import html
import json
import re
import shutil

import pytest

import lyceum
from lyceum import datasets, plot
from lyceum.errors import Cancelled
from lyceum.studies.compare import metrics as _metrics
from lyceum.studies.report import (
    figures as _figures,
    page as _report,
    parts as _report_parts,
    posterior_statements as _posterior_statements,
)
from lyceum.studies.run import conclusions as _conclusions
from lyceum.studies.run.problems import Problems

RENDER, MAKERS = _report.render, _figures._makers
TABLE = {
    "data": datasets.path("penguins"), "target": "species", "folds": 3, "learners": ["NaiveBayes"],
    "n_settings": 1,
}  # fmt: skip


def broken(*arguments, **named):
    raise ArithmeticError("it broke")


def checked(study, *parts):
    """The problems are these, and report and results name them."""
    expected = tuple(f"The {part} could not be made: it broke." for part in parts)
    assert study.problems == expected
    written = study.report_path.read_text(encoding="utf-8")
    # explanations of words stand inside sentences
    page = html.unescape(re.sub("</?abbr[^>]*>", "", written)).replace("\u00a0", " ")
    for sentence in expected:
        assert sentence in page
    assert json.loads(study.results_path.read_text(encoding="utf-8"))[
        "problems"
    ] == list(expected)
    return page


@pytest.fixture(autouse=True)
def real_report(monkeypatch, short_conclusions):
    monkeypatch.setattr(_report, "render", RENDER)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, no_pictures_in_module):
    return lyceum.study(**TABLE, out=tmp_path_factory.mktemp("finished") / "s").folder


@pytest.fixture
def concluded(tmp_path, finished):
    """Runs a study whose folds and models are there already: what is measured on them and shown is
    made."""

    def run():
        return lyceum.study(**TABLE, out=shutil.copytree(finished, tmp_path / "s"))

    return run


def draw_only(monkeypatch, *names):
    """Some pictures instead of all: test_report.py has pages whose pictures are all drawn."""

    def few(study):
        return {name: draw for name, draw in MAKERS(study).items() if name in names}

    monkeypatch.setattr(_figures, "_makers", few)
    monkeypatch.setattr(_report, "effect_figures", lambda study, problems: [])


@pytest.fixture
def few_figures(monkeypatch):
    draw_only(monkeypatch, "confusion")


def test_a_figure_that_fails_is_named(concluded, monkeypatch):
    draw_only(monkeypatch, "confusion", "calibration")
    monkeypatch.setattr(plot, "calibration", broken)
    study = concluded()
    page = checked(study, "calibration figure")
    assert page.count("<figure>") == 1
    assert type(study).open(study.folder).problems == study.problems


def test_data_of_figures_that_fail_are_named(concluded, monkeypatch):
    monkeypatch.setattr(_figures, "_makers", broken)
    study = concluded()
    assert (
        checked(study, "figures").count("<figure>")
        == 2 + len(study.effects.effects)
        == 5
    )


def test_a_statement_that_fails_is_named(concluded, monkeypatch, few_figures):
    monkeypatch.setattr(_posterior_statements, "error_reject_curve", broken)
    study = concluded()
    page = checked(study, "statement on rejecting rows")
    assert len(study.comparison.statements) > 2
    assert all(text in page for text in study.comparison.statements)


def test_a_table_that_fails_is_named(concluded, monkeypatch, few_figures):
    monkeypatch.setattr(_report_parts.TableCells, "of", broken)
    study = concluded()
    tables = study.model_summary().tables
    assert tables
    numbers = "table of the numbers of a picture"
    checked(study, numbers, *(f"table {table.title!r}" for table in tables))


def test_a_section_that_fails_is_named_in_its_place(
    concluded, monkeypatch, few_figures
):
    monkeypatch.setattr(_report_parts.IntervalScale, "of", broken)
    page = checked(concluded(), "ranking")
    assert (
        page.count("The ranking could not be made: it broke.") == 2
    )  # in its place and under what to know
    assert 'id="ranking"' in page


def test_a_metric_that_fails_is_named(concluded, monkeypatch, few_figures):
    monkeypatch.setattr(_metrics, "auc_hand_till", broken)
    study = concluded()
    checked(study, *(f"AUC of {candidate.label}" for candidate in study.candidates))
    assert study.best.auc is None
    assert study.best.error < 0.1


def test_an_explanation_that_fails_is_named(tmp_path, monkeypatch, few_figures):
    monkeypatch.setattr(_conclusions.FittedModel, "explain", broken)
    study = lyceum.study(**TABLE, out=tmp_path / "s")
    assert len(study.problems) in (2, 3)
    assert all("example of row" in text for text in study.problems)
    assert study.model_path.is_file()


def test_a_final_model_that_fails_is_named_and_tried_again(
    tmp_path, monkeypatch, few_figures
):
    with monkeypatch.context() as patch:
        patch.setattr(_conclusions, "save", broken)
        study = lyceum.study(**TABLE, out=tmp_path / "s")
    assert "final model" in study.problems[0]
    assert study.report_path.is_file()
    assert not study.model_path.is_file()
    again = lyceum.study(**TABLE, out=tmp_path / "s")
    assert again.problems == ()
    assert again.model_path.is_file()


def test_what_comes_after_the_folds_is_named(tmp_path, monkeypatch, few_figures):
    monkeypatch.setattr(_conclusions, "learning_curve", broken)
    monkeypatch.setattr(_conclusions, "bootstrap_632", broken)
    monkeypatch.setattr(_conclusions, "measure_holdout", broken)
    study = lyceum.study(**TABLE, out=tmp_path / "s", holdout=0.2, bootstrap_632=True)
    for part in ("learning curve", ".632 estimate", "rows held out"):
        assert any(part in text for text in study.problems), part


def test_a_request_to_stop_is_no_problem():
    def stop():
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        Problems().attempt("figure", stop)

"""Where a learner of a study is wrong: rows, groups and disagreement, from stored predictions."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.forks import by_command

import lyceum
from lyceum import datasets
from lyceum._core.data import scan
from lyceum.errors import SettingError
from lyceum.studies import OutOfSample, explain_error, study_errors
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.mistakes.group_losses import group_losses

LEARNERS = ["NaiveBayes", "LogisticRegression", "DecisionTreeClassifier"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    shutil.copy(datasets.path("german_credit"), folder / "credit.csv")
    lyceum.study(
        folder / "credit.csv",
        "class",
        learners=LEARNERS,
        loss={("bad", "good"): 5.0, ("good", "bad"): 1.0},
        folds=3,
        n_settings=1,
        committees=False,
        out=folder / "study",
    )
    return folder


@pytest.fixture(scope="module")
def errors(folder):
    return study_errors(folder / "study", "NaiveBayes")


def costs(study, name):
    """Truth, decision and cost of every row, in plain NumPy."""
    y, posteriors = study.out_of_sample(name)
    loss = np.array([[0.0, 5.0], [1.0, 0.0]])
    decided = (posteriors @ loss).argmin(axis=1)
    return y, decided, loss[y, decided]


def test_wrong_rows_are_those_of_the_stored_posteriors(errors, folder):
    y, decided, cost = costs(errors.study, "NaiveBayes")
    table = pd.read_csv(folder / "credit.csv")
    assert errors.n_rows == 1000
    assert errors.n_wrong == (y != decided).sum()
    assert errors.loss == pytest.approx(cost.mean())
    listed = errors.wrong_rows(10_000)
    assert {row.row for row in listed} == set(np.flatnonzero(y != decided).tolist())
    assert [row.loss for row in listed] == sorted(cost[y != decided], reverse=True)
    for row in listed[:5]:
        assert row.truth == table["class"][row.row] != row.decided
        assert row.cells["age"] == table["age"][row.row]
        assert row.cells["purpose"] == table["purpose"][row.row]


def test_disputed_rows_are_those_with_different_decisions(errors):
    decided = np.array([costs(errors.study, name)[1] for name in LEARNERS])
    is_disputed = (decided != decided[0]).any(axis=0)
    assert errors.n_disputed == is_disputed.sum()
    names = np.array(["bad", "good"])
    for row in errors.disputed_rows(20):
        said = [row.decisions[name] for name in LEARNERS]
        assert said == names[decided[:, row.row]].tolist()


def test_groups_have_the_mean_cost_of_their_rows(errors, folder):
    table = pd.read_csv(folder / "credit.csv", keep_default_na=False)
    _, _, cost = costs(errors.study, "NaiveBayes")
    groups = {(group.column, group.cells): group for group in errors.groups}
    is_car = (table["purpose"] == "new car").to_numpy()
    group = groups["purpose", "new car"]
    assert group.n_rows == is_car.sum()
    assert group.loss == pytest.approx(cost[is_car].mean())
    assert group.rest == pytest.approx(cost[~is_car].mean())
    t = stats.t.isf(0.025 / len(groups), group.n_rows - 1)
    half = t * cost[is_car].std() / np.sqrt(group.n_rows)
    assert [group.low, group.high] == pytest.approx(
        [max(0.0, group.loss - half), group.loss + half]
    )
    assert sum(column == "age" for column, _ in groups) == 4
    excess = [(g.loss - g.rest) / (g.loss - g.low) for g in errors.groups if g.low > 0]
    assert excess == sorted(excess, reverse=True)
    assert errors.groups[0].name in errors.worst_group


def test_intervals_hold_for_all_groups_at_once():
    """With equal error rates everywhere, all intervals cover it in 95 % of the tables."""
    rng = np.random.default_rng(3)
    n_tables, n, rate, n_columns = 80, 300, 0.3, 6
    n_missed = n_narrow = 0
    for _ in range(n_tables):
        cells = rng.integers(0, 5, (n, n_columns))
        frame = pd.DataFrame(cells, columns=[f"c{j}" for j in range(n_columns)])
        schema = scan(frame.astype(str)).schema
        wrong = rng.random(n) < rate
        zeros = np.zeros(n, int)
        sample = OutOfSample(np.arange(n), zeros, zeros, zeros, zeros, None)
        columns = {column: cells[:, j].astype(float) for j, column in enumerate(schema)}
        rule = LossRule(2)
        groups = group_losses(sample, wrong.astype(float), rule, columns)
        n_missed += any(not group.low <= rate <= group.high for group in groups)
        plain = [
            group.loss - 1.96 * np.sqrt(rate * (1 - rate) / group.n_rows)
            for group in groups
        ]
        n_narrow += max(plain) > rate
    assert n_missed <= stats.binom.isf(0.001, n_tables, 0.05)
    assert (
        n_narrow > 0.2 * n_tables
    )  # without the correction, one group often looks bad


def test_an_explanation_is_of_a_model_that_has_not_seen_the_row(errors, folder):
    row = errors.wrong_rows(1)[0].row
    example = errors.explain(row)
    _, posteriors = errors.study.out_of_sample("NaiveBayes")
    assert example.posterior == pytest.approx(posteriors[row].tolist())
    why = example.explanation
    # the contributions of naive Bayes and its prior are the log odds of the stored posterior
    predicted = list(errors.study.classes).index(why.predicted[0])
    odds = np.log(posteriors[row, predicted] / posteriors[row, 1 - predicted])
    assert why.base[0] + why.contributions[0].sum() == pytest.approx(odds, abs=1e-6)
    again = explain_error(folder / "study", row, "NaiveBayes")
    assert again.as_dict() == example.as_dict()


def test_numbers_have_their_largest_errors(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    noise = np.where(x > 1, 5.0, 0.1) * rng.normal(size=120)
    frame = pd.DataFrame(
        {"x": x, "town": rng.choice(["Ulm", "Bonn"], 120), "y": x + noise}
    )
    made = lyceum.study(
        frame,
        "y",
        learners=["LinearRegression", "Ridge"],
        folds=3,
        committees=False,
        out=tmp_path / "s",
    )
    errors = study_errors(made)
    sample = made.out_of_sample(errors.learner)
    size = np.abs(sample.y - sample.predicted)
    assert errors.loss == pytest.approx(np.sqrt((size**2).mean()))
    assert errors.wrong_rows(1)[0].row == sample.rows[size.argmax()]
    assert errors.groups[0].column == "x"
    assert "more than chance" in errors.worst_group


def test_the_command_says_the_same(errors, folder):
    command = ["lyceum", "errors", "study", "-l", "NaiveBayes", "--json"]
    printed = by_command(command, folder)
    assert json.loads(printed) == json.loads(json.dumps(errors.as_dict(20)))


def test_unknown_learners_and_rows_are_refused(errors, folder):
    with pytest.raises(SettingError, match="'Ridge' was not compared: choose one of"):
        study_errors(folder / "study", "Ridge")
    with pytest.raises(SettingError, match="row 1000 was not predicted"):
        errors.explain(1000)

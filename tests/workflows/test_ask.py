"""Ask a model about typed records: its decision, its reasons, and the smallest change."""

import json

import numpy as np
import pandas as pd
import pytest

import lyceum
from lyceum import datasets
from lyceum.bayes import NaiveBayes
from lyceum.decision import LossMatrix, MinimumRiskClassifier
from lyceum.errors import DataError
from lyceum.trees import DecisionTreeClassifier
from lyceum.workflows import AskableModel, ask_model, fit_file, keep_profile


@pytest.fixture(scope="module")
def credit():
    return fit_file(datasets.path("german_credit"), "class", "LogisticRegression")


def test_an_answer_is_that_of_decide_and_of_explain_rows(credit):
    cells = {"duration": 48, "purpose": "new car"}
    (answer,) = ask_model(credit, [cells])
    facts = answer.as_dict()
    decision = lyceum.decide(credit, answer.record)
    assert facts["probabilities"] == decision.probabilities
    assert facts["predicted"] == decision.predicted
    added = facts["base"] + sum(part["adds"] for part in facts["contributions"])
    odds = np.log(decision.probabilities["good"] / decision.probabilities["bad"])
    assert added == pytest.approx(facts["score"], abs=1e-12)
    assert added == pytest.approx(odds, abs=1e-9)
    # the cells as they were asked, not as they were standardized
    values = {part["column"]: part["value"] for part in facts["contributions"]}
    assert values == answer.record
    assert json.loads(json.dumps(facts)) == facts


def test_cells_that_are_not_given_are_typical(credit):
    frame = pd.read_csv(datasets.path("german_credit"))
    (answer,) = ask_model(credit, [{"age": 20}])
    assert answer.record["duration"] == frame["duration"].median()
    assert answer.record["purpose"] == frame["purpose"].mode()[0]
    assert answer.record["age"] == 20


def every_single_change(model, record, frame):
    """The sizes of all changes of one column, to a value of the training rows, that alter the
    prediction: the share of rows between the numbers, 1 minus the share of the category."""
    before = lyceum.decide(model, record).predicted
    sizes = []
    for name in record:
        for value in frame[name].unique():
            changed = {
                **record,
                name: value.item() if hasattr(value, "item") else value,
            }
            if lyceum.decide(model, changed).predicted == before:
                continue
            if isinstance(value, str):
                size = 1 - (frame[name] == value).mean()
            else:
                low, high = sorted([record[name], value])
                size = ((frame[name] > low) & (frame[name] < high)).mean()
            sizes.append((size, name))
    return sorted(sizes)


@pytest.mark.parametrize("row", [1, 9, 10, 18])
def test_the_change_alters_the_action_and_none_is_much_smaller(credit, row):
    """Against a search of all single changes in a plain loop; the search itself looks at every
    twentieth quantile."""
    frame = pd.read_csv(datasets.path("german_credit")).drop(columns="class")
    record = {k: getattr(v, "item", lambda v=v: v)() for k, v in frame.loc[row].items()}
    (answer,) = ask_model(credit, [record])
    change = answer.change
    altered = lyceum.decide(credit, {**record, **change.columns}).predicted
    assert altered == change.action != answer.action
    sizes = every_single_change(credit, record, frame)
    assert (len(change.columns) == 1) == bool(sizes)
    if sizes:
        (name,) = change.columns
        smallest = min(size for size, column in sizes if column == name)
        assert smallest <= sizes[0][0] + 0.1


def test_a_number_changes_no_further_than_it_must():
    x = np.arange(100.0)
    frame = pd.DataFrame({"x": x, "y": np.where(x > 49, "b", "a")})
    rows = lyceum.scan(frame, target="y")
    model = DecisionTreeClassifier(max_depth=1).fit(rows)
    keep_profile(model, rows)
    up, down = ask_model(model, [{"x": 3}, {"x": 99}])
    assert 49.5 <= up.change.columns["x"] <= 49.51
    assert 49.49 <= down.change.columns["x"] <= 49.5
    assert (up.change.action, down.change.action) == ("b", "a")


def test_costs_move_the_action_not_the_posterior(credit):
    loss = LossMatrix([[0, 20], [1, 0]], classes=["bad", "good"])
    (plain,) = ask_model(credit, [{}])
    (careful,) = ask_model(credit, [{}], loss=loss)
    assert careful.decision.probabilities == plain.decision.probabilities
    share = plain.decision.probabilities
    assert (plain.action, careful.action) == ("good", "bad")
    assert careful.decision.risk == pytest.approx(min(share["good"], 20 * share["bad"]))
    altered = ask_model(credit, [careful.change.columns], loss=loss, change=False)[0]
    assert altered.action == careful.change.action == "good"


def test_a_model_with_costs_of_its_own_uses_them():
    rows = datasets.load("weather")
    loss = LossMatrix([[0, 9], [1, 0]], classes=["no", "yes"])
    model = MinimumRiskClassifier(NaiveBayes(), loss).fit(rows)
    about = AskableModel(model).as_dict()
    assert about["loss"] == {"no": {"no": 0, "yes": 9}, "yes": {"no": 1, "yes": 0}}
    (answer,) = ask_model(model, [{"outlook": "overcast"}])
    decision = model.decide(answer.record)
    assert (answer.action, answer.decision.risk) == (decision.action, decision.risk)


def test_neighbors_are_named():
    model = fit_file(datasets.path("penguins"), "species", "KNeighborsClassifier")
    (answer,) = ask_model(model, [{"flipper_length_mm": 230, "body_mass_g": 6000}])
    frame = pd.read_csv(datasets.path("penguins"))
    rows = answer.as_dict()["detail"]["rows"]
    assert [frame["species"][row[0]] for row in rows] == [row[1] for row in rows]
    assert sum(row[3] for row in rows) == pytest.approx(1.0)


def test_a_column_that_the_model_lacks_is_named(credit):
    with pytest.raises(DataError, match="no column 'durtion': did you mean 'duration'"):
        ask_model(credit, [{"durtion": 3}])


def test_a_model_file_and_a_regressor_can_be_asked(tmp_path):
    model = fit_file(datasets.path("penguins"), "year", "LinearRegression")
    path = tmp_path / "year.lyceum"
    lyceum.save(model, path)
    (answer,) = ask_model(path, [{"flipper_length_mm": 200}])
    assert answer.action == lyceum.decide(model, answer.record).predicted
    assert answer.change is None

"""Other costs for a fitted model: the decisions of the rule itself, from posteriors."""

import numpy as np
import pytest
from typer.testing import CliRunner

import lyceum
from lyceum import datasets
from lyceum.cli import app
from lyceum.decision import minimum_risk
from lyceum.errors import SettingError
from lyceum.workflows import fit_file, set_costs

PATH = datasets.path("german_credit")
COSTS = {("bad", "good"): 5.0, ("good", "bad"): 1.0}
LOSS = np.array([[0.0, 5.0], [1.0, 0.0]])


@pytest.fixture(scope="module")
def model():
    return fit_file(PATH, "class", "LogisticRegression")


@pytest.fixture(scope="module")
def rows():
    return lyceum.scan(PATH, target="class")


def test_decisions_are_those_of_the_rule(model, rows):
    proba = model.predict_proba(rows)
    careful = set_costs(model, COSTS, 0.6)
    index = minimum_risk(proba, LOSS, 0.6).index
    expected = np.array(["bad", "good", "reject"])[index]
    assert careful.predict(rows).tolist() == expected.tolist()
    # costs are replaced, not added
    again = set_costs(careful, COSTS, 0.6)
    assert again.predict(rows).tolist() == expected.tolist()


def test_other_shares_are_other_posteriors(model, rows):
    proba = model.predict_proba(rows)
    trained = {"bad": 0.3, "good": 0.7}
    priors = {"bad": 0.1, "good": 0.9}
    shifted = proba * np.array([0.1 / 0.3, 0.9 / 0.7])
    shifted /= shifted.sum(axis=1, keepdims=True)
    index = minimum_risk(shifted, LOSS, 0.4).index
    expected = np.array(["bad", "good", "reject"])[index]
    made = set_costs(model, COSTS, 0.4, priors=priors, trained=trained)
    assert made.predict(rows).tolist() == expected.tolist()
    assert 0 < (expected == "reject").sum() < len(expected)


def test_shares_of_all_classes_are_needed(model):
    with pytest.raises(SettingError, match=r"share of every class \(bad, good\)"):
        set_costs(model, COSTS, priors={"bad": 0.1}, trained={"bad": 0.3, "good": 0.7})


def test_the_command_writes_the_model(model, rows, tmp_path):
    lyceum.save(model, tmp_path / "model.lyceum")
    out = tmp_path / "careful.lyceum"
    words = ["costs", str(tmp_path / "model.lyceum"), "--loss", "bad:good=5,good:bad=1"]
    done = CliRunner().invoke(app, [*words, "--doubt", "0.6", "-o", str(out)])
    assert done.exit_code == 0, done.output
    expected = set_costs(model, COSTS, 0.6).predict(rows)
    assert lyceum.load(out).predict(rows).tolist() == expected.tolist()

"""`lyceum compare`: tests against statsmodels and SciPy, and a verdict that follows from them."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

import lyceum
from lyceum.workflows import compare_models, fit_file


@pytest.fixture
def outcomes(models, credit):
    rows = lyceum.scan(credit, target="class")
    y = (pd.read_csv(credit)["class"] == "good").to_numpy().astype(int)
    return y, [
        lyceum.load(models[name]).predict_proba(rows) for name in ("logistic", "bayes")
    ]


def test_p_values_are_those_of_statsmodels_and_scipy(command, models, credit, outcomes):
    y, proba = outcomes
    pair = models["logistic"], models["bayes"]
    code, out, err = command(
        "compare", *pair, credit, "--loss", "bad:good=5,good:bad=1", "--json"
    )
    assert (code, err) == (0, "")
    tests = {test["measure"]: test for test in json.loads(out)["tests"]}
    wrong = [p.argmax(axis=1) != y for p in proba]
    table = [
        [(a & b).sum() for b in (wrong[1], ~wrong[1])] for a in (wrong[0], ~wrong[0])
    ]
    assert tests["error"]["p_value"] == pytest.approx(
        mcnemar(table, exact=False, correction=True).pvalue
    )
    cost = np.array([[0.0, 5.0], [1.0, 0.0]])
    paid = [cost[y, (p @ cost).argmin(axis=1)] for p in proba]
    expected = stats.ttest_rel(*paid)
    assert tests["cost per row"]["p_value"] == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (
        tests["cost per row"]["low"],
        tests["cost per row"]["high"],
    ) == pytest.approx(tuple(interval))
    logs = [-np.log(p[np.arange(1000), y]) for p in proba]
    assert tests["log loss"]["p_value"] == pytest.approx(stats.ttest_rel(*logs).pvalue)


def test_a_better_model_is_named_whatever_its_place(models, cpu):
    good, poor = (
        lyceum.load(models["ridge"]),
        fit_file(cpu, "class", "Ridge", {"alpha": 1e6}),
    )
    for pair, names in (
        ((good, poor), ("good", "poor")),
        ((poor, good), ("poor", "good")),
    ):
        found = compare_models(*pair, cpu, names=names)
        assert found.better == "good"
        assert found.verdict.startswith("good is better: mean squared error")
    y = pd.read_csv(cpu)["class"]
    off = [
        (model.predict(lyceum.scan(cpu, target="class")) - y) ** 2
        for model in (good, poor)
    ]
    assert compare_models(good, poor, cpu).tests[0].p_value == pytest.approx(
        stats.ttest_rel(*off).pvalue
    )


def test_a_model_does_not_differ_from_itself(command, models, credit):
    code, out, _ = command(
        "compare", models["bayes"], models["bayes"], credit, width=120
    )
    assert code == 0
    assert out.startswith("No difference is shown")
    found = compare_models(*[lyceum.load(models["bayes"])] * 2, credit)
    assert [test.p_value for test in found.tests] == [1.0, 1.0]
    assert found.as_dict()["tests"] == [test.as_dict() for test in found.tests]
    assert found.verdict.endswith(" for both, the same in each of 1,000 rows.")
    assert "from 0 to 0" not in found.verdict


def test_one_row_shows_no_difference(models, cpu):
    good, poor = (
        lyceum.load(models["ridge"]),
        fit_file(cpu, "class", "Ridge", {"alpha": 1e6}),
    )
    found = compare_models(good, poor, pd.read_csv(cpu)[:1])
    assert found.better is None
    assert found.verdict.startswith(
        "One row cannot show a difference: mean squared error"
    )


def test_the_terminal_shows_the_verdict_and_the_tests(command, models, credit):
    _, out, _ = command(
        "compare", models["logistic"], models["bayes"], credit, "-t", "class", width=120
    )
    assert "logistic" in out
    assert "McNemar" in out
    assert max(map(len, out.splitlines())) <= 120


def test_models_for_different_targets_are_refused(command, models, credit):
    code, out, err = command("compare", models["logistic"], models["ridge"], credit)
    assert (code, out) == (2, "")
    assert "the other numbers" in err

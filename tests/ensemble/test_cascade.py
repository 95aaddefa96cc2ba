"""Cascades: who decides, at what cost, in a line and in a tree."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from lyceum.bayes import NaiveBayes
from lyceum.ensemble import CascadeClassifier, RandomForestClassifier
from lyceum.ensemble.committees.cascade_thresholds import Flow, choose_thresholds
from lyceum.errors import SettingError
from lyceum.trees import DecisionTreeClassifier

X, y = make_classification(600, 12, n_informative=6, class_sep=0.9, random_state=0)
STAGES = [
    ("cheap", NaiveBayes(), [0, 1, 2]),
    ("dear", RandomForestClassifier(n_estimators=20), None),
]


@pytest.mark.syllabus("11.6")
def test_the_sure_are_decided_and_the_doubtful_passed_on():
    model = CascadeClassifier(STAGES, thresholds=[0.9], random_state=0).fit(X, y)
    first = model.estimators_[0].predict_proba(X[:, :3])
    sure = first.max(axis=1) >= 0.9
    np.testing.assert_array_equal(model.predict_stage(X), np.where(sure, 0, 1))
    expected = np.where(sure[:, None], first, model.estimators_[1].predict_proba(X))
    np.testing.assert_allclose(model.predict_proba(X), expected)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[expected.argmax(axis=1)]
    )


@pytest.mark.syllabus("11.6")
def test_a_budget_is_kept_and_more_of_it_does_not_harm():
    errors = []
    for budget in (3.0, 6.0, 9.0, 15.0):
        model = CascadeClassifier(STAGES, budget=budget, random_state=0).fit(X, y)
        assert model.cost_ <= budget + 1e-9
        errors.append(model.error_)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] - 0.02
    with pytest.raises(
        SettingError, match=r"budget=2\.0 does not pay for the first stage"
    ):
        CascadeClassifier(STAGES, budget=2.0, random_state=0).fit(X, y)


def test_without_a_budget_it_is_as_good_as_its_best_stage_and_cheaper():
    model = CascadeClassifier(STAGES, random_state=0).fit(X, y)
    alone = CascadeClassifier(STAGES, thresholds=[1.1], random_state=0).fit(X, y)
    assert model.error_ <= alone.error_ + 1e-9
    assert model.cost_ < alone.cost_
    assert alone.cost_ == pytest.approx(15.0)


def test_costs_and_errors_of_stages_add_up():
    model = CascadeClassifier(
        STAGES, thresholds=[0.8], costs=[1.0, 20.0], random_state=0
    ).fit(X, y)
    one, two = model.stages_
    assert one.reached == pytest.approx(1.0)
    assert one.decided + two.decided == pytest.approx(1.0)
    assert two.reached == pytest.approx(two.decided)
    assert model.cost_ == pytest.approx(1.0 + 20.0 * two.reached)
    assert model.error_ == pytest.approx(
        one.error * one.decided + two.error * two.decided
    )
    assert "cheap" in str(model.summary())


@pytest.mark.syllabus("11.6.1")
def test_routes_make_a_tree():
    stages = [
        ("gate", NaiveBayes(), [0, 1]),
        ("a", DecisionTreeClassifier(max_depth=3)),
        ("b", NaiveBayes()),
    ]
    routes = {"gate": {0: "a", 1: "b"}}
    model = CascadeClassifier(
        stages, thresholds=[1.1, 0.0], routes=routes, random_state=0
    ).fit(X, y)
    leaning = model.estimators_[0].predict(X[:, :2])
    np.testing.assert_array_equal(model.predict_stage(X), np.where(leaning == 0, 1, 2))
    with pytest.raises(SettingError, match="does not lead to a later stage"):
        CascadeClassifier(stages, routes={"b": {0: "a"}}).fit(X, y)
    with pytest.raises(SettingError, match="routes name 'nobody'"):
        CascadeClassifier(stages, routes={"gate": {0: "nobody"}}).fit(X, y)


@pytest.mark.syllabus("11.6")
def test_a_budget_is_kept_in_a_tree_of_stages():
    stages = [
        ("gate", NaiveBayes(), [0, 1]),
        ("a", DecisionTreeClassifier(max_depth=3)),
        ("b", NaiveBayes()),
    ]
    settings = {
        "costs": [1.0, 4.0, 8.0],
        "routes": {"gate": {0: "a", 1: "b"}},
        "random_state": 0,
    }
    found = [
        CascadeClassifier(stages, budget=b, **settings).fit(X, y)
        for b in (1.0, 4.0, 20.0)
    ]
    assert all(model.cost_ <= b + 1e-9 for model, b in zip(found, (1.0, 4.0, 20.0)))
    errors = [model.error_ for model in found]
    assert errors[0] >= errors[1] >= errors[2]
    assert errors[0] > errors[2]
    assert (found[0].predict_stage(X) == 0).all()  # all that the least budget pays for


def test_thresholds_are_the_best_of_all_by_brute_force():
    rng = np.random.default_rng(0)
    said = rng.dirichlet(np.ones(2), (2, 40))
    target = rng.integers(0, 2, 40)
    following = np.array([[1, 1], [-1, -1]])
    flow = Flow.of(said, target, None, np.array([1.0, 5.0]), following)
    found = choose_thresholds(flow, 3.0)
    every = [flow.cost_and_error(np.array([t, 0.0])) for t in [0.0, *flow.sure[0], 1.1]]
    assert flow.cost_and_error(found)[1] == min(
        error for cost, error in every if cost <= 3.0
    )

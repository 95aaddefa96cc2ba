"""The record and the drawing of a model tree: those of any other tree."""

import numpy as np
import pandas as pd
import pytest

from lyceum.datasets import load
from lyceum.trees import DecisionTreeRegressor, ModelTreeRegressor

pytestmark = pytest.mark.syllabus("6.7")


def test_the_first_entry_has_the_fall_of_the_standard_deviation_by_every_column():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": [0.0, 1.0] * 10})
    y = np.where(frame.a > 2, 10.0, 0.0) + np.arange(20) % 3
    model = ModelTreeRegressor(record=True).fit(frame, y)
    best = model.record_[0]
    gains = {candidate["column"]: candidate["gain"] for candidate in best["candidates"]}
    for name, threshold in (("a", 2.5), ("b", 0.5)):
        parts = [y[frame[name] <= threshold], y[frame[name] > threshold]]
        fall = y.std() - sum(len(part) / 20 * part.std() for part in parts)
        assert gains[name] == pytest.approx(fall)
    assert (best["node"], best["column"], best["objective"]) == (
        0,
        "a",
        pytest.approx(y.std()),
    )


@pytest.mark.parametrize("pruning", ["estimated_error", None])
@pytest.mark.parametrize("weighted", [True, False])
def test_entries_are_numbered_by_the_nodes_of_the_pruned_tree(pruning, weighted):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=120), "town": rng.choice(["Bonn", "Köln", "Ulm"], 120)}
    )
    y = X.a.abs() + 3.0 * (X.town == "Ulm") + rng.normal(size=120)
    w = rng.integers(1, 4, 120).astype(float) if weighted else None
    model = ModelTreeRegressor(record=True, pruning=pruning).fit(X, y, sample_weight=w)
    for entry in model.record_:
        node = entry["node"]
        split = int(model.tree_.feature[node])
        assert entry["column"] == (None if split < 0 else ["a", "town"][split])
        assert entry["objective"] == pytest.approx(float(model.tree_.impurity[node]))
        assert all(
            c["threshold"] is None for c in entry["candidates"] if c["column"] == "town"
        )
    nodes = {entry["node"] for entry in model.record_}
    assert set(np.flatnonzero(model.tree_.feature >= 0).tolist()) <= nodes
    assert not hasattr(model.set_params(record=False).fit(X, y), "record_")


def test_it_is_the_record_of_a_regression_tree_of_the_same_criterion():
    rows = load("cpu")
    first = [
        model(record=True, **settings).fit(rows).record_[0]["candidates"]
        for model, settings in (
            (ModelTreeRegressor, {}),
            (DecisionTreeRegressor, {"criterion": "sd"}),
        )
    ]
    gains = [{c["column"]: c["gain"] for c in candidates} for candidates in first]
    numbers = [name for name in gains[1] if name != "vendor"]
    np.testing.assert_allclose(
        [gains[0][name] for name in numbers], [gains[1][name] for name in numbers]
    )


def test_dot_has_the_models_in_the_leaves():
    model = ModelTreeRegressor().fit(load("cpu"))
    text = model.dot()
    assert text.startswith("digraph tree {")
    assert all(rule.equation in text for rule in model.rules())

"""Any regressor at the nodes of a model tree."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression as ScikitLine
from sklearn.neighbors import KNeighborsRegressor

from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, SettingError
from lyceum.linear import LinearRegression, Ridge
from lyceum.persist import load, save
from lyceum.trees import ModelTreeRegressor

X = np.arange(60.0)[:, None]
Y = np.where(X[:, 0] < 30, 2.0 * X[:, 0], 400.0 - X[:, 0])


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("line", [LinearRegression(), ScikitLine()])
@pytest.mark.parametrize("error", ["squared", "absolute"])
def test_two_lines_are_found_by_any_learner_of_lines(line, error):
    model = ModelTreeRegressor(estimator=line, error=error, smoothing=0).fit(X, Y)
    assert model.n_rules_ == 2
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-9)
    assert type(model.estimators_[1]) is type(line)
    assert "LinearRegression(x0)" in model.text()


@pytest.mark.syllabus("6.7")
def test_predictions_are_smoothed_by_the_learner_of_the_root():
    model = ModelTreeRegressor(
        estimator=Ridge(alpha=3.0), smoothing=7.0, extrapolation=None
    ).fit(X, Y)
    assert model.n_rules_ == 2
    Z = X - X.mean()
    for half in (X[:, 0] < 30, X[:, 0] >= 30):
        own = Ridge(alpha=3.0).fit(Z[half], Y[half]).predict(Z[half])
        root = Ridge(alpha=3.0).fit(Z, Y).predict(Z[half])
        np.testing.assert_allclose(
            model.predict(X[half]), (30 * own + 7 * root) / 37, rtol=1e-10
        )
    assert model.path(X, 3).prediction == pytest.approx(model.predict(X[3:4])[0])


@pytest.mark.syllabus("6.7")
def test_a_subtree_goes_where_the_learner_of_its_root_errs_less_on_rows_left_out():
    curve = np.sin(X[:, 0] / 8)
    assert ModelTreeRegressor().fit(X, curve).n_rules_ > 2
    near = ModelTreeRegressor(estimator=KNeighborsRegressor(2), attributes="all").fit(
        X, curve
    )
    assert near.n_rules_ == 1  # neighbors need no tree
    assert near.score(X, curve) > 0.99


def test_weights_count_rows_and_mixed_columns_become_numbers():
    rng = np.random.default_rng(0)
    names = rng.choice(["a", "b", "c"], 90)
    table = {"x": rng.normal(size=90), "name": names}
    frame, y = pd.DataFrame(table), table["x"] * (names == "a") + 5.0 * (names == "b")
    w = rng.integers(1, 4, 90)
    often = np.repeat(np.arange(90), w)
    settings = {
        "estimator": Ridge(),
        "attributes": "all",
        "pruning": None,
        "smoothing": 0,
    }
    weighted = ModelTreeRegressor(**settings).fit(frame, y, w)
    repeated = ModelTreeRegressor(**settings).fit(frame.iloc[often], y[often])
    np.testing.assert_allclose(
        weighted.predict(frame), repeated.predict(frame), rtol=1e-9, atol=1e-12
    )
    parts = weighted.explain(frame)
    total = parts.base + parts.contributions.sum(axis=1)
    np.testing.assert_allclose(total, weighted.predict(frame), rtol=1e-9)


def test_a_saved_tree_of_learners_is_the_tree(tmp_path):
    model = ModelTreeRegressor(estimator=Ridge()).fit(X, Y)
    save(model, tmp_path / "model.lyceum")
    np.testing.assert_array_equal(
        load(tmp_path / "model.lyceum").predict(X), model.predict(X)
    )
    again = model.set_params(estimator=None).fit(X, Y)
    assert not hasattr(again, "estimators_")


def test_what_cannot_be_the_learner_of_a_node_is_refused():
    with pytest.raises(SettingError, match="must be a regressor, not NaiveBayes"):
        ModelTreeRegressor(estimator=NaiveBayes()).fit(X, Y)
    with pytest.raises(SettingError, match="set one of both"):
        ModelTreeRegressor(estimator=Ridge(), model="constant").fit(X, Y)
    with pytest.raises(DataError, match="KNeighborsRegressor takes no weights"):
        ModelTreeRegressor(estimator=KNeighborsRegressor()).fit(X, Y, np.ones(60))

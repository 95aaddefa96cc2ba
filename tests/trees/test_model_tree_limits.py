"""The predictions of model trees stay in proportion to the targets that were seen."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from lyceum import datasets
from lyceum.trees import ModelTreeRegressor


def housing(n=400, seed=0):
    """Prices that end at 50, and a column that is nearly always 0: as in Boston."""
    rng = np.random.default_rng(seed)
    rooms, poor = rng.normal(6.3, 0.7, n), rng.gamma(2.5, 5.0, n)
    crime = np.where(rng.random(n) < 0.9, 0.02 * rng.random(n), rng.gamma(1.0, 20.0, n))
    price = (
        22
        + 9 * (rooms - 6.3)
        - 0.5 * (poor - 12)
        - 20 * np.minimum(crime, 0.3)
        + rng.normal(0, 3, n)
    )
    return np.column_stack([rooms, poor, crime]), np.clip(price, 5.0, 50.0)


@pytest.mark.syllabus("6.7.3")
@pytest.mark.parametrize("error", ["squared", "absolute"])
@pytest.mark.parametrize("share", [None, 0.0, 0.1])
def test_no_prediction_leaves_the_targets_by_more_than_a_share_of_their_range(
    error, share
):
    X, y = housing()
    far = np.vstack(
        [X, X * [1.0, 1.0, 100.0], X * [3.0, 1.0, 1.0], np.full((1, 3), 1e9)]
    )
    settings = {} if share is None else {"extrapolation": share}
    model = ModelTreeRegressor(error=error, **settings).fit(X, y)
    free = ModelTreeRegressor(error=error, extrapolation=None).fit(X, y)
    margin = (share or 0.0) * (y.max() - y.min())
    limited = np.clip(free.predict(far), y.min() - margin, y.max() + margin)
    np.testing.assert_allclose(model.predict(far), limited, rtol=1e-12)
    assert abs(free.predict(far)).max() > 500


def food_of_households():
    """Engel's households: the largest incomes lie far beyond the others."""
    data = pytest.importorskip("statsmodels.api").datasets.engel.load_pandas().data
    return data[["income"]].to_numpy(), data["foodexp"].to_numpy()


def worst_fold(X, y, **settings):
    """The least R² of ten folds, three times, and the largest prediction."""
    scores = []
    largest = -np.inf
    for seed in range(3):
        for train, test in KFold(10, shuffle=True, random_state=seed).split(X):
            model = ModelTreeRegressor(**settings).fit(X[train], y[train])
            predicted = model.predict(X[test])
            about_mean = ((y[test] - y.mean()) ** 2).sum()
            scores.append(1 - ((y[test] - predicted) ** 2).sum() / about_mean)
            largest = max(largest, predicted.max())
    return min(scores), largest


def test_the_default_keeps_the_fold_with_the_largest_incomes_from_running_away():
    X, y = food_of_households()
    free, largest_free = worst_fold(X, y, extrapolation=None)
    limited, largest = worst_fold(X, y)
    assert free < 0.4
    assert limited > 0.45
    assert largest <= y.max()
    assert largest_free > y.max() + np.ptp(y) / 10


@pytest.mark.syllabus("6.7")
def test_on_processors_the_limit_costs_nothing_and_holds_far_out():
    """The table that M5 was published with: 209 processors, and ten times as large ones."""
    table = np.loadtxt(datasets.path("cpu"), delimiter=",", skiprows=1)
    X = table[:, :-1]
    y = table[:, -1]
    free, _ = worst_fold(X, y, extrapolation=None)
    limited, _ = worst_fold(X, y)
    assert limited == free > 0.55
    far = ModelTreeRegressor(extrapolation=None).fit(X, y).predict(10 * X)
    kept = ModelTreeRegressor().fit(X, y).predict(10 * X)
    assert far.max() > 4 * y.max()
    assert y.min() <= kept.min() < kept.max() == y.max()


def test_predictions_within_the_limits_are_left_alone():
    X, y = housing()
    free = ModelTreeRegressor(extrapolation=None).fit(X, y).predict(X)
    model = ModelTreeRegressor().fit(X, y)
    low, high = model.limits_
    within = (low <= free) & (free <= high)
    assert within.sum() > 0.9 * len(y)
    np.testing.assert_array_equal(model.predict(X)[within], free[within])
    assert model.limits_.tolist() == [y.min(), y.max()]


def test_limits_of_far_targets_are_numbers():
    X = np.arange(20.0)[:, None]
    for shift in (1e6, 1e12):
        y = X[:, 0] + shift
        limits = ModelTreeRegressor(extrapolation=0.1).fit(X, y).limits_
        np.testing.assert_allclose(limits - shift, [-1.9, 20.9], atol=1e-9 * shift)
    constant = ModelTreeRegressor().fit(X, np.full(20, 3.0))
    assert constant.limits_.tolist() == [3.0, 3.0]


def test_limited_predictions_are_explained_and_their_paths_end_in_them():
    X, y = housing()
    far = np.vstack([X[:20], X[:20] * [3.0, 1.0, 100.0], np.full((1, 3), -1e7)])
    for extrapolation in (0.0, 1.0):
        model = ModelTreeRegressor(extrapolation=extrapolation).fit(X, y)
        explained = model.explain(far)
        np.testing.assert_allclose(explained.scores, model.predict(far), rtol=1e-9)
        assert model.path(far, 25).prediction == pytest.approx(model.predict(far)[25])

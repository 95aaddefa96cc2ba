"""The predictions of model trees stay in proportion to the targets that were seen."""

import numpy as np
import pytest

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


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("error", ["squared", "absolute"])
def test_no_prediction_runs_away_from_the_targets_of_its_node(error):
    X, y = housing()
    far = np.vstack(
        [X, X * [1.0, 1.0, 100.0], X * [3.0, 1.0, 1.0], np.full((1, 3), 1e9)]
    )
    model = ModelTreeRegressor(error=error).fit(X, y)
    free = ModelTreeRegressor(error=error, extrapolation=None).fit(X, y)
    said, without, node = model.predict(far), free.predict(far), model.apply(far)
    home = model.apply(X)
    beyond = 0
    for i in np.unique(node):
        seen = y[home == i]
        margin = max(np.ptp(seen), y.std())
        limited = np.clip(without[node == i], seen.min() - margin, seen.max() + margin)
        np.testing.assert_allclose(said[node == i], limited, rtol=1e-12)
        beyond += np.count_nonzero(limited != without[node == i])
    assert beyond > 0
    assert abs(without).max() > 500
    assert said.max() <= y.max() + np.ptp(y)
    assert said.min() >= y.min() - np.ptp(y)


def test_the_limit_leaves_the_training_rows_alone_and_zero_is_their_range():
    X, y = housing()
    free = ModelTreeRegressor(extrapolation=None).fit(X, y)
    np.testing.assert_array_equal(
        ModelTreeRegressor().fit(X, y).predict(X), free.predict(X)
    )
    tight = ModelTreeRegressor(extrapolation=0.0).fit(X, y)
    home = tight.apply(X)
    for i in np.unique(home):
        assert tight.limits_[i].tolist() == [y[home == i].min(), y[home == i].max()]


def test_limited_predictions_are_explained_and_their_paths_end_in_them():
    X, y = housing()
    far = np.vstack([X[:20], X[:20] * [3.0, 1.0, 100.0], np.full((1, 3), -1e7)])
    for extrapolation in (0.0, 1.0):
        model = ModelTreeRegressor(extrapolation=extrapolation).fit(X, y)
        explained = model.explain(far)
        np.testing.assert_allclose(explained.scores, model.predict(far), rtol=1e-9)
        assert model.path(far, 25).prediction == pytest.approx(model.predict(far)[25])

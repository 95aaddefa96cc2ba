"""Missing cells filled from the nearest rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import KNNImputer as TheirKNNImputer

from lyceum.distances import Gower, pairwise
from lyceum.prepare import KNNImputer, SimpleImputer

pytestmark = pytest.mark.syllabus("1.3")


@pytest.mark.syllabus("1.3.4")
def test_cells_are_the_means_and_modes_of_the_nearest_rows_that_know_them():
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "b": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "town": np.where(rng.random(n) < 0.2, None, rng.choice(["U", "B", "K"], n)),
        }
    )
    filled = KNNImputer(n_neighbors=3).fit_transform(frame)
    from lyceum import scan

    rows = scan(frame)
    d = pairwise(rows, metric=Gower().learn(rows))
    for name in frame:
        known = np.flatnonzero(frame[name].notna())
        for i in np.flatnonzero(frame[name].isna()):
            near = known[np.lexsort((known, d[i, known]))[:3]]
            if name == "town":
                best = frame["town"].iloc[near].value_counts()
                assert filled[name][i] in best[best == best.max()].index
            else:
                assert filled[name][i] == pytest.approx(frame[name].iloc[near].mean())
        assert filled[name].iloc[known].tolist() == frame[name].iloc[known].tolist()


def test_numbers_are_filled_better_than_by_the_mean_and_as_scikit_learn_does():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 6, 300)
    X = np.column_stack([x, np.sin(x), np.cos(x)])
    gone = rng.random(X.shape) < 0.1
    holes = np.where(gone, np.nan, X)
    errors = {}
    for name, filler in (
        ("neighbors", KNNImputer()),
        ("mean", SimpleImputer()),
        ("sklearn", TheirKNNImputer()),
    ):
        errors[name] = np.sqrt(np.mean((filler.fit_transform(holes) - X)[gone] ** 2))
    assert errors["neighbors"] < 0.6 * errors["mean"]
    assert errors["neighbors"] < 1.1 * errors["sklearn"]


def test_weights_and_distances_count():
    X = np.array([[0.0, 1.0], [1.0, 2.0], [4.0, 9.0], [1.0, np.nan]])
    filler = KNNImputer(n_neighbors=2).fit(X, sample_weight=[1, 3, 1, 1])
    assert filler.transform(X)[3, 1] == pytest.approx((1 * 1 + 3 * 2) / 4)
    near = KNNImputer(n_neighbors=2, weights="distance").fit(X)
    assert near.transform(X)[3, 1] == 2.0  # an exact hit
    assert near.transform([[0.25, np.nan]])[0, 1] == pytest.approx(
        (1 / 0.25 + 2 / 0.75) / (1 / 0.25 + 1 / 0.75)
    )


def test_where_no_neighbor_can_say_the_column_does():
    X = np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, 6.0]])
    filler = KNNImputer(metric="gower").fit(X)
    np.testing.assert_allclose(filler.transform([[np.nan, np.nan]]), [[2.0, 4.0]])
    with pytest.warns(UserWarning, match="nothing but missing"):
        empty = KNNImputer(metric="gower").fit([[1.0, np.nan], [2.0, np.nan]])
    np.testing.assert_allclose(empty.transform([[1.0, np.nan]]), [[1.0, 0.0]])

"""Nearest-neighbour densities against their definition by brute force."""

import numpy as np
import pytest
from scipy.special import gamma

from lyceum.density import NeighborDensity
from lyceum.errors import DataError, SettingError, SourceError


def rows_of(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_definition(rows, X, k):
    d = rows.shape[1]
    R = np.sort(np.linalg.norm(X[:, None] - rows, axis=2), axis=1)[:, k - 1]
    return k / (len(rows) * np.pi ** (d / 2) / gamma(d / 2 + 1) * R**d)


@pytest.mark.syllabus("4.4")
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("k", [1, 7, 50])
def test_it_is_k_over_n_times_the_volume_of_the_ball(d, k):
    rows, X = rows_of(50, d), rows_of(20, d, 1)
    model = NeighborDensity(n_neighbors=k).fit(rows)
    np.testing.assert_allclose(np.exp(model.score_samples(X)), by_definition(rows, X, k), rtol=1e-10)


@pytest.mark.syllabus("4.4")
def test_k_is_the_root_of_n_by_default():
    assert NeighborDensity().fit(rows_of(150, 2)).n_neighbors_ == 12
    assert NeighborDensity().fit([[1.0]]).n_neighbors_ == 1


def test_weight_two_equals_repeated_row():
    rows, X, w = rows_of(40, 2), rows_of(15, 2, 1), np.random.default_rng(0).integers(0, 4, 40)
    weighted = NeighborDensity().fit(rows, sample_weight=w.astype(float))
    repeated = NeighborDensity().fit(np.repeat(rows, w, axis=0))
    assert weighted.n_neighbors_ == repeated.n_neighbors_
    np.testing.assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-12)


def test_small_weights_reach_farther():
    """Ten rows of weight 0.2 weigh 2: k = 1 needs the fifth of them."""
    rows = np.arange(10.0)[:, None]
    model = NeighborDensity(n_neighbors=1).fit(rows, sample_weight=np.full(10, 0.2))
    assert np.exp(model.score_samples([[0.0]])[0]) == pytest.approx(1 / (2 * 2 * 4.0))


@pytest.mark.syllabus("15.4")
def test_anomalies_do_not_count_themselves():
    rows = np.concatenate([rows_of(99, 2), [[25.0, 25.0]]])
    model = NeighborDensity(n_neighbors=3).fit(rows)
    assert model.anomalies([[25.0, 26.0], [0.0, 0.1]], 0.02).tolist() == [True, False]
    left_out = np.log([by_definition(np.delete(rows, i, axis=0), rows[[i]], 3)[0] for i in range(100)])
    assert model.anomaly_threshold(0.05) == pytest.approx(np.sort(left_out)[4])


def test_a_million_away_and_coinciding_rows():
    rows, X = rows_of(60, 2), rows_of(10, 2, 1)
    near, far = NeighborDensity().fit(rows), NeighborDensity().fit(rows + 1e6)
    np.testing.assert_allclose(far.score_samples(X + 1e6), near.score_samples(X), atol=1e-6)
    assert np.isposinf(NeighborDensity(n_neighbors=2).fit([[1.0], [1.0], [2.0]]).score_samples([[1.0]])[0])


def test_bad_input_is_named(monkeypatch):
    import dask.array as da

    with pytest.raises(SettingError, match="n_neighbors is 5, but the weight of all rows"):
        NeighborDensity(n_neighbors=5).fit(rows_of(3, 1))
    with pytest.raises(DataError, match="1 sample"):
        NeighborDensity().fit([[1.0]]).anomalies([[1.0]])
    assert "neighbours k" in str(NeighborDensity().fit(rows_of(9, 1)).summary())
    monkeypatch.setattr("lyceum.data._gather._half_of_memory", lambda: 100)
    with pytest.raises(SourceError, match="HistogramDensity or GaussianDensity"):
        NeighborDensity().fit(da.from_array(rows_of(20, 2), chunks=(10, 2)))

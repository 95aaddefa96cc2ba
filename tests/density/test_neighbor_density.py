"""Nearest-neighbor densities against their definition by brute force."""

import numpy as np
import pytest
from scipy.special import gamma

from lyceum._core.base import parts_by_replacement
from lyceum.density import NeighborDensity
from lyceum.errors import DataError, SettingError, SourceError


def rows_of(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_definition(rows, X, k):
    d = rows.shape[1]
    R = np.sort(np.linalg.norm(X[:, None] - rows, axis=2), axis=1)[:, k - 1]
    return k / (len(rows) * np.pi ** (d / 2) / gamma(d / 2 + 1) * R**d)


@pytest.mark.syllabus("4.4.1")
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("k", [1, 7, 50])
def test_it_is_k_over_n_times_the_volume_of_the_ball(d, k):
    rows, X = rows_of(50, d), rows_of(20, d, 1)
    model = NeighborDensity(n_neighbors=k).fit(rows)
    np.testing.assert_allclose(
        np.exp(model.score_samples(X)), by_definition(rows, X, k), rtol=1e-10
    )


@pytest.mark.syllabus("4.4")
def test_k_is_the_root_of_n_by_default():
    assert NeighborDensity().fit(rows_of(150, 2)).n_neighbors_ == 12
    assert NeighborDensity().fit([[1.0]]).n_neighbors_ == 1


def test_weight_two_equals_repeated_row():
    rows, X, w = (
        rows_of(40, 2),
        rows_of(15, 2, 1),
        np.random.default_rng(0).integers(0, 4, 40),
    )
    weighted = NeighborDensity().fit(rows, sample_weight=w.astype(float))
    repeated = NeighborDensity().fit(np.repeat(rows, w, axis=0))
    assert weighted.n_neighbors_ == repeated.n_neighbors_
    np.testing.assert_allclose(
        weighted.score_samples(X), repeated.score_samples(X), rtol=1e-12
    )


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
    left_out = np.log(
        [by_definition(np.delete(rows, i, axis=0), rows[[i]], 3)[0] for i in range(100)]
    )
    assert model.anomaly_threshold(0.05) == pytest.approx(np.sort(left_out)[4])


def test_a_million_away_and_coinciding_rows():
    rows, X = rows_of(60, 2), rows_of(10, 2, 1)
    near, far = NeighborDensity().fit(rows), NeighborDensity().fit(rows + 1e6)
    np.testing.assert_allclose(
        far.score_samples(X + 1e6), near.score_samples(X), atol=1e-6
    )
    assert np.isposinf(
        NeighborDensity(n_neighbors=2)
        .fit([[1.0], [1.0], [2.0]])
        .score_samples([[1.0]])[0]
    )


def test_bad_input_is_named(monkeypatch):
    import dask.array as da

    with pytest.raises(
        SettingError, match="n_neighbors is 5, but the weight of all rows"
    ):
        NeighborDensity(n_neighbors=5).fit(rows_of(3, 1))
    with pytest.raises(DataError, match="1 sample"):
        NeighborDensity().fit([[1.0]]).anomalies([[1.0]])
    assert "neighbors k" in str(NeighborDensity().fit(rows_of(9, 1)).summary())
    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    with pytest.raises(SourceError, match="HistogramDensity or GaussianDensity"):
        NeighborDensity().fit(da.from_array(rows_of(20, 2), chunks=(10, 2)))


def test_columns_are_replaced_from_the_mean_in_both_orders():
    rows, X = rows_of(50, 2), rows_of(6, 2, 1)
    found = NeighborDensity(n_neighbors=3).fit(rows).explain(X)
    mean = rows.mean(axis=0)
    of = {
        name: np.log(by_definition(rows, np.column_stack(Z), 3))
        for name, Z in {
            "neither": np.broadcast_to(mean[:, None], (2, 6)),
            "first": (X[:, 0], np.full(6, mean[1])),
            "second": (np.full(6, mean[0]), X[:, 1]),
            "both": X.T,
        }.items()
    }
    first = (of["first"] - of["neither"] + of["both"] - of["second"]) / 2
    second = (of["second"] - of["neither"] + of["both"] - of["first"]) / 2
    np.testing.assert_allclose(found.base, of["neither"], rtol=1e-10)
    np.testing.assert_allclose(
        found.contributions, np.column_stack([first, second]), rtol=1e-8
    )
    np.testing.assert_allclose(found.scores, of["both"], rtol=1e-10)


def test_infinite_densities_are_explained():
    """Both rows at 1 are k equal rows; the mean of the second table is one of four equal rows."""
    model = NeighborDensity(n_neighbors=2).fit([[1.0, 0.0], [1.0, 0.0], [2.0, 6.0]])
    found = model.explain([[1.0, 0.0], [2.0, 6.0]])
    assert np.isposinf(found.scores[0])
    assert found.scores[1] == pytest.approx(model.score_samples([[2.0, 6.0]])[0])
    model = NeighborDensity(n_neighbors=2).fit(
        [[0.0, 0.0]] * 4 + [[-1.0, -2.0], [1.0, 2.0]]
    )
    X = [[1.0, 2.0], [0.0, 0.0], [0.0, 3.0]]
    np.testing.assert_allclose(
        model.explain(X).scores, model.score_samples(X), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("answers", "base", "added"),
    [
        ((np.inf, 1.0, 2.0, 5.0), 1.5, [1.5, 2.0]),  # (1, 1, 5) and (2, 2, 5)
        ((1.0, np.inf, 2.0, 5.0), 1.0, [1.5, 2.5]),  # (1, 1, 5) and (1, 2, 5)
        ((1.0, -np.inf, 2.0, -np.inf), 1.0, [-np.inf, 0.5]),
        ((np.inf, np.inf, -np.inf, np.inf), np.inf, [np.inf, 0.0]),
        ((-np.inf, np.inf, np.inf, np.inf), 0.0, [np.inf, np.inf]),
    ],
)
def test_an_infinite_answer_counts_where_it_stays(answers, base, added):
    """Answers for neither column, the first alone, the second alone, and both."""
    table = np.reshape(answers, (2, 2)).T
    found = parts_by_replacement(
        np.ones((1, 2)), np.zeros(2), lambda X: table[tuple(X.astype(int).T)]
    )
    assert found[0].tolist() == [answers[-1], base, *added]

"""k nearest neighbors against brute force, scikit-learn and hand-solved answers."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn import neighbors as sk

from lyceum.data import scan
from lyceum.distances import Gower, Mahalanobis, Minkowski, pairwise
from lyceum.errors import MissingValuesError, SettingError, SourceError
from lyceum.neighbors import KNeighborsClassifier, KNeighborsRegressor

pytestmark = pytest.mark.syllabus("10.1")


def grid(seed, n=60, d=2, values=4):
    """Whole numbers: many ties and duplicates."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, d)).astype(float)
    return X, rng.integers(0, 3, n), rng


def brute_shares(X, y, Q, k, vote, K):
    """The definition, row by row: ties by row number, exact hits alone where votes are infinite."""
    out = np.zeros((len(Q), K))
    for i, q in enumerate(Q):
        d = np.sqrt(((X - q) ** 2).sum(axis=1))
        near = np.lexsort((np.arange(len(X)), ((X - q) ** 2).sum(axis=1)))[:k]
        v = vote(d[near])
        for row, weight in zip(near, v):
            out[i, y[row]] += weight
    return out / out.sum(axis=1, keepdims=True)


def exact_hits(power):
    def vote(d):
        return (d == 0).astype(float) if (d == 0).any() else 1 / d**power

    return vote


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9))
@pytest.mark.syllabus("10.2.1")
def test_posteriors_are_the_shares_of_the_votes_with_ties_and_duplicates(seed, k):
    X, y, rng = grid(seed)
    Q = rng.integers(-1, 5, (20, 2)).astype(float)
    votes = {
        "uniform": np.ones_like,
        "distance": exact_hits(1),
        "inverse_square": exact_hits(2),
    }
    for name, vote in votes.items():
        model = KNeighborsClassifier(k, weights=name).fit(X, y)
        expected = brute_shares(X, y, Q, k, vote, len(model.classes_))
        np.testing.assert_allclose(model.predict_proba(Q), expected, atol=1e-12)
        assert model.predict(Q).tolist() == expected.argmax(axis=1).tolist()
    fixed = {
        "shifted_inverse_square": lambda d: 1 / (0.7 + d) ** 2,
        "exponential_square": lambda d: np.exp(-((d / 0.7) ** 2)),
        "gaussian": lambda d: np.exp(-((d / 0.7) ** 2) / 2),
    }
    for name, vote in fixed.items():
        model = KNeighborsClassifier(k, weights=name, bandwidth=0.7).fit(X, y)
        np.testing.assert_allclose(
            model.predict_proba(Q),
            brute_shares(X, y, Q, k, vote, len(model.classes_)),
            atol=1e-12,
        )


@pytest.mark.syllabus("10.1.1")
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_agrees_with_scikit_learn(metric, weights):
    rng = np.random.default_rng(3)
    X, y, t = rng.normal(size=(700, 5)), rng.integers(0, 4, 700), rng.normal(size=700)
    Q = rng.normal(size=(100, 5))
    ours = KNeighborsClassifier(7, metric=metric, weights=weights).fit(X, y)
    theirs = sk.KNeighborsClassifier(7, metric=metric, weights=weights).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(Q), theirs.predict_proba(Q), atol=1e-9
    )
    numbers = KNeighborsRegressor(7, metric=metric, weights=weights).fit(X, t)
    expected = sk.KNeighborsRegressor(7, metric=metric, weights=weights).fit(X, t)
    np.testing.assert_allclose(numbers.predict(Q), expected.predict(Q), atol=1e-9)


def test_agrees_with_scipys_tree():
    rng = np.random.default_rng(4)
    X, Q = rng.normal(size=(2000, 3)), rng.normal(size=(50, 3))
    found = KNeighborsRegressor().fit(X, X[:, 0]).kneighbors(Q, 9)
    distances, rows = cKDTree(X).query(Q, 9)
    assert found.rows.tolist() == rows.tolist()
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12)


def test_distances_and_rows_unpack_as_in_scikit_learn():
    X = np.random.default_rng(4).normal(size=(40, 3))
    for query in (None, X[:7]):
        distances, rows = KNeighborsRegressor().fit(X, X[:, 0]).kneighbors(query)
        expected = sk.KNeighborsRegressor().fit(X, X[:, 0]).kneighbors(query)
        np.testing.assert_allclose(distances, expected[0], atol=1e-12)
        np.testing.assert_array_equal(rows, expected[1])


def test_mahalanobis_minkowski_and_sparse_rows():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)), rng.integers(0, 2, 300)
    Q = X[:40] + 0.1
    S = np.cov(X.T)
    theirs = sk.KNeighborsClassifier(
        5,
        metric="mahalanobis",
        metric_params={"VI": np.linalg.inv(S)},
        algorithm="brute",
    )
    expected = theirs.fit(X, y).predict_proba(Q)
    for metric in ("mahalanobis", Mahalanobis(S)):
        ours = KNeighborsClassifier(5, metric=metric).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(Q), expected, atol=1e-12)
    by_name = KNeighborsClassifier(5, metric="minkowski", p=3).fit(X, y)
    given_one = KNeighborsClassifier(5, metric=Minkowski(3)).fit(X, y)
    expected = (
        sk.KNeighborsClassifier(5, metric="minkowski", p=3).fit(X, y).predict_proba(Q)
    )
    np.testing.assert_allclose(by_name.predict_proba(Q), expected, atol=1e-12)
    np.testing.assert_array_equal(by_name.predict_proba(Q), given_one.predict_proba(Q))
    thin = np.where(rng.random(X.shape) < 0.6, 0.0, X)
    dense, csr = (
        KNeighborsClassifier().fit(rows, y) for rows in (thin, sparse.csr_array(thin))
    )
    np.testing.assert_allclose(
        dense.predict_proba(thin), csr.predict_proba(sparse.csr_array(thin))
    )


def test_mahalanobis_takes_constant_columns_and_one_row():
    X = np.column_stack([np.arange(6.0), np.ones(6)])
    model = KNeighborsClassifier(1, metric="mahalanobis").fit(X, [0, 0, 0, 1, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 0, 1, 1, 1]
    for kind in (KNeighborsClassifier, KNeighborsRegressor):
        assert kind().fit([[1.0]], [3]).predict([[9.0]]).tolist() == [3]


@pytest.mark.syllabus("1.3.5")
def test_mixed_columns_with_missing_cells_are_compared_by_gower():
    rng = np.random.default_rng(6)
    n = 120
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 10, n)),
            "town": rng.choice(["Ulm", "Bonn", None], n),
            "smokes": rng.random(n) < 0.5,
        }
    )
    y = rng.integers(0, 3, n)
    model = KNeighborsClassifier(4, metric="gower").fit(frame, y)
    distances = pairwise(
        model._stored_rows(), metric=Gower().learn(model._stored_rows())
    )
    together = model.predict_proba(frame)
    for i in range(n):
        order = np.lexsort((np.arange(n), distances[i]))[:4]
        shares = np.bincount(y[order], minlength=3) / 4
        np.testing.assert_allclose(together[i], shares, atol=1e-12)
        if i < 15:
            np.testing.assert_allclose(
                model.predict_proba(frame.iloc[[i]])[0], shares, atol=1e-12
            )
    for kind, target in ((KNeighborsClassifier, y), (KNeighborsRegressor, y + 0.5)):
        fitted = kind(metric="value_difference").fit(frame, target)
        assert np.isfinite(fitted.score(frame, target))
    with pytest.raises(MissingValuesError, match="column 'town' has a missing value"):
        KNeighborsClassifier().fit(frame, y)


@pytest.mark.syllabus("10.2.2")
def test_shepards_method_is_the_weighted_mean_of_all_rows():
    rng = np.random.default_rng(7)
    X, t, Q = rng.normal(size=(50, 2)), rng.normal(size=50), rng.normal(size=(9, 2))
    model = KNeighborsRegressor("all", weights="inverse_square").fit(X, t)
    v = 1 / ((Q[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.predict(Q), v @ t / v.sum(axis=1), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), t)  # it interpolates
    everyone = KNeighborsRegressor(50, weights="inverse_square").fit(X, t)
    np.testing.assert_allclose(everyone.predict(Q), model.predict(Q), rtol=1e-10)
    y = (t > 0).astype(int)
    shares = (
        KNeighborsClassifier("all", weights="exponential_square", bandwidth=0.5)
        .fit(X, y)
        .predict_proba(Q)
    )
    g = np.exp(-((Q[:, None] - X) ** 2).sum(axis=2) / 0.25)
    np.testing.assert_allclose(shares[:, 1], g @ y / g.sum(axis=1), rtol=1e-9)


def test_gaussian_votes_do_not_vanish_far_away():
    model = KNeighborsRegressor(2, weights="gaussian", bandwidth=1e-3).fit(
        [[0.0], [1.0], [2.0]], [1.0, 2.0, 5.0]
    )
    assert model.predict([[1e6]]).tolist() == [5.0]


def test_a_callable_may_vote_and_is_checked():
    X, y, _ = grid(8)
    ours = KNeighborsClassifier(3, weights=lambda d: np.exp(-d)).fit(X, y)
    theirs = sk.KNeighborsClassifier(3, weights=lambda d: np.exp(-d)).fit(
        X + 1e-6 * np.arange(60)[:, None], y
    )
    assert ours.predict_proba(X[:1]).shape == theirs.predict_proba(X[:1]).shape
    np.testing.assert_allclose(
        ours.predict_proba(X), brute_shares(X, y, X, 3, lambda d: np.exp(-d), 3)
    )
    with pytest.raises(SettingError, match="negative or NaN"):
        KNeighborsClassifier(weights=lambda d: -d - 1).fit(X, y).predict(X)
    with pytest.raises(SettingError, match="must agree"):
        KNeighborsClassifier(weights=lambda d: d[:, :1]).fit(X, y).predict(X)


def test_rows_within_a_radius_vote_or_the_nearest_one():
    X, y = [[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 1]
    model = KNeighborsClassifier(radius=1.2).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba([[1.0], [5.0], [8.9]]), [[2 / 3, 1 / 3], [0, 1], [0, 1]]
    )
    assert model.radius_neighbors([[1.0]])[0].rows.tolist() == [1, 0, 2]
    assert model.radius_neighbors(radius=1.5)[0].rows.tolist() == [1]
    weighted = KNeighborsClassifier(radius=1.2).fit(X, y, sample_weight=[1, 1, 4, 1])
    np.testing.assert_allclose(weighted.predict_proba([[1.0]]), [[1 / 3, 2 / 3]])
    with pytest.raises(SettingError, match="both say which rows vote"):
        KNeighborsClassifier("all", radius=1.0).fit(X, y)


def test_weights_below_one_reach_further():
    model = KNeighborsRegressor(2).fit(
        [[0.0], [1.0], [2.0], [3.0]], [1, 2, 3, 4], sample_weight=[0.5, 0.5, 0.5, 1]
    )
    # 0.5 + 0.5 + 0.5 + half of the last row
    assert model.predict([[0.0]])[0] == pytest.approx((0.5 + 1 + 1.5 + 0.5 * 4) / 2)


@pytest.mark.syllabus("10.3.3")
def test_scales_are_used_when_asked_and_mentioned_when_they_differ():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 2)) * [1.0, 1e4] + [0, 1e6]
    y = (X[:, 0] > 0).astype(int)
    plain = KNeighborsClassifier().fit(X, y)
    assert "varies" in str(plain.summary())
    assert "x1" in plain.summary().facts["note"]
    for standardize, unit in ((True, X.std(axis=0)), ("range", np.ptp(X, axis=0))):
        scaled = KNeighborsClassifier(standardize=standardize).fit(X, y)
        assert "note" not in scaled.summary().facts
        np.testing.assert_allclose(scaled.scale_, unit)
        expected = sk.KNeighborsClassifier().fit(X / unit, y).predict_proba(X / unit)
        np.testing.assert_allclose(scaled.predict_proba(X), expected, atol=1e-12)
    with pytest.raises(SettingError, match="has no meaning"):
        KNeighborsClassifier(metric="gower", standardize="range").fit(X, y)


def test_explanations_name_the_neighbors_that_voted():
    rng = np.random.default_rng(10)
    X = np.column_stack(
        [
            np.r_[np.zeros(20), np.full(20, 5.0)] + 0.1 * rng.normal(size=40),
            rng.normal(size=40),
        ]
    )
    y = np.repeat(["left", "right"], 20)
    model = KNeighborsClassifier(3, weights="distance").fit(X, y)
    found = model.explain([[5.0, 0.0]])
    near = model.kneighbors([[5.0, 0.0]])
    assert found.rows.tolist() == near.rows.tolist()
    np.testing.assert_allclose(
        found.votes[0], (1 / near.distances[0]) / (1 / near.distances[0]).sum()
    )
    # x0 makes them near
    assert found.contributions[0, 0] > 3 * found.contributions[0, 1]
    np.testing.assert_allclose(found.differences.sum(axis=2), 1.0)
    assert found.neighbors(0).rows[0][1] == "right"
    assert "Neighbors of row 0" in str(found)
    assert found.as_dict()["rows"][0]["neighbors"]


@pytest.mark.parametrize(
    "metric",
    ["cosine", "correlation", "hamming", "jaccard", "gower", "value_difference"],
)
def test_explanations_sum_to_the_posterior_in_every_metric(metric):
    rng = np.random.default_rng(11)
    X, y = rng.integers(0, 3, (60, 4)).astype(float), rng.integers(0, 2, 60)
    model = KNeighborsClassifier(metric=metric).fit(X, y)
    np.testing.assert_allclose(
        model.explain(X).scores, model.predict_proba(X).max(axis=1)
    )


def test_a_regressor_too_large_for_memory_names_another_regressor(
    tmp_path, monkeypatch
):
    rng = np.random.default_rng(0)
    pq.write_table(
        pa.table({"x": rng.normal(size=40), "y": rng.normal(size=40)}),
        tmp_path / "rows.parquet",
    )
    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    with pytest.raises(SourceError, match="DecisionTreeRegressor"):
        KNeighborsRegressor().fit(scan(tmp_path / "rows.parquet", target="y", memory=0))


@pytest.mark.syllabus("10.3.2")
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_all_rows_tied_at_the_kth_distance_vote_if_wanted(seed, k):
    X, y, rng = grid(seed)
    Q = rng.integers(-1, 5, (20, 2)).astype(float)
    model = KNeighborsClassifier(k, ties="all").fit(X, y)
    numbers = KNeighborsRegressor(k, ties="all", weights="distance").fit(X, y)
    squares = ((Q[:, None] - X) ** 2).sum(axis=2)
    radius = np.sort(squares, axis=1)[:, k - 1 : k]
    votes = (squares <= radius).astype(float)
    shares = np.stack([votes @ (y == label) for label in model.classes_], axis=1)
    np.testing.assert_allclose(
        model.predict_proba(Q), shares / votes.sum(axis=1, keepdims=True)
    )
    for i in range(len(Q)):
        d = np.sqrt(squares[i])
        v = votes[i] * ((d == 0) if (d == 0).any() else 1 / np.where(d > 0, d, 1))
        assert numbers.predict(Q[[i]])[0] == pytest.approx(v @ y / v.sum())


def test_tied_rows_of_weight_two_count_twice_and_a_choice_of_k_refuses_ties():
    X = np.array([[0.0], [1.0], [-1.0], [1.0], [5.0]])
    y = np.array([0, 1, 2, 1, 0])
    w = np.array([1, 2, 1, 1, 1])
    model = KNeighborsClassifier(2, ties="all").fit(X, y, w)
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[1 / 5, 3 / 5, 1 / 5]])
    repeated = KNeighborsClassifier(2, ties="all").fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    np.testing.assert_allclose(repeated.predict_proba(X), model.predict_proba(X))
    assert (model.explain([[0.0]]).rows[0] >= 0).sum() == 4
    first = KNeighborsClassifier(2).fit(X, y, w)
    np.testing.assert_allclose(first.predict_proba([[0.0]]), [[1 / 2, 1 / 2, 0]])
    with pytest.raises(SettingError, match="ties='all' needs a number of neighbors"):
        KNeighborsClassifier("leave_one_out", ties="all").fit(X, y)
    with pytest.raises(SettingError, match="exactly k rows"):
        model.errors_by_k(X, y)

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from tests.statistics.cut import block_of

from lyceum.cluster._starts import STARTS, Points, ward_labels
from lyceum.statistics import RowSample

X, _ = make_blobs(300, 3, centers=5, random_state=2)


def sample_of(X, w=None, seed=0):
    return RowSample.of(block_of(X, w), size=10000, seed=seed)


def rng(seed=0):
    return np.random.RandomState(seed)


def is_a_row(center, X):
    return (center == X).all(axis=1).any()


@pytest.mark.parametrize("k", [1, 3, 20])
def test_weighted_ward_is_scipys_on_repeated_rows(k):
    w = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    labels = ward_labels(cdist(X, X, "sqeuclidean"), w, k)
    repeats = np.repeat(X, w.astype(int), axis=0)
    expected = fcluster(linkage(repeats, "ward"), k, "maxclust")[np.cumsum(w.astype(int)) - 1]
    pairs = np.unique(np.column_stack([labels, expected]), axis=0)
    assert len(pairs) == k == len(np.unique(labels))


def test_furthest_first_is_its_definition():
    chosen = STARTS["furthest-first"](sample_of(X), 6, rng())
    np.testing.assert_array_equal(chosen[0], X[np.linalg.norm(X - X.mean(axis=0), axis=1).argmax()])
    for k in range(1, 6):
        np.testing.assert_array_equal(chosen[k], X[cdist(X, chosen[:k]).min(axis=1).argmax()])


def test_points_are_distinct_rows_in_numeric_order_with_summed_weights():
    rows = np.array([[1.0, 5.0], [-2.0, 0.0], [1.0, -5.0], [-2.0, -0.0], [-3.0, 9.0]])
    points = Points(rows, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert points.X.tolist() == [[-3.0, 9.0], [-2.0, 0.0], [1.0, -5.0], [1.0, 5.0]]
    assert points.w.tolist() == [5.0, 6.0, 3.0, 1.0]


def test_points_measure_distances_from_afar():
    points = Points(X + 1e6, np.ones(len(X)))
    expected = cdist(points.X, points.X, "sqeuclidean")
    np.testing.assert_allclose(points.squares(np.arange(len(X))), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["k-means++", "random", "furthest-first"])
def test_starts_are_distinct_rows(name):
    centers = STARTS[name](sample_of(X), 30, rng())
    assert len(np.unique(centers, axis=0)) == 30
    assert all(is_a_row(center, X) for center in centers)


def test_greedy_plus_plus_starts_lower_than_random_rows():
    def cost(name):
        starts = (STARTS[name](sample_of(X), 5, rng(seed)) for seed in range(20))
        return np.mean([cdist(X, centers).min(axis=1).__pow__(2).sum() for centers in starts])

    assert cost("k-means++") < 0.5 * cost("random")


def test_random_rows_follow_their_weights():
    rows, w = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 8.0, 1.0])
    drawn = [STARTS["random"](sample_of(rows, w), 1, rng(seed))[0, 0] for seed in range(1500)]
    # p = 0.8, standard deviation of the proportion sqrt(p q / n) = 0.0103
    assert abs(np.mean(np.array(drawn) == 1.0) - 0.8) < 4 * 0.0103

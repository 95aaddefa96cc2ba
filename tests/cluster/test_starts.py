import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from tests.statistics.cut import block_of

from lyceum.cluster.kmeans.initial_centers import STARTS, Points
from lyceum.statistics import RowSample

X, _ = make_blobs(300, 3, centers=5, random_state=2)


def sample_of(X, w=None, seed=0):
    return RowSample.of(block_of(X, w), size=10000, seed=seed)


def rng(seed=0):
    return np.random.RandomState(seed)


def is_a_row(center, X):
    return (center == X).all(axis=1).any()


@pytest.mark.syllabus("12.1.1")
@pytest.mark.parametrize("k", [1, 3, 20])
def test_hierarchical_starts_are_the_means_of_scipys_ward_clusters_of_repeated_rows(k):
    w = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    found = STARTS["hierarchical"](sample_of(X, w), k, rng())
    repeats = np.repeat(X, w.astype(int), axis=0)
    labels = fcluster(linkage(repeats, "ward"), k, "maxclust")
    expected = np.array([repeats[labels == c].mean(axis=0) for c in np.unique(labels)])
    np.testing.assert_allclose(
        found[np.lexsort(found.T)], expected[np.lexsort(expected.T)]
    )


@pytest.mark.syllabus("12.1.1")
def test_of_more_random_rows_those_widest_apart_are_taken():
    wide = [STARTS["widest-apart"](sample_of(X), 5, rng(seed)) for seed in range(10)]
    plain = [STARTS["random"](sample_of(X), 5, rng(seed)) for seed in range(10)]
    least = [
        np.mean([cdist(c, c)[np.triu_indices(5, 1)].min() for c in some])
        for some in (wide, plain)
    ]
    assert least[0] > 2 * least[1]
    assert all(is_a_row(center, X) for center in wide[0])


@pytest.mark.syllabus("12.1.1")
def test_points_in_space_fill_the_box_of_the_rows():
    drawn = STARTS["space"](sample_of(X), 4000, rng())
    assert (drawn >= X.min(axis=0)).all()
    assert (drawn <= X.max(axis=0)).all()
    middle = (X.min(axis=0) + X.max(axis=0)) / 2
    np.testing.assert_allclose(
        drawn.mean(axis=0), middle, atol=0.05 * np.ptp(X, axis=0).max()
    )


@pytest.mark.syllabus("12.1.1")
def test_furthest_first_is_its_definition():
    chosen = STARTS["furthest-first"](sample_of(X), 6, rng())
    np.testing.assert_array_equal(
        chosen[0], X[np.linalg.norm(X - X.mean(axis=0), axis=1).argmax()]
    )
    for k in range(1, 6):
        np.testing.assert_array_equal(
            chosen[k], X[cdist(X, chosen[:k]).min(axis=1).argmax()]
        )


def test_points_are_distinct_rows_in_numeric_order_with_summed_weights():
    rows = np.array([[1.0, 5.0], [-2.0, 0.0], [1.0, -5.0], [-2.0, -0.0], [-3.0, 9.0]])
    points = Points(rows, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert points.X.tolist() == [[-3.0, 9.0], [-2.0, 0.0], [1.0, -5.0], [1.0, 5.0]]
    assert points.w.tolist() == [5.0, 6.0, 3.0, 1.0]


def test_points_measure_distances_from_afar():
    points = Points(X + 1e6, np.ones(len(X)))
    expected = cdist(points.X, points.X, "sqeuclidean")
    np.testing.assert_allclose(points.squares(np.arange(len(X))), expected, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["k-means++", "random", "furthest-first", "widest-apart"]
)
def test_starts_are_distinct_rows(name):
    centers = STARTS[name](sample_of(X), 30, rng())
    assert len(np.unique(centers, axis=0)) == 30
    assert all(is_a_row(center, X) for center in centers)


def test_greedy_plus_plus_starts_lower_than_random_rows():
    def cost(name):
        starts = (STARTS[name](sample_of(X), 5, rng(seed)) for seed in range(20))
        return np.mean(
            [cdist(X, centers).min(axis=1).__pow__(2).sum() for centers in starts]
        )

    assert cost("k-means++") < 0.5 * cost("random")


def test_random_rows_follow_their_weights():
    rows, w = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 8.0, 1.0])
    sample = sample_of(rows, w)
    drawn = [STARTS["random"](sample, 1, rng(seed))[0, 0] for seed in range(1500)]
    # p = 0.8, standard deviation of the proportion sqrt(p q / n) = 0.0103
    assert abs(np.mean(np.array(drawn) == 1.0) - 0.8) < 4 * 0.0103

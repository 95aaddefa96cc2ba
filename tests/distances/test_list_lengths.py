"""Lists of any length: short ones are kept in order, long ones as a heap, with the same answer."""

import numpy as np
import pytest

from lyceum.distances import NeighborIndex, pairwise


@pytest.mark.parametrize("k", [1, 2, 15, 16, 17, 40])
@pytest.mark.parametrize("algorithm", ["tree", "all pairs"])
@pytest.mark.parametrize("d", [2, 12])
def test_the_k_nearest_are_those_of_sorting_all_distances(k, algorithm, d):
    rng = np.random.default_rng(k)
    X = rng.integers(0, 5, (600, d)).astype(float)  # many ties
    Q = rng.integers(0, 5, (30, d)).astype(float)
    found = NeighborIndex(X, algorithm=algorithm).nearest(Q, k)
    squares = ((Q[:, None] - X) ** 2).sum(axis=2)
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    assert found.rows.tolist() == order.tolist()
    np.testing.assert_allclose(
        found.distances, np.take_along_axis(pairwise(Q, X), order, axis=1)
    )

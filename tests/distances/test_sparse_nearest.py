"""Nearest sparse rows by bounded products, against dense rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from lyceum.distances import nearest


@pytest.mark.syllabus("4.1")
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(["cosine", "euclidean", "squared_euclidean"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    scale=st.sampled_from([1.0, 1e-9, 1e9]),
    among=st.booleans(),
)
def test_nearest_sparse_rows_are_those_of_dense_rows_bit_for_bit(
    seed, metric, dtype, scale, among
):
    """With equal rows, rows of zeros and equal distances, whose order is that of their numbers."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(-1, 3, (30, 12)) * (rng.random((30, 12)) < 0.3) * scale
    cells += rng.integers(0, 2) * 1e-7 * scale * rng.random(cells.shape) * (cells != 0)
    cells[rng.integers(0, 30, 4)] = cells[rng.integers(0, 30, 4)]
    cells = cells.astype(dtype)
    rows = sparse.csr_array(cells)
    queries = (cells[:9], rows[:9]) if among else (cells, rows)
    k = int(rng.integers(1, 8))
    dense = nearest(queries[0], k, among=cells if among else None, metric=metric)
    found = nearest(queries[1], k, among=rows if among else None, metric=metric)
    if metric == "cosine":  # lengths of rows are rounded otherwise
        np.testing.assert_allclose(
            found.distances, dense.distances, rtol=1e-6, atol=1e-6
        )
    else:
        np.testing.assert_array_equal(found.rows, dense.rows)
        np.testing.assert_array_equal(found.distances, dense.distances)


def test_nearest_texts_by_cosine_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    words = sparse.random_array(
        (300, 500), density=0.03, random_state=rng, format="csr"
    )
    found = nearest(words[:40], 5, among=words, metric="cosine")
    peer = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(
        words
    )
    distances, rows = peer.kneighbors(words[:40])
    np.testing.assert_allclose(found.distances, distances, atol=1e-12)
    np.testing.assert_array_equal(found.rows, rows)

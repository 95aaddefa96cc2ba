"""Explanations of trees and densities, against the distances that decide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import cophenet, linkage as scipy_linkage
from scipy.spatial.distance import cdist, squareform

from lyceum.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    DivisiveClustering,
    KMedoids,
)
from lyceum.distances import Cosine

_random = np.random.default_rng(3)
X = np.vstack([_random.normal(c, 1.0, (25, 3)) for c in (0.0, 4.0, 9.0)])
NEW = _random.uniform(-2, 12, (20, 3))
W = _random.integers(1, 4, len(X)).astype(float)


def _weighted_mean(D: np.ndarray, w: np.ndarray) -> np.ndarray:
    return D @ w / w.sum()


@pytest.mark.syllabus("12.3")
@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "squared_euclidean", "cosine"]
)
@pytest.mark.parametrize(
    "linkage", ["single", "complete", "average", "centroid", "ward"]
)
def test_columns_of_a_linkage_add_up_to_the_margin_by_scipy(linkage, metric):
    model = AgglomerativeClustering(3, linkage=linkage, metric=metric).fit(
        X, sample_weight=W
    )
    found = model.explain(NEW)
    named = {"manhattan": "cityblock", "squared_euclidean": "sqeuclidean"}.get(
        metric, metric
    )
    D = cdist(NEW, X, named)
    groups = [model.labels_ == c for c in range(3)]
    if linkage in ("single", "complete"):
        extreme = {"single": np.min, "complete": np.max}[linkage]
        to = np.column_stack([extreme(D[:, g], axis=1) for g in groups])
    elif linkage == "average" or metric != "euclidean":
        to = np.column_stack([_weighted_mean(D[:, g], W[g]) for g in groups])
    else:
        to = cdist(
            NEW, np.array([np.average(X[g], axis=0, weights=W[g]) for g in groups])
        )
    to = np.sort(to, axis=1) ** (2 if "squared" in found.unit else 1)
    np.testing.assert_allclose(found.scores, to[:, 1] - to[:, 0], rtol=1e-9, atol=1e-9)
    assert found.predicted.tolist() == model.predict(NEW).tolist()
    own = np.where(model.labels_ == found.predicted[:, None], D, np.inf)
    near, order = (
        np.sort(own, axis=1)[:, :3],
        np.argsort(own, axis=1, kind="stable")[:, :3],
    )
    np.testing.assert_array_equal(found.members, np.where(np.isfinite(near), order, -1))
    np.testing.assert_allclose(found.distances, near, rtol=1e-9, atol=1e-12)


@pytest.mark.syllabus("12.3")
def test_a_bisection_is_explained_where_it_was_closest():
    model = DivisiveClustering(3).fit(X)
    found = model.explain(NEW)
    assert found.predicted.tolist() == model.predict(NEW).tolist()
    for row, score in zip(NEW, found.scores):
        node, least = 0, np.inf
        while node >= 0:
            far = ((row - model.split_centers_[node]) ** 2).sum(axis=1)
            least = min(least, abs(far[0] - far[1]))
            node = model.split_parts_[node][far.argmin()]
        assert score == pytest.approx(least, rel=1e-9)


@pytest.mark.syllabus("12.3")
def test_diana_is_explained_by_mean_distances():
    model = DivisiveClustering(3, method="diana", metric="manhattan").fit(X)
    found = model.explain(NEW)
    D = cdist(NEW, X, "cityblock")
    to = np.sort(
        np.column_stack([D[:, model.labels_ == c].mean(axis=1) for c in range(3)]),
        axis=1,
    )
    np.testing.assert_allclose(found.scores, to[:, 1] - to[:, 0], rtol=1e-9)


@pytest.mark.syllabus("12.3.6")
@pytest.mark.parametrize("learner", [DBSCAN(1.3), HDBSCAN(8, min_samples=5)])
def test_density_is_explained_by_core_rows_and_noise_by_where_clusters_end(learner):
    model, rows = learner.fit(X), np.vstack([NEW, X[::5] + 0.1])
    found = model.explain(rows)
    D = cdist(rows, X[model.row_numbers_]) ** 2
    assert found.predicted.tolist() == model.predict(rows).tolist()
    assert set(found.predicted) > {-1}
    for i, c in enumerate(found.predicted):
        core = model.row_labels_[D[i].argmin()]
        own = D[i].min() if c >= 0 else model.heights_[core] ** 2
        following = D[i][model.row_labels_ != c].min()
        assert found.scores[i] == pytest.approx(following - own, rel=1e-9)
        assert (found.members[i] >= 0).all() == (c >= 0)
    assert (found.scores > 0).all()


def test_mixed_columns_with_missing_cells_are_explained_and_named():
    frame = pd.DataFrame(
        {"age": [20.0, 22.0, None, 60.0, 63.0], "town": pd.Categorical(list("aaabb"))}
    )
    model = AgglomerativeClustering(2, linkage="average").fit(frame)
    found = model.explain(frame)
    far = np.sort(model.transform(frame), axis=1)
    np.testing.assert_allclose(found.scores, far[:, 1] - far[:, 0])
    assert list(found.names) == ["age", "town"]
    assert "Members near row 0" in str(found)


@pytest.mark.syllabus("12.3")
@pytest.mark.parametrize("linkage", ["single", "average", "ward"])
def test_the_merges_of_a_row_are_its_cophenetic_distances_by_scipy(linkage):
    found = AgglomerativeClustering(3, linkage=linkage).fit(X).explain(X[:4])
    to_others = squareform(cophenet(scipy_linkage(X, linkage)))
    for i in range(4):
        heights = [line[1] for line in found.merges(i).rows if line[1] != "…"]
        expected = np.unique(np.delete(to_others[i], i).round(9))
        np.testing.assert_allclose(heights[:5], expected[:5], rtol=1e-6)
        assert heights[-1] == pytest.approx(expected[-1])
        assert found.merges(i).rows[-1][3] == len(X)
        assert "Merges of row" in str(found)


@pytest.mark.parametrize(
    "learner", [AgglomerativeClustering, DBSCAN, HDBSCAN, KMedoids]
)
@pytest.mark.parametrize("metric", ["chebyshev", "precomputed"])
def test_metrics_that_are_no_sums_over_columns_have_no_explanation(learner, metric):
    assert not hasattr(learner(metric=metric), "explain")
    D = cdist(X, X, "chebyshev")
    assert not hasattr(
        learner(metric=metric).fit(D if metric == "precomputed" else X), "explain"
    )


def test_a_row_of_zeros_is_explained_under_the_cosine_metric():
    model = AgglomerativeClustering(2, linkage="single", metric=Cosine()).fit(
        [[1.0, 0.0], [0.0, 0.0], [1.0, 0.1]]
    )
    found = model.explain([[0.0, 0.0], [2.0, 0.0]])
    far = np.sort(model.transform([[0.0, 0.0], [2.0, 0.0]]), axis=1)
    np.testing.assert_allclose(found.scores, far[:, 1] - far[:, 0])

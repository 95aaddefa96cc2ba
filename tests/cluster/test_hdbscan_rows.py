"""HDBSCAN on rows with missing and infinite cells, on given distances, and cut at a distance."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import HDBSCAN as TheirHDBSCAN

from lyceum.cluster import DBSCAN, HDBSCAN
from lyceum.distances import pairwise
from lyceum.errors import DataError, MissingValuesError, SettingError

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(c, 0.3, (20, 2)) for c in (0.0, 4.0)])


def with_holes():
    rows = X.copy()
    rows[0] = [np.inf, 1.0]
    rows[5] = [1.0, np.nan]
    rows[7] = [np.inf, np.nan]
    return rows


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_infinite_rows_are_minus_two_and_missing_ones_minus_three(form):
    rows = with_holes()
    model = HDBSCAN(5).fit(form(rows))
    theirs = TheirHDBSCAN(5, copy=True).fit(rows)
    assert np.flatnonzero(model.labels_ == -2).tolist() == [0]
    assert np.flatnonzero(model.labels_ == -3).tolist() == [5, 7]
    assert model.labels_.tolist() == theirs.labels_.tolist()
    np.testing.assert_allclose(model.probabilities_[:10], theirs.probabilities_[:10])
    usable = np.delete(np.arange(40), [0, 5, 7])
    assert model.predict(rows[usable]).tolist() == model.labels_[usable].tolist()
    assert set(model.row_numbers_) <= set(usable)
    assert (model.predict(form(rows)) == model.labels_).all()
    assert model.predict(form(rows[[0, 5]])).tolist() == [-2, -3]
    with pytest.raises(ValueError, match="3 features"):
        model.predict(form(np.full((2, 3), np.nan)))


def test_gower_compares_the_cells_that_are_there():
    rows = with_holes()
    rows[np.isinf(rows)] = np.nan
    assert set(HDBSCAN(5, metric="gower").fit(rows).labels_) <= {-1, 0, 1}


@pytest.mark.parametrize("cut", [0.2, 0.5, 1.0, 10.0])
def test_a_cut_of_the_tree_is_dbscan_of_core_rows(cut):
    model = HDBSCAN(5, min_samples=5).fit(X)
    ours = model.dbscan_clustering(cut, min_cluster_size=2)
    theirs = TheirHDBSCAN(5, min_samples=5, copy=True).fit(X)
    assert ours.tolist() == theirs.dbscan_clustering(cut, 2).tolist()
    core = DBSCAN(eps=cut, min_samples=5).fit(X)
    assert (ours >= 0).sum() == len(core.core_sample_indices_)


def test_given_distances_are_checked_and_may_be_infinite():
    D = pairwise(X)
    apart = np.where(D > 2.0, np.inf, D)
    labels = HDBSCAN(5, metric="precomputed").fit(apart).labels_
    assert labels.tolist() == HDBSCAN(5).fit(X).labels_.tolist()
    with pytest.raises(DataError, match="has shape"):
        HDBSCAN(metric="precomputed").fit(X)
    D[0, 1] = 99.0
    with pytest.raises(DataError, match="values appear to be asymmetric"):
        HDBSCAN(metric="precomputed").fit(D)
    with pytest.raises(MissingValuesError, match=r"np\.nan values found"):
        HDBSCAN(metric="precomputed").fit(np.full((6, 6), np.nan))
    with pytest.raises(SettingError, match="Cannot store centers"):
        HDBSCAN(metric="precomputed", store_centers="both").fit(apart)


@pytest.mark.parametrize("epsilon", [0.0, 0.18])
def test_a_single_cluster_leaves_out_rows_as_scikit_learns_does(epsilon):
    rows = np.random.RandomState(0).rand(150, 2)
    settings = {"cluster_selection_epsilon": epsilon, "allow_single_cluster": True}
    ours = HDBSCAN(5, **settings).fit(rows)
    theirs = TheirHDBSCAN(5, copy=True, **settings).fit(rows)
    assert ours.labels_.tolist() == theirs.labels_.tolist()

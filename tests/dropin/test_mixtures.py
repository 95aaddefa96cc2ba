"""Clusters and mixtures in the words and shapes of scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

from lyceum.cluster import DBSCAN, KMeans
from lyceum.decomposition import PCA
from lyceum.errors import DataError, SettingError
from lyceum.kernels import KernelPCA
from lyceum.mixtures import BayesianGaussianMixture, GaussianMixture

RNG = np.random.default_rng(5)
X = np.vstack([RNG.normal(0, 1, (60, 2)), RNG.normal(8, 1, (60, 2))])
FORMS = ("full", "tied", "diag", "spherical")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [GaussianMixture, BayesianGaussianMixture])
def test_roots_of_the_precisions(kind, form):
    model = kind(2, covariance_type=form, random_state=0).fit(X)
    roots = model.precisions_cholesky_
    if form in ("full", "tied"):
        products = roots @ np.swapaxes(roots, -1, -2)
    else:
        products = roots**2
    np.testing.assert_allclose(products, model.precisions_, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_reg_covar_adds_to_the_spread_of_the_rows(form):
    # one component holds all rows: Ψ = Ψ_0 + S + n reg I, and the mean does not move
    settings = {"covariance_type": form, "random_state": 0, "n_init": 1}
    plain = BayesianGaussianMixture(1, **settings).fit(X)
    found = BayesianGaussianMixture(1, reg_covar=0.5, **settings).fit(X)
    n = len(X)
    nu = np.ravel(plain.degrees_of_freedom_)[0]
    share = n / nu * (2 if form == "spherical" else 1)
    added = found.covariances_ - plain.covariances_
    if form in ("full", "tied"):
        added = np.reshape(added, (2, 2))
        np.testing.assert_allclose(added, 0.5 * share * np.eye(2), atol=1e-9)
    else:
        np.testing.assert_allclose(added, 0.5 * share)


@pytest.mark.parametrize("kind", ["dirichlet_process", "dirichlet_distribution"])
def test_a_warm_start_goes_on(kind):
    settings = {"weight_concentration_prior_type": kind, "random_state": 0}
    whole = BayesianGaussianMixture(4, n_init=1, tol=1e-6, **settings).fit(X)
    parts = BayesianGaussianMixture(
        4, n_init=1, tol=1e-6, warm_start=True, max_iter=1, **settings
    )
    bounds = []
    for _ in range(300):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            parts.fit(X)
        bounds.append(parts.lower_bound_)
        if parts.converged_:
            break
    assert parts.converged_
    assert np.diff(bounds).min(initial=0.0) >= -1e-9
    assert bounds[-1] == pytest.approx(whole.lower_bound_, abs=1e-3)


# scikit-learn before 1.9 warns of the graph that it has made itself
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EfficiencyWarning")
def test_edges_in_one_direction_join_rows():
    # of scikit-learn's own graph of nearest neighbors, which is not symmetric
    graph = kneighbors_graph(X, 8, mode="distance")
    ours = DBSCAN(eps=1.0, min_samples=5, metric="precomputed").fit(graph)
    theirs = cluster.DBSCAN(eps=1.0, min_samples=5, metric="precomputed").fit(graph)
    np.testing.assert_array_equal(
        ours.core_sample_indices_, theirs.core_sample_indices_
    )
    core = ours.core_sample_indices_
    pairs = set(zip(ours.labels_[core].tolist(), theirs.labels_[core].tolist()))
    assert (
        len(pairs) == len({one for one, _ in pairs}) == len({two for _, two in pairs})
    )
    with pytest.raises(DataError, match="is not symmetric"):
        DBSCAN(metric="precomputed").fit(graph.toarray())


def test_words_of_settings():
    with pytest.raises(SettingError, match=r"initial centers \(2, 3\) .* features"):
        KMeans(2, init=np.zeros((2, 3))).fit(X)
    with pytest.raises(SettingError, match=r"initial centers \(3, 2\) .* clusters 2"):
        KMeans(2, init=np.zeros((3, 2))).fit(X)
    with pytest.warns(RuntimeWarning, match="performing only one init"):
        KMeans(2, init=X[[0, 100]], n_init=5).fit(X)
    with pytest.warns(RuntimeWarning, match="single cluster"):
        KMeans(1, algorithm="elkan").fit(X)
    with pytest.raises(SettingError, match="cannot be a string"):
        PCA("mle", svd_solver="arpack").fit(X)


def test_more_components_than_positive_eigenvalues_are_refused():
    K = sparse.diags_array([3.0, 2.0, -2.0, -3.0]).toarray()
    with pytest.raises(SettingError, match="significant negative eigenvalues"):
        KernelPCA(4, kernel="precomputed").fit(K)
    assert KernelPCA(1, kernel="precomputed").fit(K).eigenvalues_[0] > 0

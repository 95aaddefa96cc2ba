"""Mixtures do not stop where iterations gain little for a while and then much."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from lyceum.data import scan
from lyceum.mixtures import GaussianMixture

pytestmark = pytest.mark.syllabus("12.4")


def parallel(seed, n=1000, apart=6.0, long=10.0, k=2):
    """Long clusters side by side, askew to the columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = np.column_stack([rng.normal(size=n) * long, rng.normal(size=n) + apart * y])
    return X @ np.array([[1.0, 1.0], [0.5, -0.5]]), y


def nested(seed, n=600):
    """A narrow cluster within a wide one of the same mean."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) * np.where(y == 0, 0.3, 5.0)[:, None], y


@pytest.mark.parametrize("seed", range(4))
def test_long_clusters_side_by_side_are_found(seed):
    X, y = parallel(seed)
    mixture = GaussianMixture(2, random_state=0).fit(X)
    assert adjusted_rand_score(y, mixture.labels_) > 0.98
    tied = GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    assert adjusted_rand_score(y, tied.labels_) > 0.98


def test_three_long_clusters_are_found():
    X, y = parallel(0, n=600, long=8.0, k=3)
    mixture = GaussianMixture(3, random_state=0).fit(X)
    assert adjusted_rand_score(y, mixture.labels_) > 0.98


def test_a_narrow_cluster_in_a_wide_one_is_found():
    X, y = nested(2)
    mixture = GaussianMixture(2, random_state=0, record=True).fit(X)
    assert adjusted_rand_score(y, mixture.labels_) > 0.95
    fine = GaussianMixture(2, tol=1e-6, max_iter=1000, random_state=0).fit(X)
    assert mixture.lower_bound_ == pytest.approx(fine.lower_bound_, abs=2e-3)
    # the objective never falls, and the steps are numbered through
    assert np.diff(mixture.history_).min() >= 0
    assert len(mixture.history_) == mixture.n_iter_ + 1 == len(mixture.record_)
    assert [step["step"] for step in mixture.record_] == list(
        range(len(mixture.record_))
    )


def test_a_sample_leads_beyond_the_plateau_of_many_rows(tmp_path):
    X, y = nested(2, n=6000)
    w = np.random.default_rng(0).integers(1, 3, len(X)).astype(float)
    mixture = GaussianMixture(2, random_state=0).fit(X, sample_weight=w)
    assert adjusted_rand_score(y, mixture.labels_) > 0.95
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    streamed = GaussianMixture(2, random_state=0).fit(scan(path))
    assert adjusted_rand_score(y, streamed.labels_) > 0.95


def test_a_start_in_the_columns_is_kept_where_it_leads_farther():
    # k-means in whitened iris explains its labels better, but leads to a lower likelihood
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    mixture = GaussianMixture(3, random_state=0).fit(X)
    assert adjusted_rand_score(y, mixture.labels_) > 0.9


def test_missing_cells_and_dependent_columns_do_not_hinder_the_start():
    X, y = parallel(1)
    X = np.column_stack([X, X.sum(axis=1), np.ones(len(X))])
    X[::7, 1] = np.nan
    mixture = GaussianMixture(2, random_state=0).fit(X)
    assert adjusted_rand_score(y, mixture.labels_) > 0.9

"""Merge moves of Bayesian mixtures: the number of components at default settings, and the bound."""

import numpy as np
import pandas as pd
import pytest

from lyceum import datasets
from lyceum.data import Block, scan
from lyceum.mixtures import BayesianGaussianMixture
from lyceum.mixtures.covariance_forms import BASIC_FORMS
from lyceum.mixtures.merge_moves import _expected_bound, _union, by_size
from lyceum.mixtures.sums import MixtureSums
from lyceum.mixtures.variational import VariationalPrior, VariationalProblem

pytestmark = pytest.mark.syllabus("12.4")


def lattice(seed, n=240):
    """K groups of different spread, 8 apart at least, in d columns."""
    rng = np.random.default_rng(seed)
    K, d = 2 + seed % 4, 2 + seed % 2
    centers = 8.0 * np.stack(
        np.unravel_index(rng.permutation(3**d)[:K], (3,) * d), axis=1
    )
    k = rng.integers(0, K, n)
    return centers[k] + rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, K)[k][
        :, None
    ], K


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_groups_are_counted_at_default_settings(seed):
    X, K = lattice(seed)
    assert BayesianGaussianMixture(random_state=seed).fit(X).n_active_ == K


@pytest.mark.parametrize("form", list(BASIC_FORMS))
@pytest.mark.parametrize("kind", ["dirichlet_process", "dirichlet_distribution"])
def test_one_start_counts_groups_with_every_covariance_and_prior(form, kind):
    X, K = lattice(5)
    settings = {
        "covariance_type": form,
        "weight_concentration_prior_type": kind,
        "random_state": 5,
    }
    model = BayesianGaussianMixture(n_init=1, record=True, **settings).fit(X)
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()
    assert model.n_iter_ + 1 == len(model.history_) == len(model.record_)
    assert [step["step"] for step in model.record_] == list(range(len(model.record_)))
    if form != "tied":  # the groups differ in their spread
        assert model.n_active_ == K


@pytest.mark.parametrize("seed", range(2))
def test_merges_leave_two_components_of_old_faithful_where_iterations_alone_stop_at_three(
    seed,
):
    rows = scan(datasets.path("old_faithful"))
    alone, merged = (
        BayesianGaussianMixture(n_init=1, merge=merge, random_state=seed).fit(rows)
        for merge in (False, True)
    )
    assert (alone.n_active_, merged.n_active_) == (3, 2)
    assert merged.history_[: len(alone.history_)] == alone.history_
    assert merged.history_[-1] > alone.history_[-1]


def test_merges_over_a_file_of_many_blocks_are_those_of_weighted_rows(tmp_path):
    X, K = lattice(1)
    X[::17, 0] = np.nan
    w = 5.0 + np.arange(len(X)) % 3
    start = np.nan_to_num(X[1:11])
    one = BayesianGaussianMixture(means_init=start).fit(X, sample_weight=w)
    frame = pd.DataFrame(
        np.repeat(X, w.astype(int), axis=0),
        columns=[f"x{j}" for j in range(X.shape[1])],
    )
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    rows = scan(tmp_path / "rows.parquet", memory=0)
    many = BayesianGaussianMixture(means_init=start).fit(rows)
    assert one.n_active_ == many.n_active_ == K
    np.testing.assert_allclose(many.means_[:K], one.means_[:K], rtol=1e-6)


@pytest.mark.parametrize("form", list(BASIC_FORMS))
def test_the_union_of_two_components_has_the_sums_and_the_bound_of_its_rows(form):
    X, _ = lattice(3)
    d, K = X.shape[1], 5
    labels = np.random.default_rng(0).integers(0, K, len(X))
    shape = BASIC_FORMS[form]
    scale = np.ones(d) if shape.diagonal else np.eye(d)
    prior = VariationalPrior(0.2, True, X.mean(axis=0), 1.0, float(d), scale)
    problem = VariationalProblem(shape, prior, X.var(axis=0))
    block = Block(X, None, None, 0, None)
    sums, direct = (
        MixtureSums.of_labels(block, np.eye(K)[k], shape.diagonal, shape.pooled)
        for k in (labels, np.where(labels == 3, 1, labels))
    )
    union = _union(sums, 1, 3)
    np.testing.assert_allclose(union.rows, direct.rows)
    there = direct.rows > 0
    np.testing.assert_allclose(union.moments.mean[there], direct.moments.mean[there])
    some = there if len(union.moments.scatter) == K else slice(None)
    np.testing.assert_allclose(
        union.moments.scatter[some], direct.moments.scatter[some], rtol=1e-9
    )

    # memberships of 0 or 1 have no entropy: the bound is the expected log joint of every row in its
    # own
    at = problem.maximization(by_size(union))
    order = np.argsort(-union.rows, kind="stable")
    own = np.argsort(order)[np.where(labels == 3, 1, labels)]
    expected = at.values.log_joint(X)[np.arange(len(X)), own].sum() + problem.log_prior(
        at
    )
    assert _expected_bound(problem, by_size(union), at) == pytest.approx(
        expected, rel=1e-10
    )

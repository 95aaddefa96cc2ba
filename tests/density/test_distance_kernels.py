"""Kernels of the distance: scikit-learn's, their integrals, draws and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import neighbors

from lyceum.density import KernelDensity
from lyceum.density.distance_kernels import DISTANCE_KERNELS
from lyceum.errors import SettingError

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("kernel", list(DISTANCE_KERNELS))
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("d", [1, 3])
def test_densities_are_those_of_scikit_learn(kernel, metric, d):
    X = RNG.normal(size=(80, d))
    new = RNG.normal(size=(30, d))
    w = RNG.uniform(0.5, 2.0, 80)
    settings = {"kernel": kernel, "metric": metric, "bandwidth": 1.3, "rtol": 0.0}
    ours = KernelDensity(**settings).fit(X, sample_weight=w)
    theirs = neighbors.KernelDensity(**settings).fit(X, sample_weight=w)
    expected = np.exp(theirs.score_samples(new))
    assert_allclose(np.exp(ours.score_samples(new)), expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_of_scikit_learn(rule):
    X = RNG.normal(size=(60, 2))
    ours = KernelDensity(bandwidth=rule).fit(X)
    theirs = neighbors.KernelDensity(bandwidth=rule).fit(X)
    assert_allclose(ours.bandwidth_, theirs.bandwidth_)
    repeated = KernelDensity(bandwidth=rule).fit(np.repeat(X, 2, axis=0))
    weighted = KernelDensity(bandwidth=rule).fit(X, sample_weight=np.full(60, 2.0))
    assert_allclose(repeated.bandwidth_, weighted.bandwidth_)


@pytest.mark.parametrize("kernel", list(DISTANCE_KERNELS))
def test_the_integral_over_a_plane_is_one(kernel):
    # 1 / mass is the height at 0: a sum over a fine grid is the integral
    model = KernelDensity(kernel=kernel, bandwidth=[1.0, 0.5], rtol=0.0).fit(
        [[0.0, 0.0]]
    )
    x = np.linspace(-14, 14, 561)
    y = np.linspace(-7, 7, 561)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    cell = (x[1] - x[0]) * (y[1] - y[0])
    # cells at the edge of the ball count wholly or not at all
    near = 1e-2 if kernel == "tophat" else 2e-3
    assert np.exp(model.score_samples(grid)).sum() * cell == pytest.approx(1, abs=near)


@pytest.mark.parametrize("kernel", list(DISTANCE_KERNELS))
def test_draws_have_the_distances_of_the_kernel(kernel):
    d = 3
    model = KernelDensity(kernel=kernel, bandwidth=2.0).fit(np.zeros((1, d)))
    r = np.linalg.norm(model.sample(20_000, random_state=0) / 2.0, axis=1)
    at = np.linspace(0.0, 40.0, 40_001)
    with np.errstate(divide="ignore"):
        density = at ** (d - 1) * np.exp(DISTANCE_KERNELS[kernel].log_value(at))
    mean = (at * density).sum() / density.sum()
    assert r.mean() == pytest.approx(mean, rel=0.02)


def test_rows_left_out_are_those_of_a_density_without_them():
    X = RNG.normal(size=(12, 2))
    model = KernelDensity(kernel="exponential", bandwidth=0.8).fit(X)
    lowest = model.anomaly_threshold(1e-9)
    left_out = [
        KernelDensity(kernel="exponential", bandwidth=0.8)
        .fit(np.delete(X, i, axis=0))
        .score_samples(X[i : i + 1])[0]
        for i in range(12)
    ]
    assert lowest == pytest.approx(min(left_out))


def test_what_has_no_formula_is_refused_by_name():
    X = RNG.normal(size=(12, 2))
    model = KernelDensity(kernel="tophat", bandwidth=1.0).fit(X)
    with pytest.raises(SettingError, match="has no formula for kernel='tophat'"):
        model.explain(X)
    with pytest.raises(SettingError, match="has no formula for kernel='tophat'"):
        model.integrate([[0, 1], [0, 1]])
    with pytest.raises(SettingError, match="is a product over columns"):
        KernelDensity(kernel="laplace", metric="manhattan").fit(X)
    with pytest.raises(SettingError, match="'likelihood' has no search"):
        KernelDensity(kernel="tophat", bandwidth="likelihood").fit(X)
    with pytest.raises(SettingError, match="under metric='euclidean' alone"):
        KernelDensity(metric="manhattan").fit(X).sample()

"""Kernel densities against their definition, scikit-learn and SciPy, within the tolerance
everywhere."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde, kstest
from sklearn.neighbors import KernelDensity as Peer

from lyceum.density import KernelDensity, reference_bandwidth
from lyceum.errors import MissingValuesError, SettingError, SourceError

KERNELS = {
    "parzen": lambda u: 1.0 * (np.abs(u) <= 0.5),
    "gaussian": lambda u: np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi),
    "laplace": lambda u: np.exp(-2 * np.abs(u)),
    "cauchy": lambda u: 1 / (np.pi * (1 + u**2)),
    "sinc2": lambda u: np.sinc(u / (2 * np.pi)) ** 2 / (2 * np.pi),
    "product_epanechnikov": lambda u: 0.75 * np.maximum(1 - u**2, 0),
    "tricube": lambda u: 70 / 81 * np.maximum(1 - np.abs(u) ** 3, 0) ** 3,
    "triangular": lambda u: np.maximum(1 - np.abs(u), 0),
}


def by_definition(kernel, rows, w, h, X):
    u = (X[:, None, :] - rows) / h
    return (w * (KERNELS[kernel](u) / h).prod(axis=2)).sum(axis=1) / w.sum()


def rows_of(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + rng.normal(size=d)


@pytest.mark.syllabus("4.2.1", "4.3.1")
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_density_is_the_mean_of_the_kernels(kernel, d):
    rows, X, w = (
        rows_of(150, d),
        rows_of(60, d, 1),
        np.random.default_rng(2).uniform(0.1, 3, 150),
    )
    h = np.linspace(0.7, 1.4, d)
    model = KernelDensity(kernel=kernel, bandwidth=h, rtol=0.0).fit(
        rows, sample_weight=w
    )
    wanted = by_definition(kernel, rows, w, h, X)
    np.testing.assert_allclose(
        np.exp(model.score_samples(X)), wanted, rtol=1e-9, atol=1e-300
    )
    assert (np.isneginf(model.score_samples(X)) == (wanted == 0)).all()


def integral(model, edges):
    """Of the density, by the rule of Gauss and Legendre with 60 points between every two edges."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    middle, half = (np.array(edges)[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    points = middle[:, None] + half[:, None] * nodes
    heights = np.exp(model.score_samples(points.reshape(-1, 1))).reshape(points.shape)
    return float(half @ heights @ weights)


@pytest.mark.syllabus("4.2.2")
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_integrates_to_one(kernel):
    h = 0.7
    model = KernelDensity(kernel=kernel, bandwidth=h, rtol=0.0).fit([[0.3]])
    if kernel in (
        "cauchy",
        "sinc2",
    ):  # heavy tails: the closed form out there, numbers about the row
        edge = 60.0
        inside = integral(model, np.linspace(0.3 - edge, 0.3 + edge, 301))
        assert inside == pytest.approx(
            model.integrate([[0.3 - edge, 0.3 + edge]]), abs=1e-7
        )
        tails = model.integrate([[-np.inf, 0.3 - edge]]) + model.integrate(
            [[0.3 + edge, np.inf]]
        )
        reach = np.array([1e3, 1e5])  # 1 - P ~ const / reach there
        out = np.array([1 - model.integrate([[0.3 - r, 0.3 + r]]) for r in reach])
        np.testing.assert_allclose(out * reach, 2 * h / np.pi * np.ones(2), rtol=2e-2)
        assert inside + tails == pytest.approx(1.0, abs=1e-7)
    else:
        points = [0.3 - h, 0.3 - h / 2, 0.3, 0.3 + h / 2, 0.3 + h]
        total = integral(model, [-14, *points, 14])
        assert total == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_integrate_is_the_integral_of_the_density(kernel):
    rows = rows_of(30, 1)
    model = KernelDensity(kernel=kernel, bandwidth=0.9, rtol=0.0).fit(rows)
    grid = np.linspace(-0.4, 1.3, 20_001)
    numbers = np.trapezoid(np.exp(model.score_samples(grid[:, None])), grid)
    assert model.integrate([-0.4, 1.3]) == pytest.approx(numbers, abs=2e-5)
    assert model.integrate([[-np.inf, np.inf]]) == pytest.approx(1.0, abs=1e-12)


def test_integrate_over_two_columns_is_the_mean_of_products():
    rows = rows_of(40, 2)
    model = KernelDensity(kernel="triangular", bandwidth=[0.5, 0.9]).fit(rows)
    draws = model.sample(200_000, random_state=0)
    box = np.array([[-0.5, 0.8], [-1.0, 1.0]])
    inside = ((draws >= box[:, 0]) & (draws <= box[:, 1])).all(axis=1).mean()
    assert model.integrate(box) == pytest.approx(inside, abs=5e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_samples_follow_the_density(kernel):
    model = KernelDensity(kernel=kernel, bandwidth=0.8).fit(
        [[0.0], [3.0]], sample_weight=[1.0, 3.0]
    )
    draws = model.sample(1000, random_state=1)[:, 0]
    knots = np.sort(draws)[np.r_[0:1000:4, 999]]
    below = [model.integrate([[-np.inf, x]]) for x in knots]
    assert kstest(draws, lambda x: np.interp(x, knots, below)).pvalue > 1e-3
    np.testing.assert_array_equal(
        model.sample(7, random_state=3), model.sample(7, random_state=3)
    )


@pytest.mark.parametrize("d", [1, 2, 5])
def test_gaussian_agrees_with_scikit_learn_and_scipy(d):
    rows, X = rows_of(300, d), rows_of(80, d, 1)
    w = np.random.default_rng(3).integers(1, 4, 300).astype(float)
    model = KernelDensity(bandwidth=0.6, rtol=0.0).fit(rows, sample_weight=w)
    peer = Peer(bandwidth=0.6).fit(rows, sample_weight=w)
    # scikit-learn subtracts bounds from sums: its error is relative to the largest density
    np.testing.assert_allclose(
        np.exp(model.score_samples(X)),
        np.exp(peer.score_samples(X)),
        rtol=1e-9,
        atol=1e-17,
    )
    assert model.score(X) == pytest.approx(model.score_samples(X).sum())
    if d == 1:
        scipys = gaussian_kde(rows.T, bw_method=0.6 / rows.std(ddof=1))
        plain = KernelDensity(bandwidth=0.6, rtol=0.0).fit(rows)
        np.testing.assert_allclose(
            np.exp(plain.score_samples(X)), scipys(X.T), rtol=1e-9
        )


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_tolerance_is_honored_also_in_the_tails(kernel, d, rtol):
    rng = np.random.default_rng(4)
    rows = np.concatenate(
        [rng.normal(size=(900, d)), rng.normal(size=(90, d)) + 6, [[40.0] * d]]
    )
    X = np.concatenate(
        [rng.normal(size=(200, d)) * 3, rng.uniform(-30, 60, (200, d)), rows[::10]]
    )
    near = (
        KernelDensity(kernel=kernel, bandwidth=0.3, rtol=rtol)
        .fit(rows)
        .score_samples(X)
    )
    exact = (
        KernelDensity(kernel=kernel, bandwidth=0.3, rtol=0.0).fit(rows).score_samples(X)
    )
    assert (np.isneginf(near) == np.isneginf(exact)).all()
    there = np.isfinite(exact)
    assert np.abs(np.expm1(near[there] - exact[there])).max() <= rtol


def test_the_tolerance_saves_work_but_is_not_far_off():
    """A tolerance must change something: the sums of 0.1 differ from the exact ones, by less than
    0.1."""
    rows, X = rows_of(4000, 3), rows_of(300, 3, 1)
    exact = KernelDensity(bandwidth=0.2, rtol=0.0).fit(rows).score_samples(X)
    rough = KernelDensity(bandwidth=0.2, rtol=0.1).fit(rows).score_samples(X)
    error = np.abs(np.expm1(rough - exact)).max()
    assert 1e-9 < error <= 0.1


def test_far_away_the_log_density_stays_finite():
    model = KernelDensity(bandwidth=1.0).fit([[0.0], [1.0]])
    x = np.array([-1e3, 1e5])
    wanted = (
        -0.5 * np.minimum(np.abs(x), np.abs(x - 1)) ** 2
        - np.log(2)
        - 0.5 * np.log(2 * np.pi)
    )
    np.testing.assert_allclose(model.score_samples(x[:, None]), wanted, rtol=1e-12)
    high = KernelDensity(kernel="cauchy", bandwidth=1e-9).fit(np.zeros((1, 40)))
    wanted = -40 * np.log(np.pi * 1e-9 * (1 + 1e22))
    np.testing.assert_allclose(
        high.score_samples(np.full((1, 40), 100.0)), wanted, rtol=1e-9
    )


@pytest.mark.parametrize("d", [1, 3])
def test_offset_of_a_million_and_single_precision_do_not_matter(d):
    rows, X = rows_of(500, d).astype(np.float32), rows_of(50, d, 1).astype(np.float32)
    near = KernelDensity().fit(rows).score_samples(X)
    double = (
        KernelDensity().fit(rows.astype(np.float64)).score_samples(X.astype(np.float64))
    )
    np.testing.assert_array_equal(near, double)
    far = (
        KernelDensity(rtol=0.0)
        .fit(rows.astype(np.float64) + 1e6)
        .score_samples(X.astype(float) + 1e6)
    )
    np.testing.assert_allclose(far, near, atol=2e-4)


def test_threads_and_order_do_not_change_the_sums():
    from threadpoolctl import threadpool_limits

    rows, X = rows_of(3000, 2), rows_of(3000, 2, 1)
    with threadpool_limits(1):
        one = KernelDensity().fit(rows).score_samples(X)
    with threadpool_limits(2):
        two = KernelDensity().fit(rows).score_samples(X)
    np.testing.assert_array_equal(one, two)
    mixed = KernelDensity(rtol=0.0).fit(rows[::-1]).score_samples(X)
    np.testing.assert_allclose(mixed, one, atol=1e-4)


def test_one_row_and_a_constant_column_count_as_of_spread_one():
    one = KernelDensity().fit([[5.0, 7.0]])
    np.testing.assert_allclose(one.bandwidth_, 1.06)
    rows = np.column_stack([np.arange(32.0), np.full(32, 1e6)])
    model = KernelDensity().fit(rows)
    assert model.bandwidth_[1] == pytest.approx(1.06 * 32**-0.2)
    assert np.isfinite(model.score_samples(rows)).all()


def test_weight_two_equals_repeated_row_and_weight_zero_no_row():
    rows, X = rows_of(50, 2), rows_of(10, 2, 1)
    w = np.random.default_rng(0).integers(0, 4, 50).astype(float)
    weighted = KernelDensity(rtol=0.0).fit(rows, sample_weight=w)
    repeated = KernelDensity(rtol=0.0).fit(np.repeat(rows, w.astype(int), axis=0))
    np.testing.assert_allclose(
        weighted.score_samples(X), repeated.score_samples(X), rtol=1e-10
    )
    np.testing.assert_allclose(weighted.bandwidth_, repeated.bandwidth_)


def test_outlying_rows_with_a_tiny_bandwidth_need_no_grid_over_the_gap():
    rows = np.concatenate([rows_of(200, 1), [[1e12]]])
    model = KernelDensity(bandwidth=0.1).fit(rows)
    exact = KernelDensity(bandwidth=0.1, rtol=0.0).fit(rows)
    np.testing.assert_allclose(
        model.score_samples(rows), exact.score_samples(rows), atol=1e-4
    )


@pytest.mark.syllabus("15.4")
def test_anomalies_are_the_rows_of_least_density_from_the_others():
    rows = np.concatenate([rows_of(99, 2), [[30.0, 30.0]]])
    model = KernelDensity().fit(rows)
    assert model.anomalies([[30.5, 31.0], [0.0, 0.0]], 0.02).tolist() == [True, False]
    left_out = [
        KernelDensity(bandwidth=model.bandwidth_, rtol=0.0)
        .fit(np.delete(rows, i, axis=0))
        .score_samples(rows[[i]])[0]
        for i in range(100)
    ]
    assert model.anomaly_threshold(0.05) == pytest.approx(
        np.sort(left_out)[4], abs=1e-3
    )
    with pytest.raises(SettingError, match="between 0 and 1"):
        model.anomalies(rows, 1.5)


def test_the_explanation_adds_up_by_the_chain_rule():
    rows, X = rows_of(80, 3), rows_of(5, 3, 1)
    model = KernelDensity(rtol=0.0).fit(rows)
    explanation = model.explain(X)
    np.testing.assert_allclose(explanation.scores, model.score_samples(X), rtol=1e-12)
    first = KernelDensity(bandwidth=model.bandwidth_[0], rtol=0.0).fit(rows[:, :1])
    np.testing.assert_allclose(
        explanation.contributions[:, 0], first.score_samples(X[:, :1]), rtol=1e-10
    )


@pytest.mark.parametrize("weights", [None, "some"])
def test_the_explanation_adds_up_at_default_settings(weights):
    rows, X = rows_of(300, 3), rows_of(20, 3, 1)
    w = (
        None
        if weights is None
        else np.random.default_rng(2).integers(1, 4, 300).astype(float)
    )
    model = KernelDensity().fit(rows, sample_weight=w)
    explanation = model.explain(X)
    np.testing.assert_allclose(explanation.scores, model.score_samples(X), rtol=1e-12)
    exact = KernelDensity(rtol=0.0).fit(rows, sample_weight=w).explain(X)
    np.testing.assert_allclose(
        explanation.contributions, exact.contributions, atol=1e-3
    )


def test_bad_input_is_named():
    with pytest.raises(MissingValuesError, match="column 'x1' has a missing value"):
        KernelDensity().fit([[0.0, 1.0], [1.0, np.nan]])
    with pytest.raises(SettingError, match="one for each of the 2 columns"):
        KernelDensity(bandwidth=[1.0, 2.0, 3.0]).fit([[0.0, 1.0], [1.0, 2.0]])
    with pytest.raises(SettingError, match="low <= high"):
        KernelDensity().fit([[0.0], [1.0]]).integrate([[1.0, 0.0]])


def test_a_dask_collection_that_memory_cannot_hold_is_refused_by_naming_an_alternative(
    monkeypatch,
):
    import dask.array as da

    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    with pytest.raises(SourceError, match="HistogramDensity or GaussianDensity"):
        KernelDensity().fit(da.from_array(rows_of(20, 2), chunks=(10, 2)))


def test_the_summary_names_bandwidths():
    rows = rows_of(20, 2)
    text = str(KernelDensity().fit(rows).summary())
    assert "Bandwidths" in text
    assert f"{reference_bandwidth(rows)[0]:.4g}" in text

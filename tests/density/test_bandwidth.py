"""Bandwidths: the reference rule by hand, and the leave-one-out likelihood by brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from lyceum.density import (
    KernelDensity,
    ParzenClassifier,
    likelihood_bandwidth,
    reference_bandwidth,
)
from lyceum.errors import DataError, SettingError


@pytest.mark.syllabus("4.3.2")
def test_reference_rule_uses_the_standard_deviation_not_the_variance():
    x = 10.0 * np.random.default_rng(0).normal(size=1000)
    assert reference_bandwidth(x) == pytest.approx(1.06 * x.std(ddof=1) * 1000**-0.2)
    X = np.column_stack([x, 0.1 * x + 1e6])
    np.testing.assert_allclose(
        reference_bandwidth(X),
        [reference_bandwidth(x), 0.1 * reference_bandwidth(x)],
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        KernelDensity().fit(X).bandwidth_, reference_bandwidth(X)
    )


def test_weights_are_repeats_in_the_reference_rule():
    x, w = np.arange(6.0), np.array([1, 2, 0, 3, 1, 1])
    assert reference_bandwidth(x, w) == pytest.approx(
        reference_bandwidth(np.repeat(x, w))
    )


def brute_likelihood(rows, h, kernel):
    peers = [
        KernelDensity(kernel=kernel, bandwidth=h, rtol=0.0)
        .fit(np.delete(rows, i, axis=0))
        .score_samples(rows[[i]])
        for i in range(len(rows))
    ]
    return float(np.sum(peers))


@pytest.mark.syllabus("4.3.3")
@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "cauchy"])
@pytest.mark.parametrize("d", [1, 2])
def test_likelihood_bandwidth_maximizes_the_leave_one_out_likelihood(kernel, d):
    rng = np.random.default_rng(1)
    rows = np.concatenate(
        [rng.normal(size=(10, d)), rng.normal(size=(10, d)) * 0.4 + 3]
    )
    h = likelihood_bandwidth(rows, kernel=kernel)
    best = brute_likelihood(rows, h, kernel)
    for factor in (0.9, 0.99, 1.01, 1.1):
        assert brute_likelihood(rows, factor * h, kernel) <= best + 1e-3
    model = KernelDensity(kernel=kernel, bandwidth="likelihood").fit(rows)
    np.testing.assert_allclose(model.bandwidth_, h, rtol=1e-2)


def test_it_is_the_number_that_a_plain_search_finds():
    x = np.random.default_rng(2).gamma(2.0, size=120)
    difference = x[:, None] - x

    def loss(log_h):
        h = np.exp(log_h)
        K = np.exp(-0.5 * (difference / h) ** 2) / (h * np.sqrt(2 * np.pi))
        np.fill_diagonal(K, 0.0)
        return -np.log(K.sum(axis=1) / (len(x) - 1)).sum()

    plain = np.exp(
        minimize_scalar(
            loss, bounds=(-4, 1), method="bounded", options={"xatol": 1e-6}
        ).x
    )
    assert likelihood_bandwidth(x) == pytest.approx(plain, rel=3e-3)


def test_a_kernel_that_ends_reaches_over_the_widest_gap():
    """An outlier must be within reach of another row, or its density from the others is 0."""
    x = np.concatenate([np.linspace(0, 1, 40), [9.0]])
    assert likelihood_bandwidth(x, kernel="product_epanechnikov") > 8.0


def test_repeated_rows_are_warned_of():
    x = np.repeat(np.random.default_rng(0).normal(size=30), 3)
    with pytest.warns(UserWarning, match="rows that repeat"):
        h = likelihood_bandwidth(x)
    assert h == pytest.approx(reference_bandwidth(x) / 32)


def test_bad_input_is_named():
    with pytest.raises(DataError, match="at least 2 rows"):
        likelihood_bandwidth([1.0])
    with pytest.raises(SettingError, match="there is no kernel 'flat'"):
        likelihood_bandwidth([1.0, 2.0], kernel="flat")
    with pytest.raises(ValueError, match="at least one non-zero"):
        reference_bandwidth([1.0, 2.0], [0.0, 0.0])


@pytest.mark.syllabus("4.3")
def test_the_axes_are_searched_on_their_own():
    rng = np.random.default_rng(0)
    spikes = rng.integers(0, 20, 200) + 0.001 * rng.normal(size=200)
    rows = np.column_stack([spikes, rng.normal(size=200)])
    h = likelihood_bandwidth(rows)

    def total(bandwidth):
        model = KernelDensity(bandwidth=bandwidth, rtol=0.0).fit(rows)
        return float(model._sums().leave_rows_out().sum())

    one = max(
        total(c * reference_bandwidth(rows)) for c in 2.0 ** np.arange(-6, 3, 0.25)
    )
    assert total(h) > one + 100
    for j in (0, 1):
        for factor in (0.8, 1.25):
            other = h.copy()
            other[j] *= factor
            assert total(other) <= total(h) + 0.05


@pytest.mark.syllabus("4.3")
def test_nrd0_is_that_of_r():
    x = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    # R: bw.nrd0(c(1, 2, 3, 4, 10))
    assert reference_bandwidth(x, rule="nrd0") == pytest.approx(
        0.9 * (2 / 1.34) * 5**-0.2
    )
    assert reference_bandwidth(x[:4], [1, 2, 1, 1], rule="nrd0") == pytest.approx(
        reference_bandwidth([1.0, 2.0, 2.0, 3.0, 4.0], rule="nrd0")
    )
    with pytest.raises(SettingError, match="nrd0"):
        reference_bandwidth(x, rule="scott")


@pytest.mark.syllabus("4.3.3")
def test_a_window_of_volume_one_over_root_n():
    X = np.random.default_rng(0).normal(size=(400, 3))
    assert reference_bandwidth(X, rule="volume") ** 3 == pytest.approx(1.0 / 20.0)
    model = KernelDensity(kernel="parzen", bandwidth="volume").fit(X)
    assert model.bandwidth_.prod() == pytest.approx(1.0 / 20.0)
    inside = (np.abs(X - X[7]) <= model.bandwidth_ / 2).all(axis=1).sum()
    # k / (N V)
    assert np.exp(model.score_samples(X[7:8]))[0] == pytest.approx(inside / 400 * 20)
    twice = reference_bandwidth(X, sample_weight=np.full(400, 4.0), rule="volume")
    assert twice.prod() == pytest.approx(1.0 / 40.0)
    assert ParzenClassifier(bandwidth="volume").fit(
        X, np.arange(400) % 4
    ).bandwidth_.prod(axis=1) == pytest.approx(0.1)

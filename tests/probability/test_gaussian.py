"""Gaussians: densities, marginals, conditionals and products, against SciPy and by integration."""

import numpy as np
import pytest
from scipy import stats

from lyceum._core.probability import (
    gaussian_log_density,
    squared_distance_parts,
    whiten,
)
from lyceum.errors import DataError
from lyceum.probability import Gaussian


def random_gaussian(seed, d):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return Gaussian(rng.normal(size=d), A @ A.T + 0.1 * np.eye(d))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_log_density_is_that_of_scipy(d):
    one, X = random_gaussian(d, d), np.random.default_rng(9).normal(size=(20, d))
    expected = stats.multivariate_normal(one.mean, one.covariance).logpdf(X)
    np.testing.assert_allclose(one.log_density(X), expected, rtol=1e-10)
    assert one.log_density(X[0]).shape == (1,)


def test_a_column_without_variance_is_left_out_of_the_density():
    one = Gaussian([1.0, 5.0], [[4.0, 0.0], [0.0, 0.0]])
    expected = stats.norm(1.0, 2.0).logpdf([0.0, 3.0])
    np.testing.assert_allclose(
        one.log_density([[0.0, 5.0], [3.0, 7.0]]), expected, rtol=1e-12
    )


def test_joint_density_is_marginal_times_conditional():
    joint, x = random_gaussian(3, 4), np.array([0.3, -1.0, 2.0, 0.5])
    b, a = [2, 0], [1, 3]
    product = joint.marginal(b).log_density(x[b]) + joint.condition(
        b, x[b]
    ).log_density(x[a])
    np.testing.assert_allclose(product, joint.log_density(x), rtol=1e-10)


def test_conditional_of_a_singular_condition_passes_over_what_follows_from_others():
    one = random_gaussian(4, 2)
    twice = one.affine([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    plain, found = one.condition([1], [0.7]), twice.condition([1, 2], [0.7, 1.4])
    np.testing.assert_allclose(found.mean, plain.mean, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, plain.covariance, rtol=1e-9)


def test_product_of_densities_is_the_scaled_density_of_the_fused_one():
    one, two, X = (
        random_gaussian(5, 3),
        random_gaussian(6, 3),
        np.random.default_rng(1).normal(size=(10, 3)),
    )
    fused, log_scale = one.product(two)
    both = one.log_density(X) + two.log_density(X)
    np.testing.assert_allclose(log_scale + fused.log_density(X), both, rtol=1e-9)


def test_affine_map_is_that_of_a_large_sample():
    one, A = random_gaussian(7, 2), np.array([[1.0, -2.0], [0.5, 3.0], [0.0, 1.0]])
    found = one.affine(A, [1.0, 2.0, 3.0], noise=0.5)
    rng = np.random.default_rng(0)
    x = rng.multivariate_normal(one.mean, one.covariance, 200_000)
    y = x @ A.T + [1.0, 2.0, 3.0] + rng.normal(scale=np.sqrt(0.5), size=(200_000, 3))
    np.testing.assert_allclose(found.mean, y.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(found.covariance, np.cov(y.T), atol=0.1, rtol=0.02)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("diagonal", [False, True])
def test_densities_of_several_components_are_those_of_each(dtype, diagonal):
    rng = np.random.default_rng(2)
    X, parts = (
        rng.normal(size=(50, 3)).astype(dtype),
        [random_gaussian(k, 3) for k in range(4)],
    )
    covariances = [
        np.diag(np.diag(one.covariance)) if diagonal else one.covariance
        for one in parts
    ]
    spare = np.ones(3)
    white = [whiten(np.diag(S) if diagonal else S, spare) for S in covariances]
    constant = np.array([-0.5 * (one.log_det + 3 * np.log(2 * np.pi)) for one in white])
    means, W = np.stack([one.mean for one in parts]), np.stack([one.W for one in white])
    found = gaussian_log_density(X, means, W, constant)
    for k, (one, S) in enumerate(zip(parts, covariances)):
        expected = stats.multivariate_normal(one.mean, S).logpdf(X.astype(np.float64))
        np.testing.assert_allclose(
            found[:, k], expected, rtol=1e-4 if dtype is np.float32 else 1e-10
        )
    squared = squared_distance_parts(X.astype(np.float64), means, W).sum(axis=2)
    np.testing.assert_allclose(
        constant - 0.5 * squared, found, rtol=1e-4 if dtype is np.float32 else 1e-10
    )


@pytest.mark.parametrize(
    ("mean", "covariance", "text"),
    [
        ([1.0], [[1.0, 0.0], [0.0, 1.0]], "shape"),
        ([np.nan], [[1.0]], "finite"),
        ([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]], "symmetric"),
    ],
)
def test_what_is_no_gaussian_is_refused(mean, covariance, text):
    with pytest.raises(DataError, match=text):
        Gaussian(mean, covariance)


def test_a_condition_needs_one_value_per_column():
    with pytest.raises(DataError, match="one value per column"):
        random_gaussian(0, 3).condition([0, 1], [1.0])


def test_a_covariance_may_be_symmetric_up_to_rounding():
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    almost = (
        rotation @ np.diag([1e6, 1.0, 1.0, 1.0, 1.0, 1e-3]) @ np.linalg.inv(rotation)
    )
    assert (almost != almost.T).any()
    found = Gaussian(np.zeros(6), almost).covariance
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize(
    "covariance", [[[-1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]
)
def test_a_covariance_with_a_negative_eigenvalue_is_refused(covariance):
    with pytest.raises(DataError, match="negative eigenvalue -1"):
        Gaussian([0.0, 0.0], covariance)


def test_places_count_from_the_end_and_name_every_column_once():
    one = random_gaussian(5, 4)
    np.testing.assert_array_equal(
        one.condition([-1], [2.0]).mean, one.condition([3], [2.0]).mean
    )
    np.testing.assert_array_equal(
        one.condition(-1, 2.0).covariance, one.condition([3], [2.0]).covariance
    )
    for places in ([4], [-5], [0.5], [True, False]):
        with pytest.raises(DataError, match="numbers of columns, from 0 to 3"):
            one.marginal(places)
    with pytest.raises(DataError, match="every column once"):
        one.condition([1, -3], [0.0, 0.0])


def test_columns_that_follow_from_the_fixed_ones_have_no_variance_left():
    line = Gaussian([0.0], [[0.3]]).affine([[1.0], [3.0], [-0.1]], [1.0, 2.0, 3.0])
    rest = line.condition([0], [1.7])
    np.testing.assert_allclose(rest.mean, [4.1, 2.93], rtol=1e-12)
    assert (np.diag(rest.covariance) >= 0).all()
    np.testing.assert_allclose(rest.covariance, 0.0, atol=1e-15)
    assert np.isfinite(rest.log_density(rest.mean)).all()


def test_shapes_that_do_not_fit_are_named():
    one = random_gaussian(6, 3)
    np.testing.assert_allclose(
        Gaussian([0.0], [[1.0]]).log_density([0.0, 2.0]), stats.norm().logpdf([0, 2])
    )
    with pytest.raises(DataError, match="of 3 columns, but X has the shape"):
        one.log_density(np.ones((2, 4)))
    with pytest.raises(DataError, match="both need the same columns"):
        one.product(Gaussian([0.0], [[1.0]]))
    with pytest.raises(
        DataError, match="the matrix has 2 columns, but the Gaussian is of 3"
    ):
        one.affine(np.ones((1, 2)))

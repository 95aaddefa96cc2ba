"""Sensor fusion: precisions add."""

import numpy as np
import pytest

from lyceum.density import GaussianDensity
from lyceum.errors import DataError
from lyceum.probability import fuse_gaussians


@pytest.mark.syllabus("3.6.5")
def test_precisions_add_and_weigh_the_means():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 3, 3))
    P, m = A @ np.swapaxes(A, 1, 2) + 0.1 * np.eye(3), rng.normal(size=(4, 3))
    precision = np.linalg.inv(P)
    covariance = np.linalg.inv(precision.sum(axis=0))
    fused = fuse_gaussians(m, P)
    np.testing.assert_allclose(fused.covariance, covariance, rtol=1e-9)
    np.testing.assert_allclose(
        fused.mean, covariance @ np.einsum("kij,kj->i", precision, m), rtol=1e-9
    )
    np.testing.assert_allclose(
        fuse_gaussians(m[::-1], P[::-1]).mean, fused.mean, rtol=1e-9
    )


@pytest.mark.syllabus("3.6")
def test_equal_sensors_give_the_mean_and_a_share_of_the_variance():
    x = np.array([3.0, 5.0, 10.0]) + 1e6
    fused = fuse_gaussians(x, np.full(3, 2.0))
    assert fused.mean == pytest.approx(1e6 + 6.0)
    assert fused.covariance == pytest.approx(2 / 3)
    model = GaussianDensity(estimate="bayes", known_covariance=2.0).fit(x[:, None])
    assert model.mean_covariance_[0, 0] == pytest.approx(fused.covariance)


def test_an_exact_sensor_wins_and_two_cannot():
    fused = fuse_gaussians([[1.0, 1.0], [5.0, 5.0]], [np.eye(2), np.diag([0.0, 1.0])])
    np.testing.assert_allclose(fused.mean, [5.0, 3.0])
    np.testing.assert_allclose(fused.covariance, np.diag([0.0, 0.5]))
    with pytest.raises(DataError, match="both exact"):
        fuse_gaussians([1.0, 2.0], [0.0, 0.0])


def test_two_blind_directions_make_a_point():
    """A sensor that sees x well and one that sees y well: together both."""
    fused = fuse_gaussians(
        [[1.0, 0.0], [0.0, 2.0]], [np.diag([0.01, 1e6]), np.diag([1e6, 0.01])]
    )
    np.testing.assert_allclose(fused.mean, [1.0, 2.0], atol=1e-4)


def test_bad_input_is_named():
    with pytest.raises(DataError, match="do not fit"):
        fuse_gaussians([1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="covariance 1 is not"):
        fuse_gaussians([1.0, 2.0], [1.0, -1.0])

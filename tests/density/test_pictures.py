"""The pictures of densities, by what they draw."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy.stats import chi2, norm

matplotlib.use("Agg")

from lyceum import plot
from lyceum.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from lyceum.density import (
    GaussianDensity,
    HistogramDensity,
    KernelDensity,
    ParzenClassifier,
)
from lyceum.errors import DataError
from lyceum.probability import fuse_gaussians


@pytest.fixture(autouse=True)
def _closes_its_figures():
    yield
    pyplot.close("all")


def rows_of(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_density_of_one_column_is_a_curve_of_area_one():
    X = rows_of(50, 1)
    ax = plot.density(KernelDensity(bandwidth=0.3).fit(X), X, label="kernel")
    plot.density(GaussianDensity().fit(X), X, label="Gaussian", ax=ax)
    assert labels(ax) == ["kernel", "Gaussian"]
    x, y = ax.lines[0].get_data()
    assert np.trapezoid(y, x) == pytest.approx(1.0, abs=0.02)
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), X[:, 0])


def test_a_density_of_two_columns_is_contours():
    X = pd.DataFrame(rows_of(60, 2), columns=["height", "weight"])
    ax = plot.density(HistogramDensity().fit(X), X, title="two")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "weight")
    assert len(ax.collections) >= 2


def test_regions_change_where_the_curves_cross():
    X = np.concatenate([rows_of(200, 1), rows_of(200, 1, 1) + 4])
    y = np.repeat(["low", "tall"], 200)
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    ax = plot.class_densities(model, X, y)
    assert labels(ax) == ["low", "tall"]
    curves = {line.get_label(): line for line in ax.lines}
    x, low = curves["low"].get_data()
    tall = curves["tall"].get_ydata()
    assert np.trapezoid(low + tall, x) == pytest.approx(1.0, abs=0.01)
    for line in ax.lines:
        if line.get_gid() == "boundary":
            at = np.interp(line.get_xdata()[0], x, low - tall)
            assert abs(at) < 0.02 * low.max()


def test_regions_far_from_all_rows_are_those_of_the_classifier():
    """The densities are 0 there in floating point, their logarithms are not."""
    X, y = np.array([[0.0], [0.1], [100.0], [100.1]]), np.array(["a", "a", "b", "b"])
    model = ParzenClassifier(bandwidth=0.2).fit(X, y)
    ax = plot.class_densities(model, X, y)
    edges = [line.get_xdata()[0] for line in ax.lines if line.get_gid() == "boundary"]
    assert edges == pytest.approx([50.0], abs=0.5)


def test_classes_on_a_plane():
    X, y = (
        rows_of(90, 2) + np.repeat([[0, 0], [3, 0], [0, 3]], 30, axis=0),
        np.repeat([0, 1, 2], 30),
    )
    ax = plot.class_densities(ParzenClassifier().fit(X, y), X, y)
    assert labels(ax) == ["0", "1", "2"]
    with pytest.raises(
        DataError, match="LinearDiscriminantAnalysis has no density for every class"
    ):
        plot.class_densities(LinearDiscriminantAnalysis().fit(X, y), X, y)
    with pytest.raises(DataError, match="one column or two"):
        plot.density(KernelDensity().fit(rows_of(9, 3)), rows_of(9, 3))


@pytest.mark.syllabus("3.6")
def test_the_posterior_of_a_mean_narrows_about_the_rows():
    x = rows_of(16, 1)[:, 0] + 2
    ax = plot.posterior_updating(x, mean=0.0, variance=4.0, noise=1.0)
    assert labels(ax) == ["prior", "1 row", "2 rows", "4 rows", "8 rows", "16 rows"]
    grid, last = ax.lines[-1].get_data()
    variance = 1 / (1 / 4 + 16)
    np.testing.assert_allclose(
        last, norm(variance * x.sum(), np.sqrt(variance)).pdf(grid), rtol=1e-9
    )
    with pytest.raises(DataError, match="infinite or no variance"):
        plot.posterior_updating(x, variance=np.inf)


@pytest.mark.syllabus("3.6")
def test_the_fused_ellipse_holds_95_percent():
    means, P = (
        np.array([[0.0, -1.0], [1.0, 1.0]]),
        np.array([np.diag([10.0, 1.0]), np.diag([1.0, 10.0])]),
    )
    ax = plot.sensor_fusion(means, P, labels=["radar", "camera"])
    assert labels(ax) == ["radar", "camera", "fused"]
    fused = fuse_gaussians(means, P)
    ellipse = (
        np.stack(
            next(line for line in ax.lines if line.get_label() == "fused").get_data()
        )
        - fused.mean[:, None]
    )
    distance = np.einsum(
        "in,ij,jn->n", ellipse, np.linalg.inv(fused.covariance), ellipse
    )
    np.testing.assert_allclose(distance, chi2.ppf(0.95, 2), rtol=1e-3)


def test_the_three_pictures_of_fusion():
    assert len(plot.sensor_fusion_cases()) == 3
    line = plot.sensor_fusion([1.0, 3.0], [1.0, 1.0]).lines[-1]
    assert line.get_xdata()[line.get_ydata().argmax()] == pytest.approx(2.0, abs=0.02)
    with pytest.raises(DataError, match="3 labels for 2 measurements"):
        plot.sensor_fusion([1.0, 3.0], [1.0, 1.0], labels=["a", "b", "c"])
    with pytest.raises(DataError, match="3 columns cannot be drawn"):
        plot.sensor_fusion(np.zeros((2, 3)), np.array([np.eye(3)] * 2))

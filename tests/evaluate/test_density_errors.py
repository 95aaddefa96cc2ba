"""Bias and variance of a kernel density against its bandwidth, and their picture."""

import matplotlib
import numpy as np
import pytest
from scipy.stats import norm

from lyceum import plot
from lyceum.density import GaussianDensity, KernelDensity
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import density_errors
from lyceum.mixtures import GaussianMixture

matplotlib.use("Agg")

TRUTH = GaussianDensity().fit(np.array([[-1.0], [1.0]]))  # N(0, 1)
WIDTHS = [0.05, 0.2, 0.45, 1.0, 3.0]


@pytest.mark.syllabus("4.3", "14.8")
def test_bias_and_variance_are_those_of_the_formulas_for_a_normal_density():
    """The mean of the estimate is N(0, 1 + h²), its variance [∫K_h² f - mean²] / n."""
    n = 100
    found = density_errors(
        KernelDensity(rtol=0.0), TRUTH, "bandwidth", WIDTHS, n_rows=n, n_rounds=150
    )
    x = np.random.default_rng(5).normal(size=20_000)
    for h, bias, variance in zip(WIDTHS, found.bias, found.variance):
        mean = norm.pdf(x, scale=np.sqrt(1 + h * h))
        square = norm.pdf(x, scale=np.sqrt(1 + h * h / 2)) / (2 * h * np.sqrt(np.pi))
        assert variance == pytest.approx(((square - mean**2) / n).mean(), rel=0.2)
        expected = ((mean - norm.pdf(x)) ** 2).mean()
        assert bias == pytest.approx(expected, rel=0.25, abs=2 * variance / 150)
    assert found.best == 0.45
    assert (np.diff(found.variance) < 0).all()
    assert found.error == pytest.approx(found.bias + found.variance)


@pytest.mark.syllabus("4.3.4")
def test_the_picture_has_the_three_curves_and_marks_the_best(tmp_path):
    truth = GaussianMixture(2, random_state=0).fit(
        np.random.default_rng(0).normal(size=(40, 2))
    )
    found = density_errors(
        KernelDensity(), truth, "bandwidth", WIDTHS[::-1], n_rounds=3, n_points=20
    )
    ax = plot.density_errors(found, title="window")
    assert [line.get_label() for line in ax.lines[:3]] == [
        "squared bias",
        "variance",
        "error",
    ]
    assert ax.lines[0].get_xdata().tolist() == WIDTHS
    assert ax.lines[3].get_xdata()[0] == found.best
    assert "best bandwidth" in str(found)
    assert found.as_dict()["best"] == found.best


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(DataError, match="no values of bandwidth"):
        density_errors(KernelDensity(), TRUTH, "bandwidth", [])
    with pytest.raises(SettingError, match="n_rounds=1"):
        density_errors(KernelDensity(), TRUTH, "bandwidth", [1.0], n_rounds=1)

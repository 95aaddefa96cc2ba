"""Irreducible, approximation and estimation error against closed forms."""

import numpy as np
import pytest

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import error_parts


@pytest.mark.syllabus("14.8.2")
def test_lines_through_a_parabola_have_the_errors_of_the_closed_form():
    # y = x² + noise, x uniform on [-1, 1]: the best line is the constant 1/3, E (x² - 1/3)² = 4/45.
    # Constants fitted to n rows are off by the variance of a mean of n targets, (4/45 + σ²) / n
    rng, sigma, n = np.random.default_rng(0), 0.3, 10
    x = rng.uniform(-1, 1, 400_000)
    y = x**2 + sigma * rng.normal(size=len(x))
    sample = rng.uniform(-1, 1, (40, n))
    fitted = (sample**2 + sigma * rng.normal(size=sample.shape)).mean(axis=1)
    parts = error_parts(
        y, np.tile(fitted[:, None], (1, len(x))), np.full(len(x), 1 / 3), x**2
    )
    assert parts.irreducible == pytest.approx(sigma**2, rel=0.01)
    assert parts.approximation == pytest.approx(4 / 45, rel=0.01)
    assert parts.estimation == pytest.approx(((fitted - 1 / 3) ** 2).mean(), rel=0.05)
    assert parts.estimation == pytest.approx((4 / 45 + sigma**2) / n, rel=0.4)
    assert parts.error == pytest.approx(
        parts.irreducible + parts.approximation + parts.estimation
    )


@pytest.mark.syllabus("14.8")
def test_thresholds_on_a_noisy_interval_have_the_errors_of_the_closed_form():
    # x uniform on [0, 1]; the label is "in" on [.3, .8], flipped with probability .1. The best
    # threshold "in above .3" is wrong about the truth on .2 of the rows, each costing 1 - 2 · .1
    rng = np.random.default_rng(1)
    x = rng.uniform(size=400_000)
    truth = np.where((x > 0.3) & (x < 0.8), "in", "out")
    flipped = rng.uniform(size=len(x)) < 0.1
    y = np.where(flipped, np.where(truth == "in", "out", "in"), truth)
    best, trained = np.where(x > 0.3, "in", "out"), np.where(x > 0.4, "in", "out")
    parts = error_parts(y, trained, best, truth, loss="error")
    assert parts.irreducible == pytest.approx(0.1, abs=0.002)
    assert parts.approximation == pytest.approx(0.2 * 0.8, abs=0.003)
    assert parts.estimation == pytest.approx(0.1 * 0.8, abs=0.003)
    assert "too few rows" in str(parts)


def test_bad_requests_say_what_to_give():
    with pytest.raises(SettingError, match="'squared'"):
        error_parts([1.0], [1.0], [1.0], [1.0], loss="hinge")
    with pytest.raises(DataError, match="best"):
        error_parts([1.0, 2.0], [1.0, 2.0], [1.0], [1.0, 2.0])
    with pytest.raises(DataError, match="no rows"):
        error_parts([], [], [], [])

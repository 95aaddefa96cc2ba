"""Bias and variance of a density estimate against a setting of it, such as the width of a
window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from lyceum._core.types import Estimator, Seed
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.errors.bias_variance import decompose
from lyceum.evaluate.printable import Printable
from lyceum.progress import report
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True, eq=False)
class DensityErrors(Printable):
    """Squared bias, variance and their sum for every value of a setting, averaged over rows of the
    truth.

    Attributes
    ----------
    param_name : str
        The setting.
    param_range : ndarray of shape (m,)
        Its values.
    bias : ndarray of shape (m,)
        Mean (mean estimate - true density)².
    variance : ndarray of shape (m,)
        Mean spread of the estimates of different samples about their mean.
    n_rows : int
        Rows of a sample.
    n_rounds : int
        Samples.
    error : ndarray of shape (m,)
        Bias and variance together: the mean squared error of the density.
    best : float
        The value of least error.

    See Also
    --------
    density_errors : Makes it from an estimator and a known density.
    BiasVariance : The same for predictions.
    lyceum.plot.density_errors : The parts as a picture.

    Examples
    --------
    >>> from lyceum.density import GaussianDensity, KernelDensity
    >>> from lyceum.evaluate import density_errors
    >>> truth = GaussianDensity().fit([[-1.0], [0.0], [1.0]])
    >>> sizes = {"n_rows": 30, "n_rounds": 5, "n_points": 30}
    >>> errors = density_errors(KernelDensity(), truth, "bandwidth", [0.05, 0.4, 3.0], **sizes)
    >>> errors.best, int(errors.bias.argmax()), int(errors.variance.argmax())
    (0.4, 2, 0)
    """

    _derived = ("error", "best")

    param_name: str
    param_range: np.ndarray
    bias: np.ndarray
    variance: np.ndarray
    n_rows: int
    n_rounds: int

    @property
    def error(self) -> np.ndarray:
        """Bias and variance together: the mean squared error of the density."""
        return self.bias + self.variance

    @property
    def best(self) -> float:
        """The value of least error."""
        return float(self.param_range[np.argmin(self.error)])

    def summary(self) -> Summary:
        """The parts by value of the setting."""
        columns = (self.param_range, self.bias, self.variance, self.error)
        rows = np.column_stack(columns).tolist()
        heads = (self.param_name, "squared bias", "variance", "error")
        table = Table("Errors of the density", heads, rows)
        facts = {
            "rows of a sample": self.n_rows,
            "samples": self.n_rounds,
            f"best {self.param_name}": self.best,
        }
        return Summary("bias and variance of a density", facts, [table])


def density_errors(
    estimator: Estimator,
    truth: Any,
    param_name: str,
    param_range: Any,
    *,
    n_rows: int = 100,
    n_rounds: int = 50,
    n_points: int = 200,
    random_state: Seed = 0,
) -> DensityErrors:
    """Bias and variance of a density estimate against a known density, for values of a setting.

    Samples are drawn from the known density, the estimator is fitted to each, and its densities at
    other rows drawn from it are compared with the true ones. A wide window has bias, a narrow one
    variance.

    Parameters
    ----------
    estimator : density
        Such as `KernelDensity()`.
    truth : fitted density or mixture
        With `sample` and `score_samples`.
    param_name : str
        The setting of the estimator, such as "bandwidth".
    param_range : array-like of shape (m,)
        Its values.
    n_rows : int, default=100
        Rows of a sample.
    n_rounds : int, default=50
        Samples.
    n_points : int, default=200
        Rows at which densities are compared.
    random_state : int, RandomState or None, default=0
        The seed.

    Returns
    -------
    DensityErrors

    See Also
    --------
    bias_variance : The same for predictions.
    lyceum.plot.density_errors : The parts as a picture.

    Examples
    --------
    >>> from lyceum.density import GaussianDensity, KernelDensity
    >>> truth = GaussianDensity().fit([[-1.0], [0.0], [1.0]])
    >>> errors = density_errors(KernelDensity(), truth, "bandwidth", [0.05, 0.4, 3.0])
    >>> errors.best, bool(errors.bias[0] < errors.bias[2])
    (0.4, True)
    >>> bool(errors.variance[0] > errors.variance[2])
    True
    """
    param_range = np.asarray(param_range, dtype=np.float64).ravel()
    if not len(param_range):
        raise DataError(f"there are no values of {param_name} to compare")
    if n_rows < 1 or n_rounds < 2 or n_points < 1:
        raise SettingError(
            f"n_rows={n_rows}, n_rounds={n_rounds} and n_points={n_points}: give at least 1, 2"
            " and 1"
        )
    random = check_random_state(random_state)
    points = _draw(truth, n_points, random)
    log_density = np.asarray(truth.score_samples(points), dtype=np.float64)
    f = np.exp(log_density)
    # every value of the setting sees the same samples, so that the values are compared in pairs
    samples = [_draw(truth, n_rows, random) for _ in range(n_rounds)]
    parts = []
    for done, value in enumerate(param_range.tolist()):
        densities = []
        for sample in samples:
            model = clone(estimator).set_params(**{param_name: value}).fit(sample)
            densities.append(np.exp(model.score_samples(points)))
        parts.append(decompose(f, densities))
        report("values", done + 1, len(param_range))
    return DensityErrors(
        param_name=param_name,
        param_range=param_range,
        bias=np.array([part.bias for part in parts]),
        variance=np.array([part.variance for part in parts]),
        n_rows=int(n_rows),
        n_rounds=int(n_rounds),
    )


def _draw(
    truth: Any,
    n: int,
    random: np.random.RandomState,
) -> np.ndarray:
    rows = truth.sample(n, random_state=random.randint(2**31 - 1))
    # scikit-learn's mixtures give the rows and their components
    if isinstance(rows, tuple):
        rows = rows[0]
    return np.asarray(rows, dtype=np.float64)

"""The mean of a Gaussian whose variance is known, learned from a prior and from rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.data import row_weights
from lyceum._core.report import Shown
from lyceum.errors import DataError, SettingError, number_setting


@dataclass(frozen=True, slots=True)
class NormalMean(Shown):
    """Knowledge of a mean μ, N(mean, variance), when rows are N(μ, noise) and `noise` is known.

    After n rows of mean x̄, with precisions that add:

    1/variance_n = 1/variance_0 + n/noise,
    mean_n = variance_n (mean_0/variance_0 + n x̄/noise).

    A strong prior (small variance) shrinks the mean to its own; a weak one (large variance) leaves
    x̄, and with `variance=inf` the posterior is that of maximum likelihood: x̄ and noise/n. One row
    at a time and all at once give the same. Columns are independent: all numbers may be one for all
    columns, or one per column.

    Parameters
    ----------
    mean : float or array of shape (d,), default=0.0
        The mean of the prior, and after `update` of the posterior.
    variance : float or array of shape (d,), default=inf
        The variance of the prior, and after `update` of the posterior; 0 is certainty.
    noise : float or array of shape (d,), default=1.0
        The known variance of a row about μ.

    Attributes
    ----------
    predictive_variance : array
        The variance of a new row: that of μ and the noise.

    See Also
    --------
    lyceum.probability.NormalInverseWishart : For an unknown covariance.
    lyceum.probability.fuse_gaussians : Several measurements of one quantity.

    Examples
    --------
    >>> from lyceum.bayes import NormalMean
    >>> weak = NormalMean(mean=0.0, variance=1e9, noise=1.0).update([4.0, 5.0, 6.0])
    >>> round(float(weak.mean), 6), round(float(weak.variance), 6)
    (5.0, 0.333333)
    >>> strong = NormalMean(mean=0.0, variance=0.01, noise=1.0).update([4.0, 5.0, 6.0])
    >>> round(float(strong.mean), 4)
    0.1456
    """

    mean: Any = 0.0
    variance: Any = np.inf
    noise: Any = 1.0

    def __post_init__(self) -> None:
        names = ("mean", "variance", "noise")
        mean, variance, noise = (
            number_setting(name, getattr(self, name)) for name in names
        )
        sound = (
            np.isfinite(mean).all()
            and ((noise > 0) & (noise < np.inf)).all()
            and (variance >= 0).all()
        )
        if not sound:
            raise SettingError(
                "mean must be finite, variance at least 0 and noise above 0 and finite; "
                f"they are {self.mean}, {self.variance}, {self.noise}"
            )
        for name, value in zip(names, np.broadcast_arrays(mean, variance, noise)):
            object.__setattr__(self, name, value)

    def update(self, x: Any, weight: Any = None) -> NormalMean:
        """After rows x, of shape (n,) or (n, d); a row of weight 2 counts twice."""
        x = number_setting("x", x)
        if (
            x.ndim not in (1, 2)
            or (x.ndim == 1 and self.mean.ndim)
            or not np.isfinite(x).all()
        ):
            raise DataError(
                f"rows of shape {x.shape} cannot be learned from: give finite numbers of shape"
                " (n,), or (n, d) for a mean of d columns"
            )
        w = np.asarray(row_weights(weight, len(x)), dtype=np.float64)
        if w.shape != x.shape[:1] or not (w >= 0).all():
            raise DataError("weight must have one number of at least 0 per row")
        n = w.sum()
        if n == 0:
            return self
        # the share of the rows in the precision, variance / (variance + noise / n), and 1 for a
        # prior of infinite variance
        error = self.noise / n
        with np.errstate(invalid="ignore"):
            share = self.variance / (self.variance + error)
            share = np.where(np.isinf(self.variance), 1.0, share)
        centered = (w * (x - self.mean).T).sum(axis=-1) / n
        return replace(self, mean=self.mean + share * centered, variance=share * error)

    @property
    def predictive_variance(self) -> np.ndarray:
        """The variance of the next row: that of μ and the noise about it."""
        return self.variance + self.noise

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """The log predictive density N(x; mean, variance + noise) of rows, columns independent."""
        spread = self.predictive_variance
        if np.isinf(spread).any():
            raise DataError(
                "an infinite variance has no predictive density: update with rows first"
            )
        centered = np.asarray(x, dtype=np.float64) - self.mean
        log = -0.5 * (centered**2 / spread + np.log(2 * np.pi * spread))
        if self.mean.ndim:
            return log.sum(axis=-1)
        return log

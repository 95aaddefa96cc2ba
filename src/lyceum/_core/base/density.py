"""The base of densities: log densities, the likelihood, and improbable rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import Block
from lyceum._core.types import Data, Target
from lyceum.errors import SettingError, undefined


class Density(DensityMixin):
    """A density: log densities, the likelihood of rows, and improbable rows.

    A subclass defines `_log_density()`, which gives a picklable function of a block, and
    `_threshold(quantile)`, the log density below which a share of `quantile` of the rows of `fit`
    lies.

    See Also
    --------
    Learner : What to combine it with.
    lyceum.density.GaussianDensity, lyceum.density.KernelDensity : Densities.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.base import Density, Learner
    >>> class Exponential(Density, Learner):
    ...     def fit(self, X, y=None):
    ...         cells = np.asarray(self._rows(X))
    ...         self.rate_ = 1.0 / cells.mean()
    ...         self.logs_ = np.sort(self.score_samples(X))
    ...         return self
    ...     def _log_density(self):
    ...         return lambda block: np.log(self.rate_) - self.rate_ * block.X[:, 0]
    ...     def _threshold(self, quantile):
    ...         return float(np.quantile(self.logs_, quantile))
    >>> model = Exponential().fit([[0.5], [1.0], [1.5]])  # the mean, and so the rate, is 1
    >>> model.score([[2.0], [3.0]]), model.anomalies([[1.0], [4.0]]).tolist()
    (-5.0, [False, True])
    """

    _apply: Callable[..., Any]

    def _log_density(self) -> Callable[[Block], np.ndarray]:
        raise undefined(self, "_log_density")

    def _threshold(self, quantile: float) -> float:
        raise undefined(self, "_threshold")

    def score_samples(self, X: Data) -> Any:
        """The logarithm of the density at every row of X, -inf where it is 0.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._log_density(), X)

    def score(self, X: Data, y: Target = None) -> float:
        """The log-likelihood of the rows of X: the sum of their log densities.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        return float(np.asarray(self.score_samples(X)).sum())

    def anomaly_threshold(self, quantile: float = 0.01) -> float:
        """The log density below which a share of `quantile` of the rows of `fit` lies.

        Parameters
        ----------
        quantile : float, default=0.01
            The share of the rows, between 0 and 1.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if not 0 < quantile < 1:
            raise SettingError(
                f"quantile must be between 0 and 1, but it is {quantile!r}"
            )
        return self._threshold(quantile)

    def anomalies(self, X: Data, quantile: float = 0.01) -> Any:
        """Whether the log density of every row of X is below the threshold of anomalies.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        quantile : float, default=0.01
            The share of the rows of `fit` that lies below the threshold, between 0 and 1.

        Returns
        -------
        array of bool of shape (n_samples,)
        """
        return self.score_samples(X) < self.anomaly_threshold(quantile)

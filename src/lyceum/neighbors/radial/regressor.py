"""Regression by radial basis functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.base import Regressor, affine_operation
from lyceum._core.data import Block
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.neighbors.radial.network import RadialNetwork
from lyceum.report import Explanation


class RBFNetworkRegressor(Regressor, RadialNetwork):
    """A network of radial basis functions: f(x) = b + Σ_j H_j(x) a_j, or Σ_j H_j(x) (a_j + B_jᵀ x).

        H_j(x) = exp(-|x - c_j|² / 2 s_j²),   or divided by Σ_l H_l(x) if normalized,

    in scaled columns x. All rows are kept in memory while it learns.

    Parameters
    ----------
    standardize : bool or "range", default=True
        Whether columns of numbers are divided by their standard deviation, or range, first.

    Attributes
    ----------
    centers_ : array of shape (m, d)
        The centers, in the units of the rows.
    widths_ : array of shape (m,)
        The widths s_j, in scaled units.
    log_gains_ : array of shape (m,)
        g_j: 0, or for "em" what comes from the share and the volume of a unit.
    weights_ : array of shape (m, 1 or 1 + d, 1)
        The constants a_j, then the slopes B_j of linear units.
    bias_ : array of shape (1,)
        The constant of all rows; 0 where units are normalized.
    normalized_ : bool
        Whether activations are divided by their sum.
    n_undetermined_ : int
        How many weights of an output (for "em", terms of the units' models) rows and penalty do not
        determine: those of least norm are taken.
    mean_, scale_ : arrays of shape (d,)
        What is subtracted from every column, and what it is divided by.
    history_ : list of float
        The mean squared error, or for "em" the log-likelihood, at the start and after every
        iteration.
    n_iter_ : int
        The number of iterations.
    record_ : list of dict
        With `record=True`, for every iteration its number `step`, the `objective`, `centers`,
        `widths` and `weights`.
    target_mean_, target_scale_ : float
        The weights are for the target less its mean, in units of its standard deviation.

    See Also
    --------
    RBFNetworkClassifier : classes instead of numbers.
    LocallyWeightedRegression : A separate fit around every query.

    References
    ----------
    Moody, J. and Darken, C. J. (1989). Fast learning in networks of locally-tuned processing units.
    Neural Computation 1(2). Xu, L., Jordan, M. I. and Hinton, G. E. (1995). An alternative model
    for mixtures of experts. Advances in Neural Information Processing Systems 7.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.neighbors import RBFNetworkRegressor
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> model = RBFNetworkRegressor(n_centers=12, centers="uniform").fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0], [2.5]]).round(2).tolist()
    [0.84, 0.6]
    """

    def __init__(
        self,
        *,
        n_centers: int = 20,
        centers: Any = "clustered",
        bandwidth: str | float = "shared",
        units: str = "constant",
        fit_by: str = "least_squares",
        normalized: bool | None = None,
        alpha: float = 1e-6,
        standardize: bool | str = True,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.units = units
        self.fit_by = fit_by
        self.normalized = normalized
        self.alpha = alpha
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Place the units and fit them.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        Z, y, w = self._fit_rows(self._rows(X, y, sample_weight))
        self.target_mean_ = float(np.average(y, weights=w))
        spread = float(np.sqrt(np.average((y - self.target_mean_) ** 2, weights=w)))
        self.target_scale_ = spread if spread > 0 else 1.0
        target = (y - self.target_mean_) / self.target_scale_
        self._fit_units(Z, target[:, None], w)
        return self

    def predict(self, X: Data) -> Any:
        """The output of the network.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._apply(self._values, X)

    def _values(self, block: Block) -> np.ndarray:
        return self._value(self._scale_rows(block))

    def _operations(self) -> list[Operation]:
        scale = {
            "coef": [[float(self.target_scale_)]],
            "intercept": [float(self.target_mean_)],
        }
        prepare = affine_operation(self.mean_, self.scale_)
        return [prepare, *self._units.operations(), ("linear", scale)]

    def unit_outputs(self, X: Data) -> Any:
        """What every unit adds to the prediction, (n_samples, m), in the units of the target.

        With the mean target and the constant `bias_` they sum to the prediction.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        """
        return self._apply(self._unit_outputs, X)

    def _unit_outputs(self, block: Block) -> np.ndarray:
        Z = self._scale_rows(block)
        units = self._units
        models = units.weights[:, 0, 0]
        if units.linear:
            models = models + Z @ units.weights[:, 1:, 0].T
        return self.target_scale_ * units.activations(Z) * models

    def _value(self, Z: np.ndarray) -> np.ndarray:
        return self.target_mean_ + self.target_scale_ * self._units.outputs(Z)[:, 0]

    def explain(self, X: Data) -> Explanation:
        """What every column adds on the way from the mean row to the row, one column after the
        other.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        schema = getattr(self, "schema_", None)
        unit = "y" if schema is None else schema.target_name
        return self._explain(X, self._columns, unit)

    def _columns(self, block: Block) -> np.ndarray:
        return np.column_stack([self._values(block), self._walk(block, self._value)])

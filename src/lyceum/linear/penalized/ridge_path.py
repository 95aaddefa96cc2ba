"""Ridge regression at many penalties, and generalized cross-validation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.report import Shown
from lyceum._core.statistics import RowSpace, Scatter, is_wide
from lyceum._core.text import plain
from lyceum._core.threads import single_threaded_blas
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.linear.penalized.ridge_cv import RidgeCV


@dataclass(frozen=True)
class RidgePath(Shown):
    """The coefficients of ridge regression at every penalty, the largest first.

    Attributes
    ----------
    names : tuple of str
        The design columns.
    alphas : array of shape (k,)
        The penalties, from the largest to the smallest.
    coefs : array of shape (k, d)
        The coefficients at every penalty.
    intercepts : array of shape (k,)
        The intercepts.
    residual_sums : array of shape (k,)
        Σ w (y - ŷ)².
    effective_degrees : array of shape (k,)
        The trace of the hat matrix: Σ λ / (λ + alpha) over the eigenvalues λ of XᵀWX, and 1 for the
        intercept.
    gcv : array of shape (k,)
        Generalized cross-validation, N Σ w (y - ŷ)² / (N - trace)², an estimate of the mean squared
        error on new rows; N is the total weight. Infinite where nothing is left, N ≤ trace.
    best_alpha : float
        The penalty of the least `gcv`.

    See Also
    --------
    ridge_path : Computes it.
    RidgeCV : Chooses the penalty on left-out folds.
    lyceum.plot.regularization_path : Draws the coefficients over the penalties.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 4.0])
    >>> path = ridge_path(X, y, alphas=[2.0, 0.5])
    >>> path.coefs.tolist(), path.effective_degrees.tolist(), path.best_alpha
    ([[1.0], [1.6]], [1.5, 1.8], 0.5)
    """

    names: tuple[str, ...]
    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    residual_sums: np.ndarray
    effective_degrees: np.ndarray
    gcv: np.ndarray

    @property
    def best_alpha(self) -> float:
        """The penalty of the least generalized cross-validation, the largest of equal ones."""
        return float(self.alphas[int(np.argmin(self.gcv))])

    def as_dict(self) -> dict[str, Any]:
        """The penalties and what was found at each, in JSON's own types."""
        return plain({**asdict(self), "best_alpha": self.best_alpha})


def ridge_path(
    X: Data,
    y: Target = None,
    sample_weight: Weights = None,
    *,
    alphas: ArrayLike = 100,
    eps: float = 1e-9,
    fit_intercept: bool = True,
    standardize: bool = False,
    categorical_features: Categories = "from_dtype",
) -> RidgePath:
    """Ridge regression at many penalties, from one pass over the rows and one decomposition.

    The objective and the parameters are those of `Ridge`. With XᵀWX = V Λ Vᵀ about the means,
    b = V (Λ + alpha)⁻¹ Vᵀ XᵀWy for every alpha.

    Parameters
    ----------
    X : array, sparse array, frame, Dask collection or `scan(...)`
    y : array of shape (n_samples,), if the target is not in the scan
    sample_weight : array of shape (n_samples,), optional
    alphas : int or array-like, default=100
        The penalties, or how many there are, from 10 times the largest eigenvalue of XᵀWX down to
        `eps` times that.
    eps : float, default=1e-9
        The smallest penalty, as a share of the largest.
    fit_intercept : bool, default=True
    standardize : bool, default=False
        Whether the penalty is on coefficients per standard deviation of their columns.
    categorical_features : default="from_dtype"
        Columns to code one-of-C.

    Returns
    -------
    RidgePath

    References
    ----------
    Golub, Heath and Wahba (1979), Generalized cross-validation as a method for choosing a good
    ridge parameter, Technometrics 21.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.linear import ridge_path
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> path = ridge_path(X, X @ [2.0, 0.0, -1.0], alphas=5)
    >>> path.coefs.shape, path.coefs[-1].round(3).tolist()
    ((5, 3), [2.0, 0.0, -1.0])
    """
    n_alphas = int(alphas) if isinstance(alphas, Integral) else None
    learner = RidgeCV(
        () if n_alphas else alphas,
        n_alphas=n_alphas,
        eps=eps,
        fit_intercept=fit_intercept,
        standardize=standardize,
        categorical_features=categorical_features,
    )
    with single_threaded_blas():
        rows, factors = learner._unit_columns(learner._rows(X, y, sample_weight))
        # fewer rows than columns: in orthonormal coordinates of their space, as in RidgeCV
        space = None
        if is_wide(rows):
            space = RowSpace.of(rows, "ridge_path", fit_intercept)
            rows = space.rows
        total = rows.reduce(partial(Scatter.of, target=True))
        moments = total if fit_intercept else total.about_origin()
        coefs, sums, traces, values = _solutions(learner, moments)
    mean = moments.x_mean
    if space is not None:
        coefs = np.array([space.columns_of(coef) for coef in coefs])
        mean = space.mean + space.columns_of(mean)
    intercepts = np.zeros(len(coefs))
    if fit_intercept:
        intercepts = moments.y_mean - coefs @ mean
        traces = traces + 1.0
    left = moments.weight - traces
    squares = np.maximum(left, 0.0) ** 2
    infinite = np.full(len(coefs), np.inf)
    return RidgePath(
        names=tuple(learner.design_names),
        alphas=values,
        coefs=coefs * factors,
        intercepts=intercepts,
        residual_sums=sums,
        effective_degrees=traces,
        gcv=np.divide(moments.weight * sums, squares, out=infinite, where=squares > 0),
    )


def _solutions(
    learner: RidgeCV,
    moments: Scatter,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients, residual sums and traces at every penalty, and the penalties."""
    alphas = learner._grid(moments.xx)
    values, V = np.linalg.eigh(moments.xx)
    # directions without variance, up to rounding, have no coefficient
    values = np.where(values > 1e-14 * values.max(initial=0.0), values, 0.0)
    turned = np.where(values > 0, V.T @ moments.xy, 0.0)
    shrunk = values + alphas[:, None]
    # With t = Vᵀ Xᵀy the residual sum of squares is that of least squares, yy - Σ t² / λ, and
    # Σ (t²/λ) (alpha / (λ + alpha))² more.
    squares = np.divide(turned**2, values, out=np.zeros(len(values)), where=values > 0)
    least = max(moments.yy - float(squares.sum()), 0.0)
    sums = least + (alphas[:, None] / shrunk) ** 2 @ squares
    return (turned / shrunk) @ V.T, sums, (values / shrunk).sum(axis=1), alphas

"""Fit against size: AIC, AICc, BIC and adjusted BIC, with the right degrees of freedom for each
model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lyceum._core.types import Weights
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.label_codes import (
    number_array,
    number_column,
    same_length,
    truth_and_weights,
    weights_of,
)
from lyceum.evaluate.printable import Printable
from lyceum.report import Summary


@dataclass(frozen=True, slots=True)
class InformationCriteria(Printable):
    """Criteria of one fitted model; the smaller the better, among models of the same rows.

    Attributes
    ----------
    log_likelihood : float
        ln L at its maximum.
    degrees_of_freedom : float
        Free parameters k.
    n_rows : float
        Rows N.
    aic, aicc : float
        -2 ln L + 2 k, and the same corrected for few rows.
    bic, adjusted_bic : float
        -2 ln L + k ln N, and the same with (N + 2) / 24 in place of N.

    See Also
    --------
    information_criteria : Makes it from ln L, k and N.
    degrees_of_freedom : k of a model.
    criterion_weights : Weights of rival models.
    BayesFactor : Two models compared by their BICs.

    References
    ----------
    Akaike, A new look at the statistical model identification, IEEE Trans. Automatic Control 19,
    1974. Schwarz, Estimating the dimension of a model, Annals of Statistics 6, 1978. Sclove,
    Application of model-selection criteria to some problems in multivariate analysis, Psychometrika
    52, 1987. Hurvich and Tsai, Regression and time series model selection in small samples,
    Biometrika 76, 1989.

    Examples
    --------
    >>> from lyceum.evaluate import information_criteria
    >>> small, large = information_criteria(-100.0, 3, 50), information_criteria(-97.5, 5, 50)
    >>> small.aic, large.aic                                      # AIC takes the large model
    (206.0, 205.0)
    >>> round(small.bic, 2), round(large.bic, 2)  # BIC, with ln 50 for 2, the small one
    (211.74, 214.56)
    """

    _derived = ("aic", "aicc", "bic", "adjusted_bic")

    log_likelihood: float
    degrees_of_freedom: float
    n_rows: float

    @property
    def aic(self) -> float:
        """-2 ln L + 2 k."""
        return -2.0 * self.log_likelihood + 2.0 * self.degrees_of_freedom

    @property
    def aicc(self) -> float:
        """AIC + 2 k (k+1) / (N - k - 1); infinite when there are too few rows, N <= k + 1."""
        k = self.degrees_of_freedom
        left = self.n_rows - k - 1.0
        if left > 0.0:
            return self.aic + 2.0 * k * (k + 1.0) / left
        return math.inf

    @property
    def bic(self) -> float:
        """-2 ln L + k ln N."""
        penalty = self.degrees_of_freedom * math.log(self.n_rows)
        return -2.0 * self.log_likelihood + penalty

    @property
    def adjusted_bic(self) -> float:
        """-2 ln L + k ln[(N+2)/24]; below 22 rows it rewards size."""
        penalty = self.degrees_of_freedom * math.log((self.n_rows + 2.0) / 24.0)
        return -2.0 * self.log_likelihood + penalty

    def summary(self) -> Summary:
        """The four criteria."""
        facts = {
            "ln L": self.log_likelihood,
            "degrees of freedom": self.degrees_of_freedom,
            "rows": self.n_rows,
            "AIC": self.aic,
            "AICc": self.aicc,
            "BIC": self.bic,
            "adjusted BIC": self.adjusted_bic,
        }
        return Summary("information criteria", facts)


def information_criteria(
    log_likelihood: float, degrees_of_freedom: float, n_rows: float
) -> InformationCriteria:
    """AIC, AICc, BIC and adjusted BIC.

    Parameters
    ----------
    log_likelihood : float
        Natural logarithm of the likelihood at its maximum, over all rows.
    degrees_of_freedom : float
        Free parameters, as `degrees_of_freedom` counts them.
    n_rows : float
        The number of rows.

    Returns
    -------
    InformationCriteria

    See Also
    --------
    criterion_weights : Weights of rival models.
    bayes_factor : From two BICs.

    References
    ----------
    Akaike, A new look at the statistical model identification, IEEE Trans. Automatic Control 19,
    1974. Schwarz, Estimating the dimension of a model, Annals of Statistics 6, 1978.

    Examples
    --------
    >>> result = information_criteria(-100.0, 3, 50)
    >>> result.aic, round(result.aicc, 3), round(result.bic, 3), round(result.adjusted_bic, 3)
    (206.0, 206.522, 211.736, 202.32)
    """
    if not math.isfinite(log_likelihood):
        raise DataError(
            f"log_likelihood={log_likelihood} is not finite: some row has density 0 under the model"
        )
    if degrees_of_freedom < 0 or n_rows <= 0:
        raise SettingError(
            f"degrees_of_freedom={degrees_of_freedom} and n_rows={n_rows}: give at least 0 and"
            " above 0"
        )
    return InformationCriteria(
        float(log_likelihood), float(degrees_of_freedom), float(n_rows)
    )


def criterion_weights(values: ArrayLike) -> np.ndarray:
    """Akaike (or Schwarz) weights exp(-Δ/2) / Σ exp(-Δ/2) of the criteria of rival models.

    Parameters
    ----------
    values : array-like of shape (m,)
        One criterion (AIC, AICc or BIC) of m models of the same rows.

    Returns
    -------
    ndarray of shape (m,)
        They sum to 1.

    See Also
    --------
    information_criteria : The criteria.

    Examples
    --------
    >>> criterion_weights([100.0, 102.0]).round(3)
    array([0.731, 0.269])
    """
    values = number_column(values, "values")
    least = values.min(initial=np.inf)
    if np.isnan(values).any() or not np.isfinite(least):
        raise DataError("criteria must be numbers, and the smallest of them finite")
    # differences to the least, as exp of the criteria themselves would be 0
    share = np.exp(-0.5 * (values - values.min()))
    return share / share.sum()


def gaussian_log_likelihood(
    y_true: Any, y_pred: Any, *, sample_weight: Weights = None
) -> float:
    """ln L of a regression with normal errors and its own best variance, -N/2 [ln(2π SSE/N) + 1].

    Infinite when every prediction is right. The variance is one of the degrees of freedom.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted values; scanned rows as y_true stand for their target and carry their
        weights.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float

    See Also
    --------
    information_criteria : What it is needed for.

    Examples
    --------
    >>> round(gaussian_log_likelihood([1.0, 2.0], [1.5, 1.5]), 4)
    -1.4516
    """
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    truth = number_column(y_true, "y_true")
    guess = number_column(y_pred, "y_pred")
    same_length(truth, guess, "y_true and y_pred")
    if not len(truth):
        raise DataError("there are no rows")
    w = weights_of(sample_weight, len(truth))
    squares = (truth - guess) ** 2
    if w is None:
        n = float(len(truth))
        sse = float(squares.sum())
    else:
        n = float(w.sum())
        sse = float(w @ squares)
    if sse > 0.0:
        return -0.5 * n * (math.log(2.0 * math.pi * sse / n) + 1.0)
    return math.inf


def _covariance(
    d: int,
    covariance: str,
    n_components: int = 1,
) -> int:
    """Free entries of the covariance matrices of `n_components` normal distributions."""
    full = d * (d + 1) // 2
    sizes: dict[str, Callable[[], int]] = {
        "full": lambda: n_components * full,
        "tied": lambda: full,
        "diagonal": lambda: n_components * d,
        "diag": lambda: n_components * d,
        "tied_diagonal": lambda: d,
        "tied_diag": lambda: d,
        "spherical": lambda: min(n_components, n_components * d),
        "tied_spherical": lambda: min(1, d),
        "identity": lambda: 0,
    }
    if covariance in _SHAPES:
        return _SHAPES[covariance](n_components, d)
    return named_choice("covariance", covariance, sizes)()


# Σ_k = λ_k D_k A_k D_kᵀ by volume, shape and orientation (Celeux and Govaert 1995): volumes, the
# d - 1 of a shape of determinant 1, and the d (d - 1) / 2 angles of an orientation
_SHAPES: dict[str, Callable[[int, int], int]] = {
    "EII": lambda K, d: min(1, d),
    "VII": lambda K, d: min(K, K * d),
    "EEI": lambda K, d: d,
    "VEI": lambda K, d: min(1, d) * (K + d - 1),
    "EVI": lambda K, d: min(1, d) * (1 + K * (d - 1)),
    "VVI": lambda K, d: K * d,
    "EEE": lambda K, d: d * (d + 1) // 2,
    "VEE": lambda K, d: min(1, d) * (K - 1 + d * (d + 1) // 2),
    "EEV": lambda K, d: d + K * (d * (d - 1) // 2),
    "VEV": lambda K, d: min(1, d) * (K + d - 1 + K * (d * (d - 1) // 2)),
    "EVV": lambda K, d: min(1, d) * (1 + K * (d - 1) + K * (d * (d - 1) // 2)),
    "VVV": lambda K, d: K * (d * (d + 1) // 2),
}


def _logistic_regression(
    d: int,
    K: int = 2,
    fit_intercept: bool = True,
) -> int:
    return (K - 1) * (d + fit_intercept)


def _gaussian_mixture(
    d: int,
    K: int,
    covariance: str = "full",
    shares: bool = True,
) -> int:
    return shares * (K - 1) + K * d + _covariance(d, covariance, K)


def _linear_discriminant(
    d: int,
    K: int,
    covariance: str = "full",
    shares: bool = True,
) -> int:
    """One covariance matrix for all classes, of the forms that LinearDiscriminantAnalysis knows."""
    forms = {"full": "tied", "diagonal": "tied_diagonal", "spherical": "tied_spherical"}
    return _gaussian_mixture(d, K, forms.get(covariance, covariance), shares)


def _naive_bayes(
    K: int,
    numeric: int = 0,
    levels: Any = (),
    shares: bool = True,
) -> int:
    """K-1 shares; per class two parameters for a numeric column, levels - 1 for a categorical
    one."""
    per_class = 2 * numeric + sum(int(size) - 1 for size in levels)
    return shares * (K - 1) + K * per_class


def _bayes_net(levels: Any, parents: Any) -> int:
    """Σ over nodes of (levels - 1) · Π levels of its parents, whose places are given."""
    return sum(
        (size - 1) * math.prod(levels[i] for i in indices)
        for size, indices in zip(levels, parents)
    )


_MODELS: dict[str, Callable[..., int]] = {
    "gaussian": lambda d, covariance="full": d + _covariance(d, covariance),
    # and the variance of the errors
    "linear_regression": lambda d, fit_intercept=True: d + fit_intercept + 1,
    "logistic_regression": _logistic_regression,
    "linear_discriminant": _linear_discriminant,
    "quadratic_discriminant": _gaussian_mixture,
    "gaussian_mixture": _gaussian_mixture,
    "naive_bayes": _naive_bayes,
    "histogram": lambda bins: bins - 1,
    "multinomial": lambda levels: levels - 1,
    "bayes_net": _bayes_net,
}


@overload
def degrees_of_freedom(model: str, **sizes: Any) -> int: ...
@overload
def degrees_of_freedom(model: object, **sizes: Any) -> int | float: ...


def degrees_of_freedom(model: Any, **sizes: Any) -> int | float:
    """How many parameters of a model are free: the k of the criteria.

    Parameters
    ----------
    model : fitted model or str
        A fitted discriminant, naive Bayes model (without kernel columns), Gaussian or histogram
        density, mixture, linear or logistic regression, or network, which counts for itself;
        columns that are constant and priors that were given are not free. A penalty leaves fewer
        effective parameters, not always whole: the trace of the map that takes y to the fitted
        values (ridge, elastic net), of H₀(H₀ + I/C)⁻¹ with the Hessian H₀ of the log-likelihood
        (logistic), of the map that takes the classes' covariances to the shrunk ones (regularized
        discriminant); coefficients that are not zero for a lasso. The cells of a histogram are
        those of the grid over the range of the rows. Mixtures of scikit-learn are taken too. Or a
        name:

        - "gaussian" (d, covariance), "gaussian_mixture" and "quadratic_discriminant" (d, K,
          covariance): means, the free entries of symmetric covariance matrices ("full", "diagonal"
          or "diag", "spherical"; one for all components: "tied", "tied_diagonal" or "tied_diag",
          "tied_spherical"; "identity": none; or by volume, shape and orientation, "EII" to "VVV" as
          `GaussianMixture` has them), K-1 shares;
        - "linear_discriminant" (d, K, covariance): means, one covariance matrix ("full",
          "diagonal", "spherical", "identity"), K-1 shares;
        - "linear_regression" (d, fit_intercept): coefficients and the variance; of a lasso, d
          are the coefficients not zero;
        - "logistic_regression" (d, K, fit_intercept): (K-1)(d+1);
        - "naive_bayes" (K, numeric, levels): numeric columns, and the levels of every categorical
          one;
        - "histogram" (bins), "multinomial" (levels): one less than the cells, as shares sum to 1;
        - "bayes_net" (levels, parents): Σ (levels - 1) · Π levels of the parents.
    **sizes
        d columns, K classes or components, and the other sizes of a named model. `shares=False`
        leaves out the K-1 shares of classes or components, where they are given.

    Returns
    -------
    int, or float for the effective parameters of a model with a penalty

    See Also
    --------
    ridge_degrees_of_freedom : Effective parameters of ridge regression.
    joint_log_likelihood : The ln L that goes with it.

    Examples
    --------
    >>> degrees_of_freedom("gaussian_mixture", d=2, K=3)
    17
    >>> degrees_of_freedom("bayes_net", levels=[2, 2, 3], parents=[[], [0], [0, 1]])
    11
    """
    if isinstance(model, str):
        return int(named_choice("model", model, _MODELS)(**sizes))
    if sizes:
        raise SettingError(
            f"a fitted model knows its own sizes: leave out {', '.join(sizes)}"
        )
    if hasattr(model, "n_parameters") and not callable(model.n_parameters):
        return int(model.n_parameters)  # a network
    if not hasattr(model, "_n_parameters"):
        raise SettingError(
            f"{type(model).__name__} has no count of free parameters: give a name from "
            f"{', '.join(map(repr, _MODELS))} with its sizes"
        )
    if hasattr(model, "fit"):
        check_is_fitted(model)
    count = model._n_parameters()
    # effective ones need not be whole
    return count if isinstance(count, float) else int(count)


def ridge_degrees_of_freedom(
    X: Any, alpha: float, *, fit_intercept: bool = True
) -> float:
    """Effective parameters of ridge regression, Σ s_j² / (s_j² + α) and the intercept.

    It is the trace of the hat matrix; s_j are the singular values of the (centered) columns.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The columns.
    alpha : float
        The penalty α.
    fit_intercept : bool, default=True
        Whether the columns are centered and the intercept counts as one parameter.

    Returns
    -------
    float

    See Also
    --------
    degrees_of_freedom : Free parameters of models without a penalty.

    Examples
    --------
    >>> round(ridge_degrees_of_freedom(np.eye(3), alpha=1.0, fit_intercept=False), 3)
    1.5
    """
    if not alpha >= 0.0:
        raise SettingError(f"alpha={alpha} must be at least 0")
    X = number_array(X, "X")
    if X.ndim != 2 or not X.size:
        raise DataError(
            f"X has shape {X.shape}: give rows by columns, at least one of each"
        )
    if fit_intercept:
        X = X - X.mean(axis=0)
    singular = np.linalg.svd(X, compute_uv=False)
    # values below the rank tolerance of `matrix_rank` are zeros: at alpha = 0 they would be 0/0
    largest = singular.max(initial=0.0)
    tolerance = largest * max(X.shape) * np.finfo(np.float64).eps
    squares = singular[singular > tolerance] ** 2
    return float((squares / (squares + alpha)).sum()) + fit_intercept

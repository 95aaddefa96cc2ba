"""Lasso, elastic net and ridge with the penalty chosen by cross-validation."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from lyceum._threads import single_threaded_blas
from lyceum.data import Rows
from lyceum.linear._columns import Centred
from lyceum.linear._elastic_net import ElasticNet, on_columns, warn_unsolved
from lyceum.linear._folds import by_columns, by_moments, fold_scatter
from lyceum.linear._least_squares import Fit, LinearPredictor
from lyceum.linear._passes import unchecked
from lyceum.linear._path import follow, grid
from lyceum.report import Summary, Table
from lyceum.solvers import GramElasticNet

__all__ = ["ElasticNetCV", "LassoCV", "RidgeCV"]

_CV_CONSTRAINTS: dict[str, Any] = {
    "alphas": [Interval(Integral, 2, None, closed="left"), "array-like"],
    "n_folds": [Interval(Integral, 2, None, closed="left")],
    "rule": [StrOptions({"best", "one_standard_error"})],
    "fit_intercept": ["boolean"],
    "random_state": [Interval(Integral, 0, None, closed="left")],
    "categorical_features": "no_validation",
}


class _Chosen(LinearPredictor):
    """A penalty chosen from the errors of left-out folds."""

    rule: str
    n_folds: int
    alpha_: float
    alphas_: np.ndarray
    mse_path_: np.ndarray
    n_rows_: int
    r2_: float
    mean_: np.ndarray
    _title: ClassVar[str]

    def _choose(self, errors: np.ndarray) -> tuple[int, int]:
        """The place of the best mean error, (l1 ratio, alpha); or the largest alpha within a standard error.

        errors : (ratios, alphas, folds), alphas falling
        """
        mean = errors.mean(axis=-1)
        ratio, alpha = (int(i) for i in np.unravel_index(np.argmin(mean), mean.shape))
        if self.rule == "one_standard_error":
            reach = errors[ratio, alpha].std(ddof=1) / np.sqrt(errors.shape[-1])
            alpha = int(np.argmax(mean[ratio] <= mean[ratio, alpha] + reach))
        return ratio, alpha

    @property
    def _at(self) -> np.ndarray:
        return self.mean_

    def summary(self) -> Summary:
        """The chosen penalty with its error on left-out rows, and the coefficients that are not zero."""
        check_is_fitted(self)
        mean = self.mse_path_.mean(axis=-1)
        at = int(np.argmin(np.abs(self.alphas_ - self.alpha_)))
        error = float(self.mse_path_[at].std(ddof=1) / np.sqrt(self.mse_path_.shape[1]))
        on = np.flatnonzero(self.coef_)
        facts = {
            "rows": self.n_rows_,
            "alpha": self.alpha_,
            **self._facts(),
            "folds": self.mse_path_.shape[1],
            "mean squared error left out": f"{mean[at]:.4g} (standard error {error:.2g})",
            "R²": self.r2_,
            "coefficients not zero": f"{len(on)} of {len(self.coef_)}",
        }
        rows = [
            (self._design_names[j], float(self.coef_[j])) for j in on[np.argsort(-np.abs(self.coef_[on]))]
        ]
        head = [("(intercept)", float(self.intercept_))] if self.fit_intercept else []
        target = self.schema_.target.name if self.schema_.target else "y"
        table = Table("coefficients that are not zero", ("column", "coefficient"), [*head, *rows])
        return Summary(f"{self._title} of {target}", facts, [table])

    def _facts(self) -> dict[str, Any]:
        return {}

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self._design_names)
        return {"coef_": (d,), "mean_": (d,)}


class ElasticNetCV(_Chosen):
    """Elastic net with alpha, and the l1 ratio if there are several, chosen by cross-validation.

    The objective is that of `ElasticNet`. A row's fold is a hash of its number and the seed. One pass sums
    the centred products of [X y] in every fold; what a fold's solutions are fitted on is the merged statistic
    of the others, and their error is read off its own, so that any number of penalties costs one pass. (With
    "columns" every fold is a path on columns in memory.)

    Parameters
    ----------
    l1_ratio : float or list of float in (0, 1], default=0.5
    alphas : int or array-like, default=100
        The penalties, or how many there are between the least at which every coefficient is zero, over all
        rows, and `eps` times that.
    eps : float, default=1e-3
    n_folds : int, default=10
        The number of folds.
    rule : {"best", "one_standard_error"}, default="best"
        Take the alpha of the least mean error, or the largest whose error is within one standard error of it.
    fit_intercept : bool, default=True
    solver : {"auto", "gram", "columns"}, default="auto"
        As in `ElasticNet`.
    tol : float, default=1e-5
    max_iter : int, default=10000
    random_state : int, default=0
        The seed of the folds.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The chosen penalty.
    alphas_ : ndarray of shape (n_alphas,)
        At the chosen l1 ratio, falling.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared errors on left-out folds at the chosen l1 ratio.
    coef_ : ndarray of shape (n_design_columns,)
    intercept_ : float
    dual_gap_ : float
    n_iter_ : int
    r2_ : float
    n_rows_ : int

    Examples
    --------
    >>> from lyceum.linear import ElasticNetCV
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, 2 * X[:, 0] + X[:, 1])
    >>> model.l1_ratio_, model.coef_.round(1).tolist()
    (1.0, [2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    """

    _coding: ClassVar[Literal["codes", "one_of_c", "reference"]] = "one_of_c"
    _title: ClassVar[str] = "Cross-validated elastic net"
    _parameter_constraints: ClassVar[dict] = {
        "l1_ratio": [Interval(Real, 0, 1, closed="right"), "array-like"],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        **{name: ElasticNet._parameter_constraints[name] for name in ("solver", "tol", "max_iter")},
        **_CV_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        alphas: Any = 100,
        eps: float = 1e-3,
        n_folds: int = 10,
        rule: str = "best",
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-5,
        max_iter: int = 10_000,
        random_state: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.l1_ratio = l1_ratio
        self.alphas = alphas
        self.eps = eps
        self.n_folds = n_folds
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _ratios(self) -> np.ndarray:
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        if not len(ratios) or not ((ratios > 0) & (ratios <= 1)).all():
            raise ValueError(f"l1_ratio={self.l1_ratio!r}: give numbers above 0 and up to 1")
        return ratios

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Learn the penalty and the coefficients; one pass over the rows, or a path a fold on columns.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows, ratios = self._rows(X, y, sample_weight), self._ratios
        with single_threaded_blas():
            folds = None if self._on_columns(rows) else fold_scatter(rows, self.n_folds, self.random_state)
            whole = (
                Centred.of_rows(rows, self.fit_intercept)
                if folds is None
                else Centred.of_moments(folds.total, self.fit_intercept)
            )
            grids = [grid(whole.problem, ratio, self.alphas, self.eps) for ratio in ratios]
            fitters = [partial(self._coefs, alphas, ratio) for alphas, ratio in zip(grids, ratios)]
            if folds is None:
                errors = by_columns(
                    unchecked(rows), self.n_folds, self.random_state, self.fit_intercept, fitters
                )
            else:
                errors = by_moments(folds, self.fit_intercept, fitters)
            at, alpha = self._choose(errors)
            self.l1_ratio_, self.alphas_, self.mse_path_ = float(ratios[at]), grids[at], errors[at]
            self._finish(whole, grids[at][: alpha + 1])
        return self

    def _on_columns(self, rows: Rows) -> bool:
        return on_columns(rows, self.solver, True)

    def _coefs(self, alphas: np.ndarray, l1_ratio: float, centred: Centred) -> np.ndarray:
        return np.array(
            [one.coef for one in follow(centred.problem, alphas, l1_ratio, self.tol, self.max_iter)]
        )

    def _finish(self, whole: Centred, alphas: np.ndarray) -> None:
        found = follow(whole.problem, alphas, self.l1_ratio_, self.tol, self.max_iter)[-1]
        self.alpha_, self.coef_ = float(alphas[-1]), found.coef
        self.intercept_ = whole.intercept(found.coef) if self.fit_intercept else 0.0
        self.mean_, self.n_rows_ = whole.x_mean, whole.n_rows
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter
        yy = whole.problem.yy
        self.r2_ = 1.0 - whole.problem.squares(found.coef) / yy if yy > 0 else np.nan
        warn_unsolved(self, found, self.tol * yy, self.max_iter)

    def _facts(self) -> dict[str, Any]:
        return {"l1 ratio": self.l1_ratio_, "duality gap": self.dual_gap_}


class LassoCV(ElasticNetCV):
    """Lasso with alpha chosen by cross-validation: `ElasticNetCV` at l1_ratio=1.

    Ten folds at a hundred penalties cost about one pass over the rows.

    Parameters
    ----------
    alphas : int or array-like, default=100
    eps : float, default=1e-3
    n_folds : int, default=10
    rule : {"best", "one_standard_error"}, default="best"
    fit_intercept : bool, default=True
    solver : {"auto", "gram", "columns"}, default="auto"
    tol : float, default=1e-5
    max_iter : int, default=10000
    random_state : int, default=0
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"

    Examples
    --------
    >>> from lyceum.linear import LassoCV
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> model = LassoCV(rule="one_standard_error").fit(X, X[:, 3] - X[:, 7] + rng.normal(size=300))
    >>> np.flatnonzero(model.coef_).tolist()
    [3, 7]
    """

    _title: ClassVar[str] = "Cross-validated lasso"
    _parameter_constraints: ClassVar[dict] = {
        name: rule for name, rule in ElasticNetCV._parameter_constraints.items() if name != "l1_ratio"
    }

    def __init__(
        self,
        *,
        alphas: Any = 100,
        eps: float = 1e-3,
        n_folds: int = 10,
        rule: str = "best",
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-5,
        max_iter: int = 10_000,
        random_state: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.alphas = alphas
        self.eps = eps
        self.n_folds = n_folds
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _ratios(self) -> np.ndarray:
        return np.ones(1)


class RidgeCV(_Chosen):
    """Ridge regression with alpha chosen by cross-validation, in one pass over the rows.

    The objective is that of `Ridge`, Σ w (y - b₀ - x·b)² + alpha Σ b². With XᵀWX = V Λ Vᵀ over the rows of
    the other folds, b = V (Λ + alpha)⁻¹ Vᵀ XᵀWy: one eigendecomposition a fold serves every alpha.

    Parameters
    ----------
    alphas : int or array-like, default=100
        The penalties, or how many there are, from 10 times the largest eigenvalue of XᵀWX down to `eps` times
        that.
    eps : float, default=1e-9
    n_folds : int, default=10
        The number of folds; a row's fold is a hash of its number and the seed.
    rule : {"best", "one_standard_error"}, default="best"
    fit_intercept : bool, default=True
    random_state : int, default=0
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"

    Attributes
    ----------
    alpha_ : float
    alphas_ : ndarray of shape (n_alphas,)
        Falling.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
    coef_ : ndarray of shape (n_design_columns,)
    intercept_ : float
    r2_ : float
    n_rows_ : int

    Examples
    --------
    >>> from lyceum.linear import RidgeCV
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, X @ [1.0, 2.0, 3.0]).alpha_
    0.01
    """

    _coding: ClassVar[Literal["codes", "one_of_c", "reference"]] = "one_of_c"
    _title: ClassVar[str] = "Cross-validated ridge regression"
    _parameter_constraints: ClassVar[dict] = {
        "eps": [Interval(Real, 0, 1, closed="neither")],
        **_CV_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        alphas: Any = 100,
        eps: float = 1e-9,
        n_folds: int = 10,
        rule: str = "best",
        fit_intercept: bool = True,
        random_state: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.alphas = alphas
        self.eps = eps
        self.n_folds = n_folds
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Learn the penalty and the coefficients in one pass.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        with single_threaded_blas():
            folds = fold_scatter(rows, self.n_folds, self.random_state)
            total = folds.total if self.fit_intercept else folds.total.about_origin()
            self.alphas_ = self._grid(total.xx)
            errors = by_moments(folds, self.fit_intercept, [partial(_ridges, self.alphas_)])
            self.mse_path_ = errors[0]
            fit = Fit.of(total, float(self.alphas_[self._choose(errors)[1]]))
        self.alpha_, self.coef_ = fit.alpha, fit.coef
        self.intercept_ = fit.intercept if self.fit_intercept else 0.0
        self.mean_, self.n_rows_ = total.x_mean, total.n_rows
        self.r2_ = 1.0 - fit.residual / total.yy if total.yy > 0 else np.nan
        return self

    def _grid(self, xx: np.ndarray) -> np.ndarray:
        if isinstance(self.alphas, Integral):
            most = 10 * float(np.linalg.eigvalsh(xx)[-1]) or 1.0
            return np.geomspace(most, most * self.eps, int(self.alphas))
        values = np.sort(np.asarray(self.alphas, dtype=np.float64).ravel())[::-1]
        if not len(values) or not np.isfinite(values).all() or values[-1] <= 0:
            raise ValueError("alphas must be positive numbers")
        return values


def _ridges(alphas: np.ndarray, centred: Centred) -> np.ndarray:
    """The coefficients at every alpha, (k, d); the problem's products are per unit of weight."""
    problem = centred.problem
    assert isinstance(problem, GramElasticNet)
    values, vectors = np.linalg.eigh(problem.Q)
    turned = vectors.T @ problem.q
    return (turned / (np.maximum(values, 0.0) + alphas[:, None] / centred.weight)) @ vectors.T

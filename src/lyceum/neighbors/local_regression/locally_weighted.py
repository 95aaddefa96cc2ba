"""Locally weighted regression: a small regression about every query."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Regressor
from lyceum._core.constraints import Interval, Options, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.text import show, show_count
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError, number_setting
from lyceum.neighbors.local_regression.fits import (
    LocalFit,
    LocalModel,
    bandwidths_to_try,
    check_start,
    descend_as_given,
    descend_at,
    n_terms,
    polynomial_at,
)
from lyceum.neighbors.local_regression.kernels import KERNELS, criterion
from lyceum.neighbors.local_regression.local_lines import (
    LocalLineExplanation,
    lines_table,
    local_lines,
)
from lyceum.neighbors.stored_rows import StoredRows, as_cells
from lyceum.report import Summary, Table

_COUNT = Interval(Integral, 1, None, closed="left")
_CHOSEN_ON = 2000  # rows that a bandwidth is chosen on
_JUDGED_ON = 1000  # rows that the noise is estimated from
_TRIED = 12  # bandwidths or numbers of neighbors
_FARTHEST = "the farthest neighbor's distance"


class LocallyWeightedRegression(Regressor, StoredRows):
    """Locally weighted regression (loess): a polynomial fitted about every query x by weighted
    least squares.

        f(x) = p(x),   p = argmin Σ_i K(d(x, x_i) / h) (y_i - p(x_i))²,   p of degree 0, 1 or 2,

    over the k nearest rows alike (criterion E1, `kernel="uniform"`), over all rows with a kernel
    (E2, `n_neighbors="all"`), or over the k nearest rows with a kernel (E3, the default). Where the
    rows of a neighborhood do not determine the polynomial, it is the one of least norm (see
    `degenerate_share_`). A row of weight 2 counts as two rows. Categories are one-of-C columns. All
    rows are kept in memory.

    Parameters
    ----------
    n_neighbors : int, "all", "leave_one_out" or None, default=None
        The size of a neighborhood; None takes max(30, 3 p) for p terms. "leave_one_out": that
        of the lowest leave-one-out error on up to 2,000 rows.
    degree : {0, 1, 2}, default=1
        The degree of the polynomial: constant, linear or quadratic.
    kernel : str, default="tricube"
        K(u): "tricube" (1 - u³)³, "epanechnikov" 1 - u², "gaussian" exp(-u²/2),
        "exponential_square" exp(-u²), "uniform" 1, "inverse" 1/u, "inverse_square" 1/u²,
        "shifted_inverse_square" 1/(1 + u)². With 1/u an exact hit returns its value.
    bandwidth : float, "nearest" or "leave_one_out", default="nearest"
        h. "nearest": the distance of the farthest neighbor, or of the max(30, 3 p)-th of all rows.
        "leave_one_out": the one number for all queries of the lowest leave-one-out error.
    standardize : bool, "range" or array of shape (d,), default=True
        What every column of numbers is divided by before distances are taken: its standard
        deviation, its range, or a number.
    solver : {"direct", "gradient_descent"}, default="direct"
        How the small problems are solved: at once, or by weighted gradient descent.
    learning_rate : float, default=1.0
        The step of gradient descent, in units of the largest one that is certain to descend (below
        2); η itself where `coef_init` is given.
    coef_init : array of shape (n_terms,) or None, default=None
        Where gradient descent starts, b0 first: the steps are then those on paper, Δb = η Σ_i K_i
        (y_i - p(x_i)) t_i with the terms t of the columns as they are. None: from 0, on terms about
        their means and in units of length 1. `descend` shows the steps.
    max_steps : int, default=1000
        The most steps of gradient descent.
    robust : int, default=0
        How often rows are weighed anew by their residuals r, with the bisquare
        (1 - (r / 6 median |r|)²)², so that outliers count little: robust loess; 4 is customary.
    clip : bool, default=False
        Whether predictions stay within the range of the stored targets. Without, a local line may
        lead far out of it where rows are few or on one side; a warning says so.
    tol : float, default=1e-8
        Gradient descent stops when no coefficient changes by more than this share of the largest.

    Attributes
    ----------
    n_neighbors_ : int
        The size of a neighborhood; all rows if it is "all".
    bandwidth_ : float
        h; NaN where it is the distance of the farthest neighbor.
    tried_, errors_ : arrays
        Where one is chosen: the bandwidths or numbers of neighbors, and their leave-one-out
        errors.
    sigma_ : float
        The standard deviation of the noise, from the residuals of up to 1,000 rows; NaN if they fit
        exactly.
    effective_degrees_ : float
        The effective number of parameters, the trace of the hat matrix.
    degenerate_share_ : float
        The share of up to 1,000 stored rows whose neighborhood does not determine all terms.
    rows_ : array of shape (n, d)
        The stored rows.
    targets_ : array of shape (n,)
        Their targets.
    weights_ : array of shape (n,)
        Their weights.
    robustness_ : array of shape (n,)
        With `robust`, the factors on the weights of the stored rows.
    metric_ : Metric
        The Euclidean distance.
    center_, scale_ : arrays of shape (d,)
        What is subtracted from every column, and what it is divided by.

    See Also
    --------
    KNeighborsRegressor : the mean of the neighbors.
    lyceum.linear.LinearRegression : one plane for all rows.

    References
    ----------
    Cleveland, W. S. and Devlin, S. J. (1988). Locally weighted regression. JASA 83(403).
    Atkeson, C. G., Moore, A. W. and Schaal, S. (1997). Locally weighted learning. Artificial
    Intelligence Review 11.
    Cleveland, W. S. (1979). Robust locally weighted regression and smoothing scatterplots. JASA
    74(368).

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.neighbors import LocallyWeightedRegression
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = LocallyWeightedRegression().fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0], [2.5]]).round(2).tolist()
    [0.83, 0.59]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [_COUNT, StrOptions({"all", "leave_one_out"}), None],
        "degree": [Options(Integral, {0, 1, 2})],
        "kernel": [StrOptions(set(KERNELS))],
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"nearest", "leave_one_out"}),
        ],
        "standardize": ["boolean", StrOptions({"range"}), "array-like"],
        "solver": [StrOptions({"direct", "gradient_descent"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "coef_init": ["array-like", None],
        "max_steps": [_COUNT],
        "robust": [Interval(Integral, 0, None, closed="left")],
        "clip": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    metric = "euclidean"
    _missing_advice = ""  # the metric is no parameter
    metric_params = None

    def __init__(
        self,
        *,
        n_neighbors: int | str | None = None,
        degree: int = 1,
        kernel: str = "tricube",
        bandwidth: float | str = "nearest",
        standardize: Any = True,
        solver: str = "direct",
        learning_rate: float = 1.0,
        coef_init: ArrayLike | None = None,
        max_steps: int = 1000,
        robust: int = 0,
        clip: bool = False,
        tol: float = 1e-8,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.solver = solver
        self.learning_rate = learning_rate
        self.coef_init = coef_init
        self.max_steps = max_steps
        self.robust = robust
        self.clip = clip
        self.tol = tol
        self.categorical_features = categorical_features

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return False

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Store the rows, choose the bandwidth if that is wanted, and estimate the noise.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        self._keep(self._gather(self._rows(X, y, sample_weight)))
        return self._finish()

    def partial_fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Store more rows; the result is that of one `fit` on all rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        known = getattr(self, "schema_", None)
        block = self._gather(self._more_rows(X, y, sample_weight))
        self._keep_more(block, known)
        return self._finish()

    def _alternative(self) -> str:
        return (
            "lyceum.trees.DecisionTreeRegressor or lyceum.linear.LinearRegression with"
            " BasisExpansion"
        )

    def _finish(self):
        for name in {"tried_", "errors_", "robustness_"} & self.__dict__.keys():
            delattr(self, name)
        self._check_settings()
        total = max(1, int(np.ceil(self.weights_.sum())))
        if self.n_neighbors == "all":
            self.n_neighbors_ = total
        elif self.n_neighbors in (None, "leave_one_out"):
            self.n_neighbors_ = min(self._enough, total)
        else:
            self.n_neighbors_ = min(int(self.n_neighbors), total)
        self.bandwidth_ = np.nan
        if not isinstance(self.bandwidth, str):
            self.bandwidth_ = float(self.bandwidth)
        if len(self.weights_) > 2:
            self._choose()
        for _ in range(self.robust):
            self.robustness_ = self._model().residual_weights(self.weights_)
        self._judge()
        return self

    def _check_settings(self) -> None:
        if self.n_neighbors == "leave_one_out" and self.bandwidth == "leave_one_out":
            raise SettingError(
                "n_neighbors and bandwidth cannot both be chosen by leave-one-out: choose one"
            )
        if self.coef_init is None:
            if self.learning_rate >= 2:
                raise SettingError(
                    f"learning_rate={self.learning_rate:g} is in units of the largest step that is"
                    " certain to descend and would run away: give less than 2, or coef_init for a"
                    " rate as on paper"
                )
            return
        if self.solver == "direct":
            raise SettingError("coef_init is where solver='gradient_descent' starts")
        terms = n_terms(self.rows_.shape[1], self.degree)
        check_start("coef_init", self.coef_init, terms)

    def _learn_scale(self, rows: Rows) -> None:
        if isinstance(self.standardize, bool | str):
            return super()._learn_scale(rows)
        scale = number_setting("standardize", self.standardize)
        d = self.rows_.shape[1]
        are_positive = (scale > 0) & np.isfinite(scale)
        if scale.shape != (d,) or not are_positive.all():
            raise SettingError(
                f"standardize must be {d} positive numbers, one per column, but it is"
                f" {self.standardize!r}"
            )
        self.center_ = np.average(self.rows_, axis=0, weights=self.weights_)
        self.scale_ = scale
        return None

    @property
    def _enough(self) -> int:
        return max(30, 3 * n_terms(self.rows_.shape[1], self.degree))

    def _model(
        self, n_neighbors: int | None = None, bandwidth: float | None = None
    ) -> LocalModel:
        k = n_neighbors or self.n_neighbors_
        h = self.bandwidth_ if bandwidth is None else bandwidth
        counts_once = (self.weights_ == 1.0).all()
        descends = self.solver == "gradient_descent"
        start = None
        if self.coef_init is not None:
            start = number_setting("coef_init", self.coef_init)
        return LocalModel(
            index=self._neighbor_index,
            X=np.ascontiguousarray(self._points(self.rows_), dtype=np.float64),
            y=self.targets_,
            weights=None if counts_once else self.weights_,
            degree=int(self.degree),
            kernel=self.kernel,
            n_neighbors=None if self.n_neighbors == "all" else k,
            bandwidth=None if np.isnan(h) else float(h),
            n_nearest=self._enough,
            steps=int(self.max_steps) if descends else 0,
            rate=float(self.learning_rate),
            tolerance=float(self.tol),
            robustness=getattr(self, "robustness_", None),
            clips=bool(self.clip),
            start=start,
            units=(self.center_, self.scale_),
        )

    # -- choice of a bandwidth ---------------------------------------------------------

    def _choose(self) -> None:
        n = len(self.weights_)
        some = _evenly_spaced(n, _CHOSEN_ON)
        if self.n_neighbors == "leave_one_out":
            # from just enough rows for all terms to many times as many, evenly in the logarithm
            fewest = min(n_terms(self.rows_.shape[1], self.degree) + 1, n - 1)
            most = max(fewest, min(n - 1, 20 * self._enough))
            tried = np.unique(np.geomspace(fewest, most, _TRIED).round())
            models = [self._model(n_neighbors=int(k)) for k in tried]
        elif self.bandwidth == "leave_one_out":
            near = n_terms(self.rows_.shape[1], self.degree) + 2
            points = self._points(self.rows_)
            tried = bandwidths_to_try(self._neighbor_index, points, some, near, _TRIED)
            models = [self._model(bandwidth=float(h)) for h in tried]
        else:
            return
        errors = [model.leave_one_out(some, self.weights_) for model in models]
        self.tried_ = tried
        self.errors_ = np.array(errors)
        best = tried[self.errors_.argmin()]
        if self.n_neighbors == "leave_one_out":
            self.n_neighbors_ = int(best)
        else:
            self.bandwidth_ = float(best)

    def _judge(self) -> None:
        """The noise, the trace of the hat matrix and the share of degenerate fits, from some
        rows."""
        n = len(self.weights_)
        judgment = self._model().judge(_evenly_spaced(n, _JUDGED_ON), self.weights_)
        self.sigma_, self.effective_degrees_, self.degenerate_share_ = judgment

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data, return_std: bool = False) -> Any:
        """The fitted values, and their standard errors if wanted.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to give the standard errors of the fitted values, σ |l(x)|, too.

        Returns
        -------
        array of shape (n_samples,), or two of them
        """
        n_listed = min(getattr(self, "n_neighbors_", 1), 64)
        if not return_std:
            values = self._apply_to_all(self._values, X, n_listed)
            self._warn_of_wild(values)
            return values
        both = self._apply_to_all(self._values_and_errors, X, n_listed)
        self._warn_of_wild(both[:, 0])
        return both[:, 0], both[:, 1]

    def _warn_of_wild(self, values: Any) -> None:
        """Say where predictions are farther outside of the targets than these are apart."""
        if self.clip or not isinstance(values, np.ndarray):
            return
        low = self.targets_.min()
        high = self.targets_.max()
        reach = high - low
        is_wild = (values < low - reach) | (values > high + reach)
        if reach and is_wild.any():
            warnings.warn(
                f"{show_count(int(is_wild.sum()), 'prediction')} from {show(values.min())} to"
                f" {show(values.max())} extrapolate far out of the targets, {show(low)} to"
                f" {show(high)}: clip=True keeps them inside; more neighbors or degree=0 are"
                " steadier",
                UserWarning,
                stacklevel=3,
            )

    def _values(self, block: Block) -> np.ndarray:
        return self._fit_block(block).value

    def _values_and_errors(self, block: Block) -> np.ndarray:
        fit = self._fit_block(block)
        return np.column_stack([fit.value, self.sigma_ * np.sqrt(fit.norm)])

    def _fit_block(self, block: Block) -> LocalFit:
        return self._model().at(self._float_points(as_cells(block)))

    def _float_points(self, cells: Any) -> np.ndarray:
        return np.asarray(self._points(cells), dtype=np.float64)

    def neighborhood(self, x: ArrayLike) -> dict[str, Any]:
        """The rows about one query and the polynomial through them.

        Parameters
        ----------
        x : float or array of shape (n_features,)

        Returns
        -------
        dict
            `rows` stored and their `weights`; for one column `polynomial`, a function of its
            values.
        """
        check_is_fitted(self)
        query = np.asarray(x, dtype=np.float64).reshape(1, -1)
        block = self.rows_to_predict(query).in_one_block(type(self).__name__)
        points = self._float_points(as_cells(block))
        return polynomial_at(self._model(), points, query, self.scale_)

    def descend(
        self,
        x: ArrayLike,
        *,
        learning_rate: float | None = None,
        start: ArrayLike | None = None,
    ) -> list[dict[str, Any]]:
        """Weighted gradient descent at one query, step by step.

        A step adds η Σ_i K_i (y_i - p(x_i)) t_i, with t_i the terms of row i: 1, its columns, and
        for degree 2 their products. They are taken about their means and in units of length 1,
        from 0 and with the rate of the learner; or as they are, as on paper, if a rate or a start
        is given here or a `coef_init` to the learner.

        Parameters
        ----------
        x : array of shape (n_features,)
        learning_rate : float, optional
            η itself; by default that of the learner.
        start : array of shape (n_terms,), optional
            The coefficients to start from, b0 first; by default `coef_init`, or 0.

        Returns
        -------
        list of dict
            For every step its number `step`, the weighted squared error `objective`, the
            `coefficients` and the `value` at x.
        """
        rows = self.rows_to_predict(np.asarray(x, dtype=np.float64).reshape(1, -1))
        block = rows.in_one_block(type(self).__name__)
        points = self._float_points(as_cells(block))
        rate = self.learning_rate if learning_rate is None else learning_rate
        start = self.coef_init if start is None else start
        limits: dict[str, Any] = {"max_steps": int(self.max_steps), "tol": self.tol}
        if learning_rate is None and start is None:
            return descend_at(self._model(), points, rate, **limits)
        return descend_as_given(self._model(), points, rate, start, **limits)

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> LocalLineExplanation:
        """What every column adds: the slope of the local fit times the distance from the column's
        mean; and the local line itself, b0 + b1 x, with the weights of its rows.

        The base is what is left of the prediction. A fit of degree 0 has no slopes; one of degree 2
        has the line that touches it at the row.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        LocalLineExplanation
        """
        schema = getattr(self, "schema_", None)
        unit = "y" if schema is None else schema.target_name
        explanation, block = self._explain_in_memory(X, self._slopes, unit)
        cells = np.asarray(as_cells(block), dtype=np.float64)
        lines = local_lines(
            self._model(), cells, self._float_points(cells), self.scale_
        )
        return explanation.extend(
            LocalLineExplanation, terms=list(self.design_names), **lines
        )

    def _slopes(self, block: Block) -> np.ndarray:
        fit = self._fit_block(block)
        points = self._float_points(as_cells(block))
        stored = self._float_points(self.rows_)
        mean = np.average(stored, axis=0, weights=self.weights_)
        added = fit.gradient * (points - mean)
        base = fit.value - added.sum(axis=1)
        return np.column_stack([fit.value, base, added])

    def summary(self) -> Summary:
        """The neighborhood, how it was chosen, the noise, and local lines: of one column along its
        range, of several at their means."""
        head = super().summary()
        standardize = self.standardize
        if not isinstance(standardize, bool | str):
            standardize = "by given numbers"
        facts = {
            **head.facts,
            "stored rows": len(self.weights_),
            "degree": self.degree,
            "criterion": criterion(self.kernel, self.n_neighbors == "all"),
            "kernel": self.kernel,
            "neighbors k": "all" if self.n_neighbors == "all" else self.n_neighbors_,
            "bandwidth": _FARTHEST if np.isnan(self.bandwidth_) else self.bandwidth_,
            "standardize": standardize,
            "solver": self.solver.replace("_", " "),
            "noise σ": None if np.isnan(self.sigma_) else self.sigma_,
            "degrees of freedom": self.effective_degrees_,
            "degenerate fits": f"{self.degenerate_share_:.1%}",
        }
        tables = []
        if hasattr(self, "errors_"):
            name = "k" if self.n_neighbors == "leave_one_out" else "bandwidth"
            rows = list(zip(self.tried_.tolist(), self.errors_.tolist()))
            tables = [Table("Leave-one-out errors", (name, "mean squared error"), rows)]
        if self.robust:
            facts["rows of robust weight 0"] = int((self.robustness_ == 0).sum())
        tables.append(self._lines_table())
        return Summary(head.title, facts, tables)

    def _lines_table(self) -> Table:
        stored = np.asarray(self.rows_, dtype=np.float64)
        cells = np.average(stored, axis=0, weights=self.weights_)[None]
        if stored.shape[1] == 1:
            cells = np.unique(np.quantile(stored, [0, 0.25, 0.5, 0.75, 1]))[:, None]
        lines = local_lines(
            self._model(), cells, self._float_points(cells), self.scale_
        )
        return lines_table(list(self.design_names), cells, lines)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = super()._shapes()
        if self.robust:
            shapes["robustness_"] = (len(self.weights_),)
        return shapes


def _evenly_spaced(n: int, most: int) -> np.ndarray:
    """At most `most` of the numbers of n rows."""
    numbers = np.linspace(0, n - 1, min(n, most))
    return np.unique(numbers.astype(np.int64))

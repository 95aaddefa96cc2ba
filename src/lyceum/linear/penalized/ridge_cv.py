"""Ridge regression with the penalty chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.routing import Route
from lyceum._core.solvers import GramElasticNet
from lyceum._core.statistics import Folds, RowSpace, Scatter, is_wide
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.linear.least_squares.base import Fit
from lyceum.linear.penalized.centered_problem import CenteredProblem
from lyceum.linear.penalized.penalty_cv import (
    CV_CONSTRAINTS,
    PenaltyCV,
    by_moments,
    scatters,
)
from lyceum.linear.penalized.regularization_path import (
    falling_penalties,
    given_penalties,
)
from lyceum.linear.row_passes import first_pass, without_checks
from lyceum.linear.several_targets import (
    fit_each_target,
    has_several_targets,
    n_targets,
    target_columns,
)


class RidgeCV(PenaltyCV):
    """Ridge regression with alpha chosen by leaving out every row in turn, or by cross-validation.

    The objective is that of `Ridge`, Σ w (y - b₀ - x·b)² + alpha Σ b². With XᵀWX = V Λ Vᵀ over the
    rows, b = V (Λ + alpha)⁻¹ Vᵀ XᵀWy: one eigendecomposition serves every alpha. Without `cv`, the
    error of a row left out is r / (1 - h), with its residual r and its leverage h = w [1/Σw + zᵀ (Λ
    + alpha)⁻¹ z], z = Vᵀ(x - x̄): one more pass over the rows. With `cv`, the decomposition is that
    of every fold's other rows.

    Parameters
    ----------
    alphas : float or array-like, default=(0.1, 1.0, 10.0)
        The penalties.
    n_alphas : int, default=None
        The number of penalties in the place of `alphas`, from 10 times the largest eigenvalue of
        XᵀWX down to `eps` times that.
    scoring : str, callable or None, default=None
        scikit-learn's name of a score, or a scorer; None is the mean squared error.
    cv : int, splitter, list of splits or None, default=None
        None: every row is left out in turn. Else as in `LassoCV`.
    store_cv_results : bool, default=False
        Whether to keep `cv_results_`, where every row is left out in turn.
    alpha_per_target : bool, default=False
        Whether every column of y has a penalty of its own.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
        The chosen penalty.
    best_score_ : float or array of shape (n_targets,)
        Its score: that of `scoring`; else minus its mean squared error, and with `cv` the mean R²
        of left-out folds.
    alphas_ : ndarray of shape (n_alphas,)
        Falling.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared errors on left-out folds, or over all rows, each left out; with `scoring`,
        minus the scores.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With `store_cv_results`, in the order of `alphas`: w times the squared error of every row
        left out; with `scoring`, its prediction.
    r2_ : float
        The share of the variance of y explained on the rows of `fit`.
    effective_degrees_ : float
        As in `Ridge`.
    n_undetermined_ : int
        As in `Ridge`: above zero only where the chosen penalty is below rounding.
    seed_ : int
        The seed of the folds.
    mean_ : ndarray of shape (n_design_columns,)
        The means of the design columns, from which explanations start.

    See Also
    --------
    Ridge : The same model at a given penalty.
    LassoCV : Lasso with its penalty chosen by cross-validation.

    References
    ----------
    Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems.
    Stone (1974), Cross-validatory choice and assessment of statistical predictions, JRSS B 36.

    Examples
    --------
    >>> from lyceum.linear import RidgeCV
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, X @ [1.0, 2.0, 3.0]).alpha_
    0.01

    """

    _coding = "one_hot"
    _parameter_constraints: ClassVar[dict] = {
        "scoring": [str, callable, None],
        "gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None],
        "store_cv_results": ["boolean"],
        "alpha_per_target": ["boolean"],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        **CV_CONSTRAINTS,
        "alphas": [Real, "array-like"],
        "n_alphas": [Interval(Integral, 2, None, closed="left"), None],
    }
    _without_effect: ClassVar[dict[str, str]] = {
        "gcv_mode": "the smaller of the two matrices is decomposed"
    }

    def __init__(
        self,
        alphas: ArrayLike = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        n_alphas: int | None = None,
        eps: float = 1e-9,
        choice: str = "best",
        standardize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.n_alphas = n_alphas
        self.eps = eps
        self.choice = choice
        self.standardize = standardize
        self.random_state = random_state
        self.categorical_features = categorical_features

    best_score_: Any
    cv_results_: np.ndarray

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn the penalty and the coefficients.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,) or (n_samples, n_targets), if not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        self._check_settings()
        if self.gcv_mode == "svd" and sparse.issparse(X):
            warnings.warn(
                "The 'svd' mode is not supported for sparse X, and without effect here: leave"
                " gcv_mode out",
                FutureWarning,
                stacklevel=3,
            )
        if has_several_targets(y) and n_targets(y) == 1:
            # as in scikit-learn, coefficients are flat and what was left out is not
            self._fit_target(X, target_columns(y)[0], sample_weight)
            if self.store_cv_results:
                self.cv_results_ = self.cv_results_[:, None, :]
            return self
        if has_several_targets(y):
            return self._fit_targets(X, y, sample_weight)
        self._fit_target(X, y, sample_weight)
        return self

    def _fit_target(self, X: Data, y: Target, sample_weight: Weights) -> np.ndarray:
        """Fit one target; the loss of every alpha, falling, on all that was left out."""
        rows = self._rows(X, y, sample_weight)
        self.__dict__.pop("cv_results_", None)
        space = None
        rows, factors = self._unit_columns(rows)
        # with fewer rows than columns b lies in their space, and its squared length, the penalty,
        # is the same in any orthonormal coordinates of it
        if is_wide(rows):
            space = RowSpace.of(rows, type(self).__name__, self.fit_intercept)
            rows = space.rows
        if self.cv is None and self.random_state is None:
            total, losses = self._leave_each_out(rows)
        else:
            total, losses = self._leave_folds_out(rows)
        self._set_results(Fit.of(total, self.alpha_), space, factors)
        return losses

    def _routes(self) -> list[Route]:
        scorer = None if self.scoring is None else _scorer(self.scoring)
        return [*super()._routes(), Route("scorer", scorer, (("fit", "score"),))]

    def _check_settings(self) -> None:
        """Refuse unknown scores, and what only leaving out every row in turn gives."""
        if self.scoring is not None:
            _scorer(self.scoring)
        if self.cv is not None and self.store_cv_results:
            raise SettingError("cv!=None and store_cv_results=True are incompatible")
        if self.cv is not None and self.alpha_per_target:
            raise SettingError("cv!=None and alpha_per_target=True are incompatible")

    def _leave_each_out(self, rows: Rows) -> tuple[Scatter, np.ndarray]:
        """Choose alpha by the errors of rows that are left out one at a time."""
        statistic = first_pass(rows, partial(Scatter.of, target=True))
        _refuse_one_row(statistic.n_rows)
        total = statistic if self.fit_intercept else statistic.about_origin()
        given = self._grid(total.xx, in_order=True)
        left_out = LeftOut.of(total, given, self.fit_intercept)
        again = without_checks(rows)
        predictions = np.asarray(again.collect(left_out.predictions))
        y = np.asarray(rows.y, dtype=np.float64)
        w = rows.sample_weight
        errors = self._losses(predictions, y, w)
        order = np.argsort(-given, kind="stable")
        self.alphas_ = given[order]
        self.mse_path_ = errors[order][:, None]
        chosen = int(np.argmin(errors))
        self.alpha_ = float(given[chosen])
        self.best_score_ = -float(errors[chosen])
        self.seed_ = 0
        return total, errors[order]

    def _losses(self, predictions: np.ndarray, y: np.ndarray, w: Any) -> np.ndarray:
        """The mean squared error of every alpha, or minus its score."""
        squares = (y[:, None] - predictions) ** 2
        if w is not None:
            squares = np.asarray(w)[:, None] * squares
        if self.store_cv_results:
            self.cv_results_ = squares if self.scoring is None else predictions
        if self.scoring is None:
            return squares.mean(axis=0)
        scorer = _scorer(self.scoring)
        own = {} if w is None else {"sample_weight": w}
        scores = [scorer(_Itself(), p, y, **own) for p in predictions.T]
        return -np.array(scores)

    def _leave_folds_out(self, rows: Rows) -> tuple[Scatter, np.ndarray]:
        """Choose alpha by the errors on left-out folds."""
        split = self._folds(rows)
        folds = scatters(split, rows)
        total = folds.total if self.fit_intercept else folds.total.about_origin()
        self.alphas_ = self._grid(total.xx)
        ridges = partial(_ridges, self.alphas_)
        if self.scoring is None:
            errors = by_moments(folds, self.fit_intercept, [ridges])
            # scikit-learn's score of a fold is R²: its error is compared with its own variance
            tests = [
                test for train, test in folds.pairs if train.weight and test.weight
            ]
            variances = np.array([test.yy / test.weight for test in tests])
            losses = errors / np.where(variances > 0, variances, 1.0) - 1.0
        else:
            errors = self._minus_scores(without_checks(rows), split, ridges)[None]
            losses = errors
        self.mse_path_ = errors[0]
        chosen = self._choose(losses)[1]
        self.alpha_ = float(self.alphas_[chosen])
        means = losses[0].mean(axis=1)
        self.best_score_ = -float(means[chosen])
        return total, means

    def _minus_scores(self, rows: Rows, split: Folds, ridges: Any) -> np.ndarray:
        """Minus the score of every alpha on every left-out fold, (n_alphas, n_folds)."""
        scorer = _scorer(self.scoring)
        columns = []
        for train, test in split.parts(rows):
            scatter = train.reduce(partial(Scatter.of, target=True))
            centered = CenteredProblem.of_moments(scatter, self.fit_intercept)
            coefs = ridges(centered)
            intercepts = centered.y_mean - coefs @ centered.x_mean
            block = test.in_one_block(type(self).__name__)
            fitted = block.X @ coefs.T + intercepts
            own = {} if block.w is None else {"sample_weight": block.w}
            columns.append([-scorer(_Itself(), p, block.y, **own) for p in fitted.T])
        return np.array(columns).T

    def _fit_targets(self, X: Data, y: Target, sample_weight: Weights) -> Any:
        """One penalty for all columns of y, that of the least mean error, or one for each."""
        columns = target_columns(y)
        # splits that can be read once are kept for every target
        splits = list(self.cv) if isinstance(self.cv, Iterator) else self.cv
        is_joint = splits is None and not self.alpha_per_target
        is_joint = is_joint and self.scoring is not None
        models = self._single_models(splits, len(columns), is_joint)
        losses = [
            model._fit_target(X, column, sample_weight)
            for model, column in zip(models, columns)
        ]
        stored = [vars(model).get("cv_results_") for model in models]
        scores: Any = np.array([model.best_score_ for model in models])
        own: dict[str, Any] = {"cv": splits}
        if not self.alpha_per_target:
            loss = np.mean(losses, axis=0)
            if is_joint:
                loss = self._joint_losses(stored, columns, sample_weight)
            chosen = int(np.argmin(loss))
            own = {"alphas": [float(models[0].alphas_[chosen])], "cv": None}
            own |= {"scoring": None, "n_alphas": None}
            scores = -float(loss[chosen])
        fit_each_target(self, X, y, sample_weight, [own] * len(models))
        if not self.alpha_per_target:
            self.alpha_ = own["alphas"][0]
        self.best_score_ = scores
        self.alphas_ = models[0].alphas_
        if self.store_cv_results:
            self.cv_results_ = np.stack(stored, axis=1)
        return self

    def _single_models(self, splits: Any, count: int, is_joint: bool) -> list[Any]:
        """A model per target; a score of all targets at once needs the predictions of each."""
        settings = {**self.get_params(deep=False), "cv": splits}
        if is_joint:
            settings |= {"store_cv_results": True, "scoring": _single_r2}
        return [clone(type(self)(**settings)) for _ in range(count)]

    def _joint_losses(
        self, stored: list[Any], columns: list[Any], w: Weights
    ) -> np.ndarray:
        """Minus the score of every alpha, falling, on all targets, from the predictions of each,
        (n_samples, n_alphas)."""
        predictions = np.stack(stored, axis=1)
        scorer = _scorer(self.scoring)
        own = {} if w is None else {"sample_weight": np.asarray(w)}
        Y = np.column_stack(columns).astype(np.float64)
        losses = [
            -scorer(_Itself(), fitted, Y, **own)
            for fitted in np.moveaxis(predictions, -1, 0)
        ]
        # predictions are in the order of `alphas`; a grid of `n_alphas` falls
        if self.n_alphas is not None:
            return np.array(losses)
        given = np.ravel(np.asarray(self.alphas, dtype=float))
        return np.array(losses)[np.argsort(-given, kind="stable")]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _set_results(
        self,
        fit: Fit,
        space: RowSpace | None,
        factors: np.ndarray | float,
    ) -> None:
        """The fit of all rows in the units of the columns as they came."""
        self.n_undetermined_ = len(fit.coef) - fit.factor.rank
        coef = fit.coef
        mean = fit.moments.x_mean
        if space is not None:
            coef = space.columns_of(coef)
            mean = space.mean + space.columns_of(mean)
        self.coef_ = coef * factors
        self.mean_ = mean / factors
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = np.float64(fit.moments.y_mean - mean @ coef)
        yy = fit.moments.yy
        self.r2_ = 1.0 - fit.residual / yy if yy > 0 else np.nan
        self.effective_degrees_ = self.fit_intercept + fit.effective_degrees

    def _facts(self) -> dict[str, Any]:
        return undetermined_fact(self.n_undetermined_, len(self.coef_), "coefficient")

    def _grid(self, xx: np.ndarray, in_order: bool = False) -> np.ndarray:
        """The penalties, falling or in the order in which they were given."""
        if self.n_alphas is not None:
            # ten times the largest eigenvalue shrinks every direction to an eleventh or less
            most = 10 * float(np.linalg.eigvalsh(xx)[-1]) or 1.0
            return falling_penalties(most, self.eps, int(self.n_alphas))
        falling = given_penalties(self.alphas, takes_zero=self.cv is not None)
        return np.ravel(np.asarray(self.alphas, dtype=float)) if in_order else falling


def _refuse_one_row(n_rows: int) -> None:
    if n_rows < 2:
        raise DataError("a row can be left out of two or more: there is only 1 sample")


def _scorer(scoring: Any) -> Any:
    """scikit-learn's scorer of a name, or the function itself."""
    from sklearn.metrics import get_scorer, get_scorer_names  # takes long to import

    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise SettingError(
            f"scoring={scoring!r} is no score of scikit-learn: choose from"
            " sklearn.metrics.get_scorer_names(), such as 'r2', or give a function"
        )
    return get_scorer(scoring)


def _single_r2(model: Any, X: np.ndarray, y: np.ndarray, **weights: Any) -> float:
    """R² of one target, where the score is of all of them and its predictions are wanted."""
    return float(model.score(X, y, **weights))


class _Itself(RegressorMixin, BaseEstimator):
    """An estimator whose predictions are what it is given, for scorers."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What predicts every row from the others: XᵀWX = V Λ Vᵀ about the means, and Vᵀ XᵀWy."""

    mean: np.ndarray  # of [x y]; zeros without an intercept
    weight: float  # infinite without an intercept
    values: np.ndarray
    vectors: np.ndarray
    turned: np.ndarray
    alphas: np.ndarray

    @classmethod
    def of(cls, total: Scatter, alphas: np.ndarray, fit_intercept: bool) -> LeftOut:
        values, vectors = np.linalg.eigh(total.xx)
        values = np.maximum(values, 0.0)
        weight = total.weight if fit_intercept else np.inf
        turned = vectors.T @ total.xy
        return cls(total.mean, weight, values, vectors, turned, alphas)

    def predictions(self, block: Block) -> np.ndarray:
        """y - r / (1 - h) of every row and alpha, (n, n_alphas)."""
        Z = (block.dense - self.mean[:-1]) @ self.vectors
        y = np.asarray(block.y, dtype=np.float64)[:, None]
        w = block.weights[:, None]
        inverse = 1 / (self.values[:, None] + self.alphas)
        residuals = (y - self.mean[-1]) - Z @ (self.turned[:, None] * inverse)
        leverages = w * (1 / self.weight + (Z * Z) @ inverse)
        return y - residuals / (1 - leverages)


def _ridges(alphas: np.ndarray, centered: CenteredProblem) -> np.ndarray:
    """The coefficients at every alpha, (k, d); the problem's products are per unit of weight."""
    problem = centered.problem
    assert isinstance(problem, GramElasticNet)
    # b = V (Λ + alpha/W)⁻¹ Vᵀ q: one decomposition serves all penalties
    values, vectors = np.linalg.eigh(problem.Q)
    turned = vectors.T @ problem.q
    shrunk = np.maximum(values, 0.0) + alphas[:, None] / centered.weight
    return (turned / shrunk) @ vectors.T

"""Linear support vector classification for many rows and many columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    Learner,
    SparseCoefficients,
    score_operations,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, CheckCells, Rows
from lyceum._core.probability import class_weight_factors, runner_up
from lyceum._core.report import weights_table
from lyceum._core.statistics import Moments
from lyceum._core.types import Categories, ClassWeight, Data, Operation, Target, Weights
from lyceum.errors import SettingError
from lyceum.kernels.linear_svm.hinge_problem import HingeProblem
from lyceum.kernels.linear_svm.hinge_solvers import (
    LinearSolution,
    by_dual_descent,
    by_multipliers,
    by_newton,
    by_proximal_newton,
)
from lyceum.kernels.svm.report import intercept_fact
from lyceum.report import Explanation, Summary, Table

_WIDE = 1000  # columns from which no Hessian of all columns is formed


class LinearSVC(SparseCoefficients, Classifier, Learner):
    """Linear support vector classification for many rows, dense or sparse, in memory or from files.

    With y of -1 and 1 and f(x) = w·x + b it minimizes

        ½ |w|² + ½ (b/s)² + Σ C_i L(y_i f(x_i)),    L(m) = max(0, 1 - m) or max(0, 1 - m)²,

    or |w|₁ + |b|/s in the place of the squares, which makes many weights exactly zero. K > 2
    classes have a machine each, against all others; the largest score decides.

    Up to 1,000 columns, every pass over the rows is a Newton step: for the squared hinge of its own
    objective, for the hinge of the smooth functions of the method of multipliers. Rows may then
    come from files of any size. More columns are solved by dual coordinate descent on rows in
    memory; the squared hinge also runs over files, by quasi-Newton steps. Under |w|₁ steps are
    proximal Newton's, on the columns that are not settled at zero.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        What is added to the losses; "l1" goes with the squared hinge.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss of the margin.
    C : float, default=1.0
        What a unit of loss costs.
    fit_intercept : bool, default=True
        Whether there is a b.
    intercept_scaling : float, default=1.0
        s: the intercept is the weight of a column of s, and penalized as such; inf leaves it free.
    tol : float, default=1e-4
        Where to stop: the largest mean pull along a column of unit spread (Newton), or the largest
        violation of the optimality conditions in units of f (multipliers, dual coordinate descent).

    Attributes
    ----------
    coef_ : array of shape (1, d) or (K, d)
        w of the second class, or of every class.
    intercept_ : array of shape (1,) or (K,)
        b.
    objective_ : array of shape (1,) or (K,)
        What is minimized, at its minimum.
    margin_width_ : array of shape (1,) or (K,)
        2 / |w|.
    n_slack_, n_wrong_ : array of int of shape (1,) or (K,)
        The rows inside of the margin, ξ > 0, and on the wrong side, ξ > 1.
    mean_ : array of shape (d,)
        The means of the columns, from which explanations start.
    n_iter_ : int
        The most passes of a machine.
    converged_ : bool
        Whether `tol` was reached.
    history_ : list of float
        The objective of the (last) machine from pass to pass.

    See Also
    --------
    SVC : any kernel, with the dual variables.
    lyceum.linear.MarginClassifier : other losses of the margin.

    References
    ----------
    Hsieh, C.-J., Chang, K.-W., Lin, C.-J., Keerthi, S. S. and Sundararajan, S. (2008). A dual
    coordinate descent method for large-scale linear SVM. International Conference on Machine
    Learning.

    Examples
    --------
    >>> from lyceum.kernels import LinearSVC
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC(loss="hinge", C=100.0).fit(X, y)
    >>> model.coef_.round(3).tolist(), model.predict([[0.5]]).tolist()
    ([[1.0]], ['yes'])
    """

    _takes_sparse: ClassVar[bool] = True
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "penalty": [StrOptions({"l2", "l1"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "multi_class": [StrOptions({"ovr"})],
        "random_state": ["random_state"],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="right")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes: ClassVar[tuple[str, str]] = ("pass", "objective")

    classes_: np.ndarray

    _without_effect: ClassVar[dict[str, str]] = {
        "dual": "the primal and the dual problem have one solution, to `tol`",
        "multi_class": "there is one machine per class",
        "random_state": "nothing is drawn at random",
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 1000,
        categorical_features: Categories = "from_dtype",
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.multi_class = multi_class
        self.random_state = random_state
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from the rows of X.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Factors on C; zero-weight rows are ignored.
        """
        if self.loss == "hinge" and self.penalty == "l1":
            raise SettingError(
                f"Unsupported set of arguments: penalty='l1', loss='hinge', dual={self.dual!r}:"
                " take loss='squared_hinge', as the hinge has no curvature to use"
            )
        rows = self._rows(X, y, sample_weight)
        block = self._at_once(rows)
        # a block of rows has few of the cells of a wide sparse array, yet sums of every column
        sparse_rows = None
        if block is not None and sparse.issparse(block.X):
            sparse_rows = block
        if sparse_rows is None:
            moments = rows.reduce(Moments.of)
        else:
            moments = Moments.of(sparse_rows)
        # the first pass has looked for missing cells
        steps = [step for step in rows.steps if not isinstance(step, CheckCells)]
        rows = replace(rows, steps=tuple(steps))
        self.mean_ = moments.mean
        problem = self._problem(rows, moments)
        K = len(self.classes_)
        # two classes need one machine, one class needs none
        favored = range(1, K) if K <= 2 else range(K)
        solutions = [
            self._solve_machine(replace(problem, favored=k), block) for k in favored
        ]
        self._finish(problem, solutions, sparse_rows)
        return self

    def _at_once(self, rows: Rows) -> Block | None:
        """All rows in memory, if dual descent is to solve."""
        wide = self.penalty == "l2" and len(rows.schema) > _WIDE
        if not wide or not (rows.in_memory or self.loss == "hinge"):
            return None
        return rows.in_one_block(type(self).__name__, "loss='squared_hinge'")

    def _problem(self, rows: Rows, moments: Moments) -> HingeProblem:
        counts = None
        if self.class_weight == "balanced":
            codes = np.asarray(rows.coded_y)
            counts = np.bincount(codes, rows.sample_weight, len(self.classes_))
            counts = counts.astype(np.float64)
        labels = self.classes_.tolist()
        factors = class_weight_factors(self.class_weight, labels, counts)
        weight = float(moments.weight.max())
        # about the means with a free intercept, which takes them in; else about zero
        spread = np.sqrt(np.maximum(moments.scatter, 0.0) / weight)
        if self.fit_intercept and np.isinf(self.intercept_scaling):
            shift = moments.mean
            scale = spread
        else:
            shift = np.zeros_like(moments.mean)
            scale = np.sqrt(spread**2 + moments.mean**2)
        return HingeProblem(
            rows=rows,
            favored=1,
            C=float(self.C),
            factors=factors,
            shift=shift,
            fit_intercept=self.fit_intercept,
            intercept_scaling=float(self.intercept_scaling),
            weight=weight,
            scale=np.where(scale > 0, scale, 1.0),
            l2=0.0 if self.penalty == "l1" else 1.0,
        )

    def _solve_machine(
        self,
        problem: HingeProblem,
        block: Block | None,
    ) -> LinearSolution:
        squared = self.loss == "squared_hinge"
        wide = len(problem.shift) > _WIDE
        if self.penalty == "l1":
            return by_proximal_newton(problem, self.tol, self.max_iter)
        if block is not None:
            return by_dual_descent(problem, block, squared, self.tol, self.max_iter)
        if squared:
            return by_newton(problem, self.tol, self.max_iter, wide)
        return by_multipliers(problem, self.tol, self.max_iter)

    def _finish(
        self,
        problem: HingeProblem,
        solutions: list[LinearSolution],
        sparse_rows: Block | None,
    ) -> None:
        d = len(problem.shift)
        thetas = np.zeros((1, d + 1))
        self.history_ = [0.0]
        if solutions:
            thetas = np.array([solution.theta for solution in solutions])
            self.history_ = list(solutions[-1].history)
        self.coef_ = np.ascontiguousarray(thetas[:, :-1])
        self.intercept_ = thetas[:, -1].copy()
        self.n_iter_ = max((solution.n_iter for solution in solutions), default=1)
        self.converged_ = all(solution.converged for solution in solutions)
        slacks = self._slacks(problem, thetas, sparse_rows)
        self.n_slack_ = slacks.inside
        self.n_wrong_ = slacks.wrong
        self.objective_ = self._penalties() + slacks.loss
        length = np.linalg.norm(self.coef_, axis=1)
        infinite = np.full(len(length), np.inf)
        self.margin_width_ = np.divide(2.0, length, out=infinite, where=length > 0)
        if not self.converged_:
            warnings.warn(
                f"LinearSVC stopped after {self.n_iter_:,} passes without reaching"
                f" tol={self.tol:g}: scale the columns, lower C, or raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _penalties(self) -> np.ndarray:
        """The penalty of every machine, that of the column of s included."""
        of_constant = self.intercept_ / self.intercept_scaling
        if self.penalty == "l1":
            return np.abs(self.coef_).sum(axis=1) + np.abs(of_constant)
        return 0.5 * (self.coef_**2).sum(axis=1) + 0.5 * of_constant**2

    def _slacks(
        self,
        problem: HingeProblem,
        thetas: np.ndarray,
        sparse_rows: Block | None,
    ) -> _Slacks:
        """One more pass: what the machines, with b at x = 0, do to the rows."""
        favored = np.arange(len(thetas))
        if len(thetas) == 1:
            favored = np.array([1])
        at_origin = replace(problem, shift=np.zeros(len(problem.shift)))
        of = partial(
            _Slacks.of,
            problem=at_origin,
            thetas=thetas,
            favored=favored,
            squared=self.loss != "hinge",
        )
        if sparse_rows is None:
            return problem.rows.reduce(of)
        return of(sparse_rows)

    # -- predict -----------------------------------------------------------------------

    def decision_function(self, X: Data) -> Any:
        """f(x) of the second of two classes, (n,), or of every class, (n, K)."""
        return self._apply(partial(_decisions, self), X)

    def predict(self, X: Data) -> Any:
        """The class on whose side of the plane a row lies (the second if it lies on it), or that
        of the largest score."""
        return self._apply(partial(_classes, self), X)

    # -- what was learned --------------------------------------------------------------

    def _operations(self) -> list[Operation]:
        return score_operations(self.coef_, self.intercept_)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the score, coef · (x - mean), from the score at the mean.

        For two classes this is the score of the second; for more, that of the predicted class above
        the next.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        unit = "score above the next class"
        if len(self.coef_) == 1:
            unit = f"score of {self.classes_[-1]}"
        return self._explain(X, self._contributions, unit)

    def _contributions(self, block: Block) -> np.ndarray:
        X = block.dense - self.mean_
        at_mean = self.intercept_ + self.coef_ @ self.mean_
        scores = X @ self.coef_.T + at_mean
        if len(self.coef_) == 1:
            is_positive = scores[:, 0] >= 0
            best = (is_positive & (len(self.classes_) > 1)).astype(int)
            base = np.full(len(X), at_mean[0])
            slopes = self.coef_[0]
        else:
            best, second = runner_up(scores)
            base = at_mean[best] - at_mean[second]
            slopes = self.coef_[best] - self.coef_[second]
        return np.column_stack([best, base, X * slopes])

    def summary(self) -> Summary:
        """Margins, slacks and objectives of the machines, and the weights."""
        head = super().summary()
        facts = {
            "rows": self.n_rows_,
            "classes": self.classes_.tolist(),
            "loss": self.loss,
            "penalty": self.penalty,
            "C": float(self.C),
            "intercept": intercept_fact(self),
            "passes": f"{self.n_iter_:,}{'' if self.converged_ else ', not converged'}",
        }
        titles = [str(label) for label in self.classes_[-len(self.coef_) :]]
        heads = (
            "class",
            "margin width",
            "ξ > 0",
            "ξ > 1",
            "objective",
            "weights not 0",
        )
        lines = zip(
            titles,
            self.margin_width_.tolist(),
            self.n_slack_.tolist(),
            self.n_wrong_.tolist(),
            self.objective_.tolist(),
            (self.coef_ != 0).sum(axis=1).tolist(),
        )
        tables = [Table("Machines", heads, list(lines))]
        if len(self.design_names) <= 200:
            names = self.design_names
            tables.append(weights_table(names, self.intercept_, self.coef_, titles))
        return Summary(head.title, {**head.facts, **facts}, tables)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        outputs = len(self.classes_) if len(self.classes_) > 2 else 1
        d = len(self.design_names)
        return {"coef_": (outputs, d), "intercept_": (outputs,), "mean_": (d,)}


@dataclass(frozen=True, slots=True)
class _Slacks:
    """Of every machine: the loss, the rows with ξ > 0, and those with ξ > 1."""

    loss: np.ndarray
    inside: np.ndarray
    wrong: np.ndarray

    @classmethod
    def of(
        cls,
        block: Block,
        problem: HingeProblem,
        thetas: np.ndarray,
        favored: np.ndarray,
        squared: bool,
    ) -> _Slacks:
        assert block.y is not None
        signs = np.where(block.y[:, None] == favored, 1.0, -1.0)
        products = np.asarray(block.X @ thetas[:, :-1].T)
        scores = products + thetas[:, -1]
        xi = np.maximum(0.0, 1.0 - signs * scores)
        losses = xi**2 if squared else xi
        is_counted = (block.weights > 0)[:, None]
        inside = (xi > 1e-6) & is_counted
        wrong = (xi > 1.0) & is_counted
        return cls(
            loss=problem.bound(block) @ losses,
            inside=inside.sum(axis=0),
            wrong=wrong.sum(axis=0),
        )

    def merge(self, other: _Slacks) -> _Slacks:
        return _Slacks(
            loss=self.loss + other.loss,
            inside=self.inside + other.inside,
            wrong=self.wrong + other.wrong,
        )


def _decisions(learner: LinearSVC, block: Block) -> np.ndarray:
    scores = np.asarray(block.X @ learner.coef_.T) + learner.intercept_
    if len(learner.coef_) == 1:
        return scores[:, 0]
    return scores


def _classes(learner: LinearSVC, block: Block) -> np.ndarray:
    scores = _decisions(learner, block)
    if scores.ndim == 2:
        return learner.classes_[scores.argmax(axis=1)]
    is_second = (scores >= 0) & (len(learner.classes_) > 1)
    return learner.classes_[is_second.astype(int)]

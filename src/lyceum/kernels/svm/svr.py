"""Support vector regression."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Regressor
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, dense_cells
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.errors import SettingError
from lyceum.kernels.svm.margin_machine import intercept_of
from lyceum.kernels.svm.report import (
    check_explain_by,
    column_parts,
    support_explanation,
)
from lyceum.kernels.svm.smo import DualProblem, DualSolution, solve_dual
from lyceum.kernels.svm.support_vectors import SVM_CONSTRAINTS, SupportVectors
from lyceum.report import Explanation, Summary, Table


class SVR(Regressor, SupportVectors):
    """Support vector regression: the flattest function within ε of the targets, in a kernel's
    feature space.

    f(x) = w·φ(x) + b minimizes ½ |w|² + Σ C_i ξ_i with ξ_i = max(0, |y_i - f(x_i)| - ε), the
    ε-insensitive loss: errors up to ε cost nothing, larger ones their excess. The dual has two
    variables per row, α for a target above the tube and α* for one below; f(x) = Σ (α_i - α*_i)
    k(x_i, x) + b. Rows inside of the tube have none. All rows are kept in memory.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of error beyond ε costs.
    epsilon : float, default=0.1
        Half the width of the tube, in units of y.
    gamma : float, "scale", "auto" or "median", default="scale"
        γ of a kernel given by its name: "scale" is 1 / (d · variance of the cells), and 1 for
        "distance"; "auto" is 1 / d; "median" is a width of "rbf", see `median_sigma`.
    tol : float, default=1e-3
        The largest violation of the optimality conditions, in units of y.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its settings.
    alpha_ : array of shape (n,)
        α - α* of every row of `fit`.
    slack_ : array of shape (n,)
        ξ of every row; NaN for zero-weight rows.
    support_ : array of int of shape (n_support,)
        The numbers of the rows on or outside of the tube.
    support_vectors_ : array or CSR of shape (n_support, d)
        Their cells; without columns for precomputed kernels.
    dual_coef_ : array of shape (1, n_support)
        α - α* of the support vectors.
    n_support_ : array of int of shape (1,)
        The number of support vectors.
    intercept_ : array of shape (1,)
        b.
    coef_ : array of shape (1, d)
        w, for the linear kernel.
    n_on_tube_, n_outside_ : int
        The support vectors on the edge of the tube, 0 < α < C, and beyond it, α = C.
    primal_objective_, dual_objective_ : float
        The two objectives; their difference is the duality gap.
    kkt_residual_ : float
        The largest violation of the Karush-Kuhn-Tucker conditions, in units of y.
    base_point_ : array of shape (d,)
        Where explanations start: the means of the columns.
    n_iter_ : int
        The number of steps of SMO.
    history_ : list of float
        The dual objective, working set by working set.

    See Also
    --------
    SVC : classification.
    KernelRidge : squared errors instead, in closed form.

    References
    ----------
    Drucker, H., Burges, C., Kaufman, L., Smola, A. and Vapnik, V. (1996). Support vector regression
    machines. Advances in Neural Information Processing Systems 9.

    Examples
    --------
    >>> from lyceum.kernels import SVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.3).fit(X, y)
    >>> model.coef_.round(3).tolist(), model.intercept_.round(3).tolist()
    ([[0.8]], [0.3])
    """

    _parameter_constraints: ClassVar[dict] = {
        **SVM_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: object = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int = 0,
        max_iter: int = -1,
        categorical_features: Categories = "from_dtype",
    ):
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Solve the dual problem.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
            For a precomputed kernel the kernel values of all pairs of rows.
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Factors on C; rows whose weight is not positive are ignored.
        """
        if self.gamma == "closest":
            raise SettingError(
                "gamma='closest' needs classes: choose 'median', 'scale' or a number for SVR"
            )
        block, cells, weighted, n = self._gather_rows(X, y, sample_weight)
        target = np.asarray(block.y, dtype=np.float64)
        # about the mean, so that an offset takes no digits
        middle = float(np.average(target, weights=block.weights))
        y = target - middle
        # two variables per row: s = 1, z = y - ε and s = -1, z = y + ε
        problem = DualProblem(
            s=np.repeat([1.0, -1.0], len(y)),
            z=np.concatenate([y - self.epsilon, y + self.epsilon]),
            C=np.tile(self.C * block.weights, 2),
            row=np.tile(np.arange(len(y)), 2),
        )
        settings = self._solver_settings._asdict()
        solution = solve_dual(problem, self.kernel_, cells, **settings)
        self._finish(problem, solution, y, cells, weighted, n)
        self.intercept_ = self.intercept_ + middle
        return self

    def _finish(
        self,
        problem: DualProblem,
        solution: DualSolution,
        y: np.ndarray,
        cells: ArrayLike,
        weighted: np.ndarray,
        n: int,
    ) -> None:
        m = len(weighted)
        coef = problem.coef(solution.b, m)
        b = intercept_of(problem, solution)
        errors = y - (solution.F + b)
        slack = np.maximum(0.0, np.abs(errors) - self.epsilon)
        self.alpha_ = np.zeros(n)
        self.alpha_[weighted] = coef
        self.slack_ = np.full(n, np.nan)
        self.slack_[weighted] = slack
        self._set_support(coef, cells, weighted)
        self.intercept_ = np.array([b])
        bound = problem.C[:m]
        is_beyond = np.abs(coef) >= bound
        self.n_outside_ = int((is_beyond & (coef != 0)).sum())
        self.n_on_tube_ = len(self.support_) - self.n_outside_
        # ½ |w|² + Σ C ξ, with |w|² = Σ coef F
        self.primal_objective_ = float(0.5 * coef @ solution.F + bound @ slack)
        self.dual_objective_ = problem.objective(solution.b, solution.F)
        self.kkt_residual_ = self._kkt_residual(coef, is_beyond, errors, slack)
        self.n_iter_ = solution.steps
        self.converged_ = solution.converged
        self.history_ = list(solution.history)
        self._warn_unless_converged(solution.converged)

    def _set_support(
        self,
        coef: np.ndarray,
        cells: ArrayLike,
        weighted: np.ndarray,
    ) -> None:
        used = np.flatnonzero(coef)
        self._store_support(used, coef[:, None], cells, weighted)
        self.dual_coef_ = coef[used][None, :]
        self._keep_sparse()
        self.n_support_ = np.array([len(used)])

    def _kkt_residual(
        self,
        coef: np.ndarray,
        is_beyond: np.ndarray,
        errors: np.ndarray,
        slack: np.ndarray,
    ) -> float:
        """The largest violation: |α| = 0 lies in the tube, below C on its edge, C beyond it."""
        # 0 on the tube, positive beyond it
        edge = np.sign(coef) * errors - self.epsilon
        inside = np.maximum(0.0, -edge)
        of_support = np.where(is_beyond, inside, np.abs(edge))
        violations = np.where(coef == 0, slack, of_support)
        return float(violations.max(initial=0.0))

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """f(x) of every row."""
        return self._apply(lambda block: self._machine_scores(block.X)[:, 0], X)

    def _operations(self) -> list[Operation]:
        return self._machine_operations()

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data, by: str = "columns") -> Explanation:
        """What columns, or support vectors, add to the prediction.

        Columns: from `base_point_` to the row, the mean over replacing them from the first to the
        last and from the last to the first; for a linear kernel coef · (x - base).

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        by : {"columns", "support_vectors"}, default="columns"
            "support_vectors": (α_i - α*_i) k(x_i, x), from b on.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        unit = self.schema_.target_name or "y"
        if by == "support_vectors":
            added = self._support_contributions(X)
            b = self.intercept_[0]
            predicted = added.sum(axis=1) + b
            return support_explanation(self.support_, added, b, predicted, unit)
        check_explain_by(by, "support_vectors", self._is_precomputed)
        return self._explain(X, self._column_parts, unit)

    def _column_parts(self, block: Block) -> np.ndarray:
        def score(rows: np.ndarray) -> np.ndarray:
            return self._machine_scores(rows)[:, 0]

        return column_parts(block, self.base_point_, score)

    def summary(self) -> Summary:
        """Support vectors, slacks, both objectives and the KKT residual."""
        head = super().summary()
        facts = {
            "rows": len(self.alpha_),
            "kernel": repr(self.kernel_),
            "C": float(self.C),
            "epsilon": float(self.epsilon),
            "support vectors": len(self.support_),
            "on the tube": self.n_on_tube_,
            "outside of it": self.n_outside_,
            "primal objective": self.primal_objective_,
            "dual objective": self.dual_objective_,
            "duality gap": self.primal_objective_ - self.dual_objective_,
            "KKT residual": self.kkt_residual_,
            "steps": f"{self.n_iter_:,}{'' if self.converged_ else ', not converged'}",
        }
        tables = []
        if hasattr(self, "coef_") and len(self.design_names) <= 200:
            names = ("(intercept)", *self.design_names)
            weights = np.append(self.intercept_, dense_cells(self.coef_)).tolist()
            lines = list(zip(names, weights))
            tables.append(Table("Weights", ("column", "weight"), lines))
        return Summary(head.title, {**head.facts, **facts}, tables)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return self._support_shapes(1, 1)

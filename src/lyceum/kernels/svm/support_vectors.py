"""What support vector machines share: rows to solve on, and scores from the support vectors."""

from __future__ import annotations

import sys
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.constraints import Interval, Options
from lyceum._core.data import Block, dense_cells
from lyceum._core.types import Data, Operation, Target, Weights
from lyceum.errors import DataError
from lyceum.kernels.functions.base import kernel_operations
from lyceum.kernels.functions.other import PrecomputedKernel
from lyceum.kernels.functions.products import LinearKernel
from lyceum.kernels.kernel_learner import KERNEL_CONSTRAINTS, KernelLearner
from lyceum.kernels.svm.margin_machine import SolverSettings
from lyceum.kernels.svm.report import base_point

SVM_CONSTRAINTS: dict[str, Any] = {
    **KERNEL_CONSTRAINTS,
    "gamma": [option for option in KERNEL_CONSTRAINTS["gamma"] if option is not None],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1})],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
}


class SupportVectors(KernelLearner):
    """A learner whose scores are Σ_i coef_i k(x_i, x) + b over its support vectors."""

    _without_effect: ClassVar[dict[str, str]] = {
        "shrinking": "rows at their bounds are set aside and looked at again at the end"
    }

    _parameter_docs: ClassVar[str] = """
    kernel : {"linear", "poly", "rbf", "sigmoid", "distance", "precomputed"}, Kernel or function
        A name, an object such as `DistanceKernel("gower")` or `RBFKernel(sigma=2) + 1`, or a
        function; default="rbf".
    degree : int
        Of the kernel "poly".
    max_iter : int
        Most steps of SMO of a machine, each of which moves a pair of variables; -1 is no limit.
    cache_size : float
        Megabytes for kernel values, where keeping them is quicker than computing them again.
    categorical_features : "from_dtype", True, mask, indices, names or None
        Which columns of an array hold categories; each becomes one-of-C columns unless the kernel
        compares categories itself.
    """

    _attribute_docs: ClassVar[str] = """
    converged_ : bool
        Whether `tol` was reached.
    """

    _alternative: ClassVar[str] = (
        "a linear machine (LinearSVC, lyceum.linear), or lyceum.kernels.Nystroem before it"
    )
    history_axes: ClassVar[tuple[str, str]] = ("working set", "dual objective")

    tol: float
    max_iter: int
    cache_size: float
    support_: np.ndarray
    support_vectors_: Any
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    coef_: np.ndarray
    kkt_residual_: Any
    n_iter_: Any  # an array of machines, of SVR a number

    def _gather_rows(
        self,
        X: Data,
        y: Target,
        sample_weight: Weights,
    ) -> tuple[Block, Any, np.ndarray, int]:
        """Rows with a weight, their cells, their numbers in `fit`, and how many rows there were."""
        rows = self._rows(X, y, self._positive_weights(sample_weight))
        block = self._weighted_rows(rows)
        w = rows.sample_weight
        n = len(block) if w is None else len(w)
        weighted = np.arange(n) if w is None else np.flatnonzero(w > 0)
        self.kernel_ = self._learned_kernel(block, block.y)
        self.base_point_ = base_point(block, self._keeps_categories)
        return block, block.X, weighted, n

    def _positive_weights(self, sample_weight: Weights) -> Weights:
        """Zero in place of negative weights: a bound C of less than 0 leaves nothing to choose."""
        if not isinstance(sample_weight, list | tuple | np.ndarray):
            return sample_weight
        weights = np.asarray(sample_weight)
        if weights.dtype.kind not in "iufb" or not weights.size:
            return sample_weight
        if weights.max() <= 0:
            raise DataError(
                "Invalid input - all samples have zero or negative weights.:"
                f" {type(self).__name__} has nothing to learn from"
            )
        return np.maximum(weights, 0)

    @property
    def _solver_settings(self) -> SolverSettings:
        n_steps = sys.maxsize if self.max_iter == -1 else self.max_iter
        cache = 1e6 * self.cache_size
        record = bool(getattr(self, "record", False))
        return SolverSettings(float(self.tol), n_steps, cache, record)

    def _store_support(
        self,
        used: np.ndarray,
        coef: np.ndarray,
        cells: Any,
        weighted: np.ndarray,
    ) -> None:
        """Keep the rows `used` among the cells, and w of the machines under a linear kernel."""
        self.support_ = weighted[used]
        if self._is_precomputed:
            self.support_vectors_ = np.empty((len(used), 0))
        else:
            self.support_vectors_ = cells[used]
        # w = Σ coef_i x_i: one product per row to predict instead of one per support vector
        if isinstance(self.kernel_, LinearKernel):
            weights = (self.support_vectors_.T @ coef[used]).T
            self.coef_ = np.ascontiguousarray(weights, dtype=np.float64)
        elif hasattr(self, "coef_"):
            del self.coef_

    def _keep_sparse(self) -> None:
        """Of sparse rows, the coefficients are sparse too, as in scikit-learn."""
        if sparse.issparse(self.support_vectors_):
            self.dual_coef_ = sparse.csr_array(self.dual_coef_)
            if hasattr(self, "coef_"):
                self.coef_ = sparse.csr_array(self.coef_)

    def _machine_coef(self) -> np.ndarray:
        """The coefficients of the support vectors in every machine, (n_support, n_machines)."""
        return np.ascontiguousarray(dense_cells(self.dual_coef_).T)

    def _warn_unless_converged(self, converged: bool) -> None:
        if converged:
            return
        n_steps = np.max(self.n_iter_)
        residual = (
            f"KKT residual of {np.max(self.kkt_residual_):.1e} > tol={self.tol:g}"
        )
        # the sentence that filters of warnings know from scikit-learn
        text = (
            f"Solver terminated early (max_iter={n_steps}).  Consider pre-processing your data"
            f" with StandardScaler or MinMaxScaler. {type(self).__name__} has a {residual}"
        )
        if n_steps != self.max_iter:
            text = (
                f"{type(self).__name__} stopped after {n_steps:,} steps, which gain nothing any"
                f" more, with a {residual}: scale the columns, lower C, or raise tol"
            )
        warnings.warn(text, ConvergenceWarning, stacklevel=4)

    def _machine_scores(self, X: Any) -> np.ndarray:
        """f of every machine, (n, n_machines)."""
        if not len(self.intercept_):
            return np.zeros((X.shape[0], 0))
        if isinstance(self.kernel_, LinearKernel):
            return np.asarray(X @ dense_cells(self.coef_).T) + self.intercept_
        coef = self._machine_coef()
        if isinstance(self.kernel_, PrecomputedKernel):
            return X[:, self.support_] @ coef + self.intercept_
        return self.kernel_.sums(self.support_vectors_, coef, X) + self.intercept_

    def _machine_operations(self) -> list[Operation]:
        """f of every machine, for exported models."""
        if isinstance(self.kernel_, LinearKernel):
            coef = dense_cells(self.coef_).tolist()
            sums = {"coef": coef, "intercept": self.intercept_.tolist()}
            return [("linear", sums)]
        return kernel_operations(
            self,
            self.kernel_,
            self.support_vectors_,
            self._machine_coef(),
            self.intercept_,
        )

    def _support_contributions(self, X: Data) -> np.ndarray:
        """coef_i k(x_i, x) of the support vectors of the only machine, (n, n_support)."""
        coef = dense_cells(self.dual_coef_)[0]

        def parts(block: Block) -> np.ndarray:
            if isinstance(self.kernel_, PrecomputedKernel):
                values = block.X[:, self.support_]
            else:
                values = self.kernel_.gram(block.X, self.support_vectors_)
            return np.asarray(values, dtype=np.float64) * coef

        return np.asarray(self._apply(parts, X))

    def _support_shapes(
        self,
        n_machines: int,
        n_coef: int,
    ) -> dict[str, tuple[int, ...]]:
        n = len(self.support_)
        d = self._n_cells
        shapes: dict[str, tuple[int, ...]] = {
            "intercept_": (n_machines,),
            "support_": (n,),
        }
        # of rows that may be sparse or hold missing cells nothing is said
        if sparse.issparse(self.support_vectors_):
            return shapes
        shapes["dual_coef_"] = (n_coef, n)
        if not self._takes_missing:
            shapes["support_vectors_"] = (n, 0 if self._is_precomputed else d)
        if isinstance(self.kernel_, LinearKernel):
            shapes["coef_"] = (n_machines, d)
        return shapes

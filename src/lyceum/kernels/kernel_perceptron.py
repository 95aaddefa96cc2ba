"""The perceptron in dual form: mistakes per row instead of weights per column."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Classifier,
    novikoff_bound,
    separability_facts,
    set_separability,
)
from lyceum._core.constraints import Interval
from lyceum._core.data import Block
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.errors import cannot_export
from lyceum.kernels.functions.base import Kernel, kernel_operations
from lyceum.kernels.kernel_learner import KERNEL_CONSTRAINTS, KernelLearner
from lyceum.kernels.svm.report import base_point, column_parts
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table

_AT_ONCE = 64  # kernel columns computed together
_KEPT = 1 << 24  # kernel values that are kept: 128 MB


class KernelPerceptron(Classifier, KernelLearner):
    """Rosenblatt's perceptron in dual form, with any kernel.

    .. math:: f(x) = \\sum_i w_i \\alpha_i y_i \\, (k(x_i, x) + 1)

    α_i counts the mistakes made on row i. Rows are taken in their order; one that is not strictly
    on its own side, y_i f(x_i) ≤ 0, is counted once more. Of more than two classes, the row is
    added to the score of its class and taken from that of the class that beat it. The 1 stands for
    the intercept. Rows are compared as they are: with the linear kernel this is the plain
    perceptron, `lyceum.linear.Perceptron(multi_class="joint", shuffle=False, tol=None)`, mistake by
    mistake, and its weights are Σ w_i α_i y_i (x_i, 1). Columns with a mean far from 0 take fewer
    mistakes once centered (`lyceum.prepare.StandardScaler`). A row on the plane, f(x) = 0, is
    predicted to be of the second, positive class.

    If the classes are separable in the feature space of the kernel with margin γ, no more than
    (R/γ)² mistakes are made, R² = max k(x, x) + 1; a pass without a mistake ends it. If that does
    not come about within `max_iter` passes, a warning says so. A row's weight scales its steps;
    zero-weight rows are ignored.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "rbf", "linear", "poly", "sigmoid", "distance" or "precomputed"; a kernel object; or a
        function of two rows or of two matrices.
    gamma : float, "scale", "auto", "median" or None, default="scale"
        γ of a kernel by name: "scale" is 1 / (d · variance of the cells), "auto" and None are
        1 / d; "median" is for "rbf".

    Attributes
    ----------
    row_mistakes_ : array of shape (n,)
        α: the mistakes made on every training row with a weight.
    support_ : array of shape (m,)
        The rows on which mistakes were made.
    rows_ : array or sparse array of shape (m, n_columns)
        Their cells.
    dual_coef_ : array of shape (m, 1) or (m, K)
        w_i α_i y_i for the second of two classes, or what row i adds to the score of every class.
    base_point_ : array of shape (n_columns,)
        Where explanations start: the means of the columns, and of categories the most frequent.
    separable_ : bool
        Whether a pass without a mistake has shown the classes to be separable.
    mistakes_ : int
        All mistakes made.
    history_ : list of int
        The mistakes of every pass.
    n_iter_ : int
        The number of passes.
    radius_, margin_, mistake_bound_ : float
        R; the margin of the function found, of length one; and (R / margin_)², of several classes
        twice that. The last two are NaN if the classes are not separated.
    kernel_ : Kernel
        The kernel, with what it learned.
    record_ : list of dict
        With `record=True`, one per pass: step, mistakes, updates (the rows of its mistakes in
        their order), and row_mistakes, those of every row so far.

    See Also
    --------
    lyceum.linear.Perceptron : The plain perceptron in primal form.

    References
    ----------
    Aizerman, Braverman and Rozonoer (1964), Theoretical foundations of the potential function
    method. Freund and Schapire (1999), Large margin classification using the perceptron algorithm,
    Machine Learning 37.

    Examples
    --------
    >>> from lyceum.kernels import KernelPerceptron
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(X, y)
    >>> model.separable_, model.predict(X).tolist()
    (True, ['same', 'same', 'other', 'other'])
    """

    history_axes: ClassVar[tuple[str, str]] = ("pass", "mistakes")
    _alternative: ClassVar[str] = (
        "lyceum.linear.Perceptron, or lyceum.kernels.Nystroem before it"
    )
    _nan_means_none: ClassVar[bool] = True
    _step_kind = StepKind(
        "pass",
        (
            StepColumn(
                "mistakes",
                "mistakes",
                "rows i with y_i Σ α_j y_j (k(x_j, x_i) + 1) ≤ 0",
                unit="rows",
            ),
            StepColumn(
                "updates",
                "updates",
                "the rows that were wrong, in their order: α ← α + 1",
                unit="row numbers",
            ),
            StepColumn(
                "row_mistakes",
                "α",
                "α of a row is how often it was wrong",
                axes=("row",),
            ),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        **KERNEL_CONSTRAINTS,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "record": ["boolean"],
    }

    classes_: np.ndarray

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: object = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        max_iter: int = 100,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.record = record
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from the rows in their order, pass by pass until one is without a mistake.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        block = self._weighted_rows(self._rows(X, y, sample_weight))
        self.kernel_ = self._learned_kernel(block, block.y)
        self.base_point_ = base_point(block, self._keeps_categories)
        cells = block.X
        learning = _Learning(
            self.kernel_,
            cells,
            y=np.asarray(block.y),
            w=block.weights,
            n_classes=len(self.classes_),
        )
        self.history_: list[int] = []
        if self.record:
            self.record_: list[dict] = []
        for number in range(self.max_iter if len(self.classes_) > 1 else 0):
            updates = learning.run_pass()
            self.history_.append(len(updates))
            if self.record:
                self.record_.append(
                    {
                        "step": number + 1,
                        "mistakes": len(updates),
                        "updates": np.array(updates, dtype=np.int64),
                        "row_mistakes": learning.mistakes.copy(),
                    }
                )
            report("passes", number + 1, self.max_iter)
            if not self.history_[-1]:
                break
        self._keep(learning, cells)
        return self

    def _keep(self, learning: _Learning, cells: Any) -> None:
        self.row_mistakes_ = learning.mistakes
        self.support_ = np.flatnonzero(learning.mistakes)
        if self.kernel_.name == "precomputed":
            self.rows_ = cells.copy()  # the array may be the user's own
            self.dual_coef_ = learning.coef
        else:
            self.rows_ = cells[self.support_]
            self.dual_coef_ = learning.coef[self.support_]
        radius = float(np.sqrt(learning.largest_square()))
        margin = bound = np.nan
        if self.history_ and self.history_[-1] == 0:
            margin = learning.margin()
            # a mistake among more than two classes moves the scores of two
            factor = 1.0 if len(self.classes_) == 2 else 2.0
            bound = novikoff_bound(radius, np.array([margin]), factor)
        separable = not self.history_ or self.history_[-1] == 0
        set_separability(self, separable, radius, margin, bound)
        if not self.separable_:
            warnings.warn(
                f"Perceptron made {self.history_[-1]} mistakes in the last of"
                f" max_iter={self.max_iter} passes with the kernel {self.kernel_!r}: the classes"
                " overlap in its feature space, or more passes are needed. A smaller width (a"
                " larger gamma) separates more; SVC takes classes that overlap",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- predict -----------------------------------------------------------------------

    def decision_function(self, X: Data) -> Any:
        """The score of the second of two classes, (n,), or the scores of K classes, (n, K)."""
        check_is_fitted(self)
        return self._apply(partial(_decision, self), X)

    def predict(self, X: Data) -> Any:
        """The class on whose side a row lies (the second if f(x) = 0), or that of the largest
        score."""
        check_is_fitted(self)
        return self._apply(partial(_predict, self), X)

    def _operations(self) -> list[Operation]:
        if len(self.classes_) < 2 or not len(self.dual_coef_):
            raise cannot_export(self, "it has one class, or made no mistake")
        coef = self.dual_coef_
        sums = kernel_operations(self, self.kernel_, self.rows_, coef, coef.sum(axis=0))
        return [*sums, ("sides", {})] if coef.shape[1] == 1 else sums

    # -- what was learned --------------------------------------------------------------

    @available_if(lambda self: not self._is_precomputed)
    def explain(self, X: Data) -> Explanation:
        """What every column adds to the score, from `base_point_` to the row.

        The mean over replacing the columns from the first to the last and from the last to the
        first; for a linear kernel coef · (x - base). For two classes this is the score of the
        second; for more, that of the predicted class less that of the next. A precomputed kernel
        has no columns to explain.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        unit = "score above the next class"
        if self.dual_coef_.shape[1] == 1:
            unit = f"score of {self.classes_[-1]}"
        return self._explain(X, partial(_parts, self), unit)

    def summary(self) -> Summary:
        """The verdict on separability, the bound on the mistakes, and the rows with most of
        them."""
        check_is_fitted(self)
        facts: dict[str, Any] = {
            "rows": len(self.row_mistakes_),
            "classes": self.classes_.tolist(),
            "kernel": repr(self.kernel_),
            **separability_facts(self),
            "rows with mistakes": len(self.support_),
            "passes": self.n_iter_,
        }
        most = np.argsort(-self.row_mistakes_, kind="stable")[:10]
        mistakes = self.row_mistakes_
        rows = [(int(i), int(mistakes[i])) for i in most if mistakes[i]]
        table = Table("Rows of most mistakes", ("row", "mistakes"), rows)
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        outputs = len(self.classes_) if len(self.classes_) > 2 else 1
        n = self.rows_.shape[0]
        return {
            "dual_coef_": (n, outputs),
            **self._row_shapes(),
        }


class _Learning:
    """Scores of all training rows while mistakes are made; only kernel columns of mistakes are
    computed."""

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        y: np.ndarray,
        w: np.ndarray,
        n_classes: int,
    ) -> None:
        n = X.shape[0]
        self.kernel = kernel
        self.X = X
        self.y = y.astype(np.intp)
        self.w = w
        self.side = np.where(y == 1, 1.0, -1.0) if n_classes <= 2 else None
        outputs = 1 if n_classes <= 2 else n_classes
        self.scores = np.zeros((n, outputs))
        self.coef = np.zeros((n, outputs))
        self.rows = np.arange(n)
        self.without_own = np.zeros((n, outputs))
        if self.side is None:
            self.without_own[self.rows, self.y] = -np.inf
        self.mistakes = np.zeros(n, dtype=np.int64)
        self.columns: dict[int, np.ndarray] = {}
        self.full_gram = kernel.gram(X) if n * n <= _KEPT else None

    def leads(self, start: int = 0) -> np.ndarray:
        """How far every row is on its own side, from row `start` on."""
        if self.side is not None:
            return self.side[start:] * self.scores[start:, 0]
        of_class = self.scores[self.rows[start:], self.y[start:]]
        others = self.scores[start:] + self.without_own[start:]
        return of_class - others.max(axis=1)

    def run_pass(self) -> list[int]:
        """One pass over the rows; those on which mistakes were made, in their order."""
        mistakes: list[int] = []
        start = 0
        # all rows up to the next mistake are right under the same scores, and are passed at once
        while start < len(self.y):
            wrong = self.leads(start) <= 0
            i = start + int(np.argmax(wrong))
            if not wrong[i - start]:
                return mistakes
            self._correct(i, start + np.flatnonzero(wrong))
            mistakes.append(i)
            start = i + 1
        return mistakes

    def _correct(self, i: int, waiting: np.ndarray) -> None:
        """Add w_i (k(x_i, ·) + 1) to the score of the row's class, and take it from that of the
        best other one."""
        column = self._column(i, waiting) + 1.0
        step = float(self.w[i])
        self.mistakes[i] += 1
        if self.side is not None:
            self._add(i, 0, self.side[i] * step, column)
            return
        true_class = int(self.y[i])
        others = self.scores[i] + self.without_own[i]
        best = int(np.argmax(others))
        self._add(i, true_class, step, column)
        self._add(i, best, -step, column)

    def _add(self, i: int, output: int, step: float, column: np.ndarray) -> None:
        self.coef[i, output] += step
        self.scores[:, output] += step * column

    def _column(self, i: int, waiting: np.ndarray) -> np.ndarray:
        """k(x_j, x_i) for all j, computed with those of the rows that are likely to be next."""
        if self.full_gram is not None:
            return self.full_gram[:, i]
        if i not in self.columns:
            rows = waiting[:_AT_ONCE]
            n_columns = len(self.columns) + len(rows)
            if n_columns * len(self.y) > _KEPT:
                self.columns.clear()
            values = self.kernel.gram(self.X, self.X[rows])
            columns = np.asarray(values, dtype=np.float64).T.copy()
            self.columns.update(zip(rows.tolist(), columns))
        return self.columns[i]

    def largest_square(self) -> float:
        """max w² (k(x, x) + 1)."""
        squares = self.kernel.diagonal(self.X) + 1.0
        return float((self.w**2 * squares).max())

    def margin(self) -> float:
        """The least lead over the length of the function, |f|² = Σ a_i f(x_i)."""
        square = float((self.coef * self.scores).sum())
        length = np.sqrt(max(square, np.finfo(float).tiny))
        return float((self.w * self.leads()).min() / length)


def _scores(model: KernelPerceptron, X: Any) -> np.ndarray:
    if not len(model.dual_coef_):
        return np.zeros((X.shape[0], model.dual_coef_.shape[1]))
    # Σ a_i (k(x_i, x) + 1): the sum of the a_i is the intercept
    sums = model.kernel_.sums(model.rows_, model.dual_coef_, X)
    return sums + model.dual_coef_.sum(axis=0)


def _decision(model: KernelPerceptron, block: Block) -> np.ndarray:
    scores = _scores(model, block.X)
    if scores.shape[1] == 1:
        return scores[:, 0]
    return scores


def _predict(model: KernelPerceptron, block: Block) -> np.ndarray:
    scores = _scores(model, block.X)
    if scores.shape[1] > 1:
        return model.classes_[scores.argmax(axis=1)]
    is_positive = scores[:, 0] >= 0
    is_second = is_positive & (len(model.classes_) == 2)
    return model.classes_[is_second.astype(np.intp)]


def _parts(model: KernelPerceptron, block: Block) -> np.ndarray:
    """The predicted class, the base, and what every column adds."""
    is_single = model.dual_coef_.shape[1] == 1

    def score(rows: np.ndarray) -> np.ndarray:
        scores = _scores(model, rows)
        return scores[:, 0] if is_single else scores

    parts = column_parts(block, model.base_point_, score)
    if is_single:
        is_positive = parts[:, 0] >= 0
        parts[:, 0] = is_positive & (len(model.classes_) == 2)
    return parts

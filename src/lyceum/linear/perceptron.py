"""The perceptron: a separating hyperplane by correcting one mistake after the other."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    finite_sums,
    separability_facts,
    set_separability,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.statistics import Moments
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, ClassWeight, Data, Target, Weights
from lyceum.errors import SettingError, number_setting
from lyceum.linear.linear_scores import (
    CLASS_WEIGHT,
    LinearScores,
    check_same_weights,
    class_leads,
    weights_at,
    weights_at_zero,
)
from lyceum.linear.row_passes import dense_blocks, dense_parts, without_checks
from lyceum.report import Summary


class Perceptron(LinearScores):
    """Rosenblatt's perceptron in its primal form, for two classes and for more.

    Rows are taken in their order, about the column means. A row that is not strictly on its own
    side moves the weights, w ← w + learning_rate · y (x, 1); of more than two classes, it is added
    to the weights of its class and taken from those of the class that beat it. If some hyperplane
    separates the classes with margin γ, no more than (R/γ)² mistakes are made in all, R being the
    length of the longest row (x, 1) (Novikoff, 1962); a pass without a mistake then shows the
    classes to be separable, and ends it. If that does not come about within `max_iter` passes, a
    warning says so: the perceptron cannot tell classes that overlap from classes that need more
    passes.

    A row's weight scales its steps; zero-weight rows are ignored.

    Parameters
    ----------
    learning_rate : float, default=1.0
        The length of a step. From weights of zero it changes their scale, not the decisions.
    coef_init : (coef, intercept) or None, default=None
        The weights to start from, shaped as `coef_` and `intercept_`, for two classes also a flat
        list and a number; None starts from zero.
    center : bool, default=True
        Whether rows are taken about the column means; False takes them as they are, as on paper.
    record : bool or "steps", default=False
        Whether to keep the weights after every pass, or after every row too, in `record_`.

    Attributes
    ----------
    separable_ : bool
        Whether a pass without a mistake has shown the classes to be separable.
    mistakes_ : int
        All mistakes made.
    history_ : list of int
        The mistakes of every pass.
    n_iter_ : int
        The number of passes.
    radius_ : float
        R, about the means (from 0 if the columns are not centered), with the constant 1 of the
        intercept.
    margin_ : float
        The margin of the hyperplane found, of weights of length one; NaN if it does not separate
        the classes.
    mistake_bound_ : float
        (R / margin_)², at least Novikoff's bound, whose γ is the largest margin; of several classes
        twice that. NaN if the classes are not separated, or with `coef_init`, as the bound is for
        weights of zero.
    record_ : list of dict
        With `record=True`: step, coef, intercept and mistakes of every pass. With "steps" also
        rows: the weights and the intercept (last) after every row, (n_rows, n_design_columns + 1),
        of more than two classes (n_rows, K, n_design_columns + 1).

    See Also
    --------
    MarginClassifier : Losses of the margin, for classes that overlap.
    LogisticRegression : Posteriors of the classes.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and
    organization. Novikoff (1962), On convergence proofs on perceptrons.

    Examples
    --------
    >>> from lyceum.linear import Perceptron
    >>> model = Perceptron().fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"])
    >>> model.separable_, model.mistakes_ <= model.mistake_bound_
    (True, True)
    >>> model.predict([[1.5], [3.5]]).tolist()
    ['low', 'high']

    """

    history_axes: ClassVar[tuple[str, str]] = ("pass", "mistakes")
    _step_kind = StepKind(
        "pass",
        (
            StepColumn(
                "coef",
                "w",
                "w ← w + η y x for every row that is wrong",
                axes=("class", "column"),
                ends_in="coef_",
            ),
            StepColumn(
                "intercept",
                "b",
                "b ← b + η y for every row that is wrong, about the means if centered",
                axes=("class",),
                ends_in="intercept_",
            ),
            StepColumn(
                "mistakes", "mistakes", "rows with y (w·x + b) ≤ 0", unit="rows"
            ),
            StepColumn(
                "rows",
                "w after every row",
                "the weights, the intercept last",
                axes=("row", "weight"),
            ),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "coef_init": [None, list, tuple],
        "center": ["boolean"],
        "class_weight": CLASS_WEIGHT,
        "record": ["boolean", StrOptions({"steps"})],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        learning_rate: float = 1.0,
        max_iter: int = 1000,
        coef_init: Any = None,
        center: bool = True,
        class_weight: ClassWeight = None,
        record: bool | str = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.coef_init = coef_init
        self.center = center
        self.class_weight = class_weight
        self.record = record
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from the rows of X in their order, pass by pass until one is without a mistake.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._with_class_weights(self._rows(X, y, sample_weight))
        # about the means the radius, and with it the bound on the mistakes, is mostly smaller
        moments = finite_sums(rows.reduce(Moments.of))
        self.mean_ = moments.mean
        self.history_: list[int] = []
        if self.record:
            self.record_: list[dict] = []
        self._shift = shift = self.mean_ if self.center else np.zeros_like(self.mean_)
        self._weight = float(moments.weight.max())
        theta = self._first_weights(shift)
        if len(self.classes_) > 1:
            self._learn(without_checks(rows), theta, shift, self.max_iter)
        self._keep(theta, shift)
        self._judge(without_checks(rows), theta, shift)
        self._warn()
        return self

    # scikit-learn puts the classes before the weights
    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """One more pass, over these rows in their order, from the weights so far.

        `separable_`, `margin_` and `radius_` are then of these rows. With `center` rows are
        taken about the means of the first call. `classes` names, in the first call, classes whose
        rows come later.
        """
        before = None
        if hasattr(self, "coef_"):
            before = (self.classes_.tolist(), self.design_names)
        rows = self._more_rows(X, y, sample_weight, classes)
        check_same_weights(before, (self.classes_.tolist(), self.design_names))
        rows = self._with_class_weights(rows, all_rows=False)
        moments = finite_sums(rows.reduce(Moments.of))
        theta = self._weights_so_far(moments, is_first=before is None)
        if self.record:
            self.record_ = list(getattr(self, "record_", []))
        if len(self.classes_) > 1:
            self._learn(without_checks(rows), theta, self._shift, 1)
        self._keep(theta, self._shift)
        self._judge(without_checks(rows), theta, self._shift)
        return self

    def _weights_so_far(self, moments: Moments, is_first: bool) -> np.ndarray:
        """The weights, the intercepts taken at the shift; means and weight take in more rows."""
        more = float(moments.weight.max())
        if is_first:
            self.mean_ = moments.mean
            self.history_ = []
            self._weight = more
            self._shift = moments.mean * int(self.center)
            return self._first_weights(self._shift)
        self.history_ = list(self.history_)
        self._weight += more
        share = more / max(self._weight, 1e-300)
        self.mean_ = self.mean_ + share * (moments.mean - self.mean_)
        return weights_at(self._shift, self.coef_, self.intercept_)

    def _first_weights(self, shift: np.ndarray) -> np.ndarray:
        """Weights, and intercepts at the shift, (1 or K, d + 1)."""
        outputs = len(self.classes_) if len(self.classes_) > 2 else 1
        shape = (outputs, len(shift))
        if self.coef_init is None:
            return np.zeros((outputs, len(shift) + 1))
        if len(self.coef_init) != 2:
            raise SettingError(
                f"coef_init must be (coef, intercept), got {len(self.coef_init)} parts"
            )
        coef, intercept = (number_setting("coef_init", part) for part in self.coef_init)
        if coef.size != outputs * len(shift) or intercept.size != outputs:
            raise SettingError(
                f"coef_init must have coefficients of shape {shape} and {outputs} intercepts, got "
                f"{coef.shape} and {intercept.shape}"
            )
        return weights_at(shift, coef.reshape(shape), intercept.reshape(-1))

    def _learn(
        self,
        rows: Rows,
        theta: np.ndarray,
        shift: np.ndarray,
        passes: int,
    ) -> None:
        for _ in range(passes):
            steps: list[np.ndarray] = []
            mistakes = sum(
                self._pass(block, theta, shift, steps) for block in dense_blocks(rows)
            )
            self.history_.append(mistakes)
            if self.record:
                self._keep(theta, shift)
                step: dict[str, Any] = {
                    "step": len(self.history_),
                    "coef": self.coef_,
                    "intercept": self.intercept_,
                    "mistakes": mistakes,
                }
                # intercepts at x = 0 after every row; of two classes the one row of weights
                if self.record == "steps":
                    after = np.array(steps)
                    after[:, :, -1] -= after[:, :, :-1] @ shift
                    step["rows"] = after[:, 0] if after.shape[1] == 1 else after
                self.record_.append(step)
            if mistakes == 0:
                return

    def _pass(
        self,
        block: Block,
        theta: np.ndarray,
        shift: np.ndarray,
        steps: list[np.ndarray],
    ) -> int:
        """Correct θ by the rows of a block, all at once or, to record them, one by one; the number
        of mistakes."""
        y = np.ascontiguousarray(block.y, dtype=np.int32)
        rate = float(self.learning_rate)
        if self.record != "steps":
            return native.perceptron_pass(block.X, y, block.w, shift, rate, theta)
        mistakes = 0
        for i in range(len(y)):
            row = slice(i, i + 1)
            w = None if block.w is None else block.w[row]
            mistakes += native.perceptron_pass(
                block.X[row],
                y[row],
                w,
                shift,
                rate,
                theta,
            )
            steps.append(theta.copy())
        return mistakes

    def _keep(self, theta: np.ndarray, shift: np.ndarray) -> None:
        self.coef_, self.intercept_ = weights_at_zero(theta, shift)

    def _judge(self, rows: Rows, theta: np.ndarray, shift: np.ndarray) -> None:
        """The verdict: whether the last pass was without a mistake, the margin, and the bound from
        it."""
        reach = rows.reduce(partial(_Reach.of, theta=theta, shift=shift))
        length = float(np.linalg.norm(theta))
        margin = reach.margin / length if length else np.nan
        set_separability(self, reach.radius, margin, bounded=self.coef_init is None)

    def _warn(self) -> None:
        if not self.separable_:
            warnings.warn(
                f"Perceptron made {self.history_[-1]} mistakes in the last of"
                f" max_iter={self.max_iter} passes: the classes overlap, or their margin is so"
                " small that more passes are needed. For classes that overlap take"
                " LogisticRegression or MarginClassifier",
                ConvergenceWarning,
                stacklevel=4,
            )

    def summary(self) -> Summary:
        """The verdict on separability, the mistakes and their bound, and the weights."""
        check_is_fitted(self)
        facts: dict[str, Any] = {
            "rows": self.n_rows_,
            "classes": self.classes_.tolist(),
            **separability_facts(self),
            "radius R": self.radius_,
            "passes": self.n_iter_,
        }
        return Summary(self._title(), facts, [self._table()])


@dataclass(frozen=True, slots=True)
class _Reach:
    """The longest row (x, 1) about the means and the least lead of a row's class, both times its
    weight."""

    radius: float
    margin: float

    @classmethod
    def of(cls, block: Block, theta: np.ndarray, shift: np.ndarray) -> _Reach:
        radius = 0.0
        margin = np.inf
        for part in dense_parts(block):
            assert part.y is not None
            w = part.weights
            weighted = (w > 0) & (part.y >= 0)
            Z = part.X[weighted] - shift
            y = part.y[weighted]
            w = w[weighted]
            scores = Z @ theta[:, :-1].T + theta[:, -1]
            lead = class_leads(scores, y)
            # |(z, 1)|, as the intercept is a weight like the others
            lengths = np.sqrt(1.0 + np.einsum("ij,ij->i", Z, Z))
            longest = float((w * lengths).max(initial=0.0))
            least = float((w * lead).min(initial=np.inf))
            radius = max(radius, longest)
            margin = min(margin, least)
        return cls(radius, margin)

    def merge(self, other: _Reach) -> _Reach:
        radius = max(self.radius, other.radius)
        return _Reach(radius, min(self.margin, other.margin))

"""The perceptron: a separating hyperplane by correcting one mistake after the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    check_same_columns,
    finite_sums,
    novikoff_bound,
    separability_facts,
    set_separability,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.solvers import Patience
from lyceum._core.statistics import Moments
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, ClassWeight, Data, Target, Weights
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.linear.linear_scores import (
    CLASS_WEIGHT,
    LinearScores,
    check_same_weights,
    weights_at,
    weights_at_zero,
)
from lyceum.linear.perceptron_passes import PerceptronPasses
from lyceum.linear.row_passes import without_checks
from lyceum.progress import report
from lyceum.report import Summary


class Perceptron(LinearScores):
    """Rosenblatt's perceptron in its primal form, for two classes and for more.

    Rows are taken one after the other. A row that is not strictly on its own side moves the
    weights, w ← w + eta0 · y (x, 1). Of more than two classes, every one has such weights against
    the rest; with `multi_class="joint"` a row is added to the weights of its class and taken from
    those of the class that beat it.

    As on paper, with shuffle=False and tol=None, rows come in their order and passes go on until
    one is without a mistake. If some hyperplane separates the classes with margin γ, no more than
    (R/γ)² mistakes are made in all, R being the length of the longest row (x, 1) (Novikoff, 1962);
    a pass without a mistake then shows the classes to be separable, and ends it. If that does not
    come about within `max_iter` passes, a warning says so: the perceptron cannot tell classes that
    overlap from classes that need more passes.

    A row's weight scales its steps; zero-weight rows are ignored. Rows are shuffled within windows
    of 2²⁴ cells, in memory and in streams alike.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        Before every row the weights shrink by 1 − eta0 · alpha (1 − l1_ratio), after it they move
        towards zero by eta0 · alpha · l1_ratio; "l2" has an L1 share of 0, "l1" of 1. Intercepts
        are free. With a penalty passes without a mistake do not end it, as the weights go on to
        change.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of the L1 norm in the penalty "elasticnet".
    tol : float or None, default=1e-3
        Stop when the mean loss max(0, −y f(x)) with the penalty, as rows met it, or with
        `early_stopping` the score, has not improved by this in `n_iter_no_change` passes in a row.
        None: only a pass without a mistake ends it.
    shuffle : bool, default=True
        Whether rows are shuffled in every pass.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of the rows of each class; of a class against the rest they count
        for the rows of the class alone. "balanced": total weight / (K · weight of the class).
    eta0 : float, default=1.0
        The length of a step. From weights of zero it changes their scale, not the decisions.
    early_stopping : bool, default=False
        Whether rows are held out, as many of every class, and `tol` is about their accuracy.
    validation_fraction : float, default=0.1
        The share of rows held out by `early_stopping`.
    n_iter_no_change : int, default=5
        The passes without an improvement after which a class is done.
    multi_class : {"ovr", "joint"}, default="ovr"
        Of more than two classes: each against the rest, or all in one.
    center : bool, default=False
        Whether rows are taken about the column means, which makes for fewer mistakes; without an
        intercept they are taken as they are.
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
        The number of passes, of the class that took the most.
    t_ : float
        The number of rows looked at, plus 1: n_iter_ times the rows.
    radius_ : float
        R, about the means if centered, with the constant 1 of the intercept.
    margin_ : float
        The margin of the hyperplane found, of weights of length one, of several the least; NaN if
        it does not separate the classes.
    mistake_bound_ : float
        (R / margin_)², at least Novikoff's bound, whose γ is the largest margin; summed over the
        classes of "ovr", twice that for several classes of "joint". NaN if the classes are not
        separated, and with a penalty or a start other than zero, for which there is no bound.
    record_ : list of dict
        With `record=True`: step, coef, intercept and mistakes of every pass. With "steps" also
        rows: the weights and the intercept (last) after every row as it was taken, (n_rows,
        n_design_columns + 1), of more than two classes (n_rows, K, n_design_columns + 1).

    See Also
    --------
    MarginClassifier : Losses of the margin, for classes that overlap.
    LogisticRegression : Posteriors of the classes.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and
    organization. Novikoff (1962), On convergence proofs on perceptrons. Tsuruoka, Tsujii and
    Ananiadou (2009), Stochastic gradient descent training for L1-regularized log-linear models
    with cumulative penalty.

    Examples
    --------
    >>> from lyceum.linear import Perceptron
    >>> model = Perceptron(shuffle=False, tol=None)
    >>> model = model.fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"])
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
        "penalty": [None, StrOptions({"l1", "l2", "elasticnet"})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [None, Interval(Real, 0, None, closed="left")],
        "shuffle": ["boolean"],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "class_weight": CLASS_WEIGHT,
        "warm_start": ["boolean"],
        "multi_class": [StrOptions({"ovr", "joint"})],
        "center": ["boolean"],
        "record": ["boolean", StrOptions({"steps"})],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        multi_class: str = "ovr",
        center: bool = False,
        record: bool | str = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.multi_class = multi_class
        self.center = center
        self.record = record
        self.categorical_features = categorical_features

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        *,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ):
        """Learn from the rows of X, pass by pass.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        coef_init, intercept_init : arrays shaped as `coef_` and `intercept_`, optional
            The weights to start from, for two classes also a flat list and a number; zeros unless
            they are given.
        """
        before = None
        if self.warm_start and hasattr(self, "coef_"):
            before = self.schema_
        rows, factors = self._weighted_by_class(self._rows(X, y, sample_weight))
        moments = finite_sums(rows.reduce(Moments.of))
        self.mean_ = moments.mean
        self.history_: list[int] = []
        self.t_ = 1.0
        if self.record:
            self.record_: list[dict] = []
        self._shift = self.mean_ * float(self.center and self.fit_intercept)
        self._weight = float(moments.weight.max())
        if before is not None:
            check_same_columns(self, before)
            coef_init = self.coef_
            intercept_init = self.intercept_
        theta = self._first_weights(coef_init, intercept_init)
        self._from_zero = not theta.any()
        passes = self._passes(theta, factors)
        self._learn(passes, without_checks(rows))
        return self

    # scikit-learn puts the classes before the weights
    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """One more pass, over these rows, from the weights so far.

        `separable_`, `margin_` and `radius_` are then of these rows. With `center` rows are
        taken about the means of the first call. `classes` names, in the first call, classes whose
        rows come later.
        """
        if self.early_stopping:
            raise SettingError(
                "early_stopping should be False with partial_fit: it makes one pass per call"
            )
        before = self._weights_before()
        rows = self._more_rows(X, y, sample_weight, classes)
        rows, factors = self._weighted_by_class(rows, all_rows=False)
        moments = finite_sums(rows.reduce(Moments.of))
        if before is not None:
            check_same_weights(before, (self.classes_.tolist(), self.design_names))
        theta = self._weights_so_far(moments, is_first=before is None)
        if self.record:
            self.record_ = list(getattr(self, "record_", []))
        passes = self._passes(theta, factors)
        rows = without_checks(rows)
        if len(self.classes_) > 1:
            self._one_pass(passes, rows, np.arange(passes.n_problems))
        self._finish(passes, rows)
        return self

    def _weights_before(self) -> tuple[list, Sequence[str]] | None:
        """The classes and columns that there are weights for; None before the first fit."""
        if not hasattr(self, "coef_"):
            return None
        return self.classes_.tolist(), self.design_names

    def _weights_so_far(self, moments: Moments, is_first: bool) -> np.ndarray:
        """The weights, the intercepts taken at the shift; means and weight take in more rows."""
        more = float(moments.weight.max())
        if is_first:
            self.mean_ = moments.mean
            self.history_ = []
            self.t_ = 1.0
            self._weight = more
            self._shift = moments.mean * float(self.center and self.fit_intercept)
            self._from_zero = True
            return self._first_weights(None, None)
        self.history_ = list(self.history_)
        self._weight += more
        share = more / max(self._weight, 1e-300)
        self.mean_ = self.mean_ + share * (moments.mean - self.mean_)
        return weights_at(self._shift, self.coef_, self.intercept_)

    def _first_weights(
        self,
        coef_init: ArrayLike | None,
        intercept_init: ArrayLike | None,
    ) -> np.ndarray:
        """Weights, and intercepts at the shift, (1 or K, d + 1)."""
        outputs = len(self.classes_) if len(self.classes_) > 2 else 1
        shape = (outputs, len(self._shift))
        coef = np.zeros(shape)
        if coef_init is not None:
            coef = number_setting("coef_init", coef_init)
        intercept = np.zeros(outputs)
        if intercept_init is not None:
            intercept = number_setting("intercept_init", intercept_init)
        if coef.size != outputs * shape[1] or intercept.size != outputs:
            raise SettingError(
                f"coef_init and intercept_init must have shape {shape} and {outputs} intercepts,"
                f" got {coef.shape} and {intercept.shape}"
            )
        return weights_at(self._shift, coef.reshape(shape), intercept.reshape(-1))

    # -- passes ------------------------------------------------------------------------

    def _weighted_by_class(
        self, rows: Rows, all_rows: bool = True
    ) -> tuple[Rows, np.ndarray | None]:
        """The rows with weights times the factors of their classes, or, of classes against the
        rest, the factors, which count for the class alone, as in scikit-learn."""
        if self.multi_class == "joint" or len(self.classes_) <= 2:
            return self._with_class_weights(rows, all_rows), None
        return rows, self._class_factors(rows, all_rows)

    def _passes(
        self, theta: np.ndarray, class_factors: np.ndarray | None
    ) -> PerceptronPasses:
        shares = {None: 0.0, "l2": 0.0, "l1": 1.0}
        share = shares.get(self.penalty, self.l1_ratio)
        alpha = 0.0 if self.penalty is None else self.alpha
        rule = (self.eta0, (1.0 - share) * alpha, share * alpha, self.fit_intercept)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return PerceptronPasses(
            theta,
            self._shift,
            rule,
            joint=self.multi_class == "joint" and len(theta) > 1,
            seed=int(seed) if self.shuffle else None,
            trace=self.record == "steps",
            class_factors=class_factors,
        )

    def _learn(self, passes: PerceptronPasses, rows: Rows) -> None:
        """Pass after pass, until every problem is without a mistake or its patience ends."""
        held = None
        if self.early_stopping:
            rows, held = self._held_out(rows)
        tol = self.tol or 0.0
        patience = [Patience(tol) for _ in range(passes.n_problems)]
        open_problems = np.arange(passes.n_problems if len(self.classes_) > 1 else 0)
        for number in range(1, self.max_iter + 1):
            if not len(open_problems):
                break
            losses = self._one_pass(passes, rows, open_problems)
            report("passes", number, self.max_iter)
            if held is not None:
                losses = -passes.right_shares(held)
            still_open = []
            for problem in open_problems:
                patience[problem].see(float(losses[problem]))
                is_done = self.penalty is None and passes.mistakes[problem] == 0
                waited = patience[problem].waited
                if self.tol is not None and waited >= self.n_iter_no_change:
                    is_done = True
                if not is_done:
                    still_open.append(problem)
            open_problems = np.array(still_open, dtype=np.intp)
        self._finish(passes, rows)
        self._warn(stopped_short=len(open_problems) > 0)

    def _held_out(self, rows: Rows) -> tuple[Rows, Rows]:
        """The rows to learn from, and those to judge by: a share of every class."""
        from sklearn.model_selection import StratifiedShuffleSplit  # brings metrics

        codes = np.asarray(rows.coded_y)
        split = StratifiedShuffleSplit(
            1, test_size=self.validation_fraction, random_state=self.random_state
        )
        kept, held = next(split.split(np.zeros((len(codes), 1)), codes))
        return rows.take(np.sort(kept)), rows.take(np.sort(held))

    def _one_pass(
        self, passes: PerceptronPasses, rows: Rows, problems: np.ndarray
    ) -> np.ndarray:
        """One pass for some problems; keeps what it did, and returns their mean losses."""
        number = len(self.history_) + 1
        losses, steps = passes.run(rows, number, problems)
        self.history_.append(int(passes.mistakes[problems].sum()))
        self.t_ += passes.n_rows
        if not self.record:
            return losses
        self._keep(passes)
        step: dict[str, Any] = {
            "step": number,
            "coef": self.coef_,
            "intercept": self.intercept_,
            "mistakes": self.history_[-1],
        }
        # intercepts at x = 0 after every row; of two classes the one row of weights
        if self.record == "steps":
            after = np.array(steps)
            after[:, :, -1] -= after[:, :, :-1] @ self._shift
            step["rows"] = after[:, 0] if after.shape[1] == 1 else after
        self.record_.append(step)
        return losses

    def _keep(self, passes: PerceptronPasses) -> None:
        self.coef_, self.intercept_ = weights_at_zero(passes.theta, passes.shift)

    def _finish(self, passes: PerceptronPasses, rows: Rows) -> None:
        """The weights, and the verdict: whether there were mistakes, the margin and the bound."""
        self._keep(passes)
        if not np.isfinite(passes.theta).all():
            raise DataError(
                "Floating-point under-/overflow occurred: the cells or weights are too large for"
                " steps of eta0: scale them with StandardScaler or MinMaxScaler"
            )
        radius, margins = passes.reach(rows)
        bound = np.nan
        if self._from_zero and self.penalty is None:
            bound = novikoff_bound(radius, margins, 2.0 if passes.joint else 1.0)
        separable = not passes.mistakes.any()
        set_separability(self, separable, radius, float(margins.min()), bound)

    def _warn(self, stopped_short: bool) -> None:
        if not stopped_short:
            return
        why = (
            "the classes overlap, or their margin is so small that more passes are needed. For"
            " classes that overlap take LogisticRegression or MarginClassifier"
        )
        if self.tol is not None:
            why = (
                "Maximum number of iteration reached before convergence. Consider increasing"
                " max_iter to improve the fit, or tol"
            )
        warnings.warn(
            f"Perceptron made {self.history_[-1]} mistakes in the last of"
            f" max_iter={self.max_iter} passes: {why}",
            ConvergenceWarning,
            stacklevel=5,
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

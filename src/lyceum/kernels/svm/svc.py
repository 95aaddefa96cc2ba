"""Support vector classification."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Classifier
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, dense_cells
from lyceum._core.probability import class_weight_factors
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, ClassWeight, Data, Operation, Target, Weights
from lyceum.errors import SettingError, cannot_export
from lyceum.kernels.svm.margin_machine import MarginMachine, fit_margin_machine
from lyceum.kernels.svm.multiclass import (
    calibrate_machines,
    check_classes_left,
    class_scores,
    coupled_posteriors,
    machine_classes,
    machine_rows,
    pack_pairs,
    pair_votes,
    posterior_operations,
    unpack_pairs,
)
from lyceum.kernels.svm.report import (
    explain_by_columns,
    explain_by_support_vectors,
    svc_summary,
)
from lyceum.kernels.svm.shared_rows import SharedRows
from lyceum.kernels.svm.support_vectors import SVM_CONSTRAINTS, SupportVectors
from lyceum.kernels.svm.workings import check_can_show, dual_workings
from lyceum.report import Explanation, Summary


class SVC(Classifier, SupportVectors):
    """Support vector classification: the widest margin in the feature space of a kernel.

    With y of -1 and 1 and f(x) = w·φ(x) + b the machine of two classes minimizes

        ½ |w|² + Σ C_i ξ_i,   y_i f(x_i) ≥ 1 - ξ_i,  ξ_i ≥ 0,   C_i = C · weight of row i,

    by its dual: maximize Σ α_i - ½ Σ_ij α_i α_j y_i y_j k(x_i, x_j) over 0 ≤ α_i ≤ C_i and Σ α_i
    y_i = 0. A row with f(x) = 0 is of the second class, of a pair among more, too. With C=inf the
    margin is hard; classes that are not separable are an error. K > 2 classes have a machine per
    pair, which votes, or one per class against all others, whose largest score decides.

    Working sets of some thousand variables are solved by SMO; kernel rows come from matrix products
    as they are needed, so that memory grows with the rows, not with their square. Problems of up to
    200 rows and hard margins are solved beyond `tol`, to the last digit. All rows are kept in
    memory.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of slack costs; inf for a hard margin.
    gamma : float, "scale", "auto", "median" or "closest", default="scale"
        γ of a kernel given by its name: "scale" is 1 / (d · variance of the cells), and 1 for
        "distance"; "auto" is 1 / d; "median" and "closest" are widths of "rbf", see `median_sigma`
        and `closest_sigma`.
    fit_intercept : bool, default=True
        Whether there is a b; without, b = 0.
    intercept_scaling : float, default=inf
        inf: b is free, which gives the dual its Σ α_i y_i = 0. A number s folds b in as the weight
        of a column of s: ½ (b/s)² is added to the objective, as in `LinearSVC`.
    strategy : {"one_vs_one", "one_vs_rest"}, default="one_vs_one"
        The machines of more than two classes.
    record : bool, default=False
        Whether to keep α after every step of SMO, in `record_`: for small tables.
    probability : bool, default=False
        Whether `predict_proba` is available: a sigmoid of the scores, fitted on five folds of rows
        that the machine has not seen, and coupled over the machines.
    tol : float, default=1e-3
        The largest violation of the optimality conditions, in units of f.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` gives for three classes and more: a score per class, or one per
        pair of classes.
    break_ties : bool, default=False
        Whether classes with equally many votes are told apart by the sums of their scores, so that
        `predict` is the largest of `decision_function`; else the first of them is taken.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its settings.
    machines_ : list of (int, int)
        The classes of every machine by their index, (against, for); -1 stands for all others. Of
        two classes the second is the one for which a score is positive, of a pair among more the
        first, as in scikit-learn.
    alpha_ : array of shape (n,), or (n, n_machines)
        α of every row of `fit`; 0 for rows that a machine has not seen.
    slack_ : array of shape (n,), or (n, n_machines)
        ξ of every row; NaN for rows that a machine has not seen.
    support_ : array of int of shape (n_support,)
        The numbers of the rows with an α above 0, class by class.
    support_vectors_ : array or CSR of shape (n_support, d)
        Their cells; without columns for precomputed kernels.
    dual_coef_ : array or CSR of shape (K - 1, n_support), or (K, n_support)
        α y of the support vectors: of pairs, one row per other class in their order, so that a
        support vector of class i has its machine with class j in row j, or j - 1 if j > i; for
        "one_vs_rest" one row per class.
    intercept_ : array of shape (n_machines,)
        b of every machine.
    coef_ : array of shape (n_machines, d)
        w, for the linear kernel.
    n_support_ : array of int of shape (K,)
        The support vectors of every class.
    n_on_margin_, n_at_bound_ : array of int of shape (n_machines,)
        The support vectors with 0 < α < C and with α = C.
    n_slack_, n_wrong_ : array of int of shape (n_machines,)
        The rows with ξ > 0, inside of the margin, and with ξ > 1, on the wrong side.
    weight_norm_ : array of shape (n_machines,)
        |w|.
    margin_width_ : array of shape (n_machines,)
        2 / |w|.
    primal_objective_, dual_objective_ : array of shape (n_machines,)
        The two objectives; their difference is the duality gap.
    kkt_residual_ : array of shape (n_machines,)
        The largest violation of the Karush-Kuhn-Tucker conditions, in units of f.
    calibration_ : array of shape (n_machines, 2)
        With `probability=True`: P = 1 / (1 + exp(-(A f + B))).
    base_point_ : array of shape (d,)
        Where explanations start: the means of the columns.
    n_iter_ : array of int of shape (n_machines,)
        The number of steps of SMO of every machine.
    record_ : list of dict
        With `record=True`, for every step of SMO its number `step`, `machine`, the `pair` of rows
        that moved (several where the last digits were solved for), `alpha` of all rows and the dual
        `objective`.
    history_ : list of float
        The dual objective of the machines, working set by working set.

    See Also
    --------
    LinearSVC : linear machines for many rows and sparse columns.
    SVR : regression.
    lyceum.linear.MarginClassifier : the same loss without a dual, over files of any size.

    References
    ----------
    Cortes, C. and Vapnik, V. (1995). Support-vector networks. Machine Learning 20(3).

    Examples
    --------
    >>> from lyceum.kernels import SVC
    >>> X, y = [[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0]], [-1, -1, 1]
    >>> model = SVC(kernel="linear", C=float("inf")).fit(X, y)
    >>> model.alpha_.round(6).tolist(), model.coef_.round(6).tolist(), float(model.margin_width_[0])
    ([0.0, 0.125, 0.125], [[0.0, -0.5]], 4.0)
    """

    _parameter_constraints: ClassVar[dict] = {
        **SVM_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="right")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="right")],
        "strategy": [StrOptions({"one_vs_one", "one_vs_rest"})],
        "probability": ["boolean", StrOptions({"deprecated"})],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "random_state": ["random_state"],
        "record": ["boolean"],
    }
    _step_kind = StepKind(
        "step",
        (
            StepColumn("machine", "machine", "the number of the pair of classes"),
            StepColumn("pair", "i, j", "the pair of rows that violates most"),
            StepColumn(
                "alpha",
                "α",
                "α_i ← α_i + y_i d, α_j ← α_j − y_j d, d = (v_i − v_j) / |φ_i − φ_j|²"
                " within 0 ≤ α ≤ C",
                axes=("row",),
            ),
            StepColumn(
                "objective",
                "D",
                "D = Σ α − ½ Σ α_i α_j y_i y_j k(x_i, x_j), which rises",
            ),
        ),
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: object = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: ClassWeight = None,
        verbose: int = 0,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = np.inf,
        strategy: str = "one_vs_one",
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.strategy = strategy
        self.record = record
        self.probability = probability
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Solve the dual problem of every machine.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
            For a precomputed kernel the kernel values of all pairs of rows.
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Factors on C; rows whose weight is not positive are ignored.
        """
        block, cells, weighted, n = self._gather_rows(X, y, sample_weight)
        assert block.y is not None
        check_classes_left(block.y, len(self.classes_))
        self.machines_ = machine_classes(len(self.classes_), self.strategy)
        bound = self._bounds(block.y, block.weights)
        rows = SharedRows(self.kernel_, cells)
        if len(self.machines_) > 1 or self._has_posteriors:
            cache = self._solver_settings.cache
            rows = SharedRows.of(self.kernel_, cells, bound, cache)
        machines = [
            self._machine(rows, block.y, bound, *pair) for pair in self.machines_
        ]
        self._finish(machines, cells, block.y, weighted, n)
        self.__dict__.pop("record_", None)
        if self.record:
            self._keep_record(machines, cells, weighted, n)
        if self._has_posteriors:
            self.calibration_ = calibrate_machines(
                self,
                rows,
                codes=block.y,
                w=block.weights,
                bound=bound,
            )
        return self

    def _bounds(self, codes: np.ndarray, w: np.ndarray) -> np.ndarray:
        """C_i of every row."""
        weight = np.bincount(codes, w, len(self.classes_))
        labels = self.classes_.tolist()
        factors = class_weight_factors(self.class_weight, labels, weight)
        # inf · 0 is NaN: a row that counts nothing has no force, whatever C is
        with np.errstate(invalid="ignore"):
            bound = self.C * w * (1.0 if factors is None else factors[codes])
        return np.nan_to_num(bound, nan=0.0, posinf=np.inf)

    def _machine(
        self,
        rows: SharedRows,
        codes: np.ndarray,
        bound: np.ndarray,
        against: int,
        favored: int,
    ) -> tuple[np.ndarray, MarginMachine]:
        """The rows of a machine, and its solution."""
        mine = machine_rows(codes, against, favored)
        signs = np.where(codes[mine] == favored, 1.0, -1.0)
        return mine, self._solve_machine(rows, mine, signs, bound[mine])

    def _solve_machine(
        self, rows: SharedRows, mine: np.ndarray, signs: np.ndarray, bound: np.ndarray
    ) -> MarginMachine:
        X = rows.take(mine)
        scaling = float(self.intercept_scaling) if self.fit_intercept else 0.0
        settings = self._solver_settings
        return fit_margin_machine(rows.kernel, X, signs, bound, scaling, settings)

    def _finish(
        self,
        machines: list[tuple[np.ndarray, MarginMachine]],
        cells: ArrayLike,
        codes: np.ndarray,
        weighted: np.ndarray,
        n: int,
    ) -> None:
        M = len(machines)
        alpha = np.zeros((n, M))
        slack = np.full((n, M), np.nan)
        coef = np.zeros((len(weighted), M))
        for m, (mine, machine) in enumerate(machines):
            alpha[weighted[mine], m] = machine.alpha
            slack[weighted[mine], m] = machine.slack
            coef[mine, m] = machine.signs * machine.alpha
        self.alpha_ = alpha[:, 0] if M == 1 else alpha
        self.slack_ = slack[:, 0] if M == 1 else slack
        # support vectors class by class, as in scikit-learn
        used = np.flatnonzero((coef != 0).any(axis=1))
        used = used[np.argsort(codes[used], kind="stable")]
        self._store_support(used, coef, cells, weighted)
        self._set_dual_coef(coef[used], codes[used])
        self._keep_sparse()
        self._set_optima([machine for _, machine in machines])

    def _keep_record(
        self,
        machines: list[tuple[np.ndarray, MarginMachine]],
        cells: Any,
        weighted: np.ndarray,
        n: int,
    ) -> None:
        """α of all rows after every step of every machine."""
        self.record_: list[dict[str, Any]] = []
        shift = 0.0
        if self.fit_intercept and np.isfinite(self.intercept_scaling):
            shift = float(self.intercept_scaling) ** 2
        for m, (mine, machine) in enumerate(machines):
            if self._is_precomputed:
                K = cells[np.ix_(mine, mine)]
            else:
                K = self.kernel_.gram(cells[mine])
            last = machine.record[0]
            # the last digits are solved for after the steps
            moved = not np.array_equal(machine.record[-1], machine.alpha)
            for step in [*machine.record, *([machine.alpha] if moved else [])]:
                alpha = np.zeros(n)
                alpha[weighted[mine]] = step
                coef = machine.signs * step
                pair = weighted[mine][np.flatnonzero(step != last)]
                entry = {
                    "step": len(self.record_),
                    "machine": m,
                    "pair": pair.tolist(),
                    "alpha": alpha,
                    "objective": float(step.sum() - 0.5 * coef @ (K + shift) @ coef),
                }
                self.record_.append(entry)
                last = step

    def _set_dual_coef(self, coef: np.ndarray, codes: np.ndarray) -> None:
        K = len(self.classes_)
        self.n_support_ = np.bincount(codes, minlength=K)
        self.dual_coef_ = np.ascontiguousarray(coef.T)
        if self._has_pairs:
            self.dual_coef_ = pack_pairs(coef, self.machines_, codes, K)

    def _set_optima(self, machines: list[MarginMachine]) -> None:
        """What is known about the optimum of every machine."""

        def of_each(value: Callable[[MarginMachine], Any]) -> np.ndarray:
            return np.array([value(machine) for machine in machines])

        self.intercept_ = of_each(lambda machine: machine.intercept)
        self.n_on_margin_ = of_each(lambda machine: int(machine.on_margin.sum()))
        self.n_at_bound_ = of_each(lambda machine: int(machine.at_bound.sum()))
        self.n_slack_ = of_each(lambda machine: int((machine.slack > self.tol).sum()))
        self.n_wrong_ = of_each(lambda machine: int((machine.slack > 1.0).sum()))
        self.weight_norm_ = of_each(lambda machine: machine.length)
        self.margin_width_ = of_each(lambda machine: machine.margin_width)
        self.primal_objective_ = of_each(lambda machine: machine.primal)
        self.dual_objective_ = of_each(lambda machine: machine.dual)
        self.kkt_residual_ = of_each(lambda machine: machine.kkt)
        self.n_iter_ = np.array([m.steps for m in machines] or [0], dtype=np.int32)
        self.converged_ = all(machine.converged for machine in machines)
        # one rising curve: every machine on top of the objectives of those before it
        self.history_ = []
        solved = 0.0
        for machine in machines:
            self.history_ += [float(value + solved) for value in machine.history]
            solved += machine.dual
        self._warn_unless_converged(self.converged_)

    @property
    def _has_posteriors(self) -> bool:
        return self.probability is True or self.probability is np.True_

    @property
    def _has_pairs(self) -> bool:
        """Whether every machine is of two classes."""
        return self.strategy == "one_vs_one" or len(self.classes_) <= 2

    def _machine_coef(self) -> np.ndarray:
        # the only machine of two classes has seen all support vectors
        if not self._has_pairs or self.dual_coef_.shape[0] == 1:
            return super()._machine_coef()
        codes = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        return unpack_pairs(dense_cells(self.dual_coef_), self.machines_, codes)

    # -- predict -----------------------------------------------------------------------

    def _class_scores(self, X: Any) -> np.ndarray:
        """One score per class, (n, K)."""
        scores = self._machine_scores(X)
        K = len(self.classes_)
        if K == 1:
            return np.zeros((X.shape[0], 1))
        if K == 2:
            return np.column_stack([-scores[:, 0], scores[:, 0]])
        return class_scores(scores, self.machines_, K)

    @property
    def _decides_apart(self) -> bool:
        return self._has_posteriors

    def _operations(self) -> list[Operation]:
        if len(self.classes_) < 2:
            raise cannot_export(self, "it has one class")
        scores = self._machine_operations()
        decided = self._decision_operations()
        if not self._has_posteriors:
            return [*scores, *decided]
        posteriors = posterior_operations(
            self.calibration_, self.machines_, len(self.classes_)
        )
        return [*scores, ("branches", {"branches": [posteriors, decided]})]

    def _decision_operations(self) -> list[Operation]:
        """From f of every machine to what classes are decided by, for exported models."""
        K = len(self.classes_)
        if K == 2:
            return [("sides", {})]
        if not self._has_pairs:
            return []
        pairs = {
            "machines": [list(pair) for pair in self.machines_],
            "size": K,
            "strict": not self.break_ties,
            "breaks_ties": bool(self.break_ties),
        }
        return [("pairs", pairs)]

    def decision_function(self, X: Data) -> Any:
        """f(x) of the second of two classes, (n,), or one score per class, (n, K).

        With machines of pairs a score counts votes, plus less than one half for the sum of f, which
        breaks ties.
        """
        return self._apply(partial(_decisions, self), X)

    def machine_scores(self, X: Data) -> Any:
        """f(x) of every machine, shape (n, n_machines)."""
        return self._apply(lambda block: self._machine_scores(block.X), X)

    def distances(self, X: Data) -> Any:
        """The signed distance of every row to the plane of every machine in feature space, f(x) /
        |w|."""
        length = np.where(self.weight_norm_ > 0, self.weight_norm_, 1.0)
        return self._apply(lambda block: self._machine_scores(block.X) / length, X)

    def predict(self, X: Data) -> Any:
        """The class of most votes, or of the largest score; of two, the second where f(x) = 0."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise SettingError(
                "break_ties must be False when decision_function_shape is 'ovo'"
            )
        return self._apply(partial(_classes, self), X)

    @available_if(lambda self: self._has_posteriors)
    def predict_proba(self, X: Data) -> Any:
        """The posteriors, one column per class; rows sum to 1."""
        return self._apply(partial(_posteriors, self), X)

    @available_if(lambda self: self._has_posteriors)
    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of the posteriors."""
        return np.log(self.predict_proba(X))

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data, by: str = "columns") -> Explanation:
        """What columns, or support vectors, add to the score.

        Columns: from `base_point_` to the row, the mean over replacing them from the first to the
        last and from the last to the first; for a linear kernel coef · (x - base). The score is
        that of the predicted class above the next class, or f for the second of two classes.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        by : {"columns", "support_vectors"}, default="columns"
            "support_vectors": α_i y_i k(x_i, x), from b on; for two classes.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        if by == "columns":
            return explain_by_columns(self, X)
        return explain_by_support_vectors(self, X, by)

    def summary(self) -> Summary:
        """The machines: support vectors, slacks, margins, both objectives and the KKT residuals."""
        return svc_summary(self, super().summary())

    def workings(self, X: Data = None) -> Summary:
        """The machine of two classes as on paper: the dual with its numbers, the linear system for
        α, and b from each support vector.

        Rows are called by their numbers in `fit`; those with α = 0 are left out. At most 20 support
        vectors are shown.

        Parameters
        ----------
        X : array of shape (n, n), for a precomputed kernel only
            The kernel values that `fit` was given.

        Returns
        -------
        Summary
        """
        check_is_fitted(self)
        check_can_show(self)
        if not self._is_precomputed:
            K = self.kernel_.gram(self.support_vectors_)
        elif X is None:
            raise SettingError(
                "a precomputed kernel keeps no values: workings(X) with those given to fit"
            )
        else:
            K = np.asarray(X)[np.ix_(self.support_, self.support_)]
        return dual_workings(self, np.asarray(K, dtype=np.float64))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        M = len(machine_classes(K, self.strategy))
        shapes = self._support_shapes(M, K - 1 if self._has_pairs else K)
        shapes["n_support_"] = (K,)
        if self.probability:
            shapes["calibration_"] = (M, 2)
        return shapes


def _decisions(learner: SVC, block: Block) -> np.ndarray:
    if learner.decision_function_shape == "ovo" and len(learner.classes_) > 2:
        return learner._machine_scores(block.X)
    scores = learner._class_scores(block.X)
    if len(learner.classes_) <= 2:
        return scores[:, -1]
    return scores


def _classes(learner: SVC, block: Block) -> np.ndarray:
    K = len(learner.classes_)
    if K > 2 and learner._has_pairs and not learner.break_ties:
        # the votes alone, of tied classes the first; f(x) = 0 is of the second class of a pair
        won = learner._machine_scores(block.X) > 0
        votes = pair_votes(won, learner.machines_, K)
        return learner.classes_[votes.argmax(axis=1)]
    scores = learner._class_scores(block.X)
    if K == 2:
        # f(x) = 0 counts as positive
        return learner.classes_[(scores[:, 1] >= 0).astype(np.intp)]
    return learner.classes_[scores.argmax(axis=1)]


def _posteriors(learner: SVC, block: Block) -> np.ndarray:
    if not learner.machines_:
        return np.ones((len(block), 1))
    if not hasattr(learner, "calibration_"):
        raise NotFittedError(
            "predict_proba is not available when fitted with probability=False: fit again"
        )
    scores = learner._machine_scores(block.X)
    slopes, offsets = learner.calibration_.T
    p = expit(slopes * scores + offsets)
    return coupled_posteriors(p, learner.machines_, len(learner.classes_))

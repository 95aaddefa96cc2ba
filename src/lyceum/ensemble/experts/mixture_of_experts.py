"""Mixture of experts and hierarchical mixture of experts."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    affine_operation,
    complexity,
    is_pipeline,
    normalize_posteriors,
    pipeline_steps,
    replace_columns,
    takes_weights,
    undefined,
)
from lyceum._core.constraints import HasMethods, Interval
from lyceum._core.data import Block, row_weights
from lyceum._core.members import (
    EitherTask,
    class_operations,
    has_classes,
    member_operations,
)
from lyceum._core.statistics import seed_from
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import (
    Categories,
    Data,
    Estimator,
    Operation,
    Target,
    Weights,
)
from lyceum.ensemble.committees.explanation import MemberExplanation
from lyceum.ensemble.experts.mixture import (
    ExpertRows,
    ExpertTask,
    GateTree,
    Result,
    class_posteriors,
    fit_experts,
    start_groups,
)
from lyceum.errors import DataError, SettingError
from lyceum.linear import Ridge
from lyceum.report import Summary, Table

_CONSTRAINTS: dict[str, Any] = {
    "expert": [HasMethods(["fit", "predict"]), None],
    "gate_alpha": [Interval(Real, 0.0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0.0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "record": ["boolean"],
    "random_state": ["random_state"],
    "categorical_features": CATEGORICAL_FEATURES,
}


class _Experts(EitherTask, Learner):
    """Experts under gates, whatever the shape of the tree."""

    _parameter_docs: ClassVar[str] = """
    expert : learner
        Any regressor, or any classifier with posteriors, whose `fit` takes `sample_weight`, or a
        pipeline that ends in one (its other steps get the weights too, if they take them). It sees
        numbers in units of their deviation and one-of-C columns. None is linear regression. Whether
        the mixture classifies or regresses follows from it.
    tol : float
        Stop when an iteration gains at most this much log-likelihood per unit of weight.
    """
    _attribute_docs: ClassVar[str] = """
    shares_ : array of shape (n_experts,)
        The share of the rows that every expert has.
    sigma_ : array of shape (n_experts,)
        The deviation of the errors of every regressor.
    classes_ : array of shape (K,)
        The class labels, sorted; of classifiers only.
    mean_, scale_ : array of shape (d,)
        Mean and deviation of every design column.
    history_ : list of float
        The penalized log-likelihood at the start and after every iteration.
    record_ : list of dict
        `step`, `objective`, `gain` and `shares` of every iteration, with `record`.
    n_iter_ : int
        The number of iterations.
    seed_ : int
        The seed that was used.
    """

    _step_kind = StepKind(
        "iteration",
        (
            StepColumn(
                "objective",
                "ln L",
                "ln L = Σ ln Σ_k g_k(x) p_k(y) − ½ α |v|², v of the gates",
            ),
            StepColumn("gain", "gain", "what the iteration added to ln L"),
            StepColumn(
                "shares",
                "shares",
                "the mean posterior of every expert",
                axes=("expert",),
            ),
        ),
    )
    _reads_rows = "in memory"
    _for_classes: ClassVar[str] = (
        "give it classifiers as experts, e.g. expert=LogisticRegression()"
    )
    _for_numbers: ClassVar[str] = "give it regressors as experts, e.g. expert=Ridge()"

    expert: Any
    gate_alpha: float
    max_iter: int
    tol: float
    n_init: int
    record: bool
    random_state: int | np.random.RandomState | None
    seed_: int
    classes_: np.ndarray
    estimators_: list[Any]
    history_: list[float]
    record_: list[dict[str, Any]]
    history_axes: ClassVar[tuple[str, str]] = ("iteration", "penalized log-likelihood")

    @property
    def _tree(self) -> GateTree:
        raise undefined(self, "_tree")

    def _expert(self) -> Any:
        if self.expert is None:
            return Ridge(alpha=1e-6)
        return self.expert

    def _task_giver(self) -> Any:
        return self._expert()

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit gates and experts together by expectation-maximization.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        expert = self._expert()
        self._check_expert(expert)
        name = type(self).__name__
        rows = self._rows(X, y, sample_weight)
        block = rows.in_one_block(name, "LinearRegression or LogisticRegression")
        block = block.without_zero_weights()
        if not len(block):
            raise DataError(f"{name} has no rows with a positive weight to learn from")
        task = self._task(block)
        self.seed_ = seed_from(self.random_state)
        runs = [self._run(task, expert, i) for i in range(self.n_init)]
        # the likeliest of the starts
        self._conclude(max(runs, key=lambda run: run.history[-1]))
        return self

    def _check_expert(self, expert: Estimator) -> None:
        last = expert
        while is_pipeline(last):
            last = last.steps[-1][1]
        if not takes_weights(last):
            raise SettingError(
                f"{type(last).__name__} cannot be an expert: its fit takes no sample_weight, by"
                " which rows are shared out; set expert to a learner that does, e.g. Ridge() or"
                " LogisticRegression()"
            )
        if has_classes(self) and not hasattr(expert, "predict_proba"):
            raise SettingError(
                f"{type(last).__name__} cannot be an expert: it has no predict_proba; set expert to"
                " a classifier with posteriors, e.g. LogisticRegression()"
            )

    def _task(self, block: Block) -> ExpertTask:
        X = np.ascontiguousarray(block.dense, dtype=np.float64)
        w = row_weights(block.w, len(block))
        share = w / w.sum()
        self.mean_ = share @ X
        scale = np.sqrt(share @ (X - self.mean_) ** 2)
        # a deviation that is rounding of a constant is not divided by
        varies = scale > 1e-12 * np.maximum(np.abs(self.mean_), 1.0)
        self.scale_ = np.where(varies, scale, 1.0)
        assert block.y is not None
        Z = self._standard(X)
        if has_classes(self):
            rows = ExpertRows(Z, self.classes_[block.y])
            return ExpertTask(rows, w, block.y, self.classes_)
        return ExpertTask(ExpertRows(Z, block.y), w, None, None)

    def _standard(self, X: Data) -> np.ndarray:
        return (np.asarray(X, dtype=np.float64) - self.mean_) / self.scale_

    def _run(
        self,
        task: ExpertTask,
        expert: Estimator,
        i: int,
    ) -> Result:
        # the first start is along the first principal axis, others along axes drawn at random
        rng = None if i == 0 else np.random.default_rng((self.seed_, i))
        return fit_experts(
            self._tree,
            task,
            expert,
            groups=start_groups(task.Z, task.w, self._tree.n_leaves, rng),
            alpha=self.gate_alpha,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _conclude(self, run: Result) -> None:
        self.gates_ = run.mixture.gates
        self.estimators_ = run.mixture.experts
        self.history_ = run.history
        self.n_iter_ = len(run.history) - 1
        self.shares_ = run.record[-1]["shares"]
        self.__dict__.pop("record_", None)
        self.__dict__.pop("sigma_", None)
        if self.record:
            self.record_ = run.record
        if not has_classes(self):
            self.sigma_ = run.mixture.sigma
            self.__dict__.pop("classes_", None)
        if not run.converged:
            warnings.warn(
                f"the mixture of experts stopped after max_iter={self.max_iter} iterations: raise"
                " max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- predict -----------------------------------------------------------------------

    def gate_proba(self, X: Data) -> Any:
        """The probability of every expert by the gates, one column each."""
        return self._apply(self._gate_shares, X)

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior, or the mean of the experts by the gates."""
        return self._apply(self._predict, X)

    @available_if(has_classes)
    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the experts, averaged by the gates."""
        return self._apply(self._mean_posteriors, X)

    # g_j(x), (n, experts), and the answers of experts, on standardized columns Z

    def _gate_shares(self, block: Block) -> np.ndarray:
        Z = self._standard(block.dense)
        return np.exp(self._tree.log_shares(Z, self.gates_))

    def _mean_posteriors(self, block: Block) -> np.ndarray:
        Z = self._standard(block.dense)
        shares = self._gate_shares(block)
        mean = np.zeros((len(Z), len(self.classes_)))
        for j, expert in enumerate(self.estimators_):
            if len(Z):
                posteriors = class_posteriors(expert, Z, self.classes_)
                mean += shares[:, j : j + 1] * posteriors
        return normalize_posteriors(mean)

    def _predict(self, block: Block) -> np.ndarray:
        if has_classes(self):
            return self.classes_[self._mean_posteriors(block).argmax(axis=1)]
        Z = self._standard(block.dense)
        shares = self._gate_shares(block)
        mean = np.zeros(len(Z))
        for j, expert in enumerate(self.estimators_):
            if len(Z):
                mean += shares[:, j] * expert.predict(Z)
        return mean

    def _operations(self) -> list[Operation]:
        members = []
        for expert in self.estimators_:
            # experts learned from standardized columns
            schema = pipeline_steps(expert)[0].schema_
            if has_classes(self):
                members.append(class_operations(expert, self.classes_, schema))
            else:
                members.append(member_operations(expert, schema))
        width = len(self.classes_) if has_classes(self) else 1
        branches = [self._tree.operations(self.gates_), *members]
        operations: list[Operation] = [
            affine_operation(self.mean_, self.scale_),
            ("branches", {"branches": branches}),
            ("mix", {"n": len(members), "width": width}),
        ]
        return [*operations, ("shares", {})] if has_classes(self) else operations

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> MemberExplanation:
        """What every column adds to the prediction, and the answer and share of every expert
        (`detail`).

        Columns add to the numbers of linear experts as the gates weigh them for the row; the base
        is the answer, with these gates, for a row at the means. For all other experts the columns
        of a row at the means are replaced by the row's own, one after the other, from both ends.
        """
        classes = None
        unit = self.schema_.target_name or "y"
        if has_classes(self):
            classes = self.classes_
            unit = "posterior"
        explanation, more = self._explain_with_more(X, self._explained_parts, unit)
        return MemberExplanation.of(
            explanation,
            more,
            classes,
            members=[f"expert {j}" for j in range(len(self.estimators_))],
            share_unit="share in the mean",
        )

    def _explained_parts(self, block: Block) -> np.ndarray:
        """Prediction, base, contributions of design columns, and answer, support and share of every
        expert."""
        if has_classes(self):
            columns = replace_columns(block, self.mean_, self._mean_posteriors)
        elif all(
            np.ndim(getattr(expert, "coef_", 0.0)) == 1 for expert in self.estimators_
        ):
            columns = self._linear_parts(block)
        else:
            columns = replace_columns(block, self.mean_, self._predict)
        Z = self._standard(block.dense)
        gate = self._gate_shares(block)
        members = np.full((len(Z), len(self.estimators_), 3), np.nan)
        for j, expert in enumerate(self.estimators_ if len(Z) else ()):
            if has_classes(self):
                proba = class_posteriors(expert, Z, self.classes_)
                support = proba[np.arange(len(Z)), columns[:, 0].astype(int)]
                members[:, j, 0] = proba.argmax(axis=1)
                members[:, j, 1] = support
            else:
                support = expert.predict(Z)
                members[:, j, 0] = support
            members[:, j, 2] = gate[:, j] * support
        return np.hstack([columns, members.reshape(len(Z), 3 * len(self.estimators_))])

    def _linear_parts(self, block: Block) -> np.ndarray:
        """f(x) = Σ_j g_j(x) (b_j + a_jᵀz): the base is Σ_j g_j b_j, a column adds Σ_j g_j a_j z."""
        Z = self._standard(block.dense)
        shares = self._gate_shares(block)
        coef = np.stack([np.ravel(expert.coef_) for expert in self.estimators_])
        intercepts = [np.ravel(expert.intercept_)[0] for expert in self.estimators_]
        base = shares @ np.array(intercepts, dtype=np.float64)
        added = (shares @ coef) * Z
        return np.column_stack([base + added.sum(axis=1), base, added])

    def summary(self) -> Summary:
        """The experts, the share of the rows of each, and how EM went."""
        check_is_fitted(self)
        heads = ["expert", "learner", "share of rows"]
        rows: list[list[Any]] = [
            [f"expert {j}", type(expert).__name__, float(self.shares_[j])]
            for j, expert in enumerate(self.estimators_)
        ]
        if not has_classes(self):
            heads.append("deviation")
            for row, sigma in zip(rows, self.sigma_.tolist()):
                row.append(sigma)
        facts = {
            "experts": len(rows),
            "gates": len(self.gates_),
            "iterations": self.n_iter_,
            "penalized log-likelihood": self.history_[-1],
        }
        return Summary(self._title(), facts, [Table("Experts", heads, rows)])

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the gates and of the experts."""
        check_is_fitted(self)
        return int(self.gates_.size) + sum(map(complexity, self.estimators_))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        tree = self._tree
        shapes: dict[str, tuple[int, ...]] = {
            "gates_": (tree.n_gates, tree.branching, d + 1),
            "mean_": (d,),
            "scale_": (d,),
            "shares_": (tree.n_leaves,),
        }
        if has_classes(self):
            return shapes
        return shapes | {"sigma_": (tree.n_leaves,)}


class MixtureOfExperts(_Experts):
    """Mixture of experts: a softmax gate shares rows out to experts, and all learn together by EM.

    .. math:: p(y|x) = \\sum_j g_j(x)\\, p_j(y|x), \\qquad g(x) = \\operatorname{softmax}(V [x; 1])

    Regressors have p_j = N(f_j(x), σ_j²), classifiers their posteriors. The E-step finds how
    responsible every expert is for every row; the M-step fits each expert with these weights and
    the gate to these shares. The penalized log-likelihood never decreases: an expert that would
    lower it is not taken.

    Parameters
    ----------
    n_experts : int, default=3
        The number of experts.
    gate_alpha : float, default=0.01
        The penalty on the squared weights of the gate, which keeps it from becoming infinitely
        sharp.
    n_init : int, default=3
        Starts: the first one shares rows out along their first principal axis, others along random
        ones.

    Attributes
    ----------
    estimators_ : list of learners
        The experts.
    gates_ : array of shape (1, n_experts, d + 1)
        The weights V of the gate, intercepts last.

    See Also
    --------
    HierarchicalMixtureOfExperts : Gates in a tree.
    lyceum.trees.ModelTreeRegressor : Hard splits with a linear model in every leaf.

    References
    ----------
    Jacobs, Jordan, Nowlan and Hinton (1991), Adaptive mixtures of local experts, Neural Computation
    3. Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm, Neural
    Computation 6.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = MixtureOfExperts(n_experts=2).fit(x, np.abs(x[:, 0]))
    >>> model.score(x, np.abs(x[:, 0])) > 0.99
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **_CONSTRAINTS,
        "n_experts": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        expert: Any = None,
        *,
        n_experts: int = 3,
        gate_alpha: float = 0.01,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_init: int = 3,
        record: bool = False,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.expert = expert
        self.n_experts = n_experts
        self.gate_alpha = gate_alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.record = record
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _tree(self) -> GateTree:
        return GateTree(self.n_experts, 1)


class HierarchicalMixtureOfExperts(_Experts):
    """Hierarchical mixture of experts: softmax gates in a tree, experts at its leaves, by EM.

    .. math:: p(y|x) = \\sum_i g_i(x) \\sum_j g_{j|i}(x) \\cdots p_{ij\\ldots}(y|x)

    A decision tree with soft splits along any direction and a model in every leaf, all of it
    learned together. The penalized log-likelihood never decreases.

    Parameters
    ----------
    depth : int, default=2
        The levels of gates.
    branching : int, default=2
        The ways at every gate; there are branching ** depth experts.
    gate_alpha : float, default=0.01
        The penalty on the squared weights of the gates, which keeps them from becoming infinitely
        sharp.
    n_init : int, default=1
        Starts: the first one shares rows out along their first principal axis, others along random
        ones. The likeliest of several fits the training rows more closely, which need not be better
        on others.

    Attributes
    ----------
    estimators_ : list of learners
        The experts, from left to right.
    gates_ : array of shape (n_gates, branching, d + 1)
        The weights of every gate, level by level, intercepts last.

    See Also
    --------
    MixtureOfExperts : One gate.

    References
    ----------
    Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm, Neural
    Computation 6.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = HierarchicalMixtureOfExperts(depth=2).fit(x, np.sin(3 * x[:, 0]))
    >>> model.score(x, np.sin(3 * x[:, 0])) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **_CONSTRAINTS,
        "depth": [Interval(Integral, 1, 10, closed="both")],
        "branching": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        expert: Any = None,
        *,
        depth: int = 2,
        branching: int = 2,
        gate_alpha: float = 0.01,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_init: int = 1,
        record: bool = False,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.expert = expert
        self.depth = depth
        self.branching = branching
        self.gate_alpha = gate_alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.record = record
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _tree(self) -> GateTree:
        return GateTree(self.branching, self.depth)

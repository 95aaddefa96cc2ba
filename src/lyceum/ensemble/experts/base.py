"""What mixtures of experts share: the fit by EM, the gate, the mean of the experts' answers."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    complexity,
    is_pipeline,
    normalize_posteriors,
    replace_columns,
    takes_weights,
    undefined,
)
from lyceum._core.constraints import HasMethods, Interval
from lyceum._core.data import Block
from lyceum._core.statistics import seed_from
from lyceum.ensemble.committees.explanation import CommitteeExplanation
from lyceum.ensemble.experts.mixture import (
    ExpertTask,
    GateTree,
    Result,
    class_posteriors,
    fit_experts,
    start_groups,
    warn_unconverged,
)
from lyceum.ensemble.members.either_task import EitherTask, has_classes
from lyceum.ensemble.members.expert_rows import ExpertRows
from lyceum.errors import DataError, SettingError
from lyceum.linear import Ridge
from lyceum.report import Summary, Table

EXPERT_CONSTRAINTS: dict[str, Any] = {
    "expert": [HasMethods(["fit", "predict"]), None],
    "gate_alpha": [Interval(Real, 0.0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0.0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "record": ["boolean"],
    "random_state": ["random_state"],
    "categorical_features": CATEGORICAL_FEATURES,
}


class ExpertsBase(EitherTask, Learner):
    """Experts under gates, whatever the shape of the tree."""

    _reads_rows = "in memory"
    _for_classes: ClassVar[str] = "give it classifiers as experts, e.g. expert=LogisticRegression()"
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit gates and experts together by expectation-maximization.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        expert = self._expert()
        self._check_expert(expert)
        rows = self._rows(X, y, sample_weight)
        block = rows.in_one_block(type(self).__name__, "LinearRegression or LogisticRegression")
        block = block.without_zero_weights()
        if not len(block):
            raise DataError(
                f"{type(self).__name__} has no rows with a positive weight to learn from"
            )
        task = self._task(block)
        runs = [self._run(task, expert, i) for i in range(self.n_init)]
        self._conclude(max(runs, key=lambda run: run.history[-1]))
        return self

    def _check_expert(self, expert: Any) -> None:
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
        if block.w is None:
            w = np.ones(len(block))
        else:
            w = block.w.astype(np.float64)
        share = w / w.sum()
        self.mean_ = share @ X
        scale = np.sqrt(share @ (X - self.mean_) ** 2)
        varies = scale > 1e-12 * np.maximum(np.abs(self.mean_), 1.0)
        self.scale_ = np.where(varies, scale, 1.0)
        assert block.y is not None
        if has_classes(self):
            rows = ExpertRows(self._standard(X), self.classes_[block.y])
            return ExpertTask(rows, w, block.y, self.classes_)
        return ExpertTask(ExpertRows(self._standard(X), block.y), w, None, None)

    def _standard(self, X: Any) -> np.ndarray:
        return (np.asarray(X, dtype=np.float64) - self.mean_) / self.scale_

    def _run(self, task: ExpertTask, expert: Any, i: int) -> Result:
        if i == 0:
            self.seed_ = seed_from(self.random_state)
        if i == 0:
            rng = None
        else:
            rng = np.random.default_rng((self.seed_, i))
        groups = start_groups(task.Z, task.w, self._tree.n_leaves, rng)
        return fit_experts(
            self._tree, task, expert, groups, self.gate_alpha, self.max_iter, self.tol
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
            warn_unconverged(self.max_iter)

    # -- predict -----------------------------------------------------------------------

    def gate_proba(self, X: Any) -> Any:
        """The probability of every expert by the gates, one column each."""
        return self._apply(partial(_gate_shares, self), X)

    def predict(self, X: Any) -> Any:
        """The class of the largest posterior, or the mean of the experts by the gates."""
        return self._apply(partial(_predict, self), X)

    @available_if(has_classes)
    def predict_proba(self, X: Any) -> Any:
        """The posteriors of the experts, averaged by the gates."""
        return self._apply(partial(_mean_posteriors, self), X)

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Any) -> CommitteeExplanation:
        """What every column adds to the prediction, and the answer and share of every expert
        (`detail`).

        Columns add to the numbers of linear experts as the gates weigh them for the row; the base
        is the answer, with these gates, for a row at the means. For all other experts the columns
        of a row at the means are replaced by the row's own, one after the other, from both ends.
        """
        if has_classes(self):
            unit = "posterior"
        else:
            unit = self.schema_.target_name or "y"
        found, more = self._explain_with_more(X, partial(_parts, self), unit)
        names = [f"expert {j}" for j in range(len(self.estimators_))]
        if has_classes(self):
            classes = self.classes_
        else:
            classes = None
        return CommitteeExplanation.of(found, more, classes, names, "share in the mean")

    def summary(self) -> Summary:
        """The experts, the share of the rows of each, and how EM went."""
        check_is_fitted(self)
        heads = ["expert", "learner", "share of rows"] + (
            [] if has_classes(self) else ["deviation"]
        )
        rows = [
            [f"expert {j}", type(one).__name__, float(self.shares_[j])]
            + ([] if has_classes(self) else [float(self.sigma_[j])])
            for j, one in enumerate(self.estimators_)
        ]
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


def _gate_shares(model: ExpertsBase, block: Block) -> np.ndarray:
    return np.exp(model._tree.log_shares(model._standard(block.dense), model.gates_))


def _mean_posteriors(model: ExpertsBase, block: Block) -> np.ndarray:
    Z = model._standard(block.dense)
    shares = np.exp(model._tree.log_shares(Z, model.gates_))
    total = np.zeros((len(Z), len(model.classes_)))
    for j, one in enumerate(model.estimators_):
        if len(Z):
            total += shares[:, j : j + 1] * class_posteriors(one, Z, model.classes_)
    return normalize_posteriors(total)


def _predict(model: ExpertsBase, block: Block) -> np.ndarray:
    if has_classes(model):
        return model.classes_[_mean_posteriors(model, block).argmax(axis=1)]
    Z = model._standard(block.dense)
    shares = np.exp(model._tree.log_shares(Z, model.gates_))
    total = np.zeros(len(Z))
    for j, one in enumerate(model.estimators_):
        if len(Z):
            total += shares[:, j] * one.predict(Z)
    return total


def _parts(model: ExpertsBase, block: Block) -> np.ndarray:
    """Prediction, base, contributions of design columns, and answer, support and share of every
    expert."""
    linear = not has_classes(model) and all(
        np.ndim(getattr(one, "coef_", 0.0)) == 1 for one in model.estimators_
    )
    answer = partial(_mean_posteriors if has_classes(model) else _predict, model)
    if linear:
        columns = _linear_parts(model, block)
    else:
        columns = replace_columns(block, model.mean_, answer)
    Z = model._standard(block.dense)
    gate = np.exp(model._tree.log_shares(Z, model.gates_))
    members = np.full((len(Z), len(model.estimators_), 3), np.nan)
    for j, one in enumerate(model.estimators_ if len(Z) else ()):
        if has_classes(model):
            proba = class_posteriors(one, Z, model.classes_)
            own = proba[np.arange(len(Z)), columns[:, 0].astype(int)]
            members[:, j, 0], members[:, j, 1] = proba.argmax(axis=1), own
        else:
            own = members[:, j, 0] = one.predict(Z)
        members[:, j, 2] = gate[:, j] * own
    return np.hstack([columns, members.reshape(len(Z), 3 * len(model.estimators_))])


def _linear_parts(model: ExpertsBase, block: Block) -> np.ndarray:
    Z = model._standard(block.dense)
    shares = np.exp(model._tree.log_shares(Z, model.gates_))
    coef = np.stack([np.ravel(one.coef_) for one in model.estimators_])
    base = shares @ np.array([float(np.ravel(one.intercept_)[0]) for one in model.estimators_])
    added = (shares @ coef) * Z
    return np.column_stack([base + added.sum(axis=1), base, added])

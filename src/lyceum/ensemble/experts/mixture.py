"""Mixtures of experts under a tree of softmax gates, by expectation-maximization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lyceum._core.base import Learner, is_pipeline, takes_weights
from lyceum._core.data import ArraySource, Rows, Schema
from lyceum._core.members import MemberData
from lyceum._core.solvers import fit_softmax
from lyceum._core.types import Estimator, Operation
from lyceum.errors import DataError
from lyceum.progress import report

_GATE_STEPS = 10  # of L-BFGS in one M-step, from where the gate is
_LEAST_SHARE = 1e-10  # experts with less of the weight stay as they are
_ROUNDING = 1e-9
_FLOOR = 1e-6  # the least variance of an expert, as a part of the target's
_LARGEST = 1e150  # of numbers whose squares are finite
_START_SHARE = 0.9  # of a row, for the expert of its group


@dataclass(frozen=True, slots=True)
class GateTree:
    """Softmax gates in a tree: `branching` ways at each node, `depth` levels; leaves are experts.

    Nodes are numbered level by level. The gate at node v gives P(c|x, v) = softmax(V_v [x; 1])_c.
    """

    branching: int
    depth: int

    @property
    def n_leaves(self) -> int:
        return self.branching**self.depth

    @property
    def n_gates(self) -> int:
        return sum(self.branching**level for level in range(self.depth))

    def log_shares(self, Z: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """The log probability of every leaf, (n, leaves)."""
        # log P(leaf) = Σ over the gates on its path of log P(c|x, v), added level by level
        shares = np.zeros((len(Z), 1))
        first = 0
        for level in range(self.depth):
            parts = []
            for v in range(self.branching**level):
                V = gates[first + v]
                scores = Z @ V[:, :-1].T + V[:, -1]
                scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
                parts.append(shares[:, v : v + 1] + scores)
            shares = np.concatenate(parts, axis=1)
            first += self.branching**level
        return shares

    def operations(self, gates: np.ndarray) -> list[Operation]:
        """The probability of every leaf, for exported models: the product of those of its path."""
        levels = []
        first = 0
        for level in range(self.depth):
            nodes = gates[first : first + self.branching**level]
            branches = []
            for V in nodes:
                scores = {"coef": V[:, :-1].tolist(), "intercept": V[:, -1].tolist()}
                branches.append([("linear", scores), ("softmax", {})])
            ways = self.branching ** (level + 1)
            below = np.repeat(np.arange(ways), self.n_leaves // ways).tolist()
            every: Operation = ("branches", {"branches": branches})
            levels.append([every, ("pick", {"columns": below})])
            first += len(nodes)
        product = {
            "rule": "product",
            "weights": [1.0 / self.depth] * self.depth,
            "width": self.n_leaves,
        }
        return [("branches", {"branches": levels}), ("fuse", product)]

    def child_shares(self, leaves: np.ndarray) -> list[np.ndarray]:
        """The target of every gate, (n, branching) each, from responsibilities of the leaves."""
        targets: list[np.ndarray] = []
        for level in range(self.depth):
            # leaves are from left to right: (row, gate of the level, way, leaf below it)
            n_gates = self.branching**level
            below = leaves.reshape(len(leaves), n_gates, self.branching, -1)
            ways = below.sum(axis=3)
            targets.extend(ways[:, v] for v in range(n_gates))
        return targets


@dataclass(slots=True)
class ExpertMixture:
    """The parameters of a mixture: gates, fitted experts, and the deviation of each one's
    errors."""

    gates: np.ndarray  # (n_gates, branching, d + 1)
    experts: list[Any]
    sigma: np.ndarray  # (experts,), of regressors
    answers: list[np.ndarray]  # the answers of every expert on the rows of `fit`


@dataclass(frozen=True, slots=True)
class Result:
    """Where EM stopped."""

    mixture: ExpertMixture
    history: list[float]
    record: list[dict[str, Any]]
    converged: bool


def weight_parameters(expert: Estimator) -> list[str]:
    """The parameters of `fit` that take weights: in a pipeline, one for every step that does."""
    if not is_pipeline(expert):
        if takes_weights(expert):
            return ["sample_weight"]
        return []
    return [
        f"{name}__{parameter}"
        for name, step in expert.steps
        for parameter in weight_parameters(step)
    ]


class ExpertRows:
    """Rows as experts take them: an array, which Lyceum's own learners check and code only once.

    The first of them that is fitted decides the schema; the others, and all predictions, are given
    rows of this schema.

    Attributes
    ----------
    Z : array of shape (n, d)
        The cells.
    y : array of shape (n,)
        The targets: labels, or numbers.
    inputs : array or Rows
        The cells, to predict from.
    """

    def __init__(self, Z: np.ndarray, y: np.ndarray) -> None:
        self.Z = Z
        self.y = y
        self.inputs: Any = Z
        self._data = MemberData(None, Z, y)

    def fit(self, expert: Estimator, w: np.ndarray) -> Any:
        """A copy of the expert, fitted with these weights."""
        if is_pipeline(expert):
            weights = dict.fromkeys(weight_parameters(expert), w)
            return clone(expert).fit(self.Z, self.y, **weights)
        fitted = self._data.fit(clone(expert), w=w)
        if self._data.container is not None and isinstance(fitted, Learner):
            self._adopt_schema(fitted)
        return fitted

    def _adopt_schema(self, expert: Estimator) -> None:
        y = self.y
        schema = expert.schema_
        if schema.target is None:
            return
        if schema.target.is_categorical:
            classes = schema.target.categories
            codes = np.searchsorted(classes, self.y)
            y = np.minimum(codes, len(classes) - 1).astype(np.int32)
            # to this learner some label means that there is none
            if (classes[y] != self.y).any():
                return
        self._data = MemberData(ArraySource(self.Z, y, None, schema), named=False)
        self.inputs = Rows(ArraySource(self.Z, None, None, Schema(schema.columns)))


@dataclass(frozen=True, slots=True, eq=False)
class ExpertTask:
    """What the experts learn: rows, target, weights, and the log-likelihood of an expert on every
    row."""

    rows: ExpertRows
    w: np.ndarray
    codes: np.ndarray | None  # class codes of classifiers
    classes: np.ndarray | None

    @property
    def Z(self) -> np.ndarray:
        return self.rows.Z

    @property
    def y(self) -> np.ndarray:
        """Labels, or numbers."""
        return self.rows.y

    def answers_of(self, expert: Estimator) -> np.ndarray:
        """The answer of an expert for every row: its number, or the log posterior of the true
        class."""
        if self.codes is None:
            return np.asarray(expert.predict(self.rows.inputs), dtype=np.float64)
        proba = class_posteriors(expert, self.rows.inputs, self.classes)  # type: ignore[arg-type]
        return np.log(np.maximum(proba[np.arange(len(self.codes)), self.codes], 1e-300))

    def log_likelihood(self, answers: np.ndarray, sigma: float) -> np.ndarray:
        """log p(y_i|x_i) from the answers of one expert."""
        if self.codes is not None:
            return answers
        # log N(y; f(x), σ²)
        scaled = (self.y - answers) / sigma
        return -0.5 * scaled**2 - np.log(sigma * np.sqrt(2 * np.pi))

    def spread(
        self,
        answers: np.ndarray,
        share: np.ndarray,
        floor: float,
    ) -> float:
        """The maximum-likelihood deviation of a regressor's errors, not below the floor."""
        if self.codes is not None:
            return 1.0
        weight = share * self.w
        variance = weight @ (self.y - answers) ** 2 / weight.sum()
        return float(np.sqrt(max(variance, floor)))


def class_posteriors(expert: Estimator, Z: Any, classes: np.ndarray) -> np.ndarray:
    """The posteriors of an expert, with a column for every class of the mixture."""
    posteriors = np.asarray(expert.predict_proba(Z))
    if posteriors.shape[1] == len(classes):
        return posteriors
    proba = np.zeros((len(posteriors), len(classes)))
    proba[:, np.searchsorted(classes, expert.classes_)] = posteriors
    return proba


def start_groups(
    Z: np.ndarray,
    w: np.ndarray,
    n_groups: int,
    rng: np.random.Generator | None,
) -> np.ndarray:
    """Groups of equal weight along a direction: the first principal axis, or one drawn at
    random."""
    if rng is None:
        _, vectors = np.linalg.eigh((Z * w[:, None]).T @ Z / w.sum())
        axis: Any = vectors[:, -1] if Z.shape[1] else np.zeros(0)
        # an eigenvector has no sign of its own: its largest entry is made positive
        if len(axis):
            axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    else:
        axis = rng.normal(size=Z.shape[1])
    # cuts at the weighted quantiles of the rows along the axis
    along = Z @ axis
    order = np.argsort(along, kind="stable")
    reached = np.cumsum(w[order]) / w.sum()
    ranks = np.searchsorted(reached, np.arange(1, n_groups) / n_groups - 1e-12)
    return np.searchsorted(along[order[ranks]], along, side="left")


def fit_experts(
    tree: GateTree,
    task: ExpertTask,
    expert: Estimator,
    groups: np.ndarray,
    alpha: float,
    max_iter: int,
    tol: float,
) -> Result:
    """EM from a start in which every expert has its group of rows.

    An M-step never lowers the expected log-likelihood: a gate takes steps of L-BFGS, and a newly
    fitted expert replaces the old one only if it is not worse on its share of the rows, whatever it
    optimizes.
    """
    mixture, floor = _start_mixture(tree, task)
    # responsibilities in which every expert has most of its group of rows, (n, experts)
    L = tree.n_leaves
    share = np.ones((len(task.y), L))
    if L > 1:
        share[:] = (1.0 - _START_SHARE) / (L - 1)
        share[np.arange(len(share)), groups] = _START_SHARE
    history: list[float] = []
    record: list[dict[str, Any]] = []
    weight = float(task.w.sum())
    converged = False
    for step in range(max_iter + 1):
        # the M-step, then the E-step with the penalized log-likelihood
        _improve_experts(mixture, task, expert, share, floor)
        _improve_gates(mixture, tree, task, share, alpha)
        share, objective = _expectation(mixture, tree, task, alpha)
        gain = float("nan")
        if history:
            gain = objective - history[-1]
        history.append(objective)
        shares = (task.w @ share) / weight
        record.append(
            {"step": step, "objective": objective, "gain": gain, "shares": shares}
        )
        report("iterations", step, max_iter)
        if step and gain < -_ROUNDING * max(abs(objective), weight):
            raise AssertionError(
                f"the log-likelihood fell by {-gain:.3g} in iteration {step} of EM"
            )
        if step and gain <= tol * weight:
            converged = True
            break
    return Result(mixture, history, record, converged)


def _start_mixture(tree: GateTree, task: ExpertTask) -> tuple[ExpertMixture, float]:
    """Equal gates and no experts yet; and the least variance that an expert may have."""
    # The variance of an expert that fits its rows exactly would go to 0 and the likelihood to ∞: it
    # is kept above a part of the target's, and above the rounding of its mean.
    mean = 0.0
    spread = 1.0
    if task.codes is None:
        mean = float(np.average(task.y, weights=task.w))
        spread = float(np.average((task.y - mean) ** 2, weights=task.w))
    if not (abs(mean) < _LARGEST and spread < np.inf):
        raise DataError(
            "the squares of the target overflow: it holds numbers beyond 1e150; rescale it"
        )
    floor = max(_FLOOR * spread, 1e-24 * max(1.0, mean**2))
    L = tree.n_leaves
    gates = np.zeros((tree.n_gates, tree.branching, task.Z.shape[1] + 1))
    sigma = np.full(L, np.sqrt(max(spread, floor)))
    return ExpertMixture(gates, [None] * L, sigma, [np.empty(0)] * L), floor


def _expectation(
    mixture: ExpertMixture,
    tree: GateTree,
    task: ExpertTask,
    alpha: float,
) -> tuple[np.ndarray, float]:
    """Responsibilities, and the penalized log-likelihood."""
    # log g_j(x) + log p_j(y|x), and its sum over the experts, log p(y|x)
    joint = tree.log_shares(task.Z, mixture.gates)
    for j, answers in enumerate(mixture.answers):
        joint[:, j] += task.log_likelihood(answers, mixture.sigma[j])
    log_density = np.logaddexp.reduce(joint, axis=1)
    penalty = 0.5 * alpha * float((mixture.gates[:, :, :-1] ** 2).sum())
    responsibilities = np.exp(joint - log_density[:, None])
    return responsibilities, float(task.w @ log_density) - penalty


def _improve_experts(
    mixture: ExpertMixture,
    task: ExpertTask,
    expert: Estimator,
    share: np.ndarray,
    floor: float,
) -> None:
    for j in range(share.shape[1]):
        weight = share[:, j] * task.w
        # an expert that has lost its rows would be fitted to rounding
        old = mixture.experts[j]
        if old is not None and weight.sum() < _LEAST_SHARE * task.w.sum():
            continue
        new = task.rows.fit(expert, weight)
        answers = task.answers_of(new)
        sigma = task.spread(answers, share[:, j], floor)
        # an expert need not maximize the likelihood: the old one stays if it is better
        if old is not None:
            old_answers = mixture.answers[j]
            old_sigma = task.spread(old_answers, share[:, j], floor)
            before = task.log_likelihood(old_answers, old_sigma)
            if weight @ task.log_likelihood(answers, sigma) < weight @ before:
                new = old
                answers = old_answers
                sigma = old_sigma
        mixture.experts[j] = new
        mixture.answers[j] = answers
        mixture.sigma[j] = sigma


def _improve_gates(
    mixture: ExpertMixture,
    tree: GateTree,
    task: ExpertTask,
    share: np.ndarray,
    alpha: float,
) -> None:
    if tree.branching < 2:
        return
    for v, wanted in enumerate(tree.child_shares(share)):
        mixture.gates[v] = fit_softmax(
            task.Z,
            wanted,
            task.w,
            alpha=alpha,
            start=mixture.gates[v],
            max_iter=_GATE_STEPS,
        )

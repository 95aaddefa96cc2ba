"""Mixture of experts and hierarchical mixture of experts."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval
from lyceum.ensemble.experts.base import EXPERT_CONSTRAINTS, ExpertsBase
from lyceum.ensemble.experts.mixture import GateTree


class MixtureOfExperts(ExpertsBase):
    """Mixture of experts: a softmax gate shares rows out to experts, and all learn together by EM.

    .. math:: p(y|x) = \\sum_j g_j(x)\\, p_j(y|x), \\qquad g(x) = \\operatorname{softmax}(V [x; 1])

    Regressors have p_j = N(f_j(x), σ_j²), classifiers their posteriors. The E-step finds how
    responsible every expert is for every row; the M-step fits each expert with these weights and
    the gate to these shares. The penalized log-likelihood never decreases: an expert that would
    lower it is not taken.

    Parameters
    ----------
    expert : learner, default=None
        Any regressor, or any classifier with posteriors, whose `fit` takes `sample_weight`, or a
        pipeline that ends in one (its other steps get the weights too, if they take them). It sees
        numbers in units of their deviation and one-of-C columns. None is linear regression. Whether
        the mixture classifies or regresses follows from it.
    n_experts : int, default=3
        The number of experts.
    gate_alpha : float, default=0.01
        The penalty on the squared weights of the gate, which keeps it from becoming infinitely
        sharp.
    max_iter : int, default=200
        The most iterations.
    tol : float, default=1e-4
        Stop when an iteration gains at most this much log-likelihood per unit of weight.
    n_init : int, default=3
        Starts: the first one shares rows out along their first principal axis, others along random
        ones.
    record : bool, default=False
        Whether to keep every iteration in `record_`.
    random_state : int, RandomState or None, default=None
        The seed of the further starts.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Columns to code one-of-C.

    Attributes
    ----------
    estimators_ : list of learners
        The experts.
    gates_ : array of shape (1, n_experts, d + 1)
        The weights V of the gate, intercepts last.
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
        **EXPERT_CONSTRAINTS,
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
        categorical_features: Any = "from_dtype",
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


class HierarchicalMixtureOfExperts(ExpertsBase):
    """Hierarchical mixture of experts: softmax gates in a tree, experts at its leaves, by EM.

    .. math:: p(y|x) = \\sum_i g_i(x) \\sum_j g_{j|i}(x) \\cdots p_{ij\\ldots}(y|x)

    A decision tree with soft splits along any direction and a model in every leaf, all of it
    learned together. The penalized log-likelihood never decreases.

    Parameters
    ----------
    expert : learner, default=None
        Any regressor, or any classifier with posteriors, whose `fit` takes `sample_weight`, or a
        pipeline that ends in one (its other steps get the weights too, if they take them). It sees
        numbers in units of their deviation and one-of-C columns. None is linear regression. Whether
        the mixture classifies or regresses follows from it.
    depth : int, default=2
        The levels of gates.
    branching : int, default=2
        The ways at every gate; there are branching ** depth experts.
    gate_alpha : float, default=0.01
        The penalty on the squared weights of the gates, which keeps them from becoming infinitely
        sharp.
    max_iter : int, default=200
        The most iterations.
    tol : float, default=1e-4
        Stop when an iteration gains at most this much log-likelihood per unit of weight.
    n_init : int, default=1
        Starts: the first one shares rows out along their first principal axis, others along random
        ones. The likeliest of several fits the training rows more closely, which need not be better
        on others.
    record : bool, default=False
        Whether to keep every iteration in `record_`.
    random_state : int, RandomState or None, default=None
        The seed of the further starts.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Columns to code one-of-C.

    Attributes
    ----------
    estimators_ : list of learners
        The experts, from left to right.
    gates_ : array of shape (n_gates, branching, d + 1)
        The weights of every gate, level by level, intercepts last.
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
        **EXPERT_CONSTRAINTS,
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
        categorical_features: Any = "from_dtype",
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

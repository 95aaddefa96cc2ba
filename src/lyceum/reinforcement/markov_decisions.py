"""Known worlds: Markov decision processes, value iteration and policy iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lyceum._core.report import Shown
from lyceum._core.steps import StepColumn, Steps
from lyceum._core.text import plain
from lyceum.errors import DataError, SettingError
from lyceum.report import Table

_MOST_SWEEPS = 200  # before a policy is evaluated exactly for the first time
_STAYED = 10  # sweeps after which a policy that stays is evaluated exactly


@dataclass(frozen=True, slots=True, eq=False)
class DecisionProcess(Shown):
    """A Markov decision process whose model is known.

    Parameters
    ----------
    transitions : array of shape (A, S, S)
        P(s'|s, a), the probabilities of the next state after action a in state s. Rows sum to 1, or
        to 0 where an episode ends.
    rewards : array of shape (S, A)
        The expected reward of action a in state s.
    shape : tuple of int, optional
        Rows and columns, if states are the cells of a grid, for pictures.

    Attributes
    ----------
    n_states, n_actions : int
        S and A.

    See Also
    --------
    value_iteration, policy_iteration : The best policy.

    Examples
    --------
    Two states; action 1 leads from the first to the second, whose reward is 1 at every step:

    >>> import numpy as np
    >>> from lyceum.reinforcement import DecisionProcess, value_iteration
    >>> P = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    >>> world = DecisionProcess(P, np.array([[0.0, 0.0], [1.0, 1.0]]))
    >>> value_iteration(world, discount=0.5).values.round(6).tolist()
    [1.0, 2.0]
    """

    transitions: np.ndarray
    rewards: np.ndarray
    shape: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        P = np.asarray(self.transitions, dtype=np.float64)
        R = np.asarray(self.rewards, dtype=np.float64)
        object.__setattr__(self, "transitions", P)
        object.__setattr__(self, "rewards", R)
        is_square = P.ndim == 3 and P.shape[1] == P.shape[2]
        if not is_square or R.shape != (P.shape[1], P.shape[0]):
            raise DataError(
                f"transitions of shape {P.shape} and rewards of shape {R.shape} do not go together:"
                " give (actions, states, states) and (states, actions)"
            )
        sums = P.sum(axis=2)
        if (P < 0).any() or not (np.isclose(sums, 1.0) | np.isclose(sums, 0.0)).all():
            raise DataError(
                "the probabilities of the next state must sum to 1, or to 0 where an episode ends"
            )

    @property
    def n_states(self) -> int:
        return self.transitions.shape[1]

    @property
    def n_actions(self) -> int:
        return self.transitions.shape[0]

    @classmethod
    def of_environment(cls, environment: Any) -> DecisionProcess:
        """The model of an environment that lists it: `P[s][a]` of (probability, next, reward,
        ended).

        Gymnasium's toy texts (FrozenLake, CliffWalking, Taxi) have it, and so has `GridWorld`.
        """
        world = getattr(environment, "unwrapped", environment)
        if not hasattr(world, "P"):
            raise DataError(
                f"{type(world).__name__} does not list its model, P[state][action]"
            )
        S = len(world.P)
        A = len(world.P[0])
        P = np.zeros((A, S, S))
        R = np.zeros((S, A))
        for s in range(S):
            for a in range(A):
                for chance, after, reward, ended in world.P[s][a]:
                    R[s, a] += chance * reward
                    if not ended:
                        P[a, s, after] += chance
        shape: Any = getattr(world, "shape", None)
        if shape is None and hasattr(world, "nrow"):
            shape = (world.nrow, world.ncol)
        is_grid = shape is not None and len(shape) == 2 and np.prod(shape) == S
        # Without the checks of __post_init__: a state after which some episodes end has rows that
        # sum to less than 1, as what ends earns nothing more.
        process = object.__new__(cls)
        object.__setattr__(process, "transitions", P)
        object.__setattr__(process, "rewards", R)
        object.__setattr__(process, "shape", tuple(shape) if is_grid else None)
        return process


@dataclass(frozen=True, slots=True, eq=False)
class Policy(Shown):
    """The best action in every state, and its expected return.

    Attributes
    ----------
    actions : array of shape (S,), of int
        The best action, the first of equal ones.
    values : array of shape (S,)
        The expected discounted return from every state.
    q : array of shape (S, A)
        The expected discounted return of every action, if the best actions follow.
    history : list of float
        The largest change of a value in every iteration.
    discount : float
        γ.
    shape : tuple of int or None
        Rows and columns, if states are the cells of a grid.
    record : list of dict
        Of value_iteration(record=True): `step`, the `values` after every sweep, from zero on, and
        the largest `change`.

    See Also
    --------
    value_iteration, policy_iteration, QLearning : Ways to find it.

    References
    ----------
    R. S. Sutton and A. G. Barto, "Reinforcement Learning", MIT Press, 2018, chapter 4.

    Examples
    --------
    >>> from lyceum.reinforcement import GridWorld, value_iteration
    >>> best = value_iteration(GridWorld(["S.", ".G"]), discount=0.5)
    >>> best.values[:3].tolist(), best.shape  # the goal is two steps from the start
    ([0.5, 1.0, 1.0], (2, 2))
    >>> best(0) == int(best.actions[0])
    True
    """

    actions: np.ndarray
    values: np.ndarray
    q: np.ndarray
    history: list[float] = field(default_factory=list)
    discount: float = 1.0
    shape: tuple[int, int] | None = None
    record: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, state: int) -> int:
        return int(self.actions[state])

    def __str__(self) -> str:
        states = range(min(20, len(self.actions)))
        rows = list(zip(states, self.actions.tolist(), self.values.tolist()))
        return str(Table("Policy", ("state", "action", "value"), rows))

    def steps(self) -> Steps:
        """The sweeps of value_iteration(record=True) as a table, with their formulas."""
        if not self.record:
            raise SettingError(
                "the policy has no sweeps: use value_iteration(record=True)"
            )
        columns = (
            StepColumn("change", "change", "the largest |new V(s) − V(s)|"),
            StepColumn(
                "values",
                "V",
                "V(s) = max over a of R(s, a) + γ Σ P(s' | s, a) V(s')",
                axes=("state",),
            ),
        )
        return Steps("Sweeps of value iteration", "sweep", columns, self.record, {})

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        return plain({name: getattr(self, name) for name in self.__slots__})


def _best(q: np.ndarray) -> np.ndarray:
    """The first of the best actions; values that are equal up to rounding count as equal."""
    # relative to the value, at least 1: values around 0 are compared as they are
    top = q.max(axis=1, keepdims=True)
    return (q >= top - 1e-9 * np.maximum(np.abs(top), 1.0)).argmax(axis=1)


def _check_discount(discount: float) -> None:
    if not 0.0 <= discount <= 1.0:
        raise SettingError(f"discount must be from 0 to 1, not {discount}")


def value_iteration(
    process: DecisionProcess,
    discount: float = 0.99,
    *,
    tol: float = 1e-10,
    max_iter: int = 100_000,
    record: bool = False,
) -> Policy:
    """The best policy of a known world, by Bellman's equation V(s) = max_a [R(s, a) + γ Σ P(s'|s,
    a) V(s')].

    Parameters
    ----------
    process : DecisionProcess, or an environment that lists its model
    discount : float, default=0.99
        γ. With 1, every policy must end.
    tol : float, default=1e-10
        Stop when no value is further than this from the optimum (γ < 1), or changes by more (γ =
        1).
    max_iter : int, default=100000
        The most sweeps.
    record : bool, default=False
        Whether to keep the values after every sweep.

    Returns
    -------
    Policy

    References
    ----------
    Sutton and Barto (2018), Reinforcement learning, MIT Press, chapter 4.

    Examples
    --------
    >>> from lyceum.reinforcement import GridWorld
    >>> value_iteration(GridWorld(["S.", ".G"]), discount=0.5).values[:3].tolist()
    [0.5, 1.0, 1.0]
    """
    process = _process(process)
    _check_discount(discount)
    P = process.transitions
    R = process.rewards
    values = np.zeros(process.n_states)
    history = []
    sweeps: list[dict[str, Any]] = [{"step": 0, "values": values, "change": 0.0}]
    # a sweep contracts by γ: |V − V*| ≤ γ / (1 − γ) · the last change
    bound = tol
    if discount < 1.0:
        bound = tol * (1.0 - discount) / max(discount, 1e-12)
    for _ in range(max_iter):
        q = R + discount * (P @ values).T
        new = q.max(axis=1)
        history.append(float(np.abs(new - values).max()))
        values = new
        if record:
            sweep = {"step": len(sweeps), "values": values, "change": history[-1]}
            sweeps.append(sweep)
        if history[-1] <= bound:
            break
    else:
        raise SettingError(
            f"values still change by {history[-1]:.3g} after {max_iter} sweeps: with"
            f" discount={discount} every policy must end; use a smaller discount, or raise max_iter"
            " or tol"
        )
    q = R + discount * (P @ values).T
    return Policy(
        _best(q),
        values,
        q,
        history=history,
        discount=discount,
        shape=process.shape,
        record=sweeps if record else [],
    )


def policy_iteration(
    process: DecisionProcess,
    discount: float = 0.99,
    *,
    max_iter: int = 1000,
) -> Policy:
    """The best policy of a known world: evaluate a policy exactly and improve it, until it no
    longer changes.

    With γ < 1 the first policy comes from sweeps of value iteration, which leave few exact
    evaluations.

    Parameters
    ----------
    process : DecisionProcess, or an environment that lists its model
    discount : float, default=0.99
        γ < 1, or 1 if every policy ends.
    max_iter : int, default=1000
        The most improvements.

    Returns
    -------
    Policy

    References
    ----------
    Howard (1960), Dynamic programming and Markov processes, MIT Press.

    Examples
    --------
    >>> from lyceum.reinforcement import GridWorld
    >>> policy_iteration(GridWorld(["S.", ".G"]), discount=0.5).values[:3].round(9).tolist()
    [0.5, 1.0, 1.0]
    """
    process = _process(process)
    _check_discount(discount)
    P = process.transitions
    R = process.rewards
    states = np.arange(process.n_states)
    actions = _first_policy(P, R, discount)
    values = np.zeros(process.n_states)
    history = []
    for _ in range(max_iter):
        # the values of the policy: (I − γ P_π) V = R_π
        system = np.eye(process.n_states) - discount * P[actions, states]
        try:
            new = np.linalg.solve(system, R[states, actions])
        except np.linalg.LinAlgError as error:
            raise SettingError(
                "a policy of this world never ends, so that its value is not finite: use a discount"
                " below 1"
            ) from error
        history.append(float(np.abs(new - values).max()))
        values = new
        q = R + discount * (P @ values).T
        # actions change only where that gains more than rounding, else they may go in circles
        better = _best(q)
        same = np.isclose(q[states, better], q[states, actions], rtol=1e-10, atol=1e-12)
        if same.all():
            break
        actions = np.where(same, actions, better)
    return Policy(
        _best(q), values, q, history=history, discount=discount, shape=process.shape
    )


def _first_policy(P: np.ndarray, R: np.ndarray, discount: float) -> np.ndarray:
    """The actions after sweeps of value iteration, until they no longer change: exact values cost
    more.

    Without a discount a policy of the sweeps may never end: the first actions are kept.
    """
    actions = np.zeros(len(R), dtype=int)
    if discount == 1.0:
        return actions
    values = np.zeros(len(R))
    stayed = 0
    for _ in range(_MOST_SWEEPS):
        q = R + discount * (P @ values).T
        better = _best(q)
        values = q.max(axis=1)
        stayed = stayed + 1 if np.array_equal(better, actions) else 0
        actions = better
        if stayed == _STAYED:
            break
    return actions


def _process(world: Any) -> DecisionProcess:
    if isinstance(world, DecisionProcess):
        return world
    return DecisionProcess.of_environment(world)

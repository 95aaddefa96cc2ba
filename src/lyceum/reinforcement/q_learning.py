"""Learning by doing: Q-learning, SARSA and expected SARSA on gymnasium's interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import unchanged_on_failure, undefined
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.statistics import seed_from
from lyceum._core.steps import StepColumn, Steps
from lyceum._core.types import Target
from lyceum.errors import DataError, SettingError
from lyceum.progress import report
from lyceum.reinforcement.markov_decisions import Policy, _best
from lyceum.reinforcement.schedules import as_schedule
from lyceum.report import Summary

_WINDOW = 100  # episodes in the mean of the summary
_SHARE = Interval(Real, 0, 1, closed="both")
_COUNT = Interval(Integral, 1, None, closed="left")


class _TabularLearner(BaseEstimator):
    """Q(s, a) learned from steps in an environment with numbered states and actions."""

    discount: float
    learning_rate: Any
    epsilon: Any
    n_episodes: int
    max_steps: int
    initial_value: float
    random_state: int | np.random.RandomState | None
    record: bool

    _parameter_constraints: ClassVar[dict] = {
        "discount": [_SHARE],
        "learning_rate": [_SHARE, StrOptions({"visits"}), callable],
        "epsilon": [_SHARE, callable],
        "n_episodes": [_COUNT],
        "max_steps": [_COUNT],
        "initial_value": [Real],
        "random_state": ["random_state"],
        "record": ["boolean"],
    }
    # what follows s', in the formula of the update
    _worth: ClassVar[str] = "max Q(s', ·)"

    def _target(
        self,
        q: list[float],
        chosen: int,
        epsilon: float,
    ) -> float:
        """The value of the next state, from its action values and the action that will be taken."""
        raise undefined(self, "_target")

    def fit(self, environment: Any, y: Target = None):
        """Learn from episodes in an environment.

        Parameters
        ----------
        environment : object with `reset`, `step`, `observation_space.n` and `action_space.n`
            Gymnasium's interface with discrete states and actions; `GridWorld` has it too.
        y : ignored
        """
        self._validate_params()
        with unchanged_on_failure(self):
            self._learn(environment)
        return self

    def _learn(self, environment: Any) -> None:
        n_states, n_actions = _sizes(environment)
        self.seed_ = seed_from(self.random_state)
        draws = _pairs_of_draws(np.random.default_rng(self.seed_))
        # lists, as single numbers of arrays are slow to read and write
        q = [[float(self.initial_value)] * n_actions for _ in range(n_states)]
        visits = [[0] * n_actions for _ in range(n_states)]
        epsilon_at = as_schedule(self.epsilon)
        rate_at = self._rate()
        self.returns_ = np.zeros(self.n_episodes)
        self.steps_ = np.zeros(self.n_episodes, dtype=int)
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_: list[dict[str, Any]] = []
        for episode in range(self.n_episodes):
            # the environment goes on with its own chance after the first episode
            seed = {"seed": int(self.seed_ % 2**31)} if episode == 0 else {}
            state, _ = environment.reset(**seed)
            self.returns_[episode], self.steps_[episode] = self._episode(
                environment,
                int(state),
                q,
                visits,
                epsilon=epsilon_at(episode),
                rate=partial(rate_at, episode),
                draws=draws,
            )
            if episode % 50 == 0:
                report("episodes", episode, self.n_episodes)
        self.q_ = np.array(q)
        self.visits_ = np.array(visits)
        world = getattr(environment, "unwrapped", environment)
        self.shape_ = getattr(world, "shape", None)

    def _rate(self) -> Callable[[int, int], float]:
        """The learning rate at an episode and a visit of the pair."""
        if self.learning_rate == "visits":
            # Σ = ∞, Σ² < ∞: Robbins and Monro
            return lambda episode, visit: 1.0 / visit**0.8
        rate = as_schedule(self.learning_rate)
        return lambda episode, visit: rate(episode)

    def _episode(
        self,
        environment: Any,
        state: int,
        q: list[list[float]],
        visits: list[list[int]],
        epsilon: float,
        rate: Callable[[int], float],
        draws: Iterator[list[float]],
    ) -> tuple[float, int]:
        """One episode, which changes q and visits; its discounted return and its length."""
        discounted_return = 0.0
        factor = 1.0  # γ to the number of steps
        action = _explore(q[state], epsilon, *next(draws))
        for step in range(1, self.max_steps + 1):
            after, reward, ended, cut, _ = environment.step(action)
            after = int(after)
            discounted_return += factor * float(reward)
            factor *= self.discount
            following = _explore(q[after], epsilon, *next(draws))
            # an episode that is cut off would have gone on: only an end is worth nothing
            worth = 0.0
            if not ended:
                worth = self._target(q[after], following, epsilon)
            # Q(s, a) += η [r + γ · worth of s' − Q(s, a)]
            visits[state][action] += 1
            values = q[state]
            change = float(reward) + self.discount * worth - values[action]
            before = values[action]
            eta = rate(visits[state][action])
            values[action] += eta * change
            if self.record:
                self._keep_step(step, state, action, after, float(reward), worth)
                self.record_[-1].update(rate=eta, before=before, value=values[action])
            state = after
            action = following
            if ended or cut:
                return discounted_return, step
        return discounted_return, self.max_steps

    def _keep_step(
        self,
        step: int,
        state: int,
        action: int,
        after: int,
        reward: float,
        worth: float,
    ) -> None:
        """Add a step to the record; an episode begins with step 1."""
        episode = self.record_[-1]["episode"] if self.record_ else -1
        self.record_.append(
            {
                "step": len(self.record_),
                "episode": episode + (step == 1),
                "state": state,
                "action": action,
                "reward": reward,
                "next": after,
                "worth": worth,
            }
        )

    # -- use ---------------------------------------------------------------------------

    def steps(self) -> Steps:
        """Every step in the environment as a table, with the formula of the update; needs
        `record=True`."""
        check_is_fitted(self)
        if not hasattr(self, "record_"):
            raise SettingError(
                f"{type(self).__name__} kept no record of its steps: fit it with record=True"
            )
        columns = (
            StepColumn("episode", "episode", "the number of the episode, from 0"),
            StepColumn("state", "s", "the state"),
            StepColumn("action", "a", "the action"),
            StepColumn("reward", "r", "the reward of the step"),
            StepColumn("next", "s'", "the next state"),
            StepColumn("worth", "worth", f"{self._worth}, 0 at an end"),
            StepColumn("rate", "η", "the learning rate of this visit"),
            StepColumn("before", "Q before", "Q(s, a) before the step"),
            StepColumn(
                "value", "Q(s, a)", "Q(s, a) ← Q(s, a) + η (r + γ worth − Q(s, a))"
            ),
        )
        title = f"Steps of {type(self).__name__}"
        return Steps(title, "step", columns, self.record_, {})

    @property
    def policy_(self) -> Policy:
        """The greedy policy: the best action in every state by what was learned."""
        check_is_fitted(self)
        shape = None
        if self.shape_ is not None and len(self.shape_) == 2:
            shape = tuple(self.shape_)
        values = self.q_.max(axis=1)
        return Policy(
            _best(self.q_), values, self.q_, discount=self.discount, shape=shape
        )

    def predict(self, states: Any) -> np.ndarray:
        """The best action in every state."""
        check_is_fitted(self)
        return _best(self.q_)[np.asarray(states, dtype=int)]

    def evaluate(
        self,
        environment: Any,
        n_episodes: int = 100,
        max_steps: int = 1000,
    ) -> float:
        """The mean discounted return of the greedy policy over some episodes."""
        check_is_fitted(self)
        actions = _best(self.q_).tolist()
        returns = 0.0
        for episode in range(n_episodes):
            seed = {"seed": int(self.seed_ % 2**31) + 1} if episode == 0 else {}
            state, _ = environment.reset(**seed)
            factor = 1.0
            for _ in range(max_steps):
                action = actions[int(state)]
                state, reward, ended, cut, _ = environment.step(action)
                returns += factor * float(reward)
                factor *= self.discount
                if ended or cut:
                    break
        return returns / n_episodes

    def summary(self) -> Summary:
        """How many episodes there were, and what they returned."""
        check_is_fitted(self)
        last = self.returns_[-_WINDOW:]
        facts = {
            "states": len(self.q_),
            "actions": self.q_.shape[1],
            "episodes": len(self.returns_),
            "steps": int(self.steps_.sum()),
            "pairs never tried": int((self.visits_ == 0).sum()),
            f"mean return of the last {len(last)} episodes": float(last.mean()),
        }
        return Summary(type(self).__name__, facts)


def _sizes(environment: Any) -> tuple[int, int]:
    sizes = []
    for name in ("observation_space", "action_space"):
        n = getattr(getattr(environment, name, None), "n", None)
        if n is None:
            raise DataError(
                f"the {name} of {type(environment).__name__} has no number n of values: tables need"
                " discrete states and actions, e.g. gymnasium's FrozenLake-v1, or"
                " lyceum.reinforcement.GridWorld"
            )
        sizes.append(int(n))
    return sizes[0], sizes[1]


def _pairs_of_draws(chance: np.random.Generator) -> Iterator[list[float]]:
    """Two numbers from 0 to 1 at a time, drawn many at once."""
    while True:
        yield from chance.random((512, 2)).tolist()


def _explore(
    q: list[float],
    epsilon: float,
    first: float,
    second: float,
) -> int:
    """An action at random with chance ε, else one of the best at random."""
    if first < epsilon:
        return int(second * len(q))
    # one of the best at random, else the first action would be tried most while all are equal
    best = max(q)
    actions = [a for a, value in enumerate(q) if value == best]
    return actions[int(second * len(actions))]


class QLearning(_TabularLearner):
    """Q-learning: Q(s, a) += η [r + γ max_a' Q(s', a') - Q(s, a)], for any next action.

    It learns the values of the best policy while it explores by another (ε-greedy).

    Parameters
    ----------
    discount : float, default=0.99
        γ.
    learning_rate : float, schedule or "visits", default="visits"
        η: a number, a function of the episode (see `schedule`), or 1 / visits^0.8 of the pair, with
        which it converges.
    epsilon : float or schedule, default=0.2
        The chance of an action at random.
    n_episodes : int, default=2000
        The number of episodes.
    max_steps : int, default=1000
        The most steps of an episode.
    initial_value : float, default=0.0
        Q at the start; a high one makes the learner try everything.
    random_state : int, RandomState or None, default=None
        The seed, of the environment too.
    record : bool, default=False
        Whether to keep every step, in `record_`.

    Attributes
    ----------
    q_ : array of shape (S, A)
        The values of all actions.
    visits_ : array of shape (S, A), of int
        How often each was tried.
    returns_ : array of shape (n_episodes,)
        The discounted return of every episode.
    steps_ : array of shape (n_episodes,), of int
        Its length.
    policy_ : Policy
        The greedy policy.
    shape_ : tuple of int or None
        Rows and columns of the environment, if it is a grid.
    seed_ : int
        The seed that was used.
    record_ : list of dict
        With `record=True`, of every step its number `step`, `episode`, `state`, `action`, `reward`,
        `next`, the `worth` of the next state, the `rate`, and Q(s, a) `before` and after, `value`.

    See Also
    --------
    Sarsa : Learns the values of what it does.
    value_iteration : The optimum, if the model is known.

    References
    ----------
    Watkins and Dayan (1992), Q-learning, Machine Learning 8.

    Examples
    --------
    >>> from lyceum.reinforcement import GridWorld
    >>> model = QLearning(n_episodes=300, random_state=0).fit(GridWorld(["S.", ".G"]))
    >>> model.q_[0].argmax() in (1, 2), round(float(model.q_[1, 1]), 6)
    (True, 1.0)
    """

    def __init__(
        self,
        *,
        discount: float = 0.99,
        learning_rate: Any = "visits",
        epsilon: Any = 0.2,
        n_episodes: int = 2000,
        max_steps: int = 1000,
        initial_value: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
    ):
        self.discount = discount
        self.learning_rate = learning_rate
        self.epsilon = epsilon
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.initial_value = initial_value
        self.random_state = random_state
        self.record = record

    def _target(
        self,
        q: list[float],
        chosen: int,
        epsilon: float,
    ) -> float:
        return max(q)


class Sarsa(_TabularLearner):
    """SARSA: Q(s, a) += η [r + γ Q(s', a') - Q(s, a)] with the action a' that is taken next.

    It learns the values of the ε-greedy policy that it follows; with an ε that falls to zero, those
    of the best one. Expected SARSA takes the mean over a' instead, which varies less.

    Parameters
    ----------
    expected : bool, default=False
        Whether the mean over the next action is taken (expected SARSA).
    discount : float, default=0.99
        γ.
    learning_rate : float, schedule or "visits", default="visits"
        η: a number, a function of the episode (see `schedule`), or 1 / visits^0.8 of the pair.
    epsilon : float or schedule, default=0.2
        The chance of an action at random.
    n_episodes : int, default=2000
        The number of episodes.
    max_steps : int, default=1000
        The most steps of an episode.
    initial_value : float, default=0.0
        Q at the start; a high one makes the learner try everything.
    random_state : int, RandomState or None, default=None
        The seed, of the environment too.
    record : bool, default=False
        Whether to keep every step, in `record_`.

    Attributes
    ----------
    q_ : array of shape (S, A)
        The values of all actions.
    visits_ : array of shape (S, A), of int
        How often each was tried.
    returns_ : array of shape (n_episodes,)
        The discounted return of every episode.
    steps_ : array of shape (n_episodes,), of int
        Its length.
    policy_ : Policy
        The greedy policy.
    shape_ : tuple of int or None
        Rows and columns of the environment, if it is a grid.
    seed_ : int
        The seed that was used.
    record_ : list of dict
        With `record=True`, of every step its number `step`, `episode`, `state`, `action`, `reward`,
        `next`, the `worth` of the next state, the `rate`, and Q(s, a) `before` and after, `value`.

    See Also
    --------
    QLearning : Learns the values of the best policy.

    References
    ----------
    Rummery and Niranjan (1994), On-line Q-learning using connectionist systems, Cambridge
    University. van Seijen, van Hasselt, Whiteson and Wiering (2009), A theoretical and empirical
    analysis of expected SARSA, ADPRL.

    Examples
    --------
    >>> from lyceum.reinforcement import GridWorld
    >>> model = Sarsa(expected=True, n_episodes=300, random_state=0).fit(GridWorld(["S.", ".G"]))
    >>> round(float(model.q_[1, 1]), 6)
    1.0
    """

    _worth = "Q(s', a') of the next action, or its mean if expected"
    _parameter_constraints: ClassVar[dict] = {
        **_TabularLearner._parameter_constraints,
        "expected": ["boolean"],
    }

    def __init__(
        self,
        *,
        expected: bool = False,
        discount: float = 0.99,
        learning_rate: Any = "visits",
        epsilon: Any = 0.2,
        n_episodes: int = 2000,
        max_steps: int = 1000,
        initial_value: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
    ):
        self.expected = expected
        self.discount = discount
        self.learning_rate = learning_rate
        self.epsilon = epsilon
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.initial_value = initial_value
        self.random_state = random_state
        self.record = record

    def _target(
        self,
        q: list[float],
        chosen: int,
        epsilon: float,
    ) -> float:
        if not self.expected:
            return q[chosen]
        return epsilon * sum(q) / len(q) + (1.0 - epsilon) * max(q)

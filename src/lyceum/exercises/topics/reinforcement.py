"""Value iteration and Q-learning on a corridor."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from lyceum.exercises.draw import Draw, between
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, listed
from lyceum.reinforcement import DecisionProcess, QLearning, value_iteration

LEFT = 0
RIGHT = 1


def _rewards(draw: Draw, n_states: int) -> list[list[int]]:
    """Rewards of left and right in every state; the last state is the end."""
    rewards = [[draw.integer(-2, 3), draw.integer(-2, 3)] for _ in range(n_states - 1)]
    rewards[-1][RIGHT] = draw.integer(4, 10)
    return [*rewards, [0, 0]]


def _next(state: int, action: int, n_states: int) -> int:
    if state == n_states - 1:
        return state
    return max(state - 1, 0) if action == LEFT else state + 1


def _process(rewards: list[list[int]]) -> DecisionProcess:
    n_states = len(rewards)
    transitions = np.zeros((2, n_states, n_states))
    for state in range(n_states):
        for action in (LEFT, RIGHT):
            transitions[action, state, _next(state, action, n_states)] = 1.0
    return DecisionProcess(transitions, np.array(rewards, dtype=float))


def _corridor(rewards: list[list[int]], task: str) -> Sheet:
    sheet = Sheet()
    n_states = len(rewards)
    sheet.given.text(
        f"A corridor has the states 1 to {n_states}. “left” leads one state down (in state 1 "
        f"nowhere), “right” one state up; state {n_states} is the end, with the value 0. "
        f"{task}"
    )
    sheet.given.table(
        ["state", "reward of left", "reward of right"],
        [(state + 1, *row) for state, row in enumerate(rewards[:-1])],
    )
    return sheet


@kind("value-iteration", "Two sweeps of value iteration", "15.5")
def value_iteration_exercise(draw: Draw) -> Sheet:
    """Values after one and two sweeps, the best values, and the best action."""
    n_states = 3 + (draw.level > 1)
    rewards = _rewards(draw, n_states)
    discount = Fraction(1, 2)
    sweeps = [[Fraction(0)] * n_states]
    for _ in range(40):
        sweeps.append(_sweep(rewards, sweeps[-1], discount))
    draw.require(sweeps[2] != sweeps[3], "it ends after two sweeps")
    changes = [
        max(abs(x - y) for x, y in zip(a, b)) for a, b in itertools.pairwise(sweeps)
    ]
    draw.require(changes[0] > changes[1] > 0, "changes that do not fall")
    process = _process(rewards)
    learned = [
        value_iteration(process, float(discount), tol=float(change) + 1e-9).values
        for change in changes[:2]
    ]
    best = value_iteration(process, float(discount))
    actions = _greedy(rewards, [Fraction(v) for v in best.values], discount)
    draw.require(all(len(best_of) == 1 for best_of in actions), "equally good actions")
    sheet = _corridor(
        rewards,
        f"The discount is $\\gamma = {decimal(discount)}$. Begin with values of 0 and use "
        "the values of the last sweep for all states of the next.",
    )
    for number in (1, 2):
        state = draw.integer(0, n_states - 2)
        value = sweeps[number][state]
        sheet.ask(
            f"What is the value of state {state + 1} after sweep {number}?",
            value,
            float(learned[number - 1][state]),
            {
                "the discount was forgotten": max(
                    rewards[state][action]
                    + sweeps[number - 1][_next(state, action, n_states)]
                    for action in (LEFT, RIGHT)
                ),
                "the worse action was taken": min(
                    rewards[state][action]
                    + discount * sweeps[number - 1][_next(state, action, n_states)]
                    for action in (LEFT, RIGHT)
                ),
            },
        )
    state = draw.integer(0, n_states - 2)
    sheet.choose(
        f"What is the best action in state {state + 1} in the limit of many sweeps?",
        ("left", "right")[actions[state][0]],
        ("left", "right")[int(best.actions[state])],
        ["left", "right"],
    )
    sheet.solution.formula(r"V(s) \leftarrow \max_a [r(s, a) + \gamma V(s')]")
    sheet.solution.table(
        ["sweep", *(f"state {s}" for s in range(1, n_states))],
        [(i, *sweep[:-1]) for i, sweep in enumerate(sweeps[:4])],
    )
    final = listed([round(float(value), 6) for value in best.values[:-1]])
    sheet.solution.text(f"In the limit the values are {final}.")
    return sheet


def _sweep(
    rewards: list[list[int]], values: list[Fraction], discount: Fraction
) -> list[Fraction]:
    n_states = len(values)
    new = [
        max(
            rewards[state][action] + discount * values[_next(state, action, n_states)]
            for action in (LEFT, RIGHT)
        )
        for state in range(n_states - 1)
    ]
    return [*new, Fraction(0)]


def _greedy(
    rewards: list[list[int]], values: list[Fraction], discount: Fraction
) -> list[list[int]]:
    n_states = len(values)
    best = []
    for state in range(n_states - 1):
        q = [
            rewards[state][action] + discount * values[_next(state, action, n_states)]
            for action in (LEFT, RIGHT)
        ]
        best.append([action for action in (LEFT, RIGHT) if max(q) - q[action] < 1e-6])
    return best


class _Logged:
    """The corridor as an environment that keeps what was done."""

    def __init__(self, rewards: list[list[int]]) -> None:
        self.rewards = rewards
        self.log: list[tuple[int, int, int, int]] = []
        self.n_states = len(rewards)
        self.observation_space = SimpleNamespace(n=self.n_states, start=0)
        self.action_space = SimpleNamespace(n=2, start=0)
        self._state = 0

    def reset(self, *, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        self._state = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        following = _next(self._state, action, self.n_states)
        reward = self.rewards[self._state][action]
        self.log.append((self._state, action, reward, following))
        self._state = following
        return following, float(reward), following == self.n_states - 1, False, {}


@kind("q-learning", "Update a Q table along an episode", "15.5")
def q_learning(draw: Draw) -> Sheet:
    """The entries of Q after the steps of an episode."""
    rewards = _rewards(draw, 3)
    world = _Logged(rewards)
    rate = Fraction(1, 2)
    discount = draw.choice([Fraction(1, 2), Fraction(9, 10)])
    model = QLearning(
        discount=float(discount),
        learning_rate=float(rate),
        epsilon=0.5,
        n_episodes=1 + (draw.level > 1),
        random_state=draw.integer(0, 10**6),
    ).fit(world)
    draw.require(between(len(world.log), 2 + draw.level, 3 + 2 * draw.level), "length")
    q = [[Fraction(0), Fraction(0)] for _ in range(3)]
    sheet = _corridor(
        rewards,
        f"Q-learning with $\\eta = {decimal(rate)}$ and $\\gamma = {decimal(discount)}$ "
        "begins with $Q = 0$ and makes these steps, in one or more episodes that begin in "
        "state 1:",
    )
    sheet.given.table(
        ["step", "state", "action", "reward", "next state"],
        [
            (i, s + 1, ("left", "right")[a], r, n + 1)
            for i, (s, a, r, n) in enumerate(world.log, start=1)
        ],
    )
    rows = []
    for number, (state, action, reward, following) in enumerate(world.log, start=1):
        target = reward + discount * max(q[following])
        old = q[state][action]
        q[state][action] += rate * (target - old)
        name = ("left", "right")[action]
        rows.append((number, f"Q({state + 1}, {name})", old, target, q[state][action]))
    draw.require(
        all(value.denominator <= 1000 for row in q for value in row), "many digits"
    )
    touched = sorted({(state, action) for state, action, _, _ in world.log})
    for state, action in touched:
        last = [step for step in world.log if step[:2] == (state, action)][-1]
        name = ("left", "right")[action]
        sheet.ask(
            f"What is $Q({state + 1}, \\mathrm{{{name}}})$ at the end?",
            q[state][action],
            float(model.q_[state, action]),
            {
                "the reward alone, without the rate and the next state": last[2],
                "the next state was left out": rate * last[2],
            },
        )
    sheet.solution.formula(
        r"Q(s, a) \leftarrow Q(s, a) + \eta [r + \gamma \max_{a'} Q(s', a') - Q(s, a)]"
    )
    sheet.solution.table(
        ["step", "entry", "old value", r"$r + \gamma \max Q(s', a')$", "new value"],
        rows,
    )
    return sheet

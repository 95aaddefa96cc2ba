"""A small world to learn in: a grid of cells with a start, goals, pits and walls."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from lyceum.errors import SettingError

_MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))  # left, down, right, up, as in gymnasium


class GridWorld:
    """A grid with gymnasium's interface, without gymnasium: `reset()`, `step(action)`, and its
    model `P`.

    Parameters
    ----------
    cells : sequence of str
        One string per row: "S" start, "G" goal (an episode ends), "X" pit (an episode ends), "#"
        wall, "." free.
    goal, pit, step : float, default=1.0, -1.0, 0.0
        The reward of reaching a goal or a pit, and of every step.
    slip : float, default=0.0
        The chance that a step goes to one of the sides of the way meant, half of it to each.

    Attributes
    ----------
    P : dict
        P[state][action]: a list of (probability, next state, reward, ended).
    shape : tuple of int
        Rows and columns; state r * columns + c is the cell in row r and column c.
    observation_space, action_space : objects with `n`
        The numbers of states and actions: 0 left, 1 down, 2 right, 3 up.

    See Also
    --------
    QLearning, Sarsa : Learn in it.
    value_iteration : The best policy from its model.

    Examples
    --------
    >>> world = GridWorld(["S.", ".G"])
    >>> world.reset(seed=0)
    (0, {})
    >>> world.step(2), world.step(1)
    ((1, 0.0, False, False, {}), (3, 1.0, True, False, {}))
    """

    def __init__(
        self,
        cells: Sequence[str] = ("....", ".#.X", "S..G"),
        *,
        goal: float = 1.0,
        pit: float = -1.0,
        step: float = 0.0,
        slip: float = 0.0,
    ):
        letters = "".join(cells or ())
        lengths = {len(row) for row in cells or ()}
        if len(lengths) != 1 or not set(letters) <= set("SGX#."):
            raise SettingError(
                "cells must be strings of one length made of the letters S, G, X, # and ."
            )
        if letters.count("S") != 1:
            raise SettingError("cells must have one start, S")
        if not 0.0 <= slip <= 1.0:
            raise SettingError(f"slip must be from 0 to 1, not {slip}")
        self.cells = tuple(cells)
        self.slip = slip
        self.rewards = {"G": goal, "X": pit}
        self.step_reward = step
        self.shape = (len(cells), len(cells[0]))
        self._letters = letters
        self._start = self._letters.index("S")
        self.observation_space = SimpleNamespace(n=len(self._letters))
        self.action_space = SimpleNamespace(n=4)
        self.P = {
            s: {a: self._outcomes(s, a) for a in range(4)}
            for s in range(len(self._letters))
        }
        self._state = self._start
        self._rng = np.random.default_rng()

    def _outcomes(
        self,
        state: int,
        action: int,
    ) -> list[tuple[float, int, float, bool]]:
        if self._letters[state] in "GX#":
            return [(1.0, state, 0.0, True)]
        # a slip goes to either side of the action
        ways = [
            (1.0 - self.slip, action),
            (self.slip / 2, (action + 1) % 4),
            (self.slip / 2, (action - 1) % 4),
        ]
        return [(p, *self._move(state, way)) for p, way in ways if p > 0]

    def _move(self, state: int, action: int) -> tuple[int, float, bool]:
        r, c = divmod(state, self.shape[1])
        down, right = _MOVES[action]
        r = min(max(r + down, 0), self.shape[0] - 1)
        c = min(max(c + right, 0), self.shape[1] - 1)
        # the edge and walls hold a step back
        after = r * self.shape[1] + c
        if self._letters[after] == "#":
            after = state
        letter = self._letters[after]
        return after, self.rewards.get(letter, 0.0) + self.step_reward, letter in "GX"

    def reset(
        self,
        *,
        seed: int | None = None,
        options: Any = None,
    ) -> tuple[int, dict[str, Any]]:
        """Back to the start; a seed starts the chance of slips anew."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._state = self._start
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """The next state, the reward, whether the episode ended, whether it was cut off (never),
        and {}."""
        outcomes = self.P[self._state][int(action)]
        i = 0
        # the first outcome where the sum of chances reaches the number drawn
        if len(outcomes) > 1:
            drawn = self._rng.random()
            reached = outcomes[0][0]
            while drawn > reached and i < len(outcomes) - 1:
                i += 1
                reached += outcomes[i][0]
        _, self._state, reward, ended = outcomes[i]
        return self._state, reward, ended, False, {}

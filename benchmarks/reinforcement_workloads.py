"""Workloads of reinforcement learning on small known worlds, beside code by hand."""

from __future__ import annotations

import numpy as np
from workloads import Workload, size, workload


def _grid(side: int):
    from lyceum.reinforcement import GridWorld

    cells = [["."] * side for _ in range(side)]
    cells[0][0], cells[-1][-1], cells[side // 2][side // 2] = "S", "G", "X"
    return GridWorld(["".join(row) for row in cells], slip=0.2)


@workload
def value_iteration(scale):
    from lyceum.reinforcement import (
        DecisionProcess,
        policy_iteration as improve,
        value_iteration as iterate,
    )

    world = DecisionProcess.of_environment(_grid(max(int(20 * scale**0.5), 4)))
    P, R, discount = world.transitions, world.rewards, 0.99

    def by_hand():
        def run():
            values = np.zeros(len(R))
            while True:
                new = (R + discount * np.einsum("ast,t->sa", P, values)).max(axis=1)
                if np.abs(new - values).max() <= 1e-10 * (1.0 - discount) / discount:
                    return new
                values = new

        return run

    def quality(values):  # the residual: how far Bellman's equation is from true
        left = np.abs((R + discount * (P @ values).T).max(axis=1) - values).max()
        return {"value of the start": float(values[0]), "residual": float(left)}

    return Workload(
        "Decisions in sequence",
        "best policy of a slippery grid of 20 x 20, discount 0.99",
        {
            "lyceum": lambda: lambda: iterate(world, discount).values,
            "lyceum policy iteration": lambda: lambda: improve(world, discount).values,
            "NumPy by hand": by_hand,
        },
        quality,
        ("value of the start", 1, 1e-8),
    )


@workload
def q_learning(scale):
    from lyceum.reinforcement import value_iteration as iterate

    world, discount, episodes = _grid(5), 0.95, size(2_000, scale)
    best = iterate(world, discount).values

    def ours():
        from lyceum.reinforcement import QLearning

        model = QLearning(
            discount=discount, n_episodes=episodes, epsilon=0.3, random_state=0
        )
        return lambda: model.fit(world).q_

    def by_hand():
        def run():
            rng = np.random.default_rng(0)
            q, seen = np.zeros((25, 4)), np.zeros((25, 4))
            for episode in range(episodes):
                state = world.reset(**({"seed": 0} if episode == 0 else {}))[0]
                for _ in range(1000):
                    greedy = rng.random() >= 0.3
                    best_ones = np.flatnonzero(q[state] == q[state].max())
                    action = (
                        int(rng.choice(best_ones)) if greedy else int(rng.integers(4))
                    )
                    after, reward, ended, _, _ = world.step(action)
                    seen[state, action] += 1
                    aim = reward + (0.0 if ended else discount * q[after].max())
                    q[state, action] += (aim - q[state, action]) / seen[
                        state, action
                    ] ** 0.8
                    state = after
                    if ended:
                        break
            return q

        return run

    return Workload(
        "Decisions in sequence",
        "2,000 episodes of Q-learning in a slippery grid of 5 x 5",
        {"lyceum": ours, "NumPy by hand": by_hand},
        lambda q: {
            "value at the start, of the best": float(np.asarray(q)[0].max() / best[0])
        },
        ("value at the start, of the best", 1, 0.05),
    )

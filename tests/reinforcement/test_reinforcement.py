"""Reinforcement learning: the optimum, and learners that reach it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from lyceum.errors import DataError, SettingError
from lyceum.reinforcement import (
    DecisionProcess,
    GridWorld,
    QLearning,
    Sarsa,
    policy_iteration,
    schedule,
    value_iteration,
)

FALLS = {"learning_rate": 0.2, "epsilon": schedule(0.5, 0.0, over=2500)}
WORLD = GridWorld(["...G", ".#.X", "S..."], step=-0.04)


def random_process(S, A, seed):
    rng = np.random.default_rng(seed)
    return DecisionProcess(rng.dirichlet(np.ones(S), (A, S)), rng.normal(size=(S, A)))


@pytest.mark.syllabus("15.5.1")
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_value_and_policy_iteration_solve_bellmans_equation(S, A, seed):
    process = random_process(S, A, seed)
    by_value, by_policy = value_iteration(process, 0.9), policy_iteration(process, 0.9)
    q = process.rewards + 0.9 * np.einsum(
        "ast,t->sa", process.transitions, by_value.values
    )
    np.testing.assert_allclose(by_value.values, q.max(axis=1), atol=1e-8)
    np.testing.assert_allclose(by_policy.values, by_value.values, atol=1e-8)
    # the optimum is the least vector above all one-step returns: a linear program
    rows = np.concatenate([0.9 * P - np.eye(S) for P in process.transitions])
    found = linprog(np.ones(S), rows, -process.rewards.T.ravel(), bounds=(None, None))
    np.testing.assert_allclose(by_value.values, found.x, atol=1e-6)


@pytest.mark.syllabus("15.5")
def test_the_grid_that_slips_by_hand():
    # one row: start, free, goal; no slip: 0.9 two steps away, 1 one step away
    best = value_iteration(GridWorld(["S.G"]), discount=0.9)
    np.testing.assert_allclose(best.values, [0.9, 1.0, 0.0])
    assert best.actions[:2].tolist() == [2, 2]
    assert best.shape == (1, 3)
    # with slips (up and down are walls) V = .8 · 1 + .2 γ V
    slips = value_iteration(GridWorld(["SG"], slip=0.2), discount=0.9)
    assert slips.values[0] == pytest.approx(0.8 / (1 - 0.2 * 0.9))


@pytest.mark.syllabus("15.5.2")
@pytest.mark.parametrize(
    "learner",
    [
        QLearning(discount=0.95, epsilon=0.3, n_episodes=4000, random_state=0),
        Sarsa(discount=0.95, **FALLS, n_episodes=3000, random_state=0),
        Sarsa(expected=True, discount=0.95, **FALLS, n_episodes=3000, random_state=0),
    ],
    ids=["q-learning", "sarsa", "expected-sarsa"],
)
def test_learners_reach_the_optimum_of_value_iteration(learner):
    best = value_iteration(WORLD, discount=0.95)
    start = WORLD.reset()[0]
    model = learner.fit(WORLD)
    assert model.evaluate(WORLD, 1) == pytest.approx(best.values[start], abs=1e-6)
    assert model.q_[start].max() == pytest.approx(best.values[start], abs=0.02)


@pytest.mark.syllabus("15.5")
def test_q_learning_finds_the_values_of_a_world_that_slips():
    world = GridWorld(["..G", ".X.", "S.."], slip=0.2)
    best = value_iteration(world, discount=0.9)
    model = QLearning(
        discount=0.9, epsilon=1.0, n_episodes=6000, max_steps=200, random_state=0
    ).fit(world)
    tried = model.visits_.min(axis=1) > 1500
    assert tried.sum() >= 3
    np.testing.assert_allclose(model.q_[tried], best.q[tried], atol=0.05)


@pytest.mark.syllabus("15.5.3")
def test_gymnasiums_environments_are_taken():
    gymnasium = pytest.importorskip("gymnasium")
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    best = value_iteration(lake, discount=0.9)
    assert best.shape == (4, 4)
    assert best.values[0] == pytest.approx(0.9**5)
    model = QLearning(discount=0.9, epsilon=0.5, n_episodes=3000, random_state=0).fit(
        lake
    )
    assert model.evaluate(lake, 5) == pytest.approx(0.9**5)


def test_the_cliff_shows_what_each_one_learns():
    # along the cliff is shortest, but who explores falls: Q-learning goes there, SARSA keeps away
    cliff = GridWorld(["......", "......", "SXXXXG"], pit=-10.0, step=-0.1, goal=0.0)
    shared = {
        "discount": 1.0,
        "epsilon": 0.2,
        "learning_rate": 0.2,
        "n_episodes": 4000,
        "max_steps": 500,
    }
    bold = QLearning(**shared, random_state=0).fit(cliff)
    careful = Sarsa(**shared, random_state=0).fit(cliff)
    assert careful.returns_[-1000:].mean() > bold.returns_[-1000:].mean()
    assert bold.evaluate(cliff, 1) == pytest.approx(-0.7)


def test_seeds_decide_everything():
    one, two = (
        QLearning(n_episodes=50, random_state=3).fit(GridWorld(slip=0.3))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.q_, two.q_)
    assert "episodes" in str(one.summary())
    assert one.policy_.shape == (3, 4)
    assert one.predict([0, 1]).shape == (2,)


def test_what_does_not_fit_is_said():
    with pytest.raises(DataError, match="must sum to 1"):
        DecisionProcess(np.full((1, 2, 2), 0.3), np.zeros((2, 1)))
    with pytest.raises(SettingError, match="with discount=1"):
        value_iteration(random_process(3, 2, 0), 1.0, max_iter=100)
    with pytest.raises(SettingError, match="one start"):
        GridWorld(["..G"])
    with pytest.raises(
        SettingError, match="over must be a number of episodes above 0, not 0"
    ):
        schedule(0.5, over=0)
    with pytest.raises(DataError, match="has no number n"):
        QLearning().fit(object())


@pytest.mark.parametrize(
    "setting",
    [
        {"discount": 2.0},
        {"learning_rate": "often"},
        {"epsilon": 2.0},
        {"n_episodes": -3},
        {"max_steps": 0},
    ],
)
def test_a_setting_out_of_range_is_named(setting):
    (name,) = setting
    with pytest.raises(
        ValueError, match=f"The '{name}' parameter of QLearning must be"
    ):
        QLearning(**setting).fit(WORLD)


def test_an_environment_that_fails_leaves_the_learner_as_it_was():
    class Broken(GridWorld):
        def step(self, action):
            raise RuntimeError("out of order")

    model = QLearning(n_episodes=20, random_state=0).fit(WORLD)
    before = dict(vars(model))
    with pytest.raises(RuntimeError, match="out of order"):
        model.fit(Broken())
    assert all(value is before[name] for name, value in vars(model).items())


@pytest.mark.parametrize(
    "wrong", [{"start": "a"}, {"end": np.nan}, {"over": "long"}], ids=str
)
def test_a_schedule_is_made_of_numbers(wrong):
    with pytest.raises(
        SettingError, match=f"{next(iter(wrong))} must be a finite number"
    ):
        schedule(**{"start": 1.0, **wrong})

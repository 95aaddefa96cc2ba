"""Figures of the scenes beside other libraries, closed forms and worked examples of the book."""

import itertools

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.stats import multivariate_normal
from sklearn.neighbors import KNeighborsClassifier as ScikitNeighbors

from lyceum import datasets
from lyceum.kernels import SVC
from lyceum.reinforcement import GridWorld, QLearning, Sarsa, value_iteration
from lyceum.theatre import play
from lyceum.theatre.scenes.bayesnets import _alarm


def points_of(shown):
    mark = next(
        m for m in shown.scenes[0].pictures[0]["marks"] if m["kind"] == "points"
    )
    return np.column_stack([mark["x"], mark["y"]])


def answers(shown):
    return [scene.question.answer for scene in shown.scenes if scene.question]


# -- support vector machines -----------------------------------------------------------


def test_three_points_as_in_the_book():
    shown = play("svm")
    last = shown.steps.records[-1]
    assert last["alpha"].tolist() == pytest.approx([0, 1 / 8, 1 / 8], abs=1e-12)
    assert last["coef"].tolist() == pytest.approx([0, -1 / 2], abs=1e-12)
    assert answers(shown) == pytest.approx(
        [1 / 8, 4]
    )  # α of the step, the margin's width


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_smo_steps_rise_to_the_optimum_and_keep_the_constraints(C):
    options = {"columns": ["bill_length_mm", "bill_depth_mm"], "target": "sex"}
    shown = play(
        "svm",
        datasets.path("penguins"),
        **options,
        settings={"C": C, "standardize": True},
    )
    model = shown.model
    record = model.record_
    objectives = [step["objective"] for step in record]
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(objectives))
    assert objectives[-1] == pytest.approx(model.dual_objective_[0], rel=1e-9)
    np.testing.assert_array_equal(record[-1]["alpha"], model.alpha_)
    for step in record:
        assert step["alpha"].min() >= 0
        assert step["alpha"].max() <= C
    assert len(record[0]["alpha"]) == len(points_of(shown))
    # the recorded fit is the fit
    plain = SVC(kernel="linear", C=C, tol=1e-6).fit(points_of(shown), targets_of(shown))
    np.testing.assert_allclose(plain.alpha_, model.alpha_, atol=1e-9)


def targets_of(shown):
    mark = shown.scenes[0].pictures[0]["marks"][0]
    return [str(shown.model.classes_[code]) for code in mark["series"]]


def test_svc_records_every_machine_and_says_its_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], 8, axis=0)
    y = np.repeat(["a", "b", "c"], 8)
    model = SVC(kernel="rbf", record=True).fit(X, y)
    assert {step["machine"] for step in model.record_} == {0, 1, 2}
    for machine in range(3):
        steps = [step for step in model.record_ if step["machine"] == machine]
        assert steps[0]["alpha"].tolist() == [0.0] * 24
        np.testing.assert_array_equal(steps[-1]["alpha"], model.alpha_[:, machine])
        assert steps[-1]["objective"] == pytest.approx(model.dual_objective_[machine])
    np.testing.assert_allclose(
        SVC(kernel="rbf").fit(X, y).alpha_, model.alpha_, atol=1e-6
    )
    assert "0 ≤ α ≤ C" in str(model.steps())
    assert not hasattr(SVC().fit(X, y), "record_")


# -- clusters --------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["single", "complete", "average"])
def test_merges_are_those_of_another_library(rule):
    shown = play("linkage", settings={"linkage": rule})
    heights = [record["height"] for record in shown.steps.records[1:]]
    assert heights == pytest.approx(linkage(points_of(shown), rule)[:, 2].tolist())
    assert answers(shown) == pytest.approx(heights)


def test_em_raises_the_likelihood_and_its_shares_are_bayes():
    shown = play("em")
    X = points_of(shown)
    values = [record["objective"] for record in shown.steps.records]
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(values))
    model = shown.model
    kept = [record["objective"] for record in model.record_]
    assert values[::2] == pytest.approx(kept[:40], rel=1e-9)
    parts = [
        weight * multivariate_normal(mean, S).pdf(X)
        for weight, mean, S in zip(model.weights_, model.means_, model.covariances_)
    ]
    assert values[-1] == pytest.approx(np.log(np.sum(parts, axis=0)).sum(), rel=1e-6)
    shares = parts[0] / np.sum(parts, axis=0)
    rows = shown.scenes[-1].tables[0].rows
    assert [row[1] for row in rows] == pytest.approx(
        shares[: len(rows)].tolist(), abs=1e-4
    )


# -- lazy learners ---------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 5])
def test_neighbors_and_vote_are_those_of_another_library(k):
    shown = play("knn", settings={"k": k, "query": "3 2.5"})
    peer = ScikitNeighbors(k).fit(points_of(shown), targets_of(shown))
    distances, _ = peer.kneighbors([[3, 2.5]])
    assert answers(shown)[:-1] == pytest.approx(distances[0].tolist())
    assert answers(shown)[-1] == peer.predict_proba([[3, 2.5]]).max()


def test_a_local_line_is_weighted_least_squares():
    shown = play("local_line", settings={"query": "2.5", "width": "0.8"})
    x = np.arange(7.0)
    y = np.array([1, 1.5, 2.5, 2.5, 1.5, 0.5, 1])
    w = np.exp(-((x - 2.5) ** 2) / (2 * 0.8**2))
    slope, intercept = np.polyfit(x, y, 1, w=np.sqrt(w))
    records = shown.steps.records
    assert records[3]["slope"] == pytest.approx(slope)
    assert records[4]["answer"] == pytest.approx(intercept + 2.5 * slope)


# -- reinforcement ---------------------------------------------------------------------


def test_sweeps_are_bellmans_equation_and_end_in_the_policy():
    world = GridWorld(["..G", ".#X", "S.."])
    policy = value_iteration(world, 0.9, record=True)
    for before, after in zip(policy.record, policy.record[1:]):
        for state, value in enumerate(after["values"]):
            q = [
                sum(
                    p * (r + 0.9 * (not end) * before["values"][s])
                    for p, s, r, end in world.P[state][a]
                )
                for a in range(4)
            ]
            assert value == pytest.approx(max(q))
    np.testing.assert_array_equal(policy.record[-1]["values"], policy.values)
    assert [step["change"] for step in policy.record[1:]] == policy.history
    assert "sweep" in str(policy.steps())
    shown = play("value_iteration")
    # the way to the goal: 1, 0.9, 0.81, ...
    assert answers(shown)[:6] == pytest.approx([0.9**k for k in range(6)])


@pytest.mark.parametrize("learner", [QLearning, Sarsa])
def test_recorded_updates_lead_from_zero_to_the_table(learner):
    settings = {
        "discount": 0.9,
        "learning_rate": 0.5,
        "n_episodes": 5,
        "random_state": 3,
    }
    world = GridWorld(["S..", "..G"], step=-0.1)
    model = learner(**settings, record=True).fit(world)
    q = np.zeros_like(model.q_)
    for step in model.record_:
        state, action = step["state"], step["action"]
        assert step["before"] == q[state, action]
        if learner is QLearning:
            is_end = step["next"] == 5
            assert step["worth"] == (0.0 if is_end else q[step["next"]].max())
        target = step["reward"] + 0.9 * step["worth"]
        q[state, action] += 0.5 * (target - q[state, action])
        assert step["value"] == pytest.approx(q[state, action])
    np.testing.assert_allclose(q, model.q_)
    assert model.record_[-1]["episode"] == 4
    np.testing.assert_array_equal(model.q_, learner(**settings).fit(world).q_)
    assert "Q(s, a) ← " in str(model.steps())


def test_q_learning_asks_for_the_next_value():
    shown = play("q_learning", seed=2)
    model = shown.model
    assert answers(shown) == [
        step["value"] for step in model.record_[: len(answers(shown))]
    ]


# -- networks --------------------------------------------------------------------------


def test_the_alarm_as_in_russell_and_norvig():
    shown = play("network_query")
    # the joint by brute force over burglary, earthquake and alarm; both have called
    tables = {name: np.asarray(_alarm().node(name).table) for name in _alarm().names}
    calls = tables["john"][:, 1] * tables["mary"][:, 1]
    joint = np.einsum(
        "b,e,bea,a->b", tables["burglary"], tables["earthquake"], tables["alarm"], calls
    )
    assert answers(shown)[-1] == pytest.approx(joint[1] / joint.sum(), abs=5e-5)
    assert answers(shown)[-1] == pytest.approx(0.284, abs=5e-4)
    rules = [scene.title for scene in shown.scenes]
    assert rules[1] == "Bayes' theorem"
    assert rules[-1] == "Division"


def test_a_network_can_be_asked_otherwise():
    shown = play(
        "network_query",
        settings={"network": "sprinkler", "query": "cloudy", "evidence": "wet=yes"},
    )
    assert shown.scenes[0].title == "The question: P(cloudy | wet=yes)"
    # P(cloudy, wet) by hand: 0.5 Σ P(s|c) P(r|c) P(w|s, r)
    wet = {(0, 0): 0.0, (0, 1): 0.9, (1, 0): 0.9, (1, 1): 0.99}
    joint = []
    for sprinkler, rain in ((0.5, 0.2), (0.1, 0.8)):
        total = 0.0
        for (s, r), p in wet.items():
            total += p * (sprinkler if s else 1 - sprinkler) * (rain if r else 1 - rain)
        joint.append(0.5 * total)
    assert answers(shown)[-1] == pytest.approx(joint[1] / sum(joint), abs=5e-5)

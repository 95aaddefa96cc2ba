"""What changes from step to step is what the formulas say: updates by hand, in plain NumPy; and
every column of every record is named in such a test."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.special import digamma, expit
from scipy.stats import multivariate_t

from lyceum import catalog
from lyceum.decomposition import SequentialFeatureSelector
from lyceum.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    MixtureOfExperts,
)
from lyceum.kernels import SVC, KernelPerceptron
from lyceum.linear import (
    ElasticNet,
    ElasticNetCV,
    LinearRegression,
    LogisticRegression,
    MarginClassifier,
    Perceptron,
)
from lyceum.mixtures import StudentMixture
from lyceum.neighbors import KNeighborsRegressor, RBFNetworkClassifier
from lyceum.neural import MLPRegressor
from lyceum.reinforcement import (
    DecisionProcess,
    QLearning,
    Sarsa,
    value_iteration,
)
from lyceum.semi_supervised import SelfTrainingClassifier
from lyceum.trees import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (20, 2)), RNG.normal(1.5, 1, (20, 2))])
Z = X - X.mean(axis=0)
CODES = np.repeat([0, 1], 20)
SIGNS = 2 * CODES - 1
NUMBERS = X @ [1.0, 2.0] + RNG.normal(size=40)
KWARGS = {"record": True, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ONES = np.column_stack([X, np.ones(40)])
RIDGE = np.diag([1.0, 1.0, 0.0])  # of the weights, not of the intercept


def pairs(model):
    """Every step with the next one."""
    return list(zip(model.record_, model.record_[1:]))


def test_every_column_is_named_by_a_test_of_formulas():
    here = Path(__file__)
    texts = [
        path.read_text(encoding="utf-8")
        for path in (here, here.with_name("test_step_formulas.py"))
    ]
    missing = {
        f"{entry.name}.{column.name}"
        for entry in catalog.learners()
        if entry.load()._step_kind
        for column in entry.load()._step_kind.columns
        if not any(f'"{column.name}"' in text for text in texts)
    }
    assert missing == set()


def point(step):
    """Weights and intercept as one vector."""
    return np.append(np.ravel(step["coef"]), step["intercept"])


def test_lms_row_by_row():
    model = LinearRegression(
        solver="lms",
        learning_rate=0.05,
        decay=False,
        standardize=False,
        max_iter=2,
        record=True,
    ).fit(X, NUMBERS)
    b = np.zeros(3)
    for step in model.record_[1:]:
        for row, after in zip(range(40), step["rows"]):
            b = b + 0.05 * (NUMBERS[row] - ONES[row] @ b) * ONES[row]
            np.testing.assert_allclose(after, b)
        np.testing.assert_allclose(point(step), b)


def test_elastic_net_pass_by_pass():
    alpha, ratio = 0.1, 0.3
    y = NUMBERS - NUMBERS.mean()
    model = ElasticNet(alpha=alpha, l1_ratio=ratio, record=True).fit(X, NUMBERS)
    b = np.zeros(2)
    for step, after in pairs(model):
        for _ in range(after["step"] - step["step"]):
            for j in (0, 1):
                pull = Z[:, j] @ (y - Z @ b + Z[:, j] * b[j]) / 40
                soft = np.sign(pull) * max(abs(pull) - alpha * ratio, 0.0)
                b[j] = soft / ((Z[:, j] ** 2).mean() + alpha * (1 - ratio))
        np.testing.assert_allclose(after["coef"], b)
        assert after["dual_gap"] == pytest.approx(dual_gap(b, y, alpha, ratio))


def dual_gap(b, y, alpha, ratio):
    """F less the dual function of the lasso on rows that the ridge part extends."""
    ridge = np.sqrt(40 * alpha * (1 - ratio)) * np.eye(2)
    A = np.vstack([Z, ridge])
    t = np.append(y, np.zeros(2))
    r = t - A @ b
    bound = 40 * alpha * ratio
    feasible = r * min(1.0, bound / np.abs(A.T @ r).max())
    F = 0.5 * r @ r + bound * np.abs(b).sum()
    return (F - 0.5 * t @ t + 0.5 * (t - feasible) @ (t - feasible)) / 40


def test_elastic_net_along_its_path():
    model = ElasticNetCV(l1_ratio=0.3, alphas=10, tol=1e-10, record=True)
    model.fit(X, NUMBERS)
    prices = [step["alpha"] for step in model.record_]
    assert prices == sorted(prices, reverse=True)
    assert prices[-1] == model.alpha_
    y = NUMBERS - NUMBERS.mean()
    for step in model.record_:
        b = step["coef"]
        alpha = step["alpha"]
        pull = Z.T @ (y - Z @ b) / 40 - alpha * 0.7 * b
        on = b != 0
        np.testing.assert_allclose(pull[on], 0.3 * alpha * np.sign(b[on]), atol=1e-5)
        assert (np.abs(pull[~on]) <= 0.3 * alpha + 1e-8).all()
        gap = dual_gap(b, y, alpha, 0.3)
        assert step["dual_gap"] == pytest.approx(gap, abs=1e-8)
        assert step["epochs"] >= 1


def test_newton_and_gradient_steps_of_logistic_regression():
    newton = LogisticRegression(solver="irls", record=True).fit(X, CODES)
    descent = LogisticRegression(
        solver="gradient_descent", learning_rate=0.1, max_iter=3, record=True
    ).fit(X, CODES)
    for model in (newton, descent):
        for step, after in pairs(model):
            w = point(step)
            p = expit(ONES @ w)
            g = (ONES.T @ (p - CODES) + RIDGE @ w) / 40
            H = ((ONES.T * (p * (1 - p))) @ ONES + RIDGE) / 40
            down = np.linalg.solve(H, g) if model is newton else 0.1 * g
            np.testing.assert_allclose(point(after), w - down, atol=1e-9)


def test_margin_classifier_goes_down_and_ends_level():
    model = MarginClassifier(loss="squared_hinge", tol=1e-9, record=True).fit(X, CODES)
    for step, after in pairs(model):
        assert (point(after) - point(step)) @ margin_gradient(step) < 0
    assert np.abs(margin_gradient(model.record_[-1])).max() < 1e-4


def margin_gradient(step):
    w = point(step)
    missing = np.maximum(0, 1 - SIGNS * (ONES @ w))
    return -2 * ONES.T @ (SIGNS * missing) + RIDGE @ w


@pytest.mark.parametrize("center", [True, False])
def test_perceptron_row_by_row(center):
    settings = {"center": center, "max_iter": 3, "shuffle": False}
    model = Perceptron(**settings, record="steps").fit(X, CODES)
    middle = X.mean(axis=0) if center else np.zeros(2)
    w = np.zeros(2)
    b = 0.0  # at the middle
    for step in model.record_:
        mistakes = 0
        for x, y, after in zip(X - middle, SIGNS, step["rows"]):
            if y * (w @ x + b) <= 0:
                w = w + y * x
                b = b + y
                mistakes += 1
            np.testing.assert_allclose(after, [*w, b - w @ middle], atol=1e-12)
        assert step["mistakes"] == mistakes
        np.testing.assert_allclose(point(step), after, atol=1e-12)


def test_kernel_perceptron_row_by_row():
    model = KernelPerceptron(kernel="linear", max_iter=3, record=True).fit(X, CODES)
    K = X @ X.T
    alpha = np.zeros(40)
    for step in model.record_:
        wrong = []
        for i in range(40):
            if SIGNS[i] * ((alpha * SIGNS) @ (K[:, i] + 1)) <= 0:
                alpha[i] += 1
                wrong.append(i)
        assert wrong == list(step["updates"])
        np.testing.assert_array_equal(step["row_mistakes"].ravel(), alpha)


def test_machines_of_three_classes_are_numbered():
    y = np.arange(40) % 3
    model = SVC(kernel="rbf", record=True).fit(X, y)
    assert {step["machine"] for step in model.record_} == {0, 1, 2}
    for number, labels in enumerate(([0, 1], [0, 2], [1, 2])):
        inside = np.flatnonzero(np.isin(y, labels))
        steps = [step for step in model.record_ if step["machine"] == number]
        assert all(set(step["pair"]) <= set(inside) for step in steps[1:])


def test_boosting_on_rows_held_out():
    model = HistGradientBoostingRegressor(
        max_iter=4,
        early_stopping=True,
        n_iter_no_change=10,
        keep_best=False,
        record=True,
    ).fit(X[::2], NUMBERS[::2], X_val=X[1::2], y_val=NUMBERS[1::2])
    stages = list(model.staged_predict(X[1::2]))
    assert len(stages) == len(model.record_) == 4
    for step, predicted in zip(model.record_, stages):
        loss = 0.5 * ((predicted - NUMBERS[1::2]) ** 2).mean()
        assert step["validation_loss"] == pytest.approx(loss)


def test_boosting_counts_leaves_and_columns():
    model = GradientBoostingClassifier(n_estimators=3, max_depth=2, record=True)
    model.fit(X, CODES)
    p = model.predict_proba(X)[np.arange(40), CODES]
    assert model.record_[-1]["objective"] == pytest.approx(-np.log(p).mean())
    for step, tree in zip(model.record_, model.trees_):
        assert step["n_leaves"] == [tree.n_leaves]
        assert step["depth"] == [tree.depth]
        assert tree.depth <= 2
        on = tree.feature[tree.feature >= 0]
        assert step["columns"] == [sorted(set(on.tolist()))]
        assert step["gain"][0] == pytest.approx((tree.gain * tree.weight).sum())


def test_network_step_by_step():
    model = MLPRegressor(
        hidden_layer_sizes=(2,),
        activation="tanh",
        solver="sgd",
        momentum=0.0,
        learning_rate_init=0.1,
        batch_size=40,
        max_iter=3,
        tol=None,
        alpha=0.1,
        shuffle=False,
        random_state=0,
        record="steps",
    ).fit(X, NUMBERS)
    cells = Z / X.std(axis=0)
    target = (NUMBERS - NUMBERS.mean()) / NUMBERS.std()

    def loss(p):
        hidden = np.tanh(cells @ p[:4].reshape(2, 2) + p[4:6])
        return 0.5 * ((hidden @ p[6:8] + p[8] - target) ** 2).mean()

    def penalty(p):
        return 0.05 * (p[:4] @ p[:4] + p[6:8] @ p[6:8]) / 40

    for step, after in pairs(model):
        p = step["parameters"]
        new = after["parameters"]
        # the loss of an epoch is that of its rows before each step, here of the start
        assert after["objective"] == pytest.approx(loss(p) + penalty(new))
        assert after["learning_rate"] == 0.1
        slope = [
            (loss(p + e) + penalty(p + e) - loss(p - e) - penalty(p - e)) / 2e-6
            for e in 1e-6 * np.eye(9)
        ]
        np.testing.assert_allclose(new, p - 0.1 * np.array(slope), atol=1e-8)
        np.testing.assert_array_equal(after["steps"][-1], new)


def test_network_on_rows_held_out():
    model = MLPRegressor(
        hidden_layer_sizes=(2,), max_iter=2, tol=None, early_stopping=True, **KWARGS
    )
    model.fit(X[::2], NUMBERS[::2], validation=(X[1::2], NUMBERS[1::2]))
    step = model.record_[int(np.argmax([s["validation_score"] for s in model.record_]))]
    errors = model.predict(X[1::2]) - NUMBERS[1::2]
    half = 0.5 * (errors**2).mean() / NUMBERS[::2].var()
    assert step["validation_loss"] == pytest.approx(half)
    score = 1 - (errors**2).mean() / NUMBERS[1::2].var()
    assert step["validation_score"] == pytest.approx(score)


def test_degrees_of_freedom():
    model = StudentMixture(2, prior_rows=0, max_iter=4, **KWARGS).fit(X)
    for step, after in pairs(model):
        joint = []
        nearness = []
        for pi, mu, S, nu in zip(
            step["weights"], step["means"], step["covariances"], step["degrees"]
        ):
            joint.append(pi * multivariate_t(mu, S, df=nu).pdf(X))
            squares = np.sum((X - mu) @ np.linalg.inv(S) * (X - mu), axis=1)
            nearness.append((nu + 2) / (nu + squares))
        r = np.array(joint) / np.sum(joint, axis=0)
        for k, u in enumerate(nearness):
            nu = after["degrees"][k]
            half = (step["degrees"][k] + 2) / 2
            slope = np.log(nu / 2) - digamma(nu / 2) + 1 + digamma(half) - np.log(half)
            slope += r[k] @ (np.log(u) - u) / r[k].sum()
            assert abs(slope) < 1e-9


def test_labels_of_self_training():
    given = np.where(np.arange(40) % 3, CODES, -1)
    model = SelfTrainingClassifier().fit(X, given)
    for step in model.record_:
        new = model.labeled_iter_ == step["step"]
        assert step["labeled"] == new.sum()


def test_columns_that_come_and_go():
    cells = np.column_stack([X, np.arange(40) % 7])
    for direction in ("forward", "backward"):
        model = SequentialFeatureSelector(
            KNeighborsRegressor(3), n_features_to_select=1, direction=direction
        ).fit(cells, NUMBERS)
        for step, after in pairs(model):
            old = set(step["columns"])
            new = set(after["columns"])
            assert {after["added"]} - {None} == new - old
            assert {after["removed"]} - {None} == old - new


def test_shares_of_experts():
    model = MixtureOfExperts(LogisticRegression(), n_experts=2, max_iter=3, **KWARGS)
    model.fit(X, CODES)
    # experts see standardized columns
    cells = (X - model.mean_) / model.scale_
    p = [
        expert.predict_proba(cells)[np.arange(40), CODES]
        for expert in model.estimators_
    ]
    r = model.gate_proba(X) * np.transpose(p)
    r /= r.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.record_[-1]["shares"], r.mean(axis=0))


def test_members_that_vote_and_widths_that_stay():
    boosted = AdaBoostClassifier(n_estimators=3, record=True).fit(X, CODES)
    assert [step["kept"] for step in boosted.record_] == [True] * 3
    radial = RBFNetworkClassifier(n_centers=3, max_iter=5, **KWARGS).fit(X, CODES)
    for step in radial.record_:
        np.testing.assert_array_equal(step["widths"], radial.widths_)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_nodes_of_a_tree(criterion):
    model = DecisionTreeClassifier(criterion=criterion, max_depth=1, record=True)
    root = model.fit(X, CODES).record_[0]

    def impurity(codes):
        p = np.bincount(codes, minlength=2) / len(codes)
        if criterion == "gini":
            return 1 - p @ p
        return -sum(share * np.log2(share) for share in p if share > 0)

    assert root["node"] == 0
    assert root["objective"] == pytest.approx(impurity(CODES))
    for candidate in root["candidates"]:
        below = X[:, int(str(candidate["column"]).strip("x"))] <= candidate["threshold"]
        left = sum(
            len(part) / 40 * impurity(part) for part in (CODES[below], CODES[~below])
        )
        assert candidate["gain"] == pytest.approx(root["objective"] - left)
    best = max(root["candidates"], key=lambda candidate: candidate["score"])
    assert root["column"] == best["column"]


class Corridor:
    """Four states in a row; the last is the end, with a reward of 1."""

    observation_space = type("Space", (), {"n": 4, "start": 0})
    action_space = type("Space", (), {"n": 2, "start": 0})

    def reset(self, *, seed=None):
        self.state = 0
        return 0, {}

    def step(self, action):
        self.state = max(0, self.state + (1 if action else -1))
        return self.state, float(self.state == 3), self.state == 3, False, {}


@pytest.mark.parametrize("learner", [QLearning, Sarsa])
def test_updates_of_a_q_table(learner):
    model = learner(
        discount=0.9, learning_rate=0.5, n_episodes=8, max_steps=60, **KWARGS
    ).fit(Corridor())
    q = np.zeros((4, 2))
    following = [*model.record_[1:], None]
    for step, after in zip(model.record_, following):
        s, a = step["state"], step["action"]
        is_last = after is None or after["episode"] != step["episode"]
        worth = q[step["next"]].max()
        if learner is Sarsa and not is_last:
            worth = q[step["next"], after["action"]]
        if step["next"] == 3:
            worth = 0.0
        assert step["before"] == pytest.approx(q[s, a])
        if learner is QLearning or not is_last or step["next"] == 3:
            assert step["worth"] == pytest.approx(worth)
        q[s, a] += step["rate"] * (step["reward"] + 0.9 * step["worth"] - q[s, a])
        assert step["value"] == pytest.approx(q[s, a])
    np.testing.assert_allclose(model.q_, q)


def test_sweeps_of_value_iteration():
    P = np.array([[[0.8, 0.2], [0.1, 0.9]], [[0.5, 0.5], [0.0, 1.0]]])
    R = np.array([[1.0, 0.0], [2.0, -1.0]])
    record = value_iteration(DecisionProcess(P, R), 0.9, record=True).record
    assert record[0]["values"].tolist() == [0.0, 0.0]
    for step, after in pairwise(record):
        q = R + 0.9 * (P @ step["values"]).T  # P has the actions first
        np.testing.assert_allclose(after["values"], q.max(axis=1))
        moved = np.abs(after["values"] - step["values"]).max()
        assert after["change"] == pytest.approx(moved)

"""Lines, committees, products, rotations, nets and pruned trees beside independent figures."""

import itertools

import numpy as np
import pytest
from sklearn.decomposition import PCA as ScikitPCA
from sklearn.ensemble import AdaBoostClassifier as ScikitAdaBoost
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

from lyceum import datasets
from lyceum.ensemble import AdaBoostClassifier
from lyceum.linear import LinearRegression
from lyceum.theatre import play
from lyceum.theatre.scenes.trees import weather_table


def points_of(shown, scene=0):
    marks = shown.scenes[scene].pictures[0]["marks"]
    mark = next(m for m in marks if m["kind"] == "points")
    return np.column_stack([mark["x"], mark["y"]])


def answers(shown):
    return [scene.question.answer for scene in shown.scenes if scene.question]


def test_gradient_descent_by_a_loop_on_paper():
    shown = play("gradient_descent", settings={"eta": 0.05, "steps": 6})
    x = np.arange(5.0)
    y = np.array([1.0, 3, 2, 5, 4])
    b = a = 0.0
    slopes = []
    for _ in range(6):
        r = y - a - b * x
        b, a = b + 0.05 * (r @ x) / 5, a + 0.05 * r.sum() / 5
        slopes.append(b)
    assert answers(shown) == pytest.approx(slopes)
    last = shown.steps.records[-1]
    assert last["intercept"] == pytest.approx(a)
    assert last["objective"] == pytest.approx(((y - a - b * x) ** 2).sum())
    # the formula of the learner's own steps has the mean over the rows, too
    assert "Σ w r x / Σ w" in " ".join(
        LinearRegression._step_kind.columns[0].formula.split()
    )


def test_too_large_a_rate_is_said():
    shown = play("gradient_descent", settings={"eta": 0.5})
    assert "η is too large" in shown.scenes[3].lines[-1]


def test_newton_steps_from_gradient_and_hessian():
    shown = play("newton")
    x = np.arange(6.0)
    y = np.array([0.0, 0, 1, 0, 1, 1])
    A = np.column_stack([x, np.ones(6)])
    for before, after in itertools.pairwise(shown.steps.records):
        theta = np.array([before["coef"], before["intercept"]])
        p = 1 / (1 + np.exp(-A @ theta))
        H = (A.T * p * (1 - p)) @ A
        step = np.linalg.solve(H, A.T @ (p - y))
        assert [after["coef"], after["intercept"]] == pytest.approx(
            (theta - step).tolist(), abs=1e-6
        )
        assert before["objective"] == pytest.approx(
            -np.log(np.where(y == 1, p, 1 - p)).sum()
        )
    assert np.abs(shown.steps.records[-1]["gradient"]).max() < 1e-6


def test_the_product_of_naive_bayes_beside_another_library():
    shown = play("naive_bayes", settings={"row": 3})
    table = weather_table()
    X = OrdinalEncoder().fit_transform(np.column_stack(table.columns))
    peer = CategoricalNB(alpha=1.0).fit(X, table.target)
    (posterior,) = peer.predict_proba(X[2:3])
    last = shown.steps.records[-1]["products"]
    assert sorted(last) == pytest.approx(sorted(posterior.tolist()))
    # the prior is that of the learner: 9 of 14 days
    priors = shown.steps.records[1]["values"]
    assert sorted(priors) == pytest.approx([5 / 14, 9 / 14])


def test_without_laplace_the_overcast_days_are_never_no():
    shown = play("naive_bayes", settings={"row": 3, "laplace": False})
    assert sorted(shown.steps.records[-1]["products"]) == [0.0, 1.0]


def test_principal_components_beside_another_library():
    shown = play(
        "pca", datasets.path("penguins"), columns=["bill_length_mm", "bill_depth_mm"]
    )
    X = points_of(shown)
    peer = ScikitPCA(2).fit(X)
    records = {record["phase"]: record for record in shown.steps.records}
    assert records["Eigenvalues"]["first"] == pytest.approx(peer.explained_variance_[0])
    assert records["The share of variance"]["first"] == pytest.approx(
        peer.explained_variance_ratio_[0]
    )
    score = records["Scores: the rows along the first direction"]["first"]
    assert abs(score) == pytest.approx(abs(peer.transform(X)[0, 0]))
    book = play("pca")
    assert [round(answer, 4) for answer in answers(book)] == [3, 2, 4.5, 0.9, -2.8284]


def test_rounds_of_adaboost_beside_another_library():
    shown = play("adaboost", settings={"rounds": 4})
    X = points_of(shown)
    y = np.array(["yes", "yes", "no", "no", "no", "yes", "yes", "no", "no", "yes"])
    peer = ScikitAdaBoost(n_estimators=4).fit(X, y)
    errors = [record["error"] for record in shown.steps.records[1:]]
    assert errors == pytest.approx(peer.estimator_errors_.tolist())
    # its weights are twice ours, as it has no ½
    assert answers(shown) == pytest.approx((peer.estimator_weights_ / 2).tolist())


def test_the_weights_of_adaboost_follow_the_formula_of_its_steps():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    for classes, y in (
        (2, X[:, 0] + X[:, 1] > 0),
        (3, np.digitize(X.sum(axis=1), [-0.7, 0.7])),
    ):
        model = AdaBoostClassifier(n_estimators=4, record=True, random_state=0).fit(
            X, y
        )
        for k, (record, after) in enumerate(itertools.pairwise(model.record_)):
            wrong = np.asarray(model.estimators_[k].predict(X)) != y
            alpha = record["alpha"]
            odds = (1 - record["error"]) / record["error"]
            assert alpha == pytest.approx((np.log(odds) + np.log(classes - 1)) / 2)
            d = record["weights"] * np.exp(np.where(wrong, alpha, -alpha))
            np.testing.assert_allclose(after["weights"], d / d.sum())
    formula = AdaBoostClassifier._step_kind.columns[0].formula
    assert "exp (−α)" in formula


def test_ten_bags_vote_as_in_the_book():
    shown = play("bagging")
    sums = shown.steps.records[-1]["sums"]
    assert sums.tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    second = shown.scenes[2]
    assert second.lines[0] == "The sample: 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.9, 1, 1, 1"
    assert second.title == "Member 2: x ≤ 0.7?"


def test_bagging_of_a_file_draws_its_samples():
    shown = play(
        "bagging", datasets.path("penguins"), target="sex", settings={"members": 4}
    )
    assert len(shown.scenes) == 5
    assert np.abs(shown.steps.records[-1]["sums"]).max() <= 4


def test_cuts_are_those_of_the_cost_complexity_path():
    for depth in (3, 4):
        shown = play("pruning", settings={"depth": depth})
        path = shown.model.cost_complexity_path("error")
        records = shown.steps.records
        # cuts at the same α are one step of the path
        leaves = {round(r["alpha"], 12): (r["leaves"], r["risk"]) for r in records}
        ours = np.array([(alpha, *leaves[alpha]) for alpha in sorted(leaves)])
        theirs = np.column_stack([path.alphas, path.n_leaves, path.risks])
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_backpropagation_by_a_loop_on_paper():
    shown = play("backpropagation", seed=4)
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([0.0, 1, 1, 0])
    draws = np.random.default_rng(4)
    V = np.round(draws.uniform(-0.9, 0.9, (2, 2)), 1)
    w = np.round(draws.uniform(-0.9, 0.9, 2), 1)
    a = np.zeros(2)
    c = 0.0
    expected = []
    for i in [0, 1, 2, 3] * 3:
        h = 1 / (1 + np.exp(-(X[i] @ V + a)))
        o = h @ w + c
        expected.append(o)
        delta = y[i] - o
        back = delta * w * h * (1 - h)
        w = w + 0.5 * delta * h
        c = c + 0.5 * delta
        V = V + 0.5 * np.outer(X[i], back)
        a = a + 0.5 * back
        expected.append(w[0])
    assert answers(shown) == pytest.approx(expected)
    np.testing.assert_allclose(shown.model.coefs_[0], V)

"""Support vector machines solved on paper come out to the last digit, with their workings."""

import numpy as np
import pytest
from sklearn import datasets, svm

from lyceum.errors import SettingError
from lyceum.kernels import SVC, SVR, RBFKernel

AND = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
CLOSE = {"rtol": 0, "atol": 1e-12}


@pytest.mark.syllabus("9.3")
@pytest.mark.parametrize("C", [10.0, 1e3, np.inf])
def test_three_support_vectors_with_the_bias_folded_in(C):
    X = [[0, 1], [-1, 3], [1, 3]]
    model = SVC(kernel="linear", C=C, intercept_scaling=1).fit(X, [-1, 1, 1])
    np.testing.assert_allclose(model.alpha_, [3.5, 0.75, 0.75], **CLOSE)
    np.testing.assert_allclose(model.coef_, [[0.0, 1.0]], **CLOSE)
    np.testing.assert_allclose(model.intercept_, [-2.0], **CLOSE)


@pytest.mark.syllabus("9.3")
@pytest.mark.parametrize("C", [10.0, np.inf])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_and_has_the_plane_2_2_and_minus_3(C, offset):
    model = SVC(kernel="linear", C=C).fit(AND + offset, [-1, -1, -1, 1])
    atol = 1e-12 * (1.0 + offset)
    np.testing.assert_allclose(model.alpha_, [0, 2, 2, 4], atol=atol)
    np.testing.assert_allclose(model.coef_, [[2.0, 2.0]], atol=atol)
    np.testing.assert_allclose(model.intercept_, [-3.0 - 4.0 * offset], rtol=1e-9)


@pytest.mark.parametrize("C", [0.3, 5.0, np.inf])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_small_problems_meet_the_optimality_conditions_to_rounding(C, kernel):
    X, y = datasets.make_blobs(60, centers=2, cluster_std=0.8, random_state=3)
    model = SVC(kernel=kernel, C=C).fit(X, y)
    assert model.kkt_residual_[0] < 1e-10
    gap = model.primal_objective_[0] - model.dual_objective_[0]
    assert abs(gap) < 1e-9 * abs(model.dual_objective_[0])
    if np.isfinite(C):
        peer = svm.SVC(kernel=kernel, C=C, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(
            model.decision_function(X), peer.decision_function(X), atol=1e-6
        )


def test_a_hard_margin_of_many_rows_is_exact_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = np.where(X @ [1.0, 2.0] > 0, 1, -1)
    X += 0.1 * y[:, None] * np.array([1.0, 2.0])
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    assert model.kkt_residual_[0] < 1e-10
    assert np.min(y * model.decision_function(X)) == pytest.approx(1.0, abs=1e-10)


def test_a_small_regression_is_exact_too():
    """f = w x + b inside of a tube of ε: three points of y = 2x with slack 0 need w = 2 - 2ε/2."""
    model = SVR(kernel="linear", C=1e3, epsilon=0.5).fit(
        [[-1.0], [0.0], [1.0]], [-2, 0, 2]
    )
    np.testing.assert_allclose(model.coef_, [[1.5]], **CLOSE)
    np.testing.assert_allclose(model.intercept_, [0.0], **CLOSE)


@pytest.mark.syllabus("9.3.3")
def test_the_workings_are_equations_that_the_solution_solves():
    model = SVC(kernel="linear", C=np.inf).fit(AND, [-1, -1, -1, 1])
    problem, system, solution = model.workings().tables
    assert problem.rows[0][1] == (
        "α1 + α2 + α3 - ½ (α1² + α2² + 2 α3² - 2 α1 α3 - 2 α2 α3)"
    )
    assert [line for _, line in system.rows] == [
        "-α1 + α3 + b = -1",
        "-α2 + α3 + b = -1",
        "-α1 - α2 + 2 α3 + b = 1",
        "-α1 - α2 + α3 = 0",
    ]
    A = [[-1, 0, 1, 1], [0, -1, 1, 1], [-1, -1, 2, 1], [-1, -1, 1, 0]]
    by_hand = np.linalg.solve(A, [-1, -1, 1, 0])
    np.testing.assert_allclose([row[1] for row in solution.rows], by_hand[:3])
    np.testing.assert_allclose([row[-1] for row in solution.rows], by_hand[3])


def test_workings_with_bounds_with_given_values_and_of_too_much():
    tight = SVC(kernel="linear", C=1.0).fit(AND, [-1, -1, -1, 1]).workings()
    assert "α3 = 1, its bound" in str(tight)
    K = RBFKernel(gamma=1.0).gram(AND)
    y = [-1, -1, -1, 1]
    given = SVC(kernel="precomputed", C=10.0).fit(K, y)
    computed = SVC(gamma=1.0, C=10.0).fit(AND, y)
    assert given.workings(K).tables == computed.workings().tables
    with pytest.raises(SettingError, match="keeps no values"):
        given.workings()
    with pytest.raises(SettingError, match="there are 3: fit two classes"):
        SVC().fit(*datasets.load_iris(return_X_y=True)).workings()
    X, y = datasets.make_moons(100, noise=0.4, random_state=0)
    with pytest.raises(SettingError, match="up to 20 support vectors"):
        SVC().fit(X, y).workings()

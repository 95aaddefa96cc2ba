"""What solvers promise beside the optimum: lengths of steps, gaps, kinds of points, progress."""

from math import comb

import numpy as np
import pytest

from lyceum._core.solvers.column_elastic_net import SparseColumns
from lyceum._core.solvers.constrained import _kind
from lyceum._core.solvers.gram_elastic_net import GramElasticNet
from lyceum._core.solvers.kkt_system import ConstrainedProblem
from lyceum._core.solvers.problem import backtrack, lowers
from lyceum.errors import DataError, SettingError
from lyceum.progress import watch
from lyceum.solvers import GradientDescent, Point, Problem, constrained_optima


class Curve(Problem):
    """A function of one variable that notes where it was asked."""

    def __init__(self, value, slope):
        self.value = value
        self.slope = slope
        self.asked = []

    def evaluate(self, theta, hessian=False):
        self.asked.append(float(theta[0]))
        return Point(theta, self.value(theta[0]), np.array([self.slope(theta[0])]))


def parabola(scale=1.0):
    return Curve(lambda x: scale * x * x, lambda x: 2 * scale * x)


def test_a_step_that_is_too_long_is_cut_to_the_minimum_of_the_parabola():
    problem = parabola()
    there = backtrack(problem, problem.evaluate(np.ones(1)), np.array([-8.0]), False)
    # from 49 at the end, 1 at the start and the slope -16: 1/8 of the step, where x is 0
    assert problem.asked == [1.0, -7.0, 0.0]
    assert there.value == 0.0


def test_a_step_out_of_the_domain_is_cut_to_a_tenth():
    problem = Curve(lambda x: x * x if x > 0 else np.inf, lambda x: 2 * x)
    there = backtrack(problem, problem.evaluate(np.ones(1)), np.array([-20.0]), False)
    np.testing.assert_allclose(problem.asked, [1.0, -19.0, -1.0, 0.8], atol=1e-12)
    assert there.theta[0] == pytest.approx(0.8)


def test_at_the_same_value_of_zero_a_smaller_gradient_is_progress():
    problem = parabola()
    here = Point(np.zeros(1), 0.0, np.array([2.0]))
    there = Point(np.zeros(1), 0.0, np.array([1.0]))
    assert lowers(problem, here, there, slope=-1.0)
    assert not lowers(problem, there, here, slope=-1.0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_first_step_of_gradient_descent_has_length_one(scale):
    problem = parabola(scale)
    start = problem.evaluate(np.array([8.0]))
    GradientDescent().minimize(problem, start, max_iter=1, tol=0.0)
    assert problem.asked[1] == pytest.approx(7.0)


def test_the_gap_of_a_ridge_solution_is_its_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=30)
    problem = GramElasticNet(X.T @ X, X.T @ y, float(y @ y))
    solution = problem.solve(0.0, 0.3, np.zeros(4), 1e-12, 100)
    right = np.linalg.solve(X.T @ X + 0.3 * np.eye(4), X.T @ y)
    np.testing.assert_allclose(solution.coef, right, rtol=1e-12)
    assert 0 <= solution.gap < 1e-20 * float(y @ y)


def test_rows_that_a_sparse_column_lacks_are_named():
    one = np.ones(1)
    start = np.array([0, 1], np.int64)
    with pytest.raises(DataError, match="rows from 0 to 5, but there are 3 rows"):
        SparseColumns(start, np.array([5], np.int32), one, np.ones(3), one, norms=one)


def test_a_constraint_that_is_met_but_does_not_bind_leaves_a_minimum():
    # x² + 3y at the origin with x ≥ 0 (multiplier 0) and y ≥ 0 (multiplier 3)
    H = np.diag([2.0, 0.0])
    assert _kind(H, np.eye(2), np.array([0.0, 3.0]), 1e-6) == "minimum"
    assert _kind(-H, np.eye(2), np.array([0.0, 3.0]), 1e-6) == "saddle point"


def test_newton_steps_bring_the_conditions_to_rounding():
    problem = ConstrainedProblem(
        lambda x, y: np.exp(x) + y**4, {"h": lambda x, y: x + y - 1}, {}, ("x", "y")
    )

    def equations(z):
        x, y, multiplier = z
        return np.array([np.exp(x) - multiplier, 4 * y**3 - multiplier, x + y - 1])

    start = problem.solve(np.array([0.5, 0.5]), ()) + 1e-4
    polished = problem._polish(start, equations, (), 2)
    assert np.abs(equations(start)).max() > 1e-5
    assert np.abs(equations(polished)).max() < 1e-12


def test_every_set_of_binding_constraints_is_reported():
    seen = []
    bounds = {f"g{i}": lambda x, y, i=i: x + i * y + 5 for i in range(4)}
    with watch(seen.append):
        constrained_optima(lambda x, y: x * x + y * y, inequalities=bounds)
    # at most as many bind as there are variables
    n_sets = sum(comb(4, k) for k in range(3))
    steps = [(step.done, step.total) for step in seen if "binding" in step.stage]
    assert steps[-1] == (n_sets, n_sets)


def test_a_problem_without_variables_is_refused():
    with pytest.raises(SettingError, match="at least one"):
        constrained_optima(lambda: 1.0, variables=())

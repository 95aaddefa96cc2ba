"""Newton, Levenberg-Marquardt, L-BFGS, conjugate gradients, gradient descent: known minima are
found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from lyceum.solvers import (
    LBFGS,
    ConjugateGradient,
    GradientDescent,
    LevenbergMarquardt,
    Newton,
    Point,
    Problem,
)


class Quartic:
    """Σ (a·x - b)² / 2 + Σ x⁴ / 4: strictly convex, of any condition."""

    def __init__(self, scales, good_preconditioner):
        rng = np.random.default_rng(0)
        self.A = rng.normal(size=(40, len(scales))) * scales
        self.b = rng.normal(size=40)
        self.M = self.A.T @ self.A if good_preconditioner else np.eye(len(scales))
        self.passes = 0

    def evaluate(self, theta, hessian=False):
        self.passes += 1
        r = self.A @ theta - self.b
        H = self.A.T @ self.A + np.diag(3 * theta**2) if hessian else None
        return Point(
            theta, float(r @ r / 2 + (theta**4).sum() / 4), self.A.T @ r + theta**3, H
        )

    def newton_step(self, point):
        return -np.linalg.solve(point.hessian, point.gradient)

    def precondition(self, gradient):
        return np.linalg.solve(self.M, gradient)

    def level(self, value):
        return 1.0

    def size(self, gradient):
        return float(np.abs(gradient).max())


def run(solver, problem, start, **options):
    first = problem.evaluate(start, solver.needs_hessian)
    return solver.minimize(problem, first, **{"max_iter": 200, "tol": 1e-9} | options)


@pytest.mark.parametrize(
    "solver", [Newton(), LevenbergMarquardt(), LBFGS(), ConjugateGradient()]
)
@pytest.mark.parametrize("start", [0.0, 5.0, -100.0])
def test_minimum_is_found_from_anywhere(solver, start):
    problem = Quartic(np.array([1.0, 3.0, 0.2, 10.0]), good_preconditioner=True)
    outcome = run(solver, problem, np.full(4, start))
    want = minimize(
        lambda x: problem.evaluate(x).value,
        np.zeros(4),
        jac=lambda x: problem.evaluate(x).gradient,
        tol=1e-12,
    )
    assert outcome.converged
    assert_allclose(outcome.point.theta, want.x, atol=1e-6)
    assert (np.diff(outcome.history) <= 1e-12 * outcome.history[0]).all()
    assert outcome.n_iter == len(outcome.history) - 1


def test_gradient_descent_goes_down_at_every_step_and_ends_at_the_minimum():
    problem = Quartic(np.array([1.0, 2.0, 0.5]), good_preconditioner=False)
    outcome = run(GradientDescent(), problem, np.full(3, 5.0), max_iter=5000, tol=1e-6)
    best = run(Newton(), problem, np.zeros(3))
    assert outcome.converged
    assert (np.diff(outcome.history) <= 0).all()
    assert_allclose(outcome.point.theta, best.point.theta, atol=1e-5)


def test_preconditioner_takes_the_condition_away():
    scales = 10.0 ** np.arange(1, 5)
    good, bad = Quartic(scales, True), Quartic(scales, False)
    assert run(LBFGS(), good, np.zeros(4), tol=1e-5).n_iter < 6
    assert run(LBFGS(), bad, np.zeros(4), tol=1e-5).n_iter > 12


@pytest.mark.parametrize("solver", [Newton(), LevenbergMarquardt(), LBFGS()])
def test_running_out_of_iterations_is_reported(solver):
    outcome = run(solver, Quartic(np.ones(3), False), np.full(3, 50.0), max_iter=1)
    assert not outcome.converged
    assert outcome.n_iter == 1


@pytest.mark.parametrize("solver", [Newton(), LevenbergMarquardt(), LBFGS()])
def test_tolerance_beyond_reach_ends_at_the_last_digit(solver):
    problem = Quartic(np.ones(3), True)
    outcome = run(solver, problem, np.zeros(3), tol=0.0)
    assert outcome.converged
    assert problem.size(outcome.point.gradient) < 1e-12
    assert problem.passes < 200


class Squares(Problem):
    """Half the squared distance of a matrix to `best`, the second row counted twice."""

    best = np.array([[1.0, 2.0], [3.0, 4.0]])

    def evaluate(self, theta, hessian=False):
        w = np.array([[1.0], [2.0]])
        H = (
            np.diag(np.broadcast_to(w, (2, 2)).ravel()).reshape(2, 2, 2, 2)
            if hessian
            else None
        )
        return Point(
            theta,
            float((w * (theta - self.best) ** 2).sum() / 2),
            w * (theta - self.best),
            H,
        )


@pytest.mark.parametrize(
    "solver", [Newton(), LBFGS(), ConjugateGradient(), GradientDescent()]
)
def test_a_problem_needs_evaluate_only(solver):
    outcome = run(solver, Squares(), np.zeros((2, 2)))
    assert outcome.converged
    assert_allclose(outcome.point.theta, Squares.best, atol=1e-8)


def test_a_problem_without_evaluate_says_so():
    class Nothing(Problem):
        pass

    with pytest.raises(NotImplementedError, match="Nothing does not define evaluate"):
        Nothing().evaluate(np.zeros(1))

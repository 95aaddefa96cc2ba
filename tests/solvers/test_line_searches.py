"""Steps of the smooth solvers, one by one, against lengths and values worked out by hand."""

import numpy as np
import pytest

from lyceum._core.solvers import ranked_squares
from lyceum._core.solvers.newton import LevenbergMarquardt
from lyceum._core.solvers.problem import backtrack, descent_loop, is_flat, lowers
from lyceum._core.solvers.softmax_regression import (
    _penalized_loss,
    fit_softmax,
    softmax,
)
from lyceum.errors import DataError, SettingError
from lyceum.progress import watch
from lyceum.solvers import (
    LBFGS,
    ConjugateGradient,
    GradientDescent,
    Newton,
    Point,
    Problem,
)

NOISE = 16 * np.finfo(float).eps


class Quadratic(Problem):
    """x'Ax / 2 - b'x, which notes where it was asked and for what."""

    def __init__(self, A, b=0.0, offset=0.0):
        self.A = np.atleast_2d(np.asarray(A, dtype=float))
        self.b = np.broadcast_to(np.asarray(b, dtype=float), (len(self.A),))
        self.offset = offset
        self.asked = []
        self.hessians = []

    def evaluate(self, theta, hessian=False):
        self.asked.append(theta.tolist())
        self.hessians.append(hessian)
        slope = self.A @ theta - self.b
        value = 0.5 * float(theta @ (slope - self.b)) + self.offset
        return Point(theta, value, slope, self.A)


class Curve(Problem):
    """A function of one variable from its value, slope and curvature."""

    def __init__(self, value, slope, bend=None):
        self.value = value
        self.slope = slope
        self.bend = bend
        self.asked = []

    def evaluate(self, theta, hessian=False):
        self.asked.append(float(theta[0]))
        x = float(theta[0])
        H = None if self.bend is None else np.array([[self.bend(x)]])
        return Point(theta, self.value(x), np.array([self.slope(x)]), H)


# -- conjugate gradients ---------------------------------------------------------------


def along(curve, start, step):
    point = curve.evaluate(np.array([start]))
    return ConjugateGradient()._along(curve, point, np.array([step]))


def test_the_secant_leads_to_the_minimum_of_a_parabola():
    # from 4 by -1 to 3, slopes -8 and -6: zero after 8 / (8 - 6) = 4 lengths
    curve = Curve(lambda x: x * x, lambda x: 2 * x)
    assert along(curve, 4.0, -1.0).theta[0] == 0.0
    assert curve.asked == [4.0, 3.0, 0.0]


def test_a_secant_is_followed_for_four_lengths_at_most():
    curve = Curve(lambda x: x * x, lambda x: 2 * x)
    assert along(curve, 10.0, -1.0).theta[0] == 6.0


def test_a_slope_that_gets_steeper_is_followed_for_four_lengths():
    curve = Curve(lambda x: -x * x, lambda x: -2 * x)
    assert along(curve, 1.0, 2.0).theta[0] == 9.0
    flat = Curve(lambda x: -3 * x, lambda x: -3.0)
    assert along(flat, 1.0, 2.0).theta[0] == 9.0


def test_a_secant_goes_back_to_a_tenth_at_most():
    # the end lies lower, but its slope is so steep that the secant asks for less than a tenth
    values = {0.0: 0.0, 1.0: -1.0, 0.1: -2.0}
    curve = Curve(lambda x: values[round(x, 9)], lambda x: {0.0: -1.0}.get(x, 1000.0))
    assert along(curve, 0.0, 1.0).theta[0] == pytest.approx(0.1)


def test_a_secant_near_the_trial_asks_for_no_other_point():
    # slopes -1 and 0.05: the zero is at 1 / 1.05, within a tenth of the trial
    curve = Curve(lambda x: -x, lambda x: {0.0: -1.0}.get(x, 0.05))
    assert along(curve, 0.0, 1.0).theta[0] == 1.0
    assert curve.asked == [0.0, 1.0]


def test_a_secant_that_leads_up_is_not_taken():
    values = {0.0: 0.0, 1.0: -1.0, 0.5: 3.0}
    curve = Curve(lambda x: values[x], lambda x: {0.0: -1.0}.get(x, 1.0))
    assert along(curve, 0.0, 1.0).theta[0] == 1.0
    assert curve.asked == [0.0, 1.0, 0.5]


def test_conjugate_directions_end_after_as_many_steps_as_there_are_variables():
    problem = Quadratic(np.diag([1.0, 3.0, 7.0]), [1.0, -2.0, 3.0])
    start = problem.evaluate(np.array([4.0, -1.0, 2.0]))
    found = ConjugateGradient().minimize(problem, start, 20, 1e-9)
    assert found.n_iter <= 6
    np.testing.assert_allclose(found.point.theta, [1.0, -2 / 3, 3 / 7], atol=1e-9)


@pytest.mark.parametrize("solver", [ConjugateGradient(), GradientDescent(), LBFGS()])
def test_first_order_solvers_ask_for_no_hessian(solver):
    problem = Quadratic(np.diag([1.0, 5.0]), [1.0, 1.0])
    start = problem.evaluate(np.array([3.0, -2.0]))
    solver.minimize(problem, start, 10, 1e-9)
    assert not any(problem.hessians)
    assert not solver.needs_hessian


def test_gradient_descent_doubles_a_step_that_was_taken():
    problem = Curve(lambda x: -x, lambda x: -1.0)
    GradientDescent().minimize(problem, problem.evaluate(np.zeros(1)), 4, 0.0)
    assert problem.asked == [0.0, 1.0, 3.0, 7.0, 15.0]


def test_gradient_descent_ends_where_there_is_no_slope():
    problem = Quadratic([[1.0]])
    found = GradientDescent().minimize(problem, problem.evaluate(np.zeros(1)), 9, -1.0)
    assert (found.n_iter, found.converged) == (1, True)
    assert len(problem.asked) == 1


# -- L-BFGS ----------------------------------------------------------------------------


class Uphill(Problem):
    """No step lowers it."""

    def __init__(self):
        self.n_asked = 0

    def evaluate(self, theta, hessian=False):
        self.n_asked += 1
        return Point(theta, 1.0 + float(theta @ theta) * 0 + self.n_asked, np.ones(1))


def test_without_a_past_there_is_nothing_to_forget():
    problem = Uphill()
    point = problem.evaluate(np.zeros(1))
    backtrack(problem, point, -point.gradient, False)
    n_backtrack = problem.n_asked
    problem = Uphill()
    found = LBFGS().minimize(problem, problem.evaluate(np.zeros(1)), 10, 1e-9)
    assert problem.n_asked == n_backtrack
    assert not found.converged


def test_lbfgs_forgets_and_follows_the_preconditioned_gradient(monkeypatch):
    from lyceum._core.solvers import lbfgs

    class Scaled(Quadratic):
        def precondition(self, gradient):
            return 3.0 * gradient

    steps = []

    def fail_at_second(problem, point, step, hessian):
        steps.append((point.gradient.tolist(), step.tolist()))
        return None if len(steps) == 2 else backtrack(problem, point, step, hessian)

    monkeypatch.setattr(lbfgs, "backtrack", fail_at_second)
    problem = Scaled(np.diag([1.0, 0.1]), [1.0, 1.0])
    LBFGS().minimize(problem, problem.evaluate(np.array([4.0, -3.0])), 2, 0.0)
    gradient, step = steps[2]
    assert gradient == steps[1][0]
    assert step == [-3.0 * g for g in gradient]
    assert step != steps[1][1]


def test_a_change_without_curvature_is_not_remembered():
    line = Curve(lambda x: -x, lambda x: -1.0)
    LBFGS().minimize(line, line.evaluate(np.zeros(1)), 3, 0.0)
    assert line.asked == [0.0, 1.0, 2.0, 3.0]


def test_lbfgs_is_newtons_method_once_it_knows_the_curvature():
    # in one variable the second step is the secant's, exact for a parabola
    problem = Quadratic([[4.0]], 4.0)
    start = problem.evaluate(np.array([3.0]))
    LBFGS().minimize(problem, start, 2, 0.0)
    assert problem.asked[-1] == [1.0]


def test_lbfgs_of_two_variables_agrees_with_the_inverse_that_it_stands_for():
    # the BFGS update by its definition, H0 = γ I, beside the two-loop recursion
    from collections import deque

    from lyceum._core.solvers.lbfgs import _Change, _inverse_times

    rng = np.random.default_rng(3)
    A = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 5.0]])
    problem = Quadratic(A)
    steps = rng.normal(size=(4, 3))
    changes = deque(_Change(s, A @ s, float(s @ A @ s)) for s in steps)
    last = changes[-1]
    H = np.eye(3) * last.curvature / float(last.gradient @ last.gradient)
    for s in steps:
        y = A @ s
        V = np.eye(3) - np.outer(y, s) / (s @ y)
        H = V.T @ H @ V + np.outer(s, s) / (s @ y)
    gradient = rng.normal(size=3)
    np.testing.assert_allclose(_inverse_times(changes, gradient, problem), H @ gradient)


# -- Newton and Levenberg-Marquardt ----------------------------------------------------


def test_damping_falls_by_ten_after_a_step_and_rises_by_ten_after_none():
    # of x²: θ ← θ - θ / (1 + μ)
    problem = Quadratic([[2.0]])
    start = problem.evaluate(np.array([1.0]))
    LevenbergMarquardt(damping=1.0).minimize(problem, start, 3, 0.0)
    x, expected = 1.0, [1.0]
    for mu in (1.0, 0.1, 0.01):
        x -= x / (1 + mu)
        expected.append(x)
    np.testing.assert_allclose(np.ravel(problem.asked), expected, rtol=1e-12)


def test_damping_rises_until_a_step_leads_down():
    # |x| ^ 1.5 has too little curvature far away: Newton's step of length 2x leads to -x
    curve = Curve(
        lambda x: abs(x) ** 1.5,
        lambda x: 1.5 * np.sign(x) * abs(x) ** 0.5,
        lambda x: 0.75 * abs(x) ** -0.5 / 4,
    )
    start = curve.evaluate(np.array([1.0]))
    found = LevenbergMarquardt(damping=1e-3).minimize(curve, start, 1, 0.0)
    lengths = 1.0 - np.array(curve.asked[1:])
    np.testing.assert_allclose(
        lengths, [8 / (1 + mu) for mu in (1e-3, 1e-2, 0.1, 1.0, 10.0)]
    )
    assert found.point.value < 1.0


def test_damping_without_end_stops_and_says_that_it_did_not_converge():
    problem = Uphill()

    def evaluate(theta, hessian=False):
        problem.n_asked += 1
        return Point(theta, float(problem.n_asked), np.ones(1), np.eye(1))

    problem.evaluate = evaluate
    found = LevenbergMarquardt(damping=1.0).minimize(
        problem, evaluate(np.zeros(1)), 5, 0.0
    )
    assert (found.n_iter, found.converged) == (1, False)
    # the start, and a trial for each μ of 1, 10, ..., until the step promises only rounding
    assert 11 <= problem.n_asked <= 17


def test_newton_takes_its_second_start_only_where_the_first_step_fails():
    problem = Quadratic([[2.0]], 2.0)
    other = []

    def second():
        other.append(1)
        return problem.evaluate(np.array([5.0]), True)

    start = problem.evaluate(np.array([4.0]), True)
    found = Newton(second_start=second).minimize(problem, start, 5, 1e-12)
    assert found.point.theta[0] == pytest.approx(1.0)
    assert not other
    # the first step was evaluated once, and taken
    assert problem.asked == [[4.0], [pytest.approx(1.0)]]


# -- what they share -------------------------------------------------------------------


def test_undetermined_directions_are_counted():
    point = Point(np.zeros(3), 0.0, np.zeros(3), np.diag([1.0, 0.0, 2.0]))
    assert point.n_undetermined == 1
    assert Point(np.zeros((1, 2)), 0.0, np.zeros((1, 2)), np.eye(2)).n_undetermined == 0
    with pytest.raises(SettingError, match="without its Hessian"):
        Point(np.zeros(1), 0.0, np.zeros(1)).n_undetermined  # noqa: B018


def test_a_step_is_cut_to_the_bounds_of_the_parabola():
    # a steep wall asks for less than a hundredth; a gentle rise for more than half
    wall = Curve(
        lambda x: 0.0 if x == 0 else (1e9 if x > 0.01 else -1.0), lambda x: -1.0
    )
    backtrack(wall, wall.evaluate(np.zeros(1)), np.ones(1), False)
    assert wall.asked == [0.0, 1.0, 0.01]
    gentle = Curve(lambda x: {0.0: 0.0, 1.0: 1e-6}.get(x, -1.0), lambda x: -1.0)
    backtrack(gentle, gentle.evaluate(np.zeros(1)), np.ones(1), False)
    assert gentle.asked == [0.0, 1.0, pytest.approx(0.5, abs=1e-5)]


def test_a_slight_curvature_is_a_parabola_too():
    # from a slope of -0.001 to a rise of 0.001: a bend of 0.004, least after a quarter
    curve = Curve(lambda x: {0.0: 0.0, 1.0: 1e-3}.get(x, -1.0), lambda x: -1e-3)
    backtrack(curve, curve.evaluate(np.zeros(1)), np.ones(1), False)
    assert curve.asked == [0.0, 1.0, pytest.approx(0.25)]


def test_a_straight_line_that_does_not_fall_enough_is_cut_to_a_tenth():
    # where there is no curvature, or the value is lower than promised in another way
    line = Curve(lambda x: {0.0: 0.0, 1.0: -np.inf}.get(x, -1.0), lambda x: -1.0)
    line.value = lambda x: np.nan if x > 0.5 else -x
    backtrack(line, line.evaluate(np.zeros(1)), np.ones(1), False)
    assert line.asked == [0.0, 1.0, pytest.approx(0.1)]


def test_armijos_rule_asks_for_a_ten_thousandth_of_the_promise():
    problem = Quadratic([[1.0]])
    here = Point(np.zeros(1), 1.0, np.ones(1))
    for fall, enough in ((1.01e-4, True), (0.99e-4, False)):
        there = Point(np.zeros(1), 1.0 - fall, np.ones(1))
        assert bool(lowers(problem, here, there, -1.0)) is enough


def test_a_smaller_gradient_counts_only_within_rounding_of_the_value():
    problem = Quadratic([[1.0]])
    here = Point(np.zeros(1), 2.0, np.ones(1))
    for rise, same in ((1.9 * NOISE, True), (2.1 * NOISE, False)):
        there = Point(np.zeros(1), 2.0 + rise, np.array([0.5]))
        assert bool(lowers(problem, here, there, -1.0)) is same
    there = Point(np.zeros(1), 2.0, np.array([1.5]))
    assert not lowers(problem, here, there, -1.0)


def test_a_step_is_flat_below_a_thousand_times_the_rounding():
    here = Point(np.zeros(2), -3.0, np.array([1.0, 2.0]))
    for promise, flat in ((2.9e3, True), (3.1e3, False)):
        step = np.array([0.0, -promise * NOISE / 2])
        assert is_flat(here, step) is flat


def test_the_loop_counts_reports_and_shows_every_point():
    problem = Quadratic([[1.0]])
    seen, reported = [], []

    def advance(point):
        return problem.evaluate(point.theta / 2), -point.theta / 2

    with watch(reported.append):
        found = descent_loop(
            problem.evaluate(np.array([8.0])),
            advance,
            lambda point: point.theta[0] <= 1.0,
            max_iter=9,
            observer=lambda point: seen.append(float(point.theta[0])),
        )
    assert seen == [8.0, 4.0, 2.0, 1.0]
    assert (found.n_iter, found.converged) == (3, True)
    assert found.history == [32.0, 8.0, 2.0, 0.5]
    assert [(step.done, step.total) for step in reported] == [(1, 9), (2, 9), (3, 9)]
    limited = descent_loop(
        problem.evaluate(np.array([8.0])), advance, lambda point: False, 2, None
    )
    assert (limited.n_iter, limited.converged) == (2, False)


# -- least squares by rank -------------------------------------------------------------


def unit_columns(ratio):
    """Two columns of unit length whose squared singular values have this ratio."""
    cosine = (1 - ratio) / (1 + ratio)
    return np.array([[1.0, cosine], [0.0, np.sqrt(1 - cosine**2)]])


@pytest.mark.parametrize(
    ("ratio", "level", "rank"),
    [(0.12, 0.1, 2), (0.09, 0.1, 1), (1e-9, 1e-8, 1), (2e-8, 1e-8, 2), (0.5, 0.45, 2)],
)
def test_the_rank_is_that_of_squared_singular_values(ratio, level, rank):
    found = ranked_squares(
        unit_columns(ratio) * [3.0, 0.1], np.array([1.0, 2.0]), level
    )
    assert found.rank == rank


def test_columns_whose_squares_overflow_are_refused():
    with np.errstate(over="ignore"), pytest.raises(DataError, match="columns overflow"):
        ranked_squares(np.full((2, 1), 1e200), np.ones(2))


def test_columns_of_zeros_have_no_rank_and_no_coefficients():
    found = ranked_squares(np.zeros((3, 2)), np.ones(3))
    assert (found.rank, found.coef.tolist()) == (0, [0.0, 0.0])
    nothing = ranked_squares(np.zeros((0, 2)), np.zeros((0, 3)))
    assert (nothing.rank, nothing.coef.shape) == (0, (2, 3))


# -- softmax regression ----------------------------------------------------------------


def softmax_problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    shares = rng.random((12, 4))
    w = rng.random(12) * 5
    offset = rng.normal(size=(12, 4))
    return X, shares, w, offset, rng.normal(size=(4, 3))


def test_the_penalized_loss_is_its_definition_and_its_gradient_its_differences():
    X, shares, w, offset, V = softmax_problem()
    weighted = shares * w[:, None]

    def loss(flat):
        V = flat.reshape(4, 3)
        p = softmax(X @ V[:, :2].T + V[:, 2] + offset)
        return -(weighted * np.log(p)).sum() + 0.5 * 0.7 * (V[:, :2] ** 2).sum()

    value, gradient = _penalized_loss(X, weighted, offset, 0.7, V.ravel())
    assert value == pytest.approx(loss(V.ravel()), rel=1e-12)
    for i in range(12):
        nearby = np.zeros(12)
        nearby[i] = 1e-6
        slope = (loss(V.ravel() + nearby) - loss(V.ravel() - nearby)) / 2e-6
        assert gradient[i] == pytest.approx(slope, abs=1e-6)


def test_softmax_regression_is_stationary_in_the_objective_that_it_states():
    X, shares, w, offset, start = softmax_problem(1)
    V = fit_softmax(X, shares, w, alpha=2.0, offset=offset, start=start, tol=1e-12)
    weighted = shares * w[:, None]
    _, gradient = _penalized_loss(X, weighted, offset, 2.0, V.ravel())
    assert np.abs(gradient).max() < 1e-6
    # the penalty counts: less of it gives larger weights
    free = fit_softmax(X, shares, w, alpha=0.1, offset=offset)
    assert np.abs(free[:, :2]).sum() > np.abs(V[:, :2]).sum() * 1.1


def test_without_weight_the_start_is_returned():
    X, shares, w, _, start = softmax_problem()
    assert fit_softmax(X, shares, 0 * w, start=start) is start
    assert not fit_softmax(X, shares, 0 * w).any()
    # one step at most
    one = fit_softmax(X, shares, w, max_iter=1)
    assert 0 < np.abs(one).max() < np.abs(fit_softmax(X, shares, w)).max()

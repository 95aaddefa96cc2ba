"""How points under constraints are found, judged and described, and what expectation-maximization
says when it stops: by hand."""

import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.solvers import constrained
from lyceum._core.solvers.constrained import _is_among, _judge, _points, _starts
from lyceum._core.solvers.kkt_system import (
    ConstrainedProblem,
    named_functions,
    variable_names,
)
from lyceum._core.solvers.lagrange import UNDECIDED, ConstrainedOptima, StationaryPoint
from lyceum.data import scan
from lyceum.errors import SettingError
from lyceum.solvers import (
    EMProblem,
    Expectation,
    ExpectationMaximization,
    constrained_optima,
)
from lyceum.statistics import Moments


def bowl(**constraints):
    """x² + y² with inequalities by name."""
    return ConstrainedProblem(lambda x, y: x * x + y * y, {}, constraints, ("x", "y"))


# -- starts ----------------------------------------------------------------------------


def test_the_first_start_is_the_middle_of_the_box():
    starts = _starts(((0, 4), (-2, 0)), 2, 5, 7)
    assert starts.shape == (5, 2)
    assert starts[0].tolist() == [2.0, -1.0]
    assert ((starts >= [0, -2]) & (starts <= [4, 0])).all()
    assert len(np.unique(starts[:, 0])) == 5
    assert _starts((-10, 10), 3, 0, 0).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    "box", [(1, 1), (2, 1), (0, np.inf), (-np.inf, 0), (np.nan, 1)]
)
def test_a_box_without_inside_is_refused(box):
    with pytest.raises(SettingError, match="the lower first"):
        _starts(box, 2, 3, 0)


def test_the_nearest_feasible_point_is_reached_from_either_side():
    for bound in (lambda x, y: x - 1, lambda x, y: -1 - x):
        problem = bowl(g=bound)
        found = problem.nearest_feasible(np.array([0.0, 0.5]))
        assert problem.violation(found) < 1e-9
        assert abs(found[0]) < 3


def test_forward_differences_step_away_from_zero(monkeypatch):
    # by the root of the rounding, times the larger of 1 and the value, in its direction
    asked = []

    def bound(x, y):
        asked.append((x, y))
        return x + y - 1e9

    from scipy import optimize

    def least_squares(residuals, start, slopes, **settings):
        asked.clear()
        slopes(start)
        raise StopIteration

    monkeypatch.setattr(optimize, "least_squares", least_squares)
    root = np.finfo(float).eps ** 0.5
    starts = {(-0.5, 8.0): (-root, 8 * root), (0.5, -3.0): (root, -3 * root)}
    starts[0.0, -1.5] = (root, -1.5 * root)
    for (x, y), (step_x, step_y) in starts.items():
        with pytest.raises(StopIteration):
            bowl(g=bound).nearest_feasible(np.array([x, y]))
        expected = [(x, y), (x + step_x, y), (x, y + step_y)]
        np.testing.assert_allclose(asked, expected, rtol=0, atol=1e-15)


def test_without_constraints_every_start_is_feasible():
    start = np.array([3.0, 4.0])
    assert bowl().nearest_feasible(start) is start


# -- points ----------------------------------------------------------------------------


def test_all_sets_of_binding_constraints_are_tried_up_to_the_variables(monkeypatch):
    tried = []
    problem = bowl(a=lambda x, y: x, b=lambda x, y: y, c=lambda x, y: x + y)
    monkeypatch.setattr(
        ConstrainedProblem, "solve", lambda self, start, active: tried.append(active)
    )
    _points(problem, np.zeros((1, 2)))
    assert tried == [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    tried.clear()
    tied = ConstrainedProblem(
        lambda x, y: x, {"h": lambda x, y: y}, {"a": lambda x, y: x}, ("x", "y")
    )
    _points(tied, np.zeros((2, 2)))
    assert tried == [(), (), (0,), (0,)]
    tried.clear()
    both = {"h": lambda x, y: y, "i": lambda x, y: x, "j": lambda x, y: x - y}
    _points(
        ConstrainedProblem(lambda x, y: x, both, {"a": lambda x, y: x}, ("x", "y")),
        np.zeros((1, 2)),
    )
    assert tried == [()]


def point_at(*x, value=0.0, kind="minimum"):
    return StationaryPoint(np.array(x), value, kind, {}, (), {})


def test_points_are_the_same_relative_to_their_size():
    room = constrained._SAME
    points = [point_at(100.0, 0.0)]
    assert _is_among(points, np.array([100.0, 0.99 * 101 * room]))
    assert not _is_among(points, np.array([100.0, 1.01 * 101 * room]))
    assert not _is_among([], np.zeros(2))


def test_a_point_is_judged_by_all_of_its_conditions():
    problem = bowl(right=lambda x, y: x - 1)
    found = _judge(problem, np.array([1.0, 0.0, 2.0]), (0,))
    assert (found.kind, found.multipliers, found.binding) == (
        "minimum",
        {"right": pytest.approx(2.0)},
        ("right",),
    )
    assert found.residuals["stationarity"] < 1e-9
    assert found.residuals["complementarity"] == 0.0
    # another multiplier is not stationary; another place does not reach the bound, or violates it
    assert _judge(problem, np.array([1.0, 0.0, 2.1]), (0,)) is None
    assert _judge(problem, np.array([1.1, 0.0, 2.2]), (0,)) is None
    assert _judge(problem, np.array([0.0, 0.0]), ()) is None


def test_gradients_that_depend_on_each_other_determine_no_multiplier():
    problem = bowl(a=lambda x, y: x - 1, b=lambda x, y: 2 * x - 2)
    assert _judge(problem, np.array([1.0, 0.0, 1.0, 0.5]), (0, 1)) is None


def test_gradients_are_independent_in_units_of_the_problem():
    # an angle of 1e-5 between two gradients beside slopes of 1000 is none
    for size, independent in ((1.0, True), (1000.0, False)):
        problem = ConstrainedProblem(
            lambda x, y, s=size: s * x,
            {},
            {"a": lambda x, y: x, "b": lambda x, y: x + 1e-5 * y},
            ("x", "y"),
        )
        judged = _judge(problem, np.array([0.0, 0.0, size, 0.0]), (0, 1))
        assert (judged is not None) is independent


def test_multipliers_of_both_signs_are_no_optimum():
    # at the corner (1, 1) of x ≥ 1 and y ≤ 1, where x² + y² has μ = 2 and -2
    problem = bowl(a=lambda x, y: x - 1, b=lambda x, y: 1 - y)
    assert _judge(problem, np.array([1.0, 1.0, 2.0, -2.0]), (0, 1)) is None
    same = bowl(a=lambda x, y: x - 1, b=lambda x, y: y - 1)
    assert _judge(same, np.array([1.0, 1.0, 2.0, 2.0]), (0, 1)).kind == "minimum"


def test_a_multiplier_of_rounding_is_zero():
    # the bound x ≥ 0 goes through the minimum
    problem = bowl(a=lambda x, y: x)
    found = _judge(problem, np.array([0.0, 0.0, 1e-9]), (0,))
    assert found.multipliers == {"a": 0.0}
    assert found.binding == ()
    assert found.kind == "minimum"


def test_curvature_below_the_scale_of_the_problem_is_flat():
    # a curvature of 1e-3 beside slopes of a million is not told from none
    def judged(slope):
        problem = ConstrainedProblem(
            lambda x, y: 1e-3 * x * x / 2 + slope * y,
            {},
            {"b": lambda x, y: slope * y},
            ("x", "y"),
        )
        return _judge(problem, np.array([0.0, 0.0, 1.0]), (0,)).kind

    assert judged(1.0) == "minimum"
    assert judged(1e6) == UNDECIDED


def test_up_to_the_most_inequalities_are_taken():
    most = constrained._MOST_INEQUALITIES
    bounds = {f"g{i}": lambda x, i=i: x + i + 1 for i in range(most + 1)}
    with pytest.raises(SettingError, match=f"there are {most + 1} inequalities"):
        constrained_optima(lambda x: x * x, inequalities=bounds, n_starts=1)
    bounds.popitem()
    found = constrained_optima(lambda x: x * x, inequalities=bounds, n_starts=1)
    assert len(found.minima) == 1


def test_every_other_start_is_a_feasible_one(monkeypatch):
    seen = []
    monkeypatch.setattr(
        constrained, "_points", lambda problem, starts: seen.append(starts) or []
    )
    constrained_optima(
        lambda x: x, inequalities={"x ≥ 20": lambda x: x - 20}, n_starts=4
    )
    assert (seen[0][[0, 2]] < 20).all()
    np.testing.assert_allclose(seen[0][[1, 3]], 20, atol=1e-5)


def test_names_of_variables_are_all_different():
    with pytest.raises(SettingError, match="different names"):
        variable_names(lambda *x: 0.0, ("x", "x"))
    assert variable_names(lambda *x: 0.0, "x") == ("x",)
    assert variable_names(lambda u, v: 0.0, None) == ("u", "v")
    with pytest.raises(SettingError, match="any number of variables"):
        variable_names(lambda *x: 0.0, None)


def test_constraints_are_numbered_from_one():
    assert list(named_functions([abs, abs], "g", 1)) == ["g1", "g2"]
    assert list(named_functions(abs, "h", 1)) == ["h1"]
    with pytest.raises(SettingError, match="'g2' is a int, not a function"):
        named_functions([abs, 3], "g", 1)
    with pytest.raises(SettingError, match="does not take 2 variables"):
        named_functions({"one": lambda x: x}, "g", 2)


def test_derivatives_are_those_of_a_polynomial_of_degree_six():
    problem = ConstrainedProblem(
        lambda x, y: x**6 - 2 * x * y**3, {"h": lambda x, y: x * x * y}, {}, ("x", "y")
    )
    x, y = 1.3, -0.7
    at = np.array([x, y])
    slope = problem.gradient(problem.objective, at)
    np.testing.assert_allclose(slope, [6 * x**5 - 2 * y**3, -6 * x * y * y], rtol=1e-9)
    H = problem.hessian(at, np.array([0.5]), ())
    h_xy = -6 * y * y - 0.5 * 2 * x
    expected = [[30 * x**4 - 0.5 * 2 * y, h_xy], [h_xy, -12 * x * y]]
    np.testing.assert_allclose(H, expected, rtol=1e-6, atol=1e-6)
    # ∇f nearest to λ ∇h
    gradient = np.array([2 * x * y, x * x])
    multiplier = slope @ gradient / (gradient @ gradient)
    np.testing.assert_allclose(problem.multipliers(at, ()), [multiplier], rtol=1e-9)


def test_what_is_not_defined_violates_by_infinity():
    problem = ConstrainedProblem(
        lambda x: x, {}, {"root": lambda x: np.sqrt(x) if x >= 0 else np.nan}, ("x",)
    )
    assert problem.violation(np.array([-1.0])) == np.inf
    assert problem.violation(np.array([4.0])) == 0.0


# -- sentences -------------------------------------------------------------------------


def optima(*points, reached):
    return ConstrainedOptima(bowl(), points, True, np.zeros(2), 0.0, reached)


@pytest.mark.parametrize("value", [0.0, 99.0])
def test_an_optimum_is_local_where_a_better_value_was_met(value):
    room = 1e-5 * (1.0 + value)
    low = point_at(0.0, 0.0, value=value)
    high = point_at(0.0, 0.0, value=value, kind="maximum")
    saddle = point_at(0.0, 0.0, value=value, kind="saddle point")
    for factor, beaten in ((0.9, False), (1.1, True)):
        found = optima(reached=(value - factor * room, value + factor * room))
        assert bool(found._is_beaten(low)) is beaten
        assert bool(found._is_beaten(high)) is beaten
        assert not found._is_beaten(saddle)


def test_minima_rise_and_maxima_fall():
    low, high = point_at(0.0, 0.0, value=1.0), point_at(1.0, 0.0, value=2.0)
    top = point_at(2.0, 0.0, value=3.0, kind="maximum")
    less = point_at(3.0, 0.0, value=2.5, kind="maximum")
    found = optima(low, high, less, top, reached=(1.0, 3.0))
    assert found.minima == (low, high)
    assert found.maxima == (top, less)


def test_only_constraints_that_fail_are_said_to_fail():
    found = constrained_optima(
        lambda x: x,
        equalities={"x = 3": lambda x: x - 3, "0 = 0": lambda x: 0 * x},
        inequalities={"x ≤ 1": lambda x: 1 - x, "x ≥ -5": lambda x: x + 5},
        n_starts=3,
    )
    assert not found.feasible
    sentences = found.sentences()
    assert re.match(r"No point satisfies all constraints: at x = 2", sentences[0])
    assert sentences[1:] == ["  x = 3 fails there by 1.", "  x ≤ 1 fails there by 1."]


def test_constraints_are_said_to_bind_be_met_or_have_room():
    found = constrained_optima(
        lambda x, y: x * x + (y - 1) ** 2,
        inequalities={
            "x ≥ 2": lambda x, y: x - 2,
            "y ≥ 1": lambda x, y: y - 1,
            "x ≤ 9": lambda x, y: 9 - x,
        },
        n_starts=4,
    )
    text = found.sentences()
    assert "  x ≥ 2 binds, with the multiplier 4." in text
    assert (
        "  y ≥ 1 is met with equality but does not bind: its multiplier is 0." in text
    )
    assert "  x ≤ 9 does not bind: 7 is left, its multiplier is 0." in text


# -- expectation-maximization ----------------------------------------------------------


class Halfway(EMProblem):
    """The mean of N(μ, 1), which an M-step goes halfway to."""

    def __init__(self, share=0.5, prior=0.0):
        self.share = share
        self.prior = prior
        self.current = 0.0

    def expectation(self, block, parameters):
        self.current = parameters
        log_p = -((block.X - parameters) ** 2).sum() / 2
        return Expectation(Moments.of(block), float(log_p), block.weight)

    def maximization(self, statistic):
        return self.current + self.share * (float(statistic.mean[0]) - self.current)

    def log_prior(self, parameters):
        return self.prior * parameters


ROWS = np.array([[1.0], [3.0]])


def likelihood(mean):
    return -((1 - mean) ** 2 + (3 - mean) ** 2) / 2


def test_an_iteration_that_gains_at_most_the_tolerance_per_weight_is_the_last():
    # from 0: 1, 1.5, 1.75, ...: gains of (2 - μ)² · 3 / 4 · ... per step
    means = [0.0, 1.0, 1.5, 1.75]
    values = [likelihood(mean) for mean in means]
    gain = values[3] - values[2]
    for tol, n_iter in ((1.01 * gain / 2, 3), (0.99 * gain / 2, 4)):
        solver = ExpectationMaximization(tol=tol)
        found = solver.maximize(scan(ROWS), Halfway(), 0.0)
        assert (found.n_iter, found.converged) == (n_iter, True)
        np.testing.assert_allclose(found.history[:4], values)
    assert found.weight == 2.0


def test_the_record_has_the_start_and_every_step():
    solver = ExpectationMaximization(max_iter=2, tol=0.0, record=True)
    with pytest.warns(ConvergenceWarning, match=r"still gained 0\.75 log-likelihood"):
        found = solver.maximize(scan(ROWS), Halfway(prior=0.0), 0.0)
    steps = [(step["step"], step["parameters"]) for step in found.record]
    assert steps == [(0, 0.0), (1, 1.0), (2, 1.5)]
    assert np.isnan(found.record[0]["gain"])
    assert found.record[2]["gain"] == pytest.approx(0.75)
    assert (found.n_iter, found.converged) == (2, False)


def test_a_step_that_gains_nothing_is_the_last_even_without_tolerance():
    found = ExpectationMaximization(tol=0.0).maximize(scan(ROWS), Halfway(), 2.0)
    assert (found.n_iter, found.converged) == (1, True)


def test_the_gain_of_a_single_iteration_is_said():
    solver = ExpectationMaximization(max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning, match=r"still gained 3 log-likelihood"):
        solver.maximize(scan(ROWS), Halfway(), 0.0)


def test_a_log_prior_counts():
    found = ExpectationMaximization(tol=1e9).maximize(
        scan(ROWS), Halfway(prior=5.0), 0.0
    )
    assert found.objective == pytest.approx(likelihood(1.0) + 5.0)


def test_an_iteration_that_lowers_the_likelihood_is_undone():
    # from 1 by three times the way to 4, which is farther from the mean of 2
    with pytest.warns(
        ConvergenceWarning, match="iteration 1 lowered the log-likelihood by 3"
    ):
        found = ExpectationMaximization().maximize(scan(ROWS), Halfway(share=3.0), 1.0)
    assert (found.parameters, found.n_iter, found.converged) == (1.0, 0, False)
    assert found.history == [likelihood(1.0)]


def test_the_first_of_equal_starts_is_taken():
    rows = scan(ROWS)
    # 1 and 3 are as far from the mean, and no step is taken
    solver = ExpectationMaximization(max_iter=1, tol=1e9)
    found = solver.maximize_from(rows, Halfway(share=0.0), [0.0, 1.0, 3.0])
    assert found.parameters == 1.0
    assert found.start_objectives == (likelihood(0.0), likelihood(1.0), likelihood(3.0))
    with pytest.raises(SettingError, match="starts is empty"):
        solver.maximize_from(rows, Halfway(), [])

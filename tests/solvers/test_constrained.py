"""Lagrange multipliers and KKT conditions on problems solved by hand."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

from lyceum import plot
from lyceum.errors import DataError, SettingError
from lyceum.solvers import constrained_optima

CIRCLE = {"x² + y² = 3": lambda x, y: x * x + y * y - 3}


@cache
def on_the_circle():
    return constrained_optima(lambda x, y: x**2 * y, CIRCLE)


def residual(found):
    return max(max(point.residuals.values()) for point in found.points)


@pytest.mark.syllabus("9.2")
def test_the_largest_product_of_two_numbers_whose_sum_is_six():
    found = constrained_optima(
        lambda x, y: x * y, {"x + y = 6": lambda x, y: x + y - 6}
    )
    (point,) = found.points
    np.testing.assert_allclose(point.x, [3.0, 3.0], atol=1e-9)
    assert (point.kind, point.binding) == ("maximum", ("x + y = 6",))
    assert point.value == pytest.approx(9.0, abs=1e-9)
    assert point.multipliers["x + y = 6"] == pytest.approx(3.0, abs=1e-9)
    assert residual(found) < 1e-9
    assert "Maximum: 9 at x = 3, y = 3." in str(found)


@pytest.mark.syllabus("9.2")
def test_six_stationary_points_of_x_squared_y_on_a_circle():
    found = on_the_circle()
    by_hand = {
        (-math.sqrt(2), -1): ("minimum", -2, -1), (math.sqrt(2), -1): ("minimum", -2, -1),
        (-math.sqrt(2), 1): ("maximum", 2, 1), (math.sqrt(2), 1): ("maximum", 2, 1),
        (0, math.sqrt(3)): ("minimum", 0, 0), (0, -math.sqrt(3)): ("maximum", 0, 0),
    }  # fmt: skip
    assert len(found.points) == 6
    for point in found.points:
        where = min(by_hand, key=lambda x: np.abs(np.subtract(x, point.x)).max())
        np.testing.assert_allclose(point.x, where, atol=1e-7)
        kind, value, multiplier = by_hand.pop(where)
        assert point.kind == kind
        assert point.value == pytest.approx(value, abs=1e-8)
        assert point.multipliers["x² + y² = 3"] == pytest.approx(multiplier, abs=1e-7)
    assert not by_hand
    assert found.maxima[0].value == pytest.approx(2.0)


@pytest.mark.syllabus("9.2")
def test_an_inequality_that_binds_and_one_that_does_not():
    found = constrained_optima(lambda x: x**2, inequalities={"x ≥ 1": lambda x: x - 1})
    (point,) = found.points
    assert (point.kind, point.binding) == ("minimum", ("x ≥ 1",))
    assert point.x[0] == pytest.approx(1.0)
    assert point.multipliers["x ≥ 1"] == pytest.approx(2.0)
    assert "x ≥ 1 binds, with the multiplier 2." in str(found)
    free = constrained_optima(
        lambda x: (x - 3) ** 2, inequalities={"x ≥ 1": lambda x: x - 1}
    )
    (point,) = free.minima
    assert point.x[0] == pytest.approx(3.0)
    assert (point.binding, point.multipliers["x ≥ 1"]) == ((), 0.0)
    assert "x ≥ 1 does not bind: 2 is left" in str(free)


@pytest.mark.syllabus("9.2")
def test_an_infeasible_problem_is_said_to_be_so():
    found = constrained_optima(
        lambda x, y: x + y, {"x = 0": lambda x, y: x}, {"x ≥ 1": lambda x, y: x - 1}
    )
    assert not found.feasible
    assert found.points == ()
    assert found.violation == pytest.approx(0.5, abs=1e-6)
    assert str(found).startswith("No point satisfies all constraints")
    assert "x ≥ 1 fails there by 0.5" in str(found)
    assert found.summary().facts["feasible"] == "no"


def test_an_objective_without_a_bound_has_no_stationary_point():
    found = constrained_optima(lambda x, y: x + y, {"x = y": lambda x, y: x - y})
    assert found.feasible
    assert found.points == ()
    assert "may have no bound" in str(found)


@pytest.mark.syllabus("9.2")
def test_a_corner_of_two_inequalities_and_signs_of_multipliers():
    # least x + 2y over x ≥ 1, y ≥ 1: the corner, with multipliers 1 and 2
    constraints = {"x ≥ 1": lambda x, y: x - 1, "y ≥ 1": lambda x, y: y - 1}
    (point,) = constrained_optima(
        lambda x, y: x + 2 * y, inequalities=constraints, n_starts=8
    ).points
    np.testing.assert_allclose(point.x, [1, 1])
    assert list(point.multipliers.values()) == pytest.approx([1.0, 2.0])
    (point,) = constrained_optima(
        lambda x, y: -x - 2 * y, inequalities=constraints, n_starts=8
    ).points
    assert point.kind == "maximum"
    assert list(point.multipliers.values()) == pytest.approx([-1.0, -2.0])
    # x - y falls along one and rises along the other: neither
    assert constrained_optima(lambda x, y: x - y, inequalities=constraints).points == ()


def test_saddles_flat_points_and_functions_with_a_domain():
    (point,) = constrained_optima(lambda x, y: x * y).points
    assert point.kind == "saddle point"
    (point,) = constrained_optima(lambda x, y: x**4 + y**2).points
    assert point.kind.startswith("undecided")
    found = constrained_optima(
        lambda p, q: -p * math.log(p) - q * math.log(q),
        {"p + q = 1": lambda p, q: p + q - 1},
    )
    assert found.maxima[0].value == pytest.approx(math.log(2))
    np.testing.assert_allclose(found.maxima[0].x, [0.5, 0.5], atol=1e-7)
    # an inequality without a slope at some starts
    (point,) = constrained_optima(
        lambda x: x**2, inequalities=lambda x: math.sqrt(x) - 1, n_starts=8
    ).points
    assert (point.kind, point.binding) == ("minimum", ("g1",))


@settings(max_examples=8)
@given(st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_a_quadratic_programme_agrees_with_scipy(numbers):
    a, b, c, d, e = numbers

    def f(x, y):
        return (x - a) ** 2 + 2 * (y - b) ** 2 + 0.5 * x * y

    constraints = {
        "x + y ≥ c": lambda x, y: x + y - c,
        "x ≤ d + e²": lambda x, y: d + e * e - x,
    }
    found = constrained_optima(f, inequalities=constraints, n_starts=4)
    scipy = optimize.minimize(
        lambda x: f(*x),
        [0.0, 0.0],
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda x, g=g: g(*x)} for g in constraints.values()
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.minima[0].value == pytest.approx(scipy.fun, abs=1e-5)
    assert all(multiplier >= 0 for multiplier in found.minima[0].multipliers.values())


def test_the_multiplier_is_the_change_of_the_value():
    def best(total):
        found = constrained_optima(
            lambda x, y: x * y**2, {"sum": lambda x, y: x + y - total}, n_starts=8
        )
        return found.maxima[0]

    slope = (best(3.001).value - best(2.999).value) / 0.002
    assert best(3.0).multipliers["sum"] == pytest.approx(slope, rel=1e-5)


def test_variables_and_constraints_that_do_not_fit_are_named():
    with pytest.raises(SettingError, match="name them"):
        constrained_optima(lambda *x: sum(x))
    assert (
        len(
            constrained_optima(
                lambda *x: x[0] ** 2 + x[1] ** 2, variables=("a", "b")
            ).points
        )
        == 1
    )
    with pytest.raises(SettingError, match="'h1' does not take 1 variables"):
        constrained_optima(lambda x: x, [lambda x, y: x])
    with pytest.raises(SettingError, match="not a function"):
        constrained_optima(lambda x: x, {"x = 1": 3})
    with pytest.raises(SettingError, match="11 inequalities"):
        constrained_optima(lambda x: x, inequalities=[lambda x: x] * 11)
    with pytest.raises(SettingError, match="two constraints have the name"):
        constrained_optima(lambda x: x, {"a": lambda x: x}, {"a": lambda x: x})
    with pytest.raises(SettingError, match="box"):
        constrained_optima(lambda x: x, box=(1, 0))


def test_the_picture_has_contours_constraints_points_and_gradients():
    found = on_the_circle()
    ax = plot.constrained_optima(found, steps=30, title="x²y")
    labels = {str(line.get_label()) for line in ax.lines}
    assert {"x² + y² = 3", "minimum", "maximum"} <= labels
    arrows = [text for text in ax.texts if text.arrow_patch is not None]
    # ∇f and λ∇h at the four points whose gradient is not zero
    assert len(arrows) == 2 * 4
    assert found.as_dict()["points"][0]["kind"] == "minimum"
    with pytest.raises(DataError, match="two variables, but there are 1"):
        plot.constrained_optima(constrained_optima(lambda x: x**2))
    apart = {"x = 0": lambda x, y: x, "x = 1": lambda x, y: x - 1}
    unfit = constrained_optima(lambda x, y: x, apart, n_starts=5)
    assert any(
        "no point is feasible" in str(line.get_label())
        for line in plot.constrained_optima(unfit, steps=5).lines
    )


@pytest.mark.syllabus("9.2")
def test_an_optimum_that_a_feasible_point_beats_is_called_local():
    text = str(on_the_circle())
    assert text.count("Local maximum: 0 at") == text.count("Local minimum: 0 at") == 1
    assert text.count("Maximum: 2 at") == text.count("Minimum: -2 at") == 2
    text = str(
        constrained_optima(
            lambda x: (x - 2) ** 2, inequalities={"x ≥ 1": lambda x: x - 1}
        )
    )
    assert "Minimum: 0 at x = 2." in text  # it does not bind
    assert "Local maximum: 1 at x = 1." in text  # far away there is more


@pytest.mark.syllabus("9.2.2")
def test_equalities_that_fix_the_point_leave_a_minimum_with_its_multiplier():
    # L = x² - λ(x - 1): ∂L/∂x = 2x - λ = 0 at x = 1 gives λ = 2
    found = constrained_optima(lambda x: x**2, {"x = 1": lambda x: x - 1})
    (point,) = found.minima
    assert point.x[0] == pytest.approx(1.0)
    assert point.multipliers["x = 1"] == pytest.approx(2.0)
    assert found.workings() == [
        "∂L/∂x = ∂f/∂x - λ(x = 1) · ∂h/∂x = 2 - 2 · 1 = 0 at x = 1"
    ]
    # two lines that cross at (2, 1): λ solves [1 1; 1 -1] λ = ∇f = (4, 2)
    found = constrained_optima(
        lambda x, y: x**2 + y**2,
        {"x + y = 3": lambda x, y: x + y - 3, "x - y = 1": lambda x, y: x - y - 1},
    )
    (point,) = found.minima
    np.testing.assert_allclose(list(point.multipliers.values()), [3.0, 1.0], atol=1e-7)


@pytest.mark.syllabus("9.2")
def test_the_workings_write_out_the_slope_of_the_lagrangian_in_every_variable():
    found = constrained_optima(
        lambda x, y: x * y, {"x + y = 6": lambda x, y: x + y - 6}
    )
    lines = found.workings()
    assert [line.split(" = ")[0] for line in lines] == ["∂L/∂x", "∂L/∂y"]
    assert all("3 - 3 · 1 = 0" in line for line in lines)
    assert found.as_dict()["workings"] == lines
    assert "3 - 3 · 1 = 0" in str(found.summary())

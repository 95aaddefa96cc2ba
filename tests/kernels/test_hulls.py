"""The nearest points of two convex hulls: by hand, by SciPy, and as the hard margin."""

import numpy as np
import pytest
from scipy import optimize

from lyceum import plot
from lyceum.errors import DataError
from lyceum.kernels import SVC, nearest_hull_points

pytestmark = pytest.mark.syllabus("9.3")


def by_scipy(A, B):
    """min |Aᵀa - Bᵀb|² over shares, by SLSQP."""
    n, m = len(A), len(B)

    def gap(s):
        return s[:n] @ A - s[n:] @ B

    sums = [
        {"type": "eq", "fun": lambda s: s[:n].sum() - 1.0},
        {"type": "eq", "fun": lambda s: s[n:].sum() - 1.0},
    ]
    start = np.append(np.full(n, 1 / n), np.full(m, 1 / m))
    found = optimize.minimize(
        lambda s: gap(s) @ gap(s),
        start,
        bounds=[(0, 1)] * (n + m),
        constraints=sums,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.sqrt(found.fun)


def test_a_corner_and_an_edge_by_hand():
    # the edge from (2, 0) to (2, 2) is 2 away from (0, 1), at its middle
    points = nearest_hull_points([[2, 0], [2, 2], [5, 1]], [[0, 1], [-3, 0]])
    np.testing.assert_allclose(points.first_point, [2.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(points.second_point, [0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(points.first_shares, [0.5, 0.5, 0.0], atol=1e-12)
    assert points.distance == pytest.approx(2.0)
    np.testing.assert_allclose(points.normal, [1.0, 0.0], atol=1e-12)
    assert points.offset == pytest.approx(-1.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_distance_is_that_of_an_independent_solver_and_of_the_margin(seed, offset):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 3)) + np.array([4.0, 0.0, 0.0])
    B = rng.normal(size=(6, 3)) - np.array([4.0, 0.0, 0.0])
    points = nearest_hull_points(A + offset, B + offset)
    assert points.distance == pytest.approx(by_scipy(A, B), rel=1e-5)
    for shares, rows, point in (
        (points.first_shares, A, points.first_point),
        (points.second_shares, B, points.second_point),
    ):
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(shares @ rows, point - offset, atol=1e-8)
    y = np.repeat([1, 0], [8, 6])
    machine = SVC(kernel="linear", C=np.inf).fit(np.vstack([A, B]), y)
    assert points.distance == pytest.approx(machine.margin_width_[0], rel=1e-8)
    np.testing.assert_allclose(points.normal, machine.coef_[0], atol=1e-7)
    # no row is nearer to the plane than the points
    assert (A + offset - points.first_point).dot(points.normal).min() > -1e-7


def test_hulls_that_meet_have_a_common_point():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    for other in (square + 1.0, square + np.array([2.0, 0.0]), square * 0.2 + 0.5):
        points = nearest_hull_points(square, other)
        assert points.distance == 0.0
        np.testing.assert_allclose(points.first_shares @ square, points.first_point)
        np.testing.assert_allclose(
            points.second_shares @ other, points.first_point, atol=1e-8
        )
        assert "no plane separates" in str(points)
    assert nearest_hull_points([[1.0]], [[1.0]]).distance == 0.0
    assert nearest_hull_points([[1.0]], [[4.0]]).distance == pytest.approx(3.0)


@pytest.mark.syllabus("9.3.5")
def test_the_picture_has_both_hulls_and_the_margin():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(9, 2)), rng.normal(size=(7, 2)) + 6.0
    ax = plot.hull_points(nearest_hull_points(A, B))
    assert len(ax.patches) == 2
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any("apart" in word for word in words)
    plot.hull_points(nearest_hull_points([[0.0, 0.0], [1.0, 1.0]], [[3.0, 0.0]]))
    plot.hull_points(nearest_hull_points(A, A))
    with pytest.raises(DataError, match="two columns"):
        plot.hull_points(nearest_hull_points([[1.0]], [[4.0]]))


def test_rows_that_are_no_points_are_refused():
    with pytest.raises(DataError, match="first has the shape"):
        nearest_hull_points([], [[1.0]])
    with pytest.raises(DataError, match="the same columns"):
        nearest_hull_points([[1.0, 2.0]], [[1.0]])

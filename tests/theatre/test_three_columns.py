"""Three columns of one's own in one picture: the numbers of the learner, and marks in space."""

import numpy as np
import pytest

from lyceum import datasets
from lyceum.cluster import KMeans
from lyceum.theatre import list_methods, play
from lyceum.theatre.marks import boundary, ellipses

COLUMNS = ["bill_length_mm", "bill_depth_mm", "body_mass_g"]
METHODS = [method for method in list_methods() if method.columns == (2, 3)]


def points_of(picture):
    return [mark for mark in picture["marks"] if mark["kind"] == "points"]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_three_named_columns_stand_in_one_picture(method):
    target = {"two classes": "sex", "class": "species", None: None}[method.target]
    shown = play(
        method.name,
        datasets.path("penguins"),
        columns=COLUMNS,
        target=target,
        settings={"standardize": True},
    )
    assert shown.scenes
    for scene in shown.scenes:
        (picture, *_) = scene.pictures
        assert picture["z_label"].startswith("body_mass_g")
        for mark in points_of(picture):
            assert len(mark["x"]) == len(mark["y"]) == len(mark["z"])
        for mark in picture["marks"]:
            assert all(len(point) == 3 for point in mark.get("points", []))


def test_two_columns_are_taken_where_none_is_named():
    shown = play("kmeans", datasets.path("penguins"))
    assert "z" not in shown.scenes[0].pictures[0]


def test_k_means_in_space_is_that_of_the_learner():
    shown = play("kmeans", datasets.path("penguins"), columns=COLUMNS)
    X = shown.model.cluster_centers_
    first = points_of(shown.scenes[0].pictures[0])[0]
    rows = np.column_stack([first[axis] for axis in "xyz"])
    model = KMeans(2, init=rows[:2], n_init=1).fit(rows)
    np.testing.assert_allclose(X, model.cluster_centers_)
    stars = points_of(shown.scenes[-1].pictures[0])[1]
    np.testing.assert_allclose(np.column_stack([stars[axis] for axis in "xyz"]), X)


def test_every_corner_of_a_boundary_lies_on_its_plane():
    rng = np.random.default_rng(3)
    for _ in range(50):
        X = rng.normal(size=(10, 3))
        w = rng.normal(size=3)
        b = rng.normal() * 0.3
        mark = boundary(w, b, X)
        if mark is None:  # the plane misses the box
            continue
        corners = np.array(mark["points"])
        np.testing.assert_allclose(corners @ w + b, 0, atol=1e-12)
        # a convex polygon: all turns go the same way around w
        sides = np.roll(corners, -1, axis=0) - corners
        turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ w
        assert (turns >= -1e-9).all() or (turns <= 1e-9).all()


def test_an_axis_parallel_plane_is_a_rectangle_of_the_box():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    corners = np.array(boundary([0, 0, 1.0], -0.5, X)["points"])
    assert {tuple(corner) for corner in corners} == {
        (x, y, 0.5) for x in (-0.25, 1.25) for y in (-0.25, 1.25)
    }


def test_ellipses_are_at_their_mahalanobis_distance():
    rng = np.random.default_rng(5)
    S = np.cov(rng.normal(size=(3, 30)))
    mean = rng.normal(size=3)
    marks = ellipses(mean, S, 0, radius=2.0)
    assert len(marks) == 3
    for mark in marks:
        Z = np.array(mark["points"]) - mean
        squares = np.einsum("ij,jk,ik->i", Z, np.linalg.inv(S), Z)
        np.testing.assert_allclose(squares, 4.0)


def test_the_densities_of_em_are_those_of_the_normal_distribution():
    from scipy.stats import multivariate_normal

    shown = play("em", datasets.path("penguins"), columns=COLUMNS)
    record = shown.model.record_[0]
    picture = points_of(shown.scenes[0].pictures[0])[0]
    rows = np.column_stack([picture[axis] for axis in "xyz"])
    joint = sum(
        weight * multivariate_normal(mean, S).pdf(rows)
        for weight, mean, S in zip(
            record["weights"], record["means"], record["covariances"]
        )
    )
    said = shown.steps.records[0]["objective"]
    assert said == pytest.approx(float(np.log(joint).sum()))

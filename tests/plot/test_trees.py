"""Drawings of trees have all that is said of them, and nothing overlaps."""

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.tree_builders import Builder, of_sklearn

from lyceum import plot
from lyceum._core.trees import GROUPS, THRESHOLD
from lyceum.data import Schema
from lyceum.errors import DataError
from lyceum.plot.graphs import tree_drawing as _tree_drawing

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import FancyBboxPatch, Rectangle


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def extents(ax):
    """The places of all boxes and texts, as drawn."""
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    return (
        [patch.get_window_extent(renderer) for patch in boxes(ax)],
        [(text.get_text(), text.get_window_extent(renderer)) for text in ax.texts],
    )


def overlap(a, b, slack=0.5):
    return (
        min(a.x1, b.x1) - max(a.x0, b.x0) > slack
        and min(a.y1, b.y1) - max(a.y0, b.y0) > slack
    )


@pytest.mark.syllabus("6.8")
@pytest.mark.parametrize("leaves", [2, 8, 30])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_no_boxes_and_no_labels_overlap(leaves, task):
    if task == "classes":
        data = load_breast_cancer()
        fitted = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(
            data.data, data.target
        )
        classes = data.target_names
    else:
        data = load_diabetes()
        fitted = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(
            data.data, data.target
        )
        classes = None
    ax = plot.tree(
        of_sklearn(fitted),
        schema=Schema.of_numbers(list(data.feature_names)),
        classes=classes,
    )
    drawn, texts = extents(ax)
    assert len(drawn) == fitted.tree_.node_count
    for i, a in enumerate(drawn):
        assert not any(overlap(a, b) for b in drawn[i + 1 :])
    places = [place for _, place in texts]
    for i, a in enumerate(places):
        assert not any(overlap(a, b, 1.5) for b in places[i + 1 :])
    # every text of a node is within its box: the others are edge labels, one per edge
    outside = [
        text
        for text, place in texts
        if not any(overlap(place, box, 0.0) for box in drawn)
    ]
    assert len(outside) == fitted.tree_.node_count - 1


def test_children_are_below_and_parents_in_the_middle():
    data = load_diabetes()
    fitted = DecisionTreeRegressor(max_leaf_nodes=20, random_state=0).fit(
        data.data, data.target
    )
    drawing = _tree_drawing._TreeDrawing(
        _tree_drawing._labels(
            of_sklearn(fitted), Schema.of_numbers(list(data.feature_names)), None
        ),
        None,
        None,
    )
    for box in drawing.boxes:
        if box.children:
            assert box.x == pytest.approx((box.children[0].x + box.children[-1].x) / 2)
            assert all(child.y < box.y for child in box.children)


def test_bars_in_leaves_are_class_shares():
    builder = Builder(3)
    pair = builder.split(0, 0, THRESHOLD, threshold=1.0)
    builder.set(0, node_values=[3.0, 4.0, 1.0], weight=8.0)
    builder.set(pair[0], node_values=[3.0, 0.0, 1.0], weight=4.0)
    builder.set(pair[1], node_values=[0.0, 4.0, 0.0], weight=4.0)
    ax = plot.tree(builder.tree(), classes=["a", "b", "c"])
    widths = [patch.get_width() for patch in ax.patches if isinstance(patch, Rectangle)]
    assert len(widths) == 3
    assert sorted(np.round(np.array(widths) / max(widths), 2)) == [0.25, 0.75, 1.0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]


def test_edges_say_what_is_asked():
    schema = Schema.declare(
        {
            "color": ["red", "green", "blue", "black", "white", "gray"],
            "size": "continuous",
        }
    )
    builder = Builder(1)
    many, _ = builder.split(0, 0, GROUPS, branches=[0, 0, 0, 0, 0, 1])
    builder.split(many, 1, THRESHOLD, threshold=0.123456)
    said = [text.get_text() for text in plot.tree(builder.tree(), schema=schema).texts]
    assert "red\ngreen\n… 3 more" in said
    assert "= gray" in said
    assert "≤ 0.1235" in said
    assert "size" in said


def test_a_tree_cut_at_a_depth_says_what_is_left_out():
    data = load_diabetes()
    fitted = DecisionTreeRegressor(max_depth=5, random_state=0).fit(
        data.data, data.target
    )
    ax = plot.tree(of_sklearn(fitted), max_depth=2, title="short")
    assert len(boxes(ax)) == 7
    left_out = [
        int(t.get_text().split()[1]) for t in ax.texts if t.get_text().startswith("…")
    ]
    assert sum(left_out) == fitted.get_n_leaves()
    assert ax.get_title(loc="left") == "short"


def test_one_leaf_is_a_tree_too():
    builder = Builder(1)
    builder.set(0, node_values=[2.5])
    ax = plot.tree(builder.tree())
    assert len(boxes(ax)) == 1
    assert [text.get_text() for text in ax.texts] == ["2.5", "n 1"]


@pytest.mark.syllabus("11.3")
def test_importances_fall_from_the_top():
    ax = plot.importances(
        [0.2, 0.5, 0.3], names=["a", "b", "c"], spread=[0.1, 0.1, 0.1], most=2
    )
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b", "c"]
    assert [patch.get_width() for patch in ax.patches] == [0.5, 0.3]
    assert "1 more" in ax.get_xlabel()
    assert ax.yaxis_inverted()
    with pytest.raises(DataError, match="2 names for 3 importances"):
        plot.importances([0.2, 0.5, 0.3], names=["a", "b"])


@pytest.mark.syllabus("11.4")
def test_staged_curves_are_the_errors_given():
    errors = {"training": [0.3, 0.2, 0.1], "out of bag": [np.nan, 0.2, 0.25]}
    ax = plot.staged_errors(errors, best="out of bag", error="log loss", x="rounds")
    named = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(named["training"].get_ydata(), errors["training"])
    assert named["best: 2"].get_xdata()[0] == 2
    assert ax.get_xlabel() == "rounds"
    highest = plot.staged_errors(
        {"accuracy": [0.5, 0.9, 0.7]}, best="accuracy", goal="max", rounds=[10, 20, 30]
    )
    assert "best: 20" in [line.get_label() for line in highest.lines]
    with pytest.raises(DataError, match="no curve 'oob'"):
        plot.staged_errors(errors, best="oob")
    with pytest.raises(DataError, match="for 2 rounds"):
        plot.staged_errors(errors, rounds=[1, 2])

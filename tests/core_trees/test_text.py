"""Text, rules and DOT say what the tree does."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.tree_builders import (
    N_CODES,
    Builder,
    of_sklearn,
    random_rows,
    random_tree,
)

from lyceum._core.trees import (
    CATEGORIES,
    GROUPS,
    INTERVALS,
    THRESHOLD,
    Router,
    TreeLabels,
    as_dot,
    as_text,
    number,
)
from lyceum.data import Schema
from lyceum.trees.reading.rules import rules

SCHEMA = Schema.declare(
    {
        "outlook": ["overcast", "rainy", "sunny"],
        "humidity": "continuous",
        "windy": ["no", "yes"],
    }
)
LABELS = ["no", "yes"]


def weather():
    """The textbook tree, with humidity as a number."""
    builder = Builder(2)
    overcast, rainy, sunny = builder.split(
        0, 0, CATEGORIES, n_children=3, branches=[0, 1, 2], missing=-1
    )
    calm, wind = builder.split(rainy, 2, GROUPS, branches=[0, 1], missing=0)
    low, high = builder.split(sunny, 1, THRESHOLD, threshold=77.5, missing=1)
    counts = {0: (5, 9), overcast: (0, 4), rainy: (2, 3), sunny: (3, 2), calm: (0, 3), wind: (2, 0),
              low: (0, 2), high: (3, 0)}  # fmt: skip
    for node, value in counts.items():
        builder.set(
            node,
            node_values=[float(v) for v in value],
            weight=float(sum(value)),
            n_rows=sum(value),
        )
    return builder.tree()


@pytest.mark.syllabus("6.8.1")
def test_text_of_the_weather_tree():
    assert (
        as_text(TreeLabels(weather(), SCHEMA, LABELS)) == "y  [no 5, yes 9]\n"
        "outlook = overcast: yes  [yes 4]\n"
        "outlook = rainy  [no 2, yes 3]\n"
        "|   windy = no: yes  [yes 3]\n"
        "|   windy = yes: no  [no 2]\n"
        "outlook = sunny  [no 3, yes 2]\n"
        "|   humidity ≤ 77.5: yes  [yes 2]\n"
        "|   humidity > 77.5: no  [no 3]"
    )


def test_text_says_where_missing_cells_go_and_what_is_below():
    lines = as_text(TreeLabels(weather(), SCHEMA, LABELS), missing=True).splitlines()
    assert lines[1].startswith("outlook = overcast or missing in part: yes")
    assert lines[3].startswith("|   windy = no or missing: yes")
    assert lines[7].startswith("|   humidity > 77.5 or missing: no")
    short = as_text(TreeLabels(weather(), SCHEMA, LABELS), max_depth=1).splitlines()
    assert short[2] == "outlook = rainy: yes  [no 2, yes 3]  … 2 leaves"
    assert len(short) == 4


@pytest.mark.syllabus("6.8.1")
def test_rules_of_the_weather_tree():
    said = [str(rule) for rule in rules(TreeLabels(weather(), SCHEMA, LABELS))]
    assert said == [
        "IF outlook = overcast THEN y = yes (4 rows, confidence 1)",
        "IF outlook = rainy AND windy = no THEN y = yes (3 rows, confidence 1)",
        "IF outlook = rainy AND windy = yes THEN y = no (2 rows, confidence 1)",
        "IF outlook = sunny AND humidity ≤ 77.5 THEN y = yes (2 rows, confidence 1)",
        "IF outlook = sunny AND humidity > 77.5 THEN y = no (3 rows, confidence 1)",
    ]


def test_conditions_on_a_column_are_merged():
    builder = Builder(1)
    low, high = builder.split(0, 1, THRESHOLD, threshold=10.0)
    mid, _ = builder.split(high, 1, THRESHOLD, threshold=20.0)
    two, _ = builder.split(mid, 0, GROUPS, branches=[0, 0, 1])
    builder.split(two, 0, GROUPS, branches=[0, 1])
    builder.split(low, 1, INTERVALS, n_children=3, cuts=[3.0, 5.0])
    said = [
        str(rule).split(" THEN")[0]
        for rule in rules(TreeLabels(builder.tree(), SCHEMA))
    ]
    assert said == [
        "IF humidity ≤ 3",
        "IF 3 < humidity ≤ 5",
        "IF 5 < humidity ≤ 10",
        "IF 10 < humidity ≤ 20 AND outlook = overcast",
        "IF 10 < humidity ≤ 20 AND outlook = rainy",
        "IF 10 < humidity ≤ 20 AND outlook = sunny",
        "IF humidity > 20",
    ]


@pytest.mark.parametrize("seed", range(6))
def test_every_row_is_covered_by_the_rule_of_where_it_ends(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 20, n_values=3)
    codes = [f"c{k}" for k in range(N_CODES)]
    schema = Schema.declare(
        {"a": "continuous", "b": "continuous", "c": codes, "d": codes}
    )
    X = random_rows(rng, 300, gaps=0.0)
    X[:, 2:] = np.clip(X[:, 2:], 0, N_CODES - 1)
    found = rules(TreeLabels(tree, schema, ["u", "v", "w"]), unseen=True)
    covered = np.column_stack([rule.covers(X) for rule in found])
    assert (covered.sum(axis=1) == 1).all()
    ends = np.array([rule.node for rule in found])[covered.argmax(axis=1)]
    np.testing.assert_array_equal(ends, Router([tree], 4).leaves(X)[:, 0])


def test_support_and_confidence_are_those_of_sklearn_leaves():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)
    fitted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    names = ["sl", "sw", "pl", "pw"]
    found = rules(
        TreeLabels(
            of_sklearn(fitted), Schema.of_numbers(names), load_iris().target_names
        )
    )
    assert sum(rule.rows for rule in found) == 150
    for rule in found:
        held = rule.covers(X)
        assert held.sum() == rule.rows == rule.weight
        labels, counts = np.unique(
            load_iris().target_names[y[held]], return_counts=True
        )
        assert rule.answer == labels[counts.argmax()]
        assert rule.confidence == pytest.approx(counts.max() / held.sum())


def test_regression_rules_have_means_and_deviations():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] ** 2 + rng.normal(size=200)
    fitted = DecisionTreeRegressor(max_leaf_nodes=6).fit(X, y)
    tree = of_sklearn(fitted)
    for rule in rules(
        TreeLabels(tree, Schema.of_numbers(["a", "b"]), criterion="squared_error")
    ):
        held = rule.covers(X)
        assert rule.answer == pytest.approx(y[held].mean())
        assert rule.spread == ("sd", pytest.approx(y[held].std()))
        assert re.fullmatch(
            r"IF .* THEN y = -?[\d.e-]+ \(\d+ rows?, sd [\d.e-]+\)", str(rule)
        )
    assert "sd" not in str(rules(TreeLabels(tree, Schema.of_numbers(["a", "b"])))[0])


def test_a_tree_of_one_leaf_always_says_the_same():
    builder = Builder(2)
    builder.set(0, node_values=[1.0, 2.5], weight=3.5, n_rows=3)
    tree = builder.tree()
    assert (
        str(rules(TreeLabels(tree, SCHEMA, LABELS))[0])
        == "ALWAYS y = yes (3 rows of weight 3.5, confidence 0.714)"
    )
    assert as_text(TreeLabels(tree, SCHEMA, LABELS)) == "y: yes  [no 1, yes 2.5]"
    assert as_dot(TreeLabels(tree, SCHEMA, LABELS)).count("->") == 0


def test_a_deep_tree_needs_no_deep_recursion():
    builder = Builder(1)
    node = 0
    for depth in range(3000):
        node = builder.split(node, 1, THRESHOLD, threshold=float(-depth))[0]
    tree = builder.tree()
    assert len(as_text(TreeLabels(tree, SCHEMA)).splitlines()) == 6001
    assert len(rules(TreeLabels(tree, SCHEMA))) == 3001


def test_thresholds_far_from_zero_are_told_apart():
    assert number(1e6 + 0.25) != number(1e6 + 0.5)
    assert number(0.1 + 0.2) == "0.3"


# -- DOT -------------------------------------------------------------------------------

STRING = r'"((?:[^"\\]|\\.)*)"'


def parse_dot(text):
    """A small reader of the statements that as_dot writes: node labels and colors, edges with
    labels."""
    lines = text.splitlines()
    assert lines[0] == "digraph tree {"
    assert lines[-1] == "}"
    nodes, edges = {}, {}
    for line in lines[1:-1]:
        node = re.fullmatch(rf"  n(\d+) \[label={STRING}, fillcolor={STRING}\];", line)
        edge = re.fullmatch(rf"  n(\d+) -> n(\d+) \[label={STRING}\];", line)
        if node:
            nodes[int(node[1])] = (node[2], node[3])
        elif edge:
            edges[int(edge[1]), int(edge[2])] = edge[3]
        else:
            assert re.fullmatch(
                rf"  (node|edge) \[\w+=(\w+|{STRING})(, \w+=(\w+|{STRING}))*\];", line
            ), line
    return nodes, edges


@pytest.mark.syllabus("6.8")
def test_dot_has_every_node_and_edge():
    tree = weather()
    nodes, edges = parse_dot(as_dot(TreeLabels(tree, SCHEMA, LABELS)))
    assert set(nodes) == set(range(tree.n_nodes))
    assert set(edges) == {(i, j) for i in range(tree.n_nodes) for j in tree.children(i)}
    assert nodes[0][0] == "outlook\\nno 5, yes 9"
    assert edges[0, 1] == "= overcast"
    assert all(re.fullmatch("#[0-9A-F]{6}", color) for _, color in nodes.values())
    assert nodes[0][1] != nodes[1][1]


def test_dot_escapes_awkward_names():
    schema = Schema.declare({'a "b\\': ['x"', "y\\", "z\n"]})
    builder = Builder(1)
    builder.split(0, 0, CATEGORIES, n_children=3, branches=[0, 1, 2])
    nodes, edges = parse_dot(as_dot(TreeLabels(builder.tree(), schema)))
    assert nodes[0][0].startswith('a \\"b\\\\\\n')
    assert list(edges.values()) == ['= x\\"', "= y\\\\", "= z"]


def test_dot_can_be_cut_at_a_depth():
    nodes, edges = parse_dot(as_dot(TreeLabels(weather(), SCHEMA, LABELS), max_depth=1))
    assert set(nodes) == {0, 1, 2, 3}
    assert nodes[2][0].endswith("… 2 leaves")
    assert len(edges) == 3

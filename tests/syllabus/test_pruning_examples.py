"""Worked examples of the syllabus, 6.3, 6.5 and 6.6, solved by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.trees.growth_reference import visited
from tests.trees.table_builders import WEATHER
from tests.trees.tree_reference import Referee

from lyceum import datasets
from lyceum._core.trees import CATEGORIES, LEAF, Columns, Growth, Tree, grow_with_record
from lyceum.data import Schema
from lyceum.trees import C45
from lyceum.trees.pruning.bottom_up import (
    NodeCosts,
    prune_by_costs,
    prune_by_loss,
    prune_by_pessimistic_error,
)
from lyceum.trees.pruning.confidence import prune_by_confidence, upper_errors
from lyceum.trees.pruning.cost_complexity import cost_complexity_path


def tree_of(shape, kinds):
    """A tree of categories from nested (class weights, column, {category: subtree}); leaves are
    weights."""
    nodes, first, branches = [shape], [], []
    for node in nodes:
        inner = isinstance(node, tuple)
        first.append(len(nodes) if inner else -1)
        if inner:
            nodes.extend(node[2].values())
    rows = {
        name: []
        for name in ("feature", "child", "n_children", "table", "n_codes", "value")
    }
    for node, child in zip(nodes, first):
        inner = isinstance(node, tuple)
        rows["feature"].append(node[1] if inner else -1)
        rows["child"].append(child)
        rows["n_children"].append(len(node[2]) if inner else 0)
        rows["table"].append(len(branches) if inner else -1)
        rows["n_codes"].append(kinds[node[1]] if inner else 0)
        rows["value"].append(node[0] if inner else node)
        if inner:
            at = {category: b for b, category in enumerate(node[2])}
            branches += [at.get(c, -1) for c in range(kinds[node[1]])]
    whole = {
        name: np.array(rows[name], dtype=np.int32) for name in rows if name != "value"
    }
    value = np.array(rows["value"], dtype=float)
    n, inner = len(nodes), np.array(first) >= 0
    share = value / value.sum(axis=1, keepdims=True)
    return Tree(
        **whole,
        kind=np.where(inner, CATEGORIES, LEAF).astype(np.uint8),
        threshold=np.full(n, np.nan),
        missing=np.full(n, -1, dtype=np.int32),
        cuts=np.empty(0),
        branches=np.array(branches, dtype=np.int32),
        node_values=value,
        weight=value.sum(axis=1),
        n_rows=value.sum(axis=1).astype(np.int64),
        impurity=1 - (share**2).sum(axis=1),
        gain=np.where(inner, 0.1, 0.0),
    )


# Quinlan's tree of congressional votes, democrats first: adoption of the budget resolution (y, n,
# u); under "n", education spending (n, y, u)
VOTES = tree_of(
    (
        [167, 1],
        0,
        {0: [151, 0], 1: ([15, 1], 1, {0: [6, 0], 1: [9, 0], 2: [0, 1]}), 2: [1, 0]},
    ),
    [3, 3],
)


@pytest.mark.syllabus("6.6")
def test_c45_prunes_the_votes_to_one_leaf():
    below = upper_errors([0, 0, 0], [6, 9, 1])
    assert float(below.sum()) == pytest.approx(3.273, abs=2e-3)
    # the book has 16 × .157
    assert float(upper_errors(1, 16)) == pytest.approx(2.512, abs=6e-3)
    whole = float(upper_errors([0, 1, 0], [151, 16, 1]).sum())
    assert whole == pytest.approx(4.642, abs=6e-3)
    assert float(upper_errors(1, 168)) == pytest.approx(2.610, abs=5e-4)
    assert prune_by_confidence(VOTES).n_nodes == 1


@pytest.mark.syllabus("6.6")
def test_errors_and_half_an_error_a_leaf():
    # as it is: 0 errors and 5 leaves, 2.5; without the lower split 1 error and 3 leaves, 2.5; one
    # leaf 1.5
    assert prune_by_pessimistic_error(VOTES, 0.5).n_nodes == 1
    # at 0.25: 1.25, 1.75 and 1.25: the smallest of the equals
    assert prune_by_pessimistic_error(VOTES, 0.25).n_nodes == 1
    # at 0.2: 1.0 against 1.6 and 1.2
    assert prune_by_pessimistic_error(VOTES, 0.2).n_leaves == 5
    # Quinlan's: one leaf has 1.5, no more than 2.5 + √(2.5 (168 − 2.5) / 168)
    assert prune_by_pessimistic_error(VOTES, 0.5, standard_error=True).n_nodes == 1


@pytest.mark.syllabus("6.6")
def test_the_weakest_link_is_where_a_leaf_saves_least_for_its_size():
    # by errors: the lower split saves 1/168 by 2 leaves more, the root 1/168 by 4 more: the root
    # goes first
    path = cost_complexity_path(VOTES, "error")
    assert path.alphas == pytest.approx([0, 1 / 168 / 4])
    assert path.n_leaves.tolist() == [5, 1]
    # by Gini: (R(t) − R(T_t)) / (leaves − 1), R = share × impurity
    lower = 16 / 168 * (1 - (15**2 + 1) / 16**2) / 2
    whole = (1 - (167**2 + 1) / 168**2) / 4
    assert cost_complexity_path(VOTES).alphas == pytest.approx([0, min(lower, whole)])


@pytest.mark.syllabus("6.6")
def test_rows_held_out_that_err_below_cut_the_subtree():
    # two held-out rows of (budget n, education u) that are democrats: wrong below, right at the
    # node above
    cells = [[1, 2], [1, 2], [0, 0]]
    costs = NodeCosts.of(
        VOTES, sparse.csr_array(visited(VOTES, cells)), np.array([0, 0, 0])
    )
    assert costs.at.tolist() == [0, 0, 0, 0, 0, 0, 2]
    assert prune_by_costs(VOTES, costs).n_nodes == 1
    # a republican among them that only the subtree gets right keeps it: 1 error below, 1 at each
    # node above
    costs = NodeCosts.of(
        VOTES, sparse.csr_array(visited(VOTES, cells)), np.array([1, 1, 0])
    )
    assert prune_by_costs(VOTES, costs).n_leaves == 5


@pytest.mark.syllabus("6.6")
def test_a_dear_error_keeps_a_subtree_that_changes_few_decisions():
    # at 1000 for a republican taken for a democrat, one leaf takes all for republicans: 167; this
    # tree 0
    dear = np.array([[0.0, 1.0], [1000.0, 0.0]])
    assert prune_by_loss(VOTES, dear).n_leaves == 5
    # by Laplace a leaf of d and r costs n/(n+2) min(1000 (r+1), d+1): 166.0 for one leaf, and for
    # this tree 150.0 + (5.25 + 8.18 + .33, less than 14.2 without the lower split) + .67 = 164.4
    assert prune_by_loss(VOTES, dear, smoothing="laplace").n_leaves == 5
    # at 10 for 1000: 19.8 for one leaf, and 9.87 + 13.8 + .67 = 24.3
    assert prune_by_loss(VOTES, dear.clip(max=10), smoothing="laplace").n_nodes == 1


@pytest.mark.syllabus("6.3")
def test_the_gains_of_64_rows_in_the_core():
    first = [0] * 21 + [1] * 8 + [0] * 5 + [1] * 30
    second = [0] * 18 + [1] * 11 + [0] * 33 + [1] * 2
    X = np.array([first, second], dtype=float).T
    columns = Columns.of_cells(X, Schema.declare({"A1": ["t", "f"], "A2": ["t", "f"]}))
    growth = Growth(
        criterion="entropy", categorical="multiway", max_depth=1, record=True
    )
    tree, seen = grow_with_record(
        columns, np.repeat([1, 0], [29, 35]).astype(np.int32), None, growth, 2
    )
    assert tree.impurity[0] == pytest.approx(0.9937, abs=5e-5)
    assert seen.gain.tolist() == pytest.approx([0.2659, 0.1214], abs=5e-5)


@pytest.mark.syllabus("6.1", "6.5")
def test_the_weather_tree_and_its_chi_square_pre_pruning():
    cells, play = WEATHER
    names = {
        "outlook": list("sor"),
        "temperature": list("hmc"),
        "humidity": list("hn"),
        "wind": list("ws"),
    }
    columns = Columns.of_cells(np.array(cells, dtype=float), Schema.declare(names))
    growth = Growth(criterion="entropy", categorical="multiway", record=True)
    tree, seen = grow_with_record(
        columns, np.array(play, dtype=np.int32), None, growth, 2
    )
    assert tree.n_leaves == 5
    root = seen.gain[seen.node == 0]
    assert root.tolist() == pytest.approx([0.2467, 0.0292, 0.1518, 0.0481], abs=5e-5)
    # outlook against play: (2,3), (4,0), (3,2): chi-square 3.547 with two degrees, p = .170
    referee = Referee(
        cells, play, [3, 3, 2, 2], 2, criterion="entropy", categorical="multiway"
    )
    split = referee.best(referee.root())
    assert split.column == 0
    assert referee.p_value(split, referee.root()) == pytest.approx(0.170, abs=5e-4)
    for level, n_leaves in ((0.16, 1), (0.18, 5)):
        growth = Growth(criterion="entropy", categorical="multiway", max_p_value=level)
        tree, _ = grow_with_record(
            columns, np.array(play, dtype=np.int32), None, growth, 2
        )
        assert tree.n_leaves == n_leaves


def shape(model):
    """(leaves, nodes, the columns tested) of a fitted tree."""
    tree = model.tree_
    tested = [model.schema_[int(j)].name for j in tree.feature if j >= 0]
    return tree.n_leaves, tree.n_nodes, tested


@pytest.mark.syllabus("6.1", "6.6")
def test_c45_of_contact_lenses_is_the_published_tree():
    # Cendrowska's 24 cases; Witten and Frank print the pruned tree: 4 leaves, of 12, 6/1, 3 and 3/1
    # rows
    names = ["age", "spectacles", "astigmatism", "tears"]
    ages, eyes = ["young", "pre-presbyopic", "presbyopic"], ["myope", "hypermetrope"]
    table = pd.DataFrame(
        product(ages, eyes, ["no", "yes"], ["reduced", "normal"]), columns=names
    )
    normal = [
        "soft",
        "hard",
        "soft",
        "hard",
        "soft",
        "hard",
        "soft",
        "none",
        "none",
        "hard",
        "soft",
        "none",
    ]
    lenses = [lens for one in normal for lens in ("none", one)]
    model = C45().fit(table.astype("category"), lenses)
    assert shape(model) == (4, 7, ["tears", "astigmatism", "spectacles"])
    leaves = model.tree_.node_values[model.tree_.kind == LEAF]
    counts = sorted(
        zip(
            leaves.sum(axis=1).tolist(),
            (leaves.sum(axis=1) - leaves.max(axis=1)).tolist(),
        )
    )
    assert counts == [(3, 0), (3, 1), (6, 1), (12, 0)]


@pytest.mark.syllabus("6.1", "6.2")
def test_c45_of_the_weather_in_numbers_is_the_published_tree():
    outlook, _, _, windy = zip(*WEATHER[0])
    table = pd.DataFrame(
        {
            "outlook": pd.Categorical.from_codes(
                outlook, ["sunny", "overcast", "rainy"]
            ),
            "temperature": [85.0, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
            "humidity": [85.0, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
            "windy": pd.Categorical.from_codes(windy, ["no", "yes"]),
        }
    )
    model = C45().fit(table, WEATHER[1])
    leaves, nodes, tested = shape(model)
    assert (leaves, nodes, sorted(tested)) == (5, 8, ["humidity", "outlook", "windy"])
    assert model.tree_.threshold[model.tree_.feature == 2].tolist() == [75.0]


@pytest.mark.syllabus("6.1", "6.6")
def test_c45_of_german_credit_has_the_size_and_errors_of_j48():
    # Weka's J48 on credit-g: 103 leaves, 140 nodes, 855 of 1000 right on the rows it was grown on.
    # It counts the branches of categories without rows, and its file declares two categories that
    # no row has.
    table = pd.read_csv(datasets.path("german_credit"))
    good = table.pop("class")
    for name in table:
        if table[name].dtype.kind not in "if":
            table[name] = table[name].astype("category")
    table["purpose"] = table["purpose"].cat.add_categories(["vacation"])
    table["personal_status"] = table["personal_status"].cat.add_categories(
        ["female single"]
    )
    model = C45().fit(table, good)
    tree = model.tree_
    empty = int(np.count_nonzero(tree.branches < 0))
    assert (tree.n_leaves + empty, tree.n_nodes + empty) == (103, 140)
    assert np.count_nonzero(model.predict(table) == good) == 855

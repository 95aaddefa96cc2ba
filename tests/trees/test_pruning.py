"""Post-pruning against all prunings there are, hand-solved trees, and plain recursions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.growth_reference import visited
from tests.trees.pruning_cases import (
    LOSS,
    best_of,
    forms,
    gaps,
    grown,
    leaves_of,
    seeds,
    small,
)
from tests.trees.table_builders import from_scikit, mixed_table

from lyceum._core.trees import ARRAYS, LEAF
from lyceum.errors import SettingError
from lyceum.trees.pruning.bottom_up import (
    NodeCosts,
    compact,
    prune_by_costs,
    prune_by_error,
    prune_by_loss,
    prune_by_pessimistic_error,
)
from lyceum.trees.pruning.confidence import prune_by_confidence
from lyceum.trees.pruning.cost_complexity import (
    cost_complexity_path,
    prune_by_complexity,
)


def held_out(seed, referee, tree, n=15):
    cells = mixed_table(seed + 1, n, 0.2)[0]
    return cells, sparse.csr_array(visited(tree, cells))


# -- compact ---------------------------------------------------------------------------


@given(seeds, forms, gaps, st.randoms(use_true_random=False))
def test_a_compact_tree_sends_rows_as_the_whole_one_does(seed, form, gap, random):
    referee, tree = grown(seed, form, gap)
    cut = np.array([random.random() < 0.3 for _ in range(tree.n_nodes)])
    pruned = compact(tree, cut)
    cells = referee.cells + mixed_table(seed + 1, 9, 0.3)[0]
    ours, whole = visited(pruned, cells), visited(tree, cells)
    kept = [i for i in range(tree.n_nodes) if not _is_below_cut(tree, i, cut)]
    assert_allclose(ours, whole[:, kept])
    assert_allclose(pruned.node_values, tree.node_values[kept])
    assert (
        pruned.cuts.size + pruned.branches.size <= tree.cuts.size + tree.branches.size
    )
    assert (pruned.parent[1:] < np.arange(1, pruned.n_nodes)).all()
    assert (pruned.gain[pruned.kind == LEAF] == 0).all()


def _is_below_cut(tree, node, cut):
    node = tree.parent[node]
    while node >= 0:
        if cut[node]:
            return True
        node = tree.parent[node]
    return False


def test_a_compact_tree_of_intervals_keeps_its_cuts():
    from tests.trees.pruning_reference import interval_tree

    tree = interval_tree()
    cells = [
        [x, y] for x in (-1.0, 0.0, 0.5, 1.0, 1.5, np.nan) for y in (0.0, 2.0, 3.0, 9.0)
    ]
    cut = np.zeros(tree.n_nodes, dtype=bool)
    cut[1] = True
    pruned = compact(tree, cut)
    assert pruned.cuts.tolist() == [0.0, 1.0, 2.0, 5.0]
    assert_allclose(
        visited(pruned, cells), np.delete(visited(tree, cells), [4, 5, 6], axis=1)
    )


# -- reduced error ---------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
@given(seeds, forms, gaps, st.sampled_from([None, LOSS]))
def test_reduced_error_is_the_smallest_pruning_of_least_cost_on_rows_held_out(
    seed, form, gap, loss
):
    referee, tree = grown(seed, form, gap)
    if not small(tree):
        return
    cells, parts = held_out(seed, referee, tree)
    rng = np.random.default_rng(seed)
    y, w = rng.integers(0, 3, len(cells)), rng.integers(1, 4, len(cells)).astype(float)
    pruned = prune_by_error(tree, parts, y, w, loss)

    values = 1 - np.eye(3) if loss is None else loss

    def decided(small_tree, node):
        """The first action of least loss, among those that every node above prefers."""
        choice, parents = range(3), small_tree.parent
        while node >= 0 and len(choice) > 1:
            losses = (
                small_tree.node_values[node]
                @ values
                / small_tree.node_values[node].sum()
            )
            choice = [
                a for a in choice if losses[a] <= min(losses[b] for b in choice) + 1e-9
            ]
            node = int(parents[node])
        return choice[0]

    def cost(leaves):
        cut = np.isin(np.arange(tree.n_nodes), list(leaves))
        small_tree = compact(tree, cut)
        came = visited(small_tree, cells)
        ours = [decided(small_tree, node) for node in range(small_tree.n_nodes)]
        total = 0.0
        for node in range(small_tree.n_nodes):
            below = sum(
                (came[:, c] for c in small_tree.children(node)), np.zeros(len(cells))
            )
            ended = came[:, node] - (below if small_tree.kind[node] != LEAF else 0.0)
            total += (w * ended * values[y, ours[node]]).sum()
        return total

    assert leaves_of(pruned, tree) == best_of(tree, cost)


@pytest.mark.syllabus("6.6")
@pytest.mark.parametrize("loss", [None, "squared", "absolute"])
def test_reduced_error_of_numbers(loss):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = DecisionTreeRegressor(max_leaf_nodes=7).fit(X, y)
    tree = from_scikit(model)
    new, truth = rng.normal(size=(25, 2)).astype(np.float32), rng.normal(size=25)
    w = rng.uniform(0.5, 2, 25)
    parts = sparse.csr_array(visited(tree, new.tolist()))
    pruned = prune_by_error(tree, parts, truth, w, loss)
    power = 1 if loss == "absolute" else 2

    def cost(leaves):
        came = visited(tree, new.tolist())
        return sum(
            (
                w * came[:, leaf] * np.abs(truth - tree.node_values[leaf, 0]) ** power
            ).sum()
            for leaf in leaves
        )

    assert leaves_of(pruned, tree) == best_of(tree, cost)
    assert 1 < pruned.n_leaves < tree.n_leaves


def test_costs_of_blocks_merge_to_those_of_all_rows():
    referee, tree = grown(4, "multiway", 0.2)
    cells, parts = held_out(4, referee, tree)
    y = np.arange(len(cells)) % 3
    w = np.linspace(1, 2, len(cells))
    whole = NodeCosts.of(tree, parts, y, w, LOSS)
    half = NodeCosts.of(tree, parts[:6], y[:6], w[:6], LOSS).merge(
        NodeCosts.of(tree, parts[6:], y[6:], w[6:], LOSS)
    )
    for name in ("weight", "at", "squares", "above", "squares_above"):
        assert_allclose(getattr(half, name), getattr(whole, name), rtol=1e-12)


def test_weight_two_equals_a_row_held_out_twice():
    referee, tree = grown(8, "groups", 0.2)
    cells, parts = held_out(8, referee, tree)
    y, w = np.arange(len(cells)) % 3, 1.0 + np.arange(len(cells)) % 2
    twice = np.repeat(np.arange(len(cells)), w.astype(int))
    one, many = (
        NodeCosts.of(tree, parts, y, w),
        NodeCosts.of(tree, parts[twice], y[twice]),
    )
    assert_allclose(one.at, many.at, rtol=1e-12)
    assert_allclose(one.end_costs(tree), many.end_costs(tree), atol=1e-12)


# -- pessimistic and minimum loss ------------------------------------------------------


@pytest.mark.syllabus("6.6")
@given(seeds, forms, gaps, st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_pessimistic_is_the_smallest_pruning_of_least_errors_and_penalty(
    seed, form, gap, k
):
    _, tree = grown(seed, form, gap)
    if not small(tree):
        return
    errors = tree.node_values.sum(axis=1) - tree.node_values.max(axis=1)
    pruned = prune_by_pessimistic_error(tree, k)
    assert leaves_of(pruned, tree) == best_of(
        tree, lambda leaves: sum(errors[i] + k for i in leaves)
    )


@pytest.mark.syllabus("6.6")
@given(seeds, st.sampled_from([0.5, 1.0]))
def test_quinlans_pessimism_judges_from_the_root_with_a_standard_error(seed, k):
    _, tree = grown(seed)

    def walk(node):
        if tree.kind[node] == LEAF:
            return [node]
        n = tree.node_values[node].sum()
        leaves = _leaves_below(tree, node)
        corrected = sum(
            tree.node_values[i].sum() - tree.node_values[i].max() + k for i in leaves
        )
        error = np.sqrt(max(corrected * (n - corrected) / n, 0))
        if n - tree.node_values[node].max() + k <= corrected + error + 1e-9:
            return [node]
        return [leaf for child in tree.children(node) for leaf in walk(child)]

    assert leaves_of(
        prune_by_pessimistic_error(tree, k, standard_error=True), tree
    ) == sorted(walk(0))


def _leaves_below(tree, node):
    if tree.kind[node] == LEAF:
        return [node]
    return [
        leaf for child in tree.children(node) for leaf in _leaves_below(tree, child)
    ]


@pytest.mark.syllabus("6.6")
@given(
    seeds,
    forms,
    st.sampled_from([None, LOSS]),
    st.sampled_from(["none", "laplace", "m"]),
)
def test_minimum_loss_is_the_smallest_pruning_of_least_expected_loss(
    seed, form, loss, smoothing
):
    _, tree = grown(seed, form)
    if not small(tree):
        return
    values = 1 - np.eye(3) if loss is None else loss
    share = tree.node_values[0] / tree.node_values[0].sum()
    m, prior = {"none": (0, share), "laplace": (3, np.full(3, 1 / 3)), "m": (2, share)}[
        smoothing
    ]
    n = tree.node_values.sum(axis=1)
    posterior = (tree.node_values + m * prior) / (n + m)[:, None]
    expected = (posterior @ values).min(axis=1)
    pruned = prune_by_loss(tree, loss, smoothing)
    assert leaves_of(pruned, tree) == best_of(
        tree, lambda leaves: sum(n[i] * expected[i] for i in leaves)
    )


def test_a_loss_may_have_more_actions_than_classes():
    _, tree = grown(2)
    with_reject = np.column_stack([LOSS, np.full(3, -1.0)])
    assert prune_by_loss(tree, with_reject).n_nodes == 1
    with pytest.raises(SettingError, match="does not fit a tree of 3 classes"):
        prune_by_loss(tree, np.eye(2))


# -- every pruning ---------------------------------------------------------------------


def test_prunings_of_classes_refuse_a_regression_tree():
    tree = from_scikit(DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]))
    for prune in (prune_by_pessimistic_error, prune_by_loss, prune_by_confidence):
        with pytest.raises(SettingError, match="regression tree"):
            prune(tree)
    with pytest.raises(SettingError, match="regression tree"):
        prune_by_complexity(tree, 0.1, "error")


def test_a_single_node_stays_as_it_is():
    tree = from_scikit(DecisionTreeClassifier().fit([[0.0], [0.0]], [0, 1]))
    rows = (np.zeros((2, 1)), np.array([0, 1]), None)
    costs = NodeCosts.of(tree, sparse.csr_array(np.ones((2, 1))), np.array([0, 1]))
    pruned = [
        prune_by_costs(tree, costs),
        prune_by_pessimistic_error(tree),
        prune_by_pessimistic_error(tree, standard_error=True),
        prune_by_loss(tree, smoothing="laplace"),
        prune_by_confidence(tree),
        prune_by_confidence(tree, rows=rows),
        prune_by_complexity(tree, 0.0),
        prune_by_complexity(tree, 1.0, "error"),
    ]
    for after in pruned:
        assert after.n_nodes == 1
        assert after.node_values.tolist() == tree.node_values.tolist()


def test_a_tree_of_many_thousand_nodes_is_pruned_as_its_definition_says():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 4)).astype(np.float32), rng.integers(0, 2, 10_000)
    tree = from_scikit(DecisionTreeClassifier(random_state=0).fit(X, y))
    assert tree.n_nodes > 4_000
    path = cost_complexity_path(tree)
    for s in (1, len(path.alphas) // 2, len(path.alphas) - 2):
        pruned = path.at(path.alphas[s])
        leaf = pruned.kind == LEAF
        assert pruned.n_leaves == path.n_leaves[s]
        risk = (pruned.impurity * pruned.weight)[leaf].sum() / len(y)
        assert path.risks[s] == pytest.approx(risk, rel=1e-9)
    whole, raised = (
        prune_by_confidence(tree),
        prune_by_confidence(tree, rows=(X, y, None)),
    )
    assert raised.n_nodes < whole.n_nodes < tree.n_nodes
    assert raised.node_values[raised.kind == LEAF].sum() == len(y)


def test_pruning_leaves_the_tree_it_was_given_alone():
    referee, tree = grown(3, "groups", 0.2, n=40)
    copy = replace(tree, **{name: getattr(tree, name).copy() for name in ARRAYS})
    X = np.array(
        [[np.nan if c is None else c for c in row] for row in referee.cells],
        dtype=float,
    )
    prune_by_confidence(
        tree, rows=(X, np.array(referee.target), np.array(referee.weight))
    )
    prune_by_pessimistic_error(tree, 3.0)
    for name in tree.__slots__:
        np.testing.assert_array_equal(getattr(tree, name), getattr(copy, name))

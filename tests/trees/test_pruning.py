"""Post-pruning against all prunings there are, hand-solved trees, and plain recursions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.growth_reference import visited
from tests.trees.pruning_reference import J48, all_prunings, leaves_under
from tests.trees.table_builders import from_scikit, mixed_table
from tests.trees.tree_reference import Referee

from lyceum.errors import DataError, SettingError
from lyceum.tree_core import LEAF
from lyceum.trees._confidence import SLACK, prune_by_confidence, upper_errors
from lyceum.trees._cost_complexity import choose_alpha, cost_complexity_path, prune_by_complexity
from lyceum.trees._pruning import (
    NodeCosts,
    compact,
    prune_by_error,
    prune_by_loss,
    prune_by_pessimistic_error,
)

LOSS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])

seeds = st.integers(0, 10_000)
forms = st.sampled_from(["multiway", "groups", "one_vs_rest"])
gaps = st.sampled_from([0.0, 0.2])


def grown(seed, form="multiway", gap=0.0, n=22, **rules):
    table = mixed_table(seed, n, gap)
    usual = {"criterion": "entropy", "max_depth": 3, "missing": "fractions", "needs_gain": True}
    referee = Referee(*table, categorical=form, **usual | rules)
    return referee, referee.tree()


def small(tree, most=10):
    """Whether there are few enough inner nodes to try all prunings."""
    return np.count_nonzero(tree.kind != LEAF) <= most


def best_of(tree, cost):
    """The leaves of the smallest pruning of least cost, by trying all."""
    every = [(cost(leaves), len(leaves), leaves) for leaves in all_prunings(tree)]
    least = min(cost for cost, _, _ in every)
    return min((size, sorted(leaves)) for cost, size, leaves in every if cost <= least + 1e-9)[1]


def leaves_of(pruned, tree):
    """The nodes of `tree` that are leaves of its pruning."""
    return sorted(leaves_under(tree, pruned))


def held_out(seed, referee, tree, n=15):
    cells = mixed_table(seed + 1, n, 0.2)[0]
    return cells, sparse.csr_array(visited(tree, cells))


# -- compact -----------------------------------------------------------------------------------------------


@given(seeds, forms, gaps, st.randoms(use_true_random=False))
def test_a_compact_tree_sends_rows_as_the_whole_one_does(seed, form, gap, random):
    referee, tree = grown(seed, form, gap)
    cut = np.array([random.random() < 0.3 for _ in range(tree.n_nodes)])
    pruned = compact(tree, cut)
    cells = referee.cells + mixed_table(seed + 1, 9, 0.3)[0]
    ours, whole = visited(pruned, cells), visited(tree, cells)
    kept = [i for i in range(tree.n_nodes) if not _is_below_cut(tree, i, cut)]
    assert_allclose(ours, whole[:, kept])
    assert_allclose(pruned.value, tree.value[kept])
    assert pruned.cuts.size + pruned.branches.size <= tree.cuts.size + tree.branches.size
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
    cells = [[x, y] for x in (-1.0, 0.0, 0.5, 1.0, 1.5, np.nan) for y in (0.0, 2.0, 3.0, 9.0)]
    cut = np.zeros(tree.n_nodes, dtype=bool)
    cut[1] = True
    pruned = compact(tree, cut)
    assert pruned.cuts.tolist() == [0.0, 1.0, 2.0, 5.0]
    assert_allclose(visited(pruned, cells), np.delete(visited(tree, cells), [4, 5, 6], axis=1))


# -- reduced error -----------------------------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
@given(seeds, forms, gaps, st.sampled_from([None, LOSS]))
def test_reduced_error_is_the_smallest_pruning_of_least_cost_on_rows_held_out(seed, form, gap, loss):
    referee, tree = grown(seed, form, gap)
    if not small(tree):
        return
    cells, parts = held_out(seed, referee, tree)
    rng = np.random.default_rng(seed)
    y, w = rng.integers(0, 3, len(cells)), rng.integers(1, 4, len(cells)).astype(float)
    pruned = prune_by_error(tree, NodeCosts.of(tree, parts, y, w, loss))

    values = 1 - np.eye(3) if loss is None else loss

    def decided(small_tree, node):
        """The first action of least loss, among those that every node above prefers."""
        choice, parents = range(3), small_tree.parent
        while node >= 0 and len(choice) > 1:
            losses = small_tree.value[node] @ values / small_tree.value[node].sum()
            choice = [a for a in choice if losses[a] <= min(losses[b] for b in choice) + 1e-9]
            node = int(parents[node])
        return choice[0]

    def cost(leaves):
        cut = np.isin(np.arange(tree.n_nodes), list(leaves))
        small_tree = compact(tree, cut)
        came = visited(small_tree, cells)
        ours = [decided(small_tree, node) for node in range(small_tree.n_nodes)]
        total = 0.0
        for node in range(small_tree.n_nodes):
            below = sum((came[:, c] for c in small_tree.children(node)), np.zeros(len(cells)))
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
    pruned = prune_by_error(tree, NodeCosts.of(tree, parts, truth, w, loss))
    power = 1 if loss == "absolute" else 2

    def cost(leaves):
        came = visited(tree, new.tolist())
        return sum(
            (w * came[:, leaf] * np.abs(truth - tree.value[leaf, 0]) ** power).sum() for leaf in leaves
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
    one, many = NodeCosts.of(tree, parts, y, w), NodeCosts.of(tree, parts[twice], y[twice])
    assert_allclose(one.at, many.at, rtol=1e-12)
    assert_allclose(one.stayed(tree), many.stayed(tree), atol=1e-12)


# -- pessimistic and minimum loss --------------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
@given(seeds, forms, gaps, st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_pessimistic_is_the_smallest_pruning_of_least_errors_and_penalty(seed, form, gap, k):
    _, tree = grown(seed, form, gap)
    if not small(tree):
        return
    errors = tree.value.sum(axis=1) - tree.value.max(axis=1)
    pruned = prune_by_pessimistic_error(tree, k)
    assert leaves_of(pruned, tree) == best_of(tree, lambda leaves: sum(errors[i] + k for i in leaves))


@pytest.mark.syllabus("6.6")
@given(seeds, st.sampled_from([0.5, 1.0]))
def test_quinlans_pessimism_judges_from_the_root_with_a_standard_error(seed, k):
    _, tree = grown(seed)

    def walk(node):
        if tree.kind[node] == LEAF:
            return [node]
        n = tree.value[node].sum()
        leaves = _leaves_below(tree, node)
        corrected = sum(tree.value[i].sum() - tree.value[i].max() + k for i in leaves)
        error = np.sqrt(max(corrected * (n - corrected) / n, 0))
        if n - tree.value[node].max() + k <= corrected + error + 1e-9:
            return [node]
        return [leaf for child in tree.children(node) for leaf in walk(child)]

    assert leaves_of(prune_by_pessimistic_error(tree, k, standard_error=True), tree) == sorted(walk(0))


def _leaves_below(tree, node):
    if tree.kind[node] == LEAF:
        return [node]
    return [leaf for child in tree.children(node) for leaf in _leaves_below(tree, child)]


@pytest.mark.syllabus("6.6")
@given(seeds, forms, st.sampled_from([None, LOSS]), st.sampled_from(["none", "laplace", "m"]))
def test_minimum_loss_is_the_smallest_pruning_of_least_expected_loss(seed, form, loss, smoothing):
    _, tree = grown(seed, form)
    if not small(tree):
        return
    values = 1 - np.eye(3) if loss is None else loss
    share = tree.value[0] / tree.value[0].sum()
    m, prior = {"none": (0, share), "laplace": (3, np.full(3, 1 / 3)), "m": (2, share)}[smoothing]
    n = tree.value.sum(axis=1)
    posterior = (tree.value + m * prior) / (n + m)[:, None]
    expected = (posterior @ values).min(axis=1)
    pruned = prune_by_loss(tree, loss, smoothing)
    assert leaves_of(pruned, tree) == best_of(tree, lambda leaves: sum(n[i] * expected[i] for i in leaves))


def test_a_loss_may_have_more_actions_than_classes():
    _, tree = grown(2)
    with_reject = np.column_stack([LOSS, np.full(3, -1.0)])
    assert prune_by_loss(tree, with_reject).n_nodes == 1
    with pytest.raises(SettingError, match="does not fit a tree of 3 classes"):
        prune_by_loss(tree, np.eye(2))


# -- cost-complexity ---------------------------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
@given(seeds, forms, st.sampled_from(["impurity", "error", "loss"]))
def test_cost_complexity_is_the_smallest_pruning_of_least_cost_and_leaves(seed, form, measure):
    _, tree = grown(seed, form)
    if not small(tree):
        return
    n = tree.weight / tree.weight[0]
    if measure == "impurity":
        risk = n * tree.impurity
        path = cost_complexity_path(tree)
    else:
        values = 1 - np.eye(3) if measure == "error" else LOSS
        risk = (tree.value @ values).min(axis=1) / tree.weight[0]
        path = cost_complexity_path(tree, "error", None if measure == "error" else LOSS)
    ends = np.append(path.alphas[1:], path.alphas[-1] + 1)
    for s, (alpha, end) in enumerate(zip(path.alphas, ends)):
        for a in (alpha, alpha + 0.4 * (end - alpha)):
            pruned = path.at(a)
            least = best_of(tree, lambda leaves, a=a: sum(risk[i] + a * (1 + 1e-6) for i in leaves))
            assert leaves_of(pruned, tree) == least
        assert pruned.n_leaves == path.n_leaves[s]
        assert_allclose(path.risks[s], sum(risk[i] for i in least), atol=1e-12)
    assert path.n_leaves[-1] == 1
    assert (np.diff(path.alphas) > 0).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_the_path_is_scikit_learns(seed, criterion):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(200, 4)), rng.uniform(0.5, 2, 200)
    kind = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    y = rng.normal(size=200) if criterion == "squared_error" else rng.integers(0, 3, 200)
    model = kind(criterion=criterion, random_state=0).fit(X, y, w)
    theirs = model.cost_complexity_pruning_path(X, y, w)
    path = cost_complexity_path(from_scikit(model))
    alphas, at = _distinct(theirs.ccp_alphas)
    assert_allclose(path.alphas, alphas, rtol=1e-9, atol=1e-12)
    assert_allclose(path.risks, theirs.impurities[at], rtol=1e-9, atol=1e-9)
    middle = (path.alphas[len(alphas) // 2] + path.alphas[len(alphas) // 2 + 1]) / 2
    pruned = kind(criterion=criterion, random_state=0, ccp_alpha=middle).fit(X, y, w)
    assert_allclose(prune_by_complexity(from_scikit(model), middle).value, from_scikit(pruned).value)


def _distinct(alphas):
    """Alphas that differ by more than rounding, and the place of the last of each."""
    last = np.append(np.flatnonzero(np.diff(alphas) > 1e-14), len(alphas) - 1)
    return alphas[np.append(0, last[:-1] + 1)], last


@pytest.mark.syllabus("6.6")
def test_alpha_by_cross_validation_is_breimans_procedure():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3)).astype(np.float32)
    y = ((X[:, 0] > 0) ^ (rng.uniform(size=150) < 0.25)).astype(np.int64)
    w = rng.integers(1, 3, 150).astype(float)
    folds = np.arange(150) % 5

    def grow(rows):
        return from_scikit(DecisionTreeClassifier(random_state=0).fit(X[rows], y[rows], w[rows]))

    def visit(tree, rows):
        return sparse.csr_array(visited(tree, X[rows].tolist()))

    choice = choose_alpha(grow, visit, y, folds, w)
    betas = np.append(np.sqrt(choice.path.alphas[:-1] * choice.path.alphas[1:]), np.inf)
    for s in (0, 1, len(betas) // 2, len(betas) - 1):
        wrong = np.empty(150)
        for fold in range(5):
            rows = np.flatnonzero(folds == fold)
            pruned = prune_by_complexity(grow(np.flatnonzero(folds != fold)), betas[s])
            came = visited(pruned, X[rows].tolist()) * (pruned.kind == LEAF)
            wrong[rows] = pruned.value.argmax(axis=1)[came.argmax(axis=1)] != y[rows]
        rate = (w * wrong).sum() / w.sum()
        assert choice.risks[s] == pytest.approx(rate)
        assert choice.standard_errors[s] == pytest.approx(np.sqrt(rate * (1 - rate) / w.sum()))
    within = choice.risks <= choice.risks[choice.best] + choice.standard_errors[choice.best]
    assert choice.chosen == np.flatnonzero(within).max()
    assert choice.alpha == choice.path.alphas[choice.chosen]
    assert choice.tree.n_leaves == choice.path.n_leaves[choice.chosen]
    best = choose_alpha(grow, visit, y, folds, w, rule="best")
    assert best.risks[best.chosen] == best.risks.min()
    assert best.chosen <= choice.chosen
    assert "chosen" in str(choice.table())
    assert len(choice.path.table().rows) == len(choice.path.alphas)


def test_alpha_is_chosen_for_numbers_and_missing_cells():
    cells, target, *_ = mixed_table(11, 40, 0.2)
    y = np.array(target) + np.linspace(0, 0.1, 40)
    kinds = mixed_table(11, 40, 0.2)[2]

    def grow(rows):
        return Referee(
            [cells[i] for i in rows], y[rows], kinds, criterion="variance", max_depth=3, missing="fractions"
        ).tree()

    def visit(tree, rows):
        return sparse.csr_array(visited(tree, [cells[i] for i in rows]))

    choice = choose_alpha(grow, visit, y, np.arange(40) % 4)
    assert 0 <= choice.best <= choice.chosen < len(choice.risks)
    mean = [np.square(y[np.arange(40) % 4 == f] - y[np.arange(40) % 4 != f].mean()).sum() for f in range(4)]
    assert choice.risks[-1] == pytest.approx(sum(mean) / 40)  # at infinity only roots are left


def test_alpha_needs_two_folds():
    with pytest.raises(SettingError, match="at least two folds"):
        choose_alpha(lambda rows: None, lambda tree, rows: None, np.arange(3), np.zeros(3))


# -- confidence --------------------------------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
def test_upper_bounds_are_those_of_quinlans_book():
    rates = upper_errors([0, 0, 0, 1], [6, 9, 1, 16]) / [6, 9, 1, 16]
    assert rates == pytest.approx([0.206, 0.143, 0.750, 0.157], abs=5e-4)
    assert float(upper_errors(1, 168)) == pytest.approx(2.610, abs=5e-4)
    assert float(upper_errors([0, 1, 0], [151, 16, 1]).sum()) == pytest.approx(4.642, abs=6e-3)


def test_the_exact_bound_makes_few_errors_as_improbable_as_said():
    from scipy.stats import binom

    for E, N, level in [(0, 6, 0.25), (1, 16, 0.25), (3, 10, 0.1), (9, 10, 0.25)]:
        rate = float(upper_errors(E, N, level, "exact")) / N
        assert binom.cdf(E, N, rate) == pytest.approx(level)
    assert float(upper_errors(5, 5, bound="exact")) == 5.0


def test_the_normal_bound_is_j48s():
    # Stats.addErrs of Weka: .75 of z = .6745; f = (1 + ½)/16
    z, f, n = 0.6744897501960817, 1.5 / 16, 16
    r = (f + z * z / (2 * n) + z * np.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n)
    assert float(upper_errors(1, 16, bound="normal")) == pytest.approx(r * n)
    assert float(upper_errors(3.6, 4, bound="normal")) == 4.0
    assert float(upper_errors(3.6, 4)) == pytest.approx(3.6 + 0.67 * 0.4)


@pytest.mark.parametrize("bound", ["c45", "normal", "exact"])
def test_bounds_rise_with_errors_and_fall_with_confidence(bound):
    errors = np.linspace(0, 9, 40)
    assert (np.diff(upper_errors(errors, 20, 0.25, bound)) > 0).all()
    assert (upper_errors(errors, 20, 0.1, bound) > upper_errors(errors, 20, 0.3, bound)).all()
    with pytest.raises(SettingError, match=r"at most 0\.5"):
        upper_errors(1, 2, 0.6, bound)


@given(seeds, forms, gaps, st.sampled_from([0.1, 0.25, 0.5]))
def test_confidence_replaces_subtrees_from_the_bottom_up(seed, form, gap, level):
    _, tree = grown(seed, form, gap)
    bounds = upper_errors(tree.value.sum(axis=1) - tree.value.max(axis=1), tree.value.sum(axis=1), level)

    def walk(node):
        if tree.kind[node] == LEAF:
            return bounds[node], [node]
        parts = [walk(child) for child in tree.children(node)]
        below = sum(errors for errors, _ in parts)
        if bounds[node] <= below + SLACK:
            return bounds[node], [node]
        return below, [leaf for _, leaves in parts for leaf in leaves]

    assert leaves_of(prune_by_confidence(tree, level), tree) == sorted(walk(0)[1])


def side_by_side(tree, other):
    """The nodes of two trees of one shape, in pairs."""
    pairs = [(0, 0)]
    for a, b in pairs:
        pairs += zip(tree.children(a), other.children(b), strict=True)
    return np.array(pairs)


@pytest.mark.syllabus("6.6")
@given(seeds, forms, gaps, st.sampled_from([0.1, 0.25, 0.5]), st.sampled_from(["fractions", "learned"]))
def test_raising_is_the_recursion_of_c45(seed, form, gap, level, missing):
    referee, tree = grown(seed, form, gap, n=40, max_depth=4, missing=missing)
    X = np.array([[np.nan if c is None else c for c in row] for row in referee.cells], dtype=float)
    rows = (X, np.array(referee.target), np.array(referee.weight))
    ours = prune_by_confidence(tree, level, rows=rows)
    theirs = J48(referee, tree, level).pruned()
    pairs = side_by_side(ours, theirs)
    assert len(pairs) == ours.n_nodes == theirs.n_nodes
    for name in ("feature", "kind", "n_children", "threshold", "missing", "n_rows"):
        assert_allclose(getattr(ours, name)[pairs[:, 0]], getattr(theirs, name)[pairs[:, 1]], err_msg=name)
    for name in ("value", "weight", "impurity", "gain"):
        part, other = getattr(ours, name)[pairs[:, 0]], getattr(theirs, name)[pairs[:, 1]]
        assert_allclose(part, other, atol=1e-9, err_msg=name)
    cells = mixed_table(seed + 5, 10, 0.2)[0]
    assert_allclose(visited(ours, cells)[:, pairs[:, 0]], visited(theirs, cells)[:, pairs[:, 1]], atol=1e-9)


def test_raising_happens_in_those_tests():
    raised = 0
    for seed in range(40):
        referee, tree = grown(seed, "groups", 0.0, n=40)
        X = np.array(referee.cells, dtype=float)
        pruned = prune_by_confidence(tree, 0.5, rows=(X, np.array(referee.target), np.array(referee.weight)))
        plain = prune_by_confidence(tree, 0.5)
        raised += pruned.n_nodes != plain.n_nodes
        assert_allclose(visited(pruned, referee.cells).T @ np.array(referee.weight), pruned.weight)
    assert raised >= 3


def test_raising_refuses_other_rows():
    referee, tree = grown(1)
    X = np.array(referee.cells, dtype=float)
    with pytest.raises(DataError, match="the rows that the tree was grown on"):
        prune_by_confidence(tree, rows=(X[:-1], np.array(referee.target)[:-1], None))


# -- every pruning -----------------------------------------------------------------------------------------


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
        prune_by_error(tree, costs),
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
        assert after.value.tolist() == tree.value.tolist()


def test_a_tree_of_many_thousand_nodes_is_pruned_as_its_definition_says():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 4)).astype(np.float32), rng.integers(0, 2, 20_000)
    tree = from_scikit(DecisionTreeClassifier(random_state=0).fit(X, y))
    assert tree.n_nodes > 8_000
    path = cost_complexity_path(tree)
    for s in (1, len(path.alphas) // 2, len(path.alphas) - 2):
        pruned = path.at(path.alphas[s])
        leaf = pruned.kind == LEAF
        assert pruned.n_leaves == path.n_leaves[s]
        risk = (pruned.impurity * pruned.weight)[leaf].sum() / len(y)
        assert path.risks[s] == pytest.approx(risk, rel=1e-9)
    whole, raised = prune_by_confidence(tree), prune_by_confidence(tree, rows=(X, y, None))
    assert raised.n_nodes < whole.n_nodes < tree.n_nodes
    assert raised.value[raised.kind == LEAF].sum() == len(y)


def test_pruning_leaves_the_tree_it_was_given_alone():
    referee, tree = grown(3, "groups", 0.2, n=40)
    copy = replace(tree, **{name: getattr(tree, name).copy() for name in tree.__slots__})
    X = np.array([[np.nan if c is None else c for c in row] for row in referee.cells], dtype=float)
    prune_by_confidence(tree, rows=(X, np.array(referee.target), np.array(referee.weight)))
    prune_by_pessimistic_error(tree, 3.0)
    for name in tree.__slots__:
        np.testing.assert_array_equal(getattr(tree, name), getattr(copy, name))

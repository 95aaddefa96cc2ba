"""The cost-complexity path: against all prunings, scikit-learn's path, and Breiman's choice of
alpha."""

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
    grown,
    leaves_of,
    seeds,
    small,
)
from tests.trees.table_builders import from_scikit, mixed_table
from tests.trees.tree_reference import Referee

from lyceum._core.trees import LEAF
from lyceum.errors import SettingError
from lyceum.trees.pruning.cost_complexity import (
    choose_alpha,
    cost_complexity_path,
    prune_by_complexity,
)

# -- cost-complexity -------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
@given(seeds, forms, st.sampled_from(["impurity", "error", "loss"]))
def test_cost_complexity_is_the_smallest_pruning_of_least_cost_and_leaves(
    seed, form, measure
):
    _, tree = grown(seed, form)
    if not small(tree):
        return
    n = tree.weight / tree.weight[0]
    if measure == "impurity":
        risk = n * tree.impurity
        path = cost_complexity_path(tree)
    else:
        values = 1 - np.eye(3) if measure == "error" else LOSS
        risk = (tree.node_values @ values).min(axis=1) / tree.weight[0]
        path = cost_complexity_path(tree, "error", None if measure == "error" else LOSS)
    ends = np.append(path.alphas[1:], path.alphas[-1] + 1)
    for s, (alpha, end) in enumerate(zip(path.alphas, ends)):
        for a in (alpha, alpha + 0.4 * (end - alpha)):
            pruned = path.at(a)
            least = best_of(
                tree, lambda leaves, a=a: sum(risk[i] + a * (1 + 1e-6) for i in leaves)
            )
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
    kind = (
        DecisionTreeRegressor
        if criterion == "squared_error"
        else DecisionTreeClassifier
    )
    y = (
        rng.normal(size=200)
        if criterion == "squared_error"
        else rng.integers(0, 3, 200)
    )
    model = kind(criterion=criterion, random_state=0).fit(X, y, w)
    theirs = model.cost_complexity_pruning_path(X, y, w)
    path = cost_complexity_path(from_scikit(model))
    alphas, at = _distinct(theirs.ccp_alphas)
    assert_allclose(path.alphas, alphas, rtol=1e-9, atol=1e-12)
    assert_allclose(path.risks, theirs.impurities[at], rtol=1e-9, atol=1e-9)
    middle = (path.alphas[len(alphas) // 2] + path.alphas[len(alphas) // 2 + 1]) / 2
    pruned = kind(criterion=criterion, random_state=0, ccp_alpha=middle).fit(X, y, w)
    assert_allclose(
        prune_by_complexity(from_scikit(model), middle).node_values,
        from_scikit(pruned).node_values,
    )


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
        return from_scikit(
            DecisionTreeClassifier(random_state=0).fit(X[rows], y[rows], w[rows])
        )

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
            wrong[rows] = (
                pruned.node_values.argmax(axis=1)[came.argmax(axis=1)] != y[rows]
            )
        rate = (w * wrong).sum() / w.sum()
        assert choice.risks[s] == pytest.approx(rate)
        assert choice.standard_errors[s] == pytest.approx(
            np.sqrt(rate * (1 - rate) / w.sum())
        )
    within = (
        choice.risks <= choice.risks[choice.best] + choice.standard_errors[choice.best]
    )
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
            [cells[i] for i in rows],
            y[rows],
            kinds,
            criterion="squared_error",
            max_depth=3,
            missing="fractions",
        ).tree()

    def visit(tree, rows):
        return sparse.csr_array(visited(tree, [cells[i] for i in rows]))

    choice = choose_alpha(grow, visit, y, np.arange(40) % 4)
    assert 0 <= choice.best <= choice.chosen < len(choice.risks)
    mean = [
        np.square(y[np.arange(40) % 4 == f] - y[np.arange(40) % 4 != f].mean()).sum()
        for f in range(4)
    ]
    # at infinity only roots are left
    assert choice.risks[-1] == pytest.approx(sum(mean) / 40)


def test_alpha_needs_two_folds():
    with pytest.raises(SettingError, match="at least two folds"):
        choose_alpha(
            lambda rows: None, lambda tree, rows: None, np.arange(3), np.zeros(3)
        )

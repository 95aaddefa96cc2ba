"""Pruning by confidence bounds, subtree replacement and raising against C4.5's recursion."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from tests.trees.growth_reference import visited
from tests.trees.pruning_cases import forms, gaps, grown, leaves_of, seeds
from tests.trees.pruning_reference import J48
from tests.trees.table_builders import mixed_table

from lyceum._core.trees import LEAF
from lyceum.errors import DataError, SettingError
from lyceum.trees.pruning.confidence import SLACK, prune_by_confidence, upper_errors

# -- confidence ------------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
def test_upper_bounds_are_those_of_quinlans_book():
    rates = upper_errors([0, 0, 0, 1], [6, 9, 1, 16]) / [6, 9, 1, 16]
    assert rates == pytest.approx([0.206, 0.143, 0.750, 0.157], abs=5e-4)
    assert float(upper_errors(1, 168)) == pytest.approx(2.610, abs=5e-4)
    assert float(upper_errors([0, 1, 0], [151, 16, 1]).sum()) == pytest.approx(
        4.642, abs=6e-3
    )


def test_the_exact_bound_makes_few_errors_as_improbable_as_said():
    from scipy.stats import binom

    for E, N, level in [(0, 6, 0.25), (1, 16, 0.25), (3, 10, 0.1), (9, 10, 0.25)]:
        rate = float(upper_errors(E, N, level, "exact")) / N
        assert binom.cdf(E, N, rate) == pytest.approx(level)
    assert float(upper_errors(5, 5, bound="exact")) == 5.0


def test_the_normal_bound_is_j48s():
    # Stats.addErrs of Weka: .75 of z = .6745; f = (1 + ½)/16
    z, f, n = 0.6744897501960817, 1.5 / 16, 16
    r = (f + z * z / (2 * n) + z * np.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (
        1 + z * z / n
    )
    assert float(upper_errors(1, 16, bound="normal")) == pytest.approx(r * n)
    assert float(upper_errors(3.6, 4, bound="normal")) == 4.0
    assert float(upper_errors(3.6, 4)) == pytest.approx(3.6 + 0.67 * 0.4)


@pytest.mark.parametrize("bound", ["c45", "normal", "exact"])
def test_bounds_rise_with_errors_and_fall_with_confidence(bound):
    errors = np.linspace(0, 9, 40)
    assert (np.diff(upper_errors(errors, 20, 0.25, bound)) > 0).all()
    assert (
        upper_errors(errors, 20, 0.1, bound) > upper_errors(errors, 20, 0.3, bound)
    ).all()
    with pytest.raises(SettingError, match=r"at most 0\.5"):
        upper_errors(1, 2, 0.6, bound)


@given(seeds, forms, gaps, st.sampled_from([0.1, 0.25, 0.5]))
def test_confidence_replaces_subtrees_from_the_bottom_up(seed, form, gap, level):
    _, tree = grown(seed, form, gap)
    bounds = upper_errors(
        tree.node_values.sum(axis=1) - tree.node_values.max(axis=1),
        tree.node_values.sum(axis=1),
        level,
    )

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
@given(
    seeds,
    forms,
    gaps,
    st.sampled_from([0.1, 0.25, 0.5]),
    st.sampled_from(["fractions", "learned"]),
)
def test_raising_is_the_recursion_of_c45(seed, form, gap, level, missing):
    referee, tree = grown(seed, form, gap, n=40, max_depth=4, missing=missing)
    X = np.array(
        [[np.nan if c is None else c for c in row] for row in referee.cells],
        dtype=float,
    )
    rows = (X, np.array(referee.target), np.array(referee.weight))
    ours = prune_by_confidence(tree, level, rows=rows)
    theirs = J48(referee, tree, level).pruned()
    pairs = side_by_side(ours, theirs)
    assert len(pairs) == ours.n_nodes == theirs.n_nodes
    for name in ("feature", "kind", "n_children", "threshold", "missing", "n_rows"):
        assert_allclose(
            getattr(ours, name)[pairs[:, 0]],
            getattr(theirs, name)[pairs[:, 1]],
            err_msg=name,
        )
    for name in ("value", "weight", "impurity", "gain"):
        part, other = (
            getattr(ours, name)[pairs[:, 0]],
            getattr(theirs, name)[pairs[:, 1]],
        )
        assert_allclose(part, other, atol=1e-9, err_msg=name)
    cells = mixed_table(seed + 5, 10, 0.2)[0]
    assert_allclose(
        visited(ours, cells)[:, pairs[:, 0]],
        visited(theirs, cells)[:, pairs[:, 1]],
        atol=1e-9,
    )


def test_raising_happens_in_those_tests():
    raised = 0
    for seed in range(40):
        referee, tree = grown(seed, "groups", 0.0, n=40)
        X = np.array(referee.cells, dtype=float)
        pruned = prune_by_confidence(
            tree, 0.5, rows=(X, np.array(referee.target), np.array(referee.weight))
        )
        plain = prune_by_confidence(tree, 0.5)
        raised += pruned.n_nodes != plain.n_nodes
        assert_allclose(
            visited(pruned, referee.cells).T @ np.array(referee.weight), pruned.weight
        )
    assert raised >= 3


def test_raising_refuses_other_rows():
    referee, tree = grown(1)
    X = np.array(referee.cells, dtype=float)
    with pytest.raises(DataError, match="the rows that the tree was grown on"):
        prune_by_confidence(tree, rows=(X[:-1], np.array(referee.target)[:-1], None))

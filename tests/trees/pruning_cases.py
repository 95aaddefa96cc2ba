"""Grown trees for the tests of pruning."""

import numpy as np
from hypothesis import strategies as st
from tests.trees.pruning_reference import all_prunings, leaves_under
from tests.trees.table_builders import mixed_table
from tests.trees.tree_reference import Referee

from lyceum._core.trees import LEAF

seeds = st.integers(0, 10_000)
forms = st.sampled_from(["multiway", "groups", "one_vs_rest"])
gaps = st.sampled_from([0.0, 0.2])


def grown(seed, form="multiway", gap=0.0, n=22, **rules):
    table = mixed_table(seed, n, gap)
    usual = {
        "criterion": "entropy",
        "max_depth": 3,
        "missing": "fractions",
        "needs_gain": True,
    }
    referee = Referee(*table, categorical=form, **usual | rules)
    return referee, referee.tree()


def leaves_of(pruned, tree):
    """The nodes of `tree` that are leaves of its pruning."""
    return sorted(leaves_under(tree, pruned))


LOSS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])


def small(tree, most=10):
    """Whether there are few enough inner nodes to try all prunings."""
    return np.count_nonzero(tree.kind != LEAF) <= most


def best_of(tree, cost):
    """The leaves of the smallest pruning of least cost, by trying all."""
    every = [(cost(leaves), len(leaves), leaves) for leaves in all_prunings(tree)]
    least = min(cost for cost, _, _ in every)
    return min(
        (size, sorted(leaves)) for cost, size, leaves in every if cost <= least + 1e-9
    )[1]

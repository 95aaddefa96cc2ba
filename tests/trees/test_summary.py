"""The summary of a tree has its facts, its nodes and every gain considered."""

import numpy as np
import pytest
from tests.trees.tree_builders import Builder

from lyceum._core.trees import (
    CATEGORIES,
    GROUPS,
    INTERVALS,
    THRESHOLD,
    TreeLabels,
    importance_table,
)
from lyceum.data import Schema
from lyceum.trees.reading.summary import gain_tables, node_table, summary_of

SCHEMA = Schema.declare({"a": "continuous", "b": ["x", "y", "z"], "c": "continuous"})


def small():
    builder = Builder(2)
    first, second = builder.split(0, 0, THRESHOLD, threshold=1.5)
    third, fourth = builder.split(second, 1, GROUPS, branches=[0, 1, 0])
    for node, value in {
        0: (4, 6),
        first: (4, 0),
        second: (0, 6),
        third: (0, 2),
        fourth: (0, 4),
    }.items():
        builder.set(
            node,
            node_values=[float(v) for v in value],
            weight=float(sum(value)),
            n_rows=sum(value),
        )
    builder.set(0, impurity=0.48, gain=0.48)
    return builder.tree()


def candidate(column, gain, score, threshold=None):
    return {"column": column, "gain": gain, "score": score, "threshold": threshold}


RECORD = [
    {
        "step": 0,
        "node": 0,
        "objective": 0.48,
        "column": "a",
        "candidates": [
            candidate("a", 0.48, 0.9, 1.5),
            candidate("b", 0.2, 0.4),
            candidate("c", 0.3, 0.95, 2.25),
        ],
    },
    {
        "step": 1,
        "node": 1,
        "objective": 0.0,
        "column": None,
        "candidates": [candidate("c", 0.0, 0.0, 3.0)],
    },
    {
        "step": 2,
        "node": 2,
        "objective": 0.2,
        "column": "b",
        "candidates": [candidate("b", 0.1, 0.1), candidate("a", 0.05, 0.05, 7.0)],
    },
]


@pytest.mark.syllabus("6.8.3")
def test_gain_tables_have_every_candidate_and_mark_the_one_chosen():
    tables = gain_tables(RECORD, small(), SCHEMA)
    assert [table.title for table in tables] == [
        "Gains at node 0: (root)",
        "Gains at node 1: a ≤ 1.5, not split",
        "Gains at node 2: a > 1.5",
    ]
    assert tables[0].rows == [
        ("c", 0.3, 0.95, "≤ 2.25", ""),
        ("a", 0.48, 0.9, "≤ 1.5", "chosen"),
        ("b", 0.2, 0.4, "categories", ""),
    ]
    assert tables[2].rows[0] == ("b", 0.1, 0.1, "x, z | y", "chosen")


def test_splits_of_several_branches_are_described():
    builder = Builder(1)
    first, _, _ = builder.split(0, 0, INTERVALS, n_children=3, cuts=[1.0, 2.0])
    builder.split(first, 1, CATEGORIES, n_children=3, branches=[0, 1, 2])
    record = [
        {
            "step": 0,
            "node": 0,
            "objective": 1.0,
            "column": "a",
            "candidates": [candidate("a", 1.0, 1.0, 1.0)],
        },
        {
            "step": 1,
            "node": 1,
            "objective": 1.0,
            "column": "b",
            "candidates": [candidate("b", 1.0, 1.0)],
        },
    ]
    tables = gain_tables(record, builder.tree(), SCHEMA)
    assert [table.rows[0][3] for table in tables] == [
        "at 1, 2",
        "one branch per category",
    ]


def test_the_summary_has_facts_nodes_and_importances():
    summary = summary_of(
        "a tree",
        TreeLabels(small(), SCHEMA, ["no", "yes"], "gini"),
        importances=np.array([0.7, 0.3, 0.0]),
        record=RECORD,
        facts={"alpha": 0.1},
    )
    assert summary.facts["nodes"] == 5
    assert summary.facts["leaves"] == 3
    assert summary.facts["depth"] == 2
    assert summary.facts["columns tested"] == "2 of 3"
    assert summary.facts["alpha"] == 0.1
    assert [table.title for table in summary.tables[:3]] == [
        "Nodes",
        "Importances",
        "Gains at node 0: (root)",
    ]
    assert summary.tables[1].rows == [("a", 0.7), ("b", 0.3)]
    assert "b in {x, z}" in str(summary)
    assert "<table>" in summary._repr_html_()


def test_a_long_table_of_nodes_is_cut():
    table = node_table(TreeLabels(small(), SCHEMA, ["no", "yes"]), most=2)
    assert table.title == "Nodes (the first 2 of 5)"
    assert len(table.rows) == 2
    assert len(node_table(TreeLabels(small(), SCHEMA)).rows) == 5


def test_importances_are_in_falling_order():
    assert importance_table(np.array([0.1, 0.5, 0.4]), SCHEMA).rows == [
        ("b", 0.5),
        ("c", 0.4),
        ("a", 0.1),
    ]

"""Rows for the tests of binned trees: mixed tables, cut anywhere, and the core's columns of the
same bins."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from lyceum._core.trees import (
    CATEGORIES,
    GROUPS,
    INTERVALS,
    LEAF,
    BinRanges,
    Bins,
    Columns,
    Growth,
    Tree,
    grow,
)
from lyceum.data import Block, Column, Rows, Schema, scan


@dataclass(frozen=True)
class CutSource:
    """One block of rows, cut into parts at some places."""

    block: Block
    at: tuple[int, ...] = ()

    @property
    def schema(self):
        return self.block.schema

    @property
    def n_rows(self):
        return len(self.block)

    def parts(self):
        ends = [
            0,
            *sorted({place for place in self.at if 0 < place < len(self.block)}),
            len(self.block),
        ]
        for start, stop in pairwise(ends):
            keep = np.zeros(len(self.block), dtype=bool)
            keep[start:stop] = True
            yield _Part(replace(self.block.take(keep), start=start))


@dataclass(frozen=True)
class _Part:
    block: Block

    def blocks(self):
        yield self.block


def rows_of(X, y, w=None, n_categories=None, n_classes=None, at=()):
    """Rows of coded cells; `n_categories[j]` is None for a column of numbers."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    kinds = {
        f"x{j}": "continuous" if k is None else [f"c{c}" for c in range(k)]
        for j, k in enumerate(n_categories or [None] * X.shape[1])
    }
    if n_classes is None:
        target, y = Column("y"), np.asarray(y, dtype=np.float64)
    else:
        target = Column("y", "categorical", np.arange(n_classes))
        y = np.asarray(y, dtype=np.int32)
    block = Block(
        X,
        y,
        None if w is None else np.asarray(w, dtype=np.float64),
        0,
        Schema.declare(kinds, target),
    )
    return Rows(CutSource(block, tuple(at)))


def mixed_frame(seed, n=400, gap=0.1, number=False):
    """An Arrow table of four mixed columns, a weight "w" and a target "y"."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.integers(0, 9, n).astype(float) + 1e6
    c, d = rng.integers(0, 7, n), rng.integers(0, 2, n)
    signal = a + 0.3 * (b - 1e6) + np.sin(2.0 * c) + d * a + 0.5 * rng.normal(size=n)
    holes = rng.uniform(size=(4, n)) < gap
    return pa.table(
        {
            "a": pa.array(a, mask=holes[0]),
            "b": pa.array(b, mask=holes[1]),
            "c": pa.array(np.array(list("abcdefg"))[c].tolist(), mask=holes[2]),
            "d": pa.array(np.array(["no", "yes"])[d].tolist(), mask=holes[3]),
            "w": rng.integers(0, 3, n).astype(float),
            "y": signal + 1e6
            if number
            else np.array(["u", "v", "w"])[np.floor(signal).astype(int) % 3],
        }
    )


def scanned(table, weight=None, **settings):
    """The rows of a table or a file; its target "y", its weights "w" or none."""
    drop = {} if weight else {"ignore": ["w"]}
    return scan(
        table, "y", weight=weight, kinds={"b": "continuous"}, **drop, **settings
    )


def tree_of_the_core(rows: Rows, bins: Bins, growth: Growth, n_classes=None) -> Tree:
    """The tree that the exact core grows on the same bins."""
    sample = rows.in_one_block("A test", "fewer rows")
    offsets = bins.offsets
    ranges = rows.reduce(lambda block: BinRanges.of(block, bins, offsets))
    places = [
        slice(start, start if is_category else stop - 1)
        for start, stop, is_category in zip(offsets, offsets[1:], bins.is_category)
    ]
    columns = Columns(
        np.ascontiguousarray(
            np.concatenate([bins.code(block) for block in rows.blocks()]).T
        ),
        bins.n_bins,
        bins.is_category,
        tuple(ranges.low[place] for place in places),
        tuple(np.maximum.accumulate(ranges.high[place]) for place in places),
    )
    return grow(columns, sample.y, sample.w, growth, n_classes)


def walked(tree: Tree) -> list[int]:
    """The nodes, a parent before its children and these in their order."""
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting += (
            list(tree.children(order[-1]))[::-1] if tree.kind[order[-1]] != LEAF else []
        )
    return order


def assert_same(one: Tree, two: Tree, rtol=1e-9, atol=1e-9) -> None:
    """The same tree, however its nodes are numbered."""
    first, second = walked(one), walked(two)
    for name in ("feature", "kind", "missing", "n_children", "n_rows"):
        np.testing.assert_array_equal(
            getattr(one, name)[first], getattr(two, name)[second], err_msg=name
        )
    for name in ("threshold", "value", "weight", "impurity", "gain"):
        np.testing.assert_allclose(
            getattr(one, name)[first],
            getattr(two, name)[second],
            rtol=rtol,
            atol=atol,
            err_msg=name,
        )
    for i, j in zip(first, second):
        np.testing.assert_array_equal(_branches(one, i), _branches(two, j))
        np.testing.assert_allclose(_cuts(one, i), _cuts(two, j), rtol=1e-12)


def _branches(tree, node):
    start = tree.table[node]
    return (
        tree.branches[start : start + tree.n_codes[node]]
        if tree.kind[node] in (CATEGORIES, GROUPS)
        else []
    )


def _cuts(tree, node):
    start = tree.table[node]
    return (
        tree.cuts[start : start + tree.n_children[node] - 1]
        if tree.kind[node] == INTERVALS
        else []
    )

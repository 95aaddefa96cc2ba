"""Rows cut into blocks, as any source may cut them."""

from functools import reduce
from itertools import pairwise

import numpy as np

from lyceum.data import Block, Schema


def block_of(X, w=None, start=0, y=None):
    names = [f"x{j}" for j in range(X.shape[1])]
    return Block(X, y, w, start, Schema.of_numbers(names))


def cut(X, w=None, at=()):
    """Blocks of X that begin at 0 and at the places `at`."""
    ends = [
        0,
        *sorted({int(place) for place in at if 0 < place < X.shape[0]}),
        X.shape[0],
    ]
    return [
        block_of(X[a:b], None if w is None else w[a:b], a) for a, b in pairwise(ends)
    ]


def fold(of, blocks):
    """The summaries of the blocks, merged in order."""
    return reduce(lambda one, two: one.merge(two), map(of, blocks))


def repeated(X, w):
    """Every row as often as its whole-number weight says."""
    return np.repeat(X, w.astype(int), axis=0)

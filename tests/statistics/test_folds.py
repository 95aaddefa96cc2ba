"""Statistics by fold: folds follow from row numbers, and together they are all rows."""

from functools import partial

import numpy as np
import pytest

from lyceum._core.statistics import (
    FoldStatistics,
    fold_numbers,
    held_out_rows,
    row_uniforms,
)
from lyceum.data import Block, Schema
from lyceum.statistics import Moments


def block_of(X, start=0):
    return Block(X, None, None, start, Schema.of_numbers(["x", "z"]))


def test_a_row_has_the_same_fold_in_any_block():
    X = np.zeros((500, 2))
    whole = fold_numbers(block_of(X), 7, 3)
    assert sorted(set(whole)) == list(range(7))
    np.testing.assert_array_equal(
        fold_numbers(block_of(X[:90], start=410), 7, 3), whole[410:]
    )


def test_every_statistic_is_that_of_the_rows_of_its_fold():
    X = np.random.default_rng(0).normal(size=(400, 2))
    of = partial(FoldStatistics.of, statistic=Moments.of, n_folds=4, seed=1)
    folds = of(block_of(X[:150])).merge(of(block_of(X[150:], start=150)))
    fold = fold_numbers(block_of(X), 4, 1)
    for f in range(4):
        np.testing.assert_allclose(folds.folds[f].mean, X[fold == f].mean(axis=0))
        np.testing.assert_allclose(folds.without(f).mean, X[fold != f].mean(axis=0))
    np.testing.assert_allclose(folds.total.mean, X.mean(axis=0))
    assert folds.total.n_rows == 400


@pytest.mark.parametrize("fraction", [0.1, 0.5])
def test_about_a_fraction_is_held_out_and_seeds_differ(fraction):
    held = held_out_rows(0, 5000, fraction, 1)
    assert abs(held.mean() - fraction) < 0.03
    assert (held != held_out_rows(0, 5000, fraction, 2)).any()
    np.testing.assert_array_equal(held, row_uniforms(0, 5000, 1) <= fraction)

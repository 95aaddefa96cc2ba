"""Statistics by fold: folds follow from row numbers, and together they are all rows."""

from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold

from lyceum._core.statistics import (
    FoldStatistics,
    fold_numbers,
    folds_of,
    given_folds,
    given_splits,
    held_out_rows,
    row_splits,
    row_uniforms,
)
from lyceum._core.statistics.folds.cv_folds import (
    ConsecutiveFolds,
    GivenSplits,
    _SidesOfSplits,
)
from lyceum.data import Block, Schema, scan
from lyceum.errors import SettingError
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


# -- the parameter cv ------------------------------------------------------------------

CELLS = np.random.default_rng(3).normal(size=(23, 2))
SPLITS = [([0, 1, -1], [5, 6]), ([10, 11, 12], np.arange(23) < 4)]


@pytest.mark.parametrize("cv", [4, SPLITS])
@pytest.mark.parametrize("blocks", [1, 3])
def test_folds_have_the_statistics_of_their_rows(cv, blocks):
    rows = scan(CELLS)
    folds = folds_of(cv, rows, seed=5)
    found = folds.statistics(rows, Moments.of)
    np.testing.assert_allclose(found.total.mean, CELLS.mean(axis=0))
    assert len(found.pairs) == folds.n_splits == (4 if cv == 4 else 2)
    is_test = np.zeros((folds.n_splits, 23), dtype=bool)
    start = 0
    for size in np.diff(np.linspace(0, 23, blocks + 1).astype(int)):
        block = block_of(CELLS[start : start + size], start=start)
        for k, chosen in enumerate(folds.test_rows(block)):
            is_test[k, start : start + size] = chosen
        start += size
    parts = list(folds.parts(rows))
    assert len(parts) == folds.n_splits
    for k, (train, test) in enumerate(found.pairs):
        is_train = ~is_test[k]
        if cv != 4:
            is_train = np.isin(np.arange(23), [[0, 1, 22], [10, 11, 12]][k])
        np.testing.assert_allclose(test.mean, CELLS[is_test[k]].mean(axis=0))
        np.testing.assert_allclose(train.mean, CELLS[is_train].mean(axis=0))
        assert (train.n_rows, test.n_rows) == (is_train.sum(), is_test[k].sum())
        for side, chosen in zip(parts[k], (is_train, is_test[k])):
            cells = np.concatenate([block.X for block in side.blocks()])
            np.testing.assert_array_equal(cells, CELLS[chosen])


@pytest.mark.parametrize("n_folds", [2, 4, 23])
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_number_is_the_folds_of_scikit_learn_in_one_pass(n_folds, blocks):
    rows = scan(CELLS)
    folds = given_folds(n_folds, rows)
    assert isinstance(folds, ConsecutiveFolds)
    splits = GivenSplits.of(n_folds, rows, False)
    start = 0
    for size in np.diff(np.linspace(0, 23, blocks + 1).astype(int)):
        block = block_of(CELLS[start : start + size], start=start)
        pairs = zip(folds.test_rows(block), splits.test_rows(block), strict=True)
        assert all(np.array_equal(own, theirs) for own, theirs in pairs)
        start += size
    found = folds.statistics(rows, Moments.of)
    expected = splits.statistics(rows, Moments.of)
    for own, theirs in zip(found.pairs, expected.pairs, strict=True):
        for side, other in zip(own, theirs, strict=True):
            assert side.n_rows == other.n_rows
            np.testing.assert_allclose(side.mean, other.mean)
    with pytest.raises(SettingError, match="must be a number of folds"):
        given_folds(24, rows)


def test_sides_of_splits_merge_side_by_side():
    splits = GivenSplits.of(SPLITS, scan(CELLS), False)
    of = partial(_SidesOfSplits.of, statistic=Moments.of, splits=splits)
    whole = of(block_of(CELLS))
    merged = of(block_of(CELLS[:6])).merge(of(block_of(CELLS[6:], start=6)))
    for one, other in zip(whole.parts, merged.parts):
        assert one.n_rows == other.n_rows
        np.testing.assert_allclose(one.mean, other.mean)
    assert whole.is_finite
    cells = CELLS.copy()
    cells[3] = np.inf
    with np.errstate(all="ignore"):
        assert not of(block_of(cells)).is_finite


def test_the_statistics_of_folds_are_finite_if_all_are():
    cells = CELLS.copy()
    cells[20] = np.inf
    of = partial(FoldStatistics.of, statistic=Moments.of, n_folds=3, seed=1)
    assert of(block_of(CELLS)).is_finite
    with np.errstate(all="ignore"):
        assert not of(block_of(cells)).is_finite


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 23], "row 23, which does not exist: there are 23 rows"),
        ([0, -24], "row -24, which does not exist"),
        ([0.0, 1.0], "numbers of rows, or one true/false per row"),
        ([[0, 1]], "numbers of rows, or one true/false per row"),
        ([True, False], "numbers of rows, or one true/false per row"),
    ],
)
def test_rows_that_are_not_there_are_refused(rows, message):
    with pytest.raises(SettingError, match=message):
        given_splits([(rows, [1])], 23)
    with pytest.raises(SettingError, match=message):
        given_splits([([1], rows)], 23)


def test_the_first_and_the_last_row_may_be_named_from_both_ends():
    ((train, test),) = given_splits([([0, 22], [-23, -1])], 23)
    assert (train.tolist(), test.tolist()) == ([0, 22], [-23, -1])
    ((nothing, _),) = given_splits([([], [1])], 23)
    assert nothing.tolist() == []
    assert nothing.dtype == np.intp


def test_splits_are_needed():
    with pytest.raises(SettingError, match="has no splits"):
        given_splits([], 23)
    with pytest.raises(SettingError, match="fit 3 rows"):
        given_splits(7, 3)


def test_numbers_are_stratified_for_classifiers_alone():
    y = np.repeat([0, 1], [4, 8])
    for classifier, shares in ((True, [1, 1, 1, 1]), (False, [3, 1, 0, 0])):
        splits = given_splits(4, 12, y, classifier=classifier)
        assert [int((y[test] == 0).sum()) for _, test in splits] == shares
    assert len(given_splits(None, 12, y)) == 5
    groups = np.repeat([0, 1, 2], 4)
    for train, test in given_splits(GroupKFold(3), 12, y, groups):
        assert not set(groups[train]) & set(groups[test])


def test_a_splitter_is_shown_the_table_that_is_given():
    class Shown:
        def split(self, X, y=None, groups=None):
            self.X = X
            yield [0], [1]

        def get_n_splits(self, *arguments):
            return 1

    splitter = Shown()
    given_splits(splitter, 3)
    assert splitter.X.shape == (3, 1)
    assert not splitter.X.any()
    table = np.eye(3)
    given_splits(splitter, 3, X=table)
    assert splitter.X is table


def test_rows_without_a_target_are_drawn_by_the_seed():
    splits = row_splits(np.int64(3), 10, seed=2**31 + 4)
    expected = KFold(3, shuffle=True, random_state=4).split(np.zeros((10, 1)))
    for (train, test), (other_train, other_test) in zip(splits, expected, strict=True):
        np.testing.assert_array_equal(train, other_train)
        np.testing.assert_array_equal(test, other_test)
    # no more folds than rows
    assert len(row_splits(9, 4, seed=0)) == 4
    ((_, test),) = row_splits([([0, 1], [2])], 3, seed=0)
    assert test.tolist() == [2]

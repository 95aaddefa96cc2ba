"""Training and test rows never overlap; shares are kept; classes of any size are taken."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import (
    Bootstrap,
    FiveByTwo,
    Holdout,
    RandomSubsampling,
    StratifiedFolds,
    corrected_t,
    cross_validate,
    splitter,
    train_validation_test,
)

SCHEMES = ("holdout", "subsampling", "k_fold", "stratified", "bootstrap", "five_by_two")
labels = st.lists(st.sampled_from("abc"), min_size=10, max_size=40)


@pytest.mark.syllabus("1.5.2", "14.5")
@settings(max_examples=40, deadline=None)
@given(labels, st.integers(0, 99))
def test_training_and_test_rows_never_overlap_and_are_never_empty(y, seed):
    y = np.array(y)
    for scheme in (*SCHEMES, "leave_one_out"):
        for train, test in splitter(scheme, random_state=seed).split(y, y):
            assert not set(train.tolist()) & set(test.tolist())
            assert len(train)
            assert len(test)
            assert max(train.max(), test.max()) < len(y)


@pytest.mark.syllabus("1.5.3")
@settings(max_examples=60, deadline=None)
@given(labels, st.integers(2, 10), st.integers(0, 99))
def test_folds_partition_rows_and_deal_every_class_evenly(y, k, seed):
    y = np.array(y)
    tests = [test for _, test in StratifiedFolds(k, random_state=seed).split(y, y)]
    assert sorted(np.concatenate(tests)) == list(range(len(y)))
    assert np.ptp([len(test) for test in tests]) <= 1
    for label in np.unique(y):
        assert np.ptp([(y[test] == label).sum() for test in tests]) <= 1


@pytest.mark.syllabus("1.5.1")
@settings(max_examples=60, deadline=None)
@given(labels, st.floats(0.05, 0.9), st.integers(0, 99))
def test_holdout_keeps_class_shares_and_one_row_of_every_class_to_learn_from(
    y, share, seed
):
    y = np.array(y)
    [(train, test)] = Holdout(test_size=share, random_state=seed).split(y, y)
    n_test = int(np.clip(round(share * len(y)), 1, len(y) - 1))
    assert len(test) == n_test
    if n_test <= len(y) - len(np.unique(y)):
        assert set(y[train]) == set(y)
    sizes = np.array([(y == label).sum() for label in np.unique(y)])
    if (sizes * share).min() >= 1 and (sizes * (1 - share)).min() >= 2:
        taken = [(y[test] == label).sum() for label in np.unique(y)]
        assert np.abs(taken - sizes * n_test / len(y)).max() < 1.0


def test_a_class_with_one_row_is_kept_for_training():
    y = np.array([0] * 20 + [1])
    for train, _ in RandomSubsampling(20, test_size=0.5, random_state=0).split(y, y):
        assert 20 in train


@pytest.mark.syllabus("1.5.1")
def test_train_validation_and_test_share_no_row_and_have_their_shares():
    y = np.repeat(["a", "b"], [60, 40])
    parts = train_validation_test(y, random_state=0)
    assert [len(part) for part in parts] == [60, 20, 20]
    assert sorted(np.concatenate(parts)) == list(range(100))
    assert [(y[part] == "a").sum() for part in parts] == [36, 12, 12]
    assert [len(part) for part in train_validation_test(3)] == [1, 1, 1]


@pytest.mark.syllabus("1.5.4")
def test_bootstrap_draws_n_rows_and_tests_the_ones_left_out():
    X = np.zeros(200)
    shares = []
    for train, test in Bootstrap(50, random_state=0).split(X):
        assert len(train) == 200
        assert sorted({*train, *test}) == list(range(200))
        shares.append(len(test) / 200)
    assert np.mean(shares) == pytest.approx(np.exp(-1), abs=0.01)


def test_bootstrap_always_draws_two_classes_where_there_are_two():
    y = np.array([0] * 9 + [1])
    assert all(
        len(set(y[train])) == 2
        for train, _ in Bootstrap(50, random_state=0).split(y, y)
    )
    assert len(list(Bootstrap(5, random_state=0).split(np.zeros(2), [0, 1]))) == 5


@pytest.mark.syllabus("1.5.4")
def test_five_by_two_is_five_halvings_used_both_ways():
    y = np.arange(20) % 2
    pairs = list(FiveByTwo(random_state=0).split(y, y))
    assert len(pairs) == FiveByTwo().get_n_splits() == 10
    for (a, b), (c, d) in zip(pairs[::2], pairs[1::2]):
        assert np.array_equal(a, d)
        assert np.array_equal(b, c)
        assert y[a].mean() == 0.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_seed_gives_the_same_splits_every_time(scheme):
    y = np.arange(30) % 3
    scheme = splitter(scheme, random_state=7)
    first, second = (
        [np.concatenate(pair) for pair in scheme.split(y, y)] for _ in range(2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, second))


def test_splitters_work_inside_scikit_learn():
    X = np.random.default_rng(0).normal(size=(40, 2))
    scores = cross_val_score(
        LinearRegression(), X, X @ [1.0, 2.0], cv=StratifiedFolds(4, random_state=0)
    )
    assert scores == pytest.approx(np.ones(4))
    assert repr(Bootstrap(3)) == "Bootstrap(n_splits=3, random_state=0)"


def test_numeric_targets_are_not_stratified():
    y = np.random.default_rng(0).normal(size=21)
    sizes = [len(test) for _, test in StratifiedFolds(4, random_state=0).split(y, y)]
    assert sorted(sizes) == [5, 5, 5, 6]


def test_impossible_splits_say_why():
    y = np.arange(5)
    with pytest.raises(DataError, match="6 folds of 5 rows"):
        list(StratifiedFolds(6).split(y, y))
    with pytest.raises(DataError, match="1 row cannot"):
        list(Holdout().split([0], [0]))
    with pytest.raises(SettingError, match="a share between 0 and 1"):
        list(Holdout(test_size=1.5).split(y, y))
    with pytest.raises(SettingError, match="sum to 1"):
        train_validation_test(10, shares=(0.5, 0.5, 0.5))
    with pytest.raises(SettingError, match="needs y"):
        list(Holdout(stratify=True).split(y))
    with pytest.raises(SettingError, match="'leave_one_out'"):
        splitter("jackknife")


@pytest.mark.syllabus("1.5")
@pytest.mark.parametrize(
    "scheme",
    [StratifiedFolds, FiveByTwo, Bootstrap, RandomSubsampling, Holdout],
)
def test_a_splitter_drawn_twice_gives_the_same_splits(scheme):
    y = np.repeat([0, 1], 30)
    first = list(scheme().split(y, y))
    again = list(scheme().split(y, y))
    for (train, test), (train_2, test_2) in zip(first, again, strict=True):
        assert_array_equal(train, train_2)
        assert_array_equal(test, test_2)
    fresh = [list(scheme(random_state=None).split(y, y)) for _ in range(2)]
    assert any(not np.array_equal(a[1], b[1]) for a, b in zip(*fresh))


@pytest.mark.syllabus("14.6")
def test_the_paired_test_takes_its_own_advice():
    X, y = load_iris(return_X_y=True)
    folds = StratifiedFolds(10)
    results = [
        cross_validate(model, X, y, cv=folds)
        for model in (GaussianNB(), DecisionTreeClassifier(random_state=0))
    ]
    assert corrected_t(*results).df == 9


@pytest.mark.parametrize("shares", [(0.01, 0.98, 0.01), (0.98, 0.01, 0.01)])
@pytest.mark.parametrize("n", [3, 4, 10])
def test_each_of_three_parts_has_a_row_whatever_the_shares(n, shares):
    parts = train_validation_test(n, shares=shares, random_state=0)
    assert min(len(part) for part in parts) >= 1
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))

"""Bags that are given, and the votes of their members."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import lyceum
from lyceum.bayes import NaiveBayes
from lyceum.ensemble import BaggingClassifier, BaggingRegressor
from lyceum.errors import SettingError
from lyceum.trees import DecisionTreeClassifier

X, Y = load_iris(return_X_y=True)
Z, T = load_diabetes(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]

# Tan, Steinbach and Kumar, Introduction to Data Mining, section 5.6.4: ten bags of the tenths
# from .1 to 1, a stump on each, and what their ±1 votes sum to
TENTHS = np.arange(1, 11)
ROUND_SIGNS = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, 1])
BAGS = [
    [1, 2, 2, 3, 4, 4, 5, 6, 9, 9],
    [1, 2, 3, 4, 5, 5, 9, 10, 10, 10],
    [1, 2, 3, 4, 4, 5, 7, 7, 8, 9],
    [1, 1, 2, 4, 4, 5, 5, 7, 8, 9],
    [1, 1, 2, 5, 6, 6, 6, 10, 10, 10],
    [2, 4, 5, 6, 7, 7, 7, 8, 9, 10],
    [1, 4, 4, 6, 7, 8, 9, 9, 9, 10],
    [1, 2, 5, 5, 5, 7, 7, 8, 9, 10],
    [1, 3, 4, 4, 6, 7, 7, 8, 10, 10],
    [1, 1, 1, 1, 3, 3, 8, 8, 9, 9],
]


@pytest.mark.syllabus("11.3.1")
def test_ten_given_bags_of_the_textbook_have_its_vote_sums():
    stump = DecisionTreeClassifier(max_depth=1)
    bags = [np.array(bag) - 1 for bag in BAGS]
    X = TENTHS[:, None] / 10
    model = BaggingClassifier(stump, bags=bags).fit(X, ROUND_SIGNS)
    assert len(model.estimators_) == 10
    for given, kept in zip(bags, model.estimators_samples_):
        np.testing.assert_array_equal(given, kept)
    sums = model.vote_sums(X)
    assert (sums[:, 1] - sums[:, 0]).tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    table = model.vote_table(X)
    assert [row[-1] for row in table.rows] == ROUND_SIGNS.tolist()
    said = np.array([row[1:11] for row in table.rows])
    assert said.sum(axis=1).tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    # the first round: + up to .35, the last: + everywhere
    assert said[:, 0].tolist() == [1, 1, 1, -1, -1, -1, -1, -1, -1, -1]
    assert said[:, 9].tolist() == [1] * 10
    assert "given bags of 10 to 10 rows" in str(model.summary())


def test_the_bags_that_were_drawn_may_be_given():
    drawn = BaggingClassifier(
        NaiveBayes(),
        5,
        max_samples=0.5,
        max_features=0.5,
        oob_score=True,
        random_state=0,
    ).fit(X, NAMES)
    given = BaggingClassifier(
        NaiveBayes(),
        bags=drawn.estimators_samples_,
        max_features=0.5,
        oob_score=True,
        random_state=0,
    ).fit(X, NAMES)
    np.testing.assert_array_equal(given.predict_proba(X), drawn.predict_proba(X))
    assert given.oob_score_ == drawn.oob_score_
    numbers = BaggingRegressor(bags=[[0, 1, 2], [5, 5, 9]]).fit(Z, T)
    assert [len(rows) for rows in numbers.estimators_samples_] == [3, 3]


def test_rows_of_no_weight_are_in_no_bag(tmp_path):
    w = np.r_[0.0, np.ones(149)]
    bags = [[0, 0, 60, 120], [1, 70, 140]]
    model = BaggingClassifier(NaiveBayes(), bags=bags).fit(X, NAMES, w)
    assert [rows.tolist() for rows in model.estimators_samples_] == [
        [60, 120],
        [1, 70, 140],
    ]
    lyceum.save(model, tmp_path / "bag.lyceum")
    loaded = lyceum.load(tmp_path / "bag.lyceum")
    np.testing.assert_array_equal(loaded.vote_sums(X), model.vote_sums(X))
    again = clone(model).fit(X, NAMES, w)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bags": [[0, 150]]}, r"bags\[0\] has row 150, but .* from 0 to 149"),
        ({"bags": [[0, 1], [-1]]}, r"bags\[1\] has row -1"),
        ({"bags": [[0, 1], []]}, r"bags\[1\] must be a list of row numbers"),
        ({"bags": [[0.5]]}, r"bags\[0\] must be a list of row numbers"),
        ({"bags": []}, "bags is empty"),
        ({"bags": [[0]], "max_samples": 5}, "leave max_samples and bootstrap"),
        ({"bags": [[0]], "bootstrap": False}, "leave max_samples and bootstrap"),
    ],
)
def test_bags_that_name_no_rows_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        BaggingClassifier(**settings).fit(X, NAMES)
    with pytest.raises(SettingError, match="no row with a positive weight"):
        BaggingClassifier(bags=[[3], [0]]).fit(X, NAMES, np.r_[0.0, np.ones(149)])


def test_a_model_file_from_before_bags_could_be_given_still_loads():
    draws = BaggingClassifier(n_estimators=2, random_state=0).fit(X, NAMES).draws_
    older = object.__new__(type(draws))
    older.__setstate__(draws.__getstate__()[:-1])
    assert older.equals(draws)

"""Class weights, and the predicted class against the runner-up."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from lyceum._core.probability import class_weight_factors, runner_up, runner_up_odds
from lyceum.errors import SettingError


def test_balanced_factors_are_those_of_scikit_learn():
    y = np.repeat(["a", "b", "c"], [2, 5, 13])
    weight = np.array([2.0, 5.0, 13.0])
    expected = compute_class_weight("balanced", classes=np.array(["a", "b", "c"]), y=y)
    np.testing.assert_allclose(
        class_weight_factors("balanced", ["a", "b", "c"], weight), expected
    )


def test_a_class_without_rows_has_the_factor_one_and_a_dict_names_some():
    assert class_weight_factors("balanced", [0, 1], np.array([4.0, 0.0])).tolist() == [
        0.5,
        1.0,
    ]
    assert class_weight_factors({1: 3}, [0, 1], None).tolist() == [1.0, 3.0]
    assert class_weight_factors(None, [0, 1], None) is None
    with pytest.raises(SettingError, match="names the class 2"):
        class_weight_factors({2: 3}, [0, 1], None)


@pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf, "much", None])
def test_a_factor_is_a_finite_number_of_at_least_0(factor):
    with pytest.raises(
        SettingError, match="for the class 'b': give a finite number of at least 0"
    ):
        class_weight_factors({"a": 1, "b": factor}, ["a", "b"], None)


def test_some_class_must_have_a_weight():
    assert class_weight_factors({"a": 0}, ["a", "b"], None).tolist() == [0.0, 1.0]
    with pytest.raises(SettingError, match="class_weight is 0 for every class"):
        class_weight_factors({"a": 0, "b": 0}, ["a", "b"], None)


def test_the_runner_up_is_the_next_best_and_ties_go_to_the_first():
    best, second = runner_up(
        np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 2.0], [-np.inf, 0.0, -np.inf]])
    )
    assert best.tolist() == [1, 0, 1]
    assert second.tolist() == [2, 1, 0]
    assert [places.tolist() for places in runner_up(np.zeros((2, 1)))] == [
        [0, 0],
        [0, 0],
    ]


def test_base_and_columns_sum_to_the_log_odds():
    rng = np.random.default_rng(0)
    terms, constant = rng.normal(size=(20, 4, 3)), rng.normal(size=4)
    odds = runner_up_odds(terms, constant)
    joint = np.sort(constant + terms.sum(axis=2), axis=1)
    np.testing.assert_allclose(odds[:, 1:].sum(axis=1), joint[:, -1] - joint[:, -2])


def test_a_cell_that_is_impossible_in_both_classes_adds_nothing():
    terms = np.array([[[-np.inf, 1.0], [-np.inf, 0.0]]])
    assert runner_up_odds(terms, np.zeros(2))[0, 1:].tolist()[1] == 0.0

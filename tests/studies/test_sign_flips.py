"""The permutation test that compares learners on few folds: exact for few pairs, and of its
level."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.studies.fake_studies import fake_study

from lyceum.evaluate import error_interval, hoeffding_bound
from lyceum.studies.compare.difference_tests import holm, max_t, sign_flip
from lyceum.studies.report.format import gap_text


def test_sign_flips_of_few_pairs_are_counted_and_of_many_approximated():
    assert sign_flip(np.array([1.0, 1.0, 1.0, 1.0])) == 2 / 16
    assert sign_flip(np.array([1.0, -1.0])) == 1.0
    assert sign_flip(np.zeros(5)) == 1.0
    d = np.random.default_rng(0).normal(0.15, 1.0, 400)
    t = d.sum() / np.sqrt(d @ d)
    assert sign_flip(d) == pytest.approx(2 * stats.norm.sf(t), abs=0.01)


@pytest.mark.parametrize(("wins", "losses"), [(9, 5), (25, 15), (30, 18), (60, 40)])
@pytest.mark.parametrize("size", [1.0, 0.37])
def test_ties_with_the_observed_sum_count_as_in_the_exact_sign_test(wins, losses, size):
    d = size * np.repeat([1.0, -1.0], [wins, losses])
    p = stats.binomtest(wins, wins + losses).pvalue
    assert sign_flip(d) == pytest.approx(p, abs=3 * np.sqrt(p * (1 - p) / 4999))


def test_sign_flips_hold_their_level():
    g = np.random.default_rng(4)
    p = [sign_flip(g.standard_t(2, 15)) for _ in range(200)]
    assert np.mean(np.array(p) < 0.05) <= 0.09


def test_with_groups_tests_and_intervals_count_groups():
    group = np.repeat(np.arange(24), 15)
    y = (np.arange(24) // 4 % 2)[group]
    right = group % 8 < 5  # 15 of 24 groups, each with all its rows
    predicted = {"a": np.where(right, y, 1 - y) * 0.8 + 0.1}
    by_rows, grouped = (
        fake_study(y, predicted, folds=4, groups=g) for g in (None, group)
    )
    found = grouped.comparison["a"]
    assert by_rows.comparison["a"].p_baseline < 0.01
    assert found.p_baseline > 0.05
    assert found.p_mcnemar is None
    wide = error_interval(9, 24)
    assert found.interval == pytest.approx((wide.low, wide.high), rel=0.05)
    assert found.standard_error == pytest.approx(np.sqrt(9 / 24 * 15 / 24 / 23))
    assert grouped.comparison.hoeffding == pytest.approx(
        hoeffding_bound(n=24, alpha=0.05, n_models=2).within
    )
    assert grouped.comparison.n_groups == 24
    assert "take the 24 groups, not the 360 rows, as independent" in grouped.text
    assert "groups" not in by_rows.text


def test_groups_without_likeness_are_worth_their_rows():
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 2, 400), np.repeat(np.arange(80), 5)
    predicted = np.where(rng.random(400) < 0.7, y, 1 - y) * 0.8 + 0.1
    by_rows, by_groups = (
        fake_study(y, {"a": predicted}, folds=5, groups=g).comparison["a"]
        for g in (None, group)
    )
    assert by_groups.standard_error == pytest.approx(by_rows.standard_error, rel=0.1)
    assert by_groups.interval == pytest.approx(by_rows.interval, rel=0.03)


def _max_t_by_definition(differences):
    """Every pattern of signs in plain loops, the largest difference first."""
    n, m = differences.shape
    spread = np.sqrt((differences**2).sum(axis=0))
    observed = np.abs(differences.sum(axis=0)) / spread
    patterns = list(itertools.product([1.0, -1.0], repeat=n))
    order = sorted(range(m), key=lambda j: -observed[j])
    p, largest = {}, 0.0
    for k, j in enumerate(order):
        rest = order[k:]
        extreme = 0
        for signs in patterns:
            t = [abs(np.dot(signs, differences[:, i])) / spread[i] for i in rest]
            extreme += max(t) >= observed[j] - 1e-9
        largest = max(largest, extreme / len(patterns))
        p[j] = largest
    return [p[j] for j in range(m)]


def test_max_t_is_the_step_down_test_of_all_patterns_of_signs():
    g = np.random.default_rng(1)
    d = g.normal([0.9, 0.5, 0.0], 1.0, (9, 3))
    assert max_t(d) == pytest.approx(_max_t_by_definition(d))
    assert max_t(np.column_stack([d[:, 0], d[:, 0]])) == [sign_flip(d[:, 0])] * 2


@pytest.mark.parametrize("n", [60, 2500])
def test_max_t_holds_its_level_and_has_more_power_than_holm(n):
    g = np.random.default_rng(2)
    common = g.normal(size=(200, n, 1))
    none = common + 0.5 * g.normal(size=(200, n, 8))
    assert np.mean([min(max_t(d)) < 0.05 for d in none[:100]]) <= 0.11
    # eight learners that err on the same rows are one question, not eight
    d = none[0] - none[0].mean(axis=0) + 2.4 / np.sqrt(n)
    single = [sign_flip(d[:, j]) for j in range(8)]
    assert max(max_t(d)) < 0.6 * max(holm(single))


def _p_against_the_first(better, worse):
    """The adjusted p-value of b against a, by RMSE, for errors of a and b."""
    y = np.where(np.arange(len(better)) % 2, 50.0, -50.0)
    found = fake_study(y, {"a": y + better, "b": y + worse})
    names = [learner.name for learner in found.comparison.learners]
    assert names == ["a", "b", "constant"]
    return found.comparison.learners[1].p_adjusted


def test_a_difference_of_errors_is_shown_by_absolute_or_by_squared_ones():
    g = np.random.default_rng(5)
    # small errors in most rows, large ones in a tenth: by absolute errors b seems the better one
    large = g.random(300) < 0.1
    even = g.normal(0.0, 1.0, 300)
    uneven = np.where(large, 6.0, 0.1) * g.normal(0.0, 1.0, 300)
    assert np.abs(uneven).mean() < np.abs(even).mean()
    assert _p_against_the_first(even, uneven) < 0.05
    # a few large errors of both decide the sum of squares, but most of those of b are larger
    g = np.random.default_rng(9)
    first = np.minimum(np.abs(g.standard_t(1.5, 300)), 60.0)
    second = first * np.exp(g.normal(0.15, 0.5, 300))
    assert sign_flip(second**2 - first**2) > 0.05
    assert _p_against_the_first(first, second) < 0.05


def test_differences_of_rounding_are_level_and_the_simplest_is_chosen():
    y = np.linspace(1990.0, 2015.0, 200)
    rounding = np.where(np.arange(200) % 2, 1e-13, -1e-13)
    predictions = {"a": y + rounding, "b": y + 2 * rounding, "c": y + 1e-4}
    sizes = {"a": 90, "b": 3, "c": 1}
    found = fake_study(y, predictions, complexity=sizes, choose="simplest")
    by_name = {s.name: s for s in found.comparison.learners}
    assert by_name["b"].is_level
    assert found.comparison.choice == "b"
    assert (
        "at most 1 %, or a millionth of the constant guess's"
        in found.comparison.choice_reason
    )
    assert not by_name["c"].is_level
    far = replace(by_name["c"], difference=3e-7, difference_error=1e-9)
    assert gap_text(found.comparison, far) == "behind by 3e-07 ± 2e-09"

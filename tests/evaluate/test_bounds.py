"""Intervals against statsmodels, bounds against exact tails, sizes against their inverse."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from lyceum.errors import SettingError
from lyceum.evaluate import (
    chebyshev_bound,
    error_interval,
    error_sd,
    hoeffding_bound,
    holdout_size,
    majority_vote_error,
    markov_bound,
)


@pytest.mark.syllabus("14.6.6", "14.7")
@settings(max_examples=80, deadline=None)
@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_equal_statsmodels(n, share, confidence):
    k = round(share * n)
    for method, peer in (("wilson", "wilson"), ("clopper-pearson", "beta")):
        ours = error_interval(k, n, confidence=confidence, method=method)
        low, high = proportion_confint(k, n, alpha=1 - confidence, method=peer)
        assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-9)
        assert ours.low <= k / n <= ours.high


def test_clopper_pearson_covers_at_least_what_it_says():
    n, rate = 20, 0.13
    covered = sum(
        stats.binom.pmf(k, n, rate)
        for k in range(n + 1)
        if (i := error_interval(k, n, method="clopper-pearson")).low <= rate <= i.high
    )
    assert covered >= 0.95


def test_intervals_at_no_and_only_errors_reach_the_end():
    assert error_interval(0, 10).low == 0.0
    assert error_interval(10, 10).high == 1.0
    assert "wilson" in str(error_interval(3, 10))


@pytest.mark.syllabus("14.7.1")
def test_sd_is_that_of_a_simulated_error_rate():
    rates = np.random.default_rng(0).binomial(50, 0.2, 200_000) / 50
    assert error_sd(0.2, 50) == pytest.approx(rates.std(), rel=0.01)
    assert error_sd(0.0, 5) == 0.0


@pytest.mark.syllabus("14.7.2")
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.floats(0.01, 0.5), st.floats(0.01, 0.99))
def test_bounds_hold_for_the_exact_binomial_tail(n, within, error):
    k = np.arange(n + 1)
    tail = stats.binom.pmf(k, n, error)[np.abs(k / n - error) >= within].sum()
    assert tail <= hoeffding_bound(n, within).alpha + 1e-9
    assert tail <= chebyshev_bound(n, within, error=error).alpha + 1e-9
    assert (
        chebyshev_bound(n, within, error=error).alpha
        <= chebyshev_bound(n, within).alpha
    )


@pytest.mark.syllabus("14.7")
@pytest.mark.parametrize("bound", [hoeffding_bound, chebyshev_bound])
@pytest.mark.parametrize("n_models", [1, 12])
def test_each_of_the_three_is_solved_from_the_other_two(bound, n_models):
    within = bound(n=5000, alpha=0.05, n_models=n_models).within
    assert bound(5000, within, n_models=n_models).alpha == pytest.approx(0.05)
    assert bound(within=within, alpha=0.05, n_models=n_models).n == 5000
    smaller = bound(n=4999, alpha=0.05, n_models=n_models)
    assert smaller.within > within
    assert float(smaller) == smaller.within
    assert str(4_999) in str(smaller).replace(",", "")


@pytest.mark.syllabus("14.7.4")
def test_epsilon_over_c_models_is_the_stated_formula():
    assert hoeffding_bound(n=1000, alpha=0.05, n_models=20).within == math.sqrt(
        math.log(2 * 20 / 0.05) / 2000
    )


@pytest.mark.syllabus("14.7.3")
@settings(max_examples=60, deadline=None)
@given(st.floats(0.001, 0.999), st.floats(0.001, 0.3), st.floats(0.5, 4))
def test_holdout_size_is_the_least_that_fits_so_many_deviations(
    error, within, deviations
):
    n = holdout_size(error, within, deviations=deviations)
    assert deviations * error_sd(error, n) <= within * (1 + 1e-9)
    assert n == 1 or deviations * error_sd(error, n - 1) >= within * (1 - 1e-9)


def test_holdout_size_grows_from_two_to_more_deviations():
    assert holdout_size(0.05, 0.01, deviations=float(stats.norm.ppf(0.975))) == 1825
    assert holdout_size(0.0, 0.01) == 1


@pytest.mark.syllabus("11.1.1")
@pytest.mark.parametrize("n_voters", [1, 2, 3, 4, 7])
def test_majority_error_by_going_through_all_votes(n_voters):
    error = 0.3
    total = 0.0
    for votes in range(2**n_voters):
        wrong = bin(votes).count("1")
        chance = error**wrong * (1 - error) ** (n_voters - wrong)
        if 2 * wrong > n_voters:
            total += chance
        elif 2 * wrong == n_voters:
            total += chance / 2
    assert majority_vote_error(n_voters, error) == pytest.approx(total)


def test_majority_error_at_the_ends():
    assert majority_vote_error(5, 0.0) == 0.0
    assert majority_vote_error(5, 1.0) == 1.0
    assert majority_vote_error(100, 0.5) == pytest.approx(0.5)


def test_bad_requests_say_what_to_give():
    for call, words in (
        (lambda: hoeffding_bound(100), "give two of n, within and alpha; 1 were given"),
        (lambda: chebyshev_bound(100, 0.1, alpha=0.1), "3 were given"),
        (lambda: hoeffding_bound(0, 0.1), "at least one test row"),
        (lambda: hoeffding_bound(10, -0.1), "above 0"),
        (lambda: hoeffding_bound(10, alpha=1.5), "strictly between"),
        (lambda: hoeffding_bound(10, 0.1, n_models=0), "at least one model"),
        (lambda: holdout_size(1.5, 0.1), r"in \[0, 1\]"),
        (lambda: holdout_size(0.5, 0.0), "above 0"),
        (lambda: error_interval(5, 3), "0 <= n_wrong <= n"),
        (lambda: error_interval(0, 0), "at least one row"),
        (lambda: error_interval(1, 3, method="other"), "'wilson'"),
        (lambda: error_sd(0.1, 0), "at least one"),
        (lambda: majority_vote_error(0, 0.1), "at least one voter"),
    ):
        with pytest.raises(SettingError, match=words):
            call()


@pytest.mark.syllabus("14.6")
def test_walds_interval_is_the_rate_and_its_standard_errors():
    found = error_interval(20, 100, method="wald")
    assert (found.low, found.high) == pytest.approx(
        (0.2 - 1.959964 * 0.04, 0.2 + 1.959964 * 0.04), abs=1e-6
    )
    assert error_interval(0, 10, method="wald").high == 0.0


@pytest.mark.syllabus("14.7.2")
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.floats(0.01, 0.5), st.floats(0.01, 0.99))
def test_one_sided_bound_is_half_and_holds_for_either_exact_tail(n, within, error):
    k = np.arange(n + 1)
    chance = stats.binom.pmf(k, n, error)
    one = hoeffding_bound(n, within, sides=1).alpha
    assert chance[k / n - error >= within].sum() <= one + 1e-9
    assert chance[error - k / n >= within].sum() <= one + 1e-9
    assert hoeffding_bound(n, within).alpha == pytest.approx(min(1.0, 2 * one))


@pytest.mark.syllabus("14.7")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 10)), min_size=1, max_size=8),
    st.floats(0.05, 0.95),
    st.floats(0.1, 3),
)
def test_bound_holds_for_two_point_values_of_any_ranges_by_going_through_all_outcomes(
    ranges, p, within
):
    ends = np.array([(low, low + width) for low, width in ranges])
    expected = ((1 - p) * ends[:, 0] + p * ends[:, 1]).mean()
    tail = 0.0
    for outcome in range(2 ** len(ends)):
        high = np.array([(outcome >> i) & 1 for i in range(len(ends))])
        if np.where(high, ends[:, 1], ends[:, 0]).mean() - expected >= within:
            tail += p ** high.sum() * (1 - p) ** (len(ends) - high.sum())
    bound = hoeffding_bound(within=within, sides=1, value_range=ends)
    assert tail <= bound.alpha + 1e-12
    assert bound.n == len(ends)
    squares = ((ends[:, 1] - ends[:, 0]) ** 2).sum()
    assert bound.alpha == pytest.approx(
        math.exp(-2 * len(ends) ** 2 * within**2 / squares)
    )


@pytest.mark.syllabus("14.7")
@pytest.mark.parametrize("sides", [1, 2])
def test_a_wider_range_only_rescales_the_bound(sides):
    plain = hoeffding_bound(n=400, alpha=0.1, n_models=3, sides=sides)
    wide = hoeffding_bound(
        n=400, alpha=0.1, n_models=3, sides=sides, value_range=(-10, 20)
    )
    assert wide.within == pytest.approx(30 * plain.within)
    assert (
        hoeffding_bound(
            within=wide.within,
            alpha=0.1,
            n_models=3,
            sides=sides,
            value_range=(-10, 20),
        ).n
        == 400
    )
    same = hoeffding_bound(
        alpha=0.1, n_models=3, sides=sides, value_range=np.tile([-10.0, 20.0], (400, 1))
    )
    assert same.within == pytest.approx(wide.within)
    assert "mean" in str(wide)
    assert ("one given direction" in str(plain)) == (sides == 1)


def test_bad_ranges_and_sides_are_refused():
    for call, words in (
        (lambda: hoeffding_bound(10, 0.1, sides=3), "give 1 or 2"),
        (lambda: hoeffding_bound(10, 0.1, value_range=(1, 0)), "higher end"),
        (lambda: hoeffding_bound(10, 0.1, value_range=(0, 1, 2)), "shape"),
        (
            lambda: hoeffding_bound(10, 0.1, value_range=[(0, 1)] * 3),
            "3 rows, but n=10",
        ),
    ):
        with pytest.raises(SettingError, match=words):
            call()


@pytest.mark.syllabus("14.7")
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 50), st.floats(0.01, 0.99), st.floats(0.1, 60))
def test_markovs_bound_holds_for_the_exact_tail_and_is_met_by_a_two_point_value(
    n, p, at
):
    k = np.arange(n + 1)
    assert stats.binom.pmf(k, n, p)[k >= at].sum() <= markov_bound(n * p, at) + 1e-9
    assert markov_bound(p * at, at) == pytest.approx(p)  # at with probability p, else 0


def test_markovs_bound_is_refused_for_negative_means():
    with pytest.raises(SettingError, match="at least 0"):
        markov_bound(-1.0, 2.0)


@pytest.mark.syllabus("11.1.1")
def test_voters_of_unequal_error_by_going_through_all_votes():
    errors = [0.1, 0.35, 0.2, 0.45]
    total = 0.0
    for votes in itertools.product([0, 1], repeat=4):
        chance = np.prod([e if v else 1 - e for v, e in zip(votes, errors)])
        total += chance * {0: 0.0, 1: 0.0, 2: 0.5}.get(sum(votes), 1.0)
    assert majority_vote_error(4, errors) == pytest.approx(total)
    assert majority_vote_error(25, [0.35] * 25) == pytest.approx(
        majority_vote_error(25, 0.35)
    )


def test_a_part_of_a_voter_is_refused():
    with pytest.raises(SettingError, match=r"n_voters=2\.5: give a whole number"):
        majority_vote_error(2.5, 0.3)
    with pytest.raises(SettingError, match="one for each of the 3 voters"):
        majority_vote_error(3, [0.1, 0.2])

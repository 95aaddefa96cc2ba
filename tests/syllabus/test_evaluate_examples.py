"""The worked examples of the syllabus on evaluation, exactly."""

import numpy as np
import pytest

from lyceum.evaluate import (
    binary_report,
    bootstrap_632,
    confusion_matrix,
    hoeffding_bound,
    holdout_size,
    majority_vote_error,
)


@pytest.mark.syllabus("14.2.1")
@pytest.mark.parametrize(
    ("name", "digits", "value"),
    [
        ("recall", 3, 0.605),
        ("false_positive_rate", 3, 0.304),
        ("precision", 3, 0.666),
        ("npv", 3, 0.638),
        ("odds_ratio", 2, 3.51),
        ("kappa", 3, 0.301),
        ("f1", 3, 0.634),
        ("accuracy", 4, 0.6505),
    ],
)
def test_engine_table(name, digits, value):
    report = binary_report(tp=3023, fp=1518, fn=1977, tn=3482)
    assert round(getattr(report, name), digits) == value


@pytest.mark.syllabus("14.2.2")
def test_engine_table_from_its_ten_thousand_rows():
    y = np.repeat(["engine", "none", "engine", "none"], [3023, 1518, 1977, 3482])
    predicted = np.repeat(
        ["engine", "engine", "none", "none"], [3023, 1518, 1977, 3482]
    )
    report = binary_report(y, predicted, pos_label="engine")
    assert (report.tp, report.fp, report.fn, report.tn) == (3023, 1518, 1977, 3482)
    assert round(report.kappa, 3) == 0.301
    assert report.kappa_reading == "poor"
    assert "0.6046" in str(report)


@pytest.mark.syllabus("14.7")
def test_holdout_rows_for_one_percent_at_error_five_percent():
    assert holdout_size(error=0.05, within=0.01) == 1900


@pytest.mark.syllabus("11.1")
def test_twenty_one_voters_at_error_three_tenths():
    assert round(majority_vote_error(21, 0.3), 3) == 0.026


@pytest.mark.syllabus("14.1")
@pytest.mark.parametrize("K", [2, 3, 4, 6])
def test_there_are_two_to_the_k_minus_one_minus_one_divisions(K):
    assert len(confusion_matrix(range(K), range(K)).some_vs_rest()) == 2 ** (K - 1) - 1


@pytest.mark.syllabus("14.5.2")
def test_efron_weighs_training_by_368_and_left_out_by_632():
    from sklearn.neighbors import KNeighborsClassifier

    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    result = bootstrap_632(KNeighborsClassifier(1), X, y, n_rounds=20)
    assert result.training == 0.0
    assert result.error == pytest.approx(0.632 * result.left_out)


@pytest.mark.syllabus("14.7")
def test_epsilon_over_models():
    assert hoeffding_bound(n=10_000, alpha=0.05, n_models=8).within == np.sqrt(
        np.log(2 * 8 / 0.05) / (2 * 10_000)
    )

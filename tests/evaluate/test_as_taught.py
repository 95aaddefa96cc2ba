"""Kappa's reading, rejects, noise, and paired tests of results, as a course has them."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import StratifiedKFold

from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.evaluate import (
    confusion_matrix,
    corrected_t,
    cross_validate,
    decompose,
    five_by_two,
    kappa_from_rates,
    kappa_reading,
    macro_average_modified,
    mcnemar,
)


@pytest.mark.syllabus("14.2")
def test_kappa_reads_poor_good_excellent_and_by_other_scales_by_name():
    assert [kappa_reading(k) for k in (-0.1, 0.39, 0.4, 0.75, 0.76)] == [
        "poor",
        "poor",
        "good",
        "good",
        "excellent",
    ]
    assert [kappa_reading(k, "landis_koch") for k in (0.1, 0.5, 0.9)] == [
        "slight",
        "moderate",
        "almost perfect",
    ]
    with pytest.raises(ValueError, match="landis_koch"):
        kappa_reading(0.3, "other")


@pytest.mark.syllabus("14.2")
def test_kappa_from_rates_is_that_of_the_rows():
    rng = np.random.default_rng(0)
    y, said = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    said = np.where(rng.uniform(size=400) < 0.5, y, said)
    rates = said[y == 1].mean(), said[y == 0].mean(), y.mean()
    assert kappa_from_rates(*rates) == pytest.approx(cohen_kappa_score(y, said))


@pytest.mark.syllabus("14.3.3")
def test_a_rejected_row_counts_in_the_modified_macro_average():
    y, said = ["a", "a", "a", "a", "b", "b"], ["a", "a", "b", None, "b", None]
    P = np.array([2 / 4, 1 / 2])
    assert macro_average_modified(confusion_matrix(y, said)) == pytest.approx(
        0.75 * P.mean() + 0.25 * np.sqrt(P.prod())
    )


@pytest.mark.syllabus("14.8")
def test_noise_of_two_classes_adds_n_times_one_less_twice_the_error():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 4000)
    y = np.where(rng.uniform(size=4000) < 0.2, 1 - truth, truth)
    predictions = np.where(rng.uniform(size=(50, 4000)) < 0.3, 1 - truth, truth)
    parts = decompose(y, predictions, truth=truth, loss="error")
    E0 = float((predictions != truth).mean())
    assert parts.bias + parts.net_variance == pytest.approx(E0)
    assert parts.error == pytest.approx(
        parts.bias + parts.net_variance + parts.net_noise
    )
    assert parts.net_noise == pytest.approx(parts.noise * (1 - 2 * E0), abs=0.003)
    assert parts.error == pytest.approx(E0 + parts.noise * (1 - 2 * E0), abs=0.003)


@pytest.fixture(scope="module")
def results():
    X, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    first, second = (
        cross_validate(learner, X, y, cv=folds)
        for learner in (NaiveBayes(), LinearDiscriminantAnalysis())
    )
    other = cross_validate(
        NaiveBayes(), X, y, cv=StratifiedKFold(5, shuffle=True, random_state=1)
    )
    return X, y, first, second, other


@pytest.mark.syllabus("14.6")
def test_paired_tests_take_two_results(results):
    _, y, first, second, _ = results
    by_losses = corrected_t(
        first.losses, second.losses, test_to_train=first.test_to_train
    )
    assert corrected_t(first, second).t == by_losses.t
    said = [
        np.concatenate(r.predicted)[np.argsort(np.concatenate(r.test_rows))]
        for r in (first, second)
    ]
    assert mcnemar(y, first, second) == mcnemar(y, *said)


@pytest.mark.syllabus("14.6")
def test_results_of_different_folds_are_refused(results):
    _, y, first, _, other = results
    for test in (corrected_t, five_by_two):
        with pytest.raises(ValueError, match="different splits"):
            test(first, other)
    with pytest.raises(ValueError, match="different splits"):
        mcnemar(y, first, other)
    with pytest.raises(ValueError, match="5 folds"):
        five_by_two(first, first)
    with pytest.raises(ValueError, match="test_to_train"):
        corrected_t([0.1, 0.2], [0.2, 0.1])


@pytest.mark.syllabus("14.6.1")
def test_mcnemar_without_the_correction_is_the_plain_chi_square():
    found = mcnemar(only_first_wrong=40, only_second_wrong=20, method="uncorrected")
    assert found.statistic == pytest.approx(400 / 60)
    assert found.p_value == pytest.approx(stats.chi2.sf(400 / 60, 1))

"""Functions that have scikit-learn's names have its parameters, defaults, values and results."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import calibration, metrics, model_selection

from lyceum import evaluate

RNG = np.random.default_rng(3)
N = 400
Y = RNG.integers(0, 2, N)
SCORE = np.round(RNG.random(N) + 0.3 * Y, 2)  # with ties
PROBA = np.clip(SCORE / 1.3, 0.0, 1.0)
W = RNG.integers(0, 4, N).astype(float)
Y3 = RNG.integers(0, 3, N)
PROBA3 = RNG.dirichlet(np.ones(3), N)
PREDICTED3 = PROBA3.argmax(axis=1)

THEIRS = {
    "roc_curve": metrics.roc_curve,
    "precision_recall_curve": metrics.precision_recall_curve,
    "calibration_curve": calibration.calibration_curve,
    "confusion_matrix": metrics.confusion_matrix,
    "brier_score_loss": metrics.brier_score_loss,
    "log_loss": metrics.log_loss,
}


@pytest.mark.parametrize("name", THEIRS)
def test_parameters_and_defaults_are_those_of_scikit_learn(name):
    ours = inspect.signature(getattr(evaluate, name)).parameters
    for parameter in inspect.signature(THEIRS[name]).parameters.values():
        if parameter.default == "deprecated":
            continue
        assert parameter.name in ours
        assert ours[parameter.name].kind == parameter.kind
        if parameter.kind == parameter.KEYWORD_ONLY:
            assert ours[parameter.name].default == parameter.default


@pytest.mark.parametrize(
    "name", ["roc_auc_score", "learning_curve", "validation_curve"]
)
def test_leading_parameters_are_those_of_scikit_learn(name):
    theirs = getattr(metrics, name, None) or getattr(model_selection, name)
    leading = [
        parameter.name
        for parameter in inspect.signature(theirs).parameters.values()
        if parameter.kind != parameter.KEYWORD_ONLY
        or parameter.name in ("train_sizes", "cv", "groups", "n_jobs", "sample_weight")
    ]
    assert set(leading) <= set(inspect.signature(getattr(evaluate, name)).parameters)


@pytest.mark.parametrize("w", [None, W])
@pytest.mark.parametrize("drop", [True, False, None])
@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve"])
def test_curves_unpack_to_the_arrays_of_scikit_learn(name, drop, w):
    options = {} if drop is None else {"drop_intermediate": drop}
    result = getattr(evaluate, name)(Y, SCORE, sample_weight=w, **options)
    expected = THEIRS[name](Y, SCORE, sample_weight=w, **options)
    first, second, thresholds = result
    assert_allclose(first, expected[0], rtol=1e-12)
    assert_allclose(second, expected[1], rtol=1e-12)
    assert_array_equal(thresholds, expected[2])
    assert_array_equal(result[-1], thresholds)
    assert len(result) == 3


def test_a_score_without_positives_has_full_recall_as_in_scikit_learn():
    with pytest.warns(UserWarning, match="No positive class"):
        expected = metrics.precision_recall_curve([0, 0], [0.2, 0.4])
    for ours, theirs in zip(
        evaluate.precision_recall_curve([0, 0], [0.2, 0.4]), expected
    ):
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("proba", [PROBA, PROBA.round(1), np.zeros(N), Y.astype(float)])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("options", [{}, {"n_bins": 10}, {"n_bins": 3}])
def test_calibration_unpacks_to_the_arrays_of_scikit_learn(proba, strategy, options):
    prob_true, prob_pred = evaluate.calibration_curve(
        Y, proba, strategy=strategy, **options
    )
    expected = calibration.calibration_curve(Y, proba, strategy=strategy, **options)
    assert_allclose(prob_true, expected[0], rtol=1e-12)
    assert_allclose(prob_pred, expected[1], rtol=1e-12)


@pytest.mark.parametrize("w", [None, W])
@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
@pytest.mark.parametrize("labels", [None, [2, 0, 1], [1, 2], [0, 1, 2, 7]])
def test_a_confusion_matrix_is_the_array_of_scikit_learn(labels, normalize, w):
    options = {"labels": labels, "normalize": normalize, "sample_weight": w}
    ours = evaluate.confusion_matrix(Y3, PREDICTED3, **options)
    theirs = metrics.confusion_matrix(Y3, PREDICTED3, **options)
    assert_allclose(np.asarray(ours), theirs, rtol=1e-12)
    assert_allclose(ours[0, 1], theirs[0, 1], rtol=1e-12)
    assert_allclose(np.array(list(ours)), theirs, rtol=1e-12)
    assert len(ours) == len(theirs)


def test_the_cells_of_two_classes_are_tn_fp_fn_tp():
    tn, fp, fn, tp = evaluate.confusion_matrix([0, 1, 0, 1, 1], [1, 1, 1, 0, 1]).ravel()
    assert (tn, fp, fn, tp) == (0, 2, 1, 2)
    assert np.asarray(evaluate.confusion_matrix([0, 1], [0, 1])).dtype == np.int64


def test_an_unknown_normalization_is_refused():
    with pytest.raises(ValueError, match="normalize='rows'"):
        evaluate.confusion_matrix([0, 1], [0, 1], normalize="rows")


@pytest.mark.parametrize("w", [None, W])
@pytest.mark.parametrize("options", [{}, {"normalize": False}])
def test_log_loss_is_that_of_scikit_learn(options, w):
    ours = evaluate.log_loss(Y3, PROBA3, sample_weight=w, labels=[0, 1, 2], **options)
    theirs = metrics.log_loss(Y3, PROBA3, sample_weight=w, labels=[0, 1, 2], **options)
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert evaluate.log_loss(Y, PROBA, sample_weight=w, **options) == pytest.approx(
        metrics.log_loss(Y, PROBA, sample_weight=w, **options), rel=1e-12
    )


@pytest.mark.parametrize("w", [None, W])
@pytest.mark.parametrize("half", ["auto", True, False])
def test_the_brier_score_is_that_of_scikit_learn(half, w):
    options = {"sample_weight": w, "scale_by_half": half}
    assert evaluate.brier_score_loss(Y, PROBA, **options) == pytest.approx(
        metrics.brier_score_loss(Y, PROBA, **options), rel=1e-12
    )
    assert evaluate.brier_score_loss(Y3, PROBA3, **options) == pytest.approx(
        metrics.brier_score_loss(Y3, PROBA3, **options), rel=1e-12
    )


@pytest.mark.parametrize("w", [None, W])
def test_the_area_is_that_of_scikit_learn(w):
    assert evaluate.roc_auc_score(Y, SCORE, sample_weight=w) == pytest.approx(
        metrics.roc_auc_score(Y, SCORE, sample_weight=w), rel=1e-12
    )

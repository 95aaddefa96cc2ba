"""Cross-validation and the .632 bootstrap against scikit-learn and their definitions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import Bootstrap, Holdout, bootstrap_632, cross_validate

X, Y = load_iris(return_X_y=True)
XR, YR = load_diabetes(return_X_y=True)


@pytest.mark.syllabus("14.5")
def test_error_rates_equal_scikit_learn_on_the_same_folds():
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    ours = cross_validate(GaussianNB(), X, Y, cv=folds)
    assert ours.losses == pytest.approx(
        1 - cross_val_score(GaussianNB(), X, Y, cv=folds)
    )
    assert np.array_equal(
        ours.pooled_predictions(), cross_val_predict(GaussianNB(), X, Y, cv=folds)
    )
    proba = np.concatenate(ours.proba)[np.argsort(np.concatenate(ours.test_rows))]
    assert proba == pytest.approx(
        cross_val_predict(GaussianNB(), X, Y, cv=folds, method="predict_proba")
    )
    assert "5 splits" in str(ours)


@pytest.mark.syllabus("14.5")
@pytest.mark.parametrize(
    ("loss", "score"),
    [("auto", "neg_mean_squared_error"), ("absolute", "neg_mean_absolute_error")],
)
def test_regression_losses_equal_scikit_learn(loss, score):
    folds = KFold(4, shuffle=True, random_state=0)
    ours = cross_validate(LinearRegression(), XR, YR, cv=folds, loss=loss)
    assert ours.losses == pytest.approx(
        -cross_val_score(LinearRegression(), XR, YR, cv=folds, scoring=score)
    )
    assert ours.proba is None
    assert ours.classes is None


def test_standard_error_is_corrected_for_shared_training_rows():
    ours = cross_validate(GaussianNB(), X, Y, cv=5)
    assert ours.test_to_train == pytest.approx(1 / 4)
    assert ours.standard_error == pytest.approx(
        np.sqrt((1 / 5 + 1 / 4) * ours.losses.var(ddof=1))
    )


def test_frames_names_and_text_labels_pass_through():
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    ours = cross_validate(GaussianNB(), frame, pd.Series(names), cv=3)
    assert ours.classes.tolist() == sorted(set(names))
    assert ours.losses == pytest.approx(cross_validate(GaussianNB(), X, Y, cv=3).losses)


def test_a_class_unseen_in_training_has_posterior_zero():
    y = np.array([0] * 10 + [1] * 10 + [2])
    ours = cross_validate(
        GaussianNB(), np.arange(21.0)[:, None], y, cv=StratifiedKFoldLike()
    )
    assert ours.proba[0].shape == (1, 3)
    assert ours.proba[0][0, 2] == 0.0
    assert ours.losses[0] == 1.0


class StratifiedKFoldLike:
    """One split that keeps the only row of class 2 for the test."""

    def split(self, X, y=None, groups=None):
        yield np.arange(20), np.array([20])

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


def test_weights_are_used_to_fit_and_to_judge():
    w = np.where(Y == 2, 0.0, 1.0)
    split = Holdout(test_size=0.4, random_state=0)
    ours = cross_validate(
        GaussianNB(), X[Y < 2], Y[Y < 2], cv=3, sample_weight=np.ones(100)
    )
    assert ours.mean == pytest.approx(
        cross_validate(GaussianNB(), X[Y < 2], Y[Y < 2], cv=3).mean
    )
    wrong = cross_validate(Always(), X, Y, cv=split, sample_weight=w).losses[0]
    [(_, test)] = split.split(X, Y)
    assert wrong == pytest.approx((w[test] * (Y[test] != 0)).sum() / w[test].sum())
    with pytest.raises(SettingError, match="takes no sample_weight"):
        cross_validate(KNeighborsClassifier(), X, Y, sample_weight=w)


class Always(ClassifierMixin, BaseEstimator):
    """Says 0, whatever it learns."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_two_jobs_give_what_one_gives():
    one, two = (cross_validate(GaussianNB(), X, Y, cv=4, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.losses, two.losses)


def test_leave_one_out_and_boolean_masks_are_taken():
    assert (
        len(cross_validate(GaussianNB(), X[::5], Y[::5], cv=LeaveOneOut()).losses) == 30
    )
    mask = np.arange(150) % 3 == 0
    assert cross_validate(GaussianNB(), X, Y, cv=[(~mask, mask)]).n_test.tolist() == [
        50
    ]


def test_overlapping_or_empty_splits_are_refused():
    with pytest.raises(DataError, match="1 row in both"):
        cross_validate(GaussianNB(), X, Y, cv=[(np.arange(100), np.array([99, 120]))])
    with pytest.raises(DataError, match="neither may be empty"):
        cross_validate(
            GaussianNB(), X, Y, cv=[(np.arange(100), np.array([], dtype=int))]
        )
    with pytest.raises(DataError, match="exactly once"):
        cross_validate(
            GaussianNB(), X, Y, cv=Bootstrap(2, random_state=0)
        ).pooled_predictions()
    with pytest.raises(SettingError, match="choose from 'error'"):
        cross_validate(GaussianNB(), X, Y, loss="hinge")
    with pytest.raises(TypeError, match="not an estimator"):
        cross_validate("forest", X, Y)


def test_a_loss_may_be_a_function_of_rows():
    def costly(y, predicted):
        return 5.0 * (y != predicted)

    assert cross_validate(
        GaussianNB(), X, Y, cv=3, loss=costly
    ).losses == pytest.approx(5 * cross_validate(GaussianNB(), X, Y, cv=3).losses)


@pytest.mark.syllabus("14.5")
def test_632_is_its_definition():
    result = bootstrap_632(RidgeClassifier(), X, Y, n_rounds=30, random_state=3)
    total, times = np.zeros(150), np.zeros(150)
    for train, test in Bootstrap(30, random_state=3).split(X, Y):
        total[test] += (
            RidgeClassifier().fit(X[train], Y[train]).predict(X[test]) != Y[test]
        )
        times[test] += 1
    guesses = RidgeClassifier().fit(X, Y).predict(X)
    assert result.training == pytest.approx((guesses != Y).mean())
    assert result.left_out == pytest.approx((total / times).mean())
    assert result.error == pytest.approx(
        0.368 * result.training + 0.632 * result.left_out
    )
    shares = [(k == Y).mean() * (1 - (guesses == k).mean()) for k in range(3)]
    assert result.no_information == pytest.approx(sum(shares))
    assert result.left_out >= result.error >= result.training
    assert ".632+" in str(result)


def test_632_plus_reaches_the_left_out_error_when_nothing_can_be_learned():
    rng = np.random.default_rng(0)
    noise, coin = rng.normal(size=(60, 3)), np.arange(60) % 2
    result = bootstrap_632(KNeighborsClassifier(1), noise, coin, n_rounds=40)
    assert result.training == 0.0
    # .632 is deceived by a model that knows its rows by heart
    assert result.error < 0.4
    assert result.plus == pytest.approx(min(result.left_out, 0.5), abs=0.05)


def test_632_of_regression_uses_squared_loss():
    result = bootstrap_632(LinearRegression(), XR[:100], YR[:100], n_rounds=20)
    fitted = LinearRegression().fit(XR[:100], YR[:100]).predict(XR[:100])
    assert result.training == pytest.approx(((fitted - YR[:100]) ** 2).mean())
    assert result.no_information == pytest.approx(
        ((YR[:100, None] - fitted) ** 2).mean()
    )

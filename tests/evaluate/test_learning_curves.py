"""Learning and validation curves against plain loops, and verdicts on models known to under- and
overfit."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, validation_curve as peer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lyceum.errors import SettingError
from lyceum.evaluate import fit_verdict, learning_curve, validation_curve

X, Y = load_iris(return_X_y=True)


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)


@pytest.mark.syllabus("14.8.3")
def test_validation_curve_equals_scikit_learn():
    folds = KFold(4, shuffle=True, random_state=0)
    tree = DecisionTreeClassifier(random_state=0)
    ours = validation_curve(
        tree, X, Y, param_name="max_depth", param_range=[1, 2, 5], cv=folds
    )
    train, test = peer(
        tree, X, Y, param_name="max_depth", param_range=[1, 2, 5], cv=folds
    )
    assert ours.train_losses == pytest.approx(1 - train)
    assert ours.test_losses == pytest.approx(1 - test)
    assert ours.best == [1, 2, 5][int(np.argmax(test.mean(axis=1)))]
    assert ours.best in ours.within_one_error()
    assert "max_depth" in str(ours)


@pytest.mark.syllabus("14.8")
def test_verdicts_along_a_validation_curve_go_from_underfitting_to_overfitting():
    X, y = noisy()
    tree = DecisionTreeRegressor(random_state=0)
    curve = validation_curve(
        tree, X, y, param_name="max_depth", param_range=[1, 4, None]
    )
    assert [verdict.word for verdict in curve.verdicts] == [
        "underfitting",
        "balanced",
        "overfitting",
    ]
    assert curve.best == 4


def test_settings_inside_a_pipeline_and_named_like_our_arguments_are_set():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    curve = validation_curve(
        model, X, Y, param_name="logisticregression__C", param_range=(1e-6, 1.0), cv=3
    )
    assert curve.test_mean[1] < curve.test_mean[0]


@pytest.mark.syllabus("14.8.3")
def test_learning_curve_is_nested_and_ends_in_plain_cross_validation():
    folds = KFold(5, shuffle=True, random_state=0)
    curve = learning_curve(GaussianNB(), X, Y, cv=folds, train_sizes=(0.2, 1.0))
    expected = [
        (GaussianNB().fit(X[a], Y[a]).predict(X[b]) != Y[b]).mean()
        for a, b in folds.split(X)
    ]
    assert curve.test_losses[-1] == pytest.approx(expected)
    assert curve.train_sizes.tolist() == [24, 120]
    assert curve.baseline > 0.6
    assert "learning curve" in str(curve)


@pytest.mark.syllabus("14.8")
def test_more_rows_help_a_deep_tree_and_not_a_straight_line():
    X, y = noisy(800)
    deep = learning_curve(
        DecisionTreeRegressor(random_state=0), X, y, train_sizes=(0.05, 0.2)
    )
    line = learning_curve(LinearRegression(), X, y, train_sizes=(0.7, 1.0))
    assert deep.more_rows_help
    assert deep.verdict.word == "overfitting"
    assert not line.more_rows_help
    assert line.verdict.word == "underfitting"


def test_the_smallest_sample_holds_every_class():
    y = np.array([0] * 95 + [1] * 5)
    X = np.random.default_rng(0).normal(size=(100, 2))
    curve = learning_curve(
        GaussianNB(var_smoothing=1e-3), X, y, train_sizes=[1, 2, 40], cv=4
    )
    assert curve.train_sizes.tolist() == [2, 40]
    assert np.isfinite(curve.test_losses).all()


def test_sizes_out_of_reach_are_refused():
    with pytest.raises(SettingError, match="120 training rows"):
        learning_curve(GaussianNB(), X, Y, train_sizes=[130])
    with pytest.raises(SettingError, match=r"up to 1\.0"):
        learning_curve(GaussianNB(), X, Y, train_sizes=[1.5])
    with pytest.raises(SettingError, match="at least one"):
        validation_curve(GaussianNB(), X, Y, param_name="var_smoothing", param_range=[])


@pytest.mark.syllabus("14.8.4")
@pytest.mark.parametrize(
    ("train", "test", "baseline", "error", "word"),
    [
        (0.0, 0.3, 0.5, 0.01, "overfitting"),
        (0.0, 0.3, 0.5, 0.2, "balanced"),  # the gap is within two standard errors
        (0.48, 0.49, 0.5, 0.01, "underfitting"),
        (0.1, 0.12, 0.5, 0.01, "balanced"),
        (0.0, 0.6, 0.5, 0.01, "overfitting"),
        (0.6, 0.6, 0.5, 0.01, "underfitting"),
        (0.0, 0.0, 0.0, 0.0, "balanced"),
        (0.0, 0.0, 0.5, 0.0, "balanced"),
    ],
)
def test_verdicts_follow_the_stated_rule(train, test, baseline, error, word):
    verdict = fit_verdict(train, test, baseline, error)
    assert verdict.word == word
    assert str(verdict).startswith(word)

"""Choosing k: leave-one-out in one pass, and on validation data until the error rises."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier as ScikitClassifier

from lyceum import scan
from lyceum.errors import DataError, SettingError
from lyceum.neighbors import KNeighborsClassifier, KNeighborsRegressor

pytestmark = pytest.mark.syllabus("10.3")


def moons(n=120, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, ((X[:, 0] + 0.8 * rng.normal(size=n)) * 1.2).round().clip(
        0, classes - 1
    ).astype(int)


@pytest.mark.syllabus("10.3.1")
@pytest.mark.parametrize("weights", ["uniform", "distance", "gaussian"])
def test_one_pass_for_all_k_is_refitting_without_every_row(weights):
    X, y = moons(24)
    model = KNeighborsClassifier(
        "leave_one_out", weights=weights, max_neighbors=12
    ).fit(X, y)
    for k in (1, 2, 7, 12):
        wrong = 0
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            one = KNeighborsClassifier(k, weights=weights).fit(X[rest], y[rest])
            wrong += one.predict(X[i : i + 1])[0] != y[i]
        assert model.errors_[k - 1] == pytest.approx(wrong / len(X))
    assert model.n_neighbors_ == model.errors_.argmin() + 1


def test_leave_one_out_agrees_with_scikit_learns_folds():
    X, y = moons(50)
    model = KNeighborsClassifier("leave_one_out", max_neighbors=9).fit(X, y)
    for k in (1, 9):
        predicted = cross_val_predict(ScikitClassifier(k), X, y, cv=LeaveOneOut())
        assert model.errors_[k - 1] == pytest.approx(np.mean(predicted != y))


def test_regression_is_chosen_by_the_squared_error():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 6, (40, 1))
    t = np.sin(X[:, 0]) + 0.3 * rng.normal(size=40)
    model = KNeighborsRegressor("leave_one_out", max_neighbors=20).fit(X, t)
    for k in (1, 5, 20):
        errors = []
        for i in range(40):
            rest = np.arange(40) != i
            errors.append(
                (KNeighborsRegressor(k).fit(X[rest], t[rest]).predict(X[[i]])[0] - t[i])
                ** 2
            )
        assert model.errors_[k - 1] == pytest.approx(np.mean(errors))
    assert 1 < model.n_neighbors_ < 20


def test_weighted_rows_are_left_out_with_their_weight():
    X, y = moons(30)
    w = np.random.default_rng(2).integers(1, 4, 30).astype(float)
    model = KNeighborsClassifier("leave_one_out", max_neighbors=6).fit(
        X, y, sample_weight=w
    )
    for k in (1, 4, 6):
        wrong = np.zeros(30)
        for i in range(30):
            rest = np.arange(30) != i
            one = KNeighborsClassifier(k).fit(X[rest], y[rest], sample_weight=w[rest])
            wrong[i] = one.predict(X[[i]])[0] != y[i]
        assert model.errors_[k - 1] == pytest.approx(np.average(wrong, weights=w))


@pytest.mark.syllabus("10.3.1")
def test_k_is_raised_until_the_validation_error_rises():
    X, y = moons(400, seed=3)
    model = KNeighborsClassifier("validation", random_state=0).fit(X, y)
    tried = model.errors_[~np.isnan(model.errors_)]
    assert (np.diff(tried[:-1]) <= 0).all()
    assert tried[-1] > tried[-2] or len(tried) == 50
    assert model.errors_[model.n_neighbors_ - 1] == tried[:-1].min()
    assert "validation" in str(model.summary())


@pytest.mark.syllabus("10.3.2")
def test_two_classes_try_odd_numbers_only():
    X, y = moons(100, classes=2)
    for way in ("leave_one_out", "validation"):
        assert KNeighborsClassifier(way, random_state=0).fit(X, y).n_neighbors_ % 2 == 1


def test_errors_on_validation_data_of_ones_own():
    X, y = moons(150)
    model = KNeighborsClassifier(max_neighbors=8).fit(X[:100], y[:100])
    errors = model.errors_by_k(X[100:], y[100:])
    for k in (1, 3, 8):
        expected = np.mean(
            ScikitClassifier(k).fit(X[:100], y[:100]).predict(X[100:]) != y[100:]
        )
        assert errors[k - 1] == pytest.approx(expected)
    unseen = np.full(50, 99)
    assert (model.errors_by_k(X[100:], unseen) == 1.0).all()


def test_k_is_chosen_on_validation_rows_of_ones_own(tmp_path):
    X, y = moons(300, seed=5)
    own = (X[200:], y[200:])
    model = KNeighborsClassifier("validation").fit(X[:200], y[:200], validation=own)
    plain = KNeighborsClassifier().fit(X[:200], y[:200]).errors_by_k(*own)
    tried = ~np.isnan(model.errors_)
    assert model.errors_[tried] == pytest.approx(plain[tried])
    assert plain[model.n_neighbors_ - 1] == plain[tried].min()
    assert len(model.rows_) == 200
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table[200:].assign(y=y[200:]).to_parquet(tmp_path / "own.parquet")
    frame, rows = (
        table[:200],
        scan(tmp_path / "own.parquet", target="y", kinds={"y": "categorical"}),
    )
    from_file = KNeighborsClassifier("validation").fit(frame, y[:200], validation=rows)
    assert from_file.n_neighbors_ == model.n_neighbors_
    z = X[:, 0] ** 2
    regressor = KNeighborsRegressor("validation").fit(
        X[:200], z[:200], validation=(X[200:], z[200:])
    )
    errors = KNeighborsRegressor().fit(X[:200], z[:200]).errors_by_k(X[200:], z[200:])
    assert regressor.n_neighbors_ == np.argmax(np.diff(errors) > 0) + 1
    with pytest.raises(SettingError, match="n_neighbors='validation'"):
        KNeighborsClassifier(3).fit(X, y, validation=own)
    with pytest.raises(DataError, match="need their target"):
        KNeighborsClassifier("validation").fit(X, y, validation=X)


def test_few_rows_limit_k():
    model = KNeighborsClassifier("leave_one_out").fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    assert len(model.errors_) == 2
    assert (
        KNeighborsClassifier("validation", random_state=0)
        .fit([[0.0]], [0])
        .n_neighbors_
        == 1
    )

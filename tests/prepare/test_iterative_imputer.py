"""MissingCounts predicted from the other columns, against brute force and scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer as TheirIterativeImputer
from sklearn.linear_model import LinearRegression, Ridge
from tests.prepare.tables import mixed, numbers

from lyceum.prepare import IterativeImputer, SimpleImputer


def brute_force(X, alpha, rounds):
    """Chained ridge regressions on a matrix of numbers, one row at a time."""
    gaps = np.isnan(X)
    d = X.shape[1]
    order = np.argsort(gaps.mean(axis=0), kind="stable")
    start = np.where(gaps, np.nanmean(X, axis=0), X)
    models = None
    for _ in range(rounds):
        filled = (
            start if models is None else _gone_round(start, gaps, models, order, rounds)
        )
        models = []
        for j in range(d):
            Z, there = np.delete(filled, j, axis=1), ~gaps[:, j]
            sd = Z[there].std(axis=0)
            ridge = Ridge(alpha=alpha, solver="cholesky").fit(
                Z[there] / sd, X[there, j]
            )
            models.append((ridge.intercept_, ridge.coef_ / sd))
    return _gone_round(start, gaps, models, order, rounds)


def _gone_round(start, gaps, models, order, sweeps):
    out = start.copy()
    for i in range(len(out)):
        for _ in range(sweeps):
            for j in order:
                if gaps[i, j]:
                    out[i, j] = models[j][0] + np.delete(out[i], j) @ models[j][1]
    return out


@pytest.mark.syllabus("1.3.4")
@pytest.mark.parametrize("rounds", [1, 3, 7])
def test_numbers_are_those_of_brute_force(rounds):
    X = numbers(80, gaps=0.2, offset=100.0)
    with pytest.warns(ConvergenceWarning):
        ours = IterativeImputer(alpha=2.0, max_iter=rounds, tol=0.0).fit_transform(X)
    assert_allclose(ours, brute_force(X, 2.0, rounds), rtol=1e-9)
    assert_array_equal(ours[~np.isnan(X)], X[~np.isnan(X)])


@pytest.mark.syllabus("1.3")
def test_the_limit_is_that_of_scikit_learns_iterative_imputer():
    X = numbers(150, gaps=0.1, offset=0.0)
    X += np.random.default_rng(5).normal(size=X.shape)
    ours = IterativeImputer(alpha=1e-9, max_iter=200, tol=1e-11).fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = TheirIterativeImputer(
            LinearRegression(), max_iter=100, tol=1e-12
        ).fit_transform(X)
    assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.syllabus("1.3")
def test_a_category_is_that_of_the_linear_discriminant():
    rng = np.random.default_rng(0)
    code = rng.choice(3, p=[0.5, 0.3, 0.2], size=500)
    Z = (
        rng.normal(size=(500, 3))
        + np.array([[0, 0, 1e3], [1, 0, 1e3], [0, 2, 1e3 + 1]])[code]
    )
    words = np.array(["a", "b", "c"])[code].astype(object)
    gap = rng.random(500) < 0.3
    words[gap] = None
    frame = pd.DataFrame({"u": Z[:, 0], "v": Z[:, 1], "word": words, "z": Z[:, 2]})
    filled = IterativeImputer(alpha=1e-9).fit_transform(frame)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(
        Z[~gap], words[~gap].astype(str)
    )
    assert_array_equal(filled.loc[gap, "word"], lda.predict(Z[gap]))
    assert filled.loc[gap, "word"].nunique() == 3


def test_mixed_columns_are_those_of_regressions_and_discriminants_in_turn():
    rng = np.random.default_rng(4)
    code = rng.choice(3, size=200)
    x = code + rng.normal(size=200)
    frame = pd.DataFrame(
        {
            "x": x,
            "u": x - code + rng.normal(size=200),
            "c": np.array(["a", "b", "c"])[code],
        }
    )
    gaps = rng.random((200, 3)) < [0.1, 0.2, 0.3]
    frame = frame.mask(gaps)
    with pytest.warns(ConvergenceWarning):
        ours = IterativeImputer(alpha=1e-10, max_iter=3, tol=0.0).fit_transform(frame)

    codes = frame["c"].map({"a": 0, "b": 1, "c": 2}).to_numpy()
    start = np.c_[
        frame[["x", "u"]].fillna(frame[["x", "u"]].mean()),
        np.eye(3)[frame["c"].fillna("b").map(ord) - 97],
    ]
    mode = np.bincount(codes[~gaps[:, 2]].astype(int)).argmax()
    start[gaps[:, 2], 2:] = np.eye(3)[mode]
    Z = start
    for _ in range(3):
        learned = [
            LinearRegression()
            .fit(Z[~gaps[:, 0]][:, [1, 3, 4]], frame["x"][~gaps[:, 0]])
            .predict,
            LinearRegression()
            .fit(Z[~gaps[:, 1]][:, [0, 3, 4]], frame["u"][~gaps[:, 1]])
            .predict,
            LinearDiscriminantAnalysis(solver="lsqr")
            .fit(Z[~gaps[:, 2]][:, :2], codes[~gaps[:, 2]])
            .predict_proba,
        ]
        Z = start.copy()
        for _ in range(3):
            Z[gaps[:, 0], 0] = learned[0](Z[gaps[:, 0]][:, [1, 3, 4]])
            Z[gaps[:, 1], 1] = learned[1](Z[gaps[:, 1]][:, [0, 3, 4]])
            Z[gaps[:, 2], 2:] = learned[2](Z[gaps[:, 2]][:, :2])
    assert_allclose(ours[["x", "u"]], Z[:, :2], rtol=1e-6)
    assert_array_equal(ours["c"], np.array(["a", "b", "c"])[Z[:, 2:].argmax(axis=1)])


def test_true_and_false_are_predicted_as_categories():
    frame = mixed(gaps=0.2)
    filled = IterativeImputer().fit_transform(frame)
    assert set(filled["smokes"]) == {True, False}
    there = frame["smokes"].notna()
    assert (filled["smokes"][there] == frame["smokes"][there]).all()
    assert filled.notna().all().all()


def test_predictions_beat_the_mean_and_the_mode():
    whole, holed = mixed(1000, gaps=0.0), mixed(1000)
    holes = holed.isna()
    predicted, plain = (
        IterativeImputer().fit_transform(holed),
        SimpleImputer().fit_transform(holed),
    )
    for name in ("age", "income"):
        gap = holes[name]
        error = [
            ((out[name] - whole[name])[gap] ** 2).mean() for out in (predicted, plain)
        ]
        assert error[0] < 0.5 * error[1]
    gap = holes["sex"]
    right = [(out["sex"] == whole["sex"])[gap].mean() for out in (predicted, plain)]
    assert right[0] > right[1] + 0.1


def test_weights_are_repeated_rows():
    frame = mixed(80).drop(columns="ill")
    w = np.random.default_rng(0).integers(0, 4, 80)
    weighted = IterativeImputer(tol=1e-6, max_iter=100).fit(
        frame, sample_weight=w.astype(float)
    )
    repeated = IterativeImputer(tol=1e-6, max_iter=100).fit(
        frame.loc[frame.index.repeat(w)]
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-7)


def test_columns_without_gaps_are_predicted_when_gaps_come_later():
    x = np.linspace(0, 1, 50)
    X = np.c_[x, 3 * x - 2]
    out = IterativeImputer(alpha=1e-9).fit(X).transform([[np.nan, 1.0], [0.5, np.nan]])
    assert_allclose(out, [[1.0, 1.0], [0.5, -0.5]], rtol=1e-6)


def test_awkward_columns_are_no_trouble():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "constant": 3.0,
            "twin": 1.0,
            "x": rng.normal(size=60),
            "one": pd.Series(["only"] * 60),
            "word": rng.choice(["a", "b"], size=60),
        }
    )
    frame["twin"] = frame["x"]
    frame.loc[::7, "x"] = np.nan
    frame.loc[::5, "twin"] = np.nan
    frame.loc[::4, "constant"] = np.nan
    frame.loc[::6, "one"] = None
    filled = IterativeImputer().fit_transform(frame)
    assert filled.notna().all().all()
    assert_allclose(filled["constant"], 3.0)
    assert (filled["one"] == "only").all()
    alone = frame["x"].isna() & frame["twin"].notna()
    assert_allclose(filled["x"][alone], filled["twin"][alone], atol=0.1)
    lone = IterativeImputer().fit_transform(np.array([[1.0], [np.nan], [3.0]]))
    assert_allclose(lone, [[1.0], [2.0], [3.0]])


def test_a_column_of_missing_cells_alone_is_filled_with_a_warning():
    X = np.c_[numbers(40), np.full(40, np.nan)]
    with pytest.warns(
        UserWarning,
        match="column 'x4' has nothing but missing values: IterativeImputer fills it with 0",
    ):
        model = IterativeImputer(max_iter=50).fit(X)
    assert_array_equal(model.transform(X)[:, 4], 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        without = IterativeImputer(max_iter=50).fit_transform(X[:, :4])
    assert_allclose(model.transform(X)[:, :4], without, rtol=1e-9)


def test_an_unknown_category_stays_unknown():
    frame = mixed().drop(columns="ill")
    new = frame[:5].assign(city="Rom", age=np.nan)
    out = IterativeImputer().fit(frame).transform(new)
    assert (out["city"] == "Rom").all()
    assert np.isfinite(out["age"]).all()


def test_float32_is_float64_but_for_rounding():
    X = numbers(offset=10.0).astype(np.float32)
    ours = IterativeImputer(max_iter=30).fit_transform(X)
    assert ours.dtype == np.float32
    assert_allclose(
        ours,
        IterativeImputer(max_iter=30).fit_transform(X.astype(float)),
        rtol=1e-3,
        atol=1e-4,
    )


def test_rounds_are_recorded_and_moves_shrink():
    model = IterativeImputer(max_iter=30, tol=1e-6, record=True).fit(numbers())
    assert model.n_iter_ == len(model.history_) == len(model.record_)
    assert model.history_[-1] <= 1e-6 < model.history_[0]
    assert_array_equal(model.record_[-1]["coef"], model.coef_)


def test_r2_is_that_of_the_regression_where_the_column_is_there():
    X = numbers(gaps=0.0)
    r2 = [
        LinearRegression()
        .fit(np.delete(X, j, 1), X[:, j])
        .score(np.delete(X, j, 1), X[:, j])
        for j in range(4)
    ]
    assert_allclose(IterativeImputer(alpha=1e-9).fit(X).r2_, r2, rtol=1e-6)

"""Discriminants on singular tables, small classes, categories and files."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import LinAlgWarning
from tests.bayes.discriminant_cases import (
    BOTH,
    STRUCTURES,
    classes_of_rows,
    structured,
    within,
)

from lyceum.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from lyceum.data import scan
from lyceum.errors import MissingValuesError, SettingError


@pytest.mark.parametrize("structure", STRUCTURES)
@BOTH
def test_a_column_that_is_constant_over_all_rows_is_left_out(learner, structure):
    X, y = classes_of_rows(seed=10)
    if structure == "spherical":
        X = X[
            :, :0
        ]  # its variance is a mean over all columns: only the lone constant column is special
    wide = np.c_[X, np.full(len(X), 0.1)]
    model = learner(covariance=structure).fit(wide, y)  # and without a warning
    elsewhere = wide + np.r_[np.zeros(X.shape[1]), 5.0]
    np.testing.assert_allclose(
        model.predict_proba(elsewhere), model.predict_proba(wide)
    )
    if structure != "spherical":
        np.testing.assert_allclose(
            model.predict_proba(wide),
            learner(covariance=structure).fit(X, y).predict_proba(X),
            rtol=1e-9,
        )


def test_a_column_that_follows_from_others_is_named_and_changes_little():
    X, y = classes_of_rows(seed=11)
    wide = np.c_[X, X[:, 0] - 2 * X[:, 1]]
    with pytest.warns(
        LinAlgWarning, match=r"column 'x4' has no variance.*covariance='diagonal'"
    ):
        model = LinearDiscriminantAnalysis().fit(wide, y)
    np.testing.assert_allclose(
        model.predict_proba(wide),
        LinearDiscriminantAnalysis().fit(X, y).predict_proba(X),
        atol=1e-4,
    )


def test_a_column_that_tells_the_classes_apart_alone_decides():
    X, y = classes_of_rows(seed=12)
    with pytest.warns(LinAlgWarning, match="'x4'"):
        model = LinearDiscriminantAnalysis().fit(np.c_[X, y == 1], y)
    assert model.predict_proba(np.c_[X, y == 1])[y == 1, 1].min() > 0.999
    for structure in ("diagonal",):
        with pytest.warns(LinAlgWarning, match="'x4'"):
            model = LinearDiscriminantAnalysis(covariance=structure).fit(
                np.c_[X, y == 1], y
            )
        assert (model.predict(np.c_[X, y == 1]) == 1).tolist() == (y == 1).tolist()


@BOTH
def test_fewer_rows_than_columns_still_give_a_rule(learner):
    rng = np.random.default_rng(13)
    y = np.repeat([0, 1, 2], 6)
    centers = 3 * rng.normal(size=(3, 30))
    X = rng.normal(size=(18, 30)) + centers[y]
    with pytest.warns(LinAlgWarning, match="singular"):
        model = learner().fit(X, y)
    new = rng.normal(size=(60, 30)) + centers[np.repeat([0, 1, 2], 20)]
    assert (model.predict(X) == y).all()
    assert (model.predict(new) == np.repeat([0, 1, 2], 20)).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_class_with_one_row_borrows_the_pooled_covariance(structure):
    X, y = classes_of_rows(K=2, seed=14)
    X, y = (
        np.r_[X, [[9.0, -9.0, 9.0, -9.0]]],
        [*np.array(["a", "b"])[y].tolist(), "lone"],
    )
    with pytest.warns(
        LinAlgWarning, match=r"class 'lone' \(weight 1, 4 columns\) is singular"
    ):
        model = QuadraticDiscriminantAnalysis(covariance=structure).fit(X, y)
    assert model.borrowed_.tolist() == [False, False, True]
    S, n = within(X, np.array(y))
    pooled = structured(S.sum(axis=0), structure) / n.sum()
    wanted = pooled / 2 if structure == "full" else np.diag(pooled) / 2
    np.testing.assert_allclose(model.covariance_[2], wanted, rtol=1e-10, atol=1e-12)
    assert model.predict([[8.0, -8.0, 8.5, -9.0]]).tolist() == ["lone"]


def test_a_column_without_variance_in_one_class_is_borrowed_for():
    X, y = classes_of_rows(seed=15)
    X[y == 1, 2] = 5.0
    with pytest.warns(LinAlgWarning, match="class 1"):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    assert model.borrowed_.tolist() == [False, True, False]
    assert model.covariance_[1, 2, 2] > 0
    assert (model.predict(X[y == 1]) == 1).all()


@BOTH
@pytest.mark.parametrize("structure", STRUCTURES)
def test_one_class_and_one_row(learner, structure):
    X, _ = classes_of_rows(n=20, seed=16)
    one = learner(covariance=structure).fit(X, ["a"] * 20)
    assert one.predict(X[:2]).tolist() == ["a", "a"]
    np.testing.assert_array_equal(one.predict_proba(X[:2]), [[1.0], [1.0]])
    row = learner(covariance=structure).fit([[1.0, 2.0]], ["a"])
    assert row.predict([[0.0, 0.0]]).tolist() == ["a"]
    assert row.explain([[0.0, 0.0]]).contributions.tolist() == [[0.0, 0.0]]


@BOTH
@pytest.mark.parametrize("priors", [None, "uniform", "laplace"])
def test_a_class_that_was_only_announced_is_not_predicted(learner, priors):
    X, y = classes_of_rows(K=2, seed=17)
    model = learner(priors=priors).partial_fit(X, y, classes=[0, 1, 2])
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert (proba[:, 2] == 0).all()
    more, labels = classes_of_rows(K=1, seed=18)
    model.partial_fit(more + 6.0, labels + 2)
    assert (model.predict(more + 6.0) == 2).mean() > 0.95


def test_unbiased_estimates_need_weights_that_count_rows():
    X, y = classes_of_rows(seed=19)
    with pytest.raises(SettingError, match="N - K"):
        LinearDiscriminantAnalysis(unbiased=True).fit(X, y, np.full(len(X), 1e-3))


@BOTH
def test_categories_are_coded_without_their_first_one(learner):
    X, y = classes_of_rows(seed=20)
    rng = np.random.default_rng(0)
    color = rng.choice(["blue", "green", "red"], len(X))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(color=color)
    design = np.c_[X, color == "green", color == "red"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = learner().fit(frame, y)
    np.testing.assert_allclose(
        model.predict_proba(frame),
        learner().fit(design, y).predict_proba(design),
        rtol=1e-9,
    )
    assert list(model.explain(frame[:3]).names) == ["a", "b", "c", "d", "color"]


@BOTH
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(
    "late", ["amber", "violet"]
)  # before and after the others: the reference may change
def test_partial_fit_equals_fit_though_a_category_comes_late(learner, structure, late):
    X, y = classes_of_rows(seed=27)
    color = (
        np.random.default_rng(1).choice(["blue", "green", "red"], len(X)).astype(object)
    )
    color[150::3] = late
    frame = pd.DataFrame(X, columns=list("abcd")).assign(color=color)
    model = (
        learner(covariance=structure)
        .partial_fit(frame[:100], y[:100])
        .partial_fit(frame[100:], y[100:])
    )
    wanted = learner(covariance=structure).fit(frame, y)
    np.testing.assert_allclose(
        model.predict_proba(frame), wanted.predict_proba(frame), rtol=1e-8
    )


@BOTH
def test_a_missing_cell_is_refused_by_the_name_of_its_column(learner):
    X, y = classes_of_rows(seed=21)
    X[7, 2] = np.nan
    with pytest.raises(MissingValuesError, match=r"'x2'.*row 7"):
        learner().fit(X, y)


@BOTH
def test_a_file_gives_the_model_of_the_array(learner, tmp_path):
    X, y = classes_of_rows(n=500, seed=22)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        kind=np.array(["p", "q", "r"])[y]
    )
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=97)
    rows = scan(tmp_path / "rows.parquet", target="kind", memory=0)
    np.testing.assert_allclose(
        learner().fit(rows).predict_proba(rows),
        learner().fit(X, y).predict_proba(X),
        rtol=1e-9,
    )


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("structure", STRUCTURES)
@BOTH
def test_explanations_sum_to_the_log_odds_against_the_runner_up(learner, structure, K):
    X, y = classes_of_rows(K=K, seed=23)
    model = learner(covariance=structure).fit(X, y)
    why, log = model.explain(X), np.sort(model.predict_log_proba(X), axis=1)
    np.testing.assert_array_equal(why.predicted, model.predict(X))
    np.testing.assert_allclose(why.scores, log[:, -1] - log[:, -2], atol=1e-8)


def test_the_base_of_a_linear_explanation_is_the_odds_of_the_mean_row():
    X, y = classes_of_rows(K=2, seed=24)
    model = LinearDiscriminantAnalysis().fit(X, y)
    why = model.explain(X.mean(axis=0)[None])
    np.testing.assert_allclose(why.contributions, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        np.abs(model.decision_function(X.mean(axis=0)[None])), why.base, rtol=1e-9
    )


@BOTH
def test_summaries_show_priors_and_means(learner):
    X, y = classes_of_rows(seed=25)
    text = str(learner(unbiased=True).fit(X, np.array(["p", "q", "r"])[y]).summary())
    for word in ("prior", "mean | q", "x3", "unbiased"):
        assert word in text


@BOTH
@pytest.mark.parametrize("structure", STRUCTURES)
def test_the_fitted_arrays_have_the_shapes_that_are_checked_at_load(learner, structure):
    for K in (1, 2, 3):
        X, y = classes_of_rows(K=K, seed=26)
        model = learner(covariance=structure).fit(X, y)
        for name, shape in model._shapes().items():
            assert getattr(model, name).shape == shape


@pytest.mark.parametrize("K", [1, 2, 3, 11])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_the_predicted_class_of_a_linear_rule_is_that_of_the_largest_posterior(
    K, dtype
):
    X, y = classes_of_rows(n=20_000, K=K)
    X = (4 * X).astype(dtype)
    model = LinearDiscriminantAnalysis().fit(X, y)
    p = model.predict_proba(X)
    top = np.sort(p, axis=1)[:, -2:]
    clear = np.ones(len(X), bool) if K == 1 else top[:, 1] - top[:, 0] > 1e-9
    np.testing.assert_array_equal(model.predict(X)[clear], p.argmax(axis=1)[clear])
    np.testing.assert_array_equal(model.predict(np.asfortranarray(X)), model.predict(X))


@pytest.mark.parametrize(
    ("cell", "text"), [(np.nan, "a missing value"), (np.inf, "an infinity")]
)
def test_the_linear_rule_names_the_cell_that_it_cannot_take(cell, text):
    X, y = classes_of_rows(n=40_000)
    model = LinearDiscriminantAnalysis().fit(X, y)
    X[30_001, 2] = cell
    with pytest.raises(
        MissingValuesError, match=f"column 'x2' has {text} .* in row 30001"
    ):
        model.predict(X)


def test_a_linear_rule_predicts_tables_with_categories_and_lazily_on_dask():
    array = pytest.importorskip("dask.array")
    X, y = classes_of_rows()
    color = np.random.default_rng(5).choice(["red", "green"], len(X))
    table = pd.DataFrame(X, columns=list("abcd")).assign(color=color)
    model = LinearDiscriminantAnalysis().fit(table, y)
    np.testing.assert_array_equal(
        model.predict(table), model.predict_proba(table).argmax(axis=1)
    )
    table.loc[7, "color"] = None
    with pytest.raises(MissingValuesError, match="column 'color' has a missing value"):
        model.predict(table)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    lazy = plain.predict(array.from_array(X, chunks=(70, 4)))
    np.testing.assert_array_equal(lazy.compute(), plain.predict(X))

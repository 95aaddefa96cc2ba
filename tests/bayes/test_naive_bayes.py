"""Naive Bayes on mixed tables: hand-made answers, scikit-learn's, the definition, and awkward
columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.errors import DataError, SchemaError, SettingError

# Quinlan's fourteen days: outlook, temperature, humidity, windy, play.
DAYS = """sunny hot high false no
sunny hot high true no
overcast hot high false yes
rainy mild high false yes
rainy cool normal false yes
rainy cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rainy mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rainy mild high true no"""
NAMES = ["outlook", "temperature", "humidity", "windy"]


@pytest.fixture
def days():
    table = pd.DataFrame(
        [line.split() for line in DAYS.splitlines()], columns=[*NAMES, "play"]
    )
    return table[NAMES], table["play"].to_numpy(dtype=object)


NEW_DAY = pd.DataFrame([["sunny", "cool", "high", "true"]], columns=NAMES)


@pytest.mark.syllabus("3.1", "3.2")
def test_the_posterior_of_a_new_day_by_hand(days):
    model = NaiveBayes(estimate="raw").fit(*days)
    yes = 9 / 14 * (2 / 9) * (3 / 9) * (3 / 9) * (3 / 9)
    no = 5 / 14 * (3 / 5) * (1 / 5) * (4 / 5) * (3 / 5)
    np.testing.assert_allclose(
        model.predict_proba(NEW_DAY), [[no / (yes + no), yes / (yes + no)]], rtol=1e-12
    )
    assert model.predict(NEW_DAY).tolist() == ["no"]


@pytest.mark.syllabus("3.2")
def test_the_tables_are_those_of_the_formulas(days):
    X, y = days
    # overcast, rainy, sunny
    raw = np.array([[0 / 5, 2 / 5, 3 / 5], [4 / 9, 3 / 9, 2 / 9]])
    n = np.array([[5.0], [9.0]])
    tables = {
        "raw": (raw, {}),
        "laplace": ((raw * n + 1) / (n + 3), {}),
        "m": ((raw * n + 2 / 3) / (n + 2), {"m": 2.0}),
    }
    for estimate, (table, settings) in tables.items():
        model = NaiveBayes(estimate=estimate, **settings).fit(X, y)
        np.testing.assert_allclose(model.tables_[0], table, rtol=1e-14)
    marginal = NaiveBayes(estimate="m", m=2.0, m_prior="marginal").fit(X, y)
    np.testing.assert_allclose(
        marginal.tables_[0],
        (raw * n + 2 * np.array([4, 5, 5]) / 14) / (n + 2),
        rtol=1e-14,
    )


@pytest.mark.syllabus("3.2.2")
def test_the_users_own_p_is_renormalized(days):
    X, y = days
    own = {"outlook": {"overcast": 0.5, "rainy": 0.2, "sunny": 0.3}}
    model = NaiveBayes(estimate="m", m=4.0, m_prior=own).fit(X, y)
    counts, n = np.array([[0, 2, 3], [4, 3, 2]]), np.array([[5.0], [9.0]])
    np.testing.assert_allclose(
        model.tables_[0], (counts + 4 * np.array([0.5, 0.2, 0.3])) / (n + 4)
    )
    uniform = NaiveBayes(estimate="m", m=4.0).fit(X, y)
    np.testing.assert_allclose(model.tables_[1], uniform.tables_[1])
    assert "own p" in str(model.summary())
    # 2 of 6 rows are a and 4 are b, m = 4: (2 + 4 * .75) / 10 = 5/10 and (4 + 4 * .5) / 10 = 6/10
    rows = pd.DataFrame({"v": pd.Categorical(list("aabbbb"))})
    given = NaiveBayes(estimate="m", m=4.0, m_prior={0: [0.75, 0.5]}).fit(
        rows, ["k"] * 6
    )
    np.testing.assert_allclose(given.tables_[0], [[5 / 11, 6 / 11]])
    for wrong, message in (
        ({"outlook": [0.5, 0.5]}, "a probability for each"),
        ({"outlook": {"fog": 1.0}}, "names 'fog'"),
        ({"nowhere": [1.0]}, "does not exist"),
    ):
        with pytest.raises(ValueError, match=message):
            NaiveBayes(estimate="m", m_prior=wrong).fit(X, y)


@pytest.mark.syllabus("3.2.1")
def test_m_of_the_number_of_values_is_laplace_and_m_of_zero_is_raw(days):
    X, y = days
    outlook = X[["outlook"]]
    for m, other in ((3.0, "laplace"), (0.0, "raw")):
        one, two = (
            NaiveBayes(estimate="m", m=m).fit(outlook, y),
            NaiveBayes(estimate=other).fit(outlook, y),
        )
        np.testing.assert_allclose(one.tables_[0], two.tables_[0], rtol=1e-14)


@pytest.mark.syllabus("3.2")
@pytest.mark.parametrize("estimate", ["raw", "laplace", "m"])
def test_every_table_sums_to_one_with_weights_and_gaps(estimate):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:5, 0] = np.nan  # class 0 has no cell in the first column
    y = np.r_[np.zeros(5, int), rng.integers(1, 3, 55)]
    model = NaiveBayes(estimate=estimate, categorical_features=True).fit(
        X, y, rng.random(60)
    )
    for table in model.tables_:
        np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.syllabus("3.1")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_columns_agree_with_scikit_learn(dtype, weighted):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 300)
    X = (rng.normal(size=(300, 6)) * [1, 2, 3, 0.1, 1, 1] + y[:, None] * 0.3).astype(
        dtype
    )
    w = rng.integers(1, 4, 300).astype(float) if weighted else None
    ours, theirs = (
        NaiveBayes().fit(X, y, w),
        GaussianNB(var_smoothing=1e-9).fit(X.astype(float), y, w),
    )
    np.testing.assert_allclose(ours.means_, theirs.theta_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.variances_, theirs.var_, rtol=1e-7)
    np.testing.assert_allclose(
        ours.predict_proba(X),
        theirs.predict_proba(X.astype(float)),
        rtol=1e-6,
        atol=1e-12,
    )


@pytest.mark.syllabus("3.1", "3.2")
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64]
)
def test_categorical_columns_agree_with_scikit_learn(dtype):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 5, size=(300, 6)).astype(dtype), rng.integers(0, 3, 300)
    w = rng.random(300) + 0.1
    ours = NaiveBayes(categorical_features=True).fit(X, y, w)
    theirs = CategoricalNB(alpha=1.0).fit(X.astype(int), y, w)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X.astype(int)), rtol=1e-10
    )


def by_definition(X, kinds, y, rows):
    """Log joints of `rows` by loops over columns and classes: Laplace tables and smoothed
    Gaussians."""
    numeric = [j for j, kind in enumerate(kinds) if kind == "number"]
    epsilon = 1e-9 * max(np.nanvar(X[:, j]) for j in numeric)
    out = np.zeros((len(rows), 3))
    for k in range(3):
        out[:, k] = np.log(np.mean(y == k))
        for j, kind in enumerate(kinds):
            cells = X[y == k, j]
            cells = cells[~np.isnan(cells)]
            values = np.unique(X[~np.isnan(X[:, j]), j])
            for i, x in enumerate(rows[:, j]):
                if np.isnan(x) or (kind == "label" and x not in values):
                    continue
                if kind == "number":
                    out[i, k] += norm.logpdf(
                        x, cells.mean(), np.sqrt(cells.var() + epsilon)
                    )
                else:
                    out[i, k] += np.log(
                        (np.sum(cells == x) + 1) / (len(cells) + len(values))
                    )
    return out


@pytest.mark.syllabus("1.3", "3.1")
def test_mixed_columns_with_missing_cells_and_unseen_values_follow_the_definition():
    rng = np.random.default_rng(3)
    n, kinds = 150, ["number", "label", "number", "label", "number"]
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 5)) + y[:, None]
    X[:, [1, 3]] = rng.integers(0, 4, size=(n, 2)) * 10
    X[rng.random(X.shape) < 0.2] = np.nan
    rows = X[:40].copy()
    rows[0, 1], rows[1, 3] = 77.0, -3.0
    model = NaiveBayes(categorical_features=[1, 3]).fit(X, y)
    joint = by_definition(X, kinds, y, rows)
    wanted = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(rows), wanted, rtol=1e-9)


def test_an_unseen_category_adds_nothing(days):
    model = NaiveBayes().fit(*days)
    odd, gap = (
        NEW_DAY.assign(outlook="foggy"),
        NEW_DAY.assign(outlook=None).astype({"outlook": object}),
    )
    np.testing.assert_array_equal(model.predict_proba(odd), model.predict_proba(gap))
    assert not np.allclose(model.predict_proba(odd), model.predict_proba(NEW_DAY))


def test_a_row_without_any_cell_gets_the_priors():
    X, y = np.array([[1.0, 0], [2.0, 1], [7.0, 1]]), ["a", "b", "b"]
    model = NaiveBayes(categorical_features=[1]).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba([[np.nan, np.nan]]), [[1 / 3, 2 / 3]]
    )


def test_posteriors_sum_to_one_where_likelihoods_are_below_the_smallest_double():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 50)) + y[:, None]
    model = NaiveBayes().fit(X, y)
    far = X[:20] * 1e3
    proba = model.predict_proba(far)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    log = np.stack(
        [
            norm.logpdf(far, t, np.sqrt(v)).sum(axis=1)
            for t, v in zip(model.means_, model.variances_)
        ],
        axis=1,
    )
    assert log.max() < np.log(np.finfo(float).tiny)
    np.testing.assert_array_equal(
        model.predict(far), (log + model.class_log_prior_).argmax(axis=1)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_offset_of_a_million_changes_nothing(dtype):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    X = (
        rng.integers(-40, 40, size=(400, 3)) * 0.25 + y[:, None]
    )  # steps that float32 holds at a million
    model = NaiveBayes(var_smoothing=0.0).fit(X, y)
    moved = NaiveBayes(var_smoothing=0.0).fit((X + 1e6).astype(dtype), y)
    np.testing.assert_allclose(moved.variances_, model.variances_, rtol=1e-9)
    np.testing.assert_allclose(
        moved.predict_proba((X + 1e6).astype(dtype)), model.predict_proba(X), rtol=1e-7
    )


def test_weight_two_equals_a_repeated_row():
    rng = np.random.default_rng(6)
    X = np.c_[rng.normal(size=(50, 2)), rng.integers(0, 3, 50)]
    X[rng.random(X.shape) < 0.1] = np.nan
    y, w = rng.integers(0, 3, 50), rng.integers(1, 4, 50)
    one = NaiveBayes(categorical_features=[2]).fit(X, y, w)
    two = NaiveBayes(categorical_features=[2]).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


@pytest.mark.syllabus("3.5")
def test_partial_fit_equals_fit_though_classes_and_categories_come_late():
    rng = np.random.default_rng(7)
    y = np.sort(rng.integers(0, 3, 90))  # class 2 comes last
    X = np.c_[
        rng.normal(size=(90, 2)) + y[:, None],
        np.sort(rng.integers(0, 6, 90)),
        rng.integers(0, 2, 90),
    ]
    whole = NaiveBayes(categorical_features=[2, 3]).fit(X, y)
    parts = NaiveBayes(categorical_features=[2, 3])
    for rows in np.array_split(np.arange(90), 7):
        parts.partial_fit(X[rows], y[rows])
    assert [c.tolist() for c in parts.categories_] == [
        c.tolist() for c in whole.categories_
    ]
    np.testing.assert_allclose(
        parts.predict_proba(X), whole.predict_proba(X), rtol=1e-9
    )


def test_a_class_that_was_only_announced_is_not_predicted():
    X, y = np.array([[0.0, 1], [1.0, 0], [4.0, 1], [5.0, 1]]), [0, 0, 1, 1]
    model = NaiveBayes(categorical_features=[1]).partial_fit(X, y, classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    proba = model.predict_proba(X)
    assert (proba[:, 2] == 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    model.partial_fit([[9.0, 0], [9.5, 1]], [2, 2])
    assert model.predict([[9.2, 0]]).tolist() == [2]


def test_a_class_without_a_cell_in_a_column_takes_the_distribution_of_all_rows():
    X = np.array([[1.0, 0], [3.0, 0], [np.nan, np.nan], [np.nan, np.nan], [8.0, 1]])
    model = NaiveBayes(estimate="raw", var_smoothing=0.0, categorical_features=[1]).fit(
        X, [0, 0, 1, 1, 2]
    )
    assert model.means_[1, 0] == pytest.approx(4.0)
    assert model.variances_[1, 0] == pytest.approx(np.var([1.0, 3.0, 8.0]))
    np.testing.assert_allclose(model.tables_[0][1], [2 / 3, 1 / 3])


def test_one_class_one_row_and_constant_columns():
    one = NaiveBayes().fit([[1.0, 2.0]], ["a"])
    assert one.predict([[5.0, np.nan]]).tolist() == ["a"]
    np.testing.assert_array_equal(one.predict_proba([[5.0, 5.0]]), [[1.0]])
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    wide = np.c_[X, np.full(30, 7.5)]
    np.testing.assert_allclose(
        NaiveBayes().fit(wide, y).predict_proba(wide),
        NaiveBayes().fit(X, y).predict_proba(X),
    )
    flat = NaiveBayes().fit(np.ones((4, 2)), [0, 1, 1, 1])
    np.testing.assert_allclose(
        flat.predict_proba([[1.0, 1.0], [2.0, 0.0]]), [[0.25, 0.75]] * 2
    )


def test_a_row_that_is_impossible_in_every_class_gets_equal_posteriors():
    X, y = np.array([[0, 0], [1, 1]]), ["a", "b"]
    model = NaiveBayes(estimate="raw", categorical_features=True).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba([[0, 1]]), [[0.5, 0.5]])
    assert model.predict([[0, 1]]).tolist() == ["a"]
    assert np.isfinite(model.explain([[0, 0]]).contributions).sum() == 0


def test_no_smoothing_keeps_densities_finite():
    X, y = np.array([[1.0], [1.0], [2.0], [4.0]]), [0, 0, 1, 1]
    model = NaiveBayes(var_smoothing=0.0).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba([[1.0], [3.0]]), [[1.0, 0.0], [0.0, 1.0]], atol=1e-6
    )


def test_frames_of_every_library_give_one_model():
    rng = np.random.default_rng(9)
    columns = {
        "color": rng.choice(["red", "green", "blue"], 80).tolist(),
        "size": rng.normal(size=80).tolist(),
        "old": rng.choice([True, False], 80).tolist(),
    }
    columns["color"][3] = None
    y = rng.integers(0, 2, 80)
    arrow = pa.table(columns)
    pandas = pd.DataFrame(columns).astype({"color": "category"})
    polars = pl.DataFrame(columns).with_columns(pl.col("color").cast(pl.Categorical))
    models = [NaiveBayes().fit(frame, y) for frame in (arrow, pandas, polars)]
    wanted = models[0].predict_proba(arrow)
    for model, frame in zip(models, (arrow, pandas, polars)):
        np.testing.assert_array_equal(model.predict_proba(frame), wanted)
        assert [model.schema_[j].name for j in model._table_columns] == ["color", "old"]


def test_a_table_in_a_file_gives_the_model_of_the_frame(tmp_path, days):
    X, y = days
    table = X.assign(heat=np.linspace(15, 31, 14), play=y)
    table.to_csv(tmp_path / "days.csv", index=False)
    table.to_parquet(tmp_path / "days.parquet")
    frame = NaiveBayes().fit(table.drop(columns="play"), y)
    wanted = frame.predict_proba(table.drop(columns="play"))
    for name in ("days.csv", "days.parquet"):
        for memory in (0, 1 << 20):
            rows = scan(tmp_path / name, target="play", memory=memory)
            model = NaiveBayes().fit(rows)
            np.testing.assert_allclose(model.predict_proba(rows), wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64])
def test_categories_of_long_arrays_are_all_found(dtype):
    rng = np.random.default_rng(10)
    X = rng.integers(0, 7, size=(140_000, 2)).astype(dtype)
    X[100_000, 1], X[120_000, 0] = 99, -5
    model = NaiveBayes(categorical_features=True).fit(X, rng.integers(0, 2, 140_000))
    assert [c.tolist() for c in model.categories_] == [
        np.unique(X[:, 0]).tolist(),
        np.unique(X[:, 1]).tolist(),
    ]


def test_explanations_sum_to_the_log_odds_against_the_runner_up():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 120)
    X = np.c_[rng.normal(size=(120, 2)) + y[:, None], rng.integers(0, 3, 120)]
    X[rng.random(X.shape) < 0.1] = np.nan
    model = NaiveBayes(categorical_features=[2]).fit(X, y)
    why, log = model.explain(X), model.predict_log_proba(X)
    np.testing.assert_array_equal(why.predicted, model.predict(X))
    ordered = np.sort(log, axis=1)
    np.testing.assert_allclose(why.scores, ordered[:, -1] - ordered[:, -2], atol=1e-9)
    assert (why.contributions[np.isnan(X)] == 0).all()


def test_the_summary_shows_priors_tables_and_means(days):
    X, y = days
    text = str(NaiveBayes().fit(X.assign(heat=np.linspace(15, 31, 14)), y).summary())
    for word in ("prior", "outlook", "overcast", "mean | yes", "heat", "laplace"):
        assert word in text


def test_priors_of_the_wrong_length_are_refused():
    with pytest.raises(SettingError, match="3 classes"):
        NaiveBayes(priors=[0.5, 0.5]).fit(np.arange(3.0)[:, None], [0, 1, 2])


def test_infinities_are_refused_by_the_name_of_the_column():
    with pytest.raises(DataError, match="'x1' has an infinity"):
        NaiveBayes().fit([[1.0, np.inf], [2.0, 1.0]], [0, 1])


def test_text_where_numbers_were_learned_is_refused():
    model = NaiveBayes().fit(pd.DataFrame({"a": [1.5, 2.5, 4.0]}), [0, 1, 1])
    with pytest.raises(SchemaError, match="'a'"):
        model.predict(pd.DataFrame({"a": ["x", "y"]}))

"""FillTransformer with one value per column, a category of their own, and dropping rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.impute import MissingIndicator, SimpleImputer as TheirSimpleImputer
from sklearn.utils import get_tags
from tests.prepare.tables import mixed, numbers

from lyceum.data import scan
from lyceum.errors import SchemaError, SettingError
from lyceum.prepare import DropMissing, MissingCategory, SimpleImputer


@pytest.mark.syllabus("1.3.2")
@pytest.mark.parametrize("way", ["mean", "median", "constant"])
def test_numbers_are_filled_as_by_scikit_learn(way):
    X = numbers()
    theirs = TheirSimpleImputer(
        strategy=way, fill_value=-7.5 if way == "constant" else None
    ).fit_transform(X)
    assert_allclose(
        SimpleImputer(strategy=way, fill_value=-7.5).fit_transform(X),
        theirs,
        rtol=1e-14,
    )


@pytest.mark.syllabus("1.3")
def test_words_are_filled_with_their_mode():
    frame = mixed()[["city", "sex", "smokes"]]
    theirs = TheirSimpleImputer(
        strategy="most_frequent", missing_values=None
    ).fit_transform(frame.astype(object).replace({np.nan: None}))
    assert_array_equal(SimpleImputer().fit_transform(frame).astype(object), theirs)


def test_the_first_of_equally_common_categories_is_the_mode():
    frame = pd.DataFrame({"c": ["b", "a", None, "a", "b", "c"]})
    assert SimpleImputer().fit_transform(frame)["c"].tolist() == [
        "b",
        "a",
        "a",
        "a",
        "b",
        "c",
    ]


def test_two_numbers_in_a_scan_are_filled_with_their_mode():
    table = pa.table({"smokes": [1.0, None, 5.0, 5.0], "age": [1.0, 2.0, None, 6.0]})
    rows = scan(table, kinds={"smokes": "binary"})
    filled = np.concatenate(
        [block.X for block in SimpleImputer().fit_transform(rows).blocks()]
    )
    assert_array_equal(filled, [[1, 1], [5, 2], [5, 3], [5, 6]])


@pytest.mark.parametrize(
    "transformer",
    [SimpleImputer(strategy="median"), SimpleImputer(), MissingCategory()],
)
def test_weights_are_repeated_rows(transformer):
    frame = mixed(60).drop(columns="ill")
    w = np.random.default_rng(0).integers(0, 4, 60)
    again = frame.loc[frame.index.repeat(w)]
    one = transformer.fit(frame, sample_weight=w.astype(float))
    fill, missing = one.fill_, one.missing_
    transformer.fit(again)
    assert_allclose(fill, transformer.fill_, rtol=1e-12)
    assert_allclose(missing, transformer.missing_, rtol=1e-12)


def test_indicators_are_scikit_learns_and_named():
    X = numbers()
    X[:, 1] = 1.0
    filler = SimpleImputer(add_indicator=True).fit(X)
    assert_array_equal(filler.transform(X)[:, 4:], MissingIndicator().fit_transform(X))
    assert filler.get_feature_names_out().tolist()[4:] == [
        "missingindicator_x0",
        "missingindicator_x2",
        "missingindicator_x3",
    ]
    frame = mixed()
    out = SimpleImputer(add_indicator=True).fit_transform(frame)
    assert_array_equal(out["city missing"], frame["city"].isna())
    assert "ill missing" not in out.columns


def test_missing_cells_in_columns_that_had_none_are_filled_all_the_same():
    frame = pd.DataFrame({"a": [1.0, 2.0, 6.0], "c": ["x", "y", "y"]})
    for transformer in (
        SimpleImputer(),
        SimpleImputer(add_indicator=True),
        MissingCategory(),
        SimpleImputer(categorical="constant"),
    ):
        out = transformer.fit(frame).transform(
            pd.DataFrame({"a": [np.nan], "c": pd.Series([None], dtype="str")})
        )
        assert out.to_dict("list") == {"a": [3.0], "c": ["y"]}


def test_an_unknown_category_is_not_missing():
    frame = pd.DataFrame({"c": ["x", "y", None, "y"]})
    new = pd.DataFrame({"c": ["z", None]})
    assert SimpleImputer().fit(frame).transform(new)["c"].tolist() == ["z", "y"]
    assert MissingCategory().fit(frame).transform(new)["c"].tolist() == ["z", "missing"]
    rows = MissingCategory().fit(frame).transform(scan(new))
    assert_array_equal(next(rows.blocks()).X, [[-1], [2]])


@pytest.mark.parametrize(
    "transformer",
    [SimpleImputer(), SimpleImputer(strategy="median"), MissingCategory()],
)
def test_a_column_of_missing_cells_alone_is_filled_with_a_warning(transformer):
    X = pa.table({"x0": [1.0, 2.0, 3.0], "x1": pa.array([None] * 3, pa.float64())})
    with pytest.warns(UserWarning, match="column 'x1' has nothing but missing values"):
        transformer.fit(X)
    assert transformer.transform(X)["x1"].to_pylist() == [0.0] * 3
    frame = pd.DataFrame({"c": pd.Categorical([None, None], categories=["u", "v"])})
    with pytest.warns(UserWarning, match="column 'c' has nothing but missing values"):
        out = transformer.fit_transform(frame)
    assert out["c"].notna().all()


def test_a_constant_category_is_added_or_used():
    frame = pd.DataFrame(
        {
            "c": ["x", None, "y"],
            "k": pd.Categorical([1, 2, None]),
            "b": [True, None, False],
        }
    )
    out = SimpleImputer(categorical="constant", fill_value="x").fit_transform(frame)
    assert out["c"].tolist() == ["x", "x", "y"]
    assert out["k"].tolist() == ["1", "2", "x"]
    assert out["b"].tolist() == ["True", "x", "False"]
    out = SimpleImputer(categorical="constant", fill_value=2).fit_transform(
        frame[["k"]]
    )
    assert out["k"].tolist() == [1, 2, 2]


@pytest.mark.syllabus("1.3.3")
def test_missing_is_a_category_of_its_own():
    frame = mixed()
    out = MissingCategory().fit_transform(frame)
    assert (out["city"] == "missing").equals(frame["city"].isna())
    assert (out["smokes"] == "missing").equals(frame["smokes"].isna())
    assert out["ill"].equals(frame["ill"])
    assert_array_equal(out["age missing"], frame["age"].isna())
    assert_allclose(out["age"], frame["age"].fillna(frame["age"].mean()))
    kept = MissingCategory(continuous="keep").fit_transform(frame)
    assert kept.columns.tolist() == frame.columns.tolist()
    assert kept["age"].isna().equals(frame["age"].isna())


def test_a_category_that_is_called_missing_already_stays_one():
    frame = pd.DataFrame({"c": ["missing", None, "a"]})
    filler = MissingCategory().fit(frame)
    assert filler.filled_schema_["c"].categories.tolist() == ["a", "missing"]
    assert filler.transform(frame)["c"].tolist() == ["missing", "missing", "a"]


def test_in_an_array_the_missing_category_is_the_largest_code():
    X = np.array([[0.0, 1.5], [1.0, 2.5], [np.nan, 3.5], [2.0, 4.5]])
    assert_array_equal(
        MissingCategory(categorical_features=[0]).fit_transform(X)[:, 0], [0, 1, 3, 2]
    )
    X = np.array([[30.0], [10.0], [np.nan], [30.0], [77.0]])
    filler = SimpleImputer(categorical_features=[0]).fit(X[:4])
    assert_array_equal(filler.transform(X).ravel(), [30, 10, 30, 30, 77])


def test_partial_fit_is_fit_on_all_rows():
    frame = mixed()
    for transformer in (
        SimpleImputer(add_indicator=True),
        SimpleImputer(strategy="median"),
        MissingCategory(),
    ):
        whole = transformer.fit(frame)
        fill, names = whole.fill_, whole.get_feature_names_out().tolist()
        parts = type(transformer)(**transformer.get_params())
        for start in range(0, 400, 110):
            parts.partial_fit(frame[start : start + 110])
        assert_allclose(parts.fill_, fill, rtol=1e-12)
        assert parts.get_feature_names_out().tolist() == names


def test_a_table_without_numbers_has_no_medians_to_take():
    frame = pd.DataFrame({"c": ["a", None, "a"]})
    assert SimpleImputer(strategy="median").fit_transform(frame)["c"].tolist() == [
        "a",
        "a",
        "a",
    ]


def test_partial_fit_meets_new_categories():
    filler = SimpleImputer().fit(pd.DataFrame({"c": ["b", "b", "c"]}))
    filler.partial_fit(pd.DataFrame({"c": ["a", "a", "a"]}))
    assert filler.transform(pd.DataFrame({"c": [None, "b"]}))["c"].tolist() == [
        "a",
        "b",
    ]


def test_times_are_filled_as_seconds_since_1970():
    frame = pd.DataFrame({"t": pd.to_datetime(["2024-01-01", None, "2024-01-03"])})
    expected = pd.Timestamp("2024-01-02").timestamp()
    assert SimpleImputer().fit_transform(frame)["t"].tolist()[1] == expected


def test_float32_stays_float32():
    X = numbers(offset=10.0).astype(np.float32)
    for transformer in (
        SimpleImputer(),
        SimpleImputer(add_indicator=True),
        MissingCategory(),
    ):
        assert transformer.fit_transform(X).dtype == np.float32


def test_transform_does_not_hand_out_the_users_array():
    X = np.arange(6.0).reshape(3, 2)
    for transformer in (SimpleImputer(), DropMissing(), MissingCategory()):
        out = transformer.fit_transform(X)
        out[:] = -1
        assert X[0, 1] == 1.0


@pytest.mark.syllabus("1.3.1")
def test_rows_with_missing_cells_are_dropped():
    X, frame = numbers(), mixed()
    assert_array_equal(DropMissing().fit_transform(X), X[~np.isnan(X).any(axis=1)])
    pd.testing.assert_frame_equal(DropMissing().fit_transform(frame), frame.dropna())
    dropper = DropMissing().fit(frame)
    assert dropper.complete_ == len(frame.dropna()) / len(frame)
    assert_allclose(dropper.missing_, frame.isna().mean())


def test_drop_takes_target_and_weights_along():
    X = numbers(50)
    y = np.random.default_rng(0).normal(size=50)
    y[3] = np.nan
    w = np.arange(50.0)
    keep = ~np.isnan(X).any(axis=1) & ~np.isnan(y)
    for ours, theirs in zip(
        DropMissing().fit(X).drop(X, y, w), (X[keep], y[keep], w[keep])
    ):
        assert_array_equal(ours, theirs)
    words = np.where(y > 0, "a", "b").astype(object)
    words[0] = None
    kept = DropMissing().fit(X).drop(X, words)
    assert None not in kept[1].tolist()
    assert kept[2] is None
    with pytest.raises(ValueError, match="inconsistent"):
        DropMissing().fit(X).drop(X, y[:-1])


def test_dropped_rows_of_a_scan_take_their_target_and_weight_along():
    frame = mixed().assign(w=np.arange(400.0))
    frame.loc[frame.index[::9], "ill"] = None
    rows = DropMissing().fit_transform(scan(frame, target="ill", weight="w"))
    left = frame.dropna()
    assert rows.n_rows is None
    assert_array_equal(np.concatenate([block.w for block in rows.blocks()]), left["w"])
    codes = np.concatenate([block.y for block in rows.blocks()])
    assert_array_equal(rows.schema.target.categories[codes], left["ill"])


def test_errors_name_the_column():
    with pytest.raises(SchemaError, match="'c' holds categories"):
        SimpleImputer(categorical_features=None).fit(pd.DataFrame({"c": ["a", None]}))


def test_one_fill_value_serves_one_kind_or_both_by_name():
    frame = pd.DataFrame({"x": [1.0, None], "k": ["a", None]})
    both = {"strategy": "constant", "categorical": "constant"}
    values = {"continuous": -1, "categorical": "none"}
    out = SimpleImputer(**both, fill_value=values).fit_transform(frame)
    assert out["x"].tolist() == [1.0, -1.0]
    assert out["k"].tolist() == ["a", "none"]
    plain = SimpleImputer(**both).fit_transform(frame)
    assert (plain["x"][1], plain["k"][1]) == (0.0, "missing")
    for odd in ("none", {"numbers": 0.0}, {"continuous": "x"}):
        with pytest.raises(SettingError, match="is no number for continuous columns"):
            SimpleImputer(**both, fill_value=odd).fit(frame)


@pytest.mark.parametrize("missing", [np.nan, float("nan"), pd.NA, None, -1, "?"])
def test_tags_are_scikit_learns(missing):
    ours = get_tags(SimpleImputer(missing_values=missing)).input_tags
    theirs = get_tags(TheirSimpleImputer(missing_values=missing)).input_tags
    assert (ours.allow_nan, ours.sparse) == (theirs.allow_nan, theirs.sparse)


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 4.0]]), "2.5"),
        (np.array([["a", "u"], [np.nan, "u"]], dtype=object), "u"),
    ],
)
def test_the_summary_of_an_array_says_what_fills_its_columns(cells, text):
    is_number = cells.dtype.kind == "f"
    strategy = "mean" if is_number else "most_frequent"
    summary = SimpleImputer(strategy=strategy).fit(cells).summary()
    [table] = summary.tables
    assert [row[0] for row in table.rows] == ["x0", "x1"]
    assert text in str(summary)

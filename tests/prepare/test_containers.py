"""What comes in comes out: frames of every library, Dask, set_output."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.prepare.tables import mixed, numbers

from lyceum.prepare import (
    DropMissing,
    IterativeImputer,
    MinMaxScaler,
    MissingCategory,
    OneHotEncoder,
    SimpleImputer,
    StandardScaler,
)

ALL = [
    StandardScaler(),
    MinMaxScaler(),
    OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore"),
    SimpleImputer(add_indicator=True),
    MissingCategory(),
    DropMissing(),
    IterativeImputer(),
]


def _plain(frame):
    """A pandas frame of objects with None for missing cells."""
    return frame.astype(object).where(frame.notna(), None).reset_index(drop=True)


@pytest.mark.parametrize("transformer", ALL, ids=repr)
@pytest.mark.parametrize("library", ["polars", "arrow", "duckdb"])
def test_frames_of_all_libraries_come_out_alike(transformer, library):
    frame = mixed()
    expected = transformer.fit_transform(frame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    given = {
        "polars": lambda: pl.from_arrow(table),
        "arrow": lambda: table,
        "duckdb": lambda: duckdb.from_arrow(table),
    }
    out = transformer.fit(given[library]()).transform(given[library]())
    assert type(out) is (pl.DataFrame if library == "polars" else pa.Table)
    back, plain = _plain(out.to_pandas()), _plain(expected)
    assert back.columns.tolist() == expected.columns.tolist()
    for name in back.columns:
        ours, theirs = back[name], plain[name]
        assert ours.isna().equals(theirs.isna()), name
        if theirs.map(lambda cell: isinstance(cell, float)).any():
            assert_allclose(ours.astype(float), theirs.astype(float), rtol=1e-12)
        else:
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("transformer", ALL[:-2], ids=repr)
def test_pandas_keeps_index_labels_and_types(transformer):
    frame = mixed(30)
    frame["city"], frame["sex"] = (
        frame["city"].astype("category"),
        frame["sex"].astype(object),
    )
    frame.index = pd.date_range("2024-01-01", periods=30)
    out = transformer.fit_transform(frame)
    assert out.index.equals(frame.index)
    if not isinstance(transformer, OneHotEncoder):
        assert isinstance(out["city"].dtype, pd.CategoricalDtype)
        assert out["sex"].dtype == object
        assert out.columns.tolist()[:6] == frame.columns.tolist()
    labeled = pd.DataFrame(numbers(20), columns=[10, 20, 30, 40])
    assert transformer.fit_transform(labeled).columns.tolist()[:4] == [10, 20, 30, 40]


def test_polars_categories_stay_categories():
    frame = pl.DataFrame(
        {
            "c": pl.Series(["a", None, "b", "a"], dtype=pl.Categorical),
            "x": [1.0, None, 2.0, 3.0],
        }
    )
    out = SimpleImputer().fit_transform(frame)
    assert out.schema["c"] == pl.Categorical
    assert out["c"].to_list() == ["a", "a", "b", "a"]
    assert out["x"].to_list() == [1.0, 2.0, 2.0, 3.0]


def test_numbers_of_a_category_type_stay_categories():
    frame = pd.DataFrame(
        {"k": pd.Categorical([3, 5, None, 5]), "x": [1.0, 2.0, 3.0, 4.0]}
    )
    out = SimpleImputer().fit_transform(frame)
    assert out["k"].tolist() == [3, 5, 5, 5]
    assert isinstance(out["k"].dtype, pd.CategoricalDtype)
    ordered = frame.assign(
        k=pd.Categorical(
            ["lo", "hi", None, "hi"], categories=["lo", "hi"], ordered=True
        )
    )
    filled = MissingCategory().fit_transform(ordered)["k"]
    assert filled.dtype.categories.tolist() == ["lo", "hi", "missing"]
    assert filled.dtype.ordered


@pytest.mark.parametrize("transformer", ALL, ids=repr)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_chooses_the_library(transformer, library):
    transformer = type(transformer)(**transformer.get_params()).set_output(
        transform=library
    )
    kind = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library]
    frame = mixed(50)
    for given in (
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        numbers(50),
    ):
        out = transformer.fit_transform(given)
        assert isinstance(out, kind)
        assert list(out.columns) == transformer.get_feature_names_out().tolist()


def test_an_array_of_categories_becomes_a_frame_of_words():
    X = np.array([[3.0], [np.nan], [5.0], [3.0]])
    filler = (
        MissingCategory(categorical_features=[0]).set_output(transform="pandas").fit(X)
    )
    assert filler.transform(X)["x0"].tolist() == ["3", "missing", "5", "3"]
    assert filler.transform([[8.0]])["x0"].tolist() == ["8"]


@pytest.mark.parametrize("transformer", ALL, ids=repr)
def test_dask_frames_come_out_as_lazy_frames(transformer):
    dd = pytest.importorskip("dask.dataframe")
    frame = mixed(200)
    frame["smokes"] = frame["smokes"].astype("boolean")
    lazy = dd.from_pandas(frame, npartitions=3)
    here = transformer.fit_transform(frame)
    there = transformer.fit_transform(lazy)
    assert hasattr(there, "dask")
    assert list(there.columns) == list(here.columns)
    done, plain = _plain(there.compute()), _plain(here)
    for name in here.columns:
        ours, theirs = done[name], plain[name]
        if here[name].dtype.kind == "f":
            assert_allclose(ours.astype(float), theirs.astype(float), rtol=1e-9)
        else:
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("transformer", ALL, ids=repr)
def test_dask_arrays_come_out_as_lazy_arrays(transformer):
    da = pytest.importorskip("dask.array")
    X = numbers(200)
    out = transformer.fit_transform(da.from_array(X, chunks=(60, 3)))
    assert isinstance(out, da.Array)
    assert_allclose(out.compute(), transformer.fit_transform(X), rtol=1e-9, atol=1e-9)


def test_an_empty_dask_partition_is_no_trouble():
    dd = pytest.importorskip("dask.dataframe")
    frame = mixed(90)
    lazy = dd.concat(
        [
            dd.from_pandas(frame[:40], npartitions=1),
            dd.from_pandas(frame[40:], npartitions=1),
        ]
    )
    lazy = lazy[lazy["ill"] != "nobody"].map_partitions(
        lambda part: part if len(part) > 45 else part[:0]
    )
    out = SimpleImputer().fit_transform(lazy).compute()
    assert_array_equal(out.index, frame.index[40:])


def test_levels_that_were_read_as_text_come_back_as_they_were():
    x = np.array([-2.0, -0.5, 3.0, np.nan] * 5)
    mixed = pd.Categorical(np.array(["b", 1, 2.5, 1] * 5, dtype=object), ["b", 2.5, 1])
    frame = pd.DataFrame({"x": x, "cut": pd.cut(x, [-9, -1, 0, 9]), "mixed": mixed})
    model = SimpleImputer().fit(frame)
    filled = model.transform(frame)
    assert filled.dtypes["cut"] == frame.dtypes["cut"]
    assert filled.dtypes["mixed"] == frame.dtypes["mixed"]
    present = frame["cut"].notna()
    assert filled["cut"][present].equals(frame["cut"][present])
    assert filled["mixed"].equals(frame["mixed"])
    assert filled["cut"].notna().all()
    model.transform(filled)

"""Whole numbers beyond 2⁵³, which floats do not tell apart, keep their value as categories and
labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.trees import DecisionTreeClassifier

LABELS = 2**53 + np.arange(5)
N = 60
FRAME = pd.DataFrame(
    {"x": np.arange(N) % 5 + 0.5, "id": np.tile(LABELS, 12), "y": np.tile(LABELS, 12)}
)
KINDS = {"id": "categorical", "y": "categorical"}


def written(folder, kind, frame=FRAME):
    path = folder / f"t.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    return path


@pytest.mark.parametrize("memory", [0, 1 << 30])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_in_files_labels_and_categories_stay_apart(tmp_path, kind, memory):
    rows = scan(written(tmp_path, kind), target="y", kinds=KINDS, memory=memory)
    assert rows.schema["id"].categories.tolist() == LABELS.tolist()
    assert rows.schema.target.categories.tolist() == LABELS.tolist()
    model = DecisionTreeClassifier().fit(rows)
    assert model.predict(rows).tolist() == FRAME.y.tolist()
    assert model.score(rows) == 1.0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_missing_cells_do_not_make_them_floats(tmp_path, kind):
    frame = FRAME.assign(id=FRAME.id.astype("Int64"))
    frame.loc[::7, "id"] = pd.NA
    rows = scan(written(tmp_path, kind, frame), target="y", kinds=KINDS)
    assert rows.schema["id"].categories.tolist() == LABELS.tolist()
    codes = np.concatenate([block.X[:, 1] for block in rows.blocks()])
    np.testing.assert_array_equal(np.isnan(codes), frame.id.isna())
    assert set(codes[~np.isnan(codes)]) == {0, 1, 2, 3, 4}


def test_small_numbers_in_an_earlier_part_do_not_round_later_ones(tmp_path):
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    pd.DataFrame({"x": [1.0, 2.0], "y": [1, 2]}).to_csv(paths[0], index=False)
    pd.DataFrame({"x": [1.0, 2.0], "y": [2**53, 2**53 + 1]}).to_csv(
        paths[1], index=False
    )
    for memory in (0, 1 << 30):
        rows = scan(paths, target="y", kinds={"y": "categorical"}, memory=memory)
        assert rows.schema.target.categories.tolist() == [1, 2, 2**53, 2**53 + 1]


@pytest.mark.parametrize(
    "made", [pd.DataFrame, pl.DataFrame, np.array], ids=["pandas", "polars", "array"]
)
def test_frames_and_arrays_declared_as_categories(made):
    table = made(FRAME[["x", "id"]]) if made is pd.DataFrame else None
    if made is pl.DataFrame:
        table = pl.from_pandas(FRAME[["x", "id"]])
    features = ["id"]
    if made is np.array:
        table, features = np.column_stack([FRAME.index, FRAME.id]), [1]
    model = DecisionTreeClassifier(categorical_features=features).fit(table, FRAME.y)
    assert model.schema_[1].categories.tolist() == LABELS.tolist()
    assert model.predict(table).tolist() == FRAME.y.tolist()


def test_two_of_them_are_binary_and_stay_apart(tmp_path):
    frame = FRAME.assign(id=np.tile(LABELS[:2], 30), y=np.tile(LABELS[:2], 30))
    rows = scan(written(tmp_path, "csv", frame), target="y")
    assert rows.schema["id"].kind == "binary"
    assert NaiveBayes().fit(rows).score(rows) == 1.0
    assert np.unique(rows.y).tolist() == LABELS[:2].tolist()


def test_unsigned_labels_beyond_64_signed_bits():
    labels = np.array([2**63 + 1, 2**63 + 2] * 10, dtype=np.uint64)
    model = NaiveBayes().fit(np.arange(20.0).reshape(-1, 1) % 2, labels)
    assert model.classes_.tolist() == [2**63 + 1, 2**63 + 2]
    assert model.predict([[1.0]]).tolist() == [2**63 + 2]


@pytest.mark.parametrize(
    "cell", ["9999999999999²99999999", "--99999999999999999999", "9" * 5_000]
)
def test_long_cells_that_int_refuses_are_read(cell, tmp_path):
    (tmp_path / "t.csv").write_text(f"name,size\na,1\nb,{cell}\n", encoding="utf-8")
    assert cell in scan(tmp_path / "t.csv").schema["size"].categories

"""Whole numbers beyond 2⁵³, which floats do not tell apart, keep their value as categories and
labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lyceum._core.data import read_data
from lyceum._core.data.files import csv as csv_module
from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.errors import DataError, SchemaError
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


LONG = [2**63, 2**63 + 1, -(2**63) - 1, 10**30, 10**30 + 1]


@pytest.mark.parametrize("memory", [0, 1 << 30])
@pytest.mark.parametrize("first", ["1", "0.5", "1e300", ""])
def test_beyond_64_bits_they_keep_their_digits_however_late_they_come(
    tmp_path, monkeypatch, memory, first
):
    monkeypatch.setattr(csv_module, "_STREAM_BYTES", 1 << 10)
    cells = [first] * 3000 + [str(cell) for cell in LONG]
    path = tmp_path / "t.csv"
    path.write_text("id,y\n" + "".join(f"{cell},1\n" for cell in cells))
    rows = scan(path, kinds={"id": "categorical"}, memory=memory)
    expected = {cell for cell in cells if cell}
    assert set(rows.schema["id"].categories) == expected
    codes = np.concatenate([block.X[:, 0] for block in rows.blocks()])
    assert len(np.unique(codes[3000:])) == len(LONG)


@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_large_numbers_with_exponents_stay_numbers(tmp_path, memory):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1e300,1\n-2.5e19,2\n3,3\n")
    rows = scan(path, memory=memory)
    cells = np.concatenate([block.X[:, 0] for block in rows.blocks()])
    assert cells.tolist() == [1e300, -2.5e19, 3.0]


def test_in_the_second_of_two_files_too(tmp_path):
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    paths[0].write_text("a,y\n1e300,1\n2,2\n")
    paths[1].write_text("a,y\n9223372036854775809,1\n9223372036854775808,2\n")
    for memory in (0, 1 << 30):
        rows = scan(paths, memory=memory)
        expected = ["1e300", "2", "9223372036854775808", "9223372036854775809"]
        assert rows.schema["a"].categories.tolist() == expected


X = np.arange(20.0).reshape(-1, 1) % 2
GIVEN = {
    "objects": lambda y: np.array(y, dtype=object),
    "a list": list,
    "pandas": pd.Series,
}


@pytest.mark.parametrize("given", GIVEN)
def test_labels_of_64_bits_without_a_sign_are_labels(given):
    labels = GIVEN[given]([2**63 + 1, 2**63 + 2] * 10)
    model = NaiveBayes().fit(X, labels)
    assert model.classes_.tolist() == [2**63 + 1, 2**63 + 2]
    assert model.predict(X).tolist() == list(labels)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(
    "pair", [(2**64, 2**64 + 1), (-(2**63) - 1, 5), (2**63 + 1, -1), (2**200, 0)]
)
def test_larger_labels_are_refused_by_value_and_remedy(given, pair):
    labels = GIVEN[given](list(pair) * 10)
    with pytest.raises(SchemaError, match=r"'y' holds .*beyond 64 bits.*astype\(str\)"):
        NaiveBayes().fit(X, labels)


@pytest.mark.parametrize("given", GIVEN)
def test_labels_that_floats_round_beside_decimals_are_refused_by_value(given):
    labels = GIVEN[given]([2**53 + 1, 0.5] * 10)
    if given == "pandas":
        labels = labels.astype(object)
        labels[labels > 1] = 2**53 + 1
    with pytest.raises(SchemaError, match="floats round, such as 9007199254740993"):
        NaiveBayes().fit(X, labels)


@pytest.mark.parametrize("pair", [(2**53, 2**53 + 1), (2**63, 2**63 + 1), (2**64, 1)])
@pytest.mark.parametrize("beside", [0.5, "red"])
@pytest.mark.parametrize("made", ["objects", "list"])
def test_categories_in_arrays_of_objects_stay_apart_or_are_refused(pair, beside, made):
    cells = [[number, beside] for number in pair * 10]
    y = np.tile([0, 1], 10)
    given = np.array(cells, dtype=object) if made == "objects" else cells
    model = DecisionTreeClassifier(categorical_features=[0, 1])
    if beside == "red" and pair[0] < 2**64:
        assert model.fit(given, y).score(given, y) == 1.0
        assert model.schema_[0].categories.tolist() == list(pair)
        return
    with pytest.raises(SchemaError, match=r"'x0' holds .*(\d{16}).*astype"):
        model.fit(given, y)


def test_unsigned_arrays_of_categories_are_refused_where_floats_merge_them():
    cells = np.array([[2**63], [2**63 + 1]] * 10, dtype=np.uint64)
    model = DecisionTreeClassifier(categorical_features=[0])
    with pytest.raises(SchemaError, match=r"'x0' holds .*9223372036854775808.*text"):
        model.fit(cells, np.tile([0, 1], 10))


def test_a_list_of_whole_numbers_keeps_them():
    cells = [[2**53], [2**53 + 1]] * 10
    y = np.tile([0, 1], 10)
    model = DecisionTreeClassifier(categorical_features=[0]).fit(cells, y)
    assert model.score(cells, y) == 1.0
    with pytest.raises(SchemaError, match=r"'x0' holds .*9007199254740993"):
        model.predict(np.array([[2**53 + 1], [0.5]], dtype=object))


@pytest.mark.parametrize("row", ['{"id": "%s"}', '"%s","1,000"'])
def test_written_as_text_they_stay_apart(tmp_path, row):
    path = tmp_path / "t.jsonl"
    lines = [row % label for label in LABELS]
    if "," in row:
        path = tmp_path / "t.csv"
        lines = ["id,amount", '"7,000","8,000"', *lines]
    path.write_text("\n".join([*lines, ""]))
    cells = read_data(path).table["id"].to_pylist()
    assert cells[-5:] == list(map(str, LABELS))


@pytest.mark.parametrize("declared", ["integer", "numeric"])
def test_in_arff_files_they_stay_apart(tmp_path, declared):
    path = tmp_path / "t.arff"
    rows = "\n".join(map(str, LABELS))
    path.write_text(f"@relation r\n@attribute id {declared}\n@data\n{rows}\n")
    assert read_data(path).table["id"].to_pylist() == LABELS.tolist()


@pytest.mark.parametrize("declared", ["integer", "numeric", "real"])
def test_in_arff_files_numbers_of_64_bits_without_sign_stay_apart(tmp_path, declared):
    numbers = [2**64 - 1, 2**64 - 2, 2**63]
    path = tmp_path / "t.arff"
    rows = "\n".join(map(str, numbers))
    path.write_text(f"@relation r\n@attribute id {declared}\n@data\n{rows}\n")
    assert read_data(path).table["id"].to_pylist() == numbers


def test_in_arff_files_whole_numbers_beyond_64_bits_are_refused_by_value(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(f"@relation r\n@attribute id integer\n@data\n1\n{2**64}\n")
    with pytest.raises(
        DataError, match=r"t.arff: attribute 'id' .* '18446744073709551616'"
    ):
        read_data(path)
    path.write_text("@relation r\n@attribute id numeric\n@data\n0.5\n1e300\n")
    assert read_data(path).table["id"].to_pylist() == [0.5, 1e300]


def test_unsigned_numbers_of_128_bits_of_duckdb_keep_their_sign_or_are_refused(
    tmp_path,
):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table t as select {2**127 - 1}::uhugeint as id")
    assert int(read_data(path).table["id"][0].as_py()) == 2**127 - 1
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"insert into t values ({2**127}), (null)")
    with pytest.raises(DataError, match=r"t.duckdb: column 'id' holds .* 2\^127"):
        read_data(path)

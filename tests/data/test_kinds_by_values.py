"""`scan(infer="values")`: numbers with types get the kinds that a CSV file would give them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lyceum.data import scan
from lyceum.errors import SettingError
from lyceum.neighbors import KNeighborsClassifier

pytestmark = pytest.mark.syllabus("1.1")

TABLE = pd.DataFrame(
    {
        "smoker": [0, 1, 1, 0, 1],
        "dose": [2.5, 5.0, 2.5, 5.0, 2.5],
        "age": [31, 45, 52, 28, 60],
        "same": [7, 7, 7, 7, 7],
        "hole": [0.0, np.nan, 1.0, 0.0, 1.0],
        "sex": list("fmffm"),
        "told": [True, False, True, True, False],
        "code": pd.Categorical([1, 2, 3, 1, 2]),
    }
)
EXPECTED = {
    "smoker": "binary",
    "dose": "binary",
    "age": "continuous",
    "same": "continuous",
    "hole": "binary",
    "sex": "binary",
    "told": "binary",
    "code": "categorical",
}


def kinds(rows):
    return {column.name: column.kind for column in rows.schema}


@pytest.mark.syllabus("1.1.2")
def test_two_distinct_numbers_of_a_frame_are_binary_by_values_and_continuous_by_type():
    assert kinds(scan(TABLE, infer="values")) == EXPECTED
    typed = kinds(scan(TABLE))
    assert typed == kinds(scan(TABLE, infer="types"))
    assert typed == EXPECTED | dict.fromkeys(["smoker", "dose", "hole"], "continuous")


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_parquet_files_of_any_size_and_csv_files_agree(tmp_path, memory):
    table = TABLE.drop(columns="code")
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv", index=False)
    of_parquet = scan(tmp_path / "t.parquet", infer="values", memory=memory)
    assert kinds(of_parquet) == kinds(scan(tmp_path / "t.csv", memory=memory))
    assert kinds(of_parquet) == kinds(scan(table, infer="values"))


def test_arrays_declared_kinds_targets_and_learners():
    X = TABLE[["smoker", "age"]].to_numpy(dtype=float)
    assert kinds(scan(X, infer="values")) == {"x0": "binary", "x1": "continuous"}
    declared = scan(TABLE, infer="values", kinds={"smoker": "continuous"})
    assert kinds(declared) == EXPECTED | {"smoker": "continuous"}
    rows = scan(TABLE[["smoker", "age", "sex"]], "sex", infer="values")
    assert rows.schema.target.kind == "binary"
    model = KNeighborsClassifier(1).fit(rows)
    assert model.predict(rows).tolist() == TABLE["sex"].tolist()
    assert model.schema_["smoker"].kind == "binary"


def test_dask_frames_too():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(TABLE[["smoker", "age"]], npartitions=2)
    assert kinds(scan(frame, infer="values")) == {
        "smoker": "binary",
        "age": "continuous",
    }


def test_another_word_is_refused():
    with pytest.raises(SettingError, match="choose from 'types', 'values'"):
        scan(TABLE, infer="guess")

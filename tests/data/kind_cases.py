"""A small table with a column of every kind."""

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

AGES = [31.5, 45.0, None, 52.25]
COLUMNS = {
    "age": AGES,
    "sex": ["f", "m", "f", None],
    "town": ["Ulm", "Bonn", "Köln", "Ulm"],
    "rooms": [1, 2, 3, 2],
    "smokes": [0, 1, 1, 0],
    "answer": ["yes", "no", "no", "yes"],
}


def arrow():
    return pa.table(COLUMNS)


def written(tmp_path, suffix):
    path = str(tmp_path / f"table{suffix}")
    frame = pd.DataFrame(COLUMNS)
    if suffix in (".csv", ".csv.gz"):
        frame.to_csv(path, index=False)
    elif suffix == ".tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif suffix == ".parquet":
        pq.write_table(arrow(), path)
    elif suffix == ".feather":
        pyarrow.feather.write_feather(arrow(), path)
    else:
        with (
            pa.OSFile(path, "wb") as file,
            pa.ipc.new_file(file, arrow().schema) as writer,
        ):
            writer.write_table(arrow())
    return path

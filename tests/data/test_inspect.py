"""inspect: every suspicion is raised where it is due, and not on clean columns."""

import gzip
import json
from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from lyceum import datasets
from lyceum._core.data import TableProfile, read_data
from lyceum._core.data.files.large_file import SampledProfile
from lyceum._core.data.inspection.leaks import (
    _auc,
    _correlation,
    _entropy_explained,
    _ranks,
)
from lyceum.data import FileFormat, inspect, scan
from lyceum.errors import DataError, SchemaError
from lyceum.progress import watch

N = 400
rng = np.random.default_rng(0)
NOISE = rng.normal(size=N)
LABEL = rng.choice(["no", "yes"], N, p=[0.7, 0.3])


def codes(found, name):
    return [flag.code for flag in found[name].flags]


def flags_of(column, **others):
    return codes(inspect(pa.table({"it": pa.array(column), **others})), "it")


# -- counts ----------------------------------------------------------------------------


@pytest.mark.syllabus("1.1")
def test_kinds_ranges_missing_cells_and_categories_are_those_of_the_table():
    found = inspect(datasets.path("penguins"), target="species")
    frame = pd.read_csv(datasets.path("penguins"))
    assert (found.n_rows, found.n_missing) == (344, 19)
    for name in frame.columns:
        column = found[name]
        assert column.n_missing == frame[name].isna().sum()
        if column.kind == "continuous":
            assert (column.low, column.high) == (frame[name].min(), frame[name].max())
            assert column.median == frame[name].median()
            assert sum(column.histogram) == frame[name].notna().sum()
        else:
            assert dict(column.top) == frame[name].value_counts().to_dict()


def test_a_streamed_file_gives_what_the_file_in_memory_gives(tmp_path):
    frame = pd.DataFrame(
        {
            "id": np.arange(30_000) * 3,
            "x": np.where(np.arange(30_000) % 5, rng.normal(size=30_000), np.nan),
            "word": rng.choice(["a", "b", "c"], 30_000),
            # text only near the end
            "late": np.where(np.arange(30_000) < 29_990, "1", "one"),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=7000)
    for path in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        seen = {}
        with watch(lambda update: seen.__setitem__(update.done, update.total)):  # noqa: B023
            streamed = inspect(path, memory=0)
        assert streamed == inspect(path)
        assert max(seen) == 30_000
    assert set(seen.values()) == {30_000}  # Parquet knows its rows beforehand
    assert "mostly_numbers" in codes(streamed, "late")


def test_a_streamed_sample_does_not_depend_on_the_batches():
    table = pa.table({"x": np.arange(5000)})

    def drawn(size):
        starts = range(0, 5000, size)
        batches = [table.slice(start, size).to_batches()[0] for start in starts]
        parts = [
            SampledProfile.of(TableProfile.of(b), b, start, 100)
            for b, start in zip(batches, starts)
        ]
        found = reduce(SampledProfile.merge, parts).head(100)
        assert found.rows["x"].to_pylist() == found.numbers.tolist()
        return found.rows["x"].to_pylist()

    assert drawn(5000) == drawn(61) == drawn(999) == sorted(drawn(7))
    assert len(drawn(61)) == 100


def test_a_large_table_is_judged_on_a_sample_that_says_so():
    found = inspect(
        pa.table({"id": rng.permutation(5000) * 7, "x": rng.normal(size=5000)}),
        sample=500,
    )
    assert (found.n_rows, found.n_sampled, found.n_repeated) == (5000, 500, None)
    assert "in a sample of 500 rows" in found["id"].flags[0].text


def test_repeated_rows_are_counted():
    table = pa.table(
        {"x": [1.0, 2.0, 1.0, None, None, 1.0], "y": ["a", "b", "a", None, None, "c"]}
    )
    assert inspect(table).n_repeated == 2


def test_json_has_no_infinities():
    found = inspect(
        pa.table({"x": [1.0, np.inf, None] * 10, "y": pa.nulls(30)}), target="x"
    )
    import json

    json.dumps(found.as_dict(), allow_nan=False)


# -- one column ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (np.arange(N) + 1000, "identifier"),
        (rng.permutation(N) * 13, "identifier"),
        ([f"customer {i}" for i in range(N)], "identifier"),
        ([f"u{i // 2 if i < 20 else i}" for i in range(N)], "identifier"),
        (np.full(N, 3.0), "constant"),
        (["same"] * N, "constant"),
        (np.r_[np.ones(N - 5), np.zeros(5)], "nearly_constant"),
        (["yes"] * (N - 5) + ["no"] * 5, "nearly_constant"),
        (np.where(np.arange(N) % 3, np.nan, NOISE), "mostly_missing"),
        (pa.nulls(N), "empty"),
        (pa.nulls(N, pa.string()), "empty"),
        (np.r_[NOISE[1:], np.inf], "infinite"),
        ([f"town {i % 90}" for i in range(N)], "many_categories"),
        ([f"the {i} customer was not at home that day" for i in range(N)], "free_text"),
        ([str(x) for x in np.arange(N - 1) % 50] + ["unknown"], "mostly_numbers"),
        ([str(x) for x in np.arange(N) % 50], "numbers_as_text"),
        (["Yes", "yes ", "no", "no"] * 100, "spelling"),
        (np.where(np.arange(N) % 20, NOISE, -999), "disguised_gap"),
        (pd.date_range("2020-01-01", periods=N), "ordered"),
    ],
)
def test_a_suspicious_column_is_flagged(column, code):
    assert code in flags_of(column)


@pytest.mark.parametrize(
    "column",
    [
        NOISE,
        rng.integers(18, 90, N),
        rng.choice(["a", "b", "c"], N),
        np.where(np.arange(N) % 10, NOISE, np.nan),
        rng.poisson(100, N),
        rng.choice([1, 2, 3, 5, 9], N),  # 9 is not far from the others
        rng.permutation(pd.date_range("2020-01-01", periods=N).to_numpy()),
        rng.choice([True, False], N),
    ],
    ids=[
        "noise",
        "ages",
        "categories",
        "some gaps",
        "counts",
        "codes",
        "times",
        "true or false",
    ],
)
def test_a_clean_column_is_not_flagged(column):
    assert flags_of(column) == []


def test_a_few_rows_are_no_identifier():
    assert flags_of([3, 1, 7, 5]) == []
    assert flags_of(["ann", "bob", "eve"]) == []


# -- columns together ------------------------------------------------------------------


def test_copies_are_flagged_and_name_their_original():
    pounds = np.round(NOISE, 1)
    recoded = np.where(LABEL == "yes", "1", "0")
    table = pa.table(
        {
            "kg": pounds,
            "again": pounds.copy(),
            "label": LABEL,
            "code": recoded,
            "other": -NOISE,
        }
    )
    found = inspect(table)
    assert [flag.text for flag in found["again"].flags] == ["is a copy of 'kg'"]
    assert "says the same as 'label'" in found["code"].flags[-1].text
    assert codes(found, "kg") == codes(found, "label") == codes(found, "other") == []


@pytest.mark.parametrize(
    ("name", "cells", "is_label"),
    [
        (
            "population",
            rng.integers(10_000, 40_000_000, 60),
            False,
        ),  # distinct, as large numbers are
        ("volume", rng.choice(10**8, 300, replace=False), False),
        ("id", rng.choice(10**8, 300, replace=False), True),
        ("customerId", rng.choice(10**8, 300, replace=False), True),
        ("grid", rng.choice(10**8, 300, replace=False), False),
        # chance would give 22 equal pairs
        ("case", rng.choice(2_000, 300, replace=False), True),
        ("phone", rng.integers(10**9, 10**10, 60), True),
    ],
)
def test_distinct_whole_numbers_are_row_labels_only_where_chance_or_their_name_says_so(
    name, cells, is_label
):
    found = inspect(pa.table({name: cells, "x": rng.normal(size=len(cells))}))
    assert ("identifier" in codes(found, name)) == is_label


def test_two_identifiers_are_not_copies_of_each_other():
    found = inspect(pa.table({"a": np.arange(N) * 2, "b": rng.permutation(N) * 2}))
    assert "copy" not in codes(found, "b")


LEAKS = {
    "category": np.where(LABEL == "yes", "paid back", "written off"),
    "finer category": np.char.add(LABEL.astype("U8"), rng.choice(["1", "2", "3"], N)),
    "number": np.where(LABEL == "yes", 10.0, 0.0) + NOISE,
    "missing": np.where(LABEL == "yes", NOISE, np.nan),
    "two-sided": np.where(LABEL == "yes", 10.0, 0.0) * np.sign(NOISE) + NOISE / 9,
}


@pytest.mark.parametrize("leaky", LEAKS.values(), ids=LEAKS)
def test_a_column_that_gives_a_class_away_is_flagged(leaky):
    found = inspect(
        pa.table(
            {"leaky": pa.array(leaky, from_pandas=True), "fair": NOISE, "y": LABEL}
        ),
        target="y",
    )
    assert "leak" in codes(found, "leaky")
    assert "leak" not in codes(found, "fair")


def test_a_column_that_gives_one_of_three_classes_away_in_order_is_flagged():
    grade = rng.choice(3, N)
    table = pa.table({"mark": grade * 10.0 + rng.uniform(0, 5, N), "y": grade})
    assert "leak" in codes(inspect(table, target="y"), "mark")


def test_a_column_that_gives_a_number_away_is_flagged():
    price = np.exp(NOISE)
    table = {
        "net": price / 1.19 + 1e-4 * rng.normal(size=N),
        "log": np.log(price),
        "fair": price + 2 * rng.normal(size=N),
    }
    found = inspect(pa.table({**table, "price": price}), target="price")
    assert "correlation" in found["net"].flags[-1].text
    assert "rank correlation 1.0000" in found["log"].flags[-1].text
    assert codes(found, "fair") == []


def test_categories_that_give_a_number_away_are_flagged():
    group = rng.choice(["a", "b", "c"], N)
    price = np.select([group == "a", group == "b"], [1.0, 5.0], 9.0) + NOISE / 100
    found = inspect(
        pa.table({"group": group, "other": LABEL, "price": price}), target="price"
    )
    assert codes(found, "group") == ["leak"]
    assert codes(found, "other") == []


def test_a_good_predictor_is_no_leak():
    # AUC about 0.98: strong, but not a copy of the answer.
    strong = np.where(LABEL == "yes", 3.0, 0.0) + NOISE
    assert 0.97 < roc_auc_score(LABEL == "yes", strong) < 0.995
    assert (
        codes(inspect(pa.table({"strong": strong, "y": LABEL}), target="y"), "strong")
        == []
    )


def test_small_categories_prove_nothing():
    # Every value of the column has one row: pure by itself, not by knowledge.
    found = inspect(
        pa.table({"street": [f"street {i // 2}" for i in range(N)], "y": LABEL}),
        target="y",
    )
    assert "leak" not in codes(found, "street")


def test_equal_numbers_in_a_table_sorted_by_class_are_no_leak():
    label = np.sort(LABEL)
    found = inspect(pa.table({"age": rng.integers(18, 90, N), "y": label}), target="y")
    assert codes(found, "age") == []


def test_the_bundled_tables_have_no_leaks():
    for dataset in datasets.sources():
        if dataset.target:
            found = inspect(datasets.path(dataset.name), target=dataset.target)
            assert not [
                name
                for name in (c.name for c in found.columns)
                if "leak" in codes(found, name)
            ]


def test_the_target_is_looked_at_too():
    y = pa.array([None, "rare", *LABEL[2:]])
    found = inspect(pa.table({"x": NOISE, "y": y}), target="y")
    assert codes(found, "y") == ["missing_target", "rare_class"]
    assert codes(inspect(pa.table({"x": NOISE, "y": ["a"] * N}), target="y"), "y") == [
        "constant"
    ]


# -- the measures against independent ones ---------------------------------------------


def test_measures_agree_with_scipy_and_scikit_learn():
    x = np.round(NOISE, 1)  # with ties
    y = (LABEL == "yes").astype(int)
    assert _auc(x, y) == pytest.approx(roc_auc_score(y, x), abs=1e-12)
    z = x + np.round(rng.normal(size=N), 1)
    assert _correlation(_ranks(x), _ranks(z)) == pytest.approx(
        spearmanr(x, z).statistic, abs=1e-12
    )


def test_entropy_told_is_the_textbook_gain():
    # 64 rows, 29 of one class; split 21+5- and 8+30-: gain 0.2659 of 0.9937 bits.
    groups = np.repeat([1, 2], [26, 38])
    target = np.r_[np.repeat([1, 0], [21, 5]), np.repeat([1, 0], [8, 30])]
    assert _entropy_explained(groups, target) == pytest.approx(
        0.2659 / 0.9937, abs=1e-4
    )


# -- what cannot be read ---------------------------------------------------------------


def test_bad_input_is_named(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        inspect(tmp_path / "no.csv")
    with pytest.raises(SchemaError, match="did you mean 'class'"):
        inspect(datasets.path("cpu"), target="clas")
    with pytest.raises(DataError, match="no rows"):
        inspect(pa.table({"x": pa.array([], pa.float64())}))
    (tmp_path / "empty.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="no rows"):
        inspect(tmp_path / "empty.csv")


def test_other_delimiters_encodings_and_packed_files_are_read(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe;stadt\n1,5;Köln\n2;Ulm\n".encode("latin-1"))
    found = inspect(tmp_path / "t.csv", file_format=FileFormat(";", "latin-1"))
    assert [column.name for column in found.columns] == ["größe", "stadt"]
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("a,b\n1,x\n2,y\n")
    assert inspect(tmp_path / "t.csv.gz").n_rows == 2


def test_many_and_long_texts_are_not_listed(tmp_path):
    texts = [f"essay{i}" for i in range(4_000)]
    texts[7] *= 3_000  # a list of them has room for the longest in every place
    pq.write_table(pa.table({"essay": texts}), tmp_path / "t.parquet")
    for memory in (0, 1 << 30):
        found = inspect(tmp_path / "t.parquet", memory=memory)
        assert found["essay"].why == "text with too many values to list"
        assert codes(found, "essay") == ["identifier"]


def test_an_inspection_prints_as_a_table_and_shows_in_a_notebook(tmp_path):
    frame = pd.DataFrame(
        {"id": np.arange(100, 160), "x": [0.5, np.nan] * 30, "word": list("abc") * 20}
    )
    found = inspect(frame, "word")
    text = str(found)
    assert text.startswith("Inspection of a DataFrame")
    assert "counts the rows: leave it out" in text
    assert "a, b, c" in text
    assert "array(" not in text
    assert repr(found) == text
    assert (
        repr(found["word"])
        == "<ColumnInspection of 'word': categorical (text with 3 values); 0 missing; a, b, c>"
    )
    assert "counts the rows: leave it out>" in repr(found["id"])
    left = '<td style="text-align:left">'
    assert f"{left}word</td>{left}categorical</td>" in found._repr_html_()
    assert json.loads(json.dumps(found.as_dict()))["columns"][1]["n_missing"] == 30


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_is_read_once_for_inspect_and_scan(tmp_path, name):
    frame = pd.DataFrame(
        {"two": [0, 1] * 30, "x": np.arange(60.0), "word": list("abc") * 20}
    )
    path = tmp_path / name
    frame.to_csv(path, index=False) if name == "t.csv" else frame.to_parquet(path)
    data = read_data(path)
    rows, expected = scan(data, "word"), scan(path, "word")
    found = inspect(data, "word")
    assert found == inspect(path, "word")
    path.unlink()
    assert str(rows.schema) == str(expected.schema)
    assert (
        found["two"].kind
        == rows.schema["two"].kind
        == ("binary" if name == "t.csv" else "continuous")
    )
    assert repr(rows) == repr(expected)


def test_an_inspection_names_the_files_of_a_list(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text("x\n1.5\n2\n")
    assert inspect(paths).source == f"{paths[0]} and 1 more"
    assert inspect(paths, memory=0).source == f"{paths[0]} and 1 more"


def test_years_that_rise_are_times_and_not_identifiers():
    found = inspect(
        pa.table(
            {"year": range(1950, 2010), "id": range(100, 160), "x": [0.5, 2.0] * 30}
        )
    )
    assert [flag.code for flag in found["year"].flags] == ["ordered"]
    assert [flag.code for flag in found["id"].flags][:1] == ["identifier"]


@pytest.mark.parametrize(("n_names", "text"), [(534, "every row"), (533, "99.8%")])
def test_a_share_below_one_is_not_said_to_be_all(n_names, text):
    names = [f"n{i}" for i in range(n_names)] + ["n0"] * (534 - n_names)
    found = inspect(pa.table({"name": names, "x": list(range(534))}))
    [flag] = [flag for flag in found["name"].flags if flag.code == "identifier"]
    assert f"differs in {text}" in flag.text

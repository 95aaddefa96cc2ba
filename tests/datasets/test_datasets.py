"""The bundled tables are whole, and their stated facts are true."""

import hashlib

import numpy as np
import pytest

from lyceum import datasets
from lyceum._core.data import read_table
from lyceum.errors import DataError
from lyceum.statistics import Moments, Scatter

TABLES = [dataset for dataset in datasets.sources() if dataset.rows is not None]
NETS = [dataset for dataset in datasets.sources() if dataset.rows is None]


def test_names_are_sorted_and_every_file_is_there():
    assert list(datasets.names()) == sorted(datasets.names())
    assert all(datasets.path(name).is_file() for name in datasets.names())


def test_no_file_lies_there_without_its_source():
    folder = datasets.path("weather").parent
    files = {file.name for file in folder.iterdir() if file.suffix in (".csv", ".bif")}
    assert files == {dataset.file for dataset in datasets.sources()}


@pytest.mark.parametrize("dataset", TABLES, ids=lambda dataset: dataset.name)
def test_load_gives_the_stated_rows_and_target(dataset):
    rows = datasets.load(dataset.name)
    assert rows.n_rows == dataset.rows
    assert (rows.schema.target.name if rows.schema.target else None) == dataset.target


@pytest.mark.parametrize(
    ("name", "missing"), [("heart_disease", 6), ("penguins", 19), ("german_credit", 0)]
)
def test_missing_cells_are_as_published(name, missing):
    table = read_table(datasets.path(name))
    assert sum(column.null_count for column in table.columns) == missing


def test_german_credit_has_the_published_classes_and_kinds():
    rows = datasets.load("german_credit")
    (block,) = rows.blocks()
    assert np.bincount(block.y).tolist() == [300, 700]  # bad, good
    assert rows.schema.target.categories.tolist() == ["bad", "good"]
    assert len(rows.schema) == 20
    assert (
        len(rows.schema.continuous) == 6
    )  # the seventh number, num_dependents, has two values only


def test_cpu_is_a_regression_table():
    assert datasets.load("cpu").schema.target.kind == "continuous"


def test_weather_is_quinlans_table():
    # 9 days of play, 5 without; all four columns are categories.
    rows = datasets.load("weather")
    (block,) = rows.blocks()
    assert np.bincount(block.y).tolist() == [5, 9]
    assert all(column.is_categorical for column in rows.schema)


@pytest.mark.parametrize(("name", "variables"), [("asia", 8), ("alarm", 37)])
def test_nets_have_the_published_number_of_variables(name, variables):
    text = datasets.path(name).read_text()
    assert sum(line.startswith("variable ") for line in text.splitlines()) == variables


@pytest.mark.parametrize("dataset", NETS, ids=lambda dataset: dataset.name)
def test_a_net_is_not_loaded_as_a_table(dataset):
    with pytest.raises(DataError, match="is a Bayes net, not a table"):
        datasets.load(dataset.name)


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(DataError, match="did you mean 'penguins'"):
        datasets.path("penguin")


def test_files_are_the_published_ones():
    # Guards against an accidental edit: line endings and cells stay as they came.
    digest = hashlib.sha256(datasets.path("german_credit").read_bytes()).hexdigest()
    assert len(datasets.path("german_credit").read_bytes()) == 139_016
    assert digest.startswith(DIGEST)


DIGEST = "38b6dbf6fb4b0311"


@pytest.mark.syllabus("1.4")
def test_sample_statistics_of_old_faithful_are_the_published_ones():
    rows = datasets.load("old_faithful")
    moments, joint = rows.reduce(Moments.of), rows.reduce(Scatter.of)
    assert moments.mean == pytest.approx([3.487783, 70.897059], abs=1e-6)
    assert np.sqrt(moments.variance(ddof=1)) == pytest.approx(
        [1.141371, 13.594974], abs=1e-6
    )
    assert (moments.low.tolist(), moments.high.tolist()) == ([1.6, 43.0], [5.1, 96.0])
    (block,) = rows.blocks()
    assert joint.scatter / 271 == pytest.approx(np.cov(block.X.T), rel=1e-12)
    assert joint.scatter[0, 1] / np.sqrt(
        joint.scatter[0, 0] * joint.scatter[1, 1]
    ) == pytest.approx(0.9008112)

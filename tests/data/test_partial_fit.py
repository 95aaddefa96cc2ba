"""`partial_fit` on rows that bring new classes, categories and ranges equals one `fit` on all
rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.data.tiny import Line, Mean, MissingTaker, NearestMean

from lyceum import scan
from lyceum.data import Block
from lyceum.errors import DataError, SchemaError


def message_of(error_type, call, *arguments, **options):
    with pytest.raises(error_type) as error:
        call(*arguments, **options)
    return str(error.value)


def state(learner):
    return {name: value for name, value in vars(learner).items() if name.endswith("_")}


def test_classes_may_come_at_any_time():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat(["m", "a", "z"], 20)
    whole, parts = NearestMean().fit(X, y), NearestMean()
    for rows in np.split(np.arange(60), [10, 25, 41]):
        parts.partial_fit(X[rows], y[rows])
    assert parts.classes_.tolist() == ["a", "m", "z"]
    np.testing.assert_allclose(parts.mean_, whole.mean_, rtol=1e-13)
    assert parts.predict(X).tolist() == whole.predict(X).tolist()


def test_classes_may_be_named_before_their_first_row():
    learner = NearestMean().partial_fit(
        [[1.0], [2.0]], ["b", "b"], classes=["a", "b", "c"]
    )
    assert learner.classes_.tolist() == ["a", "b", "c"]
    message = message_of(
        DataError, NearestMean().partial_fit, [[1.0]], ["x"], classes=["a", "b"]
    )
    assert "y has the label" in message
    assert "'x'" in message


def test_classes_of_another_type_are_refused_and_nothing_changes():
    learner = NearestMean().partial_fit([[1.0], [2.0]], ["b", "a"])
    before = state(learner)
    assert "give both one type" in message_of(
        SchemaError, learner.partial_fit, [[1.0]], [3]
    )
    assert state(learner) == before


CHUNKS = [
    pd.DataFrame({"x": [1.0, 2.0, 3.0], "t": ["p", "q", "p"]}),
    pd.DataFrame({"x": [4.0, 5.0, 6.0], "t": ["q", "a", "q"]}),
    pd.DataFrame({"x": [7.0, 8.0, 9.0], "t": ["z", "a", "p"]}),
]
Y = [0.0, 1.5, 1.0, 2.0, 5.0, 3.0, 1.0, 0.5, 2.5]


def test_a_method_that_keeps_a_gram_matrix_takes_new_categories():
    whole = Line().fit(pd.concat(CHUNKS, ignore_index=True), Y)
    parts = Line()
    for i, chunk in enumerate(CHUNKS):
        parts.partial_fit(chunk, Y[3 * i : 3 * i + 3])
    np.testing.assert_allclose(
        parts.statistic_.scatter, whole.statistic_.scatter, atol=1e-12
    )
    np.testing.assert_allclose(parts.statistic_.mean, whole.statistic_.mean)
    assert parts.schema_["t"].categories.tolist() == ["a", "p", "q", "z"]


class NoGrowth(Mean):
    """A learner whose statistic has no `map_columns`."""

    def _statistic(self):
        return _Sums


class _Sums:
    def __init__(self, block: Block):
        self.mean = block.X.sum(axis=0)

    def merge(self, other):
        self.mean = self.mean + other.mean
        return self


def test_a_method_that_cannot_grow_says_which_column_and_stays_as_it_was():
    learner = NoGrowth().partial_fit(CHUNKS[0])
    before = state(learner)
    message = message_of(SchemaError, learner.partial_fit, CHUNKS[1])
    assert message.startswith(
        "column 't' has new categories, which NoGrowth cannot add: name all categories from"
    )
    assert state(learner) == before
    declared = [
        chunk.assign(t=pd.Categorical(chunk.t, ["a", "p", "q", "z"]))
        for chunk in CHUNKS
    ]
    for chunk in declared:
        learner = (
            NoGrowth().fit(chunk)
            if chunk is declared[0]
            else learner.partial_fit(chunk)
        )
    np.testing.assert_array_equal(learner.mean_[1:], [2, 3, 3, 1])


def test_a_method_that_counts_takes_new_categories():
    learner = MissingTaker()
    for chunk in CHUNKS:
        learner.partial_fit(chunk, ["u", "v", "u"])
    assert learner.schema_["t"].categories.tolist() == ["a", "p", "q", "z"]
    np.testing.assert_array_equal(learner.cells(CHUNKS[2])[:, 1], [3, 0, 1])


def test_rows_that_cannot_be_learned_from_change_nothing():
    learner = NearestMean().partial_fit(CHUNKS[0], ["u", "v", "u"])
    before = state(learner)
    with pytest.raises(DataError, match="column 'x' has a missing value"):
        learner.partial_fit(pd.DataFrame({"x": [np.nan], "t": ["p"]}), ["new"])
    assert state(learner) == before
    assert learner.classes_.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        ({"x": [1.0], "u": ["p"]}, "The feature names should match"),
        (
            {"x": [1.0], "t": [3.0]},
            "column 't' was binary (text with 2 values) when Mean was fitted and is continuous",
        ),
        (
            {"x": ["a"], "t": ["p"]},
            "column 'x' was continuous (numbers) when Mean was fitted and is categorical",
        ),
    ],
)
def test_frames_whose_columns_changed_are_refused(chunk, message):
    learner = Mean().partial_fit(CHUNKS[0])
    assert message in message_of(ValueError, learner.partial_fit, pd.DataFrame(chunk))


def test_scans_go_on_by_name():
    learner = Mean().partial_fit(scan(CHUNKS[0]))
    learner.partial_fit(scan(CHUNKS[1].assign(t=["p", "q", "q"])[["t", "x"]]))
    np.testing.assert_allclose(learner.mean_, [3.5, 0.5])
    assert "column 'more' is new: Mean was fitted on 'x', 't'" in message_of(
        SchemaError, learner.partial_fit, scan(CHUNKS[0].assign(more=1))
    )
    assert "column 't' is missing" in message_of(
        SchemaError, learner.partial_fit, scan(CHUNKS[0], ignore="t")
    )


def test_two_numbers_become_many_where_the_method_computes():
    first, second = pa.table({"x": [0, 1, 1]}), pa.table({"x": [2, 3, 4]})
    learner = Mean().partial_fit(scan(first)).partial_fit(scan(second))
    assert learner.schema_["x"].kind == "continuous"
    np.testing.assert_allclose(learner.mean_, [11 / 6])


def test_two_numbers_cannot_become_many_where_the_method_counts(tmp_path):
    for name, cells in (("first", [0, 1, 1]), ("second", [2, 3, 4])):
        lines = [f"{x},{label}" for x, label in zip(cells, "aba")]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,label", *lines]))
    learner = MissingTaker().partial_fit(scan(tmp_path / "first.csv", "label"))
    message = message_of(
        SchemaError, learner.partial_fit, scan(tmp_path / "second.csv", "label")
    )
    assert message.startswith(
        "column 'x' was binary (two numbers only: 0 and 1) when MissingTaker was fitted"
    )
    assert "kinds={'x': 'continuous'}" in message


def test_many_numbers_stay_many_when_two_come():
    learner = (
        Mean()
        .partial_fit(scan(pa.table({"x": [2, 3, 4]})))
        .partial_fit(scan(pa.table({"x": [0, 1]})))
    )
    assert learner.schema_["x"].kind == "continuous"
    np.testing.assert_allclose(learner.mean_, [2.0])


def test_a_chunk_of_missing_cells_alone_keeps_the_categories():
    learner = MissingTaker().partial_fit(CHUNKS[0], ["u", "v", "u"])
    learner.partial_fit(
        CHUNKS[1].assign(t=pd.Series([None] * 3, dtype=object)), ["u", "v", "u"]
    )
    assert learner.schema_["t"].categories.tolist() == ["p", "q"]

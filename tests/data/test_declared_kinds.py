"""Kinds, targets, weights and columns to ignore as they are declared, and the Schema that holds
them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from tests.data.kind_cases import COLUMNS, arrow, written
from tests.data.tiny import MissingTaker

from lyceum import scan
from lyceum.data import Column, Schema
from lyceum.errors import DataError, SchemaError

# -- declared kinds, target, weight, ignore --------------------------------------------


def test_declared_kinds_win():
    rows = scan(arrow(), kinds={"rooms": "categorical", "smokes": "continuous"})
    assert rows.schema["rooms"].kind == "categorical"
    assert rows.schema["rooms"].categories.tolist() == [1, 2, 3]
    assert rows.schema["smokes"].kind == "continuous"
    assert rows.schema["rooms"].why == rows.schema["smokes"].why == "declared"


def test_true_or_false_declared_categorical_is_coded():
    rows = scan(pa.table({"c": [True, False, None]}), kinds={"c": "categorical"})
    np.testing.assert_array_equal(next(rows.blocks()).X.ravel(), [1, 0, np.nan])


def test_a_schema_declares_columns_and_categories(tmp_path):
    schema = Schema.declare(
        {"town": ["Ulm", "Köln", "Bonn", "Rom"], "age": "continuous"}
    )
    path = written(tmp_path, ".csv")
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(pd.DataFrame(COLUMNS), npartitions=2, sort=False)
    scans = [
        scan(arrow(), "answer", kinds=schema),
        scan(path, "answer", kinds=schema),
        scan(path, "answer", kinds=schema, memory=0),
        scan(lazy, "answer", kinds=schema),
    ]
    for rows in scans:
        # the columns of the schema alone, in its order
        assert rows.schema.names == ("town", "age")
        assert rows.schema["town"].categories.tolist() == ["Ulm", "Köln", "Bonn", "Rom"]
        cells = np.concatenate([block.X for block in rows.blocks()])
        np.testing.assert_array_equal(cells[:, 0], [0, 2, 1, 0])
        np.testing.assert_array_equal(cells[:, 1], [31.5, 45.0, np.nan, 52.25])


def test_a_schema_may_have_the_target_and_the_weight():
    target = Column("answer", "binary", np.array(["yes", "no"]))
    rows = scan(arrow(), kinds=Schema((Column("age"),), target, "rooms"))
    assert rows.schema.target.categories.tolist() == ["yes", "no"]
    assert next(rows.blocks()).y.tolist() == [0, 1, 1, 0]
    assert rows.sample_weight.tolist() == [1, 2, 3, 2]


def test_a_schema_with_a_column_that_is_not_there_is_refused():
    with pytest.raises(
        SchemaError, match="kinds: there is no column 'agee': did you mean 'age'"
    ):
        scan(arrow(), kinds=Schema.of_numbers(["agee"]))


DECLARED = {
    "a dict": {"smokes": "binary", "rooms": "categorical"},
    "a schema": Schema.declare(
        {
            "age": "continuous",
            "sex": ["f", "m"],
            "town": ["Bonn", "Köln", "Ulm"],
            "rooms": [1.0, 2.0, 3.0],
            "smokes": [0.0, 1.0],
        }
    ),
}


@pytest.mark.parametrize("form", DECLARED)
def test_fit_and_scan_take_the_same_declarations(form):
    frame = pd.DataFrame(COLUMNS)
    X, y = frame.drop(columns="answer"), frame["answer"]
    learner = clone(MissingTaker(categorical_features=DECLARED[form]))
    direct = learner.fit(X, y).schema_
    scanned = MissingTaker().fit(scan(frame, "answer", kinds=DECLARED[form])).schema_
    assert all(one.same_as(two) for one, two in zip(direct, scanned, strict=True))
    assert direct["smokes"].kind == "binary"
    assert direct["rooms"].categories.tolist() == [1, 2, 3]


@pytest.mark.parametrize("form", DECLARED)
def test_arrays_and_dask_take_the_same_declarations(form):
    da = pytest.importorskip("dask.array")
    X = np.array([[31.5, 1, 0], [45.0, 2, 1], [7.0, 3, 1], [52.25, 2, 0]])
    schema = Schema.declare(
        {"x0": "continuous", "x1": [1.0, 2.0, 3.0], "x2": [0.0, 1.0]}
    )
    given = schema if form == "a schema" else {"x1": "categorical", "x2": "binary"}
    y = np.array(["a", "b", "a", "b"])
    for data in ((X, y), (da.from_array(X, (2, 3)), da.from_array(y, 2))):
        found = MissingTaker(categorical_features=given).fit(*data).schema_
        assert [column.kind for column in found] == [
            "continuous",
            "categorical",
            "binary",
        ]
        assert found["x1"].categories.tolist() == [1, 2, 3]


def test_categories_that_a_declared_schema_does_not_list_are_refused():
    schema = Schema.declare({"town": ["Bonn", "Ulm"]})
    frame = pd.DataFrame(COLUMNS)[["town", "answer"]]
    message = (
        "column 'town' has a category in row 2 that its schema does not list, "
        "which MissingTaker"
    )
    with pytest.raises(SchemaError, match=message):
        MissingTaker(categorical_features=schema).fit(frame[["town"]], frame["answer"])
    with pytest.raises(SchemaError, match=message):
        MissingTaker().fit(scan(frame, "answer", kinds=schema))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"agee": "binary"},
            "categorical_features names the column 'agee', which does not exist",
        ),
        ({"age": "number"}, "kinds says 'number' for column 'age'"),
        (
            Schema.of_numbers(["age"]),
            "column 'sex' is not in the schema that categorical_features gives",
        ),
        ({"town": "binary"}, "declared binary but has 3 values"),
    ],
)
def test_declarations_that_do_not_fit_are_refused_by_fit(given, message):
    frame = pd.DataFrame(COLUMNS)
    with pytest.raises(SchemaError, match=message):
        MissingTaker(categorical_features=given).fit(
            frame.drop(columns="answer"), frame["answer"]
        )


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        (
            {"sex": "continuous"},
            "column 'sex' is declared continuous but holds text such as 'f': clean it first",
        ),
        (
            {"town": "binary"},
            "column 'town' is declared binary but has 3 values: declare it categorical",
        ),
        (
            {"age": "numeric"},
            (
                "kinds says 'numeric' for column 'age': choose one of binary, categorical,"
                " continuous, text"
            ),
        ),
        ({"agee": "binary"}, "kinds: there is no column 'agee': did you mean 'age'?"),
    ],
)
def test_a_kind_that_does_not_fit_is_refused(kinds, message):
    with pytest.raises(SchemaError) as error:
        scan(arrow(), kinds=kinds)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("cells", "kind", "categories"),
    [
        ([3, 1, 2] * 3, "categorical", [1, 2, 3]),
        (list(range(20)) * 3, "categorical", list(range(20))),
        (list(range(21)) * 3, "continuous", None),
        ([3, 1, 2], "continuous", None),
        ([0.5, 1.5, 2.5], "continuous", None),
        ([1.0, 2.0, 3.0] * 3, "categorical", [1, 2, 3]),
        ([2.5, 7.5], "binary", [2.5, 7.5]),
        ([4, 4, 4], "categorical", [4]),
        ([True, False], "binary", [False, True]),
        (["a", "b", "c"], "categorical", ["a", "b", "c"]),
    ],
)
def test_what_a_target_is(cells, kind, categories):
    target = scan(
        pa.table({"x": range(len(cells)), "y": cells}), target="y"
    ).schema.target
    assert target.kind == kind
    assert categories is None or target.categories.tolist() == categories
    assert categories is None or isinstance(
        target.categories.tolist()[0], type(categories[0])
    )


def test_a_declared_target_overrides_the_rule():
    table = pa.table({"x": range(30), "y": range(30)})
    assert scan(
        table, "y", kinds={"y": "categorical"}
    ).schema.target.categories.tolist() == list(range(30))
    assert (
        scan(
            pa.table({"x": [1, 2], "y": [0, 1]}), "y", kinds={"y": "continuous"}
        ).schema.target.kind
        == "continuous"
    )


def test_a_target_with_infinities_is_a_number():
    assert (
        scan(
            pa.table({"x": [1, 2, 3], "y": [1.0, np.inf, 3.0]}), "y"
        ).schema.target.kind
        == "continuous"
    )


@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_weight_and_ignored_columns_are_no_features(tmp_path, memory):
    path = written(tmp_path, ".parquet")
    rows = scan(path, "answer", weight="rooms", ignore=["town", "sex"], memory=memory)
    assert rows.schema.names == ("age", "smokes")
    block = next(rows.blocks())
    assert block.w.tolist() == [1, 2, 3, 2]
    assert block.weight == 8


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([1.0, -2.0], "has negative cells, down to -2"),
        ([1.0, None], "has 1 missing cells"),
        ([1.0, np.inf], "has 1 infinite cells"),
        ([0.0, 0.0], "is zero in every row"),
        (["a", "b"], "holds text"),
    ],
)
@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_weights_that_make_no_sense_are_refused(tmp_path, cells, fault, memory):
    path = str(tmp_path / "w.parquet")
    pq.write_table(pa.table({"x": [1.5, 2.5], "w": cells}), path)
    with pytest.raises(DataError) as error:
        scan(path, weight="w", memory=memory)
    assert str(error.value).startswith(f"the weight column 'w' {fault}: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"target": "anser"},
            "target: there is no column 'anser': did you mean 'answer'?",
        ),
        ({"target": "Sex"}, "target: there is no column 'Sex': did you mean 'sex'?"),
        (
            {"weight": "zzz"},
            "weight: there is no column 'zzz': the columns are 'age', 'sex', 'town', ",
        ),
        ({"ignore": ["twn"]}, "ignore: there is no column 'twn': did you mean 'town'?"),
        (
            {"target": "sex", "ignore": ["sex"]},
            "column 'sex' is both in ignore and in target: take it out of one",
        ),
        (
            {"target": "age", "weight": "age"},
            "column 'age' cannot be both the target and the weight",
        ),
        (
            {"ignore": list(COLUMNS)[1:], "target": "age"},
            "there are no columns to learn from",
        ),
    ],
)
def test_a_column_that_is_not_there_is_named_with_a_remedy(options, message):
    with pytest.raises(SchemaError) as error:
        scan(arrow(), **options)
    assert str(error.value).startswith(message)


def test_one_ignored_name_may_be_given_bare():
    assert "town" not in scan(arrow(), ignore="town").schema.names


# -- Schema itself ---------------------------------------------------------------------


def test_a_schema_prints_its_kinds_and_reasons():
    assert (
        str(scan(arrow(), "answer").schema).splitlines()[-1]
        == "answer  binary      the target; text with 2 values"
    )


def test_a_schema_refuses_names_twice_and_unknown_ones():
    with pytest.raises(SchemaError, match="column names appear twice: 'a'"):
        Schema((Column("a"), Column("a")))
    with pytest.raises(
        SchemaError, match="there is no column 'b': the columns are 'a'"
    ):
        Schema((Column("a"),))["b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "number"), "has the kind 'number': choose one of"),
        (
            ("a", "continuous", np.array([1])),
            "is continuous and cannot have categories",
        ),
        (("a", "binary"), "is binary and needs its categories"),
    ],
)
def test_a_column_that_contradicts_itself_is_refused(arguments, message):
    with pytest.raises(SchemaError, match=message):
        Column(*arguments)


@pytest.mark.parametrize("role", ["target", "weight"])
def test_values_in_the_place_of_a_name_are_refused_in_a_sentence(role):
    with pytest.raises(
        SchemaError, match=f"{role} is the name of a column, but ndarray came"
    ):
        scan(np.zeros((3, 2)), **{role: np.zeros(3)})

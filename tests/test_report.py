"""Values that JSON can hold, and what summaries, tables and explanations say."""

import json

import numpy as np
import pandas as pd
import pytest

from lyceum._core.text import plain, show
from lyceum.report import Explanation, Summary, Table


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.float64(np.nan), None),
        (float("inf"), None),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (np.array([[1.0, np.inf]]), [[1.0, None]]),
        ({1: {2, }}, {"1": [2]}),
        ((None, "a", True), [None, "a", True]),
        (pd.Timestamp("2020-01-02"), "2020-01-02 00:00:00"),
        (Table("T", ("a",), [(np.int64(1),)]), {"title": "T", "columns": ["a"], "rows": [[1]]}),
    ],
    ids=str,
)  # fmt: skip
def test_plain_values_are_those_that_json_has(value, expected):
    found = plain(value)
    assert found == expected
    json.dumps(found, allow_nan=False)


def test_a_summary_as_a_dict_has_its_facts_and_tables():
    summary = Summary(
        "S", {"rows": np.int64(3)}, [Table("T", ("a", "b"), [(1.5, np.nan)])]
    )
    assert summary.as_dict() == {
        "title": "S",
        "facts": {"rows": 3},
        "tables": [{"title": "T", "columns": ["a", "b"], "rows": [[1.5, None]]}],
    }


EXPLANATION = Explanation(
    ("age", "island"),
    np.array([[0.5, -2.0]]),
    np.array([1.0]),
    np.array(["Adelie"], dtype=object),
    "log-odds",
    np.array([[31.0, "Dream"]], dtype=object),
)


def test_an_explanation_shows_the_cells_largest_contribution_first():
    table = EXPLANATION.row(0)
    assert table.title == "Row 0: Adelie, log-odds -0.5"
    assert table.columns == ("column", "value", "log-odds")
    assert list(table.rows) == [
        ("(base)", "", 1.0),
        ("island", "Dream", -2.0),
        ("age", 31.0, 0.5),
    ]
    assert "Dream" in str(EXPLANATION)
    assert "Dream" in EXPLANATION._repr_html_()


def test_an_explanation_as_a_dict_names_column_value_and_contribution():
    assert EXPLANATION.as_dict() == {
        "unit": "log-odds",
        "rows": [
            {
                "predicted": "Adelie",
                "score": -0.5,
                "base": 1.0,
                "columns": [
                    {"column": "age", "value": 31.0, "contribution": 0.5},
                    {"column": "island", "value": "Dream", "contribution": -2.0},
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234567, "1,234,567"), (1e-5, "1.000e-05"), (0.0, "0"), ([1.5, 2], "1.5, 2")],
)
def test_numbers_are_shown_with_four_digits(value, text):
    assert show(value) == text


def test_the_rows_that_are_not_shown_are_counted():
    def shown(n):
        return str(Explanation(["a"], np.zeros((n, 1)), np.zeros(n), np.zeros(n), "y"))

    assert "more row" not in shown(3)
    assert shown(4).endswith("… and 1 more row")
    assert shown(1_204).endswith("… and 1,201 more rows")


def test_an_explanation_as_a_dict_adds_up_every_row_once():
    """The scores of all rows, once per row, made the cost quadratic: 8,000 rows took half a
    minute."""

    class CountedArray(np.ndarray):
        cells = 0

        def sum(self, *args, **options):
            CountedArray.cells += self.size
            return np.asarray(self).sum(*args, **options)

    contributions = np.arange(60.0).reshape(20, 3)
    found = Explanation(
        list("abc"), contributions.view(CountedArray), np.ones(20), np.zeros(20), "y"
    )
    scores = [row["score"] for row in found.as_dict()["rows"]]
    assert scores == (1.0 + contributions.sum(axis=1)).tolist()
    assert CountedArray.cells == contributions.size

"""What is different between two schemas, and the fits that go on from others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lyceum._core.base import check_same_columns
from lyceum.data import Column, Schema, scan
from lyceum.ensemble import RandomForestClassifier, RandomForestRegressor
from lyceum.errors import SchemaError
from lyceum.mixtures import GaussianMixture
from lyceum.neural import MLPClassifier

KNOWN = Schema.declare(
    {"age": "continuous", "size": ["S", "M", "L"]},
    Column("y", "binary", np.array(["a", "b"])),
)


def declared(target=("a", "b"), name="y", **kinds):
    return Schema.declare(kinds, Column(name, "binary", np.array(target)))


@pytest.mark.parametrize(
    ("other", "change"),
    [
        (declared(age="continuous"), "the number of columns is 1 instead of 2"),
        (
            declared(years="continuous", size=["S", "M", "L"]),
            "column 'years' is in the place of column 'age'",
        ),
        (
            declared(age=[1, 2], size=["S", "M", "L"]),
            "column 'age' is binary instead of continuous",
        ),
        (
            declared(age="continuous", size=["M", "S", "L"]),
            "column 'size' has its categories in another order",
        ),
        (
            declared(age="continuous", size=["S", "M", "XL"]),
            "column 'size' has the new category 'XL'",
        ),
        (
            declared(age="continuous", size=["S", "M"]),
            "column 'size' has no category 'L'",
        ),
        (
            declared(("b", "a"), age="continuous", size=["S", "M", "L"]),
            "the target 'y' has its categories in another order",
        ),
    ],
)
def test_the_first_difference_is_named(other, change):
    assert KNOWN.difference(other) == change
    assert not KNOWN.same_as(other)


def test_why_a_column_has_its_kind_and_the_name_of_the_target_are_no_difference():
    other = declared(name="label", age="continuous", size=["S", "M", "L"])
    assert KNOWN.same_as(other)
    assert KNOWN.same_as(Schema.declare({"age": "continuous", "size": ["S", "M", "L"]}))
    assert Schema.of_numbers(["a", "b"]).same_as(
        Schema.declare({"a": "continuous", "b": "continuous"})
    )


def test_a_warm_start_on_shifted_categories_is_refused_and_the_old_forest_still_right():
    rng = np.random.default_rng(0)
    town = rng.choice(list("abc"), 200)
    frame, y = pd.DataFrame({"town": town}), town == "b"
    later = pd.DataFrame(
        {"town": np.array(list("bcd"))[np.searchsorted(list("abc"), town)]}
    )
    forest = RandomForestClassifier(
        n_estimators=5, warm_start=True, random_state=0
    ).fit(frame, y)
    forest.set_params(n_estimators=10)
    with pytest.raises(
        SchemaError, match=r"column 'town' has the new category 'd'.*category type"
    ):
        forest.fit(later, y)
    assert forest.score(frame, y) == 1.0
    # the same type for all: the forest goes on
    for categories in (list("abcd"), list("dcba")):
        fixed = clone(forest).set_params(n_estimators=5)
        for n, rows in ((5, frame), (10, later)):
            rows = rows.assign(town=pd.Categorical(rows["town"], categories))
            fixed.set_params(n_estimators=n).fit(rows, rows["town"] == "b")
        assert fixed.score(rows, rows["town"] == "b") == 1.0


def test_targets_of_regressors_and_of_clusters_do_not_count():
    frame = pd.DataFrame(
        {"x": np.arange(8.0), "y": [0.0, 1.0] * 4, "group": list("aabbccdd")}
    )
    rows, others = (
        scan(frame[["x", "y"]], target="y"),
        scan(frame[["x", "group"]], target="group"),
    )
    numbers = scan(frame[["x", "y"]].assign(y=np.arange(8.0)), target="y")
    model = RandomForestRegressor(n_estimators=2, warm_start=True, random_state=0).fit(
        rows
    )
    assert len(model.set_params(n_estimators=4).fit(numbers).trees_) == 4
    mixture = GaussianMixture(2, warm_start=True, random_state=0).fit(rows)
    check_same_columns(mixture.fit(others), rows.schema)


def test_a_network_computes_with_two_numbers_whichever_they_are():
    frame = pd.DataFrame({"flag": [0, 1] * 20, "x": np.arange(40.0)})
    network = MLPClassifier(
        hidden_layer_sizes=2, max_iter=2, tol=None, warm_start=True, random_state=0
    )
    network.fit(frame, frame["x"] > 20)
    network.fit(frame.assign(flag=[0, 2] * 20), frame["x"] > 20)
    network.fit(frame.assign(flag=[0, 1, 2, 3] * 10), frame["x"] > 20)
    with pytest.raises(
        SchemaError, match="column 'flag' is binary instead of continuous"
    ):
        network.fit(frame.assign(flag=["no", "yes"] * 20), frame["x"] > 20)

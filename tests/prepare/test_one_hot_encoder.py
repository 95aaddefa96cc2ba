"""One-of-C coding, against scikit-learn's encoder."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import OneHotEncoder as TheirOneHotEncoder
from tests.prepare.tables import mixed

from lyceum.data import scan
from lyceum.errors import SchemaError, SettingError
from lyceum.prepare import OneHotEncoder


@pytest.fixture
def words():
    return mixed(gaps=0.0)[["city", "sex"]]


@pytest.mark.syllabus("1.2.3")
@pytest.mark.parametrize("drop", [None, "first"])
def test_one_of_c_is_scikit_learns_encoder(words, drop):
    theirs = TheirOneHotEncoder(drop=drop, sparse_output=False).fit_transform(words)
    ours = OneHotEncoder(drop=drop).fit_transform(words)
    assert_array_equal(ours.toarray(), theirs)
    by_kinds = OneHotEncoder(drop=drop, categorical_features="from_dtype")
    assert_array_equal(by_kinds.fit_transform(words).to_numpy(), theirs)
    # rows of a scan are coded with what was learned from the frame
    rows = OneHotEncoder(drop=drop).fit(words).transform(scan(words))
    assert_array_equal(next(rows.blocks()).X, theirs)


def test_names_say_column_and_category(words):
    words["age"] = 1.0
    names = ["city=Bonn", "city=Köln", "city=Ulm", "sex=female", "sex=male", "age"]
    out = OneHotEncoder(
        categorical_features="from_dtype", handle_unknown="ignore"
    ).fit_transform(words)
    assert out.columns.tolist() == names
    assert (
        OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore")
        .fit(words)
        .get_feature_names_out()
        .tolist()
        == names
    )
    assert OneHotEncoder(drop="first", categorical_features="from_dtype").fit_transform(
        words
    ).columns.tolist() == [
        "city=Köln",
        "city=Ulm",
        "sex=male",
        "age",
    ]


def test_an_unknown_category_is_all_zeros_or_an_error(words):
    new = pd.DataFrame({"city": ["Ulm", "Rom"], "sex": ["male", "female"]})
    assert_array_equal(
        OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore")
        .fit(words)
        .transform(new),
        [[0, 0, 1, 0, 1], [0, 0, 0, 1, 0]],
    )
    strict = OneHotEncoder(categorical_features="from_dtype").fit(words)
    assert_array_equal(strict.transform(new[:1]), [[0, 0, 1, 0, 1]])
    with pytest.raises(
        SchemaError,
        match="column 'city' has a category in row 1 that OneHotEncoder has not learned",
    ):
        strict.transform(new)


def test_numbers_named_as_categories_are_coded():
    X = np.array([[3, 1.5], [7, 2.5], [3, 3.5], [9, 0.5]])
    coder = OneHotEncoder(categorical_features=[0], handle_unknown="ignore").fit(X)
    assert coder.get_feature_names_out().tolist() == ["x0=3", "x0=7", "x0=9", "x1"]
    assert_array_equal(
        coder.transform(X),
        np.c_[TheirOneHotEncoder(sparse_output=False).fit_transform(X[:, :1]), X[:, 1]],
    )
    assert_array_equal(coder.transform([[8, 1.0]]), [[0, 0, 0, 1.0]])
    whole = np.array([[0, 2], [1, 0], [0, 1]])
    coded = OneHotEncoder(categorical_features=True).fit_transform(whole)
    assert_array_equal(
        coded, TheirOneHotEncoder(sparse_output=False).fit_transform(whole)
    )
    with pytest.raises(SchemaError, match="row 0"):
        OneHotEncoder(categorical_features=True, handle_unknown="error").fit(
            whole
        ).transform([[5, 1]])


def test_true_and_false_stay_one_column():
    out = OneHotEncoder(
        categorical_features="from_dtype", handle_unknown="ignore"
    ).fit_transform(
        pd.DataFrame({"smokes": [True, False, True], "city": ["a", "b", "a"]})
    )
    assert out.columns.tolist() == ["smokes", "city=a", "city=b"]
    assert_array_equal(out["smokes"], [1, 0, 1])


def test_a_missing_cell_is_missing_in_all_its_columns():
    out = OneHotEncoder(
        categorical_features="from_dtype", handle_unknown="ignore"
    ).fit_transform(pd.DataFrame({"city": ["a", None, "b"]}))
    assert_array_equal(out, [[1, 0], [np.nan, np.nan], [0, 1]])


def test_a_lone_category_dropped_leaves_nothing():
    out = OneHotEncoder(drop="first", categorical_features="from_dtype").fit_transform(
        pd.DataFrame({"city": ["a", "a"], "age": [1.0, 2.0]})
    )
    assert out.columns.tolist() == ["age"]


def test_partial_fit_adds_columns_for_new_categories():
    coder = OneHotEncoder(
        categorical_features="from_dtype", handle_unknown="ignore"
    ).fit(pd.DataFrame({"city": ["b", "c"]}))
    coder.partial_fit(pd.DataFrame({"city": ["a", "c"]}))
    assert coder.get_feature_names_out().tolist() == ["city=a", "city=b", "city=c"]


def test_settings_of_arrays_are_refused_by_kinds(words):
    coder = OneHotEncoder(min_frequency=2).fit(words)
    with pytest.raises(SettingError, match="min_frequency=None only, got 2"):
        coder.transform(scan(words))
    with pytest.raises(SettingError, match="drop='first' only, got 'if_binary'"):
        OneHotEncoder(drop="if_binary").fit(scan(words))
    assert not hasattr(OneHotEncoder().fit(scan(words)), "inverse_transform")

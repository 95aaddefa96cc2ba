"""Encoders, imputers and scalers answer as scikit-learn's: array in, array out, its defaults."""

import numpy as np
import pandas as pd
import pytest
import sklearn.impute
import sklearn.preprocessing
from numpy.testing import assert_array_equal
from scipy import sparse

import lyceum
from lyceum import prepare
from lyceum.data import scan
from lyceum.errors import SettingError

WORDS = np.array([["a", 1], ["b", 2], ["a", None], ["c", 2], ["b", 2]], dtype=object)
NUMBERS = np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, 9.0], [4.0, 3.0], [7.0, 1.0]])
RISING = np.column_stack([np.arange(12.0), np.arange(12.0) ** 2])


def dense(cells):
    return cells.toarray() if sparse.issparse(cells) else np.asarray(cells)


@pytest.mark.parametrize(
    ("name", "settings", "X"),
    [
        ("OneHotEncoder", {}, WORDS),
        ("OneHotEncoder", {"drop": "if_binary", "sparse_output": False}, WORDS),
        ("OneHotEncoder", {"min_frequency": 2, "dtype": np.int32}, WORDS),
        ("SimpleImputer", {"strategy": "median", "add_indicator": True}, NUMBERS),
        ("SimpleImputer", {"strategy": "most_frequent"}, NUMBERS),
        ("SimpleImputer", {"missing_values": 3.0}, NUMBERS[[1, 3, 4]]),
        ("KNNImputer", {"n_neighbors": 2, "weights": "distance"}, NUMBERS),
        ("KBinsDiscretizer", {"n_bins": 3}, RISING),
        ("KBinsDiscretizer", {"encode": "ordinal", "strategy": "kmeans"}, RISING),
    ],
)
def test_arrays_and_frames_are_coded_as_by_scikit_learn(name, settings, X):
    if name == "KBinsDiscretizer" and "strategy" not in settings:
        # the default since scikit-learn 1.9, and ours
        settings = {**settings, "quantile_method": "averaged_inverted_cdf"}
    theirs_in = sklearn.impute if "Imputer" in name else sklearn.preprocessing
    theirs = getattr(theirs_in, name)(**settings).fit(X)
    ours = getattr(prepare, name)(**settings).fit(X)
    want = theirs.transform(X)
    assert type(ours.transform(X)) is type(want)
    assert ours.transform(X).dtype == want.dtype
    assert_array_equal(dense(ours.transform(X)), dense(want))
    names = theirs.get_feature_names_out()
    assert_array_equal(ours.get_feature_names_out(), names)
    frame = pd.DataFrame(X, columns=["u", "v"])
    assert_array_equal(dense(ours.fit_transform(frame)), dense(want))


def test_imputers_fitted_on_arrays_fill_rows_of_a_scan():
    frame = pd.DataFrame(NUMBERS, columns=["u", "v"])
    filler = prepare.SimpleImputer().fit(frame)
    rows = filler.transform(scan(frame))
    assert_array_equal(next(rows.blocks()).X, filler.transform(frame))
    with pytest.raises(SettingError, match="fitted on an array with the Euclidean"):
        prepare.KNNImputer().fit(frame).transform(scan(frame))
    with pytest.raises(SettingError, match="one number of bins"):
        prepare.KBinsDiscretizer([2, 3]).fit(scan(frame))


def test_words_are_filled_where_scikit_learn_refuses_them():
    frame = pd.DataFrame({"u": [1.0, None, 3.0], "w": ["x", "x", None]})
    with pytest.raises(ValueError, match="non-numeric"):
        sklearn.impute.SimpleImputer().fit(frame)
    out = prepare.SimpleImputer().fit_transform(frame)
    assert out.to_dict("list") == {"u": [1.0, 2.0, 3.0], "w": ["x", "x", "x"]}


def test_under_the_switch_frames_become_arrays():
    frame = pd.DataFrame({"u": [1.0, 2.0, 3.0], "w": ["x", "y", None]})
    lyceum.patch_sklearn()
    try:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        assert isinstance(StandardScaler(), prepare.StandardScaler)
        scaled = StandardScaler().fit_transform(frame[["u"]])
        assert type(scaled) is np.ndarray
        filled = SimpleImputer().fit_transform(frame)
        assert filled.tolist() == [[1.0, "x"], [2.0, "y"], [3.0, "x"]]
        named = StandardScaler().set_output(transform="pandas")
        assert named.fit_transform(frame[["u"]]).columns.tolist() == ["u"]
    finally:
        lyceum.unpatch_sklearn()
    assert prepare.StandardScaler().fit_transform(frame[["u"]]).columns.tolist() == [
        "u"
    ]


def test_scalers_know_what_they_did_not_learn():
    X = NUMBERS[[1, 3, 4]]
    nothing = prepare.StandardScaler(with_mean=False, with_std=False).fit(X)
    assert nothing.mean_ is nothing.var_ is nothing.scale_ is None
    assert_array_equal(nothing.transform(X, copy=True), X)
    half = X.astype(np.float16)
    assert prepare.StandardScaler().fit_transform(half).dtype == np.float16

"""What is given to `fit` and `predict` quickly is what scikit-learn and pyarrow would give."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import validate_data

from lyceum._core.data.inputs.arrow import frame_table, to_arrow
from lyceum._core.data.inputs.fast_validation import validated_array, validated_pair
from lyceum.bayes import NaiveBayes
from lyceum.errors import SchemaError
from lyceum.linear import Ridge

OPTIONS = {"dtype": "numeric", "accept_sparse": False, "ensure_all_finite": False}
CELLS = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, -np.inf]])
FRAMES = {
    "numbers": pd.DataFrame(
        {"i": [1, 2], "f": [0.5, np.nan], "s": np.array([1, 2], np.float32)}
    ),
    "half": pd.DataFrame(
        {"h": np.array([1.0, 2.0], np.float16), "u": np.array([1, 2], np.uint64)}
    ),
    "text": pd.DataFrame(
        {
            "t": ["a", None],
            "o": pd.Series(["a", np.nan], dtype=object),
            "b": [True, False],
        }
    ),
    "levels": pd.DataFrame({"c": pd.Categorical(["u", "v"], ["v", "u"], ordered=True)}),
    "times": pd.DataFrame(
        {"d": pd.to_datetime(["2024-01-01", None]), "z": pd.to_timedelta([1, 2], "s")}
    ),
    "zones": pd.DataFrame(
        {"z": pd.to_datetime(["2024-01-01", "2024-02-01"]).tz_localize("Europe/Berlin")}
    ),
    "nullable": pd.DataFrame(
        {
            "n": pd.array([1, None], dtype="Int64"),
            "b": pd.array([True, None], "boolean"),
        }
    ),
    "arrow": pd.DataFrame({"s": pd.array(["a", None], dtype="string[pyarrow]")}),
    "objects": pd.DataFrame(
        {"o": pd.Series([1, 2.5], dtype=object), "all": pd.Series([None, None])}
    ),
    "numbered": pd.DataFrame([[1.0, "a"], [2.0, "b"]]),
    "levels of names": pd.DataFrame(
        [[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    ),
    "sparse": pd.DataFrame(
        {"a": pd.arrays.SparseArray([0.0, 1.0]), "b": pd.arrays.SparseArray([0, 1])}
    ),
    "long floats": pd.DataFrame(
        {"f": np.array([0.5, np.nan], np.longdouble), "t": ["a", "b"]}
    ),
    "intervals": pd.DataFrame({"cut": pd.cut([1.0, 9.0], [0, 5, 10, 15])}),
    "no rows": pd.DataFrame({"a": np.empty(0)}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_small_frame_is_the_table_that_pyarrow_makes(name):
    assert frame_table(FRAMES[name]).equals(to_arrow(FRAMES[name]))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": ["text", 2.0]}),
        pd.DataFrame({"a": [1j, 2j]}),
        pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
        pd.DataFrame([[1.0, 2.0]], columns=["1", 1]),
    ],
    ids=["mixed", "complex", "twice", "twice as text"],
)
def test_what_is_no_table_is_refused_in_the_same_words(frame):
    with pytest.raises(SchemaError) as expected:
        to_arrow(frame)
    with pytest.raises(SchemaError) as found:
        frame_table(frame)
    assert str(found.value) == str(expected.value)


# cells that are given as they are, and others that scikit-learn converts or refuses
TABLES = (
    *(
        CELLS,
        np.asfortranarray(CELLS),
        CELLS[::2],
        CELLS.astype(np.float32),
        CELLS.astype(np.float16),
    ),
    *(
        CELLS[:, :1],
        CELLS[0],
        CELLS[:0],
        CELLS[:, :0],
        CELLS + 1j,
        CELLS.astype(">f8"),
        CELLS.tolist(),
    ),
    *(
        np.arange(6, dtype=kind).reshape(3, 2)
        for kind in (np.int64, np.int8, np.uint16, object)
    ),
    *(
        np.ones((3, 2), dtype=bool),
        np.array([["a", "b"]] * 3),
        np.ma.masked_invalid(CELLS),
    ),
    *(
        pd.DataFrame(CELLS, columns=names)
        for names in (["a", "b"], ["b", "a"], ["a", "c"], ["a", 1], None)
    ),
    pd.DataFrame({"a": [1, 2, 3], "b": np.ones(3, np.float32)}),
    pd.DataFrame({"a": np.empty(0), "b": np.empty(0)}),
)
TARGETS = (
    *(
        np.array(["a", "b", "a"]),
        np.array([1, 0, 1]),
        np.array([0.5, 1.5, 2.5]),
        np.array([1, 2]),
    ),
    *(
        np.array([1.0, np.inf, 2.0]),
        np.array([True, False, True]),
        np.array(["a", "b", 1], dtype=object),
        None,
    ),
)


def answer(function, learner, *data, reset):
    """The arrays, types, attributes and warnings of a call, or its error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = function(learner, *data, reset=reset, **OPTIONS)
        except (TypeError, ValueError) as error:
            return type(error), str(error)
    arrays = found if isinstance(found, tuple) else (found,)
    cells = [(a.dtype, a.shape, a.flags.c_contiguous, a.tolist()) for a in arrays]
    names = getattr(learner, "feature_names_in_", np.empty(0)).tolist()
    return (
        repr(cells),
        names,
        getattr(learner, "n_features_in_", None),
        [str(each.message) for each in said],
    )


@pytest.mark.parametrize(
    "known", [None, CELLS, pd.DataFrame(CELLS, columns=["a", "b"])], ids=type
)
@pytest.mark.parametrize("reset", [True, False])
def test_the_checks_of_cells_are_those_of_scikit_learn(known, reset):
    for X in TABLES:
        found = []
        for function in (validated_array, validate_data):
            learner = NaiveBayes()
            if known is not None:
                validate_data(learner, known, reset=True, **OPTIONS)
            found.append(answer(function, learner, X, reset=reset))
        assert found[0] == found[1]


def test_the_checks_of_cells_with_a_target_are_those_of_scikit_learn():
    for X in TABLES:
        for y in TARGETS:
            one, two = (
                answer(f, Ridge(), X, y, reset=True)
                for f in (validated_pair, validate_data)
            )
            assert one == two

"""Arrays and lists with text: the same as the frame with the same columns."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from lyceum._core.data import text_array
from lyceum.bayes import NaiveBayes
from lyceum.cluster import KMeans
from lyceum.ensemble import RandomForestClassifier
from lyceum.errors import SchemaError
from lyceum.linear import LogisticRegression
from lyceum.prepare import OneHotEncoder, SimpleImputer, StandardScaler
from lyceum.trees import DecisionTreeClassifier

FRAME = pd.DataFrame(
    {
        "x0": ["a", "c", "a", "b", "c", "b", "a", "c"],
        "x1": [1.0, 2.0, 3.5, 5.0, 2.5, 4.0, 0.5, 1.5],
        "x2": ["u", "v", "u", "u", "v", "v", "v", "u"],
    }
)
CELLS = FRAME.to_numpy(dtype=object)
FOREST = partial(RandomForestClassifier, 5, random_state=0)
LABELS = [0, 1, 0, 1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "declared", [[0, 2], [True, False, True], {"x0": "categorical", "x2": "binary"}]
)
@pytest.mark.parametrize(
    "learner",
    [
        NaiveBayes,
        LogisticRegression,
        DecisionTreeClassifier,
        lambda **s: RandomForestClassifier(5, random_state=0, **s),
    ],
)
def test_an_array_of_objects_is_the_frame_of_its_columns(learner, declared):
    of_frame = learner().fit(FRAME, LABELS)
    of_cells = learner(categorical_features=declared).fit(CELLS, LABELS)
    np.testing.assert_allclose(
        of_cells.predict_proba(CELLS), of_frame.predict_proba(FRAME), rtol=1e-12
    )
    assert not hasattr(of_cells, "feature_names_in_")
    assert of_cells.n_features_in_ == 3


def test_lists_and_arrays_of_text_are_taken_too():
    words = FRAME[["x0", "x2"]]
    of_frame = NaiveBayes().fit(words, LABELS).predict_proba(words)
    for cells in (
        words.to_numpy().tolist(),
        words.to_numpy().astype("U3"),
        words.to_numpy().astype("S3"),
    ):
        of_cells = (
            NaiveBayes(categorical_features=True)
            .fit(cells, LABELS)
            .predict_proba(cells)
        )
        np.testing.assert_array_equal(of_cells, of_frame)


def test_numbers_written_as_text_are_numbers_in_columns_that_are_not_declared():
    written = CELLS.astype("U8")
    model = LogisticRegression(categorical_features=[0, 2]).fit(written, LABELS)
    np.testing.assert_array_equal(
        model.predict_proba(written),
        LogisticRegression().fit(FRAME, LABELS).predict_proba(FRAME),
    )


def test_missing_text_is_missing():
    holes = CELLS.copy()
    holes[0, 0], holes[1, 1], holes[2, 2] = None, np.nan, np.nan
    frame = pd.DataFrame(
        {"x0": holes[:, 0], "x1": holes[:, 1].astype(float), "x2": holes[:, 2]}
    )
    one = (
        NaiveBayes(categorical_features=[0, 2])
        .fit(holes, LABELS)
        .predict_proba(holes[:1])
    )
    np.testing.assert_allclose(
        one, NaiveBayes().fit(frame, LABELS).predict_proba(frame[:1]), rtol=1e-12
    )


def test_unknown_text_at_prediction_is_an_unknown_category():
    model = LogisticRegression(categorical_features=[0, 2]).fit(CELLS, LABELS)
    row = np.array([["zebra", 1.0, "u"]], dtype=object)
    frame = pd.DataFrame({"x0": ["zebra"], "x1": [1.0], "x2": ["u"]})
    of_frame = LogisticRegression().fit(FRAME, LABELS).predict_proba(frame)
    np.testing.assert_allclose(model.predict_proba(row), of_frame, rtol=1e-12)


@pytest.mark.parametrize("X", [CELLS, CELLS.tolist(), CELLS[:, [0, 2]].astype("U1")])
def test_text_that_is_not_declared_is_refused_with_what_to_do(X):
    with pytest.raises(
        SchemaError,
        match=r"column 'x0' holds text, e.g. 'a'.*categorical_features=True",
    ):
        LogisticRegression().fit(X, LABELS)


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(SchemaError, match=r"'x2' holds text, e.g. 'u'"):
        NaiveBayes(categorical_features=[0]).fit(CELLS, LABELS)
    with pytest.raises(SchemaError, match="holds text and numbers"):
        NaiveBayes(categorical_features=[0]).fit([["a", 1.0], [2, 1.0]], [0, 1])
    model = NaiveBayes(categorical_features=[0, 2]).fit(CELLS, LABELS)
    with pytest.raises(
        ValueError, match="X has 2 features, but NaiveBayes is expecting 3"
    ):
        model.predict(CELLS[:, :2])
    with pytest.raises(
        SchemaError, match=r"'x1' holds text, e.g. 'a'.*fitted on numbers"
    ):
        model.predict(CELLS[:, [0, 0, 2]])
    with pytest.raises(SchemaError, match="an array of numbers cannot"):
        model.predict(np.zeros((2, 3)))


def test_transformers_give_words_back_for_words():
    holes = CELLS.copy()
    holes[0, 0] = None
    filled = SimpleImputer(categorical_features=[0, 2]).fit_transform(holes)
    assert filled[0].tolist() == ["c", 1.0, "u"]
    assert filled[1:].tolist() == CELLS[1:].tolist()
    scaled = StandardScaler(categorical_features=[0, 2]).fit_transform(CELLS)
    assert scaled[:, 0].tolist() == CELLS[:, 0].tolist()
    assert abs(scaled[:, 1].astype(float).mean()) < 1e-12
    coded = OneHotEncoder(categorical_features=[0, 2]).fit_transform(CELLS)
    by_types = OneHotEncoder(categorical_features="from_dtype").fit_transform(FRAME)
    np.testing.assert_array_equal(coded, by_types.to_numpy(dtype=float))
    steps = (
        SimpleImputer(categorical_features=[0, 2]),
        LogisticRegression(categorical_features=[0, 2]),
    )
    assert make_pipeline(*steps).fit(holes, LABELS).score(holes, LABELS) > 0.7


def test_learners_without_a_target_take_text_too():
    of_cells = KMeans(2, random_state=0, categorical_features=[0, 2]).fit(CELLS)
    of_frame = KMeans(2, random_state=0).fit(FRAME)
    np.testing.assert_array_equal(of_cells.labels_, of_frame.labels_)


def test_numbers_are_not_text():
    assert text_array(np.zeros((2, 2))) is None
    assert text_array([[1.0], [2.0]]) is None
    assert text_array(np.array([[1.0, 2]], dtype=object)) is None
    assert text_array([["a"], ["b", "c"]]) is None

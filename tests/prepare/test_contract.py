"""scikit-learn's contract, for every transformer."""

import pickle

import pandas as pd
import pytest
from tests.checks.scikit_learn import obeys_scikit_learn
from tests.prepare.tables import mixed

from lyceum import prepare
from lyceum.prepare import (
    DropMissing,
    IterativeImputer,
    MinMaxScaler,
    MissingCategory,
    OneHotEncoder,
    SimpleImputer,
    StandardScaler,
)

OTHER_SETTINGS = [  # than the defaults, which tests/checks has
    StandardScaler(with_mean=False),
    SimpleImputer(strategy="median", add_indicator=True),
]
TRANSFORMERS = [
    StandardScaler(),
    MinMaxScaler(),
    OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore"),
    SimpleImputer(),
    MissingCategory(),
    DropMissing(),
    IterativeImputer(max_iter=20),
    *OTHER_SETTINGS,
]


@pytest.mark.parametrize("transformer", OTHER_SETTINGS, ids=repr)
def test_scikit_learns_checks(transformer):
    obeys_scikit_learn(transformer)


def test_public_names_are_sorted():
    assert sorted(prepare.__all__) == prepare.__all__
    assert all(hasattr(prepare, name) for name in prepare.__all__)


def test_summaries_read_as_people_do():
    frame = mixed()
    assert "smokes  binary          0.16  False" in str(
        SimpleImputer().fit(frame).summary()
    )
    predicted = str(IterativeImputer().fit(frame).summary())
    assert "income" in predicted
    assert "discriminant" in predicted
    assert " nan" not in predicted


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_a_fitted_transformer_survives_pickle(transformer):
    frame = mixed(60)
    out = transformer.fit_transform(frame)
    again = pickle.loads(pickle.dumps(transformer)).transform(frame)
    pd.testing.assert_frame_equal(again, out)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_fitted_arrays_have_the_shapes_that_they_claim(transformer):
    transformer.fit(mixed(60))
    for name, shape in transformer._shapes().items():
        assert getattr(transformer, name).shape == shape


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_summary_prints_the_columns(transformer):
    text = str(transformer.fit([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]]).summary())
    assert type(transformer).__name__ in text

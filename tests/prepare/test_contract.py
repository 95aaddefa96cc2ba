"""scikit-learn's contract, for every transformer."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lyceum import prepare
from lyceum.prepare import (
    DropMissing,
    FillMissing,
    MinMax,
    MissingCategory,
    OneOfC,
    PredictMissing,
    Standardize,
)

TRANSFORMERS = [
    Standardize(),
    Standardize(with_mean=False),
    MinMax(),
    OneOfC(),
    FillMissing(),
    FillMissing(continuous="median", indicator=True),
    MissingCategory(),
    DropMissing(),
    PredictMissing(),
]


@parametrize_with_checks(TRANSFORMERS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_public_names_are_sorted():
    assert sorted(prepare.__all__) == prepare.__all__
    assert all(hasattr(prepare, name) for name in prepare.__all__)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_summary_prints_the_columns(transformer):
    text = str(transformer.fit([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]]).summary())
    assert type(transformer).__name__ in text

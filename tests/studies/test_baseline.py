"""The constant guesses obey the laws of learners and are what they say."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from tests.checks.laws import check
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum import load, save, scan
from lyceum.studies import MeanRegressor, PriorClassifier


@pytest.mark.parametrize("learner", [PriorClassifier(), MeanRegressor()], ids=repr)
def test_scikit_learns_checks(learner):
    obeys_scikit_learn(learner)


@pytest.mark.parametrize("learner", [PriorClassifier(), MeanRegressor()], ids=repr)
def test_laws(learner):
    check(learner)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 3))
    return (
        X,
        rng.choice(["a", "b", "c"], size=len(X), p=[0.5, 0.3, 0.2]),
        rng.integers(0, 3, len(X)),
    )


def test_posteriors_are_those_of_scikit_learns_prior(table):
    X, y, w = table
    ours = PriorClassifier().fit(X, y, w).predict_proba(X[:5])
    theirs = DummyClassifier(strategy="prior").fit(X, y, w).predict_proba(X[:5])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_the_mean_is_that_of_scikit_learn_also_far_from_zero(table):
    X, _, w = table
    y = 1e6 + X[:, 0]
    ours, theirs = MeanRegressor().fit(X, y, w), DummyRegressor().fit(X, y, w)
    np.testing.assert_allclose(ours.predict(X[:3]), theirs.predict(X[:3]), rtol=1e-14)


def test_missing_cells_and_words_are_no_obstacle_and_the_model_file_is_whole(tmp_path):
    import pyarrow as pa

    rows = scan(
        pa.table({"x": [1.0, None, 3.0], "s": ["u", None, "v"], "y": ["n", "n", "p"]}),
        "y",
    )
    model = PriorClassifier().fit(rows)
    again = load(save(model, tmp_path / "m.skops"))
    np.testing.assert_allclose(again.predict_proba(rows), [[2 / 3, 1 / 3]] * 3)
    assert "share" in str(model.summary())

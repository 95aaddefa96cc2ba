"""On singular tables neither repeated rows, nor the scale of weights, nor units change an
answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lyceum.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from lyceum.decomposition import DiscriminantProjection
from lyceum.density import GaussianDensity
from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.neighbors import (
    LocallyWeightedRegression,
    NearestCentroid,
    RBFNetworkRegressor,
)
from lyceum.trees import ModelTreeRegressor

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=(60, 3))
TABLES = {
    "dependent": np.column_stack(
        [BASE, BASE[:, 0], np.full(60, 3.7), BASE[:, 1] + BASE[:, 2]]
    ),
    "nearly dependent": np.column_stack(
        [BASE, BASE[:, 0] + 1e-7 * RNG.normal(size=60)]
    ),
    "fewer rows than columns": RNG.normal(size=(15, 20)),
    "few rows": RNG.normal(size=(15, 10)),
}
EVERY_ROW = {"n_neighbors": "all", "kernel": "gaussian", "bandwidth": 2.0}
LEARNERS = {
    "a plane": LinearRegression(),
    "local planes": LocallyWeightedRegression(),
    "local parabolas": LocallyWeightedRegression(degree=2),
    "local planes of all rows": LocallyWeightedRegression(**EVERY_ROW),
    "radial units": RBFNetworkRegressor(n_centers=5, centers="uniform", alpha=0.0),
    "radial units by EM": RBFNetworkRegressor(
        n_centers=3, centers="uniform", fit_by="em", units="linear", max_iter=20
    ),
    "logistic": LogisticRegression(tol=1e-12),
    "linear discriminant": LinearDiscriminantAnalysis(),
    "quadratic discriminant": QuadraticDiscriminantAnalysis(),
    "density": GaussianDensity(),
    "Fisher": DiscriminantProjection(),
    "centroids": NearestCentroid(metric="mahalanobis"),
    "model tree": ModelTreeRegressor(),
}
# Weights count rows in most learners; in these only their ratios matter.
RATIOS = ("a plane", "local planes of all rows", "radial units", "radial units by EM")
# Least norm and ridges of these are in units of the columns.
FREE_OF_UNITS = (
    "local planes",
    "local parabolas",
    "linear discriminant",
    "quadratic discriminant",
    "centroids",
)

pytestmark = pytest.mark.filterwarnings("ignore")


def targets(X):
    rng = np.random.default_rng(1)
    y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=len(X))
    return y, np.digitize(y, np.quantile(y, [0.3, 0.7]))


def answers(name, X, y, w, queries):
    """What a learner says of the queries, after learning from weighted rows."""
    learner = LEARNERS[name]
    number, label = y
    is_regressor = learner.__sklearn_tags__().estimator_type == "regressor"
    learner.fit(X, number if is_regressor else label, sample_weight=w)
    methods = (
        "predict_proba",
        "decision_function",
        "transform",
        "score_samples",
        "predict",
    )
    return getattr(learner, next(each for each in methods if hasattr(learner, each)))(
        queries
    )


def assert_same(one, two):
    assert_allclose(one, two, rtol=0, atol=1e-7 * np.abs(one).max())


def draw(table):
    """A table, its targets, weights and rows to ask about, most of them new."""
    X = TABLES[table]
    rng = np.random.default_rng(2)
    w = rng.integers(1, 5, size=len(X)).astype(float)
    return X, targets(X), w, np.vstack([X, 0.7 * X + 0.3 * X[::-1]])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", LEARNERS)
def test_weights_are_repeated_rows(name, table):
    X, y, w, queries = draw(table)
    again = np.repeat(np.arange(len(X)), w.astype(int))
    again = np.random.default_rng(3).permutation(again)
    repeated = answers(
        name, X[again], tuple(part[again] for part in y), np.ones(len(again)), queries
    )
    assert_same(answers(name, X, y, w, queries), repeated)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", RATIOS)
def test_the_scale_of_weights_does_not_matter(name, table, scale):
    X, y, w, queries = draw(table)
    assert_same(
        answers(name, X, y, w, queries), answers(name, X, y, scale * w, queries)
    )


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", FREE_OF_UNITS)
def test_the_unit_of_a_column_does_not_matter(name, table, unit):
    X, y, w, queries = draw(table)
    units = np.ones(X.shape[1])
    units[0] = unit
    one, two = (
        answers(name, X, y, w, queries),
        answers(name, X * units, y, w, queries * units),
    )
    assert_same(one, two)

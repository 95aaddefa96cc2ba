"""The cost of a learner is linear in the columns of its table: nothing is looked up anew for every
column."""

import cProfile

import numpy as np
import pandas as pd
import pytest

from lyceum import catalog

LEARNERS = [
    "NaiveBayes",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "RidgeCV",
    "Lasso",
    "LogisticRegression",
    "DecisionTreeClassifier",
    "KNeighborsClassifier",
    "GaussianDensity",
    "KMeans",
    "PCA",
    "StandardScaler",
    "SimpleImputer",
]


def n_calls(work):
    """The number of functions called, those of C included: the same on every machine."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        work()
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def costs(name, n_columns, n_rows=24):
    """Calls of every verb on a table of numbers and categories."""
    rng, entry = np.random.default_rng(0), catalog.find(name)
    numbers = rng.standard_normal((n_rows, n_columns))
    texts = rng.choice(["a", "b", "c"], (n_rows, n_columns))
    X = pd.DataFrame(
        {f"c{j}": texts[:, j] if j % 2 else numbers[:, j] for j in range(n_columns)}
    )
    y = (
        np.arange(float(n_rows))
        if entry.task == "regression"
        else np.arange(n_rows) % 2
    )
    learner = entry.load()()
    found = {"fit": n_calls(lambda: learner.fit(X, y))}
    for verb in ("predict", "transform", "score_samples", "explain"):
        if hasattr(learner, verb):
            found[verb] = n_calls(lambda verb=verb: getattr(learner, verb)(X))
    return found | {"summary": n_calls(learner.summary)}


@pytest.mark.filterwarnings("ignore")  # more columns than rows
@pytest.mark.parametrize("name", LEARNERS)
def test_twice_the_columns_take_twice_the_calls(name):
    costs(name, 8)  # imports are not counted
    few, many = costs(name, 60), costs(name, 120)
    growth = {verb: many[verb] / few[verb] for verb in few}
    assert {verb: ratio for verb, ratio in growth.items() if ratio > 2.2} == {}

"""scikit-learn's contract, and one answer for one thread and two."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.checks.scikit_learn import obeys_scikit_learn
from threadpoolctl import threadpool_limits

from lyceum.bayes import (
    BayesianGaussianClassifier,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminant,
)
from lyceum.data import scan

OTHER_SETTINGS = [  # than the defaults, which tests/checks has
    NaiveBayes(priors="laplace", var_smoothing=1e-6),
    LinearDiscriminantAnalysis(covariance="diagonal", priors="uniform"),
    QuadraticDiscriminantAnalysis(covariance="spherical"),
    BayesianGaussianClassifier(covariance="shared"),
    NaiveBayes(continuous="histogram", n_bins=np.linspace(-5.0, 10.0, 40)),
]
LEARNERS = [
    NaiveBayes(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    *OTHER_SETTINGS,
]
KEEPS_VALUES = NaiveBayes(continuous="kernel")  # not on Dask
REGULARIZED = RegularizedDiscriminant(
    alpha=0.3, gamma=0.2
)  # scikit-learn's check sets `cv` to lists of rows


@pytest.mark.filterwarnings(
    "ignore::scipy.linalg.LinAlgWarning"
)  # some checks have fewer rows than columns
@pytest.mark.parametrize("learner", [*OTHER_SETTINGS, KEEPS_VALUES], ids=repr)
def test_scikit_learns_checks(learner):
    obeys_scikit_learn(learner)


@pytest.mark.parametrize(
    "learner",
    [*LEARNERS, KEEPS_VALUES, RegularizedDiscriminant(random_state=0)],
    ids=repr,
)
def test_one_thread_and_two_give_the_same_bits(learner):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60_000)
    X = rng.normal(size=(60_000, 4)) + y[:, None]
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(learner.fit(X, y).predict_log_proba(X))
    np.testing.assert_array_equal(*found)


def mixed_table(n=300):
    rng = np.random.default_rng(1)
    # the last class is absent from the first rows
    kind = np.sort(rng.integers(0, 3, n))
    return pd.DataFrame(
        {
            "length": rng.normal(size=n) + kind,
            "weight": rng.normal(size=n) * (1 + kind) + 1e6,
            "color": rng.choice(["red", "green", "blue"], n),
            "kind": np.array(["p", "q", "r"])[kind],
        }
    )


@pytest.mark.parametrize("learner", [*LEARNERS, REGULARIZED], ids=repr)
def test_array_equals_parquet_equals_dask(learner, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    table = mixed_table()
    X = table.drop(columns="kind")
    wanted = learner.fit(X, table["kind"]).predict_proba(X)
    table.to_parquet(tmp_path / "table.parquet", row_group_size=41)
    streamed = scan(tmp_path / "table.parquet", target="kind", memory=0)
    np.testing.assert_allclose(
        learner.fit(streamed).predict_proba(streamed), wanted, rtol=1e-6, atol=1e-9
    )
    spread = scan(dask.from_pandas(table, npartitions=5), target="kind")
    np.testing.assert_allclose(
        learner.fit(spread).predict_proba(X), wanted, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("learner", [*LEARNERS, KEEPS_VALUES, REGULARIZED], ids=repr)
# the first chunks are short
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_any_chunks_equal_one_fit(learner):
    table = mixed_table()
    X, y = table.drop(columns="kind"), table["kind"].to_numpy()
    wanted = learner.fit(X, y).predict_proba(X)
    cuts = np.sort(
        np.random.default_rng(2).choice(np.arange(1, len(X)), 6, replace=False)
    )
    streamed = clone(learner)
    for a, b in zip([0, *cuts], [*cuts, len(X)]):
        streamed.partial_fit(X[a:b], y[a:b])
    np.testing.assert_allclose(streamed.predict_proba(X), wanted, rtol=1e-6, atol=1e-9)

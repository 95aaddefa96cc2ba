"""A mismatch of categories counts the same however many categories a column has."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from lyceum.cluster import AgglomerativeClustering, FuzzyCMeans, KMeans, KMedoids
from lyceum.decomposition import ClassicalMDS
from lyceum.kernels import SVC, KernelPCA, KernelRidge, Nystroem, RBFKernel, RBFSampler
from lyceum.linear import LinearRegression, LogisticRegression, Ridge
from lyceum.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocallyWeightedRegression,
    NearestCentroid,
    RBFNetworkRegressor,
)


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "answer": pd.Categorical(rng.choice(["no", "yes"], n)),
            "color": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
        }
    )


def indicators(frame):
    """Every category as a column of its own, by pandas."""
    return pd.get_dummies(frame, dtype=float).to_numpy()


# one row differs from the first in a category of two values, the other in one of three
PROBE = pd.DataFrame(
    {
        "answer": pd.Categorical(["no", "yes", "no"], categories=["no", "yes"]),
        "color": pd.Categorical(
            ["red", "red", "blue"], categories=["blue", "green", "red"]
        ),
    }
)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_a_mismatch_of_two_categories_is_as_far_as_one_of_three(metric):
    model = KNeighborsRegressor(n_neighbors=3, metric=metric).fit(
        PROBE, [0.0, 1.0, 2.0]
    )
    near = model.kneighbors(PROBE)
    by_row = dict(zip(near.rows[0].tolist(), near.distances[0].tolist()))
    assert by_row[1] == pytest.approx(by_row[2])
    if metric == "euclidean":
        assert by_row[1] == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_neighbors_are_those_of_scipy_on_one_column_per_category(metric):
    frame = table()
    scipy_name = {"manhattan": "cityblock"}.get(metric, metric)
    expected = np.sort(cdist(indicators(frame), indicators(frame), scipy_name), axis=1)
    y = np.arange(len(frame)) % 2
    model = KNeighborsClassifier(5, metric=metric).fit(frame, y)
    distances = model.kneighbors(frame).distances
    np.testing.assert_allclose(distances, expected[:, :5], atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        KMeans(3, random_state=0),
        FuzzyCMeans(3, random_state=0),
        KMedoids(3, metric="euclidean", random_state=0),
        AgglomerativeClustering(3, metric="euclidean", linkage="average"),
        NearestCentroid(),
        SVC(gamma=0.3),
        KernelRidge(kernel="rbf", gamma=0.3),
        LocallyWeightedRegression(standardize=False),
        RBFNetworkRegressor(standardize=False, random_state=0),
        KernelPCA(2, kernel="rbf", gamma=0.3),
        ClassicalMDS(2),
        Nystroem(n_components=8, gamma=0.3, random_state=0),
        RBFSampler(n_components=8, random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_learners_by_distance_see_one_column_per_category(learner):
    # the same answers as on columns that pandas made
    frame = table()
    y = frame["size"].to_numpy().round(2)
    if hasattr(learner, "classes_") or type(learner).__name__ in (
        "SVC",
        "NearestCentroid",
    ):
        y = (y > 0).astype(int)
    ask = "predict" if hasattr(learner, "predict") else "transform"
    coded = getattr(learner.fit(frame, y), ask)(frame)
    coded = np.asarray(coded)
    plain = getattr(learner.fit(indicators(frame), y), ask)(indicators(frame))
    np.testing.assert_allclose(coded, np.asarray(plain), atol=1e-7)


def test_linear_models_keep_one_column_for_two_categories():
    frame = table()
    y = frame["size"].to_numpy()
    names = ("answer=yes",)
    for model in (Ridge(), LinearRegression(), LogisticRegression()):
        target = y > 0 if isinstance(model, LogisticRegression) else y
        model.fit(frame[["answer"]], target)
        assert model.design_names == names


def test_learned_mahalanobis_is_the_pseudo_inverse_over_one_column_per_category():
    frame = table()
    Z = indicators(frame)
    M = np.linalg.pinv(np.cov(Z.T), rcond=1e-10)
    expected = np.sort(cdist(Z, Z, "mahalanobis", VI=M), axis=1)[:, :4]
    y = np.arange(len(frame)) % 2
    model = KNeighborsClassifier(4, metric="mahalanobis").fit(frame, y)
    np.testing.assert_allclose(model.kneighbors(frame).distances, expected, atol=1e-7)
    tree = AgglomerativeClustering(2, metric="mahalanobis", linkage="average")
    assert tree.fit(frame).n_clusters_ == 2


def test_an_unknown_category_is_neither_of_the_two_known_ones():
    frame = PROBE[["answer"]]
    model = KNeighborsRegressor(n_neighbors=3).fit(frame, [0.0, 1.0, 2.0])
    near = model.kneighbors(pd.DataFrame({"answer": pd.Categorical(["maybe"])}))
    np.testing.assert_allclose(near.distances, 1.0)


def test_a_kernel_of_a_frame_is_that_of_one_column_per_category():
    frame = table()
    expected = np.exp(-0.3 * cdist(indicators(frame), indicators(frame), "sqeuclidean"))
    np.testing.assert_allclose(RBFKernel(gamma=0.3).gram(frame), expected, atol=1e-12)

"""What stands on clusters: features, a classifier per cluster, clusters that few labels name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from lyceum import load, save
from lyceum.bayes import NaiveBayes
from lyceum.cluster import HDBSCAN, ClusterFeatures, ClusterLabels, KMeans
from lyceum.data import scan
from lyceum.datasets import load as load_dataset, path
from lyceum.ensemble import ClusterClassifier
from lyceum.errors import DataError, ModelFileError

X, Y = make_blobs(
    400, 3, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 0], [9, 9, 9]], random_state=0
)


@pytest.mark.syllabus("12.6")
def test_distances_to_clusters_help_a_linear_classifier():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 2))
    y = np.linalg.norm(Z, axis=1) > 1.2  # a circle: no line separates it
    features = ClusterFeatures(KMeans(12, random_state=0)).fit(Z)
    plain = LogisticRegression().fit(Z, y).score(Z, y)
    assert (
        LogisticRegression(max_iter=500)
        .fit(features.transform(Z), y)
        .score(features.transform(Z), y)
        > plain + 0.1
    )
    assert (
        ClusterFeatures(KMeans(3), kind="one_of_k", keep=False).fit_transform(Z).sum()
        == 400
    )


@pytest.mark.syllabus("12.6")
def test_a_classifier_per_cluster_learns_what_one_cannot():
    rng = np.random.default_rng(1)
    side = rng.integers(0, 2, 600)
    Z = np.column_stack([20.0 * side + rng.normal(size=600), rng.normal(size=600)])
    y = np.where(
        (Z[:, 1] > 0) == (side == 1), "up", "down"
    )  # the rule turns round from side to side
    model = ClusterClassifier(KMeans(2, random_state=0), LogisticRegression()).fit(Z, y)
    assert LogisticRegression().fit(Z, y).score(Z, y) < 0.7
    assert model.score(Z, y) > 0.97
    np.testing.assert_allclose(model.predict_proba(Z).sum(axis=1), 1.0)


@pytest.mark.syllabus("12.6")
def test_few_labels_name_all_rows():
    names = np.array(["a", "b", "c", "d"], dtype=object)[Y]
    few = np.array([None] * len(Y), dtype=object)
    for c in range(4):
        few[np.flatnonzero(c == Y)[:2]] = "abcd"[c]
    model = ClusterLabels(KMeans(4, random_state=0)).fit(X, few)
    assert model.score(X, names.astype(str)) == 1.0
    assert model.counts_.sum(axis=1).tolist() == [2, 2, 2, 2]
    with pytest.raises(DataError, match="no row has a label"):
        ClusterLabels().fit(X, np.full(len(X), -1))


def test_what_is_made_of_clusters_is_saved_and_a_damaged_one_refused(tmp_path):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [6, 6]], 30, axis=0)
    y = np.where(Z[:, 0] > Z[:, 1], "a", "b")
    few = np.where(np.arange(60) % 7, None, y)
    start = KMeans(2, random_state=0)
    for model, answer in (
        (ClusterFeatures(start).fit(Z), "transform"),
        (ClusterFeatures(start, kind="one_of_k").fit(Z), "transform"),
        (ClusterClassifier(start, NaiveBayes(), min_rows=5).fit(Z, y), "predict_proba"),
        (ClusterLabels(start).fit(Z, few), "predict_proba"),
    ):
        path = save(model, tmp_path / "m.lyceum", force=True)
        np.testing.assert_allclose(
            getattr(load(path), answer)(Z), getattr(model, answer)(Z)
        )
        model.clusterer_ = None
        with pytest.raises(ModelFileError, match="without a clusterer"):
            save(model, tmp_path / "broken.lyceum")


@pytest.mark.syllabus("12.6.4")
def test_uses_of_clusters_work_on_real_rows_and_say_what_they_learned():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert ClusterClassifier(classifier=NaiveBayes()).fit(X, y).score(X, y) > 0.95
    few = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    assert ClusterLabels().fit(X, few).score(X, y) > 0.85
    features = ClusterFeatures().fit(X)
    said = [
        str(model.summary())
        for model in (features, ClusterClassifier(classifier=NaiveBayes()).fit(X, y))
    ]
    assert "8, distances" in said[0]
    assert "that of all rows" in said[1] or "its own" in said[1]
    labels = ClusterLabels().fit(X, few)
    assert [row[1] for row in labels.summary().tables[0].rows] == labels.counts_.sum(
        axis=1
    ).tolist()


@pytest.mark.syllabus("12.6")
def test_columns_of_text_stay_beside_distances_as_zeros_and_ones():
    frame = pd.DataFrame(
        {"age": [20.0, 21.0, 60.0, 61.0], "town": ["Ulm", "Bonn", "Ulm", "Köln"]}
    )
    model = ClusterFeatures(KMeans(2, random_state=0)).fit(frame)
    found = model.transform(frame)
    assert found.columns.tolist()[0] == "age"
    assert found.shape == (4, 6)
    assert found.iloc[:, 1:4].to_numpy().tolist() == [
        [0, 0, 1],
        [1, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
    ]
    np.testing.assert_allclose(found.iloc[:, 4:], model.clusterer_.transform(frame))


@pytest.mark.syllabus("12.6")
def test_binary_numbers_beside_clusters_stay_as_they_were_written(tmp_path):
    file = tmp_path / "m.csv"
    file.write_text(
        "size,x\n" + "".join(f"{3 + 4 * (i % 2)},{i}.5\n" for i in range(12))
    )
    rows = scan(file)
    model = ClusterFeatures(KMeans(2, random_state=0)).fit(rows)
    found = np.asarray(model.transform(rows))
    assert set(found[:, 0]) == {3.0, 7.0}
    np.testing.assert_allclose(
        found[:, 2:], np.asarray(KMeans(2, random_state=0).fit(rows).transform(rows))
    )


@pytest.mark.syllabus("12.6")
def test_defaults_take_a_table_of_text_with_missing_cells():
    penguins = load_dataset("penguins")
    local = ClusterClassifier(random_state=0).fit(penguins)
    assert local.score(penguins) > 0.98
    assert len(local.estimators_) >= 2
    found = local.explain(penguins.take([0, 3]))
    assert found.detail(0).rows[0][0] in ("its own", "that of all rows")
    assert found.as_dict()["rows"][1]["cluster"] == local.predict_cluster(penguins)[3]
    named = ClusterLabels(random_state=0).fit(penguins)
    assert named.score(penguins) > 0.9
    assert "Adelie" in str(named.explain(penguins.take([0])).detail(0))


@pytest.mark.syllabus("12.6")
def test_posteriors_of_a_cluster_are_its_smoothed_shares():
    Z, y = (
        [[0.0], [0.1], [0.2], [9.0], [9.1], [50.0]],
        ["a", "b", None, "b", None, None],
    )
    model = ClusterLabels(KMeans(3, init=[[0.0], [9.0], [50.0]]), smoothing=0.5)
    model.fit(Z, y, sample_weight=[1, 2, 1, 1, 1, 1])
    prior = np.array([1.0, 3.0]) / 4  # of the labeled rows, by weight
    expected = [
        (np.array([1.0, 2.0]) + 0.5 * prior) / 3.5,
        (np.array([0.0, 1.0]) + 0.5 * prior) / 1.5,
        prior,
    ]
    np.testing.assert_allclose(model.predict_proba([[0.0], [9.0], [50.0]]), expected)
    assert model.unlabeled_.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.syllabus("12.6")
def test_each_cluster_is_decided_by_a_classifier_of_its_rows_alone():
    y = np.where(X[:, 2] > X[:, 2].mean(), "up", np.where(X[:, 1] > 0, "down", "side"))
    start = KMeans(4, random_state=0)
    model = ClusterClassifier(start, NaiveBayes()).fit(X, y)
    labels, said = start.fit(X).labels_, model.predict_proba(X)
    for c in np.flatnonzero(model.decides_ >= 0):
        alone = NaiveBayes().fit(X[labels == c], y[labels == c])
        columns = np.searchsorted(model.classes_, alone.classes_)
        part = said[labels == c][
            :, columns
        ]  # a class that the cluster lacks keeps a smoothed prior
        np.testing.assert_allclose(
            part / part.sum(axis=1, keepdims=True), alone.predict_proba(X[labels == c])
        )


def test_learners_of_other_libraries_get_numbers_and_no_rows_without_weight():
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        town=np.where(Y > 1, "Ulm", "Bonn")
    )
    y = np.where(X[:, 1] > X[:, 1].mean(), "up", "down")
    model = ClusterClassifier(
        SklearnKMeans(4, n_init=1, random_state=0), LogisticRegression()
    ).fit(frame, y)
    assert model.score(frame, y) > 0.97
    w = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    half = ClusterClassifier(KMeans(2, init=X[[1, 3]]), LogisticRegression())
    some = half.fit(X, y, sample_weight=w).predict_proba(X)
    np.testing.assert_allclose(
        some, half.fit(X[w > 0], y[w > 0]).predict_proba(X), rtol=1e-6
    )
    with pytest.raises(DataError, match="KNeighborsClassifier takes no sample_weight"):
        ClusterClassifier(classifier=KNeighborsClassifier()).fit(X, y, sample_weight=w)


def test_rows_in_no_cluster_are_decided_by_all_rows():
    y = np.where(X[:, 1] > X[:, 1].mean(), "up", "down")
    far = [[500.0, -500.0, 900.0]]
    dense = HDBSCAN(min_cluster_size=20, min_samples=5)
    model = ClusterClassifier(dense, NaiveBayes()).fit(X, y)
    assert model.predict_cluster(far).tolist() == [-1]
    np.testing.assert_allclose(
        model.predict_proba(far), model.fallback_.predict_proba(far)
    )
    named = ClusterLabels(dense).fit(X, y)
    np.testing.assert_allclose(named.predict_proba(far)[0], named.class_prior_)


def test_a_file_is_fitted_in_passes_and_gives_the_same_model(tmp_path):
    frame = pd.read_csv(path("penguins"))
    rows = scan(path("penguins"), target="species")
    streamed = scan(path("penguins"), target="species", memory=0)
    assert not streamed.in_memory
    for model in (ClusterClassifier(random_state=0), ClusterLabels(random_state=0)):
        held = model.fit(rows).predict_proba(rows)
        np.testing.assert_allclose(
            model.fit(streamed).predict_proba(rows), held, rtol=1e-5, atol=1e-8
        )
        assert len(held) == len(frame)


def test_sparse_rows_are_learned_from_as_dense_ones():
    X, y = make_blobs(90, 3, random_state=0)
    X = np.where(np.abs(X) < 2.0, 0.0, X)
    model = ClusterLabels(KMeans(3, random_state=0))
    expected = model.fit(X, y).predict_proba(X)
    found = model.fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(X))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_damaged_classifier_per_cluster_is_refused(tmp_path):
    y = np.where(X[:, 1] > X[:, 1].mean(), "up", "down")
    for name, value, message in (
        ("decides_", np.full(4, 99), "places of its classifiers"),
        ("estimators_", None, "without its classifiers"),
        ("fallback_", NaiveBayes().fit(X, Y), "of other classes"),
    ):
        model = ClusterClassifier(KMeans(4, random_state=0), NaiveBayes()).fit(X, y)
        setattr(model, name, value)
        with pytest.raises(ModelFileError, match=message):
            save(model, tmp_path / "broken.lyceum")

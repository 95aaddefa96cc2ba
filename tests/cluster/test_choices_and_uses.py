"""The number of clusters, what clusters are used for, the pictures, and the command."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as SklearnMixture
from typer.testing import CliRunner

from lyceum import plot
from lyceum.cli import app
from lyceum.cluster import (
    HDBSCAN,
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    choose_k,
    silhouette,
)
from lyceum.errors import DataError, SettingError
from lyceum.mixtures import GaussianMixture
from lyceum.studies import cluster_table

X, Y = make_blobs(
    400, 3, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 0], [9, 9, 9]], random_state=0
)


@pytest.mark.syllabus("12.5.6")
def test_elbow_silhouette_and_bic_find_the_groups():
    found = choose_k(X, range(1, 9))
    assert (found.by_silhouette, found.by_bic) == (4, 4)
    np.testing.assert_allclose(found.second_differences[1:-1], np.diff(found.sse, 2))
    assert found.elbow == found.clusters[1:-1][np.diff(found.sse, 2).argmax()]
    assert adjusted_rand_score(found.model.labels_, Y) == 1.0
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.syllabus("12.5")
def test_other_learners_choose_too():
    for learner in (
        KMedoids(),
        AgglomerativeClustering(),
        GaussianMixture(random_state=0),
    ):
        assert choose_k(X, range(2, 7), learner=learner).k == 4
    mixture = choose_k(
        X, range(1, 4), learner=GaussianMixture(random_state=0, covariance_type="diag")
    )
    expected = SklearnMixture(1, covariance_type="diag").fit(X).bic(X)
    assert mixture.bic[0] == pytest.approx(expected, rel=1e-3)
    with pytest.raises(SettingError, match="ascending"):
        choose_k(X, [3, 2])


@pytest.mark.syllabus("12.6.3")
def test_texts_are_clustered_by_their_words():
    sports = [
        "ball goal team match",
        "goal keeper ball match",
        "team wins match goal",
        "ball team keeper",
    ]
    cooking = [
        "salt oven bread flour",
        "bread flour yeast oven",
        "oven salt butter flour",
        "yeast bread salt",
    ]
    words = TfidfVectorizer()
    rows = words.fit_transform(sports + cooking)
    model = KMeans(2, metric="cosine", n_init=5, random_state=0).fit(rows)
    assert adjusted_rand_score(model.labels_, [0] * 4 + [1] * 4) == 1.0
    tops = [
        set(top) for top in model.top_columns(words.get_feature_names_out(), most=3)
    ]
    assert any(top <= {"ball", "goal", "team", "match"} for top in tops)


@pytest.mark.syllabus("12.3", "12.5", "12.1")
def test_pictures_are_drawn_from_any_tree_and_clustering():
    from matplotlib import pyplot

    big, _ = make_blobs(2000, 2, centers=5, random_state=1)
    for model in (
        AgglomerativeClustering(5, linkage="average").fit(big),
        HDBSCAN().fit(big),
    ):
        ax = plot.dendrogram(model)
        assert len(ax.get_xticklabels()) == 40
        total = sum(
            int(text.get_text().strip("()")) if "(" in text.get_text() else 1
            for text in ax.get_xticklabels()
        )
        assert total == 2000
    ax = plot.silhouette(
        silhouette(big, AgglomerativeClustering(3, linkage="single").fit(big).labels_)
    )
    assert len(ax.get_yticklabels()) == 3
    assert len(plot.elbow(choose_k(X, range(1, 5)))) == 3
    model = KMeans(3, init=X[:3], record=True).fit(X)
    assert len(plot.kmeans_steps(model, X, most=3)) == min(3, len(model.record_))
    with pytest.raises(SettingError, match="record=True"):
        plot.kmeans_steps(KMeans(3).fit(X), X)
    pyplot.close("all")


@pytest.mark.syllabus("12.6")
def test_the_command_clusters_a_mixed_table_and_writes_a_report(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.append(rng.normal(25, 2, 60), rng.normal(60, 2, 60)),
            "town": ["Ulm"] * 60 + ["Bonn"] * 60,
            "income": np.append(rng.normal(20, 1, 60), rng.normal(50, 1, 60)),
        }
    )
    frame.loc[5, "income"] = np.nan
    frame.to_csv(tmp_path / "people.csv", index=False)
    out, page = tmp_path / "labels.csv", tmp_path / "page.html"
    arguments = [
        "cluster",
        str(tmp_path / "people.csv"),
        "--out",
        str(out),
        "--report",
        str(page),
        "--json",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["facts"]["clusters"] == 2
    labels = pd.read_csv(out)["cluster"]
    assert adjusted_rand_score(labels, [0] * 60 + [1] * 60) == 1.0
    text = page.read_text(encoding="utf8")
    assert "Silhouettes" in text
    assert "Ulm (100%)" in text
    assert "http" not in text.replace("http://www.w3.org", "")


@pytest.mark.syllabus("12.6")
def test_numbers_are_standardized_and_trees_are_shown(tmp_path):
    frame = load_iris(as_frame=True).data
    found = cluster_table(frame, learner="AgglomerativeClustering", clusters=3)
    assert adjusted_rand_score(found.labels, load_iris().target) > 0.6
    assert "Dendrogram" in found.write_report(tmp_path / "iris.html").read_text(
        encoding="utf8"
    )
    assert cluster_table(frame, learner="HDBSCAN").labels.max() >= 1
    with pytest.raises(SettingError, match="finds no clusters"):
        cluster_table(frame, learner="Ridge")


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bic_does_not_count_rounding_as_a_better_fit(dtype):
    X = np.random.default_rng(0).normal(size=(3, 3)) * 10 + 100
    found = choose_k(np.repeat(X, 10, axis=0).astype(dtype), range(1, 9))
    assert found.by_bic == 3


def test_more_clusters_than_rows_are_refused_in_words_of_choose_k():
    with pytest.raises(
        DataError,
        match=r"clusters goes up to 10, but there are 3 rows: .*range\(1, 4\)",
    ):
        choose_k(np.eye(3))


def test_columns_of_centers_need_centers():
    with pytest.raises(NotFittedError):
        KMeans().top_columns()
    with pytest.raises(
        SettingError, match="there are 2 names, but the centers have 3 columns"
    ):
        KMeans(2, random_state=0).fit(np.eye(3)).top_columns(["a", "b"])

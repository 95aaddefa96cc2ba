"""Sentences on clusters: data on which each must appear, and data on which it must not."""

import numpy as np
import pandas as pd
import pytest

from lyceum.studies import cluster_table

RNG = np.random.default_rng(3)
TWO = np.repeat([0.0, 9.0], 40)


def _said(frame, **options):
    return " ".join(cluster_table(frame, **options).statements)


def _apart():
    noise = RNG.normal(size=(80, 2))
    kind = np.where(TWO > 0, "b", "a")
    return pd.DataFrame({"x": TWO + noise[:, 0], "z": TWO + noise[:, 1], "kind": kind})


def _no_groups(n=300, d=6):
    return pd.DataFrame(RNG.normal(size=(n, d)), columns=list("abcdef")[:d])


def _two_binary_columns():
    """Groups in every column, but none in the table."""
    X = RNG.integers(0, 2, size=(200, 2)) * 9.0 + RNG.normal(size=(200, 2))
    return pd.DataFrame(X, columns=["p", "q"])


def _one_telling_column():
    return pd.DataFrame({"x": 30 * TWO + RNG.normal(size=80), "u": RNG.normal(size=80)})


def _with_outlier():
    frame = _apart().drop(columns="kind")
    frame.loc[79] = [500.0, -400.0]
    return frame


CASES = [
    ("well apart", (_apart(), {}), (_no_groups(), {})),
    ("hardly apart", (_no_groups(), {}), (_apart(), {})),
    ("touch each other", (pd.DataFrame(
        {"x": TWO / 7 + RNG.normal(size=80), "z": TWO / 7 + RNG.normal(size=80)}
    ), {"clusters": 2}), (_apart(), {})),
    ("cells of every column are shuffled", (_two_binary_columns(), {}), (_apart(), {})),
    ("clusters would be as clear", (_no_groups(), {}), (_apart(), {})),
    ("nearer to another cluster", (_no_groups(), {}), (_apart(), {})),
    ("outliers perhaps", (_with_outlier(), {"clusters": 3}), (_apart(), {})),
    ("exceptions, not groups", (_with_outlier(), {"clusters": 2}), (_apart(), {})),
    ("little more than the values of 'x'", (_one_telling_column(), {"clusters": 2}),
     (_apart(), {})),
    ("'kind' is 'b' in 100 % (50 % of all rows)", (_apart(), {}), (_no_groups(), {})),
    ("'x' is high (", (_apart(), {}), (_no_groups(), {})),
    ("no part in the clusters", (_apart().assign(id=[f"p{i}" for i in range(80)]), {}),
     (_apart(), {})),
    ("belong to none (noise)", (_apart().drop(columns="kind").assign(
        x=lambda f: f.x.where(f.index % 9 > 0, RNG.uniform(-60, 60, 80))
    ), {"learner": "HDBSCAN"}), (_apart(), {})),
]  # fmt: skip


@pytest.mark.parametrize(("words", "yes", "no"), CASES, ids=[c[0] for c in CASES])
def test_a_sentence_stands_where_the_numbers_support_it_alone(words, yes, no):
    assert words in _said(yes[0], **yes[1])
    assert words not in _said(no[0], **no[1])


def test_the_first_sentence_counts():
    found = cluster_table(_apart(), clusters=2)
    assert found.statements[0] == "The 80 rows form 2 clusters, of 40 and 40 rows."
    assert found.as_dict()["statements"] == list(found.statements)


def test_every_row_is_listed_with_its_identifier_and_its_number_in_the_spreadsheet(
    tmp_path,
):
    frame = _apart().assign(id=[f"p{i}" for i in range(80)])
    path = tmp_path / "people.csv"
    path.write_text("People of 2024\n" + frame.to_csv(index=False), encoding="utf-8")
    found = cluster_table(path, clusters=2)
    members = pd.read_csv(found.write_labels(tmp_path / "members.csv"))
    assert members["row"].tolist() == list(range(3, 83))  # below a title and the names
    assert members["id"].tolist() == frame["id"].tolist()
    assert members["cluster"].tolist() == found.labels.tolist()
    np.testing.assert_allclose(members["x"], frame["x"])
    np.testing.assert_allclose(
        members["silhouette"], found.silhouette.points, atol=1e-4
    )
    parquet = pd.read_parquet(found.write_labels(tmp_path / "members.parquet"))
    assert parquet["cluster"].tolist() == found.labels.tolist()


def test_the_report_has_sentences_a_picture_and_members(tmp_path):
    frame = _apart().assign(id=[f"p{i}" for i in range(80)])
    found = cluster_table(frame, clusters=2)
    page = found.write_report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The rows and their clusters" in page
    assert "Cluster 1: the nearest and the farthest" in page
    best = found.members.column("silhouette").to_numpy().argmax()
    assert f"<td>p{best}</td>" in page
    assert "form 2 clusters" in page
    # the plane keeps what is apart apart: the distance of groups to their width
    points = found.plane[:, 1:]
    centers = [points[found.labels == c].mean(axis=0) for c in (0, 1)]
    width = max(points[found.labels == c].std(axis=0).max() for c in (0, 1))
    assert np.linalg.norm(centers[0] - centers[1]) > 3 * width
    assert 0.7 < found.plane_share <= 1.0

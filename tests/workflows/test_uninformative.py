"""Columns that say nothing of rows stay out of clusters and components, and are named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from lyceum.cluster import choose_k
from lyceum.errors import DataError, SettingError
from lyceum.studies import cluster_table
from lyceum.workflows import reduce_table, uninformative_columns

_random = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "row": np.arange(60),
        "x": np.repeat([0.0, 9.0], 30) + _random.normal(size=60),
        "z": np.repeat([0.0, 9.0], 30) + _random.normal(size=60),
        "planet": "earth",
    }
)


@pytest.mark.syllabus("12.6")
def test_identifiers_and_constants_do_not_make_clusters_and_are_named():
    found = cluster_table(TABLE.sample(frac=1.0, random_state=0))
    assert dict(found.left_out) == {"row": "identifier", "planet": "constant"}
    assert [row[0] for row in found.profile.rows] == ["x", "z"]
    assert "row (identifier), planet (constant)" in str(found.summary())
    declared = cluster_table(TABLE, kinds={"row": "continuous"}, clusters=2)
    assert "row" in [row[0] for row in declared.profile.rows]


@pytest.mark.syllabus("13.1")
def test_identifiers_and_constants_are_no_part_of_components_unless_kept():
    found = reduce_table(TABLE)
    assert list(found.model.schema_.names) == ["x", "z"]
    assert "row (identifier)" in found.page()
    assert "row" in reduce_table(TABLE, keep=["row"]).model.schema_.names


def test_a_table_of_nothing_else_keeps_its_columns():
    assert uninformative_columns(TABLE[["row", "planet"]]) == {}


def test_numbers_of_clusters_that_are_a_table_are_refused_in_a_sentence():
    with pytest.raises(SettingError, match=r"has shape \(60, 2\)"):
        choose_k(None, TABLE[["x", "z"]].to_numpy())


def test_a_table_of_texts_alone_is_clustered_by_words(tmp_path):
    topics = ["goal team match player kick win", "oven bread flour cake salt bake"]
    words = [topic.split() for topic in [*topics, "brake wheel fuel gear road drive"]]
    rng = np.random.default_rng(0)
    texts = pd.DataFrame(
        {
            "text": [
                f"{' '.join(rng.permutation(words[i % 3])[:4])} {i}" for i in range(60)
            ]
        }
    )
    found = cluster_table(texts)
    assert adjusted_rand_score(np.arange(60) % 3, found.labels) == 1.0
    assert (found.choice.k, found.model[-1].metric) == (3, "cosine")
    for row in found.profile.rows:
        here = [set(topic) for topic in words if row[1].split(", ")[0] in topic]
        assert set(row[1].split(", ")[:6]) == here[0]
    assert (
        found.model.predict(pd.DataFrame({"text": ["bread and flour"]}))[0]
        == found.labels[1]
    )
    assert "flour" in found.write_report(tmp_path / "page.html").read_text(
        encoding="utf-8"
    )


def test_texts_without_a_word_in_common_are_refused_in_a_sentence():
    names = pd.DataFrame({"name": [f"w{i}x y{i}z" for i in range(30)]})
    with pytest.raises(
        DataError, match="no word of column 'name' stands in at least 2 rows"
    ):
        cluster_table(names)

"""Perceptron, trees and k-means: the figures of scenes are those of the record and of the book."""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans as ScikitKMeans

from lyceum import datasets
from lyceum.theatre import play


def questions(shown):
    return [scene.question for scene in shown.scenes if scene.question is not None]


def test_the_perceptron_by_a_loop_on_paper():
    shown = play("perceptron")
    X = np.array([[2, 1], [1, 3], [3, 2], [-1, 1], [-2, -1], [0, -2]], dtype=float)
    y = [1, 1, 1, -1, -1, -1]
    w = np.zeros(2)
    b = 0.0
    scores = []
    for _ in range(2):
        for x, sign in zip(X, y):
            scores.append(w @ x + b)
            if sign * (w @ x + b) <= 0:
                w = w + sign * x
                b = b + sign
    assert [question.answer for question in questions(shown)] == scores
    last = shown.steps.records[-1]
    assert (last["coef"].tolist(), last["intercept"]) == (w.tolist(), b) == ([3, 2], -1)
    assert last["coef"].tolist() == shown.model.coef_.ravel().tolist()
    assert "without a mistake" in shown.scenes[-1].lines[-1]


def test_classes_that_overlap_end_with_a_sentence():
    shown = play(
        "perceptron",
        datasets.path("german_credit"),
        columns=["duration", "age"],
        target="class",
    )
    assert "still wrong" in shown.scenes[-1].lines[-1]
    assert len(shown.scenes) <= 121


def test_id3_of_the_weather_as_quinlan_has_it():
    shown = play("id3")
    asked = questions(shown)
    expected = [0.940, 0.247, 0.029, 0.152, 0.048, 0.971, 0.020, 0.020, 0.971]
    expected += [0.971, 0.571, 0.971, 0.020]
    assert [round(question.answer, 3) for question in asked] == expected
    titles = [scene.title for scene in shown.scenes if "split by" in scene.title]
    assert titles == [
        "All rows: split by outlook",
        "Outlook = rainy: split by windy",
        "Outlook = sunny: split by humidity",
    ]
    # the natural logarithm is diagnosed
    (natural,) = [m for m in asked[0].mistakes if "natural" in m[1]]
    assert natural[0] == pytest.approx(0.940286 * np.log(2), abs=1e-6)


def test_c45_divides_by_the_information_of_the_split():
    shown = play("c45")
    root = [record for record in shown.steps.records if record["node"] == "root"]
    ratios = {record["column"]: record["ratio"] for record in root if "ratio" in record}
    # Quinlan (1993) and Witten and Frank: the gain ratios of the weather
    assert {name: round(ratio, 3) for name, ratio in ratios.items()} == {
        "outlook": 0.156,
        "temperature": 0.019,
        "humidity": 0.152,
        "windy": 0.049,
    }


@pytest.mark.parametrize("method", ["id3", "c45"])
def test_trees_show_cuts_of_numbers(method):
    shown = play(
        method,
        datasets.path("penguins"),
        columns=["bill_length_mm", "island"],
        target="species",
        settings={"depth": 2},
    )
    for record, scene in zip(shown.steps.records, shown.scenes):
        if "gain" not in record:
            continue
        # the gain again from the counts of the branches that are shown
        rows = scene.tables[0].rows
        n = sum(row[1] for row in rows)
        left = sum(row[1] * row[-1] for row in rows) / n
        gain = record["entropy"] - left
        cuts = [
            int(n) for line in scene.lines for n in re.findall(r"among (\d+)", line)
        ]
        if cuts:  # the price of a cut, Quinlan (1996)
            gain -= np.log2(cuts[0]) / n
        assert record["gain"] == pytest.approx(gain, abs=1e-9)
        if method == "c45":
            shares = np.array([row[1] for row in rows]) / n
            information = -(shares * np.log2(shares)).sum()
            assert record["ratio"] == pytest.approx(record["gain"] / information)


def test_kmeans_follows_its_record_and_another_library():
    shown = play("kmeans")
    X = shown_points(shown)
    model = shown.model
    assign = [r for r in shown.steps.records if r["phase"] == "assign"]
    for record, kept in zip(assign, model.record_, strict=True):
        assert record["objective"] == kept["objective"]
        squares = ((X[:, None] - record["centers"]) ** 2).sum(axis=2)
        assert record["objective"] == pytest.approx(squares.min(axis=1).sum())
    peer = ScikitKMeans(2, init=X[:2], n_init=1).fit(X)
    np.testing.assert_allclose(assign[-1]["centers"], peer.cluster_centers_)
    assert assign[-1]["objective"] == pytest.approx(peer.inertia_)
    move = [r["objective"] for r in shown.steps.records]
    assert move == sorted(move, reverse=True)


def shown_points(shown):
    mark = shown.scenes[0].pictures[0]["marks"][0]
    return np.column_stack([mark["x"], mark["y"]])

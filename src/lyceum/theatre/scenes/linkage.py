"""Agglomerative clustering: the two nearest clusters merge, and the dendrogram grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lyceum._core.text import show_count
from lyceum.cluster import AgglomerativeClustering
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import Mark, drawing, label, line, plane, points
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, figure

_COLUMNS = (
    StepColumn("one", "one", "the rows of one cluster"),
    StepColumn("other", "other", "the rows of the other"),
    StepColumn("height", "distance", "the smallest distance of two clusters"),
    StepColumn("clusters", "clusters", "clusters that are left"),
)
_RULES: dict[str, tuple[Callable[..., Any], str]] = {
    "single": (np.min, "smallest"),
    "complete": (np.max, "largest"),
    "average": (np.mean, "mean"),
}


def perform(stage: Stage) -> Performance:
    """A scene per merge."""
    X = stage.table.X
    n = len(X)
    rule = stage["linkage"]
    model = AgglomerativeClustering(1, linkage=rule, metric="euclidean").fit(X)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    clusters = [[i] for i in range(n)]
    merges: list[tuple[list[int], list[int], float]] = []
    lines = [
        f"Every row is a cluster of its own. {rule} linkage: the distance of two clusters is the"
        f" {_RULES[rule][1]} of the distances of their rows."
    ]
    scenes = [
        Scene(
            "The start: a cluster per row",
            lines,
            _pictures(stage, merges, clusters),
            [_distances(clusters, D, rule)],
        )
    ]
    records: list[dict[str, Any]] = [{"step": 0, "clusters": n}]
    for record in model.steps().records:
        one = sorted(np.asarray(record["one"]).tolist())
        other = sorted(np.asarray(record["other"]).tolist())
        height = float(record["height"])
        pairs = [f"d({i + 1}, {j + 1}) = {figure(D[i, j])}" for i in one for j in other]
        clusters = [each for each in clusters if each not in (one, other)]
        clusters.append(sorted(one + other))
        merges.append((one, other, height))
        words = [f"{_text(one)} and {_text(other)} are the nearest clusters."]
        if len(pairs) <= 12:
            words.append(
                f"{', '.join(pairs)}: the {_RULES[rule][1]} is {figure(height)}."
            )
        words.append(
            f"They merge at the height {figure(height)};"
            f" {show_count(len(clusters), 'cluster')} left."
        )
        question = SceneQuestion(
            f"{_text(one)} and {_text(other)} merge next. At which distance?",
            height,
            [
                (float(each(D[np.ix_(one, other)])), f"that is the {name} distance")
                for key, (each, name) in _RULES.items()
                if key != rule
            ],
        )
        tables = [_distances(clusters, D, rule)] if len(clusters) > 1 else []
        title = f"Merge {len(merges)}: {_text(one)} with {_text(other)}"
        scenes.append(
            Scene(title, words, _pictures(stage, merges, clusters), tables, question)
        )
        records.append(
            {
                "step": len(merges),
                "one": _text(one),
                "other": _text(other),
                "height": height,
                "clusters": len(clusters),
            }
        )
    return Performance(
        scenes,
        Steps(f"Merges of {rule} linkage", "merge", _COLUMNS, records, {}),
        model,
    )


def _text(rows: list[int]) -> str:
    return "{" + ", ".join(str(i + 1) for i in rows) + "}"


def _distances(clusters: list[list[int]], D: np.ndarray, rule: str) -> Table:
    """The distances of all pairs of clusters."""
    measure = _RULES[rule][0]
    heads = ["", *(_text(each) for each in clusters[:-1])]
    rows = []
    for i, one in enumerate(clusters[1:], start=1):
        cells = [float(measure(D[np.ix_(one, each)])) for each in clusters[:i]]
        rows.append([_text(one), *cells, *[""] * (len(clusters) - 1 - i)])
    return Table("Distances of the clusters", heads, rows)


def _pictures(
    stage: Stage, merges: list[Any], clusters: list[list[int]]
) -> list[dict[str, Any]]:
    X = stage.table.X
    series = np.full(len(X), -1)
    several = [each for each in clusters if len(each) > 1]
    for number, each in enumerate(several):
        series[each] = number
    marks: list[Mark] = [points(X, series)]
    if merges:
        one, other, _ = merges[-1]
        marks.append(line([X[one].mean(axis=0), X[other].mean(axis=0)], 5))
    width = np.ptp(X, axis=0)
    for i, row in enumerate(X + 0.03 * width):
        x, y, *z = row.tolist()
        marks.append(label(x, y, str(i + 1), "start", z=z[0] if z else None))
    rows = plane("Rows in the colors of their clusters", X, stage.table.names, marks)
    return [rows, _dendrogram(len(X), merges)]


def _dendrogram(n: int, merges: list[Any]) -> dict[str, Any]:
    """The merges so far, at their heights; the rows of a cluster stand side by side."""
    parts: dict[tuple[int, ...], list[int]] = {(row,): [row] for row in range(n)}
    for one, other, _ in merges:
        rows = parts.pop(tuple(one)) + parts.pop(tuple(other))
        parts[tuple(sorted(rows))] = rows
    largest_first = sorted(parts.values(), key=len, reverse=True)
    order = [row for rows in largest_first for row in rows]
    across = {row: 40 + 44.0 * k for k, row in enumerate(order)}
    top = max((height for *_, height in merges), default=1.0)
    marks: list[Mark] = [label(x, 236, str(row + 1)) for row, x in across.items()]
    heights: list[Mark] = []
    joints = {(row,): (across[row], 0.0) for row in range(n)}
    for one, other, height in merges:
        y = 215 - 180 * height / top
        ends = []
        for part in (one, other):
            x, low = joints[tuple(part)]
            marks.append(line([[x, 215 - 180 * low / top], [x, y]], 5))
            ends.append(x)
        marks.append(line([[ends[0], y], [ends[1], y]], 5))
        # at the right end, where the bars of its parts do not reach
        heights.append(label(max(ends) + 4, y + 4, figure(height), "start"))
        joints[tuple(sorted(one + other))] = (sum(ends) / 2, height)
    title = "The dendrogram so far: heights are distances"
    return drawing(title, 60 + 44.0 * n, 250, [*marks, *heights])


METHODS = (
    TheatreMethod(
        "linkage",
        "Agglomerative clustering",
        "Clusters from the bottom up: the two nearest merge, again and again, and the"
        " dendrogram keeps"
        " at which distance.",
        perform,
        StageTable(
            "the textbook's six points",
            ("x1", "x2"),
            (
                np.array([0.0, 1.0, 5.0, 6.5, 9.0, 2.0]),
                np.array([0.0, 1.5, 5.0, 6.0, 1.0, 4.0]),
            ),
        ),
        columns=(2, 3),
        most_rows=12,
        settings=(StageSetting("linkage", "single", "the linkage", tuple(_RULES)),),
    ),
)

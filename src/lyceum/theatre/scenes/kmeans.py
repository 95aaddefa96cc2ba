"""k-means in two phases per iteration: rows to the nearest center, centers to the mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.text import show_count
from lyceum.cluster import KMeans
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import arrow, plane, points, ring
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, figure, vector

_MOST_LISTED = 30  # rows whose distances are listed
_COLUMNS = (
    StepColumn("phase", "phase", "rows to centers, or centers to means"),
    StepColumn("objective", "SSE", "SSE = Σ |x − c of its cluster|²"),
    StepColumn(
        "centers",
        "c",
        "c = the mean of the rows nearest to it",
        "",
        ("cluster", "column"),
    ),
)


def perform(stage: Stage) -> Performance:
    """Two scenes per iteration: the rows are assigned, the centers move."""
    X = stage.table.X
    k = min(stage["k"], len(X))
    start: Any = X[:k] if stage["start"] == "first rows" else stage["start"]
    model = KMeans(k, init=start, n_init=1, record=True, random_state=stage.seed)
    model.fit(X)
    scenes: list[Scene] = []
    records: list[dict[str, Any]] = []
    before = np.full(len(X), -1)
    for number, record in enumerate(model.record_):
        centers = np.asarray(record["centers"])
        squares = ((X[:, None] - centers) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        scenes.append(_assigned(stage, number, centers, squares, before))
        records.append({"phase": "assign", **record})
        if number + 1 < len(model.record_):
            after = model.record_[number + 1]
            scenes.append(_moved(stage, number, labels, centers, after["centers"]))
            # each row to the center of its cluster, which has moved
            moved = float(((X - after["centers"][labels]) ** 2).sum())
            records.append({**after, "phase": "move", "objective": moved})
        before = labels
    records = [{**record, "step": i} for i, record in enumerate(records)]
    names = {
        "column": list(stage.table.names),
        "cluster": [str(j + 1) for j in range(k)],
    }
    steps = Steps("Steps of k-means", "step", _COLUMNS, records, names)
    return Performance(scenes, steps, model)


def _assigned(
    stage: Stage,
    number: int,
    centers: np.ndarray,
    squares: np.ndarray,
    before: np.ndarray,
) -> Scene:
    X = stage.table.X
    labels = squares.argmin(axis=1)
    changed = np.flatnonzero(labels != before)
    # the row that is worked out: the first that changes its cluster, else the first of all
    i = int(changed[0]) if len(changed) else 0
    j = int(labels[i])
    difference = X[i] - centers[j]
    written = " + ".join(f"({figure(d)})²" for d in difference)
    sse = float(squares[np.arange(len(X)), labels].sum())
    named = [f"c{c + 1} = {vector(center)}" for c, center in enumerate(centers)]
    lines = [
        f"Centers: {', '.join(named)}.",
        f"Row {i + 1}, x = {vector(X[i])}: |x − c{j + 1}|² = {written} = {figure(squares[i, j])},"
        " the smallest.",
        f"SSE, the sum of the smallest over all rows, is {figure(sse)}.",
    ]
    if number and not len(changed):
        lines.append("No row changes its cluster: k-means has ended.")
    elif number:
        lines.append(f"{show_count(len(changed), 'row')} changed the cluster.")
    question = SceneQuestion(
        f"What is the squared distance of row {i + 1}, x = {vector(X[i])}, to"
        f" c{j + 1} = {vector(centers[j])}?",
        float(squares[i, j]),
        [
            (float(np.sqrt(squares[i, j])), "that is the distance, not its square"),
            (
                float(np.abs(difference).sum()),
                "differences are squared before they are added",
            ),
        ],
    )
    heads = ["row", *(f"|x − c{c + 1}|²" for c in range(len(centers))), "cluster"]
    rows = [
        [r + 1, *each, f"{labels[r] + 1}"]
        for r, each in enumerate(squares[:_MOST_LISTED].tolist())
    ]
    table = Table("Squared distances to the centers", heads, rows)
    picture = _plane(stage, labels, centers, [ring(X[i], f"row {i + 1}")])
    title = f"Iteration {number + 1}: every row goes to its nearest center"
    return Scene(title, lines, [picture], [table], question)


def _moved(
    stage: Stage,
    number: int,
    labels: np.ndarray,
    centers: np.ndarray,
    after: np.ndarray,
) -> Scene:
    X = stage.table.X
    name = stage.table.names[0]
    lines = []
    for j, center in enumerate(after):
        members = np.flatnonzero(labels == j)
        lines.append(
            f"c{j + 1} ← the mean of {show_count(len(members), 'row')} = {vector(center)}"
        )
    # the center that moves farthest is worked out
    j = int(((after - centers) ** 2).sum(axis=1).argmax())
    cells = X[labels == j, 0]
    if 0 < len(cells) <= 12:
        total = " + ".join(map(figure, cells))
        lines.append(
            f"{name} of c{j + 1}: ({total}) / {len(cells)} = {figure(after[j, 0])}"
        )
    question = SceneQuestion(
        f"Cluster {j + 1} has {show_count(len(cells), 'row')}, the sum of {name} is"
        f" {figure(cells.sum())}. What is {name} of its new center?",
        float(after[j, 0]),
        [(float(centers[j, 0]), "that is where the center was")],
    )
    arrows = [arrow(old, new, 5) for old, new in zip(centers, after)]
    title = f"Iteration {number + 1}: every center moves to the mean of its rows"
    picture = _plane(stage, labels, after, arrows)
    return Scene(title, lines, [picture], question=question)


def _plane(
    stage: Stage, labels: np.ndarray, centers: np.ndarray, more: list[Any]
) -> dict[str, Any]:
    X = stage.table.X
    names = [f"c{j + 1}" for j in range(len(centers))]
    stars = points(centers, np.arange(len(centers)), names=names, shape="star")
    title = "Rows in the colors of their clusters, centers as stars"
    return plane(title, X, stage.table.names, [points(X, labels), stars, *more])


METHODS = (
    TheatreMethod(
        "kmeans",
        "k-means",
        "Clusters about their means: rows go to the nearest center, centers to the mean of their"
        " rows, until nothing changes.",
        perform,
        StageTable(
            "the textbook's seven points",
            ("x1", "x2"),
            (
                np.array([1.0, 1.5, 3.0, 5.0, 3.5, 4.5, 3.5]),
                np.array([1.0, 2.0, 4.0, 7.0, 5.0, 5.0, 4.5]),
            ),
        ),
        columns=(2, 3),
        settings=(
            StageSetting("k", 2, "the number of clusters", low=1, high=6),
            StageSetting(
                "start",
                "first rows",
                "the first centers",
                ("first rows", "k-means++", "random"),
            ),
        ),
    ),
)

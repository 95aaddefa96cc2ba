"""Lazy learners at one point: the nearest rows and their vote, and a line through near rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum.neighbors import KNeighborsClassifier, LocallyWeightedRegression
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import line, plane, points, ring
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, figure, vector

_NEIGHBORS = (
    StepColumn("row", "row", "the next nearest row"),
    StepColumn("distance", "d", "d = √Σ (x − q)²"),
    StepColumn("label", "class", "the class of the row"),
    StepColumn("votes", "votes", "rows of each class so far", "", ("class",)),
)


def _query(stage: Stage, X: np.ndarray) -> np.ndarray:
    """The point that is asked about: as set, else a little off the middle."""
    texts = str(stage["query"]).replace(";", " ").split()
    if texts and len(texts) == X.shape[1]:
        return np.array([float(text) for text in texts])
    return np.round(X.mean(axis=0) + 0.1 * np.ptp(X, axis=0), 2)


def _vote(stage: Stage) -> Performance:
    """A scene per neighbor, from the nearest on, and the vote."""
    table = stage.table
    X = table.X
    k = min(stage["k"], len(X))
    query = _query(stage, X)
    model = KNeighborsClassifier(k).fit(X, table.target)
    distances, near = (np.asarray(each)[0] for each in model.kneighbors(query[None]))
    classes = table.classes
    codes = np.searchsorted(classes, table.target)
    lines = [f"q = {vector(query)} is asked about, by its {k} nearest rows."]
    scenes = [Scene("The question", lines, [_circle(stage, codes, query, 0.0, [])])]
    votes = np.zeros(len(classes))
    records: list[dict[str, Any]] = [{"step": 0, "votes": votes.copy()}]
    for number, (i, distance) in enumerate(zip(near.tolist(), distances.tolist()), 1):
        votes[codes[i]] += 1
        squares = " + ".join(
            f"({figure(a)} − {figure(b)})²" for a, b in zip(X[i], query)
        )
        counted = ", ".join(f"{label} {figure(v)}" for label, v in zip(classes, votes))
        lines = [
            f"Row {i + 1}, x = {vector(X[i])}: d = √({squares}) = {figure(distance)}",
            f"It is {table.target[i]}. Votes: {counted}.",
        ]
        question = SceneQuestion(
            f"The neighbor number {number} is row {i + 1}, x = {vector(X[i])}. How far is it"
            " from q ="
            f" {vector(query)}?",
            distance,
            [
                (distance**2, "the root is missing"),
                (float(np.abs(X[i] - query).sum()), "that is the Manhattan distance"),
            ],
        )
        picture = _circle(stage, codes, query, distance, near[:number].tolist())
        scenes.append(
            Scene(
                f"Neighbor {number}: row {i + 1}, {table.target[i]}",
                lines,
                [picture],
                question=question,
            )
        )
        records.append(
            {
                "step": number,
                "row": i + 1,
                "distance": distance,
                "label": str(table.target[i]),
                "votes": votes.copy(),
            }
        )
    answer = str(np.asarray(model.predict(query[None]))[0])
    shares = np.asarray(model.predict_proba(query[None]))[0]
    lines = [
        f"{label}: {figure(v)} / {k} = {figure(p)}"
        for label, v, p in zip(classes, votes, shares)
    ]
    lines.append(f"The answer is {answer}.")
    question = SceneQuestion(
        f"What is the share of {answer} in the vote?", float(shares.max())
    )
    scenes.append(
        Scene(f"The vote: {answer}", lines, [scenes[-1].pictures[0]], question=question)
    )
    records.append({"step": k + 1, "votes": votes.copy()})
    steps = Steps(
        "Neighbors of the point", "step", _NEIGHBORS, records, {"class": classes}
    )
    return Performance(scenes, steps, model)


def _circle(
    stage: Stage, codes: np.ndarray, query: np.ndarray, radius: float, near: list[int]
) -> dict[str, Any]:
    X = stage.table.X
    marks: list[Any] = [
        points(X, codes),
        points(query[None], -1, names=["q"], shape="star"),
    ]
    if radius:
        angles = np.linspace(0, 2 * np.pi, 61)
        marks.append(
            line(
                query + radius * np.column_stack([np.cos(angles), np.sin(angles)]),
                5,
                closed=True,
            )
        )
    marks += [ring(X[i], f"row {i + 1}") for i in near]
    return plane(
        "The point q, and the circle through its farthest neighbor so far",
        X,
        stage.table.names,
        marks,
        equal=True,
    )


_LINE = (
    StepColumn("phase", "phase", "weights, sums, the line, the answer"),
    StepColumn("weight", "Σ w", "w = exp (−(x − q)² / (2 h²))"),
    StepColumn("mean_x", "mean of x", "Σ w x / Σ w"),
    StepColumn("mean_y", "mean of y", "Σ w y / Σ w"),
    StepColumn(
        "slope", "b", "Σ w (x − mean of x) (y − mean of y) / Σ w (x − mean of x)²"
    ),
    StepColumn("answer", "ŷ", "mean of y + b (q − mean of x)"),
)


def _local_line(stage: Stage) -> Performance:
    """The phases of one answer: weights, weighted means, slope, answer."""
    table = stage.table
    x = table.columns[0]
    y = table.target
    width = stage["width"]
    query = float(_query(stage, x[:, None])[0])
    model = LocallyWeightedRegression(
        bandwidth=width, kernel="gaussian", standardize=False
    ).fit(x[:, None], y)
    w = np.exp(-((x - query) ** 2) / (2 * width**2))
    total = float(w.sum())
    mean_x = float(w @ x) / total
    mean_y = float(w @ y) / total
    xx = float(w @ (x - mean_x) ** 2)
    xy = float(w @ ((x - mean_x) * (y - mean_y)))
    slope = xy / xx
    answer = float(np.asarray(model.predict(np.array([[query]])))[0])
    i = int(np.abs(x - query).argmin())
    rows = [
        [r + 1, a, b, c]
        for r, (a, b, c) in enumerate(zip(x.tolist(), y.tolist(), w.tolist()))
    ][:20]
    near = Table(
        "Weights of the rows", ["row", table.names[0], table.target_name, "w"], rows
    )
    ends = np.array([x.min(), x.max()])
    fitted = line(np.column_stack([ends, mean_y + slope * (ends - mean_x)]), 1)
    bare = _line_picture(stage, w, query, [])
    whole = _line_picture(stage, w, query, [fitted])
    scenes = [
        Scene(
            "The question",
            [
                f"What is {table.target_name} at {table.names[0]} = {figure(query)}? Near rows"
                f" count more: h = {figure(width)}."
            ],
            [bare],
        ),
        Scene(
            "Weights: near rows count more",
            [
                f"Row {i + 1}, the nearest: w = exp (−({figure(x[i])} − {figure(query)})² / (2"
                f" · {figure(width)}²)) = {figure(w[i])}",
                f"Σ w = {figure(total)}",
            ],
            [bare],
            [near],
            SceneQuestion(
                f"What is the weight of row {i + 1}, x = {figure(x[i])}, at q ="
                f" {figure(query)} with h = {figure(width)}?",
                float(w[i]),
            ),
        ),
        Scene(
            "Weighted means",
            [
                f"Σ w x / Σ w = {figure(w @ x)} / {figure(total)} = {figure(mean_x)}",
                f"Σ w y / Σ w = {figure(w @ y)} / {figure(total)} = {figure(mean_y)}",
            ],
            [bare],
            (),
            SceneQuestion(
                f"Σ w y = {figure(w @ y)} and Σ w = {figure(total)}. What is the weighted mean"
                " of y?",
                mean_y,
                [(float(y.mean()), "that is the mean without weights")],
            ),
        ),
        Scene(
            "The slope",
            [
                f"Σ w (x − mean)(y − mean) = {figure(xy)}, Σ w (x − mean)² = {figure(xx)}",
                f"b = {figure(xy)} / {figure(xx)} = {figure(slope)}",
            ],
            [whole],
            (),
            SceneQuestion(
                f"The weighted sums are {figure(xy)} of products and {figure(xx)} of squares."
                " What is the slope b?",
                slope,
                [(xx / xy if xy else 0.0, "the other way round")],
            ),
        ),
        Scene(
            "The answer",
            [
                f"ŷ = {figure(mean_y)} + {figure(slope)} · ({figure(query)} −"
                f" {figure(mean_x)}) = {figure(answer)}"
            ],
            [whole],
            (),
            SceneQuestion(
                f"What is the line at q = {figure(query)}? Means {figure(mean_x)} and"
                f" {figure(mean_y)}, slope {figure(slope)}.",
                answer,
            ),
        ),
    ]
    more: list[dict[str, Any]] = [
        {"phase": "question"},
        {"phase": "weights", "weight": total},
        {"phase": "means", "mean_x": mean_x, "mean_y": mean_y},
        {"phase": "slope", "slope": slope},
        {"phase": "answer", "answer": answer},
    ]
    records = [{**each, "step": k} for k, each in enumerate(more)]
    return Performance(
        scenes, Steps("One answer of a local line", "step", _LINE, records, {}), model
    )


def _line_picture(
    stage: Stage, w: np.ndarray, query: float, more: list[Any]
) -> dict[str, Any]:
    table = stage.table
    X = np.column_stack([table.columns[0], table.target])
    low = X[:, 1].min()
    high = X[:, 1].max()
    marks = [
        points(X, 0, sizes=0.15 + 1.6 * w),
        line([[query, low], [query, high]], 5, dashed=True),
        *more,
    ]
    names = (table.names[0], table.target_name)
    return plane("Rows in the sizes of their weights, and q dashed", X, names, marks)


METHODS = (
    TheatreMethod(
        "knn",
        "k nearest neighbors",
        "The nearest rows vote: nothing is learned before the question comes.",
        _vote,
        StageTable.of(
            "the textbook's eight points",
            x1=[1, 2, 2, 3, 5, 6, 6, 4],
            x2=[1, 3, 2, 1, 5, 4, 6, 3],
            answer=["no", "no", "no", "no", "yes", "yes", "yes", "no"],
        ),
        target="class",
        settings=(
            StageSetting("k", 3, "the number of neighbors", low=1, high=15),
            StageSetting("query", "", "the point, two numbers (chosen if empty)"),
        ),
    ),
    TheatreMethod(
        "local_line",
        "Locally weighted line",
        "A line for one question: rows near to it count more, and another question gets"
        " another line.",
        _local_line,
        StageTable.of(
            "the textbook's seven points",
            x=[0, 1, 2, 3, 4, 5, 6],
            y=[1, 1.5, 2.5, 2.5, 1.5, 0.5, 1],
        ),
        columns=(1, 1),
        target="number",
        settings=(
            StageSetting("width", 1.0, "width h of the weights", low=1e-3, high=1e6),
            StageSetting("query", "", "the point (chosen if empty)"),
        ),
    ),
)

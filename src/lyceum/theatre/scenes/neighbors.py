"""Lazy learners at one point: the nearest rows and their vote, and a line through near rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum.neighbors import KNeighborsClassifier, LocallyWeightedRegression
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import ellipses, line, plane, points, ring
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, factor, figure, vector

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
        marks += ellipses(query, np.eye(len(query)), 5, radius)
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


@dataclass(frozen=True)
class _LocalFit:
    """The numbers of one answer: weights, weighted means, sums, slope."""

    x: np.ndarray
    y: np.ndarray
    query: float
    width: float

    @property
    def w(self) -> np.ndarray:
        return np.exp(-((self.x - self.query) ** 2) / (2 * self.width**2))

    def mean(self, values: np.ndarray) -> float:
        return float(self.w @ values) / float(self.w.sum())

    @property
    def xx(self) -> float:
        return float(self.w @ (self.x - self.mean(self.x)) ** 2)

    @property
    def xy(self) -> float:
        offset = self.x - self.mean(self.x)
        return float(self.w @ (offset * (self.y - self.mean(self.y))))


def _local_line(stage: Stage) -> Performance:
    """The phases of one answer: weights, weighted means, slope, answer."""
    table = stage.table
    x = table.columns[0]
    query = float(_query(stage, x[:, None])[0])
    fit = _LocalFit(x, table.target, query, stage["width"])
    model = LocallyWeightedRegression(
        bandwidth=stage["width"], kernel="gaussian", standardize=False
    )
    model.fit(x[:, None], table.target)
    answer = float(np.asarray(model.predict(np.array([[query]])))[0])
    mean_x = fit.mean(x)
    mean_y = fit.mean(fit.y)
    more: list[dict[str, Any]] = [
        {"phase": "question"},
        {"phase": "weights", "weight": float(fit.w.sum())},
        {"phase": "means", "mean_x": mean_x, "mean_y": mean_y},
        {"phase": "slope", "slope": fit.xy / fit.xx},
        {"phase": "answer", "answer": answer},
    ]
    records = [{**each, "step": k} for k, each in enumerate(more)]
    steps = Steps("One answer of a local line", "step", _LINE, records, {})
    return Performance(_line_scenes(stage, fit, answer), steps, model)


def _line_scenes(stage: Stage, fit: _LocalFit, answer: float) -> list[Scene]:
    table = stage.table
    w = fit.w
    total = figure(w.sum())
    q = figure(fit.query)
    h = figure(fit.width)
    mean_x = fit.mean(fit.x)
    mean_y = fit.mean(fit.y)
    slope = fit.xy / fit.xx
    i = int(np.abs(fit.x - fit.query).argmin())
    rows = [[r + 1, *each] for r, each in enumerate(zip(fit.x, fit.y, w))][:20]
    heads = ["row", table.names[0], table.target_name, "w"]
    ends = np.array([fit.x.min(), fit.x.max()])
    fitted = line(np.column_stack([ends, mean_y + slope * (ends - mean_x)]), 1)
    bare = [_line_picture(stage, w, fit.query, [])]
    whole = [_line_picture(stage, w, fit.query, [fitted])]
    sums = (figure(fit.xy), figure(fit.xx))
    return [
        Scene(
            "The question",
            [
                f"What is {table.target_name} at {table.names[0]} = {q}?",
                f"Near rows count more: h = {h}.",
            ],
            bare,
        ),
        Scene(
            "Weights: near rows count more",
            [
                f"Row {i + 1}, the nearest: w = exp (−({figure(fit.x[i])} − {q})² / (2 · {h}²)) ="
                f" {figure(w[i])}",
                f"Σ w = {total}",
            ],
            bare,
            [Table("Weights of the rows", heads, rows)],
            SceneQuestion(
                f"What is the weight of row {i + 1}, x = {figure(fit.x[i])}, at q = {q} with"
                f" h = {h}?",
                float(w[i]),
            ),
        ),
        Scene(
            "Weighted means",
            [
                f"Σ w x / Σ w = {figure(w @ fit.x)} / {total} = {figure(mean_x)}",
                f"Σ w y / Σ w = {figure(w @ fit.y)} / {total} = {figure(mean_y)}",
            ],
            bare,
            question=SceneQuestion(
                f"Σ w y = {figure(w @ fit.y)} and Σ w = {total}. What is the weighted mean of y?",
                mean_y,
                [(float(fit.y.mean()), "that is the mean without weights")],
            ),
        ),
        Scene(
            "The slope",
            [
                f"Σ w (x − mean)(y − mean) = {sums[0]}, Σ w (x − mean)² = {sums[1]}",
                f"b = {sums[0]} / {sums[1]} = {figure(slope)}",
            ],
            whole,
            question=SceneQuestion(
                f"The weighted sums are {sums[0]} of products and {sums[1]} of squares. What is"
                " the slope b?",
                slope,
            ),
        ),
        Scene(
            "The answer",
            [
                f"ŷ = {figure(mean_y)} + {factor(slope)} · ({q} − {factor(mean_x)}) ="
                f" {figure(answer)}"
            ],
            whole,
            question=SceneQuestion(
                f"What is the line at q = {q}? Means {figure(mean_x)} and {figure(mean_y)}, slope"
                f" {figure(slope)}.",
                answer,
            ),
        ),
    ]


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
        columns=(2, 3),
        target="class",
        settings=(
            StageSetting("k", 3, "the number of neighbors", low=1, high=15),
            StageSetting(
                "query", "", "the point, a number per column (chosen if empty)"
            ),
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

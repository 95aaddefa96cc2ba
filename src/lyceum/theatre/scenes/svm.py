"""A support vector machine by SMO: one pair of α after the other, until no pair violates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from lyceum.kernels import SVC
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import Mark, boundary, plane, points, ring
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, factor, figure, vector

_MOST_SCENES = 60
_LISTED = 12  # rows whose α have a column of the table
_COLUMNS = (
    StepColumn("pair", "i, j", "the rows whose v differ most, or promise most"),
    StepColumn("alpha", "α", "α_i and α_j move, Σ α y stays 0", "", ("row",)),
    StepColumn("coef", "w", "w = Σ α y x", "", ("column",)),
    StepColumn("objective", "D", "D = Σ α − ½ |w|², which rises"),
)


def perform(stage: Stage) -> Performance:
    """A scene per step of SMO on the linear kernel, and the verdict."""
    table = stage.table
    X = table.X
    model = SVC(kernel="linear", C=stage["C"], tol=1e-6, record=True)
    model.fit(X, table.target)
    y = np.where(table.target == model.classes_[1], 1.0, -1.0)
    kept = model.record_[:_MOST_SCENES]
    scenes = [_opening(stage, model, y)]
    for before, after in itertools.pairwise(kept):
        scenes.append(_step(stage, y, before, after))
    scenes.append(_verdict(stage, model, y))
    rows = [*kept, {**kept[-1], "pair": []}]
    records = []
    for i, record in enumerate(rows):
        alpha = record["alpha"]
        pair = ", ".join(str(row + 1) for row in record["pair"])
        records.append(
            {
                "step": i,
                "pair": pair,
                "alpha": alpha[:_LISTED],
                "coef": (alpha * y) @ X,
                "objective": record["objective"],
            }
        )
    names = {
        "column": list(table.names),
        "row": [str(i + 1) for i in range(len(X))][:_LISTED],
    }
    return Performance(
        scenes, Steps("Steps of SMO", "step", _COLUMNS, records, names), model
    )


def _opening(stage: Stage, model: SVC, y: np.ndarray) -> Scene:
    low, high = map(str, model.classes_)
    lines = [
        f"y = +1 is {high}, y = −1 is {low}. Every α begins at 0, so w = Σ α y x = 0.",
        "Maximize D = Σ α − ½ Σ α_i α_j y_i y_j x_i·x_j, with 0 ≤ α ≤ C and Σ α y = 0.",
        f"A step moves two α at a time, so that Σ α y stays 0. C = {figure(stage['C'])}.",
    ]
    return Scene(
        "The start: every α is 0",
        lines,
        [_picture(stage, y, np.zeros(len(y)), None, [])],
    )


def _step(stage: Stage, y: np.ndarray, before: Any, after: Any) -> Scene:
    """A pair of α, from the slopes v = y − w·x of its rows."""
    X = stage.table.X
    alpha = after["alpha"]
    w = (before["alpha"] * y) @ X
    new_w = (alpha * y) @ X
    pair = list(after["pair"])
    v = y - X @ w
    picture = _picture(stage, y, alpha, None, pair)
    table = Table(
        "v = y − w·x and α of the rows",
        ["row", "y", "v before", "α before", "α after"],
        [
            [
                i + 1,
                float(y[i]),
                float(v[i]),
                float(before["alpha"][i]),
                float(alpha[i]),
            ]
            for i in range(min(len(y), 20))
        ],
    )
    if len(pair) != 2:
        lines = [
            f"The last digits: α of rows {', '.join(str(i + 1) for i in pair)} solved for"
            " together.",
            f"w = Σ α y x = {vector(new_w)}, D = {figure(after['objective'])}",
        ]
        return Scene("The last digits", lines, [picture], [table])
    # i has the larger v: y α of i rises by d, that of j falls by d
    i, j = sorted(pair, key=lambda row: -v[row])
    square = float(((X[i] - X[j]) ** 2).sum())
    free = float(v[i] - v[j]) / square
    moved = float((alpha[i] - before["alpha"][i]) * y[i])
    lines = [
        f"Rows {i + 1} and {j + 1}: v = {figure(v[i])} and {figure(v[j])} differ.",
        f"|x{i + 1} − x{j + 1}|² = {figure(square)}; d = ({figure(v[i])} − {factor(v[j])}) /"
        f" {figure(square)}"
        f" = {figure(free)}",
    ]
    if abs(free - moved) > 1e-9:
        lines.append(
            f"An α would leave 0 to C = {figure(stage['C'])}: d is cut to {figure(moved)}."
        )
    lines += [
        f"α{i + 1} ← {figure(before['alpha'][i])} + {factor(y[i])} · {figure(moved)} ="
        f" {figure(alpha[i])}",
        f"α{j + 1} ← {figure(before['alpha'][j])} − {factor(y[j])} · {figure(moved)} ="
        f" {figure(alpha[j])}",
        f"w = Σ α y x = {vector(new_w)}, D = {figure(after['objective'])}",
    ]
    question = SceneQuestion(
        f"v{i + 1} = {figure(v[i])}, v{j + 1} = {figure(v[j])}, |x{i + 1} − x{j + 1}|² ="
        f" {figure(square)}, y{i + 1} ="
        f" {figure(y[i])}, α{i + 1} = {figure(before['alpha'][i])}. What is α{i + 1} after the"
        " step?",
        float(alpha[i]),
        [
            (
                float(before["alpha"][i] + y[i] * (v[i] - v[j])),
                "not yet divided by the squared distance",
            )
        ],
    )
    return Scene(f"Rows {i + 1} and {j + 1} move", lines, [picture], [table], question)


def _verdict(stage: Stage, model: SVC, y: np.ndarray) -> Scene:
    X = stage.table.X
    w = model.coef_[0]
    b = round(float(model.intercept_[0]), 12)
    scores = X @ w + b
    support = model.support_.tolist()
    lines = [
        f"w = Σ α y x = {vector(w)}; b = {figure(b)}, so that rows with 0 < α < C have y (w·x"
        " + b) = 1.",
        f"Support vectors: rows {', '.join(str(row + 1) for row in sorted(support))}.",
        f"The margin is 2 / |w| = 2 / {figure(float(np.linalg.norm(w)))} ="
        f" {figure(model.margin_width_[0])} wide.",
        f"Σ α y = {figure(float(model.alpha_ @ y))}, D = {figure(model.dual_objective_[0])},"
        " and the primal ½ |w|² +"
        f" C Σ ξ = {figure(model.primal_objective_[0])}: they meet.",
    ]
    rows = [
        [
            r + 1,
            float(model.alpha_[r]),
            float(y[r] * scores[r]),
            "yes" if model.alpha_[r] else "no",
        ]
        for r in range(min(len(y), 20))
    ]
    table = Table(
        "KKT: α and y (w·x + b) of the rows",
        ["row", "α", "y (w·x + b)", "support vector"],
        rows,
    )
    question = SceneQuestion(
        f"|w| is {figure(float(np.linalg.norm(w)))}. How wide is the margin?",
        float(model.margin_width_[0]),
        [
            (
                float(model.margin_width_[0]) / 2,
                "that is the distance of the margin from the line, half of it",
            )
        ],
    )
    picture = _picture(stage, y, model.alpha_, b, list(support))
    return Scene("The widest margin", lines, [picture], [table], question)


def _picture(
    stage: Stage, y: np.ndarray, alpha: np.ndarray, b: float | None, rows: list[int]
) -> dict[str, Any]:
    """The rows in sizes by α, the line w·x + b = 0 and its margins."""
    X = stage.table.X
    w = (alpha * y) @ X
    top = max(float(alpha.max()), 1e-12)
    marks: list[Mark | None] = [
        points(X, (y > 0).astype(int), sizes=0.8 + 1.7 * alpha / top)
    ]
    if b is None and alpha.any():
        # between the rows of both classes that come nearest to each other along w
        scores = X @ w
        b = -0.5 * float(scores[y > 0].min() + scores[y < 0].max())
    if b is not None:
        marks += [
            boundary(w, b, X),
            boundary(w, b - 1, X, dashed=True),
            boundary(w, b + 1, X, dashed=True),
        ]
    marks += [ring(X[i], f"row {i + 1}") for i in rows]
    title = "Rows in sizes by α; the boundary, and the margins dashed"
    return plane(title, X, stage.table.names, marks, equal=True, room=0.3)


METHODS = (
    TheatreMethod(
        "svm",
        "Support vector machine",
        "The line with the widest margin, by its dual: SMO moves two α at a time, and rows"
        " with α > 0 are"
        " the support vectors.",
        perform,
        StageTable.of(
            "the textbook's three points",
            x1=[1, -1, -1],
            x2=[2, 2, -2],
            answer=["minus", "minus", "plus"],
        ),
        columns=(2, 3),
        target="two classes",
        most_rows=40,
        settings=(StageSetting("C", 10.0, "the largest α, C", low=1e-3, high=1e6),),
    ),
)

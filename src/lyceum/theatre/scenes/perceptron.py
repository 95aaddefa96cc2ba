"""The perceptron, row by row: score, verdict, and the weights after it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum.linear import Perceptron
from lyceum.report import StepColumn, Steps
from lyceum.theatre.marks import arrow, boundary, plane, points, ring
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, factor, figure, products, vector

_MOST_SCENES = 120
_COLUMNS = (
    StepColumn("row", "row", "the row that is looked at"),
    StepColumn("score", "w·x + b", "the weights before the row", "", ("column",)),
    StepColumn("margin", "y (w·x + b)", "wrong if it is not above 0"),
    StepColumn("coef", "w", "w ← w + η y x if the row is wrong", "", ("column",)),
    StepColumn("intercept", "b", "b ← b + η y if the row is wrong"),
)


def perform(stage: Stage) -> Performance:
    """A scene per row that the perceptron looks at."""
    table = stage.table
    X = table.X
    n = len(X)
    model = Perceptron(
        eta0=stage["eta"],
        shuffle=False,
        tol=None,
        record="steps",
        max_iter=max(1, min(stage["passes"], _MOST_SCENES // n)),
    )
    with warnings.catch_warnings():
        # classes that overlap are what the last scene then says
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, table.target)
    sign = np.where(table.target == model.classes_[1], 1.0, -1.0)
    weights = np.zeros(X.shape[1] + 1)
    scenes = [_opening(stage, model, sign)]
    records: list[dict[str, Any]] = [
        {"step": 0, "coef": weights[:-1], "intercept": 0.0},
    ]
    for record in model.record_:
        for i, after in enumerate(record["rows"]):
            turn = _Turn(X[i], sign[i], weights, after)
            scenes.append(_scene(stage, turn, record["step"], i, sign))
            records.append({"step": len(records), "row": i + 1, **turn.record})
            weights = after
    last = scenes[-1]
    verdict = "A pass without a mistake: the classes are separated, and it ends."
    if not model.separable_:
        verdict = "The passes are used up, and rows are still wrong."
    scenes[-1] = replace(last, lines=[*last.lines, verdict])
    labels = {"column": list(table.names)}
    steps = Steps("Steps of the perceptron", "step", _COLUMNS, records, labels)
    return Performance(scenes, steps, model)


class _Turn:
    """A row, its sign, and the weights before and after it."""

    def __init__(self, x: np.ndarray, y: float, before: np.ndarray, after: np.ndarray):
        self.x = x
        self.y = float(y)
        self.before = before
        self.after = after
        self.score = float(before[:-1] @ x + before[-1])

    @property
    def record(self) -> dict[str, Any]:
        return {
            "score": self.score,
            "margin": self.y * self.score,
            "coef": self.after[:-1],
            "intercept": float(self.after[-1]),
        }

    @property
    def is_wrong(self) -> bool:
        return bool((self.before != self.after).any())


def _opening(stage: Stage, model: Perceptron, sign: np.ndarray) -> Scene:
    low, high = map(str, model.classes_)
    lines = [
        f"y = +1 is {stage.table.target_name} = {high}, y = −1 is {low}.",
        f"The weights begin at w = {vector(np.zeros(len(stage.table.names)))}, b = 0: every row"
        " lies on the boundary.",
        f"Rows come in their order. A wrong row moves the weights by η = {figure(stage['eta'])}"
        " times y times the row.",
    ]
    return Scene(
        "The start: all weights are zero", lines, [_picture(stage, sign, None)]
    )


def _scene(stage: Stage, turn: _Turn, number: int, i: int, sign: np.ndarray) -> Scene:
    w = turn.before[:-1]
    b = float(turn.before[-1])
    margin = turn.y * turn.score
    target = stage.table.target[i]
    lines = [
        f"Row {i + 1}: x = {vector(turn.x)}, {stage.table.target_name} = {target}, so"
        f" y = {figure(turn.y)}.",
        f"w·x + b = {products(w, turn.x)} + {factor(b)} = {figure(turn.score)}",
        f"y (w·x + b) = {factor(turn.y)} · {factor(turn.score)} = {figure(margin)}",
    ]
    verdict = "right, nothing moves"
    if turn.is_wrong:
        verdict = "wrong, the weights move"
        eta = figure(stage["eta"])
        move = f"{eta} · {factor(turn.y)}"
        lines += [
            "Not above 0: wrong.",
            f"w ← {vector(w)} + {move} · {vector(turn.x)} = {vector(turn.after[:-1])}",
            f"b ← {figure(b)} + {move} = {figure(turn.after[-1])}",
        ]
    else:
        lines.append("Above 0: right. The weights stay.")
    question = SceneQuestion(
        f"w = {vector(w)}, b = {figure(b)}. What is w·x + b of row {i + 1}, x ="
        f" {vector(turn.x)}?",
        turn.score,
        [
            (turn.score - b, "the intercept b is missing"),
            (margin, "that is y (w·x + b)"),
        ],
    )
    picture = _picture(stage, sign, turn)
    title = f"Pass {number}, row {i + 1}: {verdict}"
    return Scene(title, lines, [picture], question=question)


def _picture(stage: Stage, sign: np.ndarray, turn: _Turn | None) -> dict[str, Any]:
    """The rows, the boundary before and after, and w, which points to the side of +1."""
    X = stage.table.X
    marks: list[Any] = [points(X, (sign > 0).astype(int))]
    if turn is not None:
        w = turn.after[:-1]
        b = float(turn.after[-1])
        if turn.is_wrong:
            marks.append(boundary(turn.before[:-1], turn.before[-1], X, dashed=True))
        marks.append(boundary(w, b, X))
        squares = float(w @ w)
        if squares:
            middle = X.mean(axis=0)
            foot = middle - (w @ middle + b) / squares * w
            length = 0.2 * float(np.ptp(X, axis=0).max())
            marks.append(arrow(foot, foot + length * w / np.sqrt(squares), 5, "w"))
        marks.append(ring(turn.x, "this row"))
    title = "The rows and the boundary w·x + b = 0"
    return plane(title, X, stage.table.names, marks, equal=True, room=0.25)


METHODS = (
    TheatreMethod(
        "perceptron",
        "Perceptron",
        "A line between two classes, found by mistakes: every row on the wrong side pulls the line"
        " over to it.",
        perform,
        StageTable.of(
            "the textbook's six points",
            x1=[2, 1, 3, -1, -2, 0],
            x2=[1, 3, 2, 1, -1, -2],
            answer=["yes", "yes", "yes", "no", "no", "no"],
        ),
        columns=(2, 3),
        target="two classes",
        most_rows=20,
        settings=(
            StageSetting("eta", 1.0, "learning rate η", low=1e-6, high=100),
            StageSetting(
                "passes", 20, "the most passes over the rows", low=1, high=100
            ),
        ),
    ),
)

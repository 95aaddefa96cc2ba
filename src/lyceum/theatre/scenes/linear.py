"""Gradient descent of a line and Newton's steps of a logistic regression, step by step."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import line, plane, points
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, factor, figure, vector

_DESCENT = (
    StepColumn("coef", "b", "b ← b + η Σ r x / n, r = y − b₀ − b x"),
    StepColumn("intercept", "b₀", "b₀ ← b₀ + η Σ r / n"),
    StepColumn("objective", "SSE", "Σ r²", "squares of the target"),
)


def _descend(stage: Stage) -> Performance:
    """A scene per step of gradient descent from zero."""
    table = stage.table
    x = table.columns[0]
    y = table.target
    eta = stage["eta"]
    model = LinearRegression(
        solver="gradient_descent",
        learning_rate=eta,
        standardize=False,
        coef_init=([0.0], 0.0),
        max_iter=stage["steps"],
        record=True,
    )
    with warnings.catch_warnings():
        # some steps are shown, not all that it would take
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x[:, None], y)
    records: list[dict[str, Any]] = []
    scenes: list[Scene] = []
    for number, record in enumerate(model.record_):
        b = float(record["coef"][0])
        a = float(record["intercept"])
        r = y - a - b * x
        picture = _line_picture(stage, model.record_[: number + 1])
        rows = [
            [i + 1, *each]
            for i, each in enumerate(zip(x.tolist(), y.tolist(), r.tolist()))
        ]
        sheet = Table(
            "Residuals r = y − b₀ − b x",
            ["row", table.names[0], table.target_name, "r"],
            rows[:20],
        )
        sse = float(record["objective"])
        records.append({"step": number, "coef": b, "intercept": a, "objective": sse})
        if number == 0:
            lines = [
                "The line begins at b = 0, b₀ = 0.",
                f"SSE = Σ r² = {figure(sse)}; η = {figure(eta)}.",
            ]
            scenes.append(Scene("The start", lines, [picture], [sheet]))
            continue
        last = model.record_[number - 1]
        old = float(last["coef"][0])
        old_a = float(last["intercept"])
        before = y - old_a - old * x
        n = len(x)
        sum_x = float(before @ x)
        sum_r = float(before.sum())
        lines = [
            f"Σ r x = {figure(sum_x)}, Σ r = {figure(sum_r)} of the line before, n = {n}",
            f"b ← {figure(old)} + {figure(eta)} · {factor(sum_x)} / {n} = {figure(b)}",
            f"b₀ ← {figure(old_a)} + {figure(eta)} · {factor(sum_r)} / {n} = {figure(a)}",
            f"SSE falls from {figure(last['objective'])} to {figure(sse)}",
        ]
        if sse > float(last["objective"]):
            lines[-1] = (
                f"SSE rises from {figure(last['objective'])} to {figure(sse)}: η is too large"
            )
        question = SceneQuestion(
            f"b = {figure(old)}, Σ r x = {figure(sum_x)}, n = {n}, η = {figure(eta)}. What is"
            " b after the step?",
            b,
            [
                (old + eta * sum_x, "the mean over the rows is missing"),
                (old - eta * sum_x / n, "a step uphill"),
            ],
        )
        scenes.append(Scene(f"Step {number}", lines, [picture], [sheet], question))
    return Performance(
        scenes, Steps("Steps of gradient descent", "step", _DESCENT, records, {}), model
    )


def _line_picture(stage: Stage, records: list[Any]) -> dict[str, Any]:
    table = stage.table
    X = np.column_stack([table.columns[0], table.target])
    ends = np.array([X[:, 0].min(), X[:, 0].max()])
    marks = [points(X, 0)]
    for record in records[-2:]:
        height = float(record["intercept"]) + float(record["coef"][0]) * ends
        marks.append(
            line(np.column_stack([ends, height]), 1, dashed=record is not records[-1])
        )
    names = (table.names[0], table.target_name)
    # the line begins at 0: it is seen where the rows are not far from there
    held = X
    if np.abs(table.target).max() <= 2.0 * np.ptp(table.target):
        held = np.vstack([X, np.column_stack([ends, np.zeros(2)])])
    return plane("The rows, the line, and the line before dashed", held, names, marks)


_NEWTON = (
    StepColumn("coef", "w", "w ← w − the first part of H⁻¹ g"),
    StepColumn("intercept", "b", "b ← b − the second part of H⁻¹ g"),
    StepColumn("objective", "F", "F = −Σ ln p(y)"),
    StepColumn("gradient", "g", "g = Σ (p − y) (x, 1)", "", ("parameter",)),
)


def _newton(stage: Stage) -> Performance:
    """A scene per Newton step on one column: gradient, Hessian, step."""
    table = stage.table
    x = table.columns[0]
    model = LogisticRegression(C=1e10, tol=1e-8, record=True).fit(
        x[:, None], table.target
    )
    y = (table.target == model.classes_[1]).astype(float)
    scenes: list[Scene] = []
    records: list[dict[str, Any]] = []
    A = np.column_stack([x, np.ones(len(x))])
    for number, record in enumerate(model.record_):
        theta = np.array([record["coef"].ravel()[0], record["intercept"][0]])
        p = 1 / (1 + np.exp(-(A @ theta)))
        g = np.round(A.T @ (p - y), 12)
        picture = _curve(stage, y, model.record_[: number + 1])
        rows = [
            [i + 1, *each]
            for i, each in enumerate(zip(x.tolist(), y.tolist(), p.tolist()))
        ]
        sheet = Table(
            "p = 1 / (1 + exp (−(w x + b)))",
            ["row", table.names[0], "y", "p"],
            rows[:20],
        )
        f = float(record["objective"])
        records.append(
            {
                "step": number,
                "coef": theta[0],
                "intercept": theta[1],
                "objective": f,
                "gradient": g,
            }
        )
        if number == 0:
            lines = [
                f"y = 1 is {table.target_name} = {model.classes_[1]}.",
                f"The learner starts at w = {figure(theta[0])}, b = {figure(theta[1])}, from"
                " least squares.",
                f"F = −Σ ln p(y) = {figure(f)}, g = Σ (p − y) (x, 1) = {vector(g)}",
            ]
            scenes.append(Scene("The start", lines, [picture], [sheet]))
            continue
        scenes.append(
            _newton_scene(
                model.record_[number - 1], theta, A, y, [picture], sheet, number
            )
        )
    names = {"parameter": ["w", "b"]}
    return Performance(
        scenes, Steps("Newton's steps", "step", _NEWTON, records, names), model
    )


def _newton_scene(
    last: Any,
    theta: np.ndarray,
    A: np.ndarray,
    y: np.ndarray,
    pictures: Any,
    sheet: Table,
    number: int,
) -> Scene:
    old = np.array([last["coef"].ravel()[0], last["intercept"][0]])
    p = 1 / (1 + np.exp(-(A @ old)))
    g = np.round(A.T @ (p - y), 12)
    H = A.T @ (A * (p * (1 - p))[:, None])
    step = np.linalg.solve(H, g)
    determinant = float(np.linalg.det(H))
    lines = [
        f"g = Σ (p − y) (x, 1) = {vector(g)}",
        f"H = Σ p (1 − p) (x², x; x, 1) = ({figure(H[0, 0])}, {figure(H[0, 1])}; {figure(H[1, 0])},"
        f" {figure(H[1, 1])}), det H = {figure(determinant)}",
        f"H⁻¹ g = {vector(step)}",
        f"w ← {figure(old[0])} − {factor(step[0])} = {figure(theta[0])}",
        f"b ← {figure(old[1])} − {factor(step[1])} = {figure(theta[1])}",
    ]
    question = SceneQuestion(
        f"w = {figure(old[0])} and H⁻¹ g = {vector(step)}. What is w after the step?",
        float(theta[0]),
        [
            (float(old[0] + step[0]), "a step uphill"),
            (float(old[0] - g[0]), "the gradient without H⁻¹"),
        ],
    )
    return Scene(f"Newton step {number}", lines, pictures, [sheet], question)


def _curve(stage: Stage, y: np.ndarray, records: list[Any]) -> dict[str, Any]:
    table = stage.table
    x = table.columns[0]
    X = np.column_stack([x, y])
    grid = np.linspace(x.min(), x.max(), 61)
    marks = [points(X, y.astype(int))]
    for record in records[-2:]:
        score = record["coef"].ravel()[0] * grid + record["intercept"][0]
        curve = np.column_stack([grid, 1 / (1 + np.exp(-score))])
        marks.append(line(curve, 2, dashed=record is not records[-1]))
    return plane("Rows at y = 0 and 1, and p(y = 1)", X, (table.names[0], "p"), marks)


METHODS = (
    TheatreMethod(
        "gradient_descent",
        "Gradient descent of a line",
        "A line by small steps: its residuals say in which direction the sum of squares falls.",
        _descend,
        StageTable.of(
            "the textbook's five points", x=[0, 1, 2, 3, 4], y=[1, 3, 2, 5, 4]
        ),
        columns=(1, 1),
        target="number",
        settings=(
            StageSetting("eta", 0.1, "learning rate η", low=1e-9, high=10),
            StageSetting("steps", 12, "steps", low=1, high=100),
        ),
    ),
    TheatreMethod(
        "newton",
        "Newton's method for logistic regression",
        "Steps that know the curvature: a few are enough where gradient descent takes hundreds.",
        _newton,
        StageTable.of(
            "the textbook's six rows",
            x=[0, 1, 2, 3, 4, 5],
            answer=["no", "no", "yes", "no", "yes", "yes"],
        ),
        columns=(1, 1),
        target="two classes",
    ),
)

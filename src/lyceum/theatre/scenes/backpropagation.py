"""Backpropagation in a net of two inputs, two hidden nodes and one output: a row forth and back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum.neural import MLPRegressor
from lyceum.report import StepColumn, Steps
from lyceum.theatre.marks import Mark, arrow, box, drawing, label
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, factor, figure, products, vector

_MOST_ROWS = 12  # rows whose steps are shown
_COLUMNS = (
    StepColumn("row", "row", "the row that is shown to the net"),
    StepColumn("output", "o", "o = w·h + c, h = σ(V x + a)"),
    StepColumn("delta", "δ", "δ = y − o"),
    StepColumn("w", "w", "w ← w + η δ h", "", ("hidden",)),
    StepColumn(
        "V", "V", "v_ij ← v_ij + η δ w_j h_j (1 − h_j) x_i", "", ("input", "hidden")
    ),
)


class _Net:
    """The nine numbers of the net, in the order of the learner's record."""

    def __init__(self, parameters: np.ndarray):
        self.V = parameters[:4].reshape(2, 2)
        self.a = parameters[4:6]
        self.w = parameters[6:8]
        self.c = float(parameters[8])

    def hidden(self, x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(x @ self.V + self.a)))

    def output(self, x: np.ndarray) -> float:
        return float(self.hidden(x) @ self.w) + self.c


def perform(stage: Stage) -> Performance:
    """Two scenes per row: forwards to the output, and back with the error."""
    table = stage.table
    X = table.X
    y = (table.target == table.classes[1]).astype(float)
    draws = np.random.default_rng(stage.seed)
    V = np.round(draws.uniform(-0.9, 0.9, (2, 2)), 1)
    w = np.round(draws.uniform(-0.9, 0.9, 2), 1)
    model = MLPRegressor(
        hidden_layer_sizes=(2,),
        activation="sigmoid",
        solver="sgd",
        learning_rate_init=stage["eta"],
        momentum=0.0,
        alpha=0.0,
        shuffle=False,
        standardize=False,
        batch_size=1,
        max_iter=stage["passes"],
        tol=None,
        weights_init=([V, w[:, None]], [np.zeros(2), np.zeros(1)]),
        record="steps",
    )
    with warnings.catch_warnings():
        # a few rows are shown, not all that it would take
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    after = np.concatenate([record["steps"] for record in model.record_])[:_MOST_ROWS]
    before = np.concatenate([V.ravel(), np.zeros(2), w, np.zeros(1)])
    scenes: list[Scene] = []
    records: list[dict[str, Any]] = []
    for number, parameters in enumerate(after):
        i = number % len(X)
        net = _Net(before)
        new = _Net(parameters)
        scenes += [_forward(stage, net, i, y[i]), _backward(stage, net, new, i, y[i])]
        delta = y[i] - net.output(X[i])
        shared = {"row": i + 1, "output": net.output(X[i]), "delta": delta}
        records.append({**shared, "w": net.w, "V": net.V})
        records.append({**shared, "w": new.w, "V": new.V})
        before = parameters
    records = [{**record, "step": k} for k, record in enumerate(records)]
    names = {"input": list(table.names), "hidden": ["h1", "h2"]}
    steps = Steps("Steps of backpropagation", "step", _COLUMNS, records, names)
    return Performance(scenes, steps, model)


def _forward(stage: Stage, net: _Net, i: int, y: float) -> Scene:
    x = stage.table.X[i]
    h = net.hidden(x)
    o = net.output(x)
    lines = [f"Row {i + 1}: x = {vector(x)}, y = {figure(y)}."]
    for j in (0, 1):
        z = float(x @ net.V[:, j] + net.a[j])
        lines.append(
            f"h{j + 1} = σ({products(x, net.V[:, j])} + {factor(net.a[j])}) = σ({figure(z)}) ="
            f" {figure(h[j])}"
        )
    lines.append(f"o = {products(net.w, h)} + {factor(net.c)} = {figure(o)}")
    lines.append(
        f"The error is δ = y − o = {figure(y)} − {factor(o)} = {figure(y - o)}, E = ½ δ² ="
        f" {figure((y - o) ** 2 / 2)}"
    )
    z = float(x @ net.V[:, 0] + net.a[0])
    question = SceneQuestion(
        f"h = {vector(h)}, w = {vector(net.w)}, c = {figure(net.c)}. What is the output o of"
        f" row {i + 1}?",
        o,
        [(1 / (1 + np.exp(-o)), "the output node is linear: no sigmoid there")],
    )
    return Scene(
        f"Row {i + 1}, forwards",
        lines,
        [_picture(stage, net, x, y, None)],
        question=question,
    )


def _backward(stage: Stage, net: _Net, new: _Net, i: int, y: float) -> Scene:
    x = stage.table.X[i]
    eta = stage["eta"]
    h = net.hidden(x)
    delta = y - net.output(x)
    slopes = delta * net.w * h * (1 - h)
    lines = [f"δ = {figure(delta)} goes back along the weights; η = {figure(eta)}."]
    for j in (0, 1):
        lines.append(
            f"δ{j + 1} = δ w{j + 1} h{j + 1} (1 − h{j + 1}) = {factor(delta)} ·"
            f" {factor(net.w[j])} · {figure(h[j])} ·"
            f" {figure(1 - h[j])} = {figure(slopes[j])}"
        )
    for j in (0, 1):
        lines.append(
            f"w{j + 1} ← {figure(net.w[j])} + {figure(eta)} · {factor(delta)} · {figure(h[j])}"
            f" = {figure(new.w[j])}"
        )
    for k in (0, 1):
        for j in (0, 1):
            lines.append(
                f"v{k + 1}{j + 1} ← {figure(net.V[k, j])} + {figure(eta)} ·"
                f" {factor(slopes[j])} · {factor(x[k])} ="
                f" {figure(new.V[k, j])}"
            )
    question = SceneQuestion(
        f"δ = {figure(delta)}, h1 = {figure(h[0])}, w1 = {figure(net.w[0])}, η ="
        f" {figure(eta)}. What is w1 after the step?",
        float(new.w[0]),
        [(float(2 * net.w[0] - new.w[0]), "a step in the wrong direction")],
    )
    return Scene(
        f"Row {i + 1}, back",
        lines,
        [_picture(stage, new, x, y, slopes)],
        question=question,
    )


def _picture(
    stage: Stage, net: _Net, x: np.ndarray, y: float, slopes: np.ndarray | None
) -> dict[str, Any]:
    """The net with its weights, and the values or the errors of its nodes."""
    h = net.hidden(x)
    ins = [(80.0, 70.0), (80.0, 210.0)]
    mids = [(280.0, 70.0), (280.0, 210.0)]
    out = (480.0, 140.0)
    marks: list[Mark] = []
    for k in (0, 1):
        for j in (0, 1):
            sx, sy = ins[k]
            ex, ey = mids[j]
            marks.append(arrow((sx + 50, sy), (ex - 52, ey), 5))
            share = 0.28
            marks.append(
                label(
                    sx + 50 + share * (ex - sx - 100),
                    sy + share * (ey - sy) - 8,
                    figure(net.V[k, j]),
                )
            )
        marks.append(arrow((mids[k][0] + 50, mids[k][1]), (out[0] - 52, out[1]), 5))
        marks.append(label(380, (mids[k][1] + out[1]) / 2 - 8, figure(net.w[k])))
    for k in (0, 1):
        marks.append(box(*ins[k], [stage.table.names[k], figure(x[k])], width=100))
        lines = [f"h{k + 1}", figure(h[k])]
        if slopes is not None:
            lines = [f"h{k + 1}", f"δ{k + 1} {figure(slopes[k])}"]
        marks.append(
            box(*mids[k], lines, width=100, tone="now" if slopes is not None else "")
        )
    o = net.output(x)
    marks.append(box(*out, [f"o {figure(o)}", f"y {figure(y)}"], width=100, tone="now"))
    title = "The net with its weights"
    if slopes is not None:
        title = "The net after the step: errors of the hidden nodes, new weights, new output"
    return drawing(title, 560, 280, marks)


METHODS = (
    TheatreMethod(
        "backpropagation",
        "Backpropagation",
        "A row goes forwards to the output, its error goes back along the weights, and every"
        " weight moves by its"
        " share.",
        perform,
        StageTable.of(
            "exclusive or",
            x1=[0, 0, 1, 1],
            x2=[0, 1, 0, 1],
            answer=["no", "yes", "yes", "no"],
        ),
        target="two classes",
        most_rows=20,
        settings=(
            StageSetting("eta", 0.5, "learning rate η", low=1e-6, high=10),
            StageSetting("passes", 3, "passes over the rows", low=1, high=20),
        ),
    ),
)

"""EM of a Gaussian mixture in two phases: whose row is it, and what do its rows say."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum import datasets
from lyceum.mixtures import GaussianMixture
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import ellipses, plane, points, ring
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, figure, vector

_LISTED = 12  # rows whose shares are listed
_MOST = 40  # iterations that are shown
_COLUMNS = (
    StepColumn("phase", "phase", "E: shares of the rows, M: parameters from them"),
    StepColumn(
        "objective", "ln L", "ln L = Σ ln Σ π N(x; μ, S), at the parameters shown"
    ),
    StepColumn("weights", "π", "π = Σ r / n", "", ("component",)),
    StepColumn("means", "μ", "μ = Σ r x / Σ r", "", ("component", "column")),
)


def _densities(X: np.ndarray, record: Any) -> np.ndarray:
    """π N(x; μ, S) of every row and component."""
    parts = []
    for weight, mean, S in zip(
        record["weights"], record["means"], record["covariances"]
    ):
        z = np.linalg.solve(np.linalg.cholesky(S), (X - mean).T)
        norm = np.sqrt(np.linalg.det(2 * np.pi * np.asarray(S)))
        parts.append(weight * np.exp(-0.5 * (z**2).sum(axis=0)) / norm)
    return np.column_stack(parts)


def perform(stage: Stage) -> Performance:
    """Two scenes per iteration: E, the shares of every row, and M, the parameters."""
    X = stage.table.X
    k = stage["k"]
    # starts apart on the first column, so that the ellipses have a way to go
    order = np.argsort(X[:, 0], kind="stable")
    starts = X[order[np.linspace(0, len(X) - 1, k).round().astype(int)]]
    model = GaussianMixture(
        k,
        weights_init=np.full(k, 1 / k),
        means_init=starts,
        precisions_init=np.stack([np.linalg.inv(np.cov(X.T, bias=True))] * k),
        n_init=1,
        record=True,
        tol=1e-3,
        prior_rows=0.0,  # as on paper: nothing but the rows
        random_state=stage.seed,
    )
    model.fit(X)
    kept = model.record_
    shown = kept[:_MOST]
    scenes: list[Scene] = []
    records: list[dict[str, Any]] = []
    for number, record in enumerate(shown):
        joint = _densities(X, record)
        shares = joint / joint.sum(axis=1, keepdims=True)
        value = float(np.log(joint.sum(axis=1)).sum())
        row = {name: record[name] for name in ("weights", "means")}
        scenes.append(_expected(stage, number, record, joint, shares, value))
        records.append({**row, "phase": "E", "objective": value})
        if number + 1 < len(shown):
            after = shown[number + 1]
            scenes.append(_maximized(stage, number, shares, after))
            row = {name: after[name] for name in ("weights", "means")}
            moved = float(np.log(_densities(X, after).sum(axis=1)).sum())
            records.append({**row, "phase": "M", "objective": moved})
    records = [{**record, "step": i} for i, record in enumerate(records)]
    names = {
        "column": list(stage.table.names),
        "component": [str(j + 1) for j in range(k)],
    }
    return Performance(
        scenes, Steps("Steps of EM", "step", _COLUMNS, records, names), model
    )


def _expected(
    stage: Stage,
    number: int,
    record: Any,
    joint: np.ndarray,
    shares: np.ndarray,
    value: float,
) -> Scene:
    X = stage.table.X
    # the row that is least sure is worked out
    i = int(shares.max(axis=1).argmin())
    terms = [figure(each) for each in joint[i]]
    lines = [
        f"Row {i + 1}, x = {vector(X[i])}, is the least sure.",
        *(
            f"π{j + 1} N(x; μ{j + 1}, S{j + 1}) = {figure(joint[i, j])}, with π{j + 1} ="
            f" {figure(record['weights'][j])}"
            for j in range(joint.shape[1])
        ),
        f"Its share of component 1: {terms[0]} / ({' + '.join(terms)}) = {figure(shares[i, 0])}",
        f"ln L of all rows is {figure(value)}.",
    ]
    question = SceneQuestion(
        f"Row {i + 1} has π N = {', '.join(terms)} of the components. What is its share of"
        " component 1?",
        float(shares[i, 0]),
        [(float(joint[i, 0]), "it is not yet divided by the sum over the components")],
    )
    heads = ["row", *(f"share of {j + 1}" for j in range(joint.shape[1]))]
    rows = [[r + 1, *each] for r, each in enumerate(shares[:_LISTED].tolist())]
    table = Table("Shares of the first rows", heads, rows)
    picture = _picture(stage, record, shares, [ring(X[i], f"row {i + 1}")])
    title = f"Iteration {number + 1}, E: whose is each row?"
    return Scene(title, lines, [picture], [table], question)


def _maximized(stage: Stage, number: int, shares: np.ndarray, after: Any) -> Scene:
    X = stage.table.X
    totals = shares.sum(axis=0)
    name = stage.table.names[0]
    lines = []
    for j, total in enumerate(totals):
        mean = after["means"][j]
        lines.append(
            f"Component {j + 1}: Σ r = {figure(total)}, π = {figure(total)} / {len(X)} ="
            f" {figure(after['weights'][j])}, μ = Σ r x / Σ r = {vector(mean)}"
        )
    weighted = float(shares[:, 0] @ X[:, 0])
    lines.append(
        f"{name} of μ1: {figure(weighted)} / {figure(totals[0])} ="
        f" {figure(after['means'][0][0])}"
    )
    question = SceneQuestion(
        f"Component 1 has Σ r = {figure(totals[0])} and Σ r x = {figure(weighted)} for {name}."
        " What is"
        f" {name} of its mean?",
        float(after["means"][0][0]),
        [(weighted / len(X), "the sum of the shares divides, not the number of rows")],
    )
    title = f"Iteration {number + 1}, M: parameters from the shares"
    return Scene(title, lines, [_picture(stage, after, shares, [])], question=question)


def _picture(
    stage: Stage, record: Any, shares: np.ndarray, more: list[Any]
) -> dict[str, Any]:
    X = stage.table.X
    means = np.asarray(record["means"])
    marks = [points(X, shares.argmax(axis=1))]
    for j, (mean, S) in enumerate(zip(means, record["covariances"])):
        marks += ellipses(mean, np.asarray(S), j)
    names = [f"μ{j + 1}" for j in range(len(means))]
    marks.append(points(means, np.arange(len(means)), names=names, shape="star"))
    title = "Rows, means, and ellipses of two standard deviations"
    return plane(title, X, stage.table.names, [*marks, *more], room=0.3)


def _faithful() -> StageTable:
    """Every ninth eruption of Old Faithful."""
    lines = datasets.path("old_faithful").read_text(encoding="utf-8").split()
    heads, *rows = [line.replace('"', "").split(",") for line in lines]
    cells = np.array(rows[::9], dtype=float)
    return StageTable("31 eruptions of Old Faithful", tuple(heads), tuple(cells.T))


METHODS = (
    TheatreMethod(
        "em",
        "EM of a Gaussian mixture",
        "Soft clusters: every row belongs to every component by a share; the components follow"
        " their"
        " shares, and the likelihood rises.",
        perform,
        _faithful(),
        columns=(2, 3),
        settings=(StageSetting("k", 2, "the number of components", low=1, high=4),),
    ),
)

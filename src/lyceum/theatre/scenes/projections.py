"""PCA in phases: center, covariances, eigenvalues, directions, and the rotated rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lyceum.decomposition import PCA
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import arrow, line, plane, points
from lyceum.theatre.method import Performance, Stage, StageTable, TheatreMethod
from lyceum.theatre.scene import (
    Scene,
    SceneQuestion,
    factor,
    figure,
    products,
    vector,
)

_COLUMNS = (
    StepColumn("phase", "phase", "what is computed"),
    StepColumn("first", "first", "n, mean of column 1, s12, λ1, its share, score, λ1"),
    StepColumn(
        "second", "second", "d, mean of column 2, s11, λ2, its share, score, λ2"
    ),
)


class _Rotation:
    """The numbers of the calculation, from the fitted learner."""

    def __init__(self, stage: Stage):
        self.names = stage.table.names
        self.X = stage.table.X
        self.n = len(self.X)
        self.model = PCA(2).fit(self.X)
        self.mean = self.model.mean_
        self.Z = self.X - self.mean
        self.S = self.Z.T @ self.Z / (self.n - 1)
        self.values = self.model.explained_variance_
        self.u = self.model.components_
        self.scores = np.asarray(self.model.transform(self.X))

    def picture(self, title: str, axes: bool = False, drops: bool = False) -> Any:
        """The rows, on request with the directions and the feet of the rows."""
        star = points(self.mean[None], -1, names=["mean"], shape="star")
        marks = [points(self.X, 0), star]
        ends = self.mean + 2 * np.sqrt(self.values)[:, None] * self.u
        for j in (0, 1):
            if axes:
                marks.append(arrow(self.mean, ends[j], 2 + j, f"u{j + 1}"))
        feet = self.mean + self.scores[:, :1] * self.u[:1]
        if drops:
            marks += [line([x, foot], 5, dashed=True) for x, foot in zip(self.X, feet)]
        # the arrows are inside, and the plane is the same in every scene
        held = np.vstack([self.X, ends])
        return plane(title, held, self.names, marks, equal=True)

    def table(self, title: str, heads: Sequence[str], rows: np.ndarray) -> Table:
        numbered = [[i + 1, *row] for i, row in enumerate(rows[:20].tolist())]
        return Table(title, ["row", *heads], numbered)


Phase = tuple[Scene, float, float]


def perform(stage: Stage) -> Performance:
    """The phases of one calculation."""
    rotation = _Rotation(stage)
    phases = [*_sums(rotation), *_eigen(rotation), *_turned(rotation)]
    records = [
        {"step": i, "phase": scene.title, "first": first, "second": second}
        for i, (scene, first, second) in enumerate(phases)
    ]
    scenes = [scene for scene, *_ in phases]
    steps = Steps("Phases of PCA", "phase", _COLUMNS, records, {})
    return Performance(scenes, steps, rotation.model)


def _sums(rotation: _Rotation) -> list[Phase]:
    """The mean and the covariances."""
    n = rotation.n
    name = rotation.names[0]
    mean = rotation.mean
    b = float(rotation.S[0, 1])
    pairs = [f"{factor(p)} · {factor(q)}" for p, q in rotation.Z[:8]]
    cross = " + ".join([*pairs, *(["…"] if n > 8 else [])])
    rows = [rotation.picture("The rows and their mean")]
    first = Scene("The rows", [f"{n} rows of {name} and {rotation.names[1]}."], rows)
    center = Scene(
        "Center",
        [f"The mean is {vector(mean)}; it is subtracted from every row."],
        rows,
        [rotation.table("Centered rows", rotation.names, rotation.Z)],
        SceneQuestion(
            f"The sum of {name} is {figure(rotation.X[:, 0].sum())}, of {n} rows. What is its"
            " mean?",
            float(mean[0]),
        ),
    )
    covariances = Scene(
        "The covariance matrix",
        [
            f"s11 = {figure(rotation.S[0, 0])}, s22 = {figure(rotation.S[1, 1])}, both over"
            f" n − 1 = {n - 1}",
            f"s12 = ({cross}) / {n - 1} = {figure(b)}",
        ],
        rows,
        question=SceneQuestion(
            f"The products of the centered columns sum to {figure(b * (n - 1))}, n is {n}. What"
            " is s12?",
            b,
            [(b * (n - 1) / n, "divided by n, not by n − 1")],
        ),
    )
    return [
        (first, float(n), 2.0),
        (center, float(mean[0]), float(mean[1])),
        (covariances, b, float(rotation.S[0, 0])),
    ]


def _eigen(rotation: _Rotation) -> list[Phase]:
    """The eigenvalues, and the share of the first."""
    a = float(rotation.S[0, 0])
    b = float(rotation.S[0, 1])
    c = float(rotation.S[1, 1])
    one, two = map(float, rotation.values)
    half = figure((a + c) / 2)
    root = float(np.sqrt((a - c) ** 2 / 4 + b * b))
    given = f"s11 = {figure(a)}, s22 = {figure(c)}, s12 = {figure(b)}"
    title = "The directions, as long as two standard deviations"
    picture = [rotation.picture(title, axes=True)]
    share = one / (one + two)
    eigenvalues = Scene(
        "Eigenvalues",
        [
            "λ² − (s11 + s22) λ + s11 s22 − s12² = 0",
            f"λ = {half} ± √(({figure(a)} − {figure(c)})² / 4 + {factor(b)}²) = {half} ±"
            f" {figure(root)}",
            f"λ1 = {figure(one)}, λ2 = {figure(two)}",
        ],
        picture,
        question=SceneQuestion(f"{given}. What is the larger eigenvalue?", one),
    )
    shares = Scene(
        "The share of variance",
        [f"λ1 / (λ1 + λ2) = {figure(one)} / {figure(one + two)} = {figure(share)}"],
        picture,
        question=SceneQuestion(
            f"λ1 = {figure(one)}, λ2 = {figure(two)}. What share has the first component?",
            share,
        ),
    )
    return [(eigenvalues, one, two), (shares, share, 1 - share)]


def _turned(rotation: _Rotation) -> list[Phase]:
    """The scores, and the rows in the new axes."""
    one, two = map(float, rotation.values)
    scores = rotation.scores
    u = rotation.u[0]
    row = rotation.Z[0]
    names = ("component 1", "component 2")
    title = "Every row falls on the first direction"
    along = Scene(
        "Scores: the rows along the first direction",
        [
            f"u1 = {vector(u)}",
            f"Row 1: u1·(x − mean) = {products(u, row)} = {figure(scores[0, 0])}",
        ],
        [rotation.picture(title, axes=True, drops=True)],
        [rotation.table("Scores", names, scores)],
        SceneQuestion(
            f"u1 = {vector(u)}, row 1 centered is {vector(row)}. What is its score?",
            float(scores[0, 0]),
            [(float(u @ rotation.X[0]), "the mean was not subtracted")],
        ),
    )
    turned = Scene(
        "The rotation",
        [
            f"In the new axes the covariance is 0, the variances are {figure(one)} and"
            f" {figure(two)}.",
            "Without component 2 its variance is lost; no other direction loses less.",
        ],
        [
            plane(
                "The rows in the new axes",
                scores,
                names,
                [points(scores, 0)],
                equal=True,
            )
        ],
    )
    return [(along, float(scores[0, 0]), float(scores[0, 1])), (turned, one, two)]


METHODS = (
    TheatreMethod(
        "pca",
        "Principal components",
        "New axes along which the rows vary most: the eigenvectors of their covariance matrix, a"
        " rotation.",
        perform,
        StageTable(
            "the textbook's five points",
            ("x1", "x2"),
            (np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.0, 3.0, 2.0, 5.0, 4.0])),
        ),
    ),
)

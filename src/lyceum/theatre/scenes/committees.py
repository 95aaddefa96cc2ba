"""Committees: the rounds of AdaBoost, and the votes of bagged stumps."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum.ensemble import AdaBoostClassifier, BaggingClassifier
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import line, plane, points, regions, ring
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, figure
from lyceum.trees import DecisionTreeClassifier

_ROUNDS = (
    StepColumn("stump", "stump", "the question of the member"),
    StepColumn("error", "ε", "ε = Σ d over the rows that are wrong"),
    StepColumn("alpha", "α", "α = ½ ln ((1 − ε) / ε)"),
    StepColumn(
        "wrong", "committee wrong", "rows that the weighted vote gets wrong", "rows"
    ),
)


def _question(member: Any, names: Any) -> str:
    """What a stump asks."""
    tree = member.tree_
    if int(tree.feature[0]) < 0:
        return "no question"
    return f"{names[int(tree.feature[0])]} ≤ {figure(tree.threshold[0])}?"


def _boost(stage: Stage) -> Performance:
    """A scene per round: the stump, its error, its vote, the weights after it."""
    table = stage.table
    X = table.X
    model = AdaBoostClassifier(
        n_estimators=stage["rounds"], random_state=stage.seed, record=True
    )
    model.fit(X, table.target)
    low, high = map(str, model.classes_)
    y = np.where(table.target == model.classes_[1], 1.0, -1.0)
    codes = (y > 0).astype(int)
    n = len(X)
    kept = [record for record in model.record_ if record["kept"]]
    lines = [
        f"y = +1 is {high}, y = −1 is {low}.",
        f"Every row begins with the weight 1 / {n} = {figure(1 / n)}.",
    ]
    scenes = [
        Scene(
            "The start: equal weights",
            lines,
            [plane("The rows", X, table.names, [points(X, codes)])],
        )
    ]
    records: list[dict[str, Any]] = [{"step": 0, "stump": ""}]
    total = np.zeros(n)
    for number, (record, member) in enumerate(zip(kept, model.estimators_), start=1):
        d = np.asarray(record["weights"])
        said = np.where(np.asarray(member.predict(X)) == model.classes_[1], 1.0, -1.0)
        wrong = np.flatnonzero(said != y)
        epsilon = float(record["error"])
        alpha = float(record["alpha"])
        total = total + alpha * said
        failed = int((np.where(total > 0, 1.0, -1.0) != y).sum())
        after = d * np.exp(np.where(said == y, -alpha, alpha))
        after = after / after.sum()
        terms = " + ".join(figure(d[i]) for i in wrong) or "0"
        lines = [
            f"The stump: {_question(member, table.names)}",
            f"Wrong: rows {', '.join(str(i + 1) for i in wrong) or 'none'}; ε = {terms} ="
            f" {figure(epsilon)}",
            f"α = ½ ln ((1 − {figure(epsilon)}) / {figure(epsilon)}) = {figure(alpha)}",
        ]
        for i in wrong[:1]:
            lines.append(
                f"Row {i + 1}: d = {figure(d[i])} becomes {figure(after[i])}, larger, as it"
                " was wrong."
            )
        lines.append(
            f"The weighted vote of {number} so far is wrong at {failed} of {n} rows."
        )
        question = SceneQuestion(
            f"The stump is wrong at rows with the weights {terms}, ε = {figure(epsilon)}. What"
            " is α?",
            alpha,
            [
                (2 * alpha, "the factor ½ is missing"),
                (alpha / np.log(2), "the natural logarithm is meant"),
            ],
        )
        sheet, picture = _round_shown(stage, member, (y, d, said, after, total))
        scenes.append(
            Scene(
                f"Round {number}: {_question(member, table.names)}",
                lines,
                [picture],
                [sheet],
                question,
            )
        )
        records.append(
            {
                "step": number,
                "stump": _question(member, table.names),
                "error": epsilon,
                "alpha": alpha,
                "wrong": failed,
            }
        )
    return Performance(
        scenes, Steps("Rounds of AdaBoost", "round", _ROUNDS, records, {}), model
    )


def _round_shown(
    stage: Stage, member: Any, numbers: tuple[np.ndarray, ...]
) -> tuple[Table, dict[str, Any]]:
    """The weights of the rows as a table and as sizes, with the regions of the stump."""
    table = stage.table
    X = table.X
    n = len(X)
    y, d, said, after, total = numbers
    codes = (y > 0).astype(int)
    wrong = np.flatnonzero(said != y)
    high = table.classes[1]
    rows = [
        [i + 1, float(d[i]), float(said[i]), float(after[i]), float(total[i])]
        for i in range(min(n, 20))
    ]
    sheet = Table(
        "Weights d, answer h, and Σ α h",
        ["row", "d", "h", "d after", "Σ α h"],
        rows,
    )
    picture = plane(
        "Rows in sizes by their weights, and the regions of the stump",
        X,
        table.names,
        [
            regions(
                X,
                lambda grid, member=member: np.asarray(member.predict(grid)) == high,
            ),
            points(X, codes, sizes=np.clip(d * n, 0.2, 5.0)),
            *(ring(X[i], f"row {i + 1}") for i in wrong),
        ],
    )
    return sheet, picture


# Tan, Steinbach and Kumar: ten samples of the tenths, counted from 1
_BAGS = (
    (1, 2, 2, 3, 4, 4, 5, 6, 9, 9),
    (1, 2, 3, 4, 5, 5, 9, 10, 10, 10),
    (1, 2, 3, 4, 4, 5, 7, 7, 8, 9),
    (1, 1, 2, 4, 4, 5, 5, 7, 8, 9),
    (1, 1, 2, 5, 6, 6, 6, 10, 10, 10),
    (2, 4, 5, 6, 7, 7, 7, 8, 9, 10),
    (1, 4, 4, 6, 7, 8, 9, 9, 9, 10),
    (1, 2, 5, 5, 5, 7, 7, 8, 9, 10),
    (1, 3, 4, 4, 6, 7, 7, 8, 10, 10),
    (1, 1, 1, 1, 3, 3, 8, 8, 9, 9),
)
_VOTES = (
    StepColumn("stump", "stump", "the question of the member"),
    StepColumn("sums", "votes", "Σ of +1 and −1 over the members so far", "", ("row",)),
)


def _bag(stage: Stage) -> Performance:
    """A scene per member: its sample, its stump, and the sums of the votes."""
    table = stage.table
    x = table.columns[0]
    n = len(x)
    stump = DecisionTreeClassifier(max_depth=1, require_gain=False)
    is_book = table.title.startswith("the textbook")
    bags = [np.array(bag) - 1 for bag in _BAGS] if is_book else None
    model = BaggingClassifier(
        stump,
        stage["members"],
        bags=bags[: stage["members"]] if bags else None,
        random_state=stage.seed,
    )
    model.fit(x[:, None], table.target)
    high = str(model.classes_[1])
    y = np.where(table.target == model.classes_[1], 1, -1)
    sums = np.zeros(n)
    lines = [
        f"+1 is {table.target_name} = {high}. Every member learns from rows drawn with"
        " replacement, and votes."
    ]
    scenes = [Scene("The rows", lines, [_votes_picture(stage, y, sums, None)])]
    records: list[dict[str, Any]] = [{"step": 0, "stump": "", "sums": sums[:12].copy()}]
    for number, (member, bag) in enumerate(
        zip(model.estimators_, model.estimators_samples_), start=1
    ):
        said = np.where(
            np.asarray(member.predict(x[:, None])) == model.classes_[1], 1, -1
        )
        sums = sums + said
        drawn = ", ".join(figure(x[i]) for i in np.sort(bag)[:20])
        cut = (
            float(member.tree_.threshold[0])
            if int(member.tree_.feature[0]) >= 0
            else None
        )
        i = int(np.abs(sums).argmin())
        lines = [
            f"The sample: {drawn}",
            f"The stump: {_question(member, table.names)}",
            f"Its votes: {', '.join(f'{v:+d}' for v in said[:20]).replace('-', '−')}",
            f"Sums so far: {', '.join(figure(v) for v in sums[:20])}",
        ]
        question = SceneQuestion(
            f"The sum of the votes at {table.names[0]} = {figure(x[i])} was"
            f" {figure(sums[i] - said[i])}, and the member says"
            f" {said[i]:+d}. What is the sum now?",
            float(sums[i]),
        )
        picture = _votes_picture(stage, y, sums, cut)
        scenes.append(
            Scene(
                f"Member {number}: {_question(member, table.names)}",
                lines,
                [picture],
                question=question,
            )
        )
        records.append(
            {
                "step": number,
                "stump": _question(member, table.names),
                "sums": sums[:12].copy(),
            }
        )
    labels = {"row": [str(i + 1) for i in range(min(n, 12))]}
    return Performance(
        scenes, Steps("Votes of the members", "member", _VOTES, records, labels), model
    )


def _votes_picture(
    stage: Stage, y: np.ndarray, sums: np.ndarray, cut: float | None
) -> dict[str, Any]:
    table = stage.table
    X = np.column_stack([table.columns[0], sums])
    top = max(float(np.abs(sums).max()), 1.0)
    bounds = np.array([[X[:, 0].min(), -top], [X[:, 0].max(), top]])
    marks = [
        line([[bounds[0, 0], 0.0], [bounds[1, 0], 0.0]], 5),
        points(X, (y > 0).astype(int)),
    ]
    if cut is not None:
        marks.append(line([[cut, -top], [cut, top]], 3, dashed=True))
    return plane(
        "The sum of the votes of every row, and the cut dashed",
        bounds,
        (table.names[0], "votes"),
        marks,
    )


METHODS = (
    TheatreMethod(
        "adaboost",
        "AdaBoost",
        "Weak members in turn: what one gets wrong weighs more for the next, and all vote by"
        " how good they are.",
        _boost,
        StageTable.of(
            "the textbook's ten points",
            x1=[1, 2, 4, 6, 8, 3, 5, 7, 9, 6],
            x2=[5, 2, 7, 3, 8, 9, 5, 6, 2, 9],
            answer=["yes", "yes", "no", "no", "no", "yes", "yes", "no", "no", "yes"],
        ),
        target="two classes",
        settings=(StageSetting("rounds", 5, "rounds", low=1, high=30),),
    ),
    TheatreMethod(
        "bagging",
        "Bagging",
        "Members of different samples: each is weak, and their vote is not.",
        _bag,
        StageTable.of(
            "the textbook's ten points and samples",
            x=[k / 10 for k in range(1, 11)],
            sign=[
                "plus",
                "plus",
                "plus",
                "minus",
                "minus",
                "minus",
                "minus",
                "plus",
                "plus",
                "plus",
            ],
        ),
        columns=(1, 1),
        target="two classes",
        settings=(StageSetting("members", 10, "members", low=1, high=10),),
    ),
)

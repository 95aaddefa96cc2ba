"""Naive Bayes: the product of one row, factor by factor, and its posterior."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.lazy_arrow import pa
from lyceum.bayes import NaiveBayes
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import Mark, box, drawing, label
from lyceum.theatre.method import Performance, Stage, StageSetting, TheatreMethod
from lyceum.theatre.scene import Scene, SceneQuestion, figure
from lyceum.theatre.scenes.trees import weather_table

_COLUMNS = (
    StepColumn("factor", "factor", "P(class), then P(cell | class) of every column"),
    StepColumn("values", "value", "of each class", "", ("class",)),
    StepColumn("products", "product", "the product so far", "", ("class",)),
)


def perform(stage: Stage) -> Performance:
    """A scene per factor of the product, and the posterior."""
    table = stage.table
    names = dict(zip(table.names, (cells.tolist() for cells in table.columns)))
    frame = pa.table(names)
    model = NaiveBayes(estimate="laplace" if stage["laplace"] else "raw")
    model.fit(frame, table.target)
    row = min(stage["row"], len(table.target)) - 1
    detail = model.explain(frame.slice(row, 1)).detail(0)
    assert detail is not None
    # the classes in the order of the table of the working
    classes = list(detail.columns[1:])
    *factors, _, posterior = detail.rows
    cells = ", ".join(f"{name} = {values[row]}" for name, values in names.items())
    scenes = [
        Scene(
            "The question",
            [
                f"Row {row + 1}: {cells}.",
                f"What is {table.target_name}? The product of all factors decides.",
            ],
            [_bars(classes, [1.0] * len(classes), "Before the first factor")],
        )
    ]
    product = np.ones(len(classes))
    records: list[dict[str, Any]] = [
        {"step": 0, "factor": "", "products": product.copy()}
    ]
    for number, (name, *values) in enumerate(factors, start=1):
        before = product
        product = product * np.array(values, dtype=float)
        lines = [
            f"{label_}: {figure(old)} · {figure(value)} = {figure(new)}"
            for label_, old, value, new in zip(classes, before, values, product)
        ]
        if number == 1:
            lines = [
                f"P({label_}) = {figure(value)}"
                for label_, value in zip(classes, values)
            ]
        question = SceneQuestion(
            f"{name} is {figure(values[0])} for {classes[0]}; the product so far is"
            f" {figure(before[0])}. What is the"
            " product now?",
            float(product[0]),
            [(float(before[0] + values[0]), "factors are multiplied, not added")],
        )
        sheet = Table(
            "The factors so far",
            list(detail.columns),
            [list(each) for each in factors[:number]],
        )
        title = "Prior" if number == 1 else f"Factor {number - 1}: {name}"
        scenes.append(
            Scene(
                title,
                lines,
                [_bars(classes, product, "The product so far")],
                [sheet],
                question,
            )
        )
        records.append(
            {
                "step": number,
                "factor": str(name),
                "values": np.array(values, dtype=float),
                "products": product,
            }
        )
    scenes.append(_posterior(classes, product, posterior))
    shares = np.array(posterior[1:], dtype=float)
    records.append({"step": len(records), "factor": "posterior", "products": shares})
    steps = Steps(
        "The product of naive Bayes", "step", _COLUMNS, records, {"class": classes}
    )
    return Performance(scenes, steps, model)


def _posterior(classes: list[str], product: np.ndarray, posterior: Any) -> Scene:
    """The products over their sum."""
    total = " + ".join(map(figure, product))
    shares = [float(value) for value in posterior[1:]]
    lines = [
        f"P({label_} | row) = {figure(value)} / ({total}) = {figure(share)}"
        for label_, value, share in zip(classes, product, shares)
    ]
    lines.append(f"The answer is {classes[int(np.argmax(shares))]}.")
    question = SceneQuestion(
        f"The products are {', '.join(map(figure, product))}. What is the posterior of"
        f" {classes[0]}?",
        shares[0],
        [(float(product[0]), "not yet divided by the sum")],
    )
    picture = _bars(classes, shares, "The posterior")
    return Scene("The posterior", lines, [picture], question=question)


def _bars(classes: list[str], values: Any, title: str) -> dict[str, Any]:
    """A bar per class, the longest over the whole width."""
    top = max(max(values), 1e-300)
    marks: list[Mark] = []
    for k, (name, value) in enumerate(zip(classes, values)):
        width = max(4.0, 300.0 * float(value) / top)
        y = 40 + 52.0 * k
        marks.append(label(100, y + 5, name, "end"))
        marks.append(
            box(
                110 + width / 2, y, [""], width=width, height=34, series=k, strength=0.7
            )
        )
        marks.append(label(120 + width, y + 5, figure(value), "start"))
    return drawing(title, 500, 30 + 52.0 * len(classes), marks)


METHODS = (
    TheatreMethod(
        "naive_bayes",
        "Naive Bayes",
        "The prior of a class times the probability of every cell in that class; the largest"
        " product wins.",
        perform,
        weather_table(),
        takes="any",
        columns=(1, 6),
        target="class",
        most_rows=500,
        settings=(
            StageSetting("row", 1, "the row that is asked about", low=1, high=500),
            StageSetting("laplace", True, "one more row per category (Laplace)"),
        ),
    ),
)

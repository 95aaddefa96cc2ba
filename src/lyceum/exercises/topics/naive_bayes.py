"""Naive Bayes with Laplace's estimate and the m-estimate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lyceum.bayes import NaiveBayes
from lyceum.exercises.draw import CategoryTable, Draw, category_table
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Number, Sheet, equals, tex


@kind("naive-bayes", "Classify a row with naive Bayes and the m-estimate", "3.1", "3.2")
def naive_bayes(draw: Draw) -> Sheet:
    """One conditional probability, both products, and the posterior."""
    table = category_table(draw, 6 + 2 * draw.level, 1 + draw.level)
    m = draw.choice([1, 2, 3])
    row = [draw.choice(table.theme.columns[name]) for name in table.names]
    classes = table.theme.classes
    present = all(
        set(table.column(name)) == set(table.theme.columns[name])
        for name in table.names
    )
    draw.require(present, "a value does not occur in the table")
    draw.require(min(table.counts()) >= 2, "a class with one row")
    tables = {
        label: [
            _estimate(table, name, value, label, m)
            for name, value in _cells(table, row)
        ]
        for label in classes
    }
    priors = {
        label: Fraction(table.labels.count(label), len(table.labels))
        for label in classes
    }
    products = {label: priors[label] * math.prod(tables[label]) for label in classes}
    posterior = products[classes[1]] / sum(products.values())
    draw.require(abs(posterior - Fraction(1, 2)) > 0.03, "the classes are too close")
    model = NaiveBayes(estimate="m", m=m, categorical_features=True).fit(
        np.array(table.rows, dtype=object), table.labels
    )
    learned = dict(
        zip(model.classes_, model.predict_proba(np.array([row], dtype=object))[0])
    )
    sheet = _sheet(table, row, m)
    _ask_conditional(sheet, table, row, m, model)
    _work_products(sheet, table, row, priors, tables, products)
    sheet.ask(
        f"What is the posterior $P(\\mathrm{{{classes[1]}}} \\mid x)$?",
        posterior,
        learned[classes[1]],
        _posterior_mistakes(table, row, m, tables, products),
    )
    sheet.solution.formula(
        rf"P(\mathrm{{{classes[1]}}} \mid x) = \frac{{{float(products[classes[1]]):.5f}}}"
        rf"{{{float(products[classes[0]]):.5f} + {float(products[classes[1]]):.5f}}} "
        f"{equals(posterior)}"
    )
    best = max(products, key=products.__getitem__)
    predicted = model.predict(np.array([row], dtype=object))[0]
    sheet.choose("Which class is predicted?", best, predicted, classes)
    sheet.solution.text(f"The class {best} has the larger product and is predicted.")
    return sheet


def _cells(table: CategoryTable, row: list[str]) -> list[tuple[str, str]]:
    return list(zip(table.names, row))


def _count(table: CategoryTable, name: str, value: str, label: str) -> tuple[int, int]:
    """Rows of a class with a value, and rows of the class."""
    cells = [
        cell for cell, other in zip(table.column(name), table.labels) if other == label
    ]
    return cells.count(value), len(cells)


def _estimate(
    table: CategoryTable, name: str, value: str, label: str, m: int
) -> Fraction:
    """(count + m p) / (rows of the class + m), p = 1 / number of values."""
    count, rows = _count(table, name, value, label)
    p = Fraction(1, len(table.theme.columns[name]))
    return (count + m * p) / (rows + m)


def _sheet(table: CategoryTable, row: list[str], m: int) -> Sheet:
    sheet = Sheet()
    described = ", ".join(f"{name} = {value}" for name, value in _cells(table, row))
    sheet.given.text(
        f"{len(table.rows)} {table.theme.row}s. Classify a new one, $x$: {described}, with "
        f"naive Bayes. Conditional probabilities are m-estimates with $m = {m}$ and "
        "$p = 1 / K$ for a column with $K$ values (all of them occur in the table); class "
        "priors are plain shares of rows."
    )
    sheet.given.table(table.header, table.shown)
    return sheet


def _ask_conditional(
    sheet: Sheet, table: CategoryTable, row: list[str], m: int, model: NaiveBayes
) -> None:
    name = table.names[0]
    value = row[0]
    label = table.theme.classes[1]
    count, rows = _count(table, name, value, label)
    by_hand = _estimate(table, name, value, label, m)
    n_values = len(table.theme.columns[name])
    codes = list(model.categories_[0])
    class_index = list(model.classes_).index(label)
    sheet.ask(
        f"What is $P(\\mathrm{{{value}}} \\mid \\mathrm{{{label}}})$ for `{name}`?",
        by_hand,
        float(model.tables_[0][class_index][codes.index(value)]),
        {
            "the plain share, without the m-estimate": Fraction(count, rows),
            "Laplace's estimate instead of the m-estimate": Fraction(
                count + 1, rows + n_values
            ),
            "$m$ was added to the count, not $m p$": Fraction(count + m, rows + m),
        },
    )


def _work_products(
    sheet: Sheet,
    table: CategoryTable,
    row: list[str],
    priors: dict[str, Fraction],
    tables: dict[str, list[Fraction]],
    products: dict[str, Fraction],
) -> None:
    sheet.solution.text(
        "The m-estimate of a value that $n$ of the $N$ rows of a class have is "
        "$(n + m p) / (N + m)$. The product of a class is its prior times its estimates."
    )
    for label in table.theme.classes:
        rows = [
            (
                f"{name} = {value}",
                *_count(table, name, value, label),
                Fraction(1, len(table.theme.columns[name])),
                estimate,
            )
            for (name, value), estimate in zip(_cells(table, row), tables[label])
        ]
        sheet.solution.text(f"**Class {label}**")
        sheet.solution.table(["value", "$n$", "$N$", "$p$", "estimate"], rows)
        factors = r" \cdot ".join(map(tex, [priors[label], *tables[label]]))
        sheet.solution.formula(f"{factors} {equals(products[label], 5)}")


def _posterior_mistakes(
    table: CategoryTable,
    row: list[str],
    m: int,
    tables: dict[str, list[Fraction]],
    products: dict[str, Fraction],
) -> dict[str, Number]:
    classes = table.theme.classes
    likelihoods = {label: math.prod(tables[label]) for label in classes}
    mistakes: dict[str, Number] = {
        "the prior was forgotten": likelihoods[classes[1]] / sum(likelihoods.values()),
        "the product was not divided by the sum over the classes": products[classes[1]],
        "the posterior of the other class": products[classes[0]]
        / sum(products.values()),
    }
    raw = {
        label: Fraction(table.labels.count(label))
        * math.prod(
            Fraction(*_count(table, name, value, label))
            for name, value in _cells(table, row)
        )
        for label in classes
    }
    if sum(raw.values()):
        mistakes["plain shares, without the m-estimate"] = raw[classes[1]] / sum(
            raw.values()
        )
    return mistakes

"""Nearest neighbors, weighted neighbors, and a local line."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from sklearn.metrics import pairwise_distances

from lyceum.exercises.draw import Draw, no_ties
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    fraction_and_decimal,
    tex,
    vector,
    with_decimal,
)
from lyceum.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocallyWeightedRegression,
)


@kind("knn", "Classify by the nearest neighbors", "10.1", "10.3")
def knn(draw: Draw) -> Sheet:
    """Squared distances, the class for k = 1 and k = 3, with Manhattan at level 3."""
    manhattan = draw.level == 3
    points = draw.points(5 + draw.level, 0, 9)
    labels = draw.choices(draw.theme.classes, len(points))
    query = (draw.integer(2, 7), draw.integer(2, 7))
    draw.require(query not in points, "the query is a stored row")
    distances = [_distance(point, query, manhattan) for point in points]
    draw.require(no_ties(distances), "equal distances")
    order = sorted(range(len(points)), key=distances.__getitem__)
    nearest = [labels[row] for row in order]
    three = max(set(nearest[:3]), key=nearest[:3].count)
    draw.require(nearest[0] != three, "k = 1 and k = 3 agree")
    X = np.array(points, dtype=float)
    metric = "manhattan" if manhattan else "euclidean"
    models = {k: KNeighborsClassifier(k, metric=metric).fit(X, labels) for k in (1, 3)}
    asked = np.array([query], dtype=float)
    sheet = _points_sheet(draw, points, labels, query, metric)
    distance = pairwise_distances(asked, X, metric=metric).min()
    what = "distance" if manhattan else "squared distance"
    sheet.ask(
        f"What is the smallest {what}?",
        min(distances),
        float(distance if manhattan else distance**2),
        {
            "the other metric": min(
                _distance(point, query, not manhattan) for point in points
            )
        },
        decimals=0,
    )
    for k, answer in ((1, nearest[0]), (3, three)):
        sheet.choose(
            f"Which class is predicted for $k = {k}$?",
            answer,
            models[k].predict(asked)[0],
            draw.theme.classes,
        )
    rows = [
        (row + 1, f"${vector(points[row])}$", distances[row], labels[row])
        for row in order
    ]
    sheet.solution.table(["row", "point", what, draw.theme.target], rows)
    sheet.solution.text(
        f"The nearest row says {nearest[0]}, the three nearest {', '.join(nearest[:3])}: "
        f"{three}."
    )
    return sheet


@kind("knn-ties", "Vote where two neighbors are equally far", "10.3")
def knn_ties(draw: Draw) -> Sheet:
    """Shares of a class for k = 3, where the third and the fourth neighbor are equally far."""
    xs = draw.sample(range(16), 4 + draw.level)
    labels = draw.choices(draw.theme.classes, len(xs))
    query = draw.integer(4, 11)
    draw.require(query not in xs, "the query is a stored row")
    distances = [abs(x - query) for x in xs]
    # rows that were stored first come first among equals
    order = sorted(range(len(xs)), key=lambda row: (distances[row], row))
    ranked = [distances[row] for row in order]
    draw.require(ranked[2] == ranked[3] and no_ties(ranked[:3]), "no tie at k")
    name = draw.theme.classes[0]
    parts = {"first": order[:3], "all": order[:4]}
    shares = {
        ties: Fraction(sum(labels[row] == name for row in rows), len(rows))
        for ties, rows in parts.items()
    }
    draw.require(0 < shares["all"] < 1 and shares["first"] > 0, "one class only")
    X = np.array(xs, dtype=float)[:, None]
    sheet = Sheet()
    sheet.given.text(
        f"Stored {draw.theme.row}s on a line. Classify {query} by $k = 3$ neighbors; two "
        "of them are equally far."
    )
    sheet.given.table(
        ["row", "$x$", draw.theme.target],
        [(i, x, label) for i, (x, label) in enumerate(zip(xs, labels), 1)],
    )
    words = {
        "first": "of equally far rows the one with the smaller number votes",
        "all": "all rows vote that are as far as the third",
    }
    for ties, rule in words.items():
        model = KNeighborsClassifier(3, ties=ties).fit(X, labels)
        posterior = model.predict_proba([[float(query)]])[0]
        other = shares["all" if ties == "first" else "first"]
        sheet.ask(
            f"What share of the votes does {name} get, if {rule}?",
            shares[ties],
            float(posterior[list(model.classes_).index(name)]),
            {"the other rule": other},
        )
    sheet.solution.table(
        ["row", "distance", draw.theme.target],
        [(row + 1, distances[row], labels[row]) for row in order[:5]],
    )
    for ties, rows in parts.items():
        numbers = ", ".join(str(row + 1) for row in rows)
        share = with_decimal(shares[ties])
        sheet.solution.text(f"If {words[ties]}: rows {numbers}, {share} say {name}.")
    return sheet


def _distance(point: tuple[int, int], query: tuple[int, int], manhattan: bool) -> int:
    """|Δ₁| + |Δ₂|, or the squared Euclidean distance."""
    first = abs(point[0] - query[0])
    second = abs(point[1] - query[1])
    return first + second if manhattan else first**2 + second**2


def _points_sheet(
    draw: Draw,
    points: list[tuple[int, int]],
    labels: list[str],
    query: tuple[int, int],
    metric: str,
) -> Sheet:
    names = draw.theme.amounts
    sheet = Sheet()
    sheet.given.text(
        f"{len(points)} {draw.theme.row}s. Classify the point ${vector(query)}$ by its "
        f"nearest neighbors, with the {metric.capitalize()} distance."
    )
    sheet.given.table(
        ["row", *names, draw.theme.target],
        [(i, *point, label) for i, (point, label) in enumerate(zip(points, labels), 1)],
    )
    return sheet


@kind("weighted-knn", "Predict a number by weighted neighbors", "10.2")
def weighted_knn(draw: Draw) -> Sheet:
    """Weights 1/d (or 1/d² from level 2 on) of the k nearest, and the weighted mean."""
    k = 2 + (draw.level > 1)
    power = 1 if draw.level == 1 else 2
    xs = sorted(draw.sample(range(15), 4 + draw.level))
    ys = draw.integers(len(xs), 0, 20)
    query = draw.integer(2, 12)
    draw.require(query not in xs, "an exact hit")
    distances = [abs(x - query) for x in xs]
    draw.require(no_ties(distances), "equal distances")
    nearest = sorted(range(len(xs)), key=distances.__getitem__)[:k]
    weights = [Fraction(1, distances[row] ** power) for row in nearest]
    products = [w * ys[row] for w, row in zip(weights, nearest)]
    value = sum(products, Fraction(0)) / sum(weights, Fraction(0))
    weighting = "distance" if power == 1 else "inverse_square"
    model = KNeighborsRegressor(k, weights=weighting).fit(
        np.array(xs, dtype=float)[:, None], np.array(ys, dtype=float)
    )
    sheet = Sheet()
    shown = "1/d" if power == 1 else "1/d^2"
    sheet.given.text(
        f"Predict $y$ at $x = {query}$ by the {k} nearest rows, each with the weight "
        f"${shown}$ of its distance $d$."
    )
    sheet.given.table(["$x$", "$y$"], zip(xs, ys))
    plain = Fraction(sum(ys[row] for row in nearest), k)
    swapped = [Fraction(1, distances[row] ** (3 - power)) for row in nearest]
    sheet.ask(
        f"Which $y$ is predicted at $x = {query}$?",
        value,
        float(model.predict([[float(query)]])[0]),
        {
            "the plain mean of the neighbors": plain,
            "the sum was not divided by the weights": sum(products, Fraction(0)),
            "weights with the other power of the distance": sum(
                (w * ys[row] for w, row in zip(swapped, nearest)), Fraction(0)
            )
            / sum(swapped, Fraction(0)),
        },
    )
    rows = [
        (xs[row], ys[row], distances[row], w, p)
        for row, w, p in zip(nearest, weights, products)
    ]
    sheet.solution.table(["$x$", "$y$", "$d$", "$w$", "$w y$"], rows)
    sheet.solution.formula(
        rf"\hat{{y}} = \frac{{{decimal(sum(products))}}}{{{decimal(sum(weights))}}} = "
        f"{fraction_and_decimal(value)}"
    )
    return sheet


@kind("local-line", "Fit a line where it is asked for", "10.6")
def local_line(draw: Draw) -> Sheet:
    """The weighted line through the rows near x, with the weights of Epanechnikov."""
    n_rows = 4 + draw.level
    xs = sorted(draw.sample(range(12), n_rows))
    ys = draw.integers(n_rows, 0, 12)
    query = draw.integer(3, 8)
    h = 4
    weights = [max(1 - Fraction(x - query, h) ** 2, Fraction(0)) for x in xs]
    used = [row for row, weight in enumerate(weights) if weight]
    draw.require(3 <= len(used) <= 2 + draw.level, "too few or too many rows near x")
    slope, intercept = _weighted_line(xs, ys, weights)
    value = intercept + slope * query
    model = LocallyWeightedRegression(
        kernel="epanechnikov", bandwidth=float(h), standardize=False
    ).fit(np.array(xs, dtype=float)[:, None], np.array(ys, dtype=float))
    learned = model.predict([[float(query)]])[0]
    sheet = Sheet()
    sheet.given.text(
        f"Predict $y$ at $x = {query}$ by a line that is fitted there by weighted least "
        rf"squares, with the weights $w = \max(0, 1 - ((x_i - {query}) / {h})^2)$."
    )
    sheet.given.table(["$x$", "$y$"], zip(xs, ys))
    line = model.explain([[float(query)]])
    plain_slope, plain_intercept = _weighted_line(xs, ys, [Fraction(1)] * n_rows)
    weighted_mean = _mean(ys, weights)
    sheet.ask(
        "What is the slope of the local line?",
        slope,
        float(line.slopes[0, 0]),
        {"the line through all rows without weights": plain_slope},
    )
    sheet.ask(
        f"Which $y$ is predicted at $x = {query}$?",
        value,
        float(learned),
        {
            "the weighted mean instead of a line": weighted_mean,
            "the line through all rows without weights": plain_intercept
            + plain_slope * query,
        },
    )
    sheet.solution.table(
        ["$x$", "$y$", "$w$"], [(xs[row], ys[row], weights[row]) for row in used]
    )
    mean_x = _mean(xs, weights)
    sheet.solution.formula(
        rf"\bar x = {tex(mean_x)}, \quad \bar y = {tex(weighted_mean)}"
    )
    sheet.solution.formula(
        rf"b_1 = \frac{{\sum w (x - \bar x)(y - \bar y)}}{{\sum w (x - \bar x)^2}} = "
        rf"{tex(slope)}, \quad b_0 = \bar y - b_1 \bar x = {tex(intercept)}"
    )
    sheet.solution.formula(rf"\hat{{y}} = b_0 + b_1 \cdot {query} {equals(value)}")
    return sheet


def _mean(values: list[int], weights: list[Fraction]) -> Fraction:
    total = sum((w * value for w, value in zip(weights, values)), Fraction(0))
    return total / sum(weights, Fraction(0))


def _weighted_line(
    xs: list[int], ys: list[int], weights: list[Fraction]
) -> tuple[Fraction, Fraction]:
    """Slope and intercept of the line with the smallest weighted squares."""
    mean_x = _mean(xs, weights)
    mean_y = _mean(ys, weights)
    rows = list(zip(weights, xs, ys))
    xx = sum((w * (x - mean_x) ** 2 for w, x, _ in rows), Fraction(0))
    xy = sum((w * (x - mean_x) * (y - mean_y) for w, x, y in rows), Fraction(0))
    return xy / xx, mean_y - xy / xx * mean_x

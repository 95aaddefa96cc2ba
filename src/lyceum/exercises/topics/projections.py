"""Principal components, Fisher's discriminant, multidimensional scaling."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lyceum.decomposition import PCA, ClassicalMDS, DiscriminantProjection
from lyceum.exercises.draw import Draw, few_decimals, small_denominators
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    fraction_and_decimal,
    tex,
    vector,
)

Point = tuple[int, int]
Pair = tuple[Fraction, Fraction]
Symmetric = tuple[Fraction, Fraction, Fraction]  # a, b, c of [[a, b], [b, c]]


def _mean(points: list[Point]) -> Pair:
    n_rows = len(points)
    return (
        Fraction(sum(x for x, _ in points), n_rows),
        Fraction(sum(y for _, y in points), n_rows),
    )


def _scatter(points: list[Point]) -> Symmetric:
    """Σ (x − m)(x − m)ᵀ."""
    mean = _mean(points)
    centered = [(x - mean[0], y - mean[1]) for x, y in points]
    return (
        sum((x * x for x, _ in centered), Fraction(0)),
        sum((x * y for x, y in centered), Fraction(0)),
        sum((y * y for _, y in centered), Fraction(0)),
    )


def _matrix(values: Symmetric) -> str:
    a, b, c = map(tex, values)
    return rf"\begin{{pmatrix}} {a} & {b} \\ {b} & {c} \end{{pmatrix}}"


def _root(value: Fraction) -> Fraction | None:
    """The root of a fraction, if it is one too."""
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root**2 == value else None


@kind("pca", "Find the principal component of a few points", "13.1")
def pca(draw: Draw) -> Sheet:
    """Covariance, the larger eigenvalue, its share, and the direction."""
    points = draw.points(3 + draw.level // 2, 0, 6)
    n_rows = len(points)
    scatter = _scatter(points)
    covariance = tuple(value / (n_rows - 1) for value in scatter)
    a, b, c = covariance
    root = _root((a - c) ** 2 + 4 * b**2)
    draw.require(b != 0 and root is not None, "irrational eigenvalues")
    assert root is not None
    draw.require(
        small_denominators(covariance, 3), "covariances with large denominators"
    )
    large = (a + c + root) / 2
    small = (a + c - root) / 2
    draw.require(large > small > 0, "points on a line")
    direction = (b, large - a)
    slope = direction[1] / direction[0]
    model = PCA(n_components=2).fit(np.array(points, dtype=float))
    learned = model.components_[0]
    sheet = Sheet()
    sheet.given.text(
        "Find the principal components of these points (divide by $N - 1$)."
    )
    sheet.given.table(["$x_1$", "$x_2$"], points)
    learned_covariance = np.cov(np.array(points, dtype=float).T)
    sheet.ask(
        "What is the covariance of $x_1$ and $x_2$?",
        b,
        float(learned_covariance[0, 1]),
        {
            "divided by $N$": b * (n_rows - 1) / n_rows,
            "not divided": scatter[1],
        },
    )
    sheet.ask(
        "What is the larger eigenvalue of the covariance matrix?",
        large,
        float(model.explained_variance_[0]),
        {
            "divided by $N$": large * (n_rows - 1) / n_rows,
            "the smaller eigenvalue": small,
            "the larger of the two variances": max(a, c),
        },
    )
    sheet.ask(
        "Which share of the variance does the first component have?",
        large / (large + small),
        float(model.explained_variance_ratio_[0]),
        {"the share of the second one": small / (large + small)},
    )
    sheet.ask(
        "What is the slope $v_2 / v_1$ of its direction?",
        slope,
        float(learned[1] / learned[0]),
        {
            "the reciprocal": 1 / slope,
            "the direction of the second component": -1 / slope,
        },
    )
    sheet.solution.formula(rf"S = {_matrix((a, b, c))}")
    sheet.solution.formula(
        rf"\lambda = \frac{{{tex(a)} + {tex(c)} \pm {tex(root)}}}{{2}} = {tex(large)}, "
        rf"{tex(small)}"
    )
    sheet.solution.formula(
        rf"(S - {tex(large)} I) v = 0 \quad\Rightarrow\quad \frac{{v_2}}{{v_1}} = "
        rf"\frac{{{tex(large)} - {tex(a)}}}{{{tex(b)}}} = {tex(slope)}"
    )
    share = large / (large + small)
    sheet.solution.formula(
        rf"\frac{{{tex(large)}}}{{{tex(large)} + {tex(small)}}} {equals(share)}"
    )
    return sheet


@kind("fisher", "Find Fisher's direction for two classes", "13.2")
def fisher(draw: Draw) -> Sheet:
    """Class means, the within-class scatter, and the direction S_W⁻¹(m₂ − m₁)."""
    sizes = (3, 3 + draw.level // 3)
    points = draw.points(sum(sizes), 0, 7)
    groups = [points[: sizes[0]], points[sizes[0] :]]
    means = [_mean(group) for group in groups]
    draw.require(few_decimals([m for mean in means for m in mean], 1), "awkward means")
    a, b, c = (
        sum(parts, Fraction(0)) for parts in zip(*(_scatter(group) for group in groups))
    )
    determinant = a * c - b * b
    draw.require(determinant > 0 and b != 0, "a singular scatter")
    difference = tuple(y - x for x, y in zip(*means))
    w = (
        (c * difference[0] - b * difference[1]) / determinant,
        (a * difference[1] - b * difference[0]) / determinant,
    )
    draw.require(w[0] != 0 and w[1] != 0, "a direction along an axis")
    ratio = w[1] / w[0]
    draw.require(small_denominators([ratio], 40), "a large denominator")
    labels = [0] * sizes[0] + [1] * sizes[1]
    model = DiscriminantProjection().fit(np.array(points, dtype=float), labels)
    learned = model.components_[0]
    sheet = Sheet()
    sheet.given.text("Find Fisher's direction, which separates the two classes best.")
    rows = [(*point, label + 1) for point, label in zip(points, labels)]
    sheet.given.table(["$x_1$", "$x_2$", "class"], rows)
    sheet.ask(
        "What is the entry (1, 2) of the within-class scatter $S_W$?",
        b,
        float(model.within_scatter_[0, 1]),
        {"the scatter about the mean of all points": _scatter(points)[1]},
    )
    sheet.ask(
        "What is the slope $w_2 / w_1$ of Fisher's direction?",
        ratio,
        float(learned[1] / learned[0]),
        {
            "the direction from mean to mean": difference[1] / difference[0]
            if difference[0]
            else math.inf,
            "multiplied by $S_W$ instead of its inverse": _slope(
                a * difference[0] + b * difference[1],
                b * difference[0] + c * difference[1],
            ),
            "the reciprocal": 1 / ratio,
        },
    )
    for number, mean in enumerate(means, start=1):
        sheet.solution.formula(f"m_{number} = {vector(mean)}")
    sheet.solution.formula(rf"S_W = {_matrix((a, b, c))}")
    sheet.solution.formula(
        rf"w = S_W^{{-1}} (m_2 - m_1) = \frac{{1}}{{{tex(determinant)}}} "
        rf"{vector([value * determinant for value in w])}, \quad "
        rf"\frac{{w_2}}{{w_1}} = {fraction_and_decimal(ratio)}"
    )
    return sheet


def _slope(x: Fraction, y: Fraction) -> float:
    return float(y / x) if x else math.inf


@kind("mds", "Find positions from distances", "13.2")
def mds(draw: Draw) -> Sheet:
    """Double centering of squared distances of points on a line, and their positions."""
    n_points = 3 + (draw.level > 1)
    positions = sorted(draw.sample(range(13), n_points))
    mean = Fraction(sum(positions), n_points)
    draw.require(mean.denominator == 1 or draw.level == 3, "a mean with decimals")
    distances = [[abs(x - y) for y in positions] for x in positions]
    squares = [[d * d for d in row] for row in distances]
    row_means = [Fraction(sum(row), n_points) for row in squares]
    total = sum(row_means, Fraction(0)) / n_points
    products = [
        [
            -(squares[i][j] - row_means[i] - row_means[j] + total) / 2
            for j in range(n_points)
        ]
        for i in range(n_points)
    ]
    model = ClassicalMDS(1, metric="precomputed").fit(np.array(distances, dtype=float))
    embedded = model.embedding_[:, 0]
    embedded = embedded * np.sign(embedded[-1])
    sheet = Sheet()
    names = [f"P{i}" for i in range(1, n_points + 1)]
    sheet.given.text(
        "The distances of points on a line are known, not their positions. Find them by "
        "classical multidimensional scaling; the mean is 0 and the last point is on the "
        "positive side."
    )
    sheet.given.table(["", *names], [[n, *row] for n, row in zip(names, distances)])
    gram = np.outer(embedded, embedded)
    sheet.ask(
        "What is the entry $b_{11}$ after double centering?",
        products[0][0],
        float(gram[0, 0]),
        {
            r"the factor $-\frac{1}{2}$ was forgotten": -2 * products[0][0],
            "distances were not squared": _first_product(distances),
        },
    )
    sheet.ask(
        "What is the position of P1?",
        positions[0] - mean,
        float(embedded[0]),
        {"the other sign": mean - positions[0]},
    )
    sheet.solution.formula(
        r"b_{ij} = -\frac{1}{2}\left(d_{ij}^2 - \bar d_{i\cdot}^2 - \bar d_{\cdot j}^2 + "
        r"\bar d_{\cdot\cdot}^2\right)"
    )
    sheet.solution.table(
        ["$d^2$", *names, "mean"],
        [[n, *row, m] for n, row, m in zip(names, squares, row_means)],
    )
    sheet.solution.table(
        ["$b$", *names], [[n, *row] for n, row in zip(names, products)]
    )
    listed = ", ".join(decimal(x - mean) for x in positions)
    sheet.solution.text(
        f"The matrix is that of the products of the positions {listed}: one eigenvalue is "
        "not 0, and these are its eigenvector times the root of it."
    )
    return sheet


def _first_product(distances: list[list[int]]) -> Fraction:
    n_points = len(distances)
    means = [Fraction(sum(row), n_points) for row in distances]
    total = sum(means, Fraction(0)) / n_points
    return -(distances[0][0] - 2 * means[0] + total) / 2

"""k-means, linkages, silhouettes, and one step of EM."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum.cluster import AgglomerativeClustering, KMeans, silhouette
from lyceum.exercises.draw import Draw, between, no_ties, small_denominators
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    fraction_and_decimal,
    sigmoid,
    vector,
)
from lyceum.mixtures import GaussianMixture

Point = tuple[int, int]
Center = tuple[Fraction, Fraction]


def _squared(a: Point | Center, b: Point | Center) -> Fraction:
    return Fraction((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)


def _center(points: list[Point]) -> Center:
    return (
        Fraction(sum(x for x, _ in points), len(points)),
        Fraction(sum(y for _, y in points), len(points)),
    )


@kind("kmeans", "Run k-means by hand", "12.1")
def kmeans(draw: Draw) -> Sheet:
    """The rounds from given centers, the final centers, and the sum of squares."""
    points = draw.points(4 + draw.level, 0, 9)
    starts = points[:2]
    rounds = _lloyd(points, starts)
    draw.require(between(len(rounds), 2, 3), "too few or too many rounds")
    final = rounds[-1]
    coordinates = [c for _, centers in rounds for point in centers for c in point]
    draw.require(
        small_denominators(coordinates, 2 + draw.level),
        "centers with large denominators",
    )
    X = np.array(points, dtype=float)
    model = KMeans(
        n_clusters=2, init=np.array(starts, dtype=float), n_init=1, tol=0.0, record=True
    ).fit(X)
    sheet = Sheet()
    sheet.given.text(
        f"Cluster these points by k-means with $K = 2$, starting from the centers "
        f"${vector(starts[0])}$ and ${vector(starts[1])}$. Rows are assigned to the nearest "
        "center, then both centers move, until no row changes its cluster."
    )
    sheet.given.table(
        ["point", "$x_1$", "$x_2$"], [(i, *p) for i, p in enumerate(points, start=1)]
    )
    centers = final[1]
    moved = rounds[0][1]
    for k, axis in ((0, 0), (0, 1), (1, 0), (1, 1)):
        sheet.ask(
            f"What is coordinate {axis + 1} of the final center {k + 1}?",
            centers[k][axis],
            float(model.cluster_centers_[k, axis]),
            {
                "the center after the first round": moved[k][axis],
                "the center at the start": starts[k][axis],
            },
        )
    squares = sum(
        (_squared(point, centers[k]) for point, k in zip(points, final[0])), Fraction(0)
    )
    sheet.ask(
        "What is the sum of squared distances at the end?",
        squares,
        float(model.inertia_),
        {"divided by the number of points": squares / len(points)},
    )
    _work_rounds(sheet, points, starts, rounds)
    sheet.solution.formula(rf"\mathrm{{SSE}} = {fraction_and_decimal(squares)}")
    return sheet


def _lloyd(
    points: list[Point], starts: list[Point]
) -> list[tuple[list[int], list[Center]]]:
    """Clusters of the rows and the centers they make, in every round; [] where rows tie."""
    centers: list[Center] = [(Fraction(x), Fraction(y)) for x, y in starts]
    rounds: list[tuple[list[int], list[Center]]] = []
    while True:
        distances = [
            [_squared(point, center) for center in centers] for point in points
        ]
        if not all(map(no_ties, distances)):
            return []
        labels = [row.index(min(row)) for row in distances]
        if len(set(labels)) < 2:
            return []
        if rounds and labels == rounds[-1][0]:
            return rounds
        centers = [
            _center([p for p, label in zip(points, labels) if label == k])
            for k in (0, 1)
        ]
        rounds.append((labels, centers))


def _work_rounds(
    sheet: Sheet,
    points: list[Point],
    starts: list[Point],
    rounds: list[tuple[list[int], list[Center]]],
) -> None:
    centers: list[Point] | list[Center] = starts
    for number, (labels, moved) in enumerate(rounds, start=1):
        sheet.solution.text(f"**Round {number}**, squared distances to the centers:")
        rows = [
            (i, *(_squared(point, center) for center in centers), label + 1)
            for i, (point, label) in enumerate(zip(points, labels), start=1)
        ]
        first, second = (f"to ${vector(center)}$" for center in centers)
        sheet.solution.table(["point", first, second, "cluster"], rows)
        listed = " and ".join(f"${vector(center)}$" for center in moved)
        sheet.solution.text(f"The centers move to {listed}.")
        centers = moved
    sheet.solution.text("In the next round no point changes its cluster.")


def _linkage(draw: Draw, name: str) -> Sheet:
    n_points = 4 + (draw.level > 1)
    xs = sorted(draw.sample(range(25 + 10 * draw.level), n_points))
    merges = _merges(xs, name)
    heights = [height for _, _, height in merges]
    draw.require(no_ties(heights) and _is_clear(xs, name), "equal distances")
    model = AgglomerativeClustering(n_clusters=2, linkage=name).fit(
        np.array(xs, dtype=float)[:, None]
    )
    sheet = Sheet()
    sheet.given.text(
        f"Cluster the numbers {', '.join(map(str, xs))} step by step with {name} linkage."
    )
    other = {"single": "complete", "complete": "single"}[name]
    others = [height for _, _, height in _merges(xs, other)]
    for step, (height, learned, wrong) in enumerate(
        zip(heights, model.distances_, others), start=1
    ):
        sheet.ask(
            f"At which distance is merge {step}?",
            height,
            float(learned),
            {f"{other} linkage": wrong},
            decimals=0,
        )
    cut = len(merges[-1][0])
    sizes = sorted((cut, len(merges[-1][1])))
    labels = list(model.labels_)
    sheet.ask(
        "Into two clusters: how many numbers has the smaller one?",
        sizes[0],
        float(min(labels.count(label) for label in set(labels))),
        decimals=0,
    )
    rows = [
        (step, f"{_set(a)} and {_set(b)}", height)
        for step, (a, b, height) in enumerate(merges, start=1)
    ]
    words = {
        "single": "The distance of two clusters is that of their nearest members.",
        "complete": "The distance of two clusters is that of their farthest members.",
    }
    sheet.solution.text(words[name])
    sheet.solution.table(["merge", "clusters", "distance"], rows)
    return sheet


def _set(values: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def _between(a: tuple[int, ...], b: tuple[int, ...], name: str) -> int:
    distances = [abs(x - y) for x in a for y in b]
    return min(distances) if name == "single" else max(distances)


def _is_clear(xs: list[int], name: str) -> bool:
    """Whether no two pairs of clusters are ever equally near."""
    clusters: list[tuple[int, ...]] = [(x,) for x in xs]
    for a, b, _ in _merges(xs, name):
        pairs = [
            _between(clusters[i], clusters[j], name)
            for i in range(len(clusters))
            for j in range(i)
        ]
        if pairs.count(min(pairs)) > 1:
            return False
        clusters = [c for c in clusters if c not in (a, b)] + [tuple(sorted(a + b))]
    return True


def _merges(
    xs: list[int], name: str
) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    clusters: list[tuple[int, ...]] = [(x,) for x in xs]
    merges = []
    while len(clusters) > 1:
        pairs = [(a, b) for i, a in enumerate(clusters) for b in clusters[i + 1 :]]
        a, b = min(pairs, key=lambda pair: _between(pair[0], pair[1], name))
        merges.append((a, b, _between(a, b, name)))
        clusters = sorted(
            [c for c in clusters if c not in (a, b)] + [tuple(sorted(a + b))]
        )
    return merges


@kind("single-linkage", "Cluster step by step with single linkage", "12.3")
def single_linkage(draw: Draw) -> Sheet:
    """The distances of all merges, and the cut into two clusters."""
    return _linkage(draw, "single")


@kind("complete-linkage", "Cluster step by step with complete linkage", "12.3")
def complete_linkage(draw: Draw) -> Sheet:
    """The distances of all merges, and the cut into two clusters."""
    return _linkage(draw, "complete")


@kind("silhouette", "Judge a clustering by its silhouettes", "12.5")
def silhouette_exercise(draw: Draw) -> Sheet:
    """a, b and s of a point, and the mean of all."""
    sizes = (2 + draw.level // 3, 2 + draw.level // 2)
    xs = sorted(draw.sample(range(20), sum(sizes)))
    labels = [0] * sizes[0] + [1] * sizes[1]
    parts = [_silhouette(xs, labels, row) for row in range(len(xs))]
    draw.require(all(s > 0 for _, _, s in parts), "a point in the wrong cluster")
    widths = silhouette(np.array(xs, dtype=float)[:, None], labels)
    row = draw.integer(0, len(xs) - 1)
    a, b, s = parts[row]
    sheet = Sheet()
    first = xs[: sizes[0]]
    second = xs[sizes[0] :]
    sheet.given.text(
        f"The numbers {', '.join(map(str, first))} are cluster 1, "
        f"{', '.join(map(str, second))} cluster 2."
    )
    sheet.ask(
        f"What is the silhouette of {xs[row]}?",
        s,
        float(widths.points[row]),
        {
            "divided by $a$ instead of the larger of $a$ and $b$": (b - a) / a,
            "the other sign": -s,
            "the point itself was counted in its cluster": _silhouette(
                xs, labels, row, count_itself=True
            )[2],
        },
    )
    mean = sum((part[2] for part in parts), Fraction(0)) / len(parts)
    sheet.ask("What is the mean silhouette of all points?", mean, float(widths.mean))
    sheet.solution.text(
        "$a$ is the mean distance to the other members of the own cluster, $b$ to those of "
        "the other one; $s = (b - a) / \\max(a, b)$."
    )
    own = [abs(x - xs[row]) for x in (second if labels[row] else first) if x != xs[row]]
    other = [abs(x - xs[row]) for x in (first if labels[row] else second)]
    sheet.solution.formula(
        rf"a({xs[row]}) = \frac{{{' + '.join(map(str, own))}}}{{{len(own)}}} {equals(a)}, \quad "
        rf"b({xs[row]}) = \frac{{{' + '.join(map(str, other))}}}{{{len(other)}}} {equals(b)}"
    )
    sheet.solution.table(
        ["point", "$a$", "$b$", "$s$"], [(x, *part) for x, part in zip(xs, parts)]
    )
    sheet.solution.formula(
        rf"\bar s = \frac{{{' + '.join(decimal(part[2]) for part in parts)}}}{{{len(parts)}}} "
        f"{equals(mean)}"
    )
    return sheet


def _silhouette(
    xs: list[int], labels: list[int], row: int, count_itself: bool = False
) -> tuple[Fraction, Fraction, Fraction]:
    own = [abs(x - xs[row]) for x, k in zip(xs, labels) if k == labels[row]]
    other = [abs(x - xs[row]) for x, k in zip(xs, labels) if k != labels[row]]
    a = Fraction(sum(own), len(own) if count_itself else len(own) - 1)
    b = Fraction(sum(other), len(other))
    return a, b, (b - a) / max(a, b)


@kind("em-step", "One step of EM for two Gaussians", "12.4")
def em_step(draw: Draw) -> Sheet:
    """Responsibilities under the start, then the new weight, mean and variance."""
    n_rows = 2 + draw.level
    xs = sorted(draw.sample(range(10), n_rows))
    means = (draw.integer(0, 3), draw.integer(5, 9))
    # of the first component, by the logarithm of the ratio of two densities of variance 1
    shares = [sigmoid(((x - means[1]) ** 2 - (x - means[0]) ** 2) / 2) for x in xs]
    draw.require(any(0.05 < share < 0.95 for share in shares), "nothing is shared")
    weight = sum(shares) / n_rows
    draw.require(0.2 < weight < 0.8, "an almost empty component")
    mean = sum(s * x for s, x in zip(shares, xs)) / sum(shares)
    variance = sum(s * (x - mean) ** 2 for s, x in zip(shares, xs)) / sum(shares)
    draw.require(variance > 0.05, "a component on one point")
    step = _learned_step(xs, means)
    row = max(range(n_rows), key=lambda i: shares[i] * (1 - shares[i]))
    sheet = Sheet()
    sheet.given.text(
        f"The numbers {', '.join(map(str, xs))} come from two Gaussians. EM begins with the "
        f"means {means[0]} and {means[1]}, variances 1 and weights $\\frac{{1}}{{2}}$."
    )
    sheet.ask(
        f"What is the responsibility of the first component for {xs[row]}?",
        shares[row],
        float(step["responsibilities"][row]),
        {
            "that of the second component": 1 - shares[row],
            "the density was not divided by the sum of both": 0.5
            * math.exp(-((xs[row] - means[0]) ** 2) / 2)
            / math.sqrt(2 * math.pi),
        },
    )
    sheet.ask("What is the new weight of the first component?", weight, step["weight"])
    hard = [x for x, share in zip(xs, shares) if share > 0.5]
    sheet.ask(
        "What is its new mean?",
        mean,
        step["mean"],
        {
            "every row was given to one component: k-means": sum(hard)
            / max(len(hard), 1),
            "not divided by the sum of the responsibilities": mean
            * sum(shares)
            / n_rows,
        },
    )
    sheet.ask(
        "What is its new variance, about the new mean?",
        variance,
        step["variance"],
        {
            "about the old mean": sum(
                s * (x - means[0]) ** 2 for s, x in zip(shares, xs)
            )
            / sum(shares),
            "the standard deviation": math.sqrt(variance),
        },
    )
    sheet.solution.text(
        "Both components have the same weight and variance, so that these cancel in the "
        "responsibilities:"
    )
    sheet.solution.formula(
        r"r_i = \frac{e^{-(x_i - \mu_1)^2 / 2}}{e^{-(x_i - \mu_1)^2 / 2} + "
        r"e^{-(x_i - \mu_2)^2 / 2}}"
    )
    rows = [(x, s, s * x, s * (x - mean) ** 2) for x, s in zip(xs, shares)]
    sheet.solution.table(
        ["$x_i$", "$r_i$", "$r_i x_i$", r"$r_i (x_i - \mu)^2$"],
        [(x, *(decimal(value) for value in cells)) for x, *cells in rows],
    )
    total, products, squares = (decimal(sum(row[i] for row in rows)) for i in (1, 2, 3))
    sheet.solution.text("The new parameters are ratios of the sums of the columns:")
    sheet.solution.formula(
        rf"\pi = \frac{{{total}}}{{{n_rows}}} {equals(weight)}, \quad \mu = "
        rf"\frac{{{products}}}{{{total}}} {equals(mean)}, \quad \sigma^2 = "
        rf"\frac{{{squares}}}{{{total}}} {equals(variance)}"
    )
    return sheet


def _learned_step(xs: list[int], means: tuple[int, int]) -> dict:
    """The step of the learner, and the responsibilities of its start."""
    X = np.array(xs, dtype=float)[:, None]
    model = GaussianMixture(
        2,
        covariance_type="spherical",
        means_init=np.array(means, dtype=float)[:, None],
        precisions_init=np.ones(2),
        weights_init=np.array([0.5, 0.5]),
        prior_rows=0.0,
        max_iter=1,
        record=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    step = model.record_[1]
    weight = float(step["weights"][0])
    # the M-step: the mean and the weight determine the sums of responsibilities
    densities = np.exp(-((X - np.array(means, dtype=float)) ** 2) / 2)
    responsibilities = densities[:, 0] / densities.sum(axis=1)
    return {
        "responsibilities": responsibilities,
        "weight": weight,
        "mean": float(step["means"][0, 0]),
        "variance": float(step["covariances"][0]),
    }

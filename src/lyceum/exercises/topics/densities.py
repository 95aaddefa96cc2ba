"""Densities: a histogram and a Parzen window."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lyceum.density import HistogramDensity, KernelDensity
from lyceum.exercises.draw import Draw
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, fraction_and_decimal, listed, tex


@kind("histogram", "Estimate a density by a histogram", "4.1")
def histogram(draw: Draw) -> Sheet:
    """Rows in a cell, the density there, and by Sturges' rule the number of bins."""
    values = sorted(draw.integers(6 + 2 * draw.level, 0, 19))
    width = draw.choice([4, 5]) if draw.level > 1 else 5
    x = draw.integer(0, 19)
    cell = x // width
    count = sum(value // width == cell for value in values)
    draw.require(count >= 2, "an almost empty cell")
    draw.require(
        any(value % width == 0 and value // width == cell for value in values)
        or draw.level < 3,
        "no row on an edge",
    )
    density = Fraction(count, len(values) * width)
    X = np.array(values, dtype=float)[:, None]
    model = HistogramDensity(bin_width=float(width), origin=0.0).fit(X)
    learned = float(np.exp(model.score_samples([[float(x)]])[0]))
    sheet = Sheet()
    sheet.given.text(
        f"{len(values)} measurements: {listed(values)}. A histogram has bins of width "
        f"{width} that begin at 0; a value on an edge belongs to the bin on its right."
    )
    low = cell * width
    sheet.ask(
        f"What is the density at $x = {x}$?",
        density,
        learned,
        {
            "not divided by the width of the bin": Fraction(count, len(values)),
            "not divided by the number of rows": Fraction(count, width),
            "the number of rows in the bin, not a density": Fraction(count),
        },
    )
    sheet.solution.text(
        f"The bin of {x} goes from {low} to {low + width} and holds {count} of "
        f"{len(values)} values."
    )
    sheet.solution.formula(
        rf"\hat{{f}}({x}) = \frac{{{count}}}{{{len(values)} \cdot {width}}} = "
        f"{fraction_and_decimal(density)}"
    )
    bins = (len(values) - 1).bit_length() + 1
    sturges = HistogramDensity(bin_width="sturges").fit(X)
    learned_bins = round((values[-1] - values[0]) / float(sturges.bin_width_[0]))
    sheet.ask(
        "How many bins does Sturges' rule give, $\\lceil\\log_2 N\\rceil + 1$?",
        bins,
        float(learned_bins),
        {"the 1 was not added": bins - 1},
        decimals=0,
    )
    sheet.solution.formula(rf"\lceil\log_2 {len(values)}\rceil + 1 = {bins}")
    return sheet


def _window(u: Fraction, kernel: str) -> Fraction:
    """The kernel k(u), which integrates to 1 over u."""
    size = abs(u)
    if kernel == "parzen":
        return Fraction(size <= Fraction(1, 2))
    if kernel == "triangular":
        return max(1 - size, Fraction(0))
    return Fraction(3, 4) * (1 - u**2) if size < 1 else Fraction(0)


KERNELS = {
    "parzen": (r"k(u) = 1 \ \mathrm{for}\ |u| \leq \frac{1}{2}", "the hypercube"),
    "triangular": (r"k(u) = 1 - |u| \ \mathrm{for}\ |u| < 1", "the triangular kernel"),
    "epanechnikov": (
        r"k(u) = \frac{3}{4}(1 - u^2) \ \mathrm{for}\ |u| < 1",
        "Epanechnikov's kernel",
    ),
}


@kind("parzen-window", "Estimate a density by a Parzen window", "4.2")
def parzen_window(draw: Draw) -> Sheet:
    """k(u) of every row at x, and the density."""
    kernel = list(KERNELS)[draw.level - 1]
    values = sorted(draw.integers(4 + draw.level, 0, 12))
    h = draw.choice([3, 4, 5]) if kernel == "parzen" else draw.choice([2, 4, 5])
    x = draw.integer(2, 10)
    distances = [Fraction(x - value, h) for value in values]
    draw.require(
        all(abs(u) not in (Fraction(1, 2), 1) for u in distances), "a row on an edge"
    )
    heights = [_window(u, kernel) for u in distances]
    density = sum(heights, Fraction(0)) / (len(values) * h)
    draw.require(sum(height > 0 for height in heights) >= 2, "too few rows near x")
    model = KernelDensity(kernel=kernel, bandwidth=float(h), rtol=0.0).fit(
        np.array(values, dtype=float)[:, None]
    )
    learned = float(np.exp(model.score_samples([[float(x)]])[0]))
    formula, words = KERNELS[kernel]
    sheet = Sheet()
    sheet.given.text(
        f"Measurements: {listed(values)}. Estimate the density at $x = {x}$ with {words}, "
        f"${formula}$, and the width $h = {h}$, where $u = (x - x_i) / h$."
    )
    sheet.ask(
        "What is the sum of $k(u)$ over the measurements?",
        sum(heights, Fraction(0)),
        learned * len(values) * h,
    )
    sheet.ask(
        f"What is the density at $x = {x}$?",
        density,
        learned,
        {
            "not divided by the width": density * h,
            "not divided by the number of rows": density * len(values),
        },
    )
    rows = zip(values, distances, heights)
    sheet.solution.table(["$x_i$", "$u$", "$k(u)$"], rows)
    sheet.solution.formula(
        rf"\hat{{f}}({x}) = \frac{{1}}{{{len(values)} \cdot {h}}} \cdot "
        f"{tex(sum(heights, Fraction(0)))} = {fraction_and_decimal(density)}"
    )
    return sheet

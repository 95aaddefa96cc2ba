"""One step of expectation-maximization."""

from __future__ import annotations

import math
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum.exercises.draw import Draw
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals
from lyceum.mixtures import GaussianMixture


@kind("em-step", "One step of EM for two Gaussians", "12.4")
def em_step(draw: Draw) -> Sheet:
    """Responsibilities under the start, then the new weight, mean and variance."""
    n_rows = 2 + draw.level
    xs = sorted(draw.sample(range(10), n_rows))
    means = (draw.integer(0, 3), draw.integer(5, 9))
    shares = [
        1 / (1 + math.exp(_log_ratio(x, means))) for x in xs
    ]  # of the first component
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
        "What is its new variance?",
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
    sheet.solution.formula(
        r"r_i = \frac{e^{-(x_i - \mu_1)^2 / 2}}{e^{-(x_i - \mu_1)^2 / 2} + "
        r"e^{-(x_i - \mu_2)^2 / 2}}"
    )
    rows = [(x, s, s * x, s * (x - mean) ** 2) for x, s in zip(xs, shares)]
    sheet.solution.table(
        ["$x_i$", "$r_i$", "$r_i x_i$", r"$r_i (x_i - \mu)^2$"],
        [(x, *(decimal(value) for value in cells)) for x, *cells in rows],
    )
    total = decimal(sum(shares))
    sheet.solution.formula(
        rf"\pi = \frac{{{total}}}{{{n_rows}}} {equals(weight)}, \quad \mu {equals(mean)}, "
        rf"\quad \sigma^2 {equals(variance)}"
    )
    return sheet


def _log_ratio(x: int, means: tuple[int, int]) -> float:
    """ln of the second density over the first, both of variance 1."""
    return ((x - means[0]) ** 2 - (x - means[1]) ** 2) / 2


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

"""Bayes' theorem for one observation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.report import Shown, Table
from lyceum.errors import DataError

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class BayesUpdate(Shown):
    """The result of Bayes' theorem for one observation.

    Attributes
    ----------
    unnormalized : dict of class to P(x|k) P(k)
        The numerators of the theorem.
    evidence : float
        P(x), their sum.
    posterior : dict of class to P(k|x)
        They sum to 1.

    See Also
    --------
    bayes_theorem : Makes it from a prior and a likelihood.
    ProbabilityTable : Bayes' theorem for all values of several variables.

    Examples
    --------
    A test finds nine in ten of the ill, who are one in a hundred, and alarms for one in twenty of
    the others:

    >>> from lyceum.probability import bayes_theorem
    >>> update = bayes_theorem({"ill": 0.01, "well": 0.99}, {"ill": 0.9, "well": 0.05})
    >>> round(update.evidence, 4), round(update.posterior["ill"], 4)  # 0.0585, 0.009 / 0.0585
    (0.0585, 0.1538)
    """

    unnormalized: dict[Any, float]
    evidence: float
    posterior: dict[Any, float]

    def __str__(self) -> str:
        rows = [(str(k), p, self.posterior[k]) for k, p in self.unnormalized.items()]
        heads = ("class", "P(x|k) P(k)", "P(k|x)")
        return str(Table(f"Evidence {self.evidence:.4g}", heads, rows))


def bayes_theorem(
    prior: Mapping[Any, float], likelihood: Mapping[Any, float]
) -> BayesUpdate:
    """P(k|x) = P(x|k) P(k) / Σ_k P(x|k) P(k) for one observed x.

    Parameters
    ----------
    prior : dict of class to P(k)
        Sums to 1.
    likelihood : dict of class to P(x|k)
        Probabilities or densities.

    Returns
    -------
    BayesUpdate

    See Also
    --------
    ProbabilityTable : Its `bayes` is the theorem for all values of several variables.

    Examples
    --------
    A fish of 70 cm, when three in ten are salmon:

    >>> update = bayes_theorem({"salmon": 0.3, "sea bass": 0.7}, {"salmon": 0.4, "sea bass": 0.5})
    >>> update.unnormalized
    {'salmon': 0.12, 'sea bass': 0.35}
    """
    if set(prior) != set(likelihood):
        raise DataError(
            f"prior and likelihood name different classes: {list(prior)} and {list(likelihood)}"
        )
    p = np.array([float(prior[k]) for k in prior])
    given_k = np.array([float(likelihood[k]) for k in prior])
    if not (p >= 0).all() or not abs(p.sum() - 1.0) <= _TOLERANCE:
        raise DataError(
            f"the priors must be from 0 to 1 and sum to 1, but sum to {p.sum():g}"
        )
    if not (np.isfinite(given_k) & (given_k >= 0)).all():
        raise DataError("likelihoods must be finite and not negative")
    joint = p * given_k
    evidence = float(joint.sum())
    if evidence == 0.0:
        raise DataError(
            "the observation has probability 0 in every class, so nothing can be concluded from it"
        )
    posterior = joint / evidence
    return BayesUpdate(
        unnormalized=dict(zip(prior, joint.tolist())),
        evidence=evidence,
        posterior=dict(zip(prior, posterior.tolist())),
    )

"""The verdict of a perceptron: whether the classes were separated, and Novikoff's bound on its
mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.types import Estimator


def novikoff_bound(radius: float, margins: np.ndarray, factor: float = 1.0) -> float:
    """Novikoff's bound, summed over hyperplanes that are corrected apart: Σ factor · (R/γ)².

    It is NaN where a margin is zero or rounded to it. `factor` is 2 where a mistake moves the
    weights of two classes.
    """
    if not (margins > 0.0).all():
        return np.nan
    return float(factor * np.sum((radius / margins) ** 2))


def set_separability(
    learner: Any, separable: bool, radius: float, margin: float, bound: float
) -> None:
    """Set what the passes of a perceptron have shown, from its `history_` of mistakes.

    Parameters
    ----------
    learner : Perceptron or KernelPerceptron
        Gets `n_iter_`, `mistakes_`, `separable_`, `radius_`, `margin_` and `mistake_bound_`.
    separable : bool
        Whether the last pass was without a mistake.
    radius : float
        R, the largest length of a row.
    margin : float
        γ, the least distance of a row from the hyperplane; counts for separated classes.
    bound : float
        The bound on the mistakes; counts for separated classes.
    """
    history = learner.history_
    learner.n_iter_ = max(1, len(history))
    learner.mistakes_ = int(sum(history))
    learner.separable_ = separable
    learner.radius_ = radius
    learner.margin_ = np.nan
    learner.mistake_bound_ = np.nan
    if separable and history:
        learner.margin_ = margin
        learner.mistake_bound_ = bound


def separability_facts(learner: Estimator) -> dict[str, Any]:
    """The verdict, for a summary."""
    separable = "yes"
    if not learner.separable_:
        separable = f"not shown in {learner.n_iter_} passes"
    return {
        "separable": separable,
        "mistakes": learner.mistakes_,
        "mistakes at most (R/γ)²": learner.mistake_bound_,
        "margin γ": learner.margin_,
    }

"""The verdict of a perceptron: whether the classes were separated, and Novikoff's bound on its
mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.types import Estimator


def set_separability(
    learner: Any, radius: float, margin: float, bounded: bool = True
) -> None:
    """Set what the passes of a perceptron have shown, from its `history_` of mistakes.

    The number of mistakes is at most (R/γ)², twice that for one score per class.

    Parameters
    ----------
    learner : Perceptron or KernelPerceptron
        Gets `n_iter_`, `mistakes_`, `separable_`, `radius_`, `margin_` and `mistake_bound_`.
    radius : float
        R, the largest length of a row.
    margin : float
        γ, the least distance of a row from the hyperplane; counts if the last pass was without a
        mistake.
    bounded : bool, default=True
        Whether the bound holds: not if the weights did not start at 0.
    """
    history = learner.history_
    learner.n_iter_ = max(1, len(history))
    learner.mistakes_ = int(sum(history))
    learner.separable_ = not history or history[-1] == 0
    learner.radius_ = radius
    learner.margin_ = np.nan
    learner.mistake_bound_ = np.nan
    if learner.separable_ and history:
        learner.margin_ = margin
        if bounded and margin > 0.0:  # a margin that is rounded to 0 bounds nothing
            # Novikoff: (R/γ)²; a mistake among more than two classes moves two weight vectors
            factor = 1 if len(learner.classes_) <= 2 else 2
            learner.mistake_bound_ = factor * (radius / margin) ** 2


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

"""Settings of a logistic regression: which go together, and what they mean for the classes at
hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.solvers import Outcome
from lyceum._core.statistics import PositiveFactor
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import warn_dependent
from lyceum.linear.logistic.log_loss import LogLoss
from lyceum.linear.logistic.proximal_newton import ProximalNewton


def check_settings(learner: Any) -> None:
    """Refuse what cannot go together."""
    l1 = learner.l1_ratio > 0 and not np.isinf(learner.C)
    solver = learner.solver
    averages = learner.standard_errors is True or learner.posterior != "plugin"
    checks = (
        (
            l1 and solver != "auto",
            f"solver={solver!r} cannot take l1_ratio={learner.l1_ratio}: give solver='auto'",
        ),
        (
            l1 and averages,
            (
                "standard errors and posteriors of the weights need l1_ratio=0: with an L1 penalty"
                " the weights have no Gaussian about their mode"
            ),
        ),
        (
            solver == "sigmoid_bound" and averages,
            (
                "standard errors and posteriors of the weights need their mode, which "
                "solver='sigmoid_bound' only comes near: give solver='lbfgs'"
            ),
        ),
        (
            solver == "sigmoid_bound" and len(learner.classes_) == 2,
            (
                "solver='sigmoid_bound' is for three classes and more: two have no sum to bound, "
                "take solver='auto'"
            ),
        ),
        (
            solver == "recursive" and np.isinf(learner.C),
            "solver='recursive' starts from the prior N(0, C) of the weights: give a finite C",
        ),
        (
            solver == "recursive" and learner.standardize,
            (
                "solver='recursive' cannot know the deviations of the columns beforehand:"
                " standardize them first, e.g. by lyceum.prepare.StandardScaler()"
            ),
        ),
        (
            solver == "recursive" and learner.class_weight == "balanced",
            (
                "solver='recursive' cannot know the class shares beforehand: give class_weight as a"
                " dict"
            ),
        ),
        (
            solver == "recursive" and learner.warm_start,
            "solver='recursive' goes on by partial_fit: give warm_start=False",
        ),
    )
    for wrong, why in checks:
        if wrong:
            raise SettingError(why)
    reference_output(learner.reference, learner.classes_.tolist())


def reference_output(label: Any, labels: list) -> int | None:
    """The output that stays zero: of three classes and more, that of the reference class."""
    if label is None:
        return None
    if label not in labels:
        raise SettingError(f"reference={label!r} is not a class; the classes are {labels}")
    if len(labels) > 2:
        return labels.index(label)
    return None


def warn_of_fit(
    learner: Any, problem: LogLoss, outcome: Outcome, factor: PositiveFactor | None
) -> None:
    """Warn of an optimum at infinity, a stop before the optimum, and columns that depend on each
    other."""
    if learner.separated_:
        warnings.warn(
            "the classes are separated by the columns, so that the likelihood has no maximum and "
            "coefficients and standard errors grow without end: give a finite C",
            ConvergenceWarning,
            stacklevel=6,
        )
    elif not outcome.converged:
        left = outcome.point.gradient
        l1 = learner.l1_ratio / learner.C
        if l1 > 0:
            left = ProximalNewton(l1).violation(outcome.point)
        if learner.solver == "sigmoid_bound":
            size = ""
        else:
            size = f" with a gradient of {problem.size(left):.1e}"
        warnings.warn(
            f"LogisticRegression stopped after max_iter={learner.max_iter} iterations{size}, short"
            f" of tol={learner.tol:g}: raise max_iter, or lower C",
            ConvergenceWarning,
            stacklevel=6,
        )
    if np.isinf(learner.C) and factor is not None and len(factor.dependent):
        warn_dependent(learner, learner.design_names, factor, problem.spread.n_rows)


def column_factor(problem: LogLoss) -> PositiveFactor | None:
    """The curvature in the columns where all classes are equally probable, factored; None for wide
    tables.

    Newton steps, and the others, leave alone the coefficients that it does not determine.
    """
    spread = problem.spread
    if spread.scatter.ndim == 1:
        return None
    weight = spread.weight.sum()
    S = spread.scatter
    floor = weight * (4 * np.finfo(np.float64).eps * spread.mean) ** 2
    if not problem.fit_intercept:
        S = S + weight * np.outer(spread.mean, spread.mean)
    return PositiveFactor.of(S / len(problem.priors) + problem.penalty * np.eye(len(S)), floor)

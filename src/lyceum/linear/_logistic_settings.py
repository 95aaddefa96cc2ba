"""Settings of a logistic regression: which go together, and what they mean for the classes at hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum.errors import DataError, SettingError

__all__ = ["check_settings", "reference_output"]


def check_settings(learner: Any) -> None:
    """Refuse what cannot go together."""
    l1, solver = learner.l1_ratio > 0 and not np.isinf(learner.C), learner.solver
    averages = learner.standard_errors is True or learner.posterior != "plugin"
    checks = (
        (
            l1 and solver != "auto",
            f"solver={solver!r} cannot take l1_ratio={learner.l1_ratio}: give solver='auto'",
        ),
        (
            l1 and averages,
            "standard errors and posteriors of the weights need l1_ratio=0: with an L1 penalty the "
            "weights have no Gaussian about their mode",
        ),
        (
            solver == "bound" and averages,
            "standard errors and posteriors of the weights need their mode, which solver='bound' only "
            "comes near: give solver='lbfgs'",
        ),
        (
            solver == "bound" and len(learner.classes_) == 2,
            "solver='bound' is for three classes and more: two have no sum to bound, take solver='auto'",
        ),
        (
            solver == "recursive" and np.isinf(learner.C),
            "solver='recursive' starts from the prior N(0, C) of the weights: give a finite C",
        ),
        (
            solver == "recursive" and learner.class_weight == "balanced",
            "solver='recursive' cannot know the class shares beforehand: give class_weight as a dict",
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
        raise DataError(f"reference={label!r} is not a class; the classes are {labels}")
    return labels.index(label) if len(labels) > 2 else None

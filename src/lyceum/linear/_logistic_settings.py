"""Settings of a logistic regression: which go together, and what they mean for the classes at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lyceum.errors import DataError

__all__ = ["check_settings", "class_factors", "reference_output"]


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
            raise ValueError(why)
    reference_output(learner.reference, learner.classes_.tolist())


def reference_output(label: Any, labels: list) -> int | None:
    """The output that stays zero: of three classes and more, that of the reference class."""
    if label is None:
        return None
    if label not in labels:
        raise DataError(f"reference={label!r} is not a class; the classes are {labels}")
    return labels.index(label) if len(labels) > 2 else None


def class_factors(class_weight: Any, labels: list, weight: np.ndarray | None) -> np.ndarray | None:
    """The factor on the weights of the rows of every class; "balanced" needs the `weight` of the classes."""
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        odd = [label for label in class_weight if label not in labels]
        if odd:
            raise DataError(f"class_weight names the class {odd[0]!r}; the classes are {labels}")
        return np.array([float(class_weight.get(label, 1.0)) for label in labels])
    assert weight is not None
    share = weight * len(weight)
    return np.divide(weight.sum(), share, out=np.ones_like(share), where=share > 0)

"""Factors of the classes from the parameter `class_weight` of a learner."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from lyceum.errors import SettingError


def class_weight_factors(
    class_weight: Any, labels: list, weight: np.ndarray | None
) -> np.ndarray | None:
    """The factor on the weights of the rows of every class.

    Parameters
    ----------
    class_weight : None, "balanced" or dict of label to factor
        None: no factors. "balanced": N / (K n_k), which gives all classes the same total weight (1
        for a class without rows). A dict: the factors of some classes, 1 for the others.
    labels : list of K labels
        In the order of the factors.
    weight : array of shape (K,) or None
        n_k, the weight of the rows of every class; needed for "balanced".

    Returns
    -------
    array of shape (K,) or None

    See Also
    --------
    class_priors : Priors of classes instead of weights.

    Examples
    --------
    >>> class_weight_factors("balanced", ["bad", "good"], np.array([1.0, 3.0])).round(3).tolist()
    [2.0, 0.667]
    >>> class_weight_factors({"bad": 5}, ["bad", "good"], None).tolist()
    [5.0, 1.0]
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in labels]
        if unknown:
            raise SettingError(
                f"class_weight names the class {unknown[0]!r}; the classes are {labels}"
            )
        for label, factor in class_weight.items():
            if not isinstance(factor, Real) or not 0.0 <= float(factor) < np.inf:
                raise SettingError(
                    f"class_weight has {factor!r} for the class {label!r}: give a finite number of"
                    " at least 0"
                )
        factors = np.array([float(class_weight.get(label, 1.0)) for label in labels])
        if len(labels) and not factors.any():
            raise SettingError("class_weight is 0 for every class: there is nothing to learn from")
        return factors
    assert weight is not None
    share = weight * len(weight)
    return np.divide(weight.sum(), share, out=np.ones_like(share), where=share > 0)

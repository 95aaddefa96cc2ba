"""class_weight_factors: what `class_weight` makes of the weights of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lyceum.errors import DataError

__all__ = ["class_weight_factors"]


def class_weight_factors(class_weight: Any, labels: list, weight: np.ndarray | None) -> np.ndarray | None:
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

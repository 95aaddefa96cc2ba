"""What several targets of one tree need: settings that fit them, and weights of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from lyceum._core.base import Outputs
from lyceum.errors import SettingError

_ONE_OUTPUT = ("loss_matrix", "default_class", "max_p_value", "pruning", "record")
_CRITERIA = ("gini", "entropy", "log_loss", "squared_error", "friedman_mse", "poisson")


def check_outputs(learner: Any) -> None:
    """Raise SettingError where a setting is for one target."""
    if learner.criterion not in _CRITERIA:
        raise SettingError(
            f"criterion={learner.criterion!r} is for one target: choose from"
            f" {', '.join(map(repr, _CRITERIA))}, or fit one tree per column of y"
        )
    unused = (None, False)  # compared by identity: a setting may be an array
    used = [
        name
        for name in _ONE_OUTPUT
        if not any(getattr(learner, name, None) is value for value in unused)
    ]
    if used or getattr(learner, "ccp_alpha", 0.0) == "cv":
        raise SettingError(
            f"{used[0] if used else 'ccp_alpha'} is for one target: leave it out, or fit one tree"
            " per column of y"
        )


def with_class_weights(
    learner: Any, outputs: Outputs, w: np.ndarray | None
) -> np.ndarray | None:
    """The weights of the rows times the factors of their classes, of all outputs."""
    class_weight = getattr(learner, "class_weight", None)
    if class_weight is None:
        return w
    if class_weight == "balanced_subsample":
        class_weight = "balanced"
    if isinstance(class_weight, list) and len(class_weight) != outputs.values.shape[1]:
        raise SettingError(
            "number of elements in class_weight should match number of outputs."
        )
    assert outputs.classes is not None
    columns = zip(outputs.classes, outputs.values.T.astype(np.intp))
    y = np.column_stack([classes[codes] for classes, codes in columns])
    factors = compute_sample_weight(class_weight, y)
    return factors if w is None else w * factors

"""Several targets at once: one model per column of y, the coefficients in the rows of `coef_`."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from lyceum._core.types import Data, Target, Weights
from lyceum.errors import SettingError

Fitted = TypeVar("Fitted")

# what models of single targets have in common; coefficients are stacked
_SHARED = ("schema_", "n_features_in_", "feature_names_in_", "n_rows_")
_STACKED = ("coef_", "intercept_", "alpha_", "n_iter_", "dual_gap_", "mse_path_")


def has_several_targets(y: Target) -> bool:
    """Whether y is a table with a column per target."""
    if isinstance(y, list | tuple):
        return len(y) > 0 and isinstance(y[0], list | tuple | np.ndarray)
    return getattr(y, "ndim", 1) == 2


def n_targets(y: Any) -> int:
    """How many columns y has."""
    return len(target_columns(y))


def target_columns(y: Any) -> list[Any]:
    """The columns of y."""
    Y = y
    if hasattr(y, "to_numpy"):
        Y = y.to_numpy()
    elif sparse.issparse(y):
        Y = y.toarray()
    Y = np.asarray(Y)
    if Y.shape[1] == 0:
        raise SettingError("y has no columns: give at least one target")
    return list(Y.T)


def fit_each_target(
    learner: Fitted,
    X: Data,
    y: Target,
    sample_weight: Weights,
    settings: list[dict[str, Any]] | None = None,
) -> Fitted:
    """Fit a model of the same settings to every column of y, and stack their coefficients.

    Parameters
    ----------
    learner : linear regressor
        What is fitted; `coef_` becomes (n_targets, d) and `intercept_` (n_targets,).
    X, y, sample_weight : as in `fit`, y of shape (n_samples, n_targets)
    settings : list of dict, optional
        Settings of every target's own.
    """
    columns = target_columns(y)
    own = settings or [{}] * len(columns)
    models = [
        _with_settings(learner, changed).fit(X, column, sample_weight)
        for column, changed in zip(columns, own)
    ]
    for name in [name for name in vars(learner) if name.endswith("_")]:
        delattr(learner, name)
    first = vars(models[0])
    shared = {name: first[name] for name in _SHARED if name in first}
    stacked: dict[str, Any] = {
        name: np.array([getattr(model, name) for model in models])
        for name in _STACKED
        if first.get(name) is not None
    }
    if not getattr(learner, "fit_intercept", True):
        stacked["intercept_"] = 0.0
    vars(learner).update(shared | stacked)
    return learner


def _with_settings(learner: Any, changed: dict[str, Any]) -> Any:
    """An unfitted learner of the same settings but for some, which may not be copied."""
    return clone(type(learner)(**{**learner.get_params(deep=False), **changed}))


def refuse_several_targets(learner: Any, what: str) -> None:
    """Explanations and summaries are of one target."""
    if np.ndim(learner.coef_) > 1:
        raise SettingError(
            f"{what} is of one target, and this {type(learner).__name__} has"
            f" {len(learner.coef_)}: fit it on one column of y"
        )

"""What a learner around an estimator takes over from it."""

from __future__ import annotations

from typing import Any

__all__ = ["inherit_columns"]


def inherit_columns(learner: Any, estimator: Any, schema: bool = False) -> None:
    """Set what the fitted estimator knows of its columns on the learner, and nothing else.

    Parameters
    ----------
    learner : the learner around the estimator
    estimator : the estimator, fitted
    schema : bool, default=False
        Whether its `schema_` is taken over too.
    """
    for name in ("n_features_in_", "feature_names_in_", *(("schema_",) if schema else ())):
        if hasattr(learner, name):
            delattr(learner, name)
        if hasattr(estimator, name):
            setattr(learner, name, getattr(estimator, name))

"""Column information that a learner copies from the estimator that it wraps."""

from __future__ import annotations

from lyceum._core.types import Estimator


def inherit_columns(
    learner: Estimator, estimator: Estimator, schema: bool = False
) -> None:
    """Copy the number and names of the columns; remove those that the estimator does not have.

    Parameters
    ----------
    learner : learner
        It wraps the estimator.
    estimator : fitted estimator
        Its columns are copied.
    schema : bool, default=False
        Whether its `schema_` is copied too.
    """
    names = ["n_features_in_", "feature_names_in_"]
    if schema:
        names.append("schema_")
    for name in names:
        if hasattr(learner, name):
            delattr(learner, name)
        if hasattr(estimator, name):
            setattr(learner, name, getattr(estimator, name))


def summary_title(learner: Estimator, estimator: Estimator) -> str:
    """The title of the summary, as of every learner: the class, and the target if the estimator
    names one."""
    target = getattr(getattr(estimator, "schema_", None), "target", None)
    return type(learner).__name__ + ("" if target is None else f" of {target.name}")

"""A check that a fit which goes on from the last one sees the same columns."""

from __future__ import annotations

from sklearn.base import is_classifier

from lyceum._core.data import Column, Schema
from lyceum._core.types import Estimator
from lyceum.errors import SchemaError


def check_same_columns(
    learner: Estimator, known: Schema, classes: bool = True, numbers: bool = False
) -> None:
    """Raise SchemaError unless a warm start sees the columns, categories and classes of the last
    fit.

    Parameters
    ----------
    learner : Learner
        Its `schema_` is that of the new rows.
    known : Schema
        That of the last fit.
    classes : bool, default=True
        Whether a classifier needs the same classes too.
    numbers : bool, default=False
        Whether the learner computes with columns of two numbers, which may then have others.

    Raises
    ------
    SchemaError
        If there is a difference; it names the column.

    See Also
    --------
    lyceum.data.Schema.difference : The first difference in words.
    Learner : `partial_fit` takes new categories where the method can.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.ensemble import RandomForestClassifier
    >>> model = RandomForestClassifier(n_estimators=2, warm_start=True, random_state=0)
    >>> model = model.fit(pd.DataFrame({"size": list("SSMM")}), [0, 0, 1, 1])
    >>> model.set_params(n_estimators=4).fit(pd.DataFrame({"size": list("SSLL")}), [0, 0, 1, 1])
    Traceback (most recent call last):
        ...
    lyceum.errors.SchemaError: ...column 'size' has the new category 'L': give rows...
    """
    now = learner.schema_
    if not classes or not is_classifier(learner):
        known = known.with_target(None)
        now = now.with_target(None)
    if numbers and not now.of_an_array:
        known = _with_numbers(known)
        now = _with_numbers(now)
    change = known.difference(now)
    if change:
        raise SchemaError(
            f"warm_start=True goes on from the last fit, but {change}: give rows with the same"
            " columns, categories and classes (a category type fixes categories and their order),"
            " or set warm_start=False to begin again"
        )


def _with_numbers(schema: Schema) -> Schema:
    """The schema in which columns of two numbers are continuous."""
    columns = [Column(c.name) if c.numeric else c for c in schema.columns]
    return Schema(tuple(columns), schema.target)

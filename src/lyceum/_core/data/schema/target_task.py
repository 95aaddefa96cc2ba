"""Whether a target holds classes or numbers, for methods that take both: the rule of scanned
targets."""

from __future__ import annotations

from typing import Literal

import numpy as np

from lyceum._core.data.rows.rows import Rows
from lyceum._core.data.schema.column_roles import target_column
from lyceum._core.data.schema.profile import ColumnProfile
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data, Target
from lyceum.errors import DataError


def target_task(X: Data, y: Target, caller: str) -> Literal["classes", "numbers"]:
    """Whether the target of scanned rows X, or y, holds classes or numbers.

    Text, true/false and two distinct whole numbers are classes, and so are at most 20 distinct ones
    with three rows each on average, of which at most one in ten has a single row. Fractions in y
    are numbers, as scikit-learn takes no classes from them.

    >>> target_task(None, [1, 2, 3] * 5, "it"), target_task(None, [1.5, 2.0, 3.0] * 5, "it")
    ('classes', 'numbers')
    """
    if isinstance(X, Rows):
        target = X.schema.target
        if target is None:
            raise DataError(f"{caller} needs a target: give scan(..., target=...)")
        if target.is_categorical:
            return "classes"
        return "numbers"
    if y is None:
        raise DataError(f"{caller} requires y to be passed, but the target y is None")
    if hasattr(y, "compute"):
        y = y.compute()
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    values = np.asarray(y).ravel()
    if values.dtype.kind not in "iuf":
        return "classes"
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
        if (finite % 1 != 0).any():
            return "numbers"
    cells = pa.array(values, from_pandas=True)
    column = target_column(ColumnProfile.of("y", cells, in_full=True), None)
    if column.is_categorical:
        return "classes"
    return "numbers"

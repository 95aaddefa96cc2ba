"""Gower's distance of mixed rows with missing cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.distances.metrics import (
    Metric,
    Space,
    as_rows,
    check_columns,
    moments_of,
    register_metric,
)
from lyceum._core.text import show_count
from lyceum.errors import SettingError


@register_metric("gower")
@dataclass(frozen=True, eq=False)
class Gower(Metric):
    """Gower's distance of mixed rows, the mean over the columns known in both, from 0 to 1.

    d(x, y) = Σ_j w_j δ_j s_j / Σ_j w_j δ_j, where δ_j is 1 if the cell is known in both rows, and
    s_j is |x_j - y_j| / range_j for numbers (at most 1; 0 in a constant column) and 0 or 1 for
    equal or different categories. Rows that share no known cell are infinitely far apart. With
    missing cells the triangle inequality does not hold.

    Parameters
    ----------
    weights : mapping from column names to numbers, or array of shape (d,), optional
        The weight w_j of every column, 1 for columns that are not named.
    schema : Schema, optional
        The columns; learned by `learn(rows)`.
    low : array of shape (d,), optional
        The smallest number of every column; learned by `learn(rows)`, in one mergeable pass.
    high : array of shape (d,), optional
        The largest number of every column; learned likewise.

    See Also
    --------
    ValueDifference : distances of categories from the classes that go with them.
    Hamming : the share of the columns that differ.

    References
    ----------
    Gower, J. C. (1971). A general coefficient of similarity and some of its properties. Biometrics
    27(4).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum import scan
    >>> from lyceum.distances import Gower, pairwise
    >>> rows = scan(pa.table({"age": [20.0, 30.0, 60.0], "sex": ["f", "m", None]}))
    >>> pairwise(rows, metric=Gower().learn(rows)).round(3).tolist()
    [[0.0, 0.625, 1.0], [0.625, 0.0, 0.75], [1.0, 0.75, 0.0]]
    """

    weights: Any = None
    schema: Schema | None = field(default=None, repr=False)
    low: np.ndarray | None = field(default=None, repr=False)
    high: np.ndarray | None = field(default=None, repr=False)
    takes_missing = True
    takes_categories = True

    @property
    def is_metric(self) -> bool:
        """False: with missing cells the triangle inequality does not hold."""
        return False

    def learn(self, rows: Any) -> Gower:
        """With the columns and the ranges of the rows.

        Parameters
        ----------
        rows : Rows, or anything that `lyceum.scan` takes
        """
        rows = as_rows(rows)
        moments = moments_of(rows)
        schema = Schema(rows.schema.columns)
        return replace(self, schema=schema, low=moments.low, high=moments.high)

    def check_schema(self, schema: Schema) -> None:
        check_columns("Gower", self.schema, schema)

    @property
    def space(self) -> Space:
        schema = self._schema
        # categories are equal or not, numbers differ by a part of their range
        matched = np.array([column.is_categorical for column in schema], dtype=np.uint8)
        return Space("known columns", 1.0, self._column_weights(schema), matched)

    def points(self, X: Any) -> np.ndarray:
        schema = self._schema
        if X.shape[1] != len(schema):
            raise SettingError(
                f"Gower was fitted on {show_count(len(schema), 'column')}, but the rows have"
                f" {X.shape[1]}"
            )
        assert self.low is not None
        assert self.high is not None
        # About the smallest, so that an offset takes no digits. An unknown category (-1) is unlike
        # the known. Constant columns become 0, but missing cells stay missing.
        Z = np.array(X, dtype=np.float64)
        for j, column in enumerate(schema):
            if column.is_categorical:
                continue
            span = self.high[j] - self.low[j]
            if 0 < span < np.inf:
                Z[:, j] = (Z[:, j] - self.low[j]) / span
            else:
                Z[:, j] = 0.0 * Z[:, j]
        return Z

    @property
    def _schema(self) -> Schema:
        if self.schema is None or self.low is None or self.high is None:
            raise SettingError("Gower does not know its columns yet: call learn(rows)")
        return self.schema

    def _column_weights(self, schema: Schema) -> np.ndarray:
        if isinstance(self.weights, Mapping):
            unknown = [name for name in self.weights if name not in schema.names]
            if unknown:
                raise SettingError(
                    f"weights names {unknown[0]!r}, which is no column of the rows"
                )
            given: Any = [self.weights.get(name, 1.0) for name in schema.names]
        elif self.weights is None:
            given = np.ones(len(schema))
        else:
            given = self.weights
        try:
            weights = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise SettingError(
                f"weights must be numbers, one per column, but they are {given!r}"
            ) from None
        if (
            weights.shape != (len(schema),)
            or not ((weights >= 0) & np.isfinite(weights)).all()
        ):
            raise SettingError(
                f"weights must be {len(schema)} numbers of at least 0, one per column"
            )
        if len(weights) and not weights.any():
            raise SettingError(
                "all weights are 0, so that no column is compared: give one column a weight"
            )
        return weights


def finite_distances(D: np.ndarray, metric: Metric) -> np.ndarray:
    """Gower's distances of rows that share no known cell are the largest there can be, 1."""
    if isinstance(metric, Gower):
        return np.minimum(D, 1.0, out=D)
    return D

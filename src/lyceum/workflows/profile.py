"""What the training rows were like: ranges, shares of categories and of missing cells.

It is kept with the model, so that a server can say when a record is unlike all of them, and when
the records that arrive have become others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lyceum._core.data import Rows, Schema
from lyceum._core.statistics import Quantiles
from lyceum._core.types import Estimator
from lyceum.workflows.fitted_model import FittedModel

_MOST_ROWS = 100_000  # of more rows, so many are looked at
_LEVELS = np.linspace(0.0, 1.0, 21)
_HASHES = 256  # of rows, that are kept
_DISTINCT = 0.9  # of the rows, below which equal rows are no sign of anything
_ATTRIBUTE = "training_profile_"


@dataclass(frozen=True, slots=True, eq=False)
class TrainingProfile:
    """Quantiles of numbers, counts of categories and of missing cells, by column.

    Attributes
    ----------
    n_rows : int
        The rows that were looked at: all, or 100,000 of more, evenly spaced.
    quantiles : dict of column to array of shape (21,)
        The smallest cell, every twentieth quantile, and the largest, of columns of numbers.
    cuts : dict of column to array
        Up to nine numbers that cut a column of numbers into classes of about equal shares.
    counts : dict of column to array
        The rows of every category in the order of the schema, or of every class of numbers: those
        up to the first cut, those up to the next, and those above the last.
    missing : dict of column to float
        The number of missing cells.
    hashes : array
        The 256 smallest hashes of the rows, by which they are known again; empty where rows repeat,
        or are more than 100,000.

    See Also
    --------
    keep_profile : Computes it and keeps it with a model.
    lyceum.workflows.fit_file : Calls it.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.workflows import TrainingProfile, fit_file
    >>> model = fit_file(datasets.path("penguins"), "species", "NaiveBayes")
    >>> profile = TrainingProfile.of_model(model)
    >>> profile.n_rows, profile.range("body_mass_g"), profile.missing["sex"]
    (344, (2700.0, 6300.0), 11.0)
    """

    n_rows: int
    quantiles: dict[str, np.ndarray]
    cuts: dict[str, np.ndarray]
    counts: dict[str, np.ndarray]
    missing: dict[str, float]
    hashes: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))

    @classmethod
    def of_rows(cls, rows: Rows) -> TrainingProfile:
        """The profile of rows as a model reads them."""
        schema = rows.schema
        n = rows.n_rows
        hashes = _smallest_hashes(rows)
        if n is not None and n > _MOST_ROWS:
            rows = rows.take(np.linspace(0, n - 1, _MOST_ROWS).astype(np.intp))
        sketch = rows.reduce(Quantiles.of)
        total = float(sketch.weight.max(initial=0.0))
        if rows.sample_weight is None:
            total = float(sketch.n_rows)
        quantiles = {}
        cuts = {}
        counts = {}
        missing = {}
        for column, cells in zip(schema, sketch.columns):
            weight = float(cells.weights.sum())
            missing[column.name] = max(0.0, total - weight)
            if column.numeric and weight:
                quantiles[column.name] = cells.quantile(_LEVELS)
                cuts[column.name] = np.unique(quantiles[column.name][2:-1:2])
                counts[column.name] = _class_counts(cuts[column.name], cells)
            elif column.is_categorical and not column.is_free_text:
                counts[column.name] = _category_counts(column.categories, cells)
        return cls(sketch.n_rows, quantiles, cuts, counts, missing, hashes)

    @classmethod
    def of_model(cls, model: Estimator) -> TrainingProfile | None:
        """The profile that a model keeps; None where it has none that fits its columns."""
        fitted = FittedModel(model)
        kept = getattr(fitted.steps[0], _ATTRIBUTE, None)
        if not isinstance(kept, dict):
            return None
        try:
            profile = cls(**kept)
            profile._check(fitted.schema)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None  # a file may hold anything
        return profile

    def _check(self, schema: Schema) -> None:
        self.n_rows.bit_length()
        for name, cells in self.quantiles.items():
            if not schema[name].numeric or np.asarray(cells, float).shape != (21,):
                raise ValueError(name)
        for name, cells in self.counts.items():
            n_classes = np.size(np.asarray(schema[name].categories))
            if name in self.cuts:
                n_classes = len(np.asarray(self.cuts[name], float)) + 1
            if np.asarray(cells, float).shape != (n_classes,):
                raise ValueError(name)
        for number in self.missing.values():
            float(number)
        if self.hashes.dtype != np.uint64 or self.hashes.ndim != 1:
            raise ValueError("hashes")

    def range(self, name: str) -> tuple[float, float] | None:
        """The smallest and the largest number of a column; None for categories."""
        cells = self.quantiles.get(name)
        if cells is None:
            return None
        return float(cells[0]), float(cells[-1])


def _smallest_hashes(rows: Rows) -> np.ndarray:
    """The smallest hashes of the rows in order; none where new rows may be equal by chance."""
    n = rows.n_rows
    nothing = np.empty(0, np.uint64)
    if n is None or not 0 < n <= _MOST_ROWS:
        return nothing
    hashes = np.concatenate([row_hashes(block.X) for block in rows.blocks()])
    distinct = np.unique(hashes)
    if len(distinct) < _DISTINCT * len(hashes):
        return nothing
    return distinct[:_HASHES]


def row_hashes(X: Any) -> np.ndarray:
    """A number of 64 bits for every row of cells, the same for equal rows."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    # one NaN for all, no negative zero
    cells = np.ascontiguousarray(
        np.where(np.isnan(X), np.nan, X) + 0.0, dtype=np.float64
    )
    bits = cells.view(np.uint64)
    draws: list[int] = (
        np.random.default_rng(0).integers(0, 2**62, (bits.shape[1],)).tolist()
    )
    mixed = np.zeros(len(bits), np.uint64)
    for j, draw in enumerate(draws):
        mixed ^= bits[:, j] * np.uint64(2 * draw + 1)
        # the bits of a sum of products are mixed from the low ones up: bring the high ones down
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _class_counts(cuts: np.ndarray, cells: Any) -> np.ndarray:
    codes = np.searchsorted(cuts, cells.values, side="left")
    return np.bincount(codes, cells.weights, minlength=len(cuts) + 1)


def _category_counts(categories: Any, cells: Any) -> np.ndarray:
    counts = np.zeros(len(categories))
    codes = cells.values.astype(np.intp)
    known = (codes >= 0) & (codes < len(counts))
    counts[codes[known]] = cells.weights[known]
    return counts


def keep_profile(model: Estimator, rows: Rows) -> None:
    """Keep the profile of the training rows with a fitted model, in its first step.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.workflows import TrainingProfile, keep_profile
    >>> rows = datasets.load("weather")
    >>> model = NaiveBayes().fit(rows)
    >>> keep_profile(model, rows)
    >>> TrainingProfile.of_model(model).counts["outlook"].tolist()
    [4.0, 5.0, 5.0]
    """
    first = FittedModel(model).steps[0]
    profile = TrainingProfile.of_rows(rows)
    kept = {
        "n_rows": profile.n_rows,
        "quantiles": profile.quantiles,
        "cuts": profile.cuts,
        "counts": profile.counts,
        "missing": profile.missing,
        "hashes": profile.hashes,
    }
    setattr(first, _ATTRIBUTE, kept)

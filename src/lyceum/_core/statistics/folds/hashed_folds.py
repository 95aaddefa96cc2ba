"""Folds by a hash of the row number: the same rows in a fold from any source, in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from lyceum._core.data import Block, Statistic
from lyceum._core.native import native


def row_uniforms(
    start: int,
    n_rows: int,
    seed: int,
) -> np.ndarray:
    """A number in [0, 1) for every row from number `start`, a hash of its number and the seed.

    >>> bool((row_uniforms(10, 5, 0) == row_uniforms(0, 15, 0)[10:]).all())
    True
    """
    out = np.empty(n_rows)
    native.hash_uniform(start, seed, out)
    return out


def fold_numbers(
    block: Block,
    n_folds: int,
    seed: int,
) -> np.ndarray:
    """The fold of every row, 0 to n_folds - 1: the same for any division of the rows into
    blocks."""
    # u n may round up to n
    uniforms = row_uniforms(block.start, len(block), seed)
    return np.minimum((uniforms * n_folds).astype(np.int64), n_folds - 1)


def held_out_rows(
    start: int,
    n_rows: int,
    fraction: float,
    seed: int,
) -> np.ndarray:
    """True for the rows, from number `start`, to validate on: about `fraction` of them."""
    return row_uniforms(start, n_rows, seed) <= fraction


@dataclass(frozen=True, slots=True)
class FoldStatistics:
    """One statistic per fold, all from one pass over the rows.

    Attributes
    ----------
    folds : tuple of statistics
        The statistic of the rows of every fold.
    total : statistic
        Of all rows.
    is_finite : bool
        False when the statistic of some fold is not finite.

    See Also
    --------
    fold_numbers : The fold of every row.
    folds_of : The folds that a parameter `cv` asks for.
    SplitStatistics : The training and test rows of every split.

    Examples
    --------
    >>> from functools import partial
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum._core.statistics import FoldStatistics
    >>> from lyceum.statistics import Moments
    >>> rows = scan(pa.table({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}))
    >>> folds = rows.reduce(partial(FoldStatistics.of, statistic=Moments.of, n_folds=3, seed=1))
    >>> folds.total.n_rows, folds.without(0).n_rows + folds.folds[0].n_rows
    (6, 6)
    """

    folds: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        block: Block,
        statistic: Callable[[Block], Statistic],
        n_folds: int,
        seed: int,
    ) -> FoldStatistics:
        """`statistic` of the rows of every fold; see `fold_numbers`."""
        return cls.of_numbers(
            block, statistic, n_folds, fold_numbers(block, n_folds, seed)
        )

    @classmethod
    def of_numbers(
        cls,
        block: Block,
        statistic: Callable[[Block], Statistic],
        n_folds: int,
        fold: np.ndarray,
    ) -> FoldStatistics:
        """`statistic` of the rows of every fold, by the number of the fold of each row."""
        blocks = (block.take(fold == number) for number in range(n_folds))
        return cls(tuple(statistic(rows) for rows in blocks))

    def merge(self, other: FoldStatistics) -> FoldStatistics:
        """The statistics of both sets of rows, fold by fold."""
        pairs = zip(self.folds, other.folds)
        return FoldStatistics(tuple(first.merge(second) for first, second in pairs))

    @property
    def is_finite(self) -> bool:
        """False when the statistic of some fold is not finite."""
        return all(fold.is_finite for fold in self.folds)

    @property
    def total(self) -> Any:
        """The statistic of all rows."""
        return _merge_all(self.folds)

    def without(self, fold: int) -> Any:
        """The statistic of the rows of all other folds, by merging: nothing is subtracted."""
        return _merge_all(self.folds[:fold] + self.folds[fold + 1 :])


def _merge_all(statistics: tuple[Any, ...]) -> Any:
    return reduce(lambda merged, part: merged.merge(part), statistics)

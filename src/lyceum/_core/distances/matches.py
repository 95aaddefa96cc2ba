"""Distances of equal or different cells, and of sets: Hamming and Jaccard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.distances.metrics import Metric, Space, register_metric


@register_metric("hamming")
@dataclass(frozen=True)
class Hamming(Metric):
    """The Hamming distance: the share of the columns in which two rows differ.

    See Also
    --------
    Gower : for mixed columns with missing cells.

    Examples
    --------
    >>> from lyceum.distances import Hamming
    >>> Hamming()([1, 0, 2], [1, 1, 1])
    0.6666666666666666
    """

    takes_sparse = True
    takes_categories = True

    @property
    def space(self) -> Space:
        return Space("mismatches")

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        return np.divide(raw, max(1, n_columns), out=raw)

    def raw(self, distance: float, n_columns: int) -> float:
        return distance * n_columns


@register_metric("jaccard")
@dataclass(frozen=True)
class Jaccard(Metric):
    """The Jaccard distance of sets: 1 - |both| / |either|, of the columns that are not zero.

    Two empty sets are at distance 0.

    See Also
    --------
    Hamming : columns that are zero in both rows count too.

    Examples
    --------
    >>> from lyceum.distances import Jaccard
    >>> Jaccard()([1, 1, 0, 0], [1, 0, 1, 0])
    0.6666666666666666
    """

    takes_sparse = True

    @property
    def space(self) -> Space:
        return Space("sets")

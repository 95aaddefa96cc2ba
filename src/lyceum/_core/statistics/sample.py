"""A random sample of rows that does not depend on how the rows come in blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, row_weights
from lyceum._core.native import native


@dataclass(frozen=True, slots=True)
class RowSample:
    """At most `size` rows, drawn without replacement with chances that follow their weights.

    Row i runs a race that takes -log(u_i) / w_i, where u_i is a hash of the seed and of the row's
    global number; the first `size` rows to finish are the sample. Zero-weight rows never finish.
    Two samples merge by keeping the fastest of both, so that the same rows are drawn from any
    blocks in any order.

    Attributes
    ----------
    size : int
        The largest number of rows.
    X : array of shape (m, d)
        The cells, dense or CSR, in the order of `keys`.
    y : array or None
        Their targets.
    w : array or None
        Their weights.
    rows : array of shape (m,)
        The row numbers in the whole table.
    keys : array of shape (m,)
        Finishing times, ascending.
    limit : float
        The fastest time of a row that is not in the sample; inf when there is none.
    n_rows : int
        The number of rows that it was drawn from.
    weights : array of shape (m,)
        Weights with which sums over the sample estimate sums over all rows without bias.

    See Also
    --------
    Quantiles : A sketch of the values of all rows.

    References
    ----------
    P. S. Efraimidis and P. G. Spirakis, "Weighted random sampling with a reservoir", Information
    Processing Letters 97, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import RowSample
    >>> rows = scan(np.arange(1000.0)[:, None])
    >>> sample = rows.reduce(lambda block: RowSample.of(block, size=50, seed=1))
    >>> len(sample), bool((sample.X[:, 0] == sample.rows).all())
    (50, True)
    >>> sample.n_rows, sample.rows[:3].tolist() == sample.head(3).rows.tolist()
    (1000, True)
    """

    size: int
    X: Any
    y: np.ndarray | None
    w: np.ndarray | None
    rows: np.ndarray
    keys: np.ndarray
    limit: float
    n_rows: int

    @classmethod
    def of(
        cls,
        block: Block,
        size: int,
        seed: int,
        n_rows: int | None = None,
    ) -> RowSample:
        """The sample of one block; `n_rows`, the number of all rows, makes it drop late rows at
        once."""
        # keys -ln(u) / w are exponential with rate w: the rows of the least keys are drawn without
        # replacement by weight (Efraimidis and Spirakis 2006), and keys hashed from row numbers
        # do not depend on the blocks
        keys = np.empty(len(block))
        native.hash_uniform(block.start, seed, keys)
        np.log(keys, out=keys)
        np.negative(keys, out=keys)
        if block.w is not None:
            never = np.full(len(block), np.inf)
            keys = np.divide(keys, block.w, out=never, where=block.w > 0)
        drawn, limit = _fastest(keys, size, n_rows if block.w is None else None)
        return cls(
            size=size,
            X=block.X[drawn],
            y=None if block.y is None else block.y[drawn],
            w=None if block.w is None else block.w[drawn],
            rows=block.start + drawn,
            keys=keys[drawn],
            limit=limit,
            n_rows=len(block),
        )

    def merge(self, other: RowSample) -> RowSample:
        keys = np.concatenate([self.keys, other.keys])
        drawn, limit = _fastest(keys, self.size)
        return replace(
            self,
            X=_pick(self.X, other.X, drawn),
            y=_pick(self.y, other.y, drawn),
            w=_pick(self.w, other.w, drawn),
            rows=_pick(self.rows, other.rows, drawn),
            keys=keys[drawn],
            limit=min(limit, self.limit, other.limit),
            n_rows=self.n_rows + other.n_rows,
        )

    def head(self, size: int) -> RowSample:
        """The sample that a smaller size would have drawn."""
        if size >= len(self):
            return self
        first = slice(0, size)
        return replace(
            self,
            size=size,
            X=self.X[first],
            y=None if self.y is None else self.y[first],
            w=None if self.w is None else self.w[first],
            rows=self.rows[first],
            keys=self.keys[first],
            limit=float(self.keys[size]),
        )

    @property
    def weights(self) -> np.ndarray:
        """Weights with which sums over the sample estimate sums over all rows without bias.

        A row is drawn, given the limit t, with probability 1 - exp(-w t); its weight is w over that
        probability. When no row was left out these are the rows' own weights.
        """
        # Horvitz and Thompson's weights; expm1 keeps the digits of small chances
        w = row_weights(self.w, len(self))
        if np.isinf(self.limit):
            return w
        return w / -np.expm1(-w * self.limit)

    def __len__(self) -> int:
        return len(self.keys)


def _fastest(
    keys: np.ndarray, size: int, of: int | None = None
) -> tuple[np.ndarray, float]:
    """The places of the smallest finite keys in their order, and the smallest key left out.

    Of `of` exponential keys, more than `size` lie below the cut, except with probability 1e-14, so
    that keys above it can be dropped at once. (Should it happen, the sample is a little smaller,
    and its weights are right.)
    """
    enough = size + 8 * np.sqrt(size) + 32
    if of is not None and enough < of:
        cut = -np.log1p(-enough / of)
        low = np.flatnonzero(keys <= cut)
        indices, limit = _fastest(keys[low], size)
        next_key = float(np.min(keys, where=keys > cut, initial=np.inf))
        return low[indices], min(limit, next_key)
    if len(keys) > size + 1:
        least = np.sort(np.argpartition(keys, size)[: size + 1])
        order = least[np.argsort(keys[least], kind="stable")]
    else:
        order = np.argsort(keys, kind="stable")
    if len(order) > size:
        left_out = float(keys[order[size]])
    else:
        left_out = np.inf
    order = order[:size]
    return order[np.isfinite(keys[order])], left_out


def _pick(
    first: Any,
    second: Any,
    indices: np.ndarray,
) -> Any:
    """Rows of `first` followed by `second`, taken without joining them first."""
    if first is None or second is None:
        return None
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")[indices]
    shape = (len(indices), *first.shape[1:])
    out = np.empty(shape, dtype=np.result_type(first, second))
    in_first = indices < len(first)
    out[in_first] = first[indices[in_first]]
    out[~in_first] = second[indices[~in_first] - len(first)]
    return out

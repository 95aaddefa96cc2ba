"""Bounds on the distances of every row, kept from pass to pass, so that few rows are compared
again."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import ArraySource, Rows

# of the centers; with fewer, comparing a row with all costs no more than its bounds
_FEWEST_CELLS = 4096
_FIRST_PASS = 3  # centers move far at first
# the share of the rows above which bounds cost more than they save
_MOST_COMPARED = 0.6
_REST = 4  # passes without bounds, doubled every time


class LloydBounds:
    """The nearest center of every row, and a lower bound of its distance to the others (Hamerly,
    2010).

    A row is compared with all centers again only where the bound, less what the centers have moved,
    does not decide; labels and sums are the same. Where bounds decide little they rest for some
    passes.

    Parameters
    ----------
    n_rows : int
    n_centers : int
    dtype : dtype
        Of the rows: centers are rounded to it before they are compared.
    always : bool, default=False
        Whether they never rest.

    References
    ----------
    Hamerly, G. (2010). Making k-means even faster. SIAM International Conference on Data Mining.
    """

    def __init__(
        self,
        n_rows: int,
        n_centers: int,
        dtype: np.dtype,
        always: bool = False,
    ):
        self.labels = np.full(n_rows, -1, dtype=np.int32)
        self.lower = np.zeros(n_rows)
        self.moves = np.zeros(n_centers)
        self._dtype = dtype
        self._always = always
        self._last: np.ndarray | None = None
        self._fresh = True
        if always:
            self._rest = 0
        else:
            self._rest = _FIRST_PASS - 1
        self._next_rest = _REST

    @classmethod
    def of(
        cls,
        rows: Rows,
        centers: np.ndarray,
        algorithm: str,
    ) -> LloydBounds | None:
        """Bounds for dense rows in memory, or None: for other rows, and where they would save
        nothing."""
        source = rows.source
        if not isinstance(source, ArraySource) or not isinstance(source.X, np.ndarray):
            return None
        if algorithm == "lloyd":
            return None
        if algorithm == "auto" and centers.size < _FEWEST_CELLS:
            return None
        dtype = np.dtype(np.float32 if source.X.dtype == np.float32 else np.float64)
        return cls(source.n_rows, len(centers), dtype, always=algorithm == "bounds")

    def begin(self, centers: np.ndarray) -> LloydBounds | None:
        """The bounds for a pass at these centers, or None while they rest."""
        if self._rest:
            self._rest -= 1
            return None
        if self._last is not None:
            # A lower bound falls by how far a center moved. The kernel compares centers rounded
            # to the type of the rows, which may have moved farther: the larger of the two.
            moved = np.linalg.norm(centers - self._last, axis=1)
            rounded = centers.astype(self._dtype)
            last = self._last.astype(self._dtype)
            moves = np.subtract(rounded, last, dtype=np.float64)
            rounded_moved = np.linalg.norm(moves, axis=1)
            self.moves = np.maximum(moved, rounded_moved) * (1 + 1e-12)
        self._last = centers
        return self

    def end(self, compared: int) -> None:
        """Count the rows that a pass compared: rest if they were many, and not because all were
        new."""
        new = self._fresh
        self._fresh = False
        if self._always or new or compared <= _MOST_COMPARED * len(self.labels):
            return
        # most rows were compared anyway: bounds cost more than they save, for now
        self._rest = self._next_rest
        self._next_rest = 2 * self._next_rest
        self._last = None
        self._fresh = True
        self.labels[:] = -1

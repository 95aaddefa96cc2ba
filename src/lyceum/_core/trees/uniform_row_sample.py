"""UniformRowSample: a uniform sample of rows that does not depend on blocks or on the order of
merging."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Block
from lyceum._core.native import native

_SEED = 2001


@dataclass(frozen=True, slots=True)
class UniformRowSample:
    """Cells and weights of the rows whose hash is below 2^−level, for the least level with at most
    `size`.

    A part of the rows has no higher a level than all of them: whatever the blocks and the order of
    merging, the same rows are left (adaptive sampling, Wegman; in Flajolet 1990). Zero-weight rows
    are ignored.
    """

    size: int
    level: int
    # hashes, cells, weights
    pieces: tuple[tuple[np.ndarray, np.ndarray, np.ndarray | None], ...]

    @classmethod
    def of(cls, block: Block, size: int, n_rows: int | None = None) -> UniformRowSample:
        """The sample of a block; the number of all rows saves storing rows that would be
        dropped."""
        hashes = np.empty(len(block))
        native.hash_uniform(block.start, _SEED, hashes)
        # one level below the likely one: zero weights may leave few rows
        if n_rows and block.w is None:
            level = max(0, int(np.log2(n_rows / size)) - 1)
        else:
            level = 0
        keep = hashes <= 0.5**level
        if block.w is not None:
            keep &= block.w > 0
        if block.w is None:
            weights = None
        else:
            weights = block.w[keep]
        if keep.all():
            X = block.X
        else:
            X = block.X[keep]
        return cls(size, level, ((hashes[keep], X, weights),))._sieve()

    def merge(self, other: UniformRowSample) -> UniformRowSample:
        level = max(self.level, other.level)
        pieces = self._at(level).pieces + other._at(level).pieces
        return UniformRowSample(self.size, level, pieces)._sieve()

    def _sieve(self) -> UniformRowSample:
        level = self.level
        hashes = [piece[0] for piece in self.pieces]
        while sum(map(len, hashes)) > self.size:
            level += 1
            hashes = [h[h <= 0.5**level] for h in hashes]
        return self._at(level)

    def _at(self, level: int) -> UniformRowSample:
        """The rows that are left at a level."""
        if level == self.level:
            return self
        return UniformRowSample(
            self.size, level, tuple(_below(0.5**level, piece) for piece in self.pieces)
        )

    def cells(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The cells, column after column in memory, and the weights."""
        _, cells, weights = zip(*self.pieces)
        X = np.empty(
            (sum(map(len, cells)), cells[0].shape[1]),
            dtype=np.result_type(*cells),
            order="F",
        )
        np.concatenate(cells, out=X)
        return X, None if weights[0] is None else np.concatenate(weights)


def _below(
    limit: float, piece: tuple[np.ndarray, np.ndarray, np.ndarray | None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    hashes, X, weights = piece
    keep = hashes <= limit
    return hashes[keep], X[keep], None if weights is None else weights[keep]

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
        level = 0
        if n_rows and block.w is None:
            # one level below the likely one, as the number of rows at a level is random
            level = max(0, int(np.log2(n_rows / size)) - 1)
        keep = hashes <= 0.5**level
        weights = None
        if block.w is not None:
            keep &= block.w > 0
            weights = block.w[keep]
        X = block.X if keep.all() else block.X[keep]
        return cls(size, level, ((hashes[keep], X, weights),))._sieve()

    def merge(self, other: UniformRowSample) -> UniformRowSample:
        level = max(self.level, other.level)
        pieces = self._at(level).pieces + other._at(level).pieces
        return UniformRowSample(self.size, level, pieces)._sieve()

    def _sieve(self) -> UniformRowSample:
        level = self.level
        hashes = [piece[0] for piece in self.pieces]
        # every level leaves about half of the rows
        while sum(map(len, hashes)) > self.size:
            level += 1
            hashes = [h[h <= 0.5**level] for h in hashes]
        return self._at(level)

    def _at(self, level: int) -> UniformRowSample:
        """The rows that are left at a level."""
        if level == self.level:
            return self
        pieces = []
        for hashes, X, weights in self.pieces:
            keep = hashes <= 0.5**level
            kept_weights = None if weights is None else weights[keep]
            pieces.append((hashes[keep], X[keep], kept_weights))
        return UniformRowSample(self.size, level, tuple(pieces))

    def cells(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The cells, column after column in memory, and the weights."""
        _, cells, weights = zip(*self.pieces)
        shape = (sum(map(len, cells)), cells[0].shape[1])
        X = np.empty(shape, dtype=np.result_type(*cells), order="F")
        np.concatenate(cells, out=X)
        return X, None if weights[0] is None else np.concatenate(weights)

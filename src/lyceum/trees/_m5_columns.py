"""The columns of a model tree: numbers as they are, categories as steps ordered by the mean target."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lyceum.data import Schema
from lyceum.trees._tree import GROUPS, THRESHOLD, Tree

__all__ = ["StepColumns"]


@dataclass(frozen=True, slots=True)
class StepColumns:
    """Cells as numbers: a categorical column of c categories becomes c − 1 columns of zeros and ones.

    Categories are ranked by the mean target of their rows, and step k is 1 where the rank is above k
    (Breiman et al. 1984: among all splits of the categories in two groups, the best for the variance is one
    of these). Numbers are taken from their mean; a missing cell, or a category that `fit` did not see, is at
    the mean.
    """

    ranks: tuple[np.ndarray, ...]  # the rank of every category, −1 of those without rows; empty for numbers
    center: np.ndarray  # (p,) the means

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, w: np.ndarray | None, schema: Schema) -> StepColumns:
        """Ranks and means of coded cells."""
        weight = np.ones(len(X)) if w is None else w
        ranks = tuple(
            _ranks(X[:, j], y, weight, len(np.asarray(column.categories))) if column.is_categorical else _NONE
            for j, column in enumerate(schema)
        )
        plain = cls(ranks, np.zeros(sum(map(_width, ranks))))
        return cls(ranks, _means(plain._raw(X), weight))

    @property
    def start(self) -> np.ndarray:
        """Where the columns of each column start, with the end of the last."""
        return np.cumsum([0, *map(_width, self.ranks)])

    @property
    def source(self) -> np.ndarray:
        """The column that each column comes from."""
        return np.repeat(np.arange(len(self.ranks)), np.diff(self.start))

    def ranked(self, X: np.ndarray) -> np.ndarray:
        """Cells with the ranks of categories in place of their codes, NaN where there is none."""
        if not any(map(len, self.ranks)):
            return X
        R = X.astype(np.float64)
        for j, ranks in enumerate(self.ranks):
            if len(ranks):
                R[:, j] = _rank_of(X[:, j], ranks)
        return R

    def centered(self, X: np.ndarray) -> np.ndarray:
        """Cells less their means, (n, p)."""
        Z = self._raw(X)
        Z -= self.center
        np.copyto(Z, 0.0, where=np.isnan(Z))
        return Z

    def _raw(self, X: np.ndarray) -> np.ndarray:
        start = self.start
        if start[-1] == len(self.ranks) and not any(map(len, self.ranks)):
            return X.astype(np.float64)
        Z = np.empty((len(X), start[-1]))
        for j, ranks in enumerate(self.ranks):
            if not len(ranks):
                Z[:, start[j]] = X[:, j]
                continue
            rank = _rank_of(X[:, j], ranks)[:, None]
            steps = (rank > np.arange(start[j + 1] - start[j])).astype(np.float64)
            Z[:, start[j] : start[j + 1]] = np.where(np.isnan(rank), np.nan, steps)
        return Z

    # -- trees ---------------------------------------------------------------------------------------------

    def tested(self, tree: Tree) -> np.ndarray:
        """The column that each inner node of a tree of ranks tests, −1 at leaves."""
        feature = np.maximum(tree.feature, 0)
        is_category = np.array([len(ranks) > 0 for ranks in self.ranks])[feature]
        step = np.where(is_category & (tree.feature >= 0), np.floor(tree.threshold), 0.0)
        return np.where(tree.feature < 0, -1, self.start[feature] + step.astype(np.intp))

    def to_groups(self, tree: Tree) -> Tree:
        """The tree of ranks as one of codes: a threshold between ranks is two groups of categories."""
        kind, table, n_codes = tree.kind.copy(), tree.table.copy(), tree.n_codes.copy()
        threshold, branches, length = tree.threshold.copy(), [tree.branches], len(tree.branches)
        for node in np.flatnonzero(tree.kind == THRESHOLD).tolist():
            ranks = self.ranks[tree.feature[node]]
            if not len(ranks):
                continue
            sides = np.where(ranks < 0, -1, ranks > tree.threshold[node]).astype(np.int32)
            kind[node], table[node], n_codes[node], threshold[node] = GROUPS, length, len(ranks), np.nan
            branches.append(sides)
            length += len(sides)
        return replace(
            tree,
            kind=kind,
            table=table,
            n_codes=n_codes,
            threshold=threshold,
            branches=np.concatenate(branches).astype(np.int32),
        )

    def names(self, schema: Schema) -> list[str]:
        """The columns' names: a step is named by the categories above it."""
        names = []
        for column, ranks in zip(schema, self.ranks):
            if not len(ranks):
                names.append(column.name)
                continue
            values = np.asarray(column.categories)
            for k in range(_width(ranks)):
                above = np.flatnonzero(ranks > k)
                above = above[np.argsort(-ranks[above], kind="stable")]
                names.append(f"{column.name}={_listed(values[above])}")
        return names


_NONE = np.empty(0, dtype=np.int32)


def _width(ranks: np.ndarray) -> int:
    return max(int(ranks.max()), 0) if len(ranks) else 1


def _ranks(codes: np.ndarray, y: np.ndarray, w: np.ndarray, count: int) -> np.ndarray:
    """The categories that have rows, by rising mean target, then by code."""
    known = np.isfinite(codes) & (codes >= 0)
    code = codes[known].astype(np.intp)
    weight = np.bincount(code, w[known], count)
    middle = y.mean() if len(y) else 0.0
    total = np.bincount(code, w[known] * (y[known] - middle), count)
    seen = np.flatnonzero(weight > 0)
    order = np.argsort(total[seen] / weight[seen], kind="stable")
    ranks = np.full(count, -1, dtype=np.int32)
    ranks[seen[order]] = np.arange(len(seen))
    return ranks


def _rank_of(codes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    known = np.isfinite(codes) & (codes >= 0)
    rank = np.where(ranks < 0, np.nan, ranks)[np.where(known, codes, 0).astype(np.intp)]
    return np.where(known, rank, np.nan)


def _means(Z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The mean of the cells that are there, 0 if there are none; in two steps, for cells far from 0."""
    mean = np.zeros(Z.shape[1])
    gone = np.isnan(Z)
    weight = w.sum() - (w[:, None] * gone).sum(axis=0) if gone.any() else np.full(len(mean), w.sum())
    for _ in range(2):
        away = Z - mean
        np.copyto(away, 0.0, where=gone)
        away *= w[:, None]
        total = away.sum(axis=0)
        mean += np.divide(total, weight, out=np.zeros_like(mean), where=weight > 0)
    return mean


def _listed(values: np.ndarray) -> str:
    shown = ",".join(map(str, values[:4]))
    return shown if len(values) <= 4 else f"{shown},… ({len(values)})"

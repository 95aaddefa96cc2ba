"""The columns of a model tree: numbers as they are, categories as steps ordered by the mean
target."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lyceum._core.base import affine_operation
from lyceum._core.data import Schema, row_weights
from lyceum._core.trees import GROUPS, THRESHOLD, Tree
from lyceum._core.types import Operation
from lyceum.errors import ModelFileError


@dataclass(frozen=True, slots=True)
class StepColumns:
    """Cells as numbers: a categorical column of c categories becomes c − 1 columns of zeros and
    ones.

    Categories are ranked by the mean target of their rows, and step k is 1 where the rank is above
    k (Breiman et al. 1984: among all splits of the categories in two groups, the best for the
    variance is one of these). The mean is subtracted from every column; a missing cell, or a
    category that `fit` did not see, is set to the mean.

    Attributes
    ----------
    ranks : tuple of array
        The rank of every category, −1 of those without rows; empty for numbers.
    center : array of shape (p,)
        The means of the p columns.
    start : array of shape (number of columns of the table + 1,)
        Where the columns made from each column of the table start, and the end of the last.
    source : array of shape (p,)
        The column of the table that each column is made from.

    See Also
    --------
    ModelTreeRegressor : Has them as `columns_`.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone, "Classification and Regression Trees",
    Wadsworth, 1984.
    Y. Wang and I. H. Witten, "Induction of model trees for predicting continuous classes", European
    Conference on Machine Learning, 1997.

    Examples
    --------
    The mean target is 1 in Ulm, 2 in Kiel and 3 in Bonn:

    >>> import pandas as pd
    >>> from lyceum.trees import ModelTreeRegressor
    >>> ages = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> X = pd.DataFrame({"town": ["Ulm", "Bonn", "Kiel"] * 2, "age": ages})
    >>> model = ModelTreeRegressor().fit(X, [1.0, 3.0, 2.0] * 2)
    >>> model.columns_.names(model.schema_)
    ['town=Bonn,Kiel', 'town=Bonn', 'age']
    >>> model.columns_.center.round(3).tolist()
    [0.667, 0.333, 3.5]
    """

    ranks: tuple[np.ndarray, ...]
    center: np.ndarray

    @classmethod
    def of(
        cls, X: np.ndarray, y: np.ndarray, w: np.ndarray | None, schema: Schema
    ) -> StepColumns:
        """Ranks and means of coded cells."""
        weight = row_weights(w, len(X))
        ranks = []
        means = [np.empty(0)]
        for j, column in enumerate(schema):
            column_ranks = np.empty(0, dtype=np.int32)
            if column.is_categorical:
                n_categories = len(np.asarray(column.categories))
                column_ranks = _ranks(X[:, j], y, weight, n_categories)
            ranks.append(column_ranks)
            means.append(_means(X[:, j], column_ranks, weight))
        return cls(tuple(ranks), np.concatenate(means))

    def check_for(self, schema: Schema) -> None:
        """Raise unless the ranks are those of the categories of these columns."""
        fits = len(self.ranks) == len(schema)
        for column, ranks in zip(schema, self.ranks):
            n = len(np.asarray(column.categories)) if column.is_categorical else 0
            fits = fits and ranks.shape == (n,) and ranks.dtype.kind == "i"
            seen = np.sort(ranks[ranks >= 0])
            fits = fits and np.array_equal(seen, np.arange(len(seen)))
        if not fits:
            raise ModelFileError(
                "holds a ModelTreeRegressor whose ranks are not those of its categories"
            )

    @property
    def start(self) -> np.ndarray:
        """Where the columns made from each column of the table start, and the end of the last."""
        return np.cumsum([0, *map(_width, self.ranks)])

    @property
    def source(self) -> np.ndarray:
        """The column of the table that each column is made from."""
        return np.repeat(np.arange(len(self.ranks)), np.diff(self.start))

    def rank_cells(self, X: np.ndarray) -> np.ndarray:
        """Cells with the ranks of categories in place of their codes, NaN where there is none."""
        if not any(map(len, self.ranks)):
            return X
        R = X.astype(np.float64)
        for j, ranks in enumerate(self.ranks):
            if len(ranks):
                R[:, j] = _rank_of(X[:, j], ranks)
        return R

    def center_cells(self, X: np.ndarray, only: np.ndarray | None = None) -> np.ndarray:
        """Cells less their means, (n, p), or those of the columns numbered `only`, in rising
        order."""
        if only is None and not any(map(len, self.ranks)):
            Z = X.astype(np.float64)
            Z -= self.center
        else:
            if only is None:
                only = np.arange(len(self.center))
            Z = self._step_cells(X, only)
            Z -= self.center[only]
        np.copyto(Z, 0.0, where=np.isnan(Z))
        return Z

    def operations(self) -> list[Operation]:
        """`center_cells` for exported models: a sum of what numbers and categories give, each in
        its own columns."""
        p = len(self.center)
        branches: list[list[Operation]] = []
        numbers = [j for j, ranks in enumerate(self.ranks) if not len(ranks)]
        if numbers:
            columns = self.start[numbers]
            branches.append(
                [
                    ("pick", {"columns": numbers}),
                    affine_operation(self.center[columns], np.ones(len(columns))),
                    ("fill", {"values": [0.0] * len(numbers), "flagged": []}),
                    ("scatter", {"columns": columns.tolist(), "size": p}),
                ]
            )
        tables = [
            [j, self._step_table(j).tolist()]
            for j, ranks in enumerate(self.ranks)
            if len(ranks)
        ]
        if tables:
            sums = {"log_prior": [0.0] * p, "gaussians": [], "tables": tables}
            branches.append([("column_densities", sums)])
        added = {"rule": "sum", "weights": [1.0] * len(branches), "width": p}
        return [("branches", {"branches": branches}), ("fuse", added)]

    def _step_table(self, j: int) -> np.ndarray:
        """What every category of a column gives, (n_categories, p); zeros without rows in fit."""
        ranks = self.ranks[j]
        first, last = self.start[j : j + 2]
        table = np.zeros((len(ranks), len(self.center)))
        known = ranks >= 0
        above = ranks[known, None] > np.arange(last - first)
        table[known, first:last] = above - self.center[first:last]
        return table

    def _step_cells(self, X: np.ndarray, only: np.ndarray) -> np.ndarray:
        """Numbers as they are, categories as one 0/1 column per step between ranks; NaN where
        missing."""
        # columns bounds[j] up to bounds[j + 1] of Z are made from column j of the table
        start = self.start
        Z = np.empty((len(X), len(only)))
        bounds = np.searchsorted(only, start)
        for j in np.flatnonzero(np.diff(bounds)).tolist():
            steps = slice(bounds[j], bounds[j + 1])
            if not len(self.ranks[j]):
                Z[:, steps.start] = X[:, j]
                continue
            rank = _rank_of(X[:, j], self.ranks[j])
            # step k is 1 above rank k; steps are counted from the first column made of j
            step = only[steps] - start[j]
            np.greater(rank[:, None], step, out=Z[:, steps])
            Z[np.isnan(rank), steps] = np.nan
        return Z

    # -- trees -------------------------------------------------------------------------

    def tested_columns(self, tree: Tree) -> np.ndarray:
        """The column that each inner node of a tree of ranks tests, −1 at leaves."""
        # a cut at rank k + ½ is step k of the column
        feature = np.maximum(tree.feature, 0)
        is_category = np.array([len(ranks) > 0 for ranks in self.ranks])[feature]
        ranked = is_category & (tree.feature >= 0) & np.isfinite(tree.threshold)
        step = np.where(ranked, np.floor(tree.threshold), 0.0)
        return np.where(
            tree.feature < 0, -1, self.start[feature] + step.astype(np.intp)
        )

    def to_groups(self, tree: Tree) -> Tree:
        """The tree of ranks as one of codes: a threshold between ranks is two groups of
        categories."""
        kind = tree.kind.copy()
        table = tree.table.copy()
        n_codes = tree.n_codes.copy()
        threshold = tree.threshold.copy()
        branches = [tree.branches]
        length = len(tree.branches)
        for node in np.flatnonzero(tree.kind == THRESHOLD).tolist():
            ranks = self.ranks[tree.feature[node]]
            if not len(ranks):
                continue
            sides = np.where(ranks < 0, -1, ranks > tree.threshold[node])
            kind[node] = GROUPS
            table[node] = length
            n_codes[node] = len(ranks)
            threshold[node] = np.nan
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
                listed = ",".join(map(str, values[above[:4]]))
                if len(above) > 4:
                    listed += f",… ({len(above)})"
                names.append(f"{column.name}={listed}")
        return names


def _width(ranks: np.ndarray) -> int:
    """The number of columns made from a column: 1 of numbers, one per step between ranks."""
    if len(ranks):
        return max(int(ranks.max()), 0)
    return 1


def _ranks(codes: np.ndarray, y: np.ndarray, w: np.ndarray, count: int) -> np.ndarray:
    """The categories that have rows, by rising mean target, then by code."""
    known = np.isfinite(codes) & (codes >= 0)
    code = codes[known].astype(np.intp)
    weight = np.bincount(code, w[known], count)
    # about the mean of y, so that means of far targets do not differ by rounding errors only
    middle = y.mean() if len(y) else 0.0
    sums = np.bincount(code, w[known] * (y[known] - middle), count)
    seen = np.flatnonzero(weight > 0)
    order = np.argsort(sums[seen] / weight[seen], kind="stable")
    ranks = np.full(count, -1, dtype=np.int32)
    ranks[seen[order]] = np.arange(len(seen))
    return ranks


def _rank_of(codes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The ranks of cells, NaN where the cell is missing or its category had no rows."""
    known = np.isfinite(codes) & (codes >= 0)
    index = np.where(known, codes, 0).astype(np.intp)
    rank = np.where(ranks < 0, np.nan, ranks)[index]
    return np.where(known, rank, np.nan)


def _means(cells: np.ndarray, ranks: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The means of the columns of one column, by the cells that are not missing; 0 if all are."""
    values = _rank_of(cells, ranks) if len(ranks) else cells.astype(np.float64)
    known = ~np.isnan(values)
    values = values[known]
    w = w[known]
    total = w.sum() or 1.0
    if len(ranks):
        # the mean of step k is the share of the ranks above k
        shares = np.bincount(values.astype(np.intp), w, _width(ranks) + 1) / total
        return shares[:0:-1].cumsum()[::-1]
    # in two steps: the mean of the deviations corrects the rounding of cells far from 0
    rough_mean = (w * values).sum() / total
    return np.array([rough_mean + (w * (values - rough_mean)).sum() / total])

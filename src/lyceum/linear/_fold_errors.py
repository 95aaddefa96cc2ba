"""Cross-validation of penalties from the Gram statistics of folds: one pass for all folds and penalties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from lyceum.data import Block, Rows, Schema
from lyceum.errors import DataError
from lyceum.linear._centred_problem import CentredProblem
from lyceum.linear._row_passes import first_pass
from lyceum.statistics import FoldStatistics, Scatter, fold_numbers

__all__ = ["FoldErrors", "Folds", "by_columns", "by_moments", "folds_of"]

# coefficients (k, d) at k penalties
Fitter = Callable[[CentredProblem], np.ndarray]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A step that keeps some rows of a source, by their numbers."""

    rows: np.ndarray  # (n,) of bool
    drops_rows = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        return block.take(self.rows[block.start : block.start + len(block)])


@dataclass(frozen=True, slots=True)
class _InFold:
    """A step that keeps the rows of one fold, or all others."""

    n_folds: int
    seed: int
    fold: int
    inside: bool
    drops_rows = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        return block.take((fold_numbers(block, self.n_folds, self.seed) == self.fold) == self.inside)


@dataclass(frozen=True, slots=True)
class HashedFolds:
    """Folds by a hash of the row numbers: the same from any source, without a list of rows."""

    n_folds: int
    seed: int

    def scatters(self, rows: Rows) -> FoldScatters:
        """The statistics of all folds in one pass."""
        of = partial(FoldStatistics.of, statistic=_scatter, n_folds=self.n_folds, seed=self.seed)
        found = first_pass(rows, of)
        pairs = [(found.without(f), fold) for f, fold in enumerate(found.folds)]
        return FoldScatters(found.total, pairs)

    def parts(self, rows: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Training and test rows of every fold."""
        for f in range(self.n_folds):
            step = _InFold(self.n_folds, self.seed, f, True)
            yield rows.then(replace(step, inside=False)), rows.then(step)


@dataclass(frozen=True, slots=True)
class GivenSplits:
    """Training and test rows of every split, as a splitter or a list of splits gave them."""

    train: np.ndarray  # (k, n) of bool
    test: np.ndarray

    @classmethod
    def of(cls, cv: Any, rows: Rows) -> GivenSplits:
        y = rows.y
        n = len(rows) if y is None else len(y)
        pairs = list(check_cv(cv, y, classifier=False).split(np.zeros((n, 1)), y))
        sides = np.zeros((2, len(pairs), n), dtype=bool)
        for k, pair in enumerate(pairs):
            for side, places in zip(sides, pair):
                side[k, places] = True
        return cls(*sides)

    def scatters(self, rows: Rows) -> FoldScatters:
        """The statistics of the training and the test rows of every split, in one pass."""
        found = first_pass(rows, partial(_SplitScatters.of, splits=self))
        k = len(self.train)
        return FoldScatters(found.parts[0], list(zip(found.parts[1 : k + 1], found.parts[k + 1 :])))

    def parts(self, rows: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Training and test rows of every split."""
        for train, test in zip(self.train, self.test):
            yield rows.then(_Chosen(train)), rows.then(_Chosen(test))


Folds = HashedFolds | GivenSplits


def folds_of(cv: Any, rows: Rows, seed: int) -> Folds:
    """The folds of a number, a splitter or a list of splits."""
    return HashedFolds(int(cv), seed) if isinstance(cv, Integral) else GivenSplits.of(cv, rows)


@dataclass(frozen=True, slots=True)
class FoldScatters:
    """The statistic of all rows, and those of the training and test rows of every fold."""

    total: Scatter
    pairs: list[tuple[Scatter, Scatter]]


@dataclass(frozen=True, slots=True)
class _SplitScatters:
    """One pass: the statistic of all rows, of the training rows of every split, and of its test rows."""

    parts: tuple[Scatter, ...]

    @classmethod
    def of(cls, block: Block, splits: GivenSplits) -> _SplitScatters:
        here = slice(block.start, block.start + len(block))
        chosen = [*splits.train[:, here], *splits.test[:, here]]
        return cls((_scatter(block), *(_scatter(block.take(rows)) for rows in chosen)))

    def merge(self, other: _SplitScatters) -> _SplitScatters:
        return _SplitScatters(tuple(one.merge(two) for one, two in zip(self.parts, other.parts)))

    @property
    def is_finite(self) -> bool:
        return self.parts[0].is_finite


def _scatter(block: Block) -> Scatter:
    return Scatter.of(block, target=True)


@dataclass(frozen=True, slots=True)
class FoldErrors:
    """Σ w r² of left-out rows at k penalties, (k,), and their weight."""

    squares: np.ndarray
    weight: float

    @classmethod
    def of(cls, block: Block, coefs: np.ndarray, intercepts: np.ndarray) -> FoldErrors:
        assert block.y is not None
        r = block.y[:, None] - block.X @ coefs.T - intercepts
        w = block.weights
        return cls(w @ (r * r), float(w.sum()))

    @classmethod
    def of_moments(cls, fold: Scatter, coefs: np.ndarray, intercepts: np.ndarray) -> FoldErrors:
        """Σ w r² = yy - 2 b·xy + bᵀ xx b + W (ȳ - b₀ - x̄·b)²."""
        spread = fold.yy - 2 * coefs @ fold.xy + np.einsum("kd,kd->k", coefs @ fold.xx, coefs)
        offset = fold.y_mean - intercepts - coefs @ fold.x_mean
        return cls(np.maximum(spread, 0.0) + fold.weight * offset**2, fold.weight)

    def merge(self, other: FoldErrors) -> FoldErrors:
        return FoldErrors(self.squares + other.squares, self.weight + other.weight)


def by_moments(folds: FoldScatters, fit_intercept: bool, fitters: Sequence[Fitter]) -> np.ndarray:
    """Mean squared errors, (fitters, k, folds); folds without weight are left out."""
    used = [pair for pair in folds.pairs if min(side.weight for side in pair) > 0]
    _need_two(len(used))
    out = []
    for train, test in used:
        centred = CentredProblem.of_moments(train, fit_intercept)
        out.append([_error(partial(FoldErrors.of_moments, test), centred, fit) for fit in fitters])
    return np.moveaxis(np.array(out), 0, -1)


def by_columns(rows: Rows, folds: Folds, fit_intercept: bool, fitters: Sequence[Fitter]) -> np.ndarray:
    """The same on columns in memory, one fold after the other."""
    out = []
    for train, test in folds.parts(rows):
        weights = [sum(block.weight for block in some.blocks()) for some in (train, test)]
        if min(weights) > 0:
            centred = CentredProblem.of_rows(train, fit_intercept)
            out.append([_error(_on(test), centred, fit) for fit in fitters])
    _need_two(len(out))
    return np.moveaxis(np.array(out), 0, -1)


def _on(rows: Rows) -> Callable[[np.ndarray, np.ndarray], FoldErrors]:
    return lambda coefs, intercepts: rows.reduce(partial(FoldErrors.of, coefs=coefs, intercepts=intercepts))


def _error(of: Callable[..., FoldErrors], centred: CentredProblem, fit: Fitter) -> np.ndarray:
    coefs = fit(centred)
    intercepts = centred.y_mean - coefs @ centred.x_mean
    errors = of(coefs, intercepts)
    return errors.squares / errors.weight


def _need_two(folds: int) -> None:
    if folds < 2:
        raise DataError(
            "cross-validation needs rows in two folds at least: there are too few rows (1 sample)"
        )

"""Scatter of few rows with many columns, as the centered rows themselves: never a matrix of all
columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import eigh

from lyceum._core.data import ArraySource, Block, Rows, Schema
from lyceum._core.statistics.moments.classes import (
    align_labels,
    class_of_rows,
    classes_of,
)

_MANY_COLUMNS = 1000  # up to this many, a matrix of all products of columns is small


def is_wide(rows: Rows) -> bool:
    """Whether there are fewer rows than columns, and over 1,000 columns: then `RowScatter` is
    smaller."""
    # a file of unknown length is taken as long
    d = len(rows.schema)
    n = rows.n_rows
    return n is not None and n < d and d > _MANY_COLUMNS


@dataclass(frozen=True, slots=True)
class RowScatter:
    """Weight, mean and centered rows F with FᵀF = ZᵀWZ, jointly with the target when there is one.

    The same as `Scatter` for fewer rows than columns: F has one row per row of the table, and one
    more per merge, √(w₁w₂/w) (m₁ - m₂), for the distance of the two means.

    Attributes
    ----------
    n_rows : int
        The number of rows with a positive weight.
    weight : float
        The total weight of the rows.
    mean : array of shape (d,) or (d+1,)
        With the target last.
    rows : array of shape (m, d) or (m, d+1)
        √w (x - mean) of every row.
    targets : int
        The number of targets, 0 or 1.
    x_rows : array of shape (m, d)
        The centered rows without the target.
    xx_diagonal, xy, yy : arrays of shape (d,) and (d,), and float
        The diagonal of the centered XᵀX, Xᵀy and yᵀy.
    x_mean, y_mean : array of shape (d,), and float
        The means of the columns and of the target.
    is_finite : bool
        False when some cell was missing or infinite, or too large to be squared.

    See Also
    --------
    Scatter : The same for more rows than columns.
    ClassRowScatter : The same for every class.
    RowSpace : The rows in coordinates of the space that they span.
    is_wide : Which one is smaller.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum._core.statistics import RowScatter
    >>> rows = scan(pa.table({"a": [0.0, 2.0], "b": [1.0, 5.0], "c": [0.0, 0.0]}))
    >>> found = rows.reduce(RowScatter.of)
    >>> (found.rows.T @ found.rows).tolist()
    [[2.0, 4.0, 0.0], [4.0, 8.0, 0.0], [0.0, 0.0, 0.0]]
    """

    n_rows: int
    weight: float
    mean: np.ndarray
    rows: np.ndarray
    targets: int

    @classmethod
    def of(cls, block: Block, target: bool = False) -> Self:
        """The centered rows of a block."""
        every = np.ones(len(block), dtype=bool)
        return cls._of_rows(block, target and block.y is not None, every)

    @classmethod
    def _of_rows(
        cls,
        block: Block,
        target: bool,
        chosen: np.ndarray,
    ) -> Self:
        if block.w is None:
            used = chosen
        else:
            used = chosen & (block.w > 0)
        d = block.X.shape[1]
        X = block.dense
        Z = np.empty((int(used.sum()), d + target))
        Z[:, :d] = X if used.all() else X[used]
        if target:
            assert block.y is not None
            Z[:, d] = block.y[used]
        if not len(Z):
            return cls(0, 0.0, np.zeros(Z.shape[1]), Z, int(target))
        if block.w is None:
            w = np.ones(len(Z))
        else:
            w = block.w[used]
        first = Z[0].copy()
        Z -= first  # so that an offset costs no digits
        shift = w @ Z / w.sum()
        Z -= shift
        if block.w is not None:
            Z *= np.sqrt(w)[:, None]
        return cls(
            n_rows=len(Z),
            weight=float(w.sum()),
            mean=first + shift,
            rows=Z,
            targets=int(target),
        )

    def merge(self, other: RowScatter) -> RowScatter:
        """The centered rows of both, and one for the distance of their means."""
        if self.weight == 0.0:
            return other
        if other.weight == 0.0:
            return self
        weight = self.weight + other.weight
        delta = other.mean - self.mean
        share = other.weight / weight
        # a row f with fᵀf = w_a w_b / (w_a + w_b) δ δᵀ, the scatter between the two means
        between = np.sqrt(self.weight * share) * delta
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            weight=weight,
            mean=self.mean + share * delta,
            rows=np.vstack([self.rows, other.rows, between]),
            targets=max(self.targets, other.targets),
        )

    def map_columns(self, matrix: np.ndarray, offset: np.ndarray) -> Self:
        """The same rows with other columns, x ↦ matrix x + offset; the target stays."""
        d = len(self.mean) - self.targets
        x_mean = matrix @ self.mean[:d] + offset
        mean = np.append(x_mean, self.mean[d:])
        mapped = self.rows[:, :d] @ matrix.T
        rows = np.column_stack([mapped, self.rows[:, d:]])
        return replace(self, mean=mean, rows=rows)

    def about_origin(self) -> Self:
        """The same with the mean taken as zero: raw products, for models without an intercept."""
        # one more row √N m adds N m mᵀ
        mean_row = np.sqrt(self.weight) * self.mean
        rows = np.vstack([self.rows, mean_row])
        return replace(self, mean=np.zeros_like(self.mean), rows=rows)

    @property
    def is_finite(self) -> bool:
        """False when some cell was missing or infinite, or too large to be squared."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij", self.rows, self.rows)
        return bool(np.isfinite(self.mean).all() and np.isfinite(squares))

    @property
    def x_rows(self) -> np.ndarray:
        """The centered rows without the target."""
        return self.rows[:, : len(self.mean) - self.targets]

    @property
    def xx_diagonal(self) -> np.ndarray:
        """The diagonal of the centered XᵀX."""
        return np.einsum("ij,ij->j", self.x_rows, self.x_rows)

    @property
    def xy(self) -> np.ndarray:
        """Centered Xᵀy."""
        return self.rows[:, -1] @ self.rows[:, :-1]

    @property
    def yy(self) -> float:
        """Centered yᵀy."""
        return float(self.rows[:, -1] @ self.rows[:, -1])

    @property
    def x_mean(self) -> np.ndarray:
        return self.mean[: len(self.mean) - self.targets]

    @property
    def y_mean(self) -> float:
        return float(self.mean[-1])


@dataclass(frozen=True, slots=True)
class ClassRowScatter:
    """A `RowScatter` for every class: the same as `ClassScatter` for fewer rows than columns.

    Attributes
    ----------
    classes : array
        The labels.
    n_rows : int
        The number of rows.
    parts : tuple of RowScatter
        The centered rows of every class.
    class_weight : array of shape (K,)
        The weight of every class.
    mean : array of shape (K, d)
        The means of the classes.
    is_finite : bool
        Whether no sum has overflowed.

    See Also
    --------
    RowScatter : The rows of one class.
    ClassScatter : The same for more rows than columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum._core.statistics import ClassRowScatter
    >>> table = pa.table({"x": [1.0, 3.0, 8.0], "z": [0.0, 4.0, 5.0], "y": ["a", "a", "b"]})
    >>> found = scan(table, target="y").reduce(ClassRowScatter.of)
    >>> found.mean.tolist(), found.pooled_rows().tolist()
    ([[2.0, 2.0], [8.0, 5.0]], [[-1.0, -2.0], [1.0, 2.0], [0.0, 0.0]])
    """

    classes: np.ndarray
    n_rows: int
    parts: tuple[RowScatter, ...]

    @classmethod
    def of(cls, block: Block) -> ClassRowScatter:
        """The centered rows of every class of a block."""
        classes = classes_of(block)
        y = class_of_rows(block)
        parts = [RowScatter._of_rows(block, False, y == k) for k in range(len(classes))]
        return cls(classes, len(block), tuple(parts))

    def merge(self, other: ClassRowScatter) -> ClassRowScatter:
        """The centered rows of both, class by class."""
        classes, here, there = align_labels(self.classes, other.classes)
        d = self.mean.shape[1]
        no_rows = RowScatter(
            n_rows=0,
            weight=0.0,
            mean=np.zeros(d),
            rows=np.zeros((0, d)),
            targets=0,
        )
        parts = [no_rows] * len(classes)
        for indices, side in ((here, self), (there, other)):
            for k, part in zip(indices, side.parts):
                parts[k] = parts[k].merge(part)
        return ClassRowScatter(classes, self.n_rows + other.n_rows, tuple(parts))

    def map_columns(self, matrix: np.ndarray, offset: np.ndarray) -> ClassRowScatter:
        """The summary of the rows matrix x + offset."""
        parts = [part.map_columns(matrix, offset) for part in self.parts]
        return replace(self, parts=tuple(parts))

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        return all(part.is_finite for part in self.parts)

    @property
    def class_weight(self) -> np.ndarray:
        """The weight of every class, (K,)."""
        return np.array([part.weight for part in self.parts])

    @property
    def mean(self) -> np.ndarray:
        """The means of the classes, (K, d)."""
        return np.array([part.mean for part in self.parts])

    def over_classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weight, mean and scatter of every column over all classes together."""
        merged = self.parts[0]
        for part in self.parts[1:]:
            merged = merged.merge(part)
        weight = np.full(len(merged.mean), merged.weight)
        return weight, merged.mean, merged.xx_diagonal

    def pooled_rows(self) -> np.ndarray:
        """The rows of all classes, each about the mean of its class."""
        return np.vstack([part.rows for part in self.parts])


@dataclass(frozen=True)
class RowSpace:
    """Fewer rows than columns, in coordinates of the space that they span: a rotation about their
    mean or 0.

    Whatever depends only on scatters and distances is the same on `rows`; `columns_of` turns a
    direction into coefficients of the columns.

    Attributes
    ----------
    rows : Rows
        The rows in the new coordinates, one column per dimension of the space.
    mean : array of shape (d,)
        The origin of the coordinates.
    basis : array of shape (d, r)
        Orthonormal columns.
    beyond : int
        The number of columns with a cell other than the mean, less the dimensions of the space; at
        least 0.

    See Also
    --------
    RowScatter : The centered rows themselves.
    is_wide : Whether there are few rows and many columns.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum._core.statistics import RowSpace
    >>> rows = scan(np.array([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]))
    >>> space = RowSpace.of(rows, "example")
    >>> space.basis.shape, space.mean.tolist()
    ((3, 1), [1.5, 2.0, 0.0])
    >>> np.abs(space.columns_of(np.array([5.0]))).round(6).tolist()  # 5 steps along the line
    [3.0, 4.0, 0.0]
    """

    rows: Rows
    mean: np.ndarray
    basis: np.ndarray
    beyond: int

    @classmethod
    def of(
        cls,
        rows: Rows,
        caller: str,
        centered: bool = True,
    ) -> RowSpace:
        """The space of the rows of any source, which are held in memory."""
        block = rows.in_one_block(caller, "fewer columns")
        Z = np.asarray(block.dense, dtype=np.float64)
        mean = np.zeros(Z.shape[1])
        if centered:
            mean = Z[0] + (Z - Z[0]).mean(axis=0)
        Z = Z - mean
        # Z Zᵀ = U diag(λ) Uᵀ over the λ above rounding: rows in the basis Zᵀ U / √λ are U √λ
        values, U = eigh(Z @ Z.T, check_finite=False)
        is_large = values > 1e-13 * len(Z) * values.max(initial=0.0)
        values = values[is_large]
        U = U[:, is_large]
        T = np.ascontiguousarray(U * np.sqrt(values))
        names = [f"z{j}" for j in range(T.shape[1])]
        schema = Schema.of_numbers(names).with_target(rows.schema.target)
        # columns that are not constant, less the directions that the rows span
        n_varying = int((Z != 0).any(axis=0).sum())
        beyond = max(n_varying - T.shape[1], 0)
        turned = Rows(ArraySource(T, block.y, block.w, schema))
        basis = Z.T @ (U / np.sqrt(values))
        return cls(turned, mean, basis, beyond)

    def columns_of(self, directions: np.ndarray) -> np.ndarray:
        """Directions (..., r) of the space as coefficients of the columns, (..., d)."""
        return directions @ self.basis.T

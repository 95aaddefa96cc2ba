"""Histogram density: the share of the rows in every cell of a grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Density, OnePassLearner
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.statistics import Moments
from lyceum._core.types import Categories, Data, Seed, Target, Weights
from lyceum.density.boxes import (
    CATEGORIES,
    chain_terms,
    check_box,
    weighted_inverse_cdf,
)
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.report import Explanation, Summary, Table

# The width of a bin from the deviation, range and weight of a column, with d columns in all.
_RULES: dict[str, Callable[[np.ndarray, np.ndarray, float, int], np.ndarray]] = {
    "scott": lambda sigma, extent, n, d: 3.49 * sigma * n ** (-1.0 / (d + 2)),
    "sturges": lambda sigma, extent, n, d: extent / (np.ceil(np.log2(n)) + 1.0),
    "sqrt": lambda sigma, extent, n, d: extent / np.ceil(np.sqrt(n)),
}
# so that the largest cell is inside the last bin of a range cut into bins
_WIDER = 1.0 + 1e-9


class HistogramDensity(Density, OnePassLearner):
    """Histogram density: f(x) = (weight of the rows in the cell of x) / (weight of all · volume of
    a cell).

    Cell c of a column holds origin + c h <= x < origin + (c + 1) h. The grid is infinite, and only
    cells with rows are stored, so that any number of columns works and f integrates to 1. A column
    of categories becomes one-of-C columns.

    Parameters
    ----------
    bin_width : float, array of shape (d,), "scott", "sturges" or "sqrt", default="scott"
        h for all columns, one h per column, or a rule. "scott": 3.49 σ N^(-1/(d+2)). "sturges" and
        "sqrt": the range of the column cut into ⌈log₂N⌉ + 1 or ⌈√N⌉ bins. A constant column gets 1.
        A rule takes one more pass over the rows; with `partial_fit` it is applied to the rows of
        the first call only.
    n_bins : int, array of shape (d,) or None, default=None
        The number of bins that the range of a column is cut into, instead of `bin_width`.
    origin : float, array of shape (d,) or None, default=None
        An edge of the grid. None: 0, or the smallest cell of the column where its range is cut into
        bins.

    Attributes
    ----------
    bin_width_ : array of shape (d,)
        h of every column.
    origin_ : array of shape (d,)
        The origin of every column.
    cells_ : array of int64 of shape (m, d)
        The numbers of the cells that hold rows, in order.
    density_ : array of shape (m,)
        f in every such cell.
    statistic_ : CellWeights
        The weight of every such cell, which `partial_fit` adds to.

    See Also
    --------
    KernelDensity : without edges between cells.

    References
    ----------
    Scott, D. W. (1979). On optimal and data-based histograms. Biometrika 66(3).
    Sturges, H. A. (1926). The choice of a class interval. Journal of the American Statistical
    Association 21.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.density import HistogramDensity
    >>> model = HistogramDensity(bin_width=0.5).fit([[0.1], [0.2], [0.7], [1.9]])
    >>> np.exp(model.score_samples([[0.0], [0.5], [1.2]])).tolist()
    [1.0, 0.5, 0.0]
    >>> model.integrate([[0.25, 1.0]])
    0.5
    """

    _reads_rows = "many passes"
    _parameter_constraints: ClassVar[dict] = {
        "bin_width": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions(set(_RULES)),
            "array-like",
        ],
        "n_bins": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "origin": [Interval(Real, None, None, closed="neither"), "array-like", None],
        **CATEGORIES,
    }

    def __init__(
        self,
        *,
        bin_width: Any = "scott",
        n_bins: Any = None,
        origin: Any = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.bin_width = bin_width
        self.n_bins = n_bins
        self.origin = origin
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Sum the weights of the rows in every cell.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._rows(X, y, sample_weight)
        self._set_grid(rows)
        self.statistic_ = rows.reduce(self._statistic())
        self._finish(self.statistic_)
        return self

    def _continue_fit(self, rows: Rows):
        if not hasattr(self, "statistic_"):
            self._set_grid(rows)
        return super()._continue_fit(rows)

    def _set_grid(self, rows: Rows) -> None:
        d = len(self.design_names)
        origin = 0.0 if self.origin is None else self.origin
        self.origin_ = _one_per_column("origin", origin, d)
        if self.n_bins is None and not isinstance(self.bin_width, str):
            self.bin_width_ = _one_per_column("bin_width", self.bin_width, d)
            if not (self.bin_width_ > 0).all():
                raise SettingError(
                    f"bin_width must be positive, but it is {self.bin_width_.tolist()}"
                )
            return
        # other rules need a pass for deviations and ranges
        moments = rows.reduce(_moments)
        sigma = np.sqrt(moments.variance())
        extent = moments.high - moments.low
        n = float(moments.weight[0])
        if self.n_bins is not None:
            bins = _one_per_column("n_bins", self.n_bins, d)
            if not (bins >= 1).all():
                raise SettingError(
                    f"n_bins must be at least 1, but it is {self.n_bins}"
                )
            width = extent / bins
        else:
            width = _RULES[self.bin_width](sigma, extent, n, d)
        # these cut the range of the rows, from its smallest cell on
        if self.n_bins is not None or self.bin_width != "scott":
            width = width * _WIDER
            if self.origin is None:
                self.origin_ = moments.low.copy()
        self.bin_width_ = np.where(extent > 0, width, 1.0)

    def _statistic(self) -> Callable[[Block], CellWeights]:
        return partial(CellWeights.of, origin=self.origin_, width=self.bin_width_)

    def _finish(self, statistic: CellWeights) -> None:
        volume = self.bin_width_.prod()
        self.cells_ = statistic.cells
        self.density_ = statistic.weight / (statistic.weight.sum() * volume)

    # -- the density -------------------------------------------------------------------

    def _log_density(self) -> Callable[[Block], np.ndarray]:
        return self._log_density_of

    def _log_density_of(self, block: Block) -> np.ndarray:
        positions = find_cells(self.cells_, self._cells_of(block))
        with np.errstate(divide="ignore"):
            return np.log(np.where(positions >= 0, self.density_[positions], 0.0))

    def _cells_of(self, block: Block) -> np.ndarray:
        X = np.asarray(block.X, dtype=np.float64)
        return cells_of(X, self.origin_, self.bin_width_, self.design_names)

    def _threshold(self, quantile: float) -> float:
        weight = self.statistic_.weight
        return float(np.log(weighted_inverse_cdf(self.density_, weight, quantile)))

    def integrate(self, box: Any) -> float:
        """The probability of a box.

        Parameters
        ----------
        box : array of shape (d, 2)
            The low and high ends of every column; they may be infinite.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        low, high = check_box(box, self.design_names).T
        start = self.origin_ + self.cells_ * self.bin_width_
        overlap = np.minimum(high, start + self.bin_width_) - np.maximum(low, start)
        shares = np.maximum(overlap, 0.0) / self.bin_width_
        return float(np.average(shares.prod(axis=1), weights=self.statistic_.weight))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Rows drawn from the density: a cell by its weight, then a point in it uniformly.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows.
        random_state : int, RandomState or None, default=None
            The seed.

        Returns
        -------
        array of shape (n_samples, d)
        """
        check_is_fitted(self)
        random = check_random_state(random_state)
        weight = self.statistic_.weight
        picked = random.choice(len(weight), n_samples, p=weight / weight.sum())
        inside = random.uniform(size=(n_samples, self.cells_.shape[1]))
        return self.origin_ + (self.cells_[picked] + inside) * self.bin_width_

    def _n_parameters(self) -> int:
        """The cells of the grid from the first to the last with rows in every column, less one."""
        first = self.cells_.min(axis=0)
        last = self.cells_.max(axis=0)
        # whole numbers of Python, as their product may not fit into 64 bits
        spans = (last - first + 1).tolist()
        return math.prod(spans) - 1

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the log density, given the columns before it.

        log f(x) = Σ_j log f(x_j | x_1 ... x_(j-1)), exact: a column whose cell is rare among the
        rows in the cells of the columns before it has a low term. After a term of -inf the others
        are 0.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        return self._explain(X, self._column_terms, "log density")

    def _column_terms(self, block: Block) -> np.ndarray:
        """The log density, zero, and what every column adds to the log density of those before
        it."""
        # log f of the first 1, 2, ... columns: the weight of their cells over N and the volume
        cells = self._cells_of(block)
        N = self.statistic_.weight.sum()
        joint = np.empty(cells.shape)
        for j in range(cells.shape[1]):
            known, weight = sum_by_cell(self.cells_[:, : j + 1], self.statistic_.weight)
            positions = find_cells(known, cells[:, : j + 1])
            with np.errstate(divide="ignore"):
                joint[:, j] = np.log(np.where(positions >= 0, weight[positions], 0.0))
            log_volume = np.log(self.bin_width_[: j + 1]).sum()
            joint[:, j] -= np.log(N) + log_volume
        return chain_terms(joint)

    def summary(self) -> Summary:
        """Rows, cells, and the grid of every column."""
        head = super().summary()
        facts = {
            "rows": self.statistic_.n_rows,
            "weight": float(self.statistic_.weight.sum()),
            "cells with rows": len(self.cells_),
            "largest density": float(self.density_.max()),
        }
        bins = [len(np.unique(column)) for column in self.cells_.T]
        rows = zip(
            self.design_names, self.bin_width_.tolist(), self.origin_.tolist(), bins
        )
        table = Table(
            "Grid",
            ("column", "bin width", "origin", "bins with rows"),
            [*map(list, rows)],
        )
        return Summary(head.title, {**head.facts, **facts}, [table])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), CellWeights)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.density_)
        d = len(self.design_names)
        return {"cells_": (m, d), "density_": (m,), "bin_width_": (d,), "origin_": (d,)}


def _one_per_column(name: str, value: object, d: int) -> np.ndarray:
    numbers = number_setting(name, value)
    if numbers.shape not in ((), (d,)) or not np.isfinite(numbers).all():
        raise SettingError(
            f"{name} must be one finite number, or one for each of the {d} columns; it is"
            f" {numbers.tolist()}"
        )
    return np.broadcast_to(numbers, (d,)).copy()


def _moments(block: Block) -> Moments:
    """The moments of the rows without zero weights, whose cells would count in the range."""
    return Moments.of(block.without_zero_weights())


_FARTHEST = float(1 << 53)  # beyond it float64 cannot tell neighboring cells apart


@dataclass(frozen=True, slots=True)
class CellWeights:
    """The weight of the rows in every cell that holds rows.

    Cell c holds origin + c width <= x < origin + (c + 1) width in every column.
    """

    cells: np.ndarray  # (m, d) of int64, distinct, in lexicographic order
    weight: np.ndarray  # (m,)
    n_rows: int

    @classmethod
    def of(cls, block: Block, origin: np.ndarray, width: np.ndarray) -> CellWeights:
        n_rows = len(block)
        block = block.without_zero_weights()
        X = np.asarray(block.X, dtype=np.float64)
        cells = cells_of(X, origin, width, block.schema.names)
        return cls(*sum_by_cell(cells, block.weights), n_rows)

    def merge(self, other: CellWeights) -> CellWeights:
        cells = np.concatenate([self.cells, other.cells])
        weight = np.concatenate([self.weight, other.weight])
        return CellWeights(*sum_by_cell(cells, weight), self.n_rows + other.n_rows)


def cells_of(
    X: np.ndarray, origin: np.ndarray, width: np.ndarray, names: tuple[str, ...]
) -> np.ndarray:
    """The cell of every row."""
    numbers = np.floor((X - origin) / width)
    far = np.abs(numbers) >= _FARTHEST
    if far.any():
        j = int(far.any(axis=0).argmax())
        raise DataError(
            f"column {names[j]!r} has cells farther than 2^53 bin widths from the origin: "
            "give a larger bin_width, or an origin near the rows"
        )
    return numbers.astype(np.int64)


def find_cells(known: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The position of every cell among the known ones, which are sorted; -1 for other cells."""
    low = known.min(axis=0)
    high = known.max(axis=0)
    inside = ((cells >= low) & (cells <= high)).all(axis=1)
    keys = _keys(known, low, high)
    wanted = _keys(cells[inside], low, high)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    positions = np.full(len(cells), -1)
    positions[inside] = np.where(keys[position] == wanted, position, -1)
    return positions


def sum_by_cell(cells: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct cells in order, with the summed weights of their rows."""
    if not len(cells):
        return cells, w
    keys = _keys(cells, cells.min(axis=0), cells.max(axis=0))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return cells[first], np.bincount(which, w, len(first))


def _keys(cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """One sortable number or byte string per cell, in lexicographic order of the columns."""
    # the place of a cell in the grid from `low` to `high`, where its size fits into an integer
    spans = [int(b) - int(a) + 1 for a, b in zip(low, high)]
    shifted = cells - low
    if math.prod(spans) < 1 << 62:
        key = np.zeros(len(cells), dtype=np.int64)
        for j, span in enumerate(spans):
            key = key * span + shifted[:, j]
        return key
    # big-endian bytes compare as the numbers do
    raw = np.ascontiguousarray(shifted.astype(">u8"))
    return raw.view(f"S{8 * cells.shape[1]}")[:, 0]

"""Sums of kernels over stored rows, within a relative error that holds everywhere."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.native import native
from lyceum._core.threads import ordered_map
from lyceum.density.density_kernels import KERNELS

_CHUNK = 256  # queries per task
_FEW = 1 << 16  # kernels that are summed before another thread has woken up
_LINE_CHUNK = 16384  # the same for one column, where a query takes 50 ns
# more cells beside the margin, for queries somewhat outside of the range of the rows
_BEYOND = 20
# kernels that the native floor calls otherwise
_NATIVE = {
    "epanechnikov": "radial_epanechnikov",
    "product_epanechnikov": "epanechnikov",
}
_LEAST = 1e-9  # below this tolerance expansions are not faster


class GaussExpansions(NamedTuple):
    """Expansions of a sum of Gaussians on a line
    (native/include/lyceum/density/fast_gauss_transform.hpp)."""

    origin: float
    coefficients: np.ndarray  # (terms, cells)
    weight: np.ndarray  # (cells,)


def leaf_order(Z: np.ndarray, leaf: int | None = None) -> np.ndarray:
    """An order in which consecutive rows are close together; ascending for one column."""
    if Z.shape[1] == 1:
        return np.argsort(Z[:, 0], kind="stable")
    order = np.empty(len(Z), dtype=np.int64)
    native.leaf_order(np.ascontiguousarray(Z), leaf or native.leaf_rows, order)
    return order


class KernelSums:
    """log f(x) = log Σ_i w_i Π_j k((x_j - x_ij) / h_j) / (W Π_j h_j).

    `rows` are in leaf order (see `leaf_order`). On a line, a sum of Gaussians is taken from
    expansions in cells of half a bandwidth; other sums visit leaves of rows from the near to the
    far, until what is left cannot change the sum by more than the tolerance.
    """

    def __init__(
        self,
        rows: np.ndarray,
        w: np.ndarray | None,
        bandwidth: np.ndarray,
        kernel: str,
        rtol: float,
        power: float = 1.0,
    ):
        self.rows = rows
        self.w = w
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.rtol = rtol
        self.power = power
        # Rows of one column ascend. About the middle, differences keep their digits far from 0.
        if rows.shape[1] == 1:
            low = rows[0]
            high = rows[-1]
        else:
            low = rows.min(axis=0)
            high = rows.max(axis=0)
        self.center = 0.5 * (low + high)
        self.Z = self._scale_rows(rows)
        self.total = float(len(rows) if w is None else w.sum())
        # the kernels of the sums are 1 at 0: log k(0) / Π h is added to their logarithm
        log_peak = KERNELS[kernel].log_peak(len(bandwidth), power)
        self.scale = log_peak - np.log(bandwidth).sum()

    @classmethod
    def of_first_columns(
        cls,
        rows: np.ndarray,
        w: np.ndarray | None,
        bandwidth: np.ndarray,
        kernel: str,
        rtol: float,
        n_columns: int,
    ) -> KernelSums:
        """The sums over the first columns of rows in leaf order; one column alone is sorted first.

        A radial kernel 1 - |u|², integrated over m other columns, is a multiple of (1 - |u|²)^(1 +
        m/2).
        """
        power = 1.0
        if KERNELS[kernel].radial:
            power = 1.0 + 0.5 * (rows.shape[1] - n_columns)
        cells = np.ascontiguousarray(rows[:, :n_columns])
        if n_columns == 1 < rows.shape[1]:
            order = leaf_order(cells)
            cells = cells[order]
            if w is not None:
                w = w[order]
        return cls(cells, w, bandwidth[:n_columns], kernel, rtol, power)

    def __reduce__(self):
        # made anew where it arrives: packed rows and expansions are not sent
        settings = (self.bandwidth, self.kernel, self.rtol, self.power)
        return KernelSums, (self.rows, self.w, *settings)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """log f of every row of X."""
        log_sums = self._log_sums(self._scale_rows(X), None)
        return log_sums + (self.scale - np.log(self.total))

    def _scale_rows(self, X: np.ndarray) -> np.ndarray:
        Z = np.subtract(X, self.center, dtype=np.float64, order="C")
        Z /= self.bandwidth
        return Z

    def leave_rows_out(self) -> np.ndarray:
        """log f of every stored row given the others: each row is left out with its total
        weight."""
        weight = row_weights(self.w, len(self.Z))
        rest = self.total - weight
        log_rest = np.log(rest, out=np.zeros_like(rest), where=rest > 0)
        return self._log_sums(self.Z, np.arange(len(self.Z))) + (self.scale - log_rest)

    def leave_one_out(self, indices: np.ndarray) -> np.ndarray:
        """log f of some stored rows, each left out with the weight of one row at most.

        A row of weight 2 so counts as two rows, of which one is left out.
        """
        weight = np.ones(len(indices)) if self.w is None else self.w[indices]
        left_out = np.minimum(weight, 1.0)
        rest = self.total - left_out
        # the sum without the whole row, and what stays of its weight, at distance 0
        with np.errstate(divide="ignore"):
            others = self._log_sums(self.Z[indices], indices)
            sums = np.logaddexp(others, np.log(weight - left_out))
            return sums + (self.scale - np.log(rest))

    # -- sums --------------------------------------------------------------------------

    def _log_sums(self, Z: np.ndarray, own: np.ndarray | None) -> np.ndarray:
        """The log sums at Z; `own` are the numbers of the queries as stored rows, which are left
        out."""
        out = np.empty(len(Z))
        if self.power != 1.0:
            return self._log_power_sums(Z, own)
        # expansions leave NaN where they are not certain to the tolerance, as far from all rows
        if self._cells is not None:
            self._cell_sums(self._cells, Z[:, 0], own, out)
            remaining = np.flatnonzero(np.isnan(out))
            np.log(out, out=out, where=~np.isnan(out))
        else:
            remaining = np.arange(len(Z))
        # queries close together visit the same leaves; stored rows are in leaf order already
        if own is None and len(remaining):
            remaining = remaining[leaf_order(Z[remaining], native.query_tile)]
        tasks = [
            remaining[start : start + _CHUNK]
            for start in range(0, len(remaining), _CHUNK)
        ]

        def work(task: np.ndarray) -> np.ndarray:
            sums = np.empty(len(task))
            kernel = _NATIVE.get(self.kernel, self.kernel)
            sum_kernels = getattr(self._packed_rows, kernel)
            sum_kernels(Z[task], None if own is None else own[task], self.rtol, sums)
            return sums

        if tasks:
            self._packed_rows  # noqa: B018  built once, before the threads start
        apply = ordered_map if len(remaining) * len(self.rows) > _FEW else map
        for task, sums in zip(tasks, apply(work, tasks)):
            out[task] = sums
        return out

    def _log_power_sums(self, Z: np.ndarray, own: np.ndarray | None) -> np.ndarray:
        """The log sums of (1 - |u|²)^power, for explanations of few rows."""
        w = row_weights(self.w, len(self.Z))
        out = np.empty(len(Z))
        for i, z in enumerate(Z):
            squares = ((self.Z - z) ** 2).sum(axis=1)
            kernels = np.maximum(1.0 - squares, 0.0) ** self.power
            out[i] = w @ kernels
        # a row is at distance 0 from itself, where the kernel is 1
        if own is not None:
            out -= w[own]
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(out, 0.0))

    @cached_property
    def _packed_rows(self):
        return native.PackedRows(self.Z, self.w)

    @cached_property
    def _cells(self) -> GaussExpansions | None:
        if self.kernel != "gaussian" or self.Z.shape[1] > 1 or self.rtol < _LEAST:
            return None
        z = self.Z[:, 0]
        margin = native.cell_margin + _BEYOND
        width = native.cell_width
        count = np.ceil((z[-1] - z[0]) / width) + 1 + 2 * margin
        if count > 2 * len(z) + 4096:
            return None  # most cells would be empty: leaves are as good
        cells = GaussExpansions(
            float(z[0]) - margin * width,
            np.zeros((native.hermite_terms, int(count))),
            np.zeros(int(count)),
        )
        native.gauss_cells(z, self.w, *cells)
        return cells

    def _cell_sums(
        self,
        cells: GaussExpansions,
        z: np.ndarray,
        own: np.ndarray | None,
        out: np.ndarray,
    ) -> None:
        z = np.ascontiguousarray(z)
        own_weight = None
        if own is not None:
            own_weight = np.ones(len(own)) if self.w is None else self.w[own]

        def work(start: int) -> None:
            chunk = slice(start, start + _LINE_CHUNK)
            left_out = None if own_weight is None else own_weight[chunk]
            native.gauss_cell_sums(
                z[chunk], left_out, *cells, self.total, self.rtol, out[chunk]
            )

        for _ in ordered_map(work, range(0, len(z), _LINE_CHUNK)):
            pass

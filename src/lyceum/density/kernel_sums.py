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
            ends = (rows[0], rows[-1])
        else:
            ends = (rows.min(axis=0), rows.max(axis=0))
        self.center = 0.5 * (ends[0] + ends[1])
        self.Z = self._scale_rows(rows)
        self.total = float(len(rows) if w is None else w.sum())
        self.scale = (
            KERNELS[kernel].log_peak(len(bandwidth), power) - np.log(bandwidth).sum()
        )

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
        if KERNELS[kernel].radial:
            power = 1.0 + 0.5 * (rows.shape[1] - n_columns)
        else:
            power = 1.0
        cells = np.ascontiguousarray(rows[:, :n_columns])
        if n_columns == 1 < rows.shape[1]:
            order = leaf_order(cells)
            cells = cells[order]
            if w is None:
                w = None
            else:
                w = w[order]
        return cls(cells, w, bandwidth[:n_columns], kernel, rtol, power)

    def __reduce__(self):
        return KernelSums, (
            self.rows,
            self.w,
            self.bandwidth,
            self.kernel,
            self.rtol,
            self.power,
        )

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """log f of every row of X."""
        return self._log_sums(self._scale_rows(X), None) + (
            self.scale - np.log(self.total)
        )

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
        if self.w is None:
            weight = np.ones(len(indices))
        else:
            weight = self.w[indices]
        out = np.minimum(weight, 1.0)
        rest = self.total - out
        with np.errstate(divide="ignore"):
            sums = np.logaddexp(
                self._log_sums(self.Z[indices], indices), np.log(weight - out)
            )
            return sums + (self.scale - np.log(rest))

    # -- sums --------------------------------------------------------------------------

    def _log_sums(self, Z: np.ndarray, own: np.ndarray | None) -> np.ndarray:
        """The log sums at Z; `own` are the numbers of the queries as stored rows, which are left
        out."""
        out = np.empty(len(Z))
        if self.power != 1.0:
            return self._log_power_sums(Z, own)
        if self._cells is not None:
            self._cell_sums(self._cells, Z[:, 0], own, out)
            remaining = np.flatnonzero(np.isnan(out))
            np.log(out, out=out, where=~np.isnan(out))
        else:
            remaining = np.arange(len(Z))
        if own is None and len(remaining):
            remaining = remaining[leaf_order(Z[remaining], native.query_tile)]
        tasks = [
            remaining[start : start + _CHUNK]
            for start in range(0, len(remaining), _CHUNK)
        ]

        def work(task: np.ndarray) -> np.ndarray:
            sums = np.empty(len(task))
            sum_kernels = getattr(self._packed_rows, self.kernel)
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
            inside = (
                np.maximum(1.0 - ((self.Z - z) ** 2).sum(axis=1), 0.0) ** self.power
            )
            out[i] = w @ inside - (0.0 if own is None else w[own[i]])
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
        if own is None:
            left = None
        elif self.w is None:
            left = np.ones(len(own))
        else:
            left = self.w[own]

        def work(some: slice) -> None:
            if left is None:
                mine = None
            else:
                mine = left[some]
            native.gauss_cell_sums(
                z[some], mine, *cells, self.total, self.rtol, out[some]
            )

        for _ in ordered_map(
            work, [slice(at, at + _LINE_CHUNK) for at in range(0, len(z), _LINE_CHUNK)]
        ):
            pass

"""Router: rows to the nodes of trees where they end, and to the values there."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from lyceum._core.native import native
from lyceum._core.trees.decisions import decided_shares, node_decisions
from lyceum._core.trees.tree import Tree
from lyceum._core.types import Data, Estimator, Operation
from lyceum.errors import SettingError

_PACKED = {
    np.dtype(np.float32): "PackedTreesFloat",
    np.dtype(np.float64): "PackedTreesDouble",
}
# the arrays of a tree that decide where a row ends
_EXPORTED = (
    "feature",
    "kind",
    "child",
    "n_children",
    "threshold",
    "table",
    "n_codes",
    "missing",
    "cuts",
    "branches",
    "weight",
)
_ENGINES = {"quickest": 0, "walk": 1, "scan": 2}
_FEW_ROWS = 16


def native_tree(tree: Tree, n_columns: int) -> Any:
    """The tree as the kernels take it; raises ValueError if an index leads outside its arrays."""
    return native.TreeArrays(
        np.ascontiguousarray(tree.feature, dtype=np.int32),
        np.ascontiguousarray(tree.kind, dtype=np.uint8),
        np.ascontiguousarray(tree.child, dtype=np.int32),
        np.ascontiguousarray(tree.n_children, dtype=np.int32),
        np.ascontiguousarray(tree.threshold, dtype=np.float64),
        np.ascontiguousarray(tree.table, dtype=np.int32),
        np.ascontiguousarray(tree.n_codes, dtype=np.int32),
        np.ascontiguousarray(tree.missing, dtype=np.int32),
        np.ascontiguousarray(tree.cuts, dtype=np.float64),
        np.ascontiguousarray(tree.branches, dtype=np.int32),
        np.ascontiguousarray(tree.weight, dtype=np.float64),
        n_columns,
    )


def float_cells(X: Data) -> np.ndarray:
    """Cells of a block as the kernels take them: float32 or float64, row by row."""
    X = np.asarray(X)
    dtype = X.dtype if X.dtype in _PACKED else np.float64
    return np.ascontiguousarray(X, dtype=dtype)


class _Values(Sequence[np.ndarray]):
    """The values of the nodes of every tree, computed on demand: a forest would hold them twice."""

    def __init__(self, trees: Sequence[Tree], given: Any, factors: np.ndarray) -> None:
        if not (given is None or isinstance(given, str)) and len(given) != len(trees):
            raise SettingError(
                f"there are {len(trees)} trees, but values of {len(given)}"
            )
        self._trees = trees
        self._given = given
        self._factors = factors

    def __len__(self) -> int:
        return len(self._trees)

    def __getitem__(self, t: Any) -> Any:
        if self._given is None:
            value = self._trees[t].node_values
        elif isinstance(self._given, str):
            value = self._trees[t].posteriors
        else:
            value = self._given[t]
        value = np.ascontiguousarray(value, dtype=np.float64)
        if value.ndim == 1:
            value = value[:, None]
        factor = float(self._factors[t])
        if factor == 1.0:
            return value
        return factor * value

    def width(self, t: int) -> int:
        """The number of values per node of a tree."""
        if self._given is None or isinstance(self._given, str):
            return self._trees[t].node_values.shape[1]
        return self._given[t].shape[1]


class Router:
    """Sends rows down trees.

    The trees are packed when rows of a type (float32 or float64) first come; packed trees are not
    pickled. All methods may be called from several threads at once and use one thread each.

    Parameters
    ----------
    trees : sequence of Tree
    n_columns : int
        Columns of the rows.
    values : "shares" or sequence of arrays of shape (n_nodes, K), optional
        What the nodes of each tree add, instead of `tree.node_values`; "shares": their posteriors.
    scale : float or array of shape (n_trees,), default=1.0
        Factors of the values.
    columns : array of int of shape (n_trees,), optional
        The first output column that each tree adds to, 0 by default: 0 for forests, whose trees
        give all K columns; the class for boosting with one tree per class.
    engine : {"quickest", "walk", "scan"}, default="quickest"
        Whether rows walk from node to node, or nodes are tested for many rows at a time, which is
        quicker for many small trees. The results are the same.
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        n_columns: int,
        *,
        values: Sequence[np.ndarray] | Literal["shares"] | None = None,
        scale: Any = 1.0,
        columns: object = None,
        engine: str = "quickest",
    ) -> None:
        self.trees = tuple(trees)
        self.n_columns = n_columns
        factors = np.broadcast_to(np.asarray(scale, dtype=np.float64), len(self.trees))
        self.values = _Values(self.trees, values, factors)
        if columns is None:
            first = np.zeros(len(self.trees), dtype=np.intp)
        else:
            first = np.asarray(columns)
        self.columns = [int(column) for column in first]
        self.engine = engine
        self._start()

    # what is not part of the state: locks and native objects, made again after unpickling
    def _start(self) -> None:
        self._lock = threading.Lock()
        self._packed: dict[tuple[np.dtype, str], Any] = {}
        self._codes: tuple[bytes | None, np.ndarray] | None = None
        self._arrays = [native_tree(tree, self.n_columns) for tree in self.trees]
        self._shares_missing = any(arrays.shares_missing for arrays in self._arrays)

    @cached_property
    def n_outputs(self) -> int:
        """The output columns that the trees add to."""
        return max(
            column + self.values.width(t) for t, column in enumerate(self.columns)
        )

    def operations(self, start: Sequence[float]) -> list[Operation]:
        """What the trees add to `start`, for exported models."""
        exported = []
        for t, tree in enumerate(self.trees):
            arrays = {name: getattr(tree, name).tolist() for name in _EXPORTED}
            values = self.values[t].tolist()
            exported.append({**arrays, "value": values, "column": self.columns[t]})
        return [("trees", {"start": list(start), "trees": exported})]

    # -- where rows end ----------------------------------------------------------------

    def leaves(self, X: Data) -> np.ndarray:
        """The node of every tree where every row ends, int32 of shape (n, n_trees).

        Of a row that missing cells split among several nodes it is the one with the largest share,
        the first of equals.
        """
        X = float_cells(X)
        ends = np.empty((len(X), len(self.trees)), dtype=np.int32)
        split = self._split_rows(X)
        if split is None:
            self._pack(X).leaves(X, 0, len(self.trees), ends)
            return ends
        whole = ~split
        whole_ends = np.empty((np.count_nonzero(whole), ends.shape[1]), np.int32)
        self._pack(X).leaves(X[whole], 0, len(self.trees), whole_ends)
        ends[whole] = whole_ends
        for t, arrays in enumerate(self._arrays):
            column = np.empty(np.count_nonzero(split), dtype=np.int32)
            arrays.ends(X[split], column)
            ends[split, t] = column
        return ends

    def decisions(self, X: Data, loss: np.ndarray | None = None) -> np.ndarray:
        """The codes of the classes of the only tree, or under a loss of the actions; see
        `node_decisions`.

        A row that missing cells split goes by the mean posterior of its parts.
        """
        X = float_cells(X)
        tree = self.trees[0]
        codes = self._node_codes(loss)[self.leaves(X)[:, 0]]
        split = self._split_rows(X)
        if split is not None:
            proba = np.zeros((np.count_nonzero(split), tree.node_values.shape[1]))
            self._arrays[0].add_ends(X[split], decided_shares(tree), 0, proba)
            if loss is None:
                codes[split] = proba.argmax(axis=1)
            else:
                codes[split] = (proba @ loss).argmin(axis=1)
        return codes

    def _node_codes(self, loss: np.ndarray | None) -> np.ndarray:
        key = None if loss is None else loss.tobytes()
        if self._codes is None or self._codes[0] != key:
            self._codes = key, node_decisions(self.trees[0], loss)
        return self._codes[1]

    # -- values ------------------------------------------------------------------------

    def sums(self, X: Any, first: int = 0, last: int | None = None) -> np.ndarray:
        """The summed values of trees `first` up to `last`, (n, n_outputs)."""
        out = np.zeros((len(X), self.n_outputs))
        self.add_values(X, out, first, last)
        return out

    def add_values(
        self, X: Data, out: np.ndarray, first: int = 0, last: int | None = None
    ) -> None:
        """Add to `out` (n, n_outputs) the values of where rows end in trees `first` up to `last`.

        The values of a row's parts are averaged by their shares. Trees are added one after the
        other, so that staged sums are those of all trees, bit for bit.
        """
        X = float_cells(X)
        if last is None:
            last = len(self.trees)
        split = self._split_rows(X)
        if split is None:
            self._pack(X).add_values(X, first, last, out)
            return
        whole = ~split
        whole_out = np.ascontiguousarray(out[whole])
        self._pack(X).add_values(X[whole], first, last, whole_out)
        out[whole] = whole_out
        split_out = np.ascontiguousarray(out[split])
        for t in range(first, last):
            values = self.values[t]
            self._arrays[t].add_ends(X[split], values, self.columns[t], split_out)
        out[split] = split_out

    # -- visits ------------------------------------------------------------------------

    def visits(self, X: Data, tree: int = 0) -> sparse.csr_array:
        """The share of every row that reaches every node of a tree, (n, n_nodes)."""
        X = float_cells(X)
        starts, nodes, weights = self._arrays[tree].visits(X)
        return sparse.csr_array(
            (weights, nodes, starts), shape=(len(X), self.trees[tree].n_nodes)
        )

    def add_contributions(
        self,
        X: Data,
        tree: int,
        values: np.ndarray,
        pick: np.ndarray | None,
        out: np.ndarray,
    ) -> None:
        """Add every step's change of value to the column of `out` (n, n_columns) that was tested.

        `values` is (n_nodes, K); `pick` the column of it for every row, the first if None.
        """
        self._arrays[tree].contributions(
            float_cells(X), np.ascontiguousarray(values), pick, out
        )

    # -- packing -----------------------------------------------------------------------

    def _split_rows(self, X: np.ndarray) -> np.ndarray | None:
        """Which rows missing cells may split among several nodes, None if none may.

        The packed trees, which are quicker, take rows that go one way only.
        """
        if not self._shares_missing:
            return None
        split = np.isnan(X).any(axis=1)
        return split if split.any() else None

    def _pack(self, X: np.ndarray) -> Any:
        # one packing per type of cells, made by the first thread that asks
        with self._lock:
            packed = self._packed_by(X.dtype, self.engine)
            # a scan takes as long for one row as for a tile of them
            if len(X) < _FEW_ROWS and self.engine == "quickest" and packed.scans:
                packed = self._packed_by(X.dtype, "walk")
            return packed

    def _packed_by(self, dtype: np.dtype, engine: str) -> Any:
        if (dtype, engine) not in self._packed:
            pack = getattr(native, _PACKED[dtype])
            self._packed[dtype, engine] = pack(
                self._arrays,
                list(self.values),
                self.columns,
                self.n_columns,
                _ENGINES[engine],
            )
        return self._packed[dtype, engine]

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("trees", "n_columns", "values", "columns", "engine")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()


_routers: WeakKeyDictionary[Any, Router] = WeakKeyDictionary()
atexit.register(_routers.clear)  # learners may outlive the native module
_routers_lock = threading.Lock()


def cached_router(
    learner: Estimator, trees: Sequence[Tree], make: Callable[[], Router]
) -> Router:
    """The router of a fitted learner, made again when its trees are others; never part of its
    state."""
    # by identity: trees are immutable, and a pruned copy of a learner has another tree
    with _routers_lock:
        router = _routers.get(learner)
        known = router is not None and len(router.trees) == len(trees)
        if not known or any(old is not new for old, new in zip(router.trees, trees)):  # type: ignore[union-attr]
            router = _routers[learner] = make()
        return router  # type: ignore[return-value]

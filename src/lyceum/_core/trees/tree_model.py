"""What learners of trees have in common: the parts of their model files, their checks and their
size. Many trees are packed for files and pickles: each kind of array concatenated over all trees.

Hundreds of small trees are thousands of small arrays, each of which would cost more as a file than
it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from lyceum._core.data import Dense, Step
from lyceum._core.trees.explain.partial_dependence import partial_dependence
from lyceum._core.trees.tree import ARRAYS, REALS, Tree
from lyceum.errors import ModelFileError


class TreeModel:
    """A learner of one tree, `tree_`, or of many, `trees_`; stands before `Learner` among the
    bases."""

    _parameter_docs: ClassVar[str] = """
    criterion : {"squared_error", "absolute_error", "sd"}
        The impurity that splits reduce.
    """

    _blanks_row_names: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = True

    n_features_in_: int

    def _steps(self) -> list[Step]:
        return [Dense(), *super()._steps()]  # type: ignore[misc]

    @property
    def _all_trees(self) -> list[Any]:
        own = vars(self)
        if "trees_" in own:
            return list(own["trees_"])
        if "tree_" in own:
            return [own["tree_"]]
        return []

    @property
    def _n_values(self) -> int:
        """The number of values of a node: the weights of the classes, or one number."""
        n_outputs = getattr(self, "n_outputs_", 1)
        if n_outputs == 1:
            return len(getattr(self, "classes_", (0,)))
        return sum(map(len, getattr(self, "classes_", [(0,)] * n_outputs)))

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), Tree)  # type: ignore[misc]

    def _check_model(self) -> None:
        super()._check_model()  # type: ignore[misc]
        for tree in self._all_trees:
            if (
                not isinstance(tree, Tree)
                or not tree.feature.max(initial=-1) < self.n_features_in_
            ):
                raise ModelFileError(
                    f"holds a {type(self).__name__} whose trees test unknown columns"
                )
            if tree.node_values.shape[1] != self._n_values:
                raise ModelFileError(
                    f"holds a {type(self).__name__} whose trees are of other classes"
                )

    def _compute_partial_dependence_recursion(
        self, grid: np.ndarray, target_features: np.ndarray
    ) -> np.ndarray:
        """What `sklearn.inspection.partial_dependence` asks for with method="recursion"."""
        learner: Any = self
        return partial_dependence(
            learner._router, grid, target_features.tolist(), learner.schema_
        )

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of all splits and leaves."""
        return sum(tree.n_numbers for tree in self._all_trees)


class WithTrees(TreeModel):
    """A learner of many trees, `trees_`, which its state holds as one."""

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if state.get("trees_"):
            state["trees_"] = pack_trees(state["trees_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("trees_"), dict):
            state = state | {"trees_": unpack_trees(state["trees_"])}
        super().__setstate__(state)  # type: ignore[misc]


# -- packing ---------------------------------------------------------------------------

_TYPES: dict[str, Any] = {
    name: np.float64 if name in REALS else np.int32 for name in ARRAYS
}
_TYPES |= {"kind": np.uint8, "n_rows": np.int64}
# the column of `sizes` that has the length of an array
_LENGTH = dict.fromkeys(_TYPES, 0) | {"cuts": 1, "branches": 2}


def pack_trees(trees: Sequence[Tree]) -> dict[str, np.ndarray]:
    """The arrays of all trees one after the other, narrowed, and how long those of each are."""
    arrays = {
        name: _narrow(np.concatenate([getattr(tree, name) for tree in trees]))
        for name in _TYPES
    }
    sizes = [[tree.n_nodes, len(tree.cuts), len(tree.branches)] for tree in trees]
    return {
        **arrays,
        "sizes": np.array(sizes, dtype=np.int64),
        "n_features": np.array([tree.n_features for tree in trees], dtype=np.int64),
        "n_classes": np.array([tree.n_classes for tree in trees], dtype=np.int64),
    }


def _narrow(array: np.ndarray) -> np.ndarray:
    """Whole numbers, counts of rows among them, in the fewest bytes that hold them exactly."""
    if not array.size:
        return array
    low = array.min()
    high = array.max()
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            small = array.astype(kind)
            # by their bytes: −0.0 and fractions must come back as they were
            again = small.astype(array.dtype)
            is_same = np.array_equal(again.view(np.uint8), array.view(np.uint8))
            if is_same and small.itemsize < array.itemsize:
                return small
            return array
    return array


def unpack_trees(arrays: dict[str, np.ndarray]) -> list[Tree]:
    """The trees of `pack_trees`; raises ModelFileError if the lengths of the arrays do not fit."""
    if "value" in arrays:  # the name in older files
        arrays = {**arrays, "node_values": arrays["value"]}
    sizes = np.asarray(arrays["sizes"])
    if (
        sizes.ndim != 2
        or sizes.shape[1] != 3
        or sizes.dtype.kind != "i"
        or (sizes < [1, 0, 0]).any()
    ):
        raise ModelFileError("the sizes of packed trees are not those of trees")
    # the arrays of tree t are those up to its end, from the end of the tree before
    ends = np.cumsum(sizes, axis=0)
    lengths = sizes.sum(axis=0)
    full = {}
    for name, c in _LENGTH.items():
        array = arrays[name]
        n_axes = 2 if name == "node_values" else 1
        if array.ndim != n_axes or len(array) != lengths[c]:
            raise ModelFileError(
                f"the array {name!r} of packed trees does not have the length that they need"
            )
        full[name] = array.astype(_TYPES[name])
    n_features, n_classes = _packed_counts(arrays, len(sizes))
    trees = []
    for t, (start, end) in enumerate(zip(ends - sizes, ends)):
        parts = {name: full[name][start[c] : end[c]] for name, c in _LENGTH.items()}
        trees.append(Tree(**parts, n_features=n_features[t], n_classes=n_classes[t]))
    return trees


def _packed_counts(
    arrays: dict[str, np.ndarray], n_trees: int
) -> tuple[list[int], list[tuple[int, ...]]]:
    """The number of columns, and the classes of every output, of each tree; older files lack
    them."""
    if "n_features" not in arrays:
        return [0] * n_trees, [()] * n_trees
    n_features = np.asarray(arrays["n_features"])
    n_classes = np.asarray(arrays["n_classes"])
    if n_features.shape != (n_trees,) or n_classes.shape[:1] != (n_trees,):
        raise ModelFileError(
            "packed trees do not say how many columns and classes they have"
        )
    return n_features.tolist(), [tuple(map(int, counts)) for counts in n_classes]

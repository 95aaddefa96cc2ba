"""What learners of trees have in common: the parts of their model files, their checks and their
size."""

from __future__ import annotations

from typing import Any, ClassVar

from lyceum._core.trees.tree import Tree
from lyceum.errors import ModelFileError


class TreeModel:
    """A learner of one tree, `tree_`, or of many, `trees_`; stands before `Learner` among the
    bases."""

    _parameter_docs: ClassVar[str] = """
    criterion : {"squared_error", "absolute_error", "sd"}
        The impurity that splits reduce.
    """

    _blanks_row_names: ClassVar[bool] = True

    n_features_in_: int

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
        return len(getattr(self, "classes_", (0,)))

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
            if tree.value.shape[1] != self._n_values:
                raise ModelFileError(
                    f"holds a {type(self).__name__} whose trees are of other classes"
                )

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of all splits and leaves."""
        return sum(tree.n_numbers for tree in self._all_trees)

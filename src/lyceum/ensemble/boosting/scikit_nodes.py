"""The trees of histogram boosting as scikit-learn keeps them, for tools that read its nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.trees import Tree

# scikit-learn's fields, in its order: readers go by their numbers
NODE = np.dtype(
    [
        ("value", np.float64),
        ("count", np.uint32),
        ("feature_idx", np.int64),
        ("num_threshold", np.float64),
        ("missing_go_to_left", np.uint8),
        ("left", np.uint32),
        ("right", np.uint32),
        ("gain", np.float64),
        ("depth", np.uint32),
        ("is_leaf", np.uint8),
        ("bin_threshold", np.uint8),
        ("is_categorical", np.uint8),
        ("bitset_idx", np.uint32),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class TreePredictor:
    """A tree as an array of nodes, by scikit-learn's name."""

    nodes: np.ndarray

    @classmethod
    def of(cls, tree: Tree) -> TreePredictor:
        """The nodes of a tree all of whose splits are thresholds.

        Parameters
        ----------
        tree : Tree
        """
        is_leaf = tree.n_children == 0
        if np.isnan(tree.threshold[~is_leaf]).any():
            raise AttributeError(
                "a tree has splits by groups of categories, which have no threshold: read trees_"
            )
        nodes = np.zeros(tree.n_nodes, dtype=NODE)
        inner = ~is_leaf
        nodes["value"] = tree.node_values[:, 0]
        nodes["count"] = tree.n_rows
        nodes["depth"] = tree.depths
        nodes["is_leaf"] = is_leaf
        nodes["feature_idx"][inner] = tree.feature[inner]
        nodes["num_threshold"][inner] = tree.threshold[inner]
        nodes["missing_go_to_left"][inner] = tree.missing_go_to_left[inner]
        nodes["left"][inner] = tree.children_left[inner]
        nodes["right"][inner] = tree.children_right[inner]
        nodes["gain"][inner] = tree.gain[inner]
        return cls(nodes)

"""What trees and ensembles of trees are made of: the tree, its columns and bins, growth, routing,
labels."""

from lyceum._core.trees.decisions import decided_shares, node_decisions, shares
from lyceum._core.trees.explain.contributions import (
    contributions,
    explain_trees,
    importance_table,
    impurity_importances,
)
from lyceum._core.trees.explain.fraction_routing import Parts, Walk, child_nodes, walk
from lyceum._core.trees.explain.labels import (
    Actions,
    TreeLabels,
    interval_text,
    number,
    set_text,
)
from lyceum._core.trees.explain.path import PathStep, TreePath, coded_row, tree_path
from lyceum._core.trees.explain.text import as_dot, as_text, node_colors
from lyceum._core.trees.growth.binned_rows import BinnedRows
from lyceum._core.trees.growth.bins import Bins, BlockCodes
from lyceum._core.trees.growth.by_levels import (
    grow_by_levels,
    grow_by_levels_with_record,
)
from lyceum._core.trees.growth.grow import (
    Growth,
    SplitCandidates,
    class_impurities,
    grow,
    grow_with_record,
)
from lyceum._core.trees.growth.node_histograms import (
    BinRanges,
    Frontier,
    NodeHistograms,
)
from lyceum._core.trees.growth.outputs import check_outputs, with_class_weights
from lyceum._core.trees.growth.settings import (
    GROWTH_CONSTRAINTS,
    class_losses,
    column_costs,
    column_directions,
    growth_rules,
    resolve_max_features,
    resolve_row_count,
)
from lyceum._core.trees.ranked_columns import Columns
from lyceum._core.trees.router import Router, cached_router, float_cells, native_tree
from lyceum._core.trees.scikit_arrays import UNDEFINED
from lyceum._core.trees.tree import (
    ARRAYS,
    CATEGORIES,
    GROUPS,
    INTERVALS,
    LEAF,
    THRESHOLD,
    Tree,
)
from lyceum._core.trees.tree_model import (
    TreeModel,
    WithTrees,
    pack_trees,
    unpack_trees,
)
from lyceum._core.trees.uniform_row_sample import UniformRowSample

__all__ = [
    "ARRAYS",
    "CATEGORIES",
    "GROUPS",
    "GROWTH_CONSTRAINTS",
    "INTERVALS",
    "LEAF",
    "THRESHOLD",
    "UNDEFINED",
    "Actions",
    "BinRanges",
    "BinnedRows",
    "Bins",
    "BlockCodes",
    "Columns",
    "Frontier",
    "Growth",
    "NodeHistograms",
    "Parts",
    "PathStep",
    "Router",
    "SplitCandidates",
    "Tree",
    "TreeLabels",
    "TreeModel",
    "TreePath",
    "UniformRowSample",
    "Walk",
    "WithTrees",
    "as_dot",
    "as_text",
    "cached_router",
    "check_outputs",
    "child_nodes",
    "class_impurities",
    "class_losses",
    "coded_row",
    "column_costs",
    "column_directions",
    "contributions",
    "decided_shares",
    "explain_trees",
    "float_cells",
    "grow",
    "grow_by_levels",
    "grow_by_levels_with_record",
    "grow_with_record",
    "growth_rules",
    "importance_table",
    "impurity_importances",
    "interval_text",
    "native_tree",
    "node_colors",
    "node_decisions",
    "number",
    "pack_trees",
    "resolve_max_features",
    "resolve_row_count",
    "set_text",
    "shares",
    "tree_path",
    "unpack_trees",
    "walk",
    "with_class_weights",
]

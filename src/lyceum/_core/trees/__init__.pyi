from lyceum._core.trees.decisions import (
    decided_shares as decided_shares,
    node_decisions as node_decisions,
    shares as shares,
)
from lyceum._core.trees.explain.contributions import (
    contributions as contributions,
    explain_trees as explain_trees,
    importance_table as importance_table,
    impurity_importances as impurity_importances,
)
from lyceum._core.trees.explain.fraction_routing import (
    Parts as Parts,
    Walk as Walk,
    child_nodes as child_nodes,
    walk as walk,
)
from lyceum._core.trees.explain.labels import (
    Actions as Actions,
    TreeLabels as TreeLabels,
    interval_text as interval_text,
    number as number,
    set_text as set_text,
)
from lyceum._core.trees.explain.path import (
    PathStep as PathStep,
    TreePath as TreePath,
    coded_row as coded_row,
    tree_path as tree_path,
)
from lyceum._core.trees.explain.text import (
    as_dot as as_dot,
    as_text as as_text,
    node_colors as node_colors,
)
from lyceum._core.trees.growth.binned_rows import BinnedRows as BinnedRows
from lyceum._core.trees.growth.bins import Bins as Bins, BlockCodes as BlockCodes
from lyceum._core.trees.growth.by_levels import (
    grow_by_levels as grow_by_levels,
    grow_by_levels_with_record as grow_by_levels_with_record,
)
from lyceum._core.trees.growth.grow import (
    Growth as Growth,
    SplitCandidates as SplitCandidates,
    class_impurities as class_impurities,
    grow as grow,
    grow_with_record as grow_with_record,
)
from lyceum._core.trees.growth.node_histograms import (
    BinRanges as BinRanges,
    Frontier as Frontier,
    NodeHistograms as NodeHistograms,
)
from lyceum._core.trees.growth.outputs import (
    check_outputs as check_outputs,
    with_class_weights as with_class_weights,
)
from lyceum._core.trees.growth.settings import (
    GROWTH_CONSTRAINTS as GROWTH_CONSTRAINTS,
    class_losses as class_losses,
    column_costs as column_costs,
    column_directions as column_directions,
    growth_rules as growth_rules,
    resolve_max_features as resolve_max_features,
    resolve_row_count as resolve_row_count,
)
from lyceum._core.trees.ranked_columns import Columns as Columns
from lyceum._core.trees.router import (
    Router as Router,
    cached_router as cached_router,
    float_cells as float_cells,
    native_tree as native_tree,
)
from lyceum._core.trees.scikit_arrays import UNDEFINED as UNDEFINED
from lyceum._core.trees.tree import (
    ARRAYS as ARRAYS,
    CATEGORIES as CATEGORIES,
    GROUPS as GROUPS,
    INTERVALS as INTERVALS,
    LEAF as LEAF,
    THRESHOLD as THRESHOLD,
    Tree as Tree,
)
from lyceum._core.trees.tree_model import (
    TreeModel as TreeModel,
    WithTrees as WithTrees,
    pack_trees as pack_trees,
    unpack_trees as unpack_trees,
)
from lyceum._core.trees.uniform_row_sample import UniformRowSample as UniformRowSample

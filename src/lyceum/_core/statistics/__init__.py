"""Mergeable summaries of rows: `of(block)` makes one, `merge(other)` joins two."""

from lyceum._core.statistics.counts.counts import Counts
from lyceum._core.statistics.counts.histogram import Histogram, JointHistogram
from lyceum._core.statistics.counts.joint_counts import JointCounts
from lyceum._core.statistics.counts.table_independence import (
    IndependenceTest,
    entropy,
    independence_test,
    p_log2_p,
)
from lyceum._core.statistics.folds.cv_folds import (
    Folds,
    SplitStatistics,
    folds_of,
    given_folds,
    given_splits,
    row_splits,
)
from lyceum._core.statistics.folds.hashed_folds import (
    FoldStatistics,
    fold_numbers,
    held_out_rows,
    row_uniforms,
)
from lyceum._core.statistics.losses import (
    LogisticLoss,
    SoftmaxCurvature,
    SoftmaxLoss,
    log_losses,
)
from lyceum._core.statistics.moments.class_moments import ClassMoments, ClassScatter
from lyceum._core.statistics.moments.class_sums import ClassSums, indicators
from lyceum._core.statistics.moments.classes import (
    align_labels,
    class_weights,
    classes_of,
    place_classes,
)
from lyceum._core.statistics.moments.moments import Moments, Scatter
from lyceum._core.statistics.moments.row_scatter import (
    ClassRowScatter,
    RowScatter,
    RowSpace,
    is_wide,
)
from lyceum._core.statistics.positive_factor import UNEXPLAINED, PositiveFactor
from lyceum._core.statistics.quantiles import Quantiles, midpoints, quantile_cuts
from lyceum._core.statistics.sample import RowSample
from lyceum._core.statistics.sample_statistics import (
    SampleStatistics,
    describe,
    weighted_mean,
    weighted_median,
    weighted_quantile,
)
from lyceum._core.statistics.seed import drawn_seed, seed_from
from lyceum._core.statistics.sparse import SparseCells

__all__ = [
    "UNEXPLAINED",
    "ClassMoments",
    "ClassRowScatter",
    "ClassScatter",
    "ClassSums",
    "Counts",
    "FoldStatistics",
    "Folds",
    "Histogram",
    "IndependenceTest",
    "JointCounts",
    "JointHistogram",
    "LogisticLoss",
    "Moments",
    "PositiveFactor",
    "Quantiles",
    "RowSample",
    "RowScatter",
    "RowSpace",
    "SampleStatistics",
    "Scatter",
    "SoftmaxCurvature",
    "SoftmaxLoss",
    "SparseCells",
    "SplitStatistics",
    "align_labels",
    "class_weights",
    "classes_of",
    "describe",
    "drawn_seed",
    "entropy",
    "fold_numbers",
    "folds_of",
    "given_folds",
    "given_splits",
    "held_out_rows",
    "independence_test",
    "indicators",
    "is_wide",
    "log_losses",
    "midpoints",
    "p_log2_p",
    "place_classes",
    "quantile_cuts",
    "row_splits",
    "row_uniforms",
    "seed_from",
    "weighted_mean",
    "weighted_median",
    "weighted_quantile",
]

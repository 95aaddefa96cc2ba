"""Mergeable summaries of rows: `of(block)` makes one, `merge(other)` joins two."""

from lyceum.statistics._class_moments import ClassMoments, ClassScatter
from lyceum.statistics._class_sums import ClassSums, indicators
from lyceum.statistics._classes import align_labels, class_weights, classes_of, place_classes
from lyceum.statistics._counts import Counts
from lyceum.statistics._cv_folds import Folds, SplitStatistics, folds_of, given_splits
from lyceum.statistics._describe import (
    SampleStatistics,
    describe,
    weighted_mean,
    weighted_median,
    weighted_quantile,
)
from lyceum.statistics._entropy import entropy, p_log2_p
from lyceum.statistics._folds import FoldStatistics, fold_numbers, held_out_rows, row_uniforms
from lyceum.statistics._histogram import Histogram, JointHistogram
from lyceum.statistics._joint_counts import JointCounts
from lyceum.statistics._losses import LogisticLoss, SoftmaxCurvature, SoftmaxLoss
from lyceum.statistics._midpoints import midpoints
from lyceum.statistics._moments import Moments, Scatter
from lyceum.statistics._positive_factor import UNEXPLAINED, PositiveFactor
from lyceum.statistics._quantiles import Quantiles
from lyceum.statistics._row_scatter import ClassRowScatter, RowScatter, RowSpace, is_wide
from lyceum.statistics._sample import RowSample
from lyceum.statistics._seed import seed_from
from lyceum.statistics._sparse import SparseCells
from lyceum.statistics._table_independence import IndependenceTest, independence_test

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
    "entropy",
    "fold_numbers",
    "folds_of",
    "given_splits",
    "held_out_rows",
    "independence_test",
    "indicators",
    "is_wide",
    "midpoints",
    "p_log2_p",
    "place_classes",
    "row_uniforms",
    "seed_from",
    "weighted_mean",
    "weighted_median",
    "weighted_quantile",
]

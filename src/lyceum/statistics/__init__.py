"""Mergeable summaries of rows: `of(block)` makes one, `merge(other)` joins two."""

from lyceum.statistics._class_moments import ClassMoments, ClassScatter
from lyceum.statistics._class_sums import ClassSums
from lyceum.statistics._counts import Counts
from lyceum.statistics._describe import SampleStatistics, describe
from lyceum.statistics._histogram import Histogram, JointHistogram
from lyceum.statistics._lloyd import FarthestRows, LloydSums
from lyceum.statistics._losses import LogisticLoss, SoftmaxLoss
from lyceum.statistics._moments import Moments, Scatter
from lyceum.statistics._node_histograms import BinRanges, Frontier, NodeHistograms
from lyceum.statistics._quantiles import Quantiles
from lyceum.statistics._sample import RowSample

__all__ = [
    "BinRanges",
    "ClassMoments",
    "ClassScatter",
    "ClassSums",
    "Counts",
    "FarthestRows",
    "Frontier",
    "Histogram",
    "JointHistogram",
    "LloydSums",
    "LogisticLoss",
    "Moments",
    "NodeHistograms",
    "Quantiles",
    "RowSample",
    "SampleStatistics",
    "Scatter",
    "SoftmaxLoss",
    "describe",
]

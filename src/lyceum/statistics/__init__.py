"""Mergeable summaries of rows: `of(block)` makes one, `merge(other)` joins two."""

from lyceum.statistics._class_moments import ClassMoments, ClassScatter
from lyceum.statistics._moments import Moments, Scatter

__all__ = ["ClassMoments", "ClassScatter", "Moments", "Scatter"]

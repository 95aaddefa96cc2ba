"""The main job: from a table and a question to compared, explained and saved models.

A study goes from recipe to plan, tasks, store, comparison, report and model. The function `study` is also
`lyceum.study`. What runs a study is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use
from lyceum.studies._baseline import MeanRegressor, PriorClassifier

if TYPE_CHECKING:
    from lyceum.studies._candidate import Candidate, Failure, Suspect
    from lyceum.studies._comparison import Comparison, HoldoutResult, RankedLearner
    from lyceum.studies._example import Example
    from lyceum.studies._format import aligned_interval, aligned_loss, p_cell
    from lyceum.studies._model_effects import ColumnEffect, ColumnImportance, ModelEffects, PairEffect
    from lyceum.studies._out_of_sample import OutOfSample
    from lyceum.studies._recipe import LearnerChoice, Recipe
    from lyceum.studies._report import write_report
    from lyceum.studies._report_parts import IntervalScale
    from lyceum.studies._study import study
    from lyceum.studies._study_result import Study
    from lyceum.studies._table_clusters import TableClusters, cluster_table

__all__ = [
    "Candidate",
    "ColumnEffect",
    "ColumnImportance",
    "Comparison",
    "Example",
    "Failure",
    "HoldoutResult",
    "IntervalScale",
    "LearnerChoice",
    "MeanRegressor",
    "ModelEffects",
    "OutOfSample",
    "PairEffect",
    "PriorClassifier",
    "RankedLearner",
    "Recipe",
    "Study",
    "Suspect",
    "TableClusters",
    "aligned_interval",
    "aligned_loss",
    "cluster_table",
    "p_cell",
    "study",
    "write_report",
]

_MODULES = {
    "_table_clusters": ("TableClusters", "cluster_table"),
    "_candidate": ("Candidate", "Failure", "Suspect"),
    "_comparison": ("Comparison", "HoldoutResult", "RankedLearner"),
    "_model_effects": ("ColumnEffect", "ColumnImportance", "ModelEffects", "PairEffect"),
    "_example": ("Example",),
    "_format": ("aligned_interval", "aligned_loss", "p_cell"),
    "_out_of_sample": ("OutOfSample",),
    "_recipe": ("LearnerChoice", "Recipe"),
    "_report": ("write_report",),
    "_report_parts": ("IntervalScale",),
    "_study": ("study",),
    "_study_result": ("Study",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__)

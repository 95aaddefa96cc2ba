"""The main job: a table and a question to compared, explained and saved models.

A study goes from recipe to plan, run, store, comparison, report and model. The function `study` is also
`lyceum.study`. What runs a study is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lyceum.studies._baseline import MeanRegressor, PriorClassifier

if TYPE_CHECKING:
    from lyceum.studies._recipe import Choice, Recipe
    from lyceum.studies._results import (
        Candidate,
        Comparison,
        Example,
        Failure,
        Holdout,
        OutOfSample,
        Standing,
        Study,
        Suspect,
    )
    from lyceum.studies._study import study

__all__ = [
    "Candidate",
    "Choice",
    "Comparison",
    "Example",
    "Failure",
    "Holdout",
    "MeanRegressor",
    "OutOfSample",
    "PriorClassifier",
    "Recipe",
    "Standing",
    "Study",
    "Suspect",
    "study",
]

_HOMES = {"Choice": "_recipe", "Recipe": "_recipe", "study": "_study"}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module(f"lyceum.studies.{_HOMES.get(name, '_results')}"), name)
    raise AttributeError(f"module 'lyceum.studies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

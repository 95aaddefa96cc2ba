"""The main job: a table and a question to compared, explained and saved models.

A study goes from recipe to plan, run, store, comparison, report and model.
"""

from lyceum.study._results import (
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

__all__ = [
    "Candidate",
    "Comparison",
    "Example",
    "Failure",
    "Holdout",
    "OutOfSample",
    "Standing",
    "Study",
    "Suspect",
]

"""Decisions under a loss."""

from lyceum.catalog.entry import Item

ITEMS = (
    Item("LossMatrix", package="lyceum.decision", syllabus=("2.2",)),
    Item("minimum_risk", package="lyceum.decision", syllabus=("2.2", "2.3")),
    Item("MinimumRiskClassifier", package="lyceum.decision", syllabus=("2.2", "2.3")),
    Item("error_reject_curve", package="lyceum.decision", syllabus=("2.3",)),
    Item("BayesOptimalClassifier", package="lyceum.decision", syllabus=("2.4",)),
    Item("bayes_error", package="lyceum.decision", syllabus=("2.4",)),
    Item("best_threshold", package="lyceum.decision", syllabus=("2.6",)),
)

"""Decisions under a loss."""

from lyceum.catalog.entry import Item

ITEMS = (
    Item("LossMatrix", ("2.2",)),
    Item("minimum_risk", ("2.2", "2.3")),
    Item("MinimumRiskClassifier", ("2.2", "2.3")),
    Item("error_reject_curve", ("2.3",)),
    Item("BayesOptimalClassifier", ("2.4",)),
    Item("bayes_error", ("2.4",)),
    Item("best_threshold", ("2.6",)),
)

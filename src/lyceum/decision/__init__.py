"""Decisions: loss matrices, minimum risk, doubt, thresholds, probability tables and hypotheses."""

from lyceum.decision._classifier import MinimumRiskClassifier
from lyceum.decision._hypotheses import BayesOptimalClassifier, hypothesis_posterior
from lyceum.decision._loss import LossMatrix
from lyceum.decision._reject import ErrorRejectCurve, error_reject_curve
from lyceum.decision._risk import Decisions, bayes_error, expected_risk, minimum_risk
from lyceum.decision._tables import BayesUpdate, ProbabilityTable, bayes_theorem
from lyceum.decision._threshold import Threshold, best_threshold, theoretical_threshold, threshold_costs

__all__ = [
    "BayesOptimalClassifier",
    "BayesUpdate",
    "Decisions",
    "ErrorRejectCurve",
    "LossMatrix",
    "MinimumRiskClassifier",
    "ProbabilityTable",
    "Threshold",
    "bayes_error",
    "bayes_theorem",
    "best_threshold",
    "error_reject_curve",
    "expected_risk",
    "hypothesis_posterior",
    "minimum_risk",
    "theoretical_threshold",
    "threshold_costs",
]

"""Decisions: loss matrices, minimum risk, doubt, thresholds and hypotheses."""

from lyceum.decision._calibrated_classifier import CalibratedClassifier
from lyceum.decision._hypotheses import BayesOptimalClassifier, hypothesis_posterior
from lyceum.decision._minimum_risk_classifier import MinimumRiskClassifier
from lyceum.decision._posterior_map import CALIBRATIONS, PosteriorMap
from lyceum.decision._reject import ErrorRejectCurve, error_reject_curve
from lyceum.decision._risk import Decisions, bayes_error, expected_risk, minimum_risk
from lyceum.decision._threshold import Threshold, best_threshold, theoretical_threshold, threshold_costs
from lyceum.probability import LossMatrix

__all__ = [
    "CALIBRATIONS",
    "BayesOptimalClassifier",
    "CalibratedClassifier",
    "Decisions",
    "ErrorRejectCurve",
    "LossMatrix",
    "MinimumRiskClassifier",
    "PosteriorMap",
    "Threshold",
    "bayes_error",
    "best_threshold",
    "error_reject_curve",
    "expected_risk",
    "hypothesis_posterior",
    "minimum_risk",
    "theoretical_threshold",
    "threshold_costs",
]

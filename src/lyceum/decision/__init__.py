"""Decisions: loss matrices, minimum risk, doubt, thresholds and hypotheses.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use
from lyceum.probability import LossMatrix

if TYPE_CHECKING:
    from lyceum.decision._calibrated_classifier import CalibratedClassifier
    from lyceum.decision._hypotheses import BayesOptimalClassifier, hypothesis_posterior
    from lyceum.decision._minimum_risk_classifier import MinimumRiskClassifier
    from lyceum.decision._posterior_map import CALIBRATIONS, PosteriorMap
    from lyceum.decision._reject import ErrorRejectCurve, error_reject_curve
    from lyceum.decision._risk import Decisions, bayes_error, expected_risk, minimum_risk
    from lyceum.decision._threshold import Threshold, best_threshold, theoretical_threshold, threshold_costs

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

_MODULES = {
    "_calibrated_classifier": ("CalibratedClassifier",),
    "_hypotheses": ("BayesOptimalClassifier", "hypothesis_posterior"),
    "_minimum_risk_classifier": ("MinimumRiskClassifier",),
    "_posterior_map": ("CALIBRATIONS", "PosteriorMap"),
    "_reject": ("ErrorRejectCurve", "error_reject_curve"),
    "_risk": ("Decisions", "bayes_error", "expected_risk", "minimum_risk"),
    "_threshold": ("Threshold", "best_threshold", "theoretical_threshold", "threshold_costs"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")

from lyceum._core.probability import LossMatrix as LossMatrix
from lyceum.decision.calibrated_classifier import (
    CalibratedClassifierCV as CalibratedClassifierCV,
)
from lyceum.decision.hypotheses import (
    BayesOptimalClassifier as BayesOptimalClassifier,
    hypothesis_posterior as hypothesis_posterior,
)
from lyceum.decision.minimum_risk_classifier import (
    MinimumRiskClassifier as MinimumRiskClassifier,
)
from lyceum.decision.posterior_map import PosteriorMap as PosteriorMap
from lyceum.decision.reject import (
    ErrorRejectCurve as ErrorRejectCurve,
    error_reject_curve as error_reject_curve,
)
from lyceum.decision.risk import (
    Decisions as Decisions,
    bayes_error as bayes_error,
    expected_risk as expected_risk,
    minimum_risk as minimum_risk,
)
from lyceum.decision.threshold import (
    Threshold as Threshold,
    best_threshold as best_threshold,
    theoretical_threshold as theoretical_threshold,
    threshold_costs as threshold_costs,
)
from lyceum.decision.typed_losses import (
    complete_loss as complete_loss,
    read_loss as read_loss,
)

"""Pictures: one function each, Matplotlib axes in and out, in colours safe for colour-blind eyes."""

from lyceum.plot._calibration import calibration
from lyceum.plot._confusion import cobweb, confusion
from lyceum.plot._curves import error_reject, learning_curve, validation_curve
from lyceum.plot._neural import network, training_curves
from lyceum.plot._rates import cost_curve, precision_recall, roc
from lyceum.plot._style import COLOURS

__all__ = [
    "COLOURS",
    "calibration",
    "cobweb",
    "confusion",
    "cost_curve",
    "error_reject",
    "learning_curve",
    "network",
    "precision_recall",
    "roc",
    "training_curves",
    "validation_curve",
]

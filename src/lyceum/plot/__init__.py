"""Pictures: one function each, Matplotlib axes in and out, in colours safe for colour-blind eyes."""

from lyceum.plot._calibration import calibration
from lyceum.plot._confusion import cobweb, confusion
from lyceum.plot._curves import error_reject, learning_curve, validation_curve
from lyceum.plot._density import (
    class_densities,
    density,
    posterior_updating,
    sensor_fusion,
    sensor_fusion_cases,
)
from lyceum.plot._linear import laplace_contours, posterior_contours, regularization_path, residuals
from lyceum.plot._neural import network, training_curves
from lyceum.plot._rates import cost_curve, precision_recall, roc
from lyceum.plot._style import COLOURS
from lyceum.plot._trees import importances, staged, tree

__all__ = [
    "COLOURS",
    "calibration",
    "class_densities",
    "cobweb",
    "confusion",
    "cost_curve",
    "density",
    "error_reject",
    "importances",
    "laplace_contours",
    "learning_curve",
    "network",
    "posterior_contours",
    "posterior_updating",
    "precision_recall",
    "regularization_path",
    "residuals",
    "roc",
    "sensor_fusion",
    "sensor_fusion_cases",
    "staged",
    "training_curves",
    "tree",
    "validation_curve",
]

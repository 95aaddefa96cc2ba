"""Pictures: one function each, Matplotlib axes in and out, in colours safe for colour-blind eyes.

Pictures of evidence take the results of `lyceum.evaluate` as they are, and arrays too.
What a picture needs is imported when it is first drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lyceum._first_use import import_on_first_use
from lyceum._packages import check_installed
from lyceum.plot import style
from lyceum.plot.style import COLOURS

if TYPE_CHECKING:
    from lyceum.plot._bayes_net import bayes_net, junction_tree, moral_graph
    from lyceum.plot._calibration import calibration
    from lyceum.plot._class_rates import class_rates
    from lyceum.plot._clusters import dendrogram, elbow, kmeans_steps, silhouette
    from lyceum.plot._comparisons import bias_variance, comparison, cross_validation
    from lyceum.plot._confusion import cobweb, confusion
    from lyceum.plot._constrained import constrained_optima
    from lyceum.plot._cost_complexity import cost_complexity
    from lyceum.plot._density import (
        class_densities,
        density,
        posterior_updating,
        sensor_fusion,
        sensor_fusion_cases,
    )
    from lyceum.plot._density_errors import density_errors
    from lyceum.plot._error_reject import error_reject
    from lyceum.plot._importances import importances
    from lyceum.plot._kernels import feature_lift, hinge_and_logistic, margin, setting_grid, support_faces
    from lyceum.plot._learning_curves import learning_curve, validation_curve
    from lyceum.plot._linear import (
        laplace_contours,
        margin_losses,
        posterior_contours,
        regularization_path,
        residuals,
    )
    from lyceum.plot._mixtures import em_steps, mixture
    from lyceum.plot._neighbors import local_fit, neighbor_regions, radial_units, voronoi
    from lyceum.plot._neural import network, training_curves
    from lyceum.plot._paradigms import label_curves, policy, stages
    from lyceum.plot._reductions import biplot, pca_beside_fisher, scree
    from lyceum.plot._staged_errors import staged_errors
    from lyceum.plot._threshold_curves import cost_curve, precision_recall, roc
    from lyceum.plot._tree_drawing import tree

__all__ = [
    "COLOURS",
    "bayes_net",
    "bias_variance",
    "biplot",
    "calibration",
    "class_densities",
    "class_rates",
    "cobweb",
    "comparison",
    "confusion",
    "constrained_optima",
    "cost_complexity",
    "cost_curve",
    "cross_validation",
    "dendrogram",
    "density",
    "density_errors",
    "elbow",
    "em_steps",
    "error_reject",
    "feature_lift",
    "hinge_and_logistic",
    "importances",
    "junction_tree",
    "kmeans_steps",
    "label_curves",
    "laplace_contours",
    "learning_curve",
    "local_fit",
    "margin",
    "margin_losses",
    "mixture",
    "moral_graph",
    "neighbor_regions",
    "network",
    "pca_beside_fisher",
    "policy",
    "posterior_contours",
    "posterior_updating",
    "precision_recall",
    "radial_units",
    "regularization_path",
    "residuals",
    "roc",
    "scree",
    "sensor_fusion",
    "sensor_fusion_cases",
    "setting_grid",
    "silhouette",
    "staged_errors",
    "stages",
    "style",
    "support_faces",
    "training_curves",
    "tree",
    "validation_curve",
    "voronoi",
]

_MODULES = {
    "_bayes_net": ("bayes_net", "junction_tree", "moral_graph"),
    "_calibration": ("calibration",),
    "_class_rates": ("class_rates",),
    "_clusters": ("dendrogram", "elbow", "kmeans_steps", "silhouette"),
    "_comparisons": ("bias_variance", "comparison", "cross_validation"),
    "_confusion": ("cobweb", "confusion"),
    "_constrained": ("constrained_optima",),
    "_cost_complexity": ("cost_complexity",),
    "_density": ("class_densities", "density", "posterior_updating", "sensor_fusion", "sensor_fusion_cases"),
    "_density_errors": ("density_errors",),
    "_error_reject": ("error_reject",),
    "_importances": ("importances",),
    "_kernels": ("feature_lift", "hinge_and_logistic", "margin", "setting_grid", "support_faces"),
    "_learning_curves": ("learning_curve", "validation_curve"),
    "_linear": (
        "laplace_contours",
        "margin_losses",
        "posterior_contours",
        "regularization_path",
        "residuals",
    ),
    "_mixtures": ("em_steps", "mixture"),
    "_neighbors": ("local_fit", "neighbor_regions", "radial_units", "voronoi"),
    "_neural": ("network", "training_curves"),
    "_paradigms": ("label_curves", "policy", "stages"),
    "_reductions": ("biplot", "pca_beside_fisher", "scree"),
    "_staged_errors": ("staged_errors",),
    "_threshold_curves": ("cost_curve", "precision_recall", "roc"),
    "_tree_drawing": ("tree",),
}

_find, __dir__ = import_on_first_use(__name__, _MODULES, __all__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        check_installed(f"lyceum.plot.{name}", "matplotlib")
    return _find(name)

"""Linear models: least squares, ridge, lasso and elastic net, logistic regression, margins.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.linear._basis_expansion import BasisExpansion
    from lyceum.linear._elastic_net import ElasticNet
    from lyceum.linear._elastic_net_cv import ElasticNetCV, LassoCV
    from lyceum.linear._lasso import Lasso
    from lyceum.linear._linear_regression import LinearRegression
    from lyceum.linear._logistic_regression import LogisticRegression
    from lyceum.linear._margin_classifier import MarginClassifier
    from lyceum.linear._margin_losses import margin_loss
    from lyceum.linear._perceptron import Perceptron
    from lyceum.linear._regularization_path import RegularizationPath, elastic_net_path, lasso_path
    from lyceum.linear._residual_checks import ResidualChecks
    from lyceum.linear._ridge import Ridge
    from lyceum.linear._ridge_cv import RidgeCV
    from lyceum.linear._separable_bound import log_bound, sigmoid_bound
    from lyceum.linear._simple_regression import SimpleRegression, simple_regression

__all__ = [
    "BasisExpansion",
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LogisticRegression",
    "MarginClassifier",
    "Perceptron",
    "RegularizationPath",
    "ResidualChecks",
    "Ridge",
    "RidgeCV",
    "SimpleRegression",
    "elastic_net_path",
    "lasso_path",
    "log_bound",
    "margin_loss",
    "sigmoid_bound",
    "simple_regression",
]

_MODULES = {
    "_basis_expansion": ("BasisExpansion",),
    "_elastic_net": ("ElasticNet",),
    "_elastic_net_cv": ("ElasticNetCV", "LassoCV"),
    "_lasso": ("Lasso",),
    "_linear_regression": ("LinearRegression",),
    "_logistic_regression": ("LogisticRegression",),
    "_margin_classifier": ("MarginClassifier",),
    "_margin_losses": ("margin_loss",),
    "_perceptron": ("Perceptron",),
    "_regularization_path": ("RegularizationPath", "elastic_net_path", "lasso_path"),
    "_residual_checks": ("ResidualChecks",),
    "_ridge": ("Ridge",),
    "_ridge_cv": ("RidgeCV",),
    "_separable_bound": ("log_bound", "sigmoid_bound"),
    "_simple_regression": ("SimpleRegression", "simple_regression"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")

"""Linear models: least squares, ridge, lasso and elastic net, logistic regression, margins."""

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

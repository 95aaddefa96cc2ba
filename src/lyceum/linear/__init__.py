"""Linear models: least squares, ridge, logistic regression."""

from lyceum.linear._linear_regression import LinearRegression
from lyceum.linear._logistic_regression import LogisticRegression
from lyceum.linear._ridge import Ridge

__all__ = ["LinearRegression", "LogisticRegression", "Ridge"]

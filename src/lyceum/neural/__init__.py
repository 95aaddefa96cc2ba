"""Neural networks: feed-forward layers trained by backpropagation."""

from lyceum.neural._mlp_classifier import MLPClassifier
from lyceum.neural._mlp_regressor import MLPRegressor

__all__ = ["MLPClassifier", "MLPRegressor"]

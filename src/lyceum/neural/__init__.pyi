from lyceum.neural.mlp_classifier import MLPClassifier as MLPClassifier
from lyceum.neural.mlp_regressor import MLPRegressor as MLPRegressor

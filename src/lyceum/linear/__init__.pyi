from lyceum.linear.basis_expansion import BasisExpansion as BasisExpansion
from lyceum.linear.least_squares.linear_regression import (
    LinearRegression as LinearRegression,
)
from lyceum.linear.least_squares.residual_checks import ResidualChecks as ResidualChecks
from lyceum.linear.least_squares.simple_regression import (
    SimpleRegression as SimpleRegression,
    simple_regression as simple_regression,
)
from lyceum.linear.logistic.bounds import (
    log_bound as log_bound,
    sigmoid_bound as sigmoid_bound,
)
from lyceum.linear.logistic.logistic_regression import (
    LogisticRegression as LogisticRegression,
)
from lyceum.linear.margin.losses import margin_loss as margin_loss
from lyceum.linear.margin.margin_classifier import MarginClassifier as MarginClassifier
from lyceum.linear.penalized.elastic_net import ElasticNet as ElasticNet, Lasso as Lasso
from lyceum.linear.penalized.elastic_net_cv import (
    ElasticNetCV as ElasticNetCV,
    LassoCV as LassoCV,
)
from lyceum.linear.penalized.regularization_path import (
    RegularizationPath as RegularizationPath,
    elastic_net_path as elastic_net_path,
    lasso_path as lasso_path,
)
from lyceum.linear.penalized.ridge import Ridge as Ridge
from lyceum.linear.penalized.ridge_cv import RidgeCV as RidgeCV
from lyceum.linear.penalized.ridge_path import (
    RidgePath as RidgePath,
    ridge_path as ridge_path,
)
from lyceum.linear.perceptron import Perceptron as Perceptron

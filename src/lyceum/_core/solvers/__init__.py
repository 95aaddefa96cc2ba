"""Solvers that several learners share."""

from lyceum._core.solvers.column_elastic_net import (
    ColumnElasticNet,
    DenseColumns,
    SparseColumns,
)
from lyceum._core.solvers.constrained import constrained_optima
from lyceum._core.solvers.em import (
    EMOutcome,
    EMProblem,
    Expectation,
    ExpectationMaximization,
)
from lyceum._core.solvers.first_order import ConjugateGradient, GradientDescent
from lyceum._core.solvers.gram_elastic_net import (
    ElasticNetProblem,
    GramElasticNet,
    RoundObserver,
    Solution,
    newton_on_support,
)
from lyceum._core.solvers.kkt_system import ConstrainedProblem
from lyceum._core.solvers.lagrange import ConstrainedOptima, StationaryPoint
from lyceum._core.solvers.lbfgs import LBFGS
from lyceum._core.solvers.least_norm import RankedSquares, ranked_squares
from lyceum._core.solvers.newton import LevenbergMarquardt, Newton
from lyceum._core.solvers.patience import Patience
from lyceum._core.solvers.problem import (
    Observer,
    Outcome,
    Point,
    Problem,
    Solver,
    descent_loop,
    gradient_test,
)
from lyceum._core.solvers.softmax_regression import fit_softmax, softmax

__all__ = [
    "LBFGS",
    "ColumnElasticNet",
    "ConjugateGradient",
    "ConstrainedOptima",
    "ConstrainedProblem",
    "DenseColumns",
    "EMOutcome",
    "EMProblem",
    "ElasticNetProblem",
    "Expectation",
    "ExpectationMaximization",
    "GradientDescent",
    "GramElasticNet",
    "LevenbergMarquardt",
    "Newton",
    "Observer",
    "Outcome",
    "Patience",
    "Point",
    "Problem",
    "RankedSquares",
    "RoundObserver",
    "Solution",
    "Solver",
    "SparseColumns",
    "StationaryPoint",
    "constrained_optima",
    "descent_loop",
    "fit_softmax",
    "gradient_test",
    "newton_on_support",
    "ranked_squares",
    "softmax",
]

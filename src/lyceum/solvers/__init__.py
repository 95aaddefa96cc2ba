"""Solvers that several learners share."""

from lyceum.solvers._column_elastic_net import ColumnElasticNet, DenseColumns, SparseColumns
from lyceum.solvers._constrained import constrained_optima
from lyceum.solvers._constrained_optima import ConstrainedOptima, StationaryPoint
from lyceum.solvers._descent_loop import descent_loop
from lyceum.solvers._em import EMOutcome, EMProblem, Expectation, ExpectationMaximization
from lyceum.solvers._first_order import ConjugateGradient, GradientDescent
from lyceum.solvers._gram_elastic_net import (
    ElasticNetProblem,
    GramElasticNet,
    RoundObserver,
    Solution,
    newton_on_support,
)
from lyceum.solvers._kkt_system import ConstrainedProblem
from lyceum.solvers._lbfgs import LBFGS
from lyceum.solvers._levenberg_marquardt import LevenbergMarquardt
from lyceum.solvers._newton import Newton
from lyceum.solvers._problem import Observer, Outcome, Point, Problem, Solver
from lyceum.solvers._ranked_squares import RankedSquares, ranked_squares
from lyceum.solvers._softmax import fit_softmax, softmax

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
    "newton_on_support",
    "ranked_squares",
    "softmax",
]

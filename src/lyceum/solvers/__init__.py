"""Solvers that several learners share."""

from lyceum.solvers._columns import ColumnElasticNet, DenseColumns, SparseColumns
from lyceum.solvers._elastic_net import ElasticNetProblem, GramElasticNet, Solution
from lyceum.solvers._gradient import ConjugateGradient, GradientDescent
from lyceum.solvers._lbfgs import LBFGS
from lyceum.solvers._newton import Newton
from lyceum.solvers._positive import PositiveFactor
from lyceum.solvers._problem import Outcome, Point, Problem, Solver

__all__ = [
    "LBFGS",
    "ColumnElasticNet",
    "ConjugateGradient",
    "DenseColumns",
    "ElasticNetProblem",
    "GradientDescent",
    "GramElasticNet",
    "Newton",
    "Outcome",
    "Point",
    "PositiveFactor",
    "Problem",
    "Solution",
    "Solver",
    "SparseColumns",
]

"""Solvers that several learners share."""

from lyceum.solvers._lbfgs import LBFGS
from lyceum.solvers._newton import Newton
from lyceum.solvers._positive import PositiveFactor
from lyceum.solvers._problem import Outcome, Point, Problem, Solver

__all__ = ["LBFGS", "Newton", "Outcome", "Point", "PositiveFactor", "Problem", "Solver"]

"""Bayesian networks: graphs with tables, inference, learning, independence."""

from lyceum.networks._bif import read_bif, write_bif
from lyceum.networks._junction_tree import JunctionTree
from lyceum.networks._net import BayesNet
from lyceum.networks._nodes import GaussianNode, TableNode
from lyceum.networks._posterior import GaussianPosterior, MostProbable, Posterior

__all__ = [
    "BayesNet",
    "GaussianNode",
    "GaussianPosterior",
    "JunctionTree",
    "MostProbable",
    "Posterior",
    "TableNode",
    "read_bif",
    "write_bif",
]

"""Bayesian networks: graphs with tables, inference, learning, independence."""

from lyceum.networks._bif import read_bif, write_bif
from lyceum.networks._em import EMFit, expectation_maximization
from lyceum.networks._junction_tree import JunctionTree
from lyceum.networks._net import BayesNet
from lyceum.networks._nodes import GaussianNode, TableNode
from lyceum.networks._parameters import learn_parameters
from lyceum.networks._pc import independence_test
from lyceum.networks._pdag import structural_distance
from lyceum.networks._posterior import GaussianPosterior, MostProbable, Posterior
from lyceum.networks._structure import LearnedStructure, learn_structure

__all__ = [
    "BayesNet",
    "EMFit",
    "GaussianNode",
    "GaussianPosterior",
    "JunctionTree",
    "LearnedStructure",
    "MostProbable",
    "Posterior",
    "TableNode",
    "expectation_maximization",
    "independence_test",
    "learn_parameters",
    "learn_structure",
    "read_bif",
    "structural_distance",
    "write_bif",
]

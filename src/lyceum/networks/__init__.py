"""Bayesian networks: graphs with tables, inference, learning, independence.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use
from lyceum.statistics import independence_test

if TYPE_CHECKING:
    from lyceum.networks._bif import read_bif, write_bif
    from lyceum.networks._d_separation import DSeparation, d_separated, local_markov
    from lyceum.networks._directed_graph import moral_graph, topological_order
    from lyceum.networks._explain_query import QueryWorking, explain_query
    from lyceum.networks._junction_tree import JunctionTree
    from lyceum.networks._net import BayesNet
    from lyceum.networks._network_classifier import BayesNetClassifier
    from lyceum.networks._nodes import GaussianNode, TableNode
    from lyceum.networks._parameter_em import EMFit, expectation_maximization
    from lyceum.networks._parameters import learn_parameters
    from lyceum.networks._pdag import structural_distance
    from lyceum.networks._posterior import GaussianPosterior, MostProbable, Posterior
    from lyceum.networks._structure import LearnedStructure, learn_structure

__all__ = [
    "BayesNet",
    "BayesNetClassifier",
    "DSeparation",
    "EMFit",
    "GaussianNode",
    "GaussianPosterior",
    "JunctionTree",
    "LearnedStructure",
    "MostProbable",
    "Posterior",
    "QueryWorking",
    "TableNode",
    "d_separated",
    "expectation_maximization",
    "explain_query",
    "independence_test",
    "learn_parameters",
    "learn_structure",
    "local_markov",
    "moral_graph",
    "read_bif",
    "structural_distance",
    "topological_order",
    "write_bif",
]

_MODULES = {
    "_bif": ("read_bif", "write_bif"),
    "_d_separation": ("DSeparation", "d_separated", "local_markov"),
    "_directed_graph": ("moral_graph", "topological_order"),
    "_explain_query": ("QueryWorking", "explain_query"),
    "_junction_tree": ("JunctionTree",),
    "_net": ("BayesNet",),
    "_network_classifier": ("BayesNetClassifier",),
    "_nodes": ("GaussianNode", "TableNode"),
    "_parameter_em": ("EMFit", "expectation_maximization"),
    "_parameters": ("learn_parameters",),
    "_pdag": ("structural_distance",),
    "_posterior": ("GaussianPosterior", "MostProbable", "Posterior"),
    "_structure": ("LearnedStructure", "learn_structure"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")

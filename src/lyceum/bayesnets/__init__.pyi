from lyceum.bayesnets.bif import read_bif as read_bif, write_bif as write_bif
from lyceum.bayesnets.classifier import BayesNetClassifier as BayesNetClassifier
from lyceum.bayesnets.d_separation import (
    DSeparation as DSeparation,
    d_separated as d_separated,
    local_markov as local_markov,
)
from lyceum.bayesnets.directed_graph import (
    moral_graph as moral_graph,
    topological_order as topological_order,
)
from lyceum.bayesnets.inference.explain_query import explain_query as explain_query
from lyceum.bayesnets.inference.junction_tree import JunctionTree as JunctionTree
from lyceum.bayesnets.inference.posterior import (
    GaussianPosterior as GaussianPosterior,
    MostProbable as MostProbable,
    Posterior as Posterior,
)
from lyceum.bayesnets.inference.query_working import QueryWorking as QueryWorking
from lyceum.bayesnets.net import BayesNet as BayesNet
from lyceum.bayesnets.nodes import GaussianNode as GaussianNode, TableNode as TableNode
from lyceum.bayesnets.parameters.em import (
    EMFit as EMFit,
    expectation_maximization as expectation_maximization,
)
from lyceum.bayesnets.parameters.fit import learn_parameters as learn_parameters
from lyceum.bayesnets.structure.cpdag import CPDAG as CPDAG, cpdag as cpdag
from lyceum.bayesnets.structure.learn import (
    LearnedStructure as LearnedStructure,
    learn_structure as learn_structure,
)
from lyceum.bayesnets.structure.pdag import structural_distance as structural_distance
from lyceum.bayesnets.structure.score import structure_score as structure_score

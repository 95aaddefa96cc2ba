"""BayesNet: a directed acyclic graph with a distribution of every node given its parents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from lyceum._core.lazy_arrow import pa
from lyceum._core.probability import Factor, find_labels, label_key
from lyceum._core.report import Shown
from lyceum._core.types import Data
from lyceum.bayesnets import directed_graph as graph
from lyceum.bayesnets.inference.evidence import read_evidence
from lyceum.bayesnets.inference.junction_tree import MAX_CELLS, JunctionTree
from lyceum.bayesnets.inference.posterior import (
    GaussianPosterior,
    MostProbable,
    Posterior,
)
from lyceum.bayesnets.inference.query import answer
from lyceum.bayesnets.inference.sampling import draw_rows
from lyceum.bayesnets.nodes import GaussianNode, Node, TableNode
from lyceum.bayesnets.row_codes import row_marginals
from lyceum.bayesnets.text import describe, factorization_text, to_dot
from lyceum.errors import DataError, ModelFileError, SettingError
from lyceum.report import Summary


class BayesNet(Shown):
    """A Bayesian network: P(X₁, ..., Xₙ) = Π P(Xᵢ | parents of Xᵢ) over a directed acyclic graph.

    A network never changes: `do` and `with_nodes` give another one. The first query compiles it
    into a junction tree, which all later queries use.

    Parameters
    ----------
    nodes : sequence of TableNode and GaussianNode
        In any order. Parents must be among them, and a discrete node may have discrete parents
        only.
    name : str, default=""
        The name of the network.

    Attributes
    ----------
    nodes : tuple of nodes
        In the order given, their parameters as arrays.
    names : tuple of str
        The variables, in the order given.
    parents : dict of name to names
        The parents of every variable.
    edges : list of (parent, child)
        The edges of the graph.
    order : list of str
        The variables, parents before children.
    n_parameters : int
        The number of free parameters of all nodes.
    n_joint_parameters : int
        The number of free parameters of one table over all discrete variables.

    See Also
    --------
    read_bif : A network from a file.
    lyceum.save : Writes a network to a model file, Gaussian nodes too; `lyceum.load` reads it.
    learn_structure : A network from rows.

    References
    ----------
    J. Pearl, "Probabilistic Reasoning in Intelligent Systems", Morgan Kaufmann, 1988.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode
    >>> net = BayesNet([
    ...     TableNode("rain", ["no", "yes"], table=[0.8, 0.2]),
    ...     TableNode("sprinkler", ["off", "on"], ["rain"], [[0.6, 0.4], [0.99, 0.01]]),
    ...     TableNode("grass", ["dry", "wet"], ["sprinkler", "rain"],
    ...               [[[1.0, 0.0], [0.2, 0.8]], [[0.1, 0.9], [0.01, 0.99]]]),
    ... ])
    >>> round(net.posterior("rain", {"grass": "wet"})["yes"], 4)
    0.3577
    >>> net.factorization()
    'P(rain, sprinkler, grass) = P(rain) P(sprinkler | rain) P(grass | sprinkler, rain)'
    >>> net.n_parameters, net.n_joint_parameters
    (7, 7)
    """

    _kept_in_files = True  # by lyceum.save, without a learner around it

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (TableNode, GaussianNode)

    def __init__(self, nodes: Iterable[Node], name: str = "") -> None:
        nodes = _checked_nodes(nodes)
        self.name = str(name)
        self.names = tuple(node.name for node in nodes)
        _check_graph(nodes, self.names)
        self.parents = {node.name: node.parents for node in nodes}
        self.order = graph.topological_order(self.parents)
        states = {
            node.name: node.states for node in nodes if isinstance(node, TableNode)
        }
        self.nodes: tuple[Node, ...] = tuple(node.resolve(states) for node in nodes)
        self._index()

    def _index(self) -> None:
        self.index_of = {name: i for i, name in enumerate(self.names)}
        self.gaussian_names = tuple(
            node.name for node in self.nodes if isinstance(node, GaussianNode)
        )
        self._codes = {
            node.name: {state: k for k, state in enumerate(node.states)}
            for node in self.nodes
            if isinstance(node, TableNode)
        }
        self._tree: JunctionTree | SettingError | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "nodes": self.nodes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        nodes = state["nodes"]
        if not isinstance(nodes, tuple) or not all(
            isinstance(node, Node) for node in nodes
        ):
            raise ModelFileError("holds a network that is not made of nodes")
        self.__init__(nodes, state["name"])  # type: ignore[misc]

    # -- the graph ---------------------------------------------------------------------

    @property
    def edges(self) -> list[tuple[str, str]]:
        """Every edge as (parent, child)."""
        return [(parent, node.name) for node in self.nodes for parent in node.parents]

    def find(self, name: str) -> int:
        """The place of a variable among the nodes; raises if there is none of this name."""
        # what is no text may have no hash
        index = self.index_of.get(name) if isinstance(name, str) else None
        if index is None:
            return find_labels([name], self.names, "the variable")[0]
        return index

    def node(self, name: str) -> Node:
        """The node of a variable."""
        return self.nodes[self.find(name)]

    def states(self, name: str) -> tuple[Any, ...]:
        """The states of a discrete variable."""
        node = self.node(name)
        if isinstance(node, GaussianNode):
            raise DataError(f"{name!r} is Gaussian and has no states")
        return node.states

    def state_code(self, name: str, state: Any) -> int:
        """The number of a state of a discrete variable; raises if it has no such state."""
        codes = self._codes[name]
        # the fast way; a state that cannot be hashed is no label, which `find_labels` says
        try:
            if state in codes:
                return codes[state]
        except TypeError:
            pass
        # labels that are equal as text, 1 and "1", as one side may have been read from a file
        keys = {label_key(label): k for label, k in codes.items()}
        if label_key(state) in keys:
            return keys[label_key(state)]
        where = f"variable {name!r}: the state"
        return find_labels([state], self.states(name), where)[0]

    def children(self, name: str) -> list[str]:
        """The nodes that have this one as a parent."""
        self.find(name)
        return graph.children_of(self.parents)[name]

    def ancestors(self, name: str) -> list[str]:
        """Parents, their parents, and so on, in topological order."""
        self.find(name)
        above = graph.ancestors_of([name], self.parents)
        return [other for other in self.order if other in above]

    def descendants(self, name: str) -> list[str]:
        """Children, their children, and so on, in topological order."""
        self.find(name)
        below = graph.descendants_of([name], self.parents)
        return [other for other in self.order if other in below]

    def markov_blanket(self, name: str) -> list[str]:
        """Parents, children and the children's other parents: given them, it is independent of the
        rest."""
        self.find(name)
        return graph.markov_blanket_of(name, self.parents)

    # -- the distribution --------------------------------------------------------------

    def factors(self) -> list[Factor]:
        """P(node | parents) of every discrete node, as factors."""
        return [
            Factor(
                {name: self.states(name) for name in (*node.parents, node.name)},
                node.table,
            )
            for node in self.nodes
            if isinstance(node, TableNode)
        ]

    def factorization(self) -> str:
        """The joint distribution as the product that the graph stands for."""
        return factorization_text(self)

    @property
    def n_parameters(self) -> int:
        """The free numbers of all nodes: q (r - 1) for a table of q rows and r states."""
        return sum(node.n_parameters for node in self.nodes)

    @property
    def n_joint_parameters(self) -> int:
        """The free numbers of one table over all discrete variables: 2ⁿ - 1 for n variables of two
        states."""
        tables = [node for node in self.nodes if isinstance(node, TableNode)]
        return prod(len(node.states) for node in tables) - 1

    def with_nodes(self, *nodes: Node) -> BayesNet:
        """The network with some nodes replaced by others of the same name."""
        new = {node.name: node for node in _checked_nodes(nodes)}
        for name in new:
            self.find(name)
        return BayesNet([new.get(node.name, node) for node in self.nodes], self.name)

    def with_tables_of(self, nodes: Sequence[TableNode]) -> BayesNet:
        """The network with other tables of the same nodes in the same order; the compiled tree is
        reused."""
        net = BayesNet(nodes, self.name)
        if isinstance(self._tree, JunctionTree):
            net._tree = self._tree.with_tables(net)
        return net

    def do(self, **states: Any) -> BayesNet:
        """The network after an intervention: the variables are set, and no longer depend on their
        parents.

        P(y | do(x)) differs from P(y | x) where a common cause stands behind both.
        """
        set_nodes: list[Node] = []
        for name, state in states.items():
            node = self.node(name)
            if isinstance(node, GaussianNode):
                set_nodes.append(GaussianNode(name, (), float(state), (), 0.0))
            else:
                table = np.zeros(len(node.states))
                table[self.state_code(name, state)] = 1.0
                set_nodes.append(TableNode(name, node.states, (), table))
        return self.with_nodes(*set_nodes)

    # -- queries -----------------------------------------------------------------------

    def junction_tree(self, max_cells: int = MAX_CELLS) -> JunctionTree:
        """The network compiled for exact queries; made once and kept."""
        if isinstance(self._tree, SettingError) and max_cells == MAX_CELLS:
            raise self._tree
        if not isinstance(self._tree, JunctionTree):
            try:
                self._tree = JunctionTree(self, max_cells)
            except SettingError as error:
                self._tree = error
                raise
        return self._tree

    def posterior(
        self,
        query: str | Sequence[str],
        evidence: Mapping[str, Any] | None = None,
        *,
        soft: Mapping[str, Any] | None = None,
        method: str = "auto",
        n_samples: int = 20_000,
        random_state: int | None = 0,
    ) -> Any:
        """P(query | evidence): causes from effects, effects from causes, or any mixture.

        Parameters
        ----------
        query : name or names
            With several names the answer is their joint distribution.
        evidence : dict of name to state, or to a number for a Gaussian variable
        soft : dict of name to likelihoods of the states, optional
            Uncertain observations: for every state P(what was observed | state).
        method : str, default="auto"
            "junction_tree" and "elimination" are exact; "likelihood_weighting" and "gibbs" draw
            `n_samples` rows and estimate their own error. "auto" is exact where tables of a few
            million cells suffice; where the network is too wide it draws, and warns.
        n_samples : int, default=20000
        random_state : int or None, default=0

        Returns
        -------
        Posterior, or GaussianPosterior if the query is Gaussian
        """
        if n_samples < 1:
            raise SettingError(
                f"n_samples={n_samples}: an answer from samples needs at least one"
            )
        return answer(
            self,
            query=list(graph.names_of("the query", query)),
            evidence=read_evidence(self, evidence, soft),
            method=method,
            n_samples=n_samples,
            random_state=random_state,
        )

    def marginals(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        soft: Mapping[str, Any] | None = None,
    ) -> dict[str, Posterior | GaussianPosterior]:
        """P(variable | evidence) of every variable, from one pass through the junction tree."""
        observed = read_evidence(self, evidence, soft)
        if not self.gaussian_names:
            return dict(self.junction_tree().marginals(observed))
        return {
            name: answer(self, [name], observed)
            for name in self.names
            if name not in observed.hard and name not in observed.numbers
        }

    def marginals_of_rows(
        self, data: Data, names: Sequence[str] | None = None
    ) -> dict[str, np.ndarray]:
        """P(variable | row) for every row of a table; missing cells are not observed.

        Parameters
        ----------
        data : frame, `scan(...)` or array of state numbers
            Columns go by the names of variables; variables without a column are not observed. An
            array of whole numbers has a column per variable, -1 where it is missing.
        names : names, optional
            The variables of the query; all by default.

        Returns
        -------
        dict of name to array of shape (n_rows, n_states)
        """
        return row_marginals(self, data, list(self.names if names is None else names))

    def most_probable(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        soft: Mapping[str, Any] | None = None,
    ) -> MostProbable:
        """The most probable explanation: the states of all other variables with the largest
        joint."""
        return self.junction_tree().most_probable(read_evidence(self, evidence, soft))

    def k_most_probable(
        self,
        k: int,
        evidence: Mapping[str, Any] | None = None,
        *,
        soft: Mapping[str, Any] | None = None,
    ) -> list[MostProbable]:
        """The k most probable explanations, the best first; fewer where fewer are possible.

        After the best one, the rest of the combinations is split by the first variable whose state
        differs, and the best of every part is found by the junction tree: k times n passes through
        it for n variables.

        Parameters
        ----------
        k : int
        evidence : dict of name to state, optional
        soft : dict of name to likelihoods of the states, optional

        Returns
        -------
        list of MostProbable

        References
        ----------
        D. Nilsson, "An efficient algorithm for finding the M most probable configurations in
        probabilistic expert systems", Statistics and Computing 8, 1998.

        Examples
        --------
        >>> from lyceum.bayesnets import BayesNet, TableNode
        >>> net = BayesNet([TableNode("rain", ["no", "yes"], table=[0.8, 0.2]),
        ...                 TableNode("wet", ["no", "yes"], ["rain"], [[0.9, 0.1], [0.1, 0.9]])])
        >>> for answer in net.k_most_probable(3):
        ...     print(answer.states, round(answer.probability, 4))
        {'rain': 'no', 'wet': 'no'} 0.72
        {'rain': 'yes', 'wet': 'yes'} 0.18
        {'rain': 'no', 'wet': 'yes'} 0.08
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise SettingError(f"k is {k!r}: ask for a whole number from 1 on")
        observed = read_evidence(self, evidence, soft)
        return self.junction_tree().k_most_probable(int(k), observed)

    def sample(self, n_rows: int, random_state: int | None = None) -> pa.Table:
        """Rows drawn from the network, parents before children.

        Parameters
        ----------
        n_rows : int
        random_state : int or None, default=None

        Returns
        -------
        pyarrow.Table
            Discrete columns have a category type, with the states in order.
        """
        return draw_rows(self, n_rows, random_state)

    # -- shown -------------------------------------------------------------------------

    def summary(self) -> Summary:
        """Nodes, parents and parameters."""
        return describe(self)

    def to_dot(self) -> str:
        """The graph in Graphviz's language."""
        return to_dot(self)

    def check(self) -> None:
        """Raise ModelFileError unless what came from a model file fits together."""
        for node in self.nodes:
            node.check()

    def __repr__(self) -> str:
        title = f"BayesNet {self.name!r}" if self.name else "BayesNet"
        return (
            f"<{title}: {len(self.nodes)} nodes, {len(self.edges)} edges, {self.n_parameters:,}"
            " parameters>"
        )


def _checked_nodes(nodes: Any) -> tuple[Node, ...]:
    """The nodes, if that is what they are."""
    several = tuple(nodes) if isinstance(nodes, Iterable) else (nodes,)
    odd = [node for node in several if not isinstance(node, Node)]
    if odd or not isinstance(nodes, Iterable):
        raise DataError(
            "a network is made of a list of nodes (TableNode, GaussianNode), got"
            f" {(odd or [nodes])[0]!r:.100}"
        )
    return several


def _check_graph(nodes: tuple[Node, ...], names: tuple[str, ...]) -> None:
    if not nodes:
        raise DataError("a network needs at least one node")
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DataError(
            f"there are two nodes {twice[0]!r}: give every variable one node"
        )
    numeric = {node.name for node in nodes if isinstance(node, GaussianNode)}
    present = set(names)
    for node in nodes:
        # `find_labels` would also say that all is well, but in time quadratic in the nodes
        unknown = [parent for parent in node.parents if parent not in present]
        if unknown:
            find_labels(unknown, names, f"node {node.name!r}: the parent")
        wrong = [parent for parent in node.parents if parent in numeric]
        if wrong and isinstance(node, TableNode):
            raise DataError(
                f"node {node.name!r} has states, but its parent {wrong[0]!r} is Gaussian: turn the"
                " edge, or discretize the parent (lyceum.prepare.KBinsDiscretizer)"
            )

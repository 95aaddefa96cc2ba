"""cpdag: what all graphs with the same independences as a network have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lyceum._core.text import plain
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.structure.pdag import pattern_of, v_structures
from lyceum.report import Summary, Table


@dataclass(frozen=True)
class CPDAG:
    """The completed partially directed graph of a network, which stands for its Markov equivalence
    class.

    Two graphs have the same independences exactly if they have the same edges without their
    directions, and the same v-structures; then they have the same CPDAG.

    Attributes
    ----------
    names : tuple of str
        The variables.
    directed : list of (from, to)
        Edges that point the same way in all graphs of the class.
    undirected : list of (str, str)
        Edges that point one way in some of these graphs, and the other way in others.
    v_structures : list of (parent, child, parent)
        Pairs of parents of a common child which are not joined themselves.

    See Also
    --------
    cpdag : Makes it.
    structural_distance : How far the CPDAGs of two networks are apart.

    References
    ----------
    T. Verma and J. Pearl, "Equivalence and synthesis of causal models", Uncertainty in Artificial
    Intelligence, 1990. D. M. Chickering, "Learning equivalence classes of Bayesian-network
    structures", Journal of Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import cpdag, read_bif
    >>> pattern = cpdag(read_bif(datasets.path("asia")))
    >>> pattern.v_structures
    [('lung', 'either', 'tub'), ('bronc', 'dysp', 'either')]
    >>> pattern.undirected
    [('asia', 'tub'), ('smoke', 'lung'), ('smoke', 'bronc')]
    """

    names: tuple[str, ...]
    directed: list[tuple[str, str]]
    undirected: list[tuple[str, str]]
    v_structures: list[tuple[str, str, str]]

    def as_dict(self) -> dict[str, Any]:
        """Variables, edges and v-structures, in JSON's own types."""
        return plain(
            {
                "names": self.names,
                "directed": self.directed,
                "undirected": self.undirected,
                "v_structures": self.v_structures,
            }
        )

    def summary(self) -> Summary:
        """The edges with and without a direction, and the v-structures."""
        edges = [(u, "→", v) for u, v in self.directed]
        edges += [(u, "—", v) for u, v in self.undirected]
        colliders = [(u, "→", w, "←", v) for u, w, v in self.v_structures]
        facts = {
            "variables": len(self.names),
            "directed edges": len(self.directed),
            "undirected edges": len(self.undirected),
            "v-structures": len(self.v_structures),
        }
        tables = [Table("Edges", ("from", "", "to"), edges)]
        if colliders:
            heads = ("parent", "", "child", "", "parent")
            tables.append(Table("v-structures", heads, colliders))
        return Summary("CPDAG of a Bayesian network", facts, tables)

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def cpdag(net: BayesNet) -> CPDAG:
    """The CPDAG of a network: its v-structures, and the directions that follow from them.

    Parameters
    ----------
    net : BayesNet

    Returns
    -------
    CPDAG

    Examples
    --------
    A chain may point either way; a collider may not:

    >>> from lyceum.bayesnets import BayesNet, TableNode, cpdag
    >>> a, b = TableNode("a", [0, 1]), TableNode("b", [0, 1], ["a"])
    >>> cpdag(BayesNet([a, b, TableNode("c", [0, 1], ["b"])])).directed
    []
    >>> b = TableNode("b", [0, 1])
    >>> cpdag(BayesNet([a, b, TableNode("c", [0, 1], ["a", "b"])])).v_structures
    [('a', 'c', 'b')]
    """
    pattern = pattern_of(net)
    fixed = {(net.names[u], net.names[v]) for u, v in pattern.directed}
    # in the order, and with the ends, of the edges of the network
    return CPDAG(
        names=net.names,
        directed=[edge for edge in net.edges if edge in fixed],
        undirected=[edge for edge in net.edges if edge not in fixed],
        v_structures=v_structures(net),
    )

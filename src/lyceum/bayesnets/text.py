"""Networks in words: the factorization, a table of nodes, Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._core.text import undetermined_fact
from lyceum.bayesnets.nodes import GaussianNode, TableNode
from lyceum.report import Summary, Table

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


def factor_text(name: str, parents: tuple[str, ...] | list[str]) -> str:
    """P(name | parents)."""
    if parents:
        return f"P({name} | {', '.join(parents)})"
    return f"P({name})"


def factorization_text(net: BayesNet) -> str:
    """P(all) = the product of P(node | parents), parents first."""
    product = " ".join(factor_text(name, net.parents[name]) for name in net.order)
    return f"P({', '.join(net.order)}) = {product}"


def describe(net: BayesNet) -> Summary:
    """Nodes, parents and parameters, with the saving against one table over all."""
    rows = []
    for name in net.order:
        node = net.node(name)
        states = "(number)"
        if isinstance(node, TableNode):
            states = ", ".join(map(str, node.states))
        rows.append((name, states, ", ".join(node.parents), node.n_parameters))
    gaussians = [node for node in net.nodes if isinstance(node, GaussianNode)]
    n_coefficients = sum(node.coefficients.size for node in gaussians)
    n_undetermined = sum(node.n_undetermined for node in gaussians)
    joint: float = net.n_joint_parameters
    if joint > 10**9:
        joint = float(joint)
    facts = {
        "nodes": len(net.nodes),
        "edges": len(net.edges),
        "parameters": net.n_parameters,
        "parameters of one joint table": joint,
        "factorization": factorization_text(net),
        **undetermined_fact(n_undetermined, n_coefficients, "coefficient"),
    }
    table = Table("Nodes", ("node", "states", "parents", "parameters"), rows)
    return Summary(f"Bayesian network {net.name}".strip(), facts, [table])


def to_dot(net: BayesNet) -> str:
    """The graph in Graphviz's language."""

    def quote(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    shapes = [f"  {quote(name)} [shape=box];" for name in net.gaussian_names]
    nodes = [
        f"  {quote(name)};" for name in net.names if name not in net.gaussian_names
    ]
    edges = [f"  {quote(parent)} -> {quote(child)};" for parent, child in net.edges]
    return "\n".join(["digraph {", *nodes, *shapes, *edges, "}"]) + "\n"

"""Random networks, and answers by plain sums over the joint table."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from lyceum.bayesnets import BayesNet, TableNode

__all__ = ["brute_marginal", "einsum_marginal", "joint_table", "nets", "random_net"]


def random_net(
    n: int, seed: int, density: float = 0.5, most_states: int = 3, zeros: bool = False
) -> BayesNet:
    """A network on n variables in a random order, with random tables."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    states = {v: int(rng.integers(2, most_states + 1)) for v in range(n)}
    nodes = []
    for i, v in enumerate(order):
        before = [u for u in order[:i] if rng.random() < density][:4]
        shape = tuple(states[u] for u in before)
        table = rng.dirichlet(np.ones(states[v]), shape)
        if zeros:
            table = np.where(table < 0.2, 0.0, table)
            table /= table.sum(axis=-1, keepdims=True)
        nodes.append(
            TableNode(f"v{v}", range(states[v]), [f"v{u}" for u in before], table)
        )
    return BayesNet([nodes[i] for i in rng.permutation(n)])


@st.composite
def nets(draw, most: int = 6, zeros: bool = False):
    n = draw(st.integers(2, most))
    return random_net(
        n,
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from([0.2, 0.5, 0.9])),
        zeros=zeros,
    )


def joint_table(net: BayesNet) -> np.ndarray:
    """The joint probabilities, one axis per variable in the order of `net.names`."""
    letters = {name: chr(ord("a") + i) for i, name in enumerate(net.names)}
    inputs = ",".join(
        "".join(letters[v] for v in (*node.parents, node.name)) for node in net.nodes
    )
    return np.einsum(
        f"{inputs}->{''.join(letters.values())}", *(node.table for node in net.nodes)
    )


def brute_marginal(net: BayesNet, query: list[str], evidence: dict) -> np.ndarray:
    """P(query | evidence) from the whole joint table."""
    joint = joint_table(net)
    at = [slice(None)] * joint.ndim
    for name, state in evidence.items():
        at[net.index_of[name]] = [net.states(name).index(state)]
    part = (
        joint[tuple(at)] if len(evidence) <= 1 else joint[np.ix_(*_axes(net, evidence))]
    )
    keep = [net.index_of[name] for name in query]
    rest = tuple(i for i in range(joint.ndim) if i not in keep)
    table = part.sum(axis=rest)
    order = np.argsort(np.argsort(keep))
    return table.transpose(order) / table.sum()


def _axes(net: BayesNet, evidence: dict) -> list:
    return [
        [net.states(name).index(evidence[name])]
        if name in evidence
        else range(len(net.states(name)))
        for name in net.names
    ]


def einsum_marginal(net: BayesNet, query: str, evidence: dict) -> np.ndarray:
    """P(query | evidence) by NumPy's own contraction of all tables."""
    number = {name: i for i, name in enumerate(net.names)}
    operands: list = []
    for node in net.nodes:
        family = [*node.parents, node.name]
        at = tuple(
            net.states(v).index(evidence[v]) if v in evidence else slice(None)
            for v in family
        )
        operands += [node.table[at], [number[v] for v in family if v not in evidence]]
    table = np.einsum(*operands, [number[query]], optimize="greedy")
    return table / table.sum()

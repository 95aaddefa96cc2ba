"""Junction trees: their laws on random networks, and networks of thousands of nodes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.bayesnets.nets import random_net

from lyceum.bayesnets import BayesNet, JunctionTree, TableNode


@pytest.mark.syllabus("5.4")
@given(st.integers(1, 14), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.3, 0.7]))
def test_a_junction_tree_holds_every_family_and_has_the_running_intersection(
    n, seed, density
):
    net = random_net(n, seed, density, most_states=2)
    tree = JunctionTree(net)
    cliques = [set(clique) for clique in tree.cliques]
    for name, parents in net.parents.items():
        assert any({name, *parents} <= clique for clique in cliques)
    assert not any(
        a <= b for i, a in enumerate(cliques) for j, b in enumerate(cliques) if i != j
    )
    assert tree.parents[0] == -1
    assert all(0 <= up < c for c, up in enumerate(tree.parents) if c)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(cliques)))
    for c, (up, separator) in enumerate(zip(tree.parents, tree.separators)):
        assert tree.cliques[c][: len(separator)] == separator
        if up >= 0:
            assert set(separator) == cliques[c] & cliques[up]
            graph.add_edge(c, up)
    assert nx.is_tree(graph)
    for name in net.names:
        assert nx.is_connected(
            graph.subgraph([c for c, clique in enumerate(cliques) if name in clique])
        )
    # the cliques are those of a chordal graph
    joined = nx.Graph()
    joined.add_nodes_from(net.names)
    for clique in cliques:
        joined.add_edges_from((a, b) for a in clique for b in clique if a < b)
    assert {frozenset(c) for c in nx.find_cliques(joined)} == {
        frozenset(c) for c in cliques
    }


@pytest.mark.syllabus("5.4")
@pytest.mark.parametrize("shape", ["naive", "chain"])
def test_a_network_of_thousands_of_nodes_is_answered_as_by_hand(shape):
    n = 3_000
    move = np.array([[0.9, 0.1], [0.2, 0.8]])
    nodes = [TableNode("x0", ["a", "b"], table=[0.3, 0.7])]
    nodes += [
        TableNode(f"x{i}", ["a", "b"], f"x{0 if shape == 'naive' else i - 1}", move)
        for i in range(1, n)
    ]
    net = BayesNet(nodes)
    known = {"x1": "a", "x2": "b", "x3": "a"}
    if shape == "naive":
        want = np.array([0.3, 0.7]) * move[:, 0] * move[:, 1] * move[:, 0]
    else:
        want = np.array([0.3, 0.7]) * move[:, 0]
    np.testing.assert_allclose(
        net.posterior("x0", known).values, want / want.sum(), rtol=1e-12
    )
    last = net.marginals({})[f"x{n - 1}"].values
    steps = np.linalg.matrix_power(move, 1 if shape == "naive" else n - 1)
    np.testing.assert_allclose(last, np.array([0.3, 0.7]) @ steps, rtol=1e-10)

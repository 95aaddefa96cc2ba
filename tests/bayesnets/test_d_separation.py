"""d-separation against a definition path by path, and against numbers."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.bayesnets.nets import joint_table, nets, random_net

from lyceum import datasets
from lyceum.bayesnets import (
    BayesNet,
    GaussianNode,
    TableNode,
    d_separated,
    local_markov,
    read_bif,
    topological_order,
)
from lyceum.errors import DataError, LyceumError

ASIA = read_bif(datasets.path("asia"))


def all_paths(net: BayesNet, start: str, end: str) -> list[list[str]]:
    near = {
        name: set(net.parents[name]) | set(net.children(name)) for name in net.names
    }

    def grow(path):
        if path[-1] == end:
            return [path]
        return [
            p
            for name in sorted(near[path[-1]] - set(path))
            for p in grow([*path, name])
        ]

    return grow([start])


def is_open(net: BayesNet, path: list[str], given_: set[str]) -> bool:
    for before, name, after in zip(path, path[1:], path[2:]):
        collider = before in net.parents[name] and after in net.parents[name]
        if collider:
            if not ({name} | set(net.descendants(name))) & given_:
                return False
        elif name in given_:
            return False
    return True


@pytest.mark.syllabus("5.5.2")
@settings(max_examples=60, deadline=None)
@given(nets(most=7), st.integers(0, 10**6))
def test_the_verdict_is_that_of_all_paths(net, seed):
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(net.names))
    a, b = names[:2]
    given_ = set(names[2 : 2 + int(rng.integers(0, len(names) - 1))])
    verdict = d_separated(net, a, b, given_)
    paths = all_paths(net, a, b)
    assert bool(verdict) == (not any(is_open(net, path, given_) for path in paths))
    assert sorted(path.nodes for path in verdict.paths) == sorted(map(tuple, paths))
    for path in verdict.paths:
        assert path.blocked == (not is_open(net, list(path.nodes), given_))
        assert len(path.reasons) == len(path.nodes) - 2


def conditional_gap(net: BayesNet, a: str, b: str, given_: list[str]) -> float:
    """How far P(a, b | given) is from P(a | given) P(b | given), at most."""
    joint = joint_table(net)
    keep = [net.index_of[name] for name in (a, b, *given_)]
    rest = tuple(i for i in range(joint.ndim) if i not in keep)
    table = (
        joint.sum(axis=rest)
        .transpose(np.argsort(np.argsort(keep)))
        .reshape(len(net.states(a)), len(net.states(b)), -1)
    )
    total = table.sum(axis=(0, 1))
    p = table / total
    return float(
        np.abs(p - p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)).max()
    )


@pytest.mark.syllabus("5.5")
@settings(max_examples=40, deadline=None)
@given(nets(most=6), st.integers(0, 10**6))
def test_separated_variables_are_independent_in_the_numbers(net, seed):
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(net.names))
    given_ = names[2 : 2 + int(rng.integers(0, len(names) - 1))]
    gap = conditional_gap(net, names[0], names[1], given_)
    if d_separated(net, names[0], names[1], given_):
        assert gap < 1e-12
    else:  # random tables are not independent by accident
        assert gap > 1e-9


@pytest.mark.syllabus("5.5.1")
def test_the_local_markov_statements_hold_in_the_graph_and_in_the_numbers():
    statements = local_markov(ASIA)
    assert str(statements[-1]) in {str(s) for s in statements}
    assert "xray ⊥ asia, tub, smoke, lung, bronc, dysp | either" in {
        str(s) for s in statements
    }
    for net in (ASIA, random_net(6, 4)):
        for one in local_markov(net):
            assert d_separated(net, one.name, one.others, one.given)
    net = random_net(6, 4)
    for one in local_markov(net):
        for other in one.others:
            assert conditional_gap(net, one.name, other, list(one.given)) < 1e-12


@pytest.mark.syllabus("5.5.3")
def test_a_verdict_names_the_node_that_blocks_or_opens():
    text = str(d_separated(ASIA, "asia", "smoke"))
    assert "every path is blocked" in text
    assert (
        "either: head to head, and neither it nor a descendant is given: blocks" in text
    )
    text = str(d_separated(ASIA, "lung", "bronc", "smoke"))
    assert "lung ← smoke → bronc: blocked" in text
    assert "smoke: tail to tail, given: blocks" in text
    text = str(d_separated(ASIA, "asia", "xray", "tub"))
    assert "tub: head to tail, given: blocks" in text
    assert (
        d_separated(ASIA, ["asia", "tub"], ["smoke", "bronc"]).statement
        == "asia, tub ⊥ smoke, bronc"
    )


def test_sets_are_separated_when_all_their_pairs_are():
    net = random_net(7, 11, 0.3)
    for a, b, c in combinations(net.names, 3):
        both = bool(d_separated(net, a, [b, c]))
        assert both == (bool(d_separated(net, a, b)) and bool(d_separated(net, a, c)))


def test_a_graph_alone_is_enough_and_paths_may_be_cut_short():
    verdict = d_separated({"wet": ["rain", "sprinkler"]}, "rain", "sprinkler", "wet")
    assert not verdict
    dense = random_net(10, 0, 0.9)
    few = d_separated(dense, dense.names[0], dense.names[1], max_paths=3)
    assert len(few.paths) == 3
    assert "more paths" in str(few)
    assert bool(few) == bool(d_separated(dense, dense.names[0], dense.names[1]))


def ladder(n: int) -> dict[str, list[str]]:
    """Two rows of nodes with all edges from each pair to the next, and a tail without an end."""
    parents: dict[str, list[str]] = {"a": []}
    before = ["a"]
    for i in range(n):
        now = [f"u{i}", f"v{i}"]
        parents |= {name: list(before) for name in now}
        before = now
    return parents


@pytest.mark.syllabus("5.5")
def test_a_verdict_does_not_wait_for_exponentially_many_paths():
    # 2^40 dead ends beside one path of two edges
    parents = ladder(40) | {"b": ["a"], "c": ["b"]}
    begin = time.process_time()
    verdict = d_separated(parents, "a", "c")
    assert [path.text for path in verdict.paths] == ["a → b → c"]
    assert not verdict
    assert verdict.n_left_out == 0
    # 2^40 paths: the verdict, and as many of them as were asked for
    many = d_separated(ladder(40), "a", "v39", "u3", max_paths=7)
    assert not many
    assert len(many.paths) == 7
    assert many.n_left_out == -1
    assert not many.paths[0].blocked
    both = d_separated(ladder(40), "a", "v39", ["u3", "v3"])
    assert both
    assert all(path.blocked for path in both.paths)
    # a network of 27 nodes took 3 s
    for seed in range(5):
        net = random_net(27, seed, 0.12)
        d_separated(net, net.names[0], net.names[1], net.names[2:5])
    assert time.process_time() - begin < 3.0


def test_an_open_path_is_always_among_the_few_that_are_listed():
    for seed in range(30):
        net = random_net(9, seed, 0.5)
        verdict = d_separated(
            net, net.names[0], net.names[1], net.names[2:4], max_paths=1
        )
        if not verdict:
            (path,) = verdict.paths
            assert not path.blocked
            assert is_open(net, list(path.nodes), set(net.names[2:4]))
            assert len(set(path.nodes)) == len(path.nodes)


def test_sets_that_overlap_and_unknown_names_are_refused():
    with pytest.raises(DataError, match="is in A and B"):
        d_separated(ASIA, "lung", ["lung", "asia"])
    with pytest.raises(DataError, match="is in A and given"):
        d_separated(ASIA, "lung", "asia", "lung")
    with pytest.raises(DataError, match="did you mean 'lung'"):
        d_separated(ASIA, "lungs", "asia")
    with pytest.raises(DataError, match="cycle"):
        d_separated({"a": ["b"], "b": ["a"]}, "a", "b")


EDGES = [("a", "b"), ("b", "c")]
COIN = TableNode("x", [0, 1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: d_separated(EDGES, "a", "c"), "a dict of every name to its parents"),
        (lambda: local_markov(EDGES), "a dict of every name to its parents"),
        (lambda: topological_order(EDGES), "a dict of every name to its parents"),
        (lambda: d_separated({"a": None}, "a", "b"), "parents of 'a': .* not None"),
        (
            lambda: d_separated({"a": [["b"]]}, "a", "b"),
            r"names are texts, not \['b'\]",
        ),
        (
            lambda: d_separated({1: ["b"]}, "b", "b"),
            "the graph: names are texts, not 1",
        ),
        (lambda: d_separated({"a": ["b"]}, "a", "b", None), "given: .* not None"),
        (lambda: d_separated({"a": ["b"]}, "a", "b", max_paths=-1), "max_paths is -1"),
        (lambda: d_separated({"a": ["b"]}, "a", "b", max_paths=1.5), "is 1.5"),
        (lambda: BayesNet(EDGES), r"list of nodes .* got \('a', 'b'\)"),
        (lambda: BayesNet({"a": ["b"]}), "list of nodes .* got 'a'"),
        (lambda: BayesNet(None), "list of nodes .* got None"),
        (lambda: BayesNet(COIN), "list of nodes .* got TableNode"),
        (lambda: BayesNet([COIN]).with_nodes(3), "list of nodes .* got 3"),
        (lambda: BayesNet([COIN]).find(["x"]), r"the variable \['x'\]"),
        (lambda: BayesNet([COIN]).posterior(None), "the query: .* not None"),
        (lambda: TableNode("x", None), "states of 'x' are None: give a list"),
        (lambda: TableNode("x", [0, 1], None), "parents of 'x' are None"),
        (lambda: GaussianNode("x", 3), "parents of 'x' are 3"),
    ],
)
def test_what_is_no_graph_is_refused_by_a_sentence(make, words):
    with pytest.raises(LyceumError, match=words):
        make()


def test_one_parent_may_be_given_by_its_name_alone():
    assert topological_order({"alarm": "burglary"}) == ["burglary", "alarm"]
    verdict = d_separated({"alarm": "burglary"}, "alarm", "burglary")
    assert [path.text for path in verdict.paths] == ["alarm ← burglary"]

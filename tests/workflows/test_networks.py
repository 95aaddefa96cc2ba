"""Networks by their files: read, learned or drawn, queried."""

import itertools

import numpy as np
import pandas as pd
import pytest

from lyceum import datasets, save
from lyceum.bayesnets import d_separated, read_bif
from lyceum.errors import DataError, SettingError
from lyceum.workflows import (
    check_independence,
    learn_network,
    query_network,
    read_network,
)

WEATHER = datasets.path("weather")


def test_a_network_is_read_from_where_it_is(tmp_path):
    asia = read_bif(datasets.path("asia"))
    save(asia, tmp_path / "net.lyceum")
    assert read_network(asia) is asia
    assert read_network("asia").names == asia.names
    assert read_network(tmp_path / "net.lyceum").edges == asia.edges
    (tmp_path / "bad.bif").write_text("network {")
    with pytest.raises(DataError, match=r"bad\.bif: "):
        read_network(tmp_path / "bad.bif")


def test_a_query_is_a_sum_over_the_joint_distribution():
    """Before and after evidence and an intervention, by adding up all 256 combinations."""
    net = read_network("asia")
    names = list(net.names)
    tables = {node.name: node.table for node in net.nodes}

    def expected(query, evidence, do):
        total = np.zeros(2)
        for states in itertools.product([0, 1], repeat=len(names)):
            row = dict(zip(names, states))
            given = {**evidence, **do}
            if any(row[name] != net.state_code(name, s) for name, s in given.items()):
                continue
            p = 1.0
            for node in net.nodes:
                if node.name not in do:
                    index = (*(row[parent] for parent in node.parents), row[node.name])
                    p *= tables[node.name][index]
            total[row[query]] += p
        return total / total.sum()

    for evidence, do in (
        ({}, {}),
        ({"xray": "yes"}, {}),
        ({"dysp": "yes"}, {"bronc": "no"}),
    ):
        answer = query_network("asia", "lung", evidence=evidence, do=do)
        assert answer.values == pytest.approx(expected("lung", evidence, do))
        everything = query_network("asia", evidence=evidence, do=do)
        assert everything["lung"].values == pytest.approx(answer.values)
        working = query_network("asia", "lung", evidence=evidence, do=do, explain=True)
        assert working.posterior.values == pytest.approx(answer.values)
    with pytest.raises(SettingError, match="needs a variable"):
        query_network("asia", explain=True)


def test_independence_is_that_of_the_graph():
    verdict = check_independence("asia", "asia", "smoke", ["dysp"])
    assert (
        verdict.as_dict()
        == d_separated(read_network("asia"), "asia", "smoke", ["dysp"]).as_dict()
    )
    assert verdict.as_dict()["paths"][0]["nodes"][0] == "asia"


def test_a_drawn_graph_has_these_edges_and_counted_tables(tmp_path):
    edges = [("outlook", "play"), ("windy", "play")]
    learned = learn_network(
        WEATHER, edges=edges, estimate="raw", out=tmp_path / "n.bif"
    )
    assert sorted(learned.net.edges) == edges
    table = pd.read_csv(WEATHER)
    sunny = table[
        (table["outlook"] == "sunny") & (table["windy"].astype(str) == "False")
    ]
    windy = learned.net.states("windy")
    calm = next(state for state in windy if str(state).lower() == "false")
    answer = learned.net.posterior("play", {"outlook": "sunny", "windy": calm})
    assert answer["yes"] == pytest.approx((sunny["play"] == "yes").mean())
    assert read_network(tmp_path / "n.bif").edges == learned.net.edges
    with pytest.raises(SettingError, match=r"n\.bif exists"):
        learn_network(WEATHER, out=tmp_path / "n.bif")
    with pytest.raises(SettingError, match="no column 'rain'"):
        learn_network(WEATHER, edges=[("rain", "play")])
    with pytest.raises(DataError, match="cycle"):
        learn_network(WEATHER, edges=[("play", "windy"), ("windy", "play")])

"""Queries: by the junction tree, by elimination, against sums over the joint table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from tests.bayesnets.nets import (
    brute_marginal,
    einsum_marginal,
    joint_table,
    nets,
    random_net,
)

from lyceum import datasets
from lyceum.bayesnets import BayesNet, JunctionTree, TableNode, read_bif
from lyceum.errors import DataError, SettingError

ASIA = read_bif(datasets.path("asia"))
ALARM = read_bif(datasets.path("alarm"))


def draw_evidence(
    net: BayesNet, rng: np.random.Generator, count: int, query: list[str]
) -> dict:
    """Evidence of positive probability: states of one drawn row."""
    row = net.sample(1, int(rng.integers(1 << 30))).to_pylist()[0]
    names = [name for name in net.names if name not in query]
    return {
        name: row[name]
        for name in rng.choice(names, min(count, len(names)), replace=False)
    }


@pytest.mark.syllabus("5.4.1")
def test_every_marginal_of_asia_is_the_sum_over_the_joint_table():
    rng = np.random.default_rng(0)
    for _ in range(40):
        evidence = draw_evidence(ASIA, rng, int(rng.integers(0, 5)), [])
        found = ASIA.marginals(evidence)
        for name in ASIA.names:
            if name not in evidence:
                want = brute_marginal(ASIA, [name], evidence)
                np.testing.assert_allclose(found[name].values, want, atol=1e-12)
                np.testing.assert_allclose(
                    ASIA.posterior(name, evidence).values, want, atol=1e-12
                )


@pytest.mark.syllabus("5.4")
def test_every_marginal_of_alarm_is_numpys_contraction_of_its_tables():
    rng = np.random.default_rng(1)
    for count in (0, 1, 3, 8):
        evidence = draw_evidence(ALARM, rng, count, [])
        found = ALARM.marginals(evidence)
        for name in rng.choice(
            [n for n in ALARM.names if n not in evidence], 12, replace=False
        ):
            want = einsum_marginal(ALARM, name, evidence)
            np.testing.assert_allclose(found[name].values, want, atol=1e-10)
            by_sums = ALARM.posterior(name, evidence, method="elimination")
            np.testing.assert_allclose(by_sums.values, want, atol=1e-10)


@pytest.mark.syllabus("5.4")
@settings(max_examples=40, deadline=None)
@given(nets(zeros=True), st.integers(0, 10**6))
def test_joint_queries_of_random_networks_agree_with_the_joint_table(net, seed):
    rng = np.random.default_rng(seed)
    query = list(
        rng.choice(
            net.names, min(len(net.names), int(rng.integers(1, 4))), replace=False
        )
    )
    evidence = draw_evidence(net, rng, 2, query)
    want = brute_marginal(net, query, evidence)
    for method in ("auto", "elimination"):
        np.testing.assert_allclose(
            net.posterior(query, evidence, method=method).values, want, atol=1e-12
        )
    log_p = np.log(joint_table(net)[np.ix_(*_at(net, evidence))].sum())
    assert net.posterior(query, evidence).log_evidence == pytest.approx(
        log_p, abs=1e-10
    )


def _at(net: BayesNet, evidence: dict) -> list:
    return [
        [net.states(n).index(evidence[n])]
        if n in evidence
        else range(len(net.states(n)))
        for n in net.names
    ]


@pytest.mark.syllabus("5.4.3")
@settings(max_examples=40, deadline=None)
@given(nets(), st.integers(0, 10**6))
def test_the_most_probable_explanation_has_the_largest_joint_probability(net, seed):
    evidence = draw_evidence(net, np.random.default_rng(seed), 1, [])
    found = net.most_probable(evidence)
    part = joint_table(net)[np.ix_(*_at(net, evidence))]
    assert np.exp(found.log_probability) == pytest.approx(part.max(), rel=1e-10)
    assert found.probability == pytest.approx(part.max() / part.sum(), rel=1e-10)
    states = {**found.states, **evidence}
    at = tuple(net.states(name).index(states[name]) for name in net.names)
    assert joint_table(net)[at] == pytest.approx(part.max(), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(nets(), st.integers(0, 10**6))
def test_soft_evidence_is_an_observed_child_with_these_likelihoods(net, seed):
    rng = np.random.default_rng(seed)
    name, query = rng.choice(net.names, 2, replace=False)
    likelihood = rng.random(len(net.states(name)))
    child = TableNode(
        "seen", ["yes", "no"], [name], np.column_stack([likelihood, 1 - likelihood])
    )
    wider = BayesNet([*net.nodes, child])
    want = wider.posterior(query, {"seen": "yes"})
    for method in ("junction_tree", "elimination"):
        found = net.posterior(query, soft={name: likelihood}, method=method)
        np.testing.assert_allclose(found.values, want.values, atol=1e-12)
    by_state = dict(zip(net.states(name), likelihood))
    np.testing.assert_allclose(
        net.posterior(query, soft={name: by_state}).values, want.values, atol=1e-12
    )


@pytest.mark.syllabus("5.4")
def test_rows_of_evidence_in_a_batch_are_single_queries():
    rows = ALARM.sample(37, 5).to_pandas().astype(object)
    rng = np.random.default_rng(2)
    rows = rows.mask(rng.random(rows.shape) < 0.7)
    rows = rows.drop(columns=["HR", "BP"])
    found = ALARM.marginals_of_rows(rows)
    for i in range(0, 37, 6):
        evidence = {k: v for k, v in rows.iloc[i].items() if isinstance(v, str)}
        single = ALARM.marginals(evidence)
        for name in ALARM.names:
            np.testing.assert_allclose(found[name][i], single[name].values, atol=1e-12)


def test_a_batch_of_codes_is_the_batch_of_their_states():
    table = ASIA.sample(20, 0)
    codes = np.column_stack(
        [table.column(n).combine_chunks().indices.to_numpy() for n in ASIA.names]
    )
    codes[:, 3] = -1
    by_codes = ASIA.marginals_of_rows(codes, ["lung"])["lung"]
    np.testing.assert_array_equal(
        by_codes, ASIA.marginals_of_rows(table.drop(["lung"]), ["lung"])["lung"]
    )


def test_many_small_probabilities_do_not_underflow():
    chain = [TableNode("x0", [0, 1], table=[1 - 1e-9, 1e-9])]
    chain += [
        TableNode(f"x{i}", [0, 1], [f"x{i - 1}"], [[1.0 - 1e-9, 1e-9], [0.5, 0.5]])
        for i in range(1, 120)
    ]
    net = BayesNet(chain)
    evidence = {f"x{i}": i % 2 for i in range(118)}
    found = net.posterior("x119", evidence)
    assert np.isfinite(found.log_evidence)
    assert found.log_evidence < -600
    np.testing.assert_allclose(found.values.sum(), 1.0)


def test_a_thousand_children_do_not_underflow():
    rng = np.random.default_rng(0)
    tables = rng.dirichlet([1.0, 1.0], (1500, 2))
    children = [
        TableNode(f"x{i}", [0, 1], "c", table) for i, table in enumerate(tables)
    ]
    net = BayesNet([TableNode("c", ["a", "b"], table=[0.3, 0.7]), *children])
    codes = rng.integers(0, 2, (9, 1501)).astype(np.int32)
    codes[:, 0] = -1
    logs = np.log([0.3, 0.7]) + np.log(tables[np.arange(1500), :, codes[:, 1:]]).sum(
        axis=1
    )
    want = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    np.testing.assert_allclose(
        net.marginals_of_rows(codes, ["c"])["c"], want, atol=1e-9
    )
    _, log_p = net.junction_tree().rows(codes[:1], [])
    assert log_p[0] == pytest.approx(np.logaddexp.reduce(logs[0]), rel=1e-12)


@pytest.mark.syllabus("5.4.2")
def test_the_cliques_are_a_junction_tree():
    for net in (ALARM, random_net(9, 3, 0.6)):
        tree = JunctionTree(net)
        sets = [set(clique) for clique in tree.cliques]
        for node in net.nodes:
            assert any({node.name, *node.parents} <= clique for clique in sets)
        # running intersection: the cliques with a variable hang together
        for name in net.names:
            having = [c for c, clique in enumerate(sets) if name in clique]
            tops = [c for c in having if tree.parents[c] not in having]
            assert len(tops) == 1
            assert all(name in tree.separators[c] for c in having if c != tops[0])


@pytest.mark.parametrize(
    ("query", "evidence", "message"),
    [
        ("lungs", {}, "did you mean 'lung'"),
        ("lung", {"xray": "maybe"}, "the state 'maybe' is not among 'yes', 'no'"),
        ("lung", {"x-ray": "yes"}, "did you mean 'xray'"),
        ("lung", {"lung": "yes"}, "in the query and in the evidence"),
        (["lung", "lung"], {}, "names a variable twice"),
        ([], {}, "names no variable"),
        (
            "asia",
            {"lung": "yes", "either": "no"},
            "impossible: the network gives it probability 0",
        ),
    ],
)
def test_a_query_that_makes_no_sense_is_a_clear_error(query, evidence, message):
    with pytest.raises(DataError, match=message):
        ASIA.posterior(query, evidence)


def test_impossible_evidence_is_found_by_every_exact_method():
    evidence = {"lung": "yes", "either": "no"}
    for ask in (
        ASIA.marginals,
        ASIA.most_probable,
        lambda e: ASIA.posterior(["asia", "xray"], e),
    ):
        with pytest.raises(DataError, match="impossible"):
            ask(evidence)
    with pytest.raises(DataError, match="impossible"):
        ASIA.posterior("asia", evidence, method="elimination")
    rows = {"lung": ["yes"], "either": ["no"]}
    with pytest.raises(DataError, match="row 0 is impossible"):
        ASIA.marginals_of_rows(pa.table(rows))


def test_soft_evidence_is_checked():
    with pytest.raises(DataError, match="lacks the state 'no'"):
        ASIA.posterior("lung", soft={"xray": {"yes": 1.0}})
    with pytest.raises(DataError, match="likelihoods of at least 0"):
        ASIA.posterior("lung", soft={"xray": [1.0, -1.0]})
    with pytest.raises(SettingError, match="no method"):
        ASIA.posterior("lung", method="magic")

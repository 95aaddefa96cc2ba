"""The working of a query: every number in it is right."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.bayesnets.nets import brute_marginal, nets

from lyceum import datasets
from lyceum.bayesnets import BayesNet, GaussianNode, explain_query, read_bif
from lyceum.errors import DataError

ASIA = read_bif(datasets.path("asia"))


@pytest.mark.syllabus("5.4")
@settings(max_examples=25, deadline=None)
@given(nets(most=6), st.integers(0, 10**6))
def test_the_working_ends_at_the_posterior_and_its_sums_come_out(net, seed):
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(net.names))
    evidence = {names[1]: 0}
    working = explain_query(net, names[0], evidence)
    np.testing.assert_allclose(
        working.posterior.values, brute_marginal(net, [names[0]], evidence), atol=1e-12
    )
    for line in str(working).splitlines():  # a · b + c · d = e, to the digits shown
        match = re.search(r"= ([\d.e+\-· ]+ [·+] [\d.e+\-·+ ]+) = ([\d.e+\-]+)$", line)
        if match:
            value = sum(
                np.prod([float(f) for f in term.split(" · ")])
                for term in match[1].split(" + ")
            )
            assert value == pytest.approx(float(match[2]), rel=5e-3, abs=1e-4)


@pytest.mark.syllabus("5.4")
def test_queries_are_called_by_their_direction():
    assert explain_query(ASIA, "lung", {"smoke": "yes"}).kind == "causal"
    assert explain_query(ASIA, "smoke", {"lung": "yes"}).kind == "diagnostic"
    assert explain_query(ASIA, "smoke").kind == "prior"
    assert (
        explain_query(ASIA, "lung", {"either": "yes", "tub": "yes"}).kind
        == "intercausal"
    )
    assert explain_query(ASIA, "lung", {"smoke": "yes", "xray": "yes"}).kind == "mixed"


@pytest.mark.syllabus("5.4")
def test_the_rules_and_what_sums_to_one_are_named():
    working = explain_query(ASIA, "lung", {"xray": "yes"})
    rules = [step.rule for step in working.steps]
    assert rules[0] == "Bayes' theorem"
    assert rules[1] == "Sum rule and product rule along the graph"
    assert rules[-2:] == ["Sum rule", "Division"]
    assert "bronc, dysp: neither queried nor observed" in str(working)
    assert "P(lung=yes | xray=yes) = 0.0539 / 0.1103 = 0.4887" in str(working)
    assert working.as_dict()["kind"] == "diagnostic"
    soft = explain_query(ASIA, "lung", soft={"xray": [0.7, 0.1]})
    np.testing.assert_allclose(
        soft.posterior.values, ASIA.posterior("lung", soft={"xray": [0.7, 0.1]}).values
    )
    assert "λ(xray)" in str(soft)


def test_what_cannot_be_worked_out_is_a_clear_error():
    with pytest.raises(DataError, match="impossible"):
        explain_query(ASIA, "asia", {"lung": "yes", "either": "no"})
    with pytest.raises(DataError, match="in the query and in the evidence"):
        explain_query(ASIA, "asia", {"asia": "yes"})
    with pytest.raises(DataError, match="Gaussian"):
        explain_query(BayesNet([GaussianNode("x")]), "x")

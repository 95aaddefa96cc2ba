"""The working of a query: every number in it is right."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm
from tests.bayesnets.nets import brute_marginal, joint_table, nets

from lyceum import datasets
from lyceum.bayesnets import (
    BayesNet,
    GaussianNode,
    TableNode,
    d_separated,
    explain_query,
    read_bif,
)
from lyceum.bayesnets.inference.elimination import Elimination
from lyceum.bayesnets.inference.evidence import read_evidence
from lyceum.bayesnets.inference.requisite import Requisite
from lyceum.errors import DataError

ASIA = read_bif(datasets.path("asia"))


@pytest.mark.syllabus("5.4.4")
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
    with pytest.raises(DataError, match="impossible"):  # also where it is dropped
        explain_query(ASIA, "asia", {"tub": "no", "lung": "yes", "either": "no"})
    with pytest.raises(DataError, match="is Gaussian and others are not"):
        explain_query(CLINIC, ["sick", "fever"])


@pytest.mark.syllabus("5.4.4", "5.5")
@settings(max_examples=150, deadline=None)
@given(nets(most=8), st.integers(0, 10**6))
def test_what_is_dropped_is_d_separated_and_what_is_kept_is_not(net, seed):
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(net.names))
    n_seen = int(rng.integers(1, len(names)))
    evidence = dict.fromkeys(names[1 : 1 + n_seen], 0)
    known = read_evidence(net, evidence)
    needed = Requisite.of(net, names[:1], known)
    if needed.dropped:
        assert d_separated(net, names[0], needed.dropped, needed.observed)
    for name in needed.observed:
        others = [other for other in evidence if other != name]
        assert not d_separated(net, names[0], name, others)
    working = explain_query(net, names[0], evidence)
    np.testing.assert_allclose(
        working.posterior.values, brute_marginal(net, names[:1], evidence), atol=1e-12
    )


@pytest.mark.syllabus("5.4")
@settings(max_examples=150, deadline=None)
@given(nets(most=8), st.integers(0, 10**6))
def test_the_product_is_the_conditional_probability_that_its_line_says(net, seed):
    # P(query, observed with tables | observed without), from the joint table
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(net.names))
    evidence = dict.fromkeys(names[1 : 1 + int(rng.integers(1, len(names)))], 0)
    needed = Requisite.of(net, names[:1], read_evidence(net, evidence))
    kept = needed.evidence(net, read_evidence(net, evidence))
    found = Elimination.plan(net, names[:1], kept, needed.names).run().values
    joint = joint_table(net)

    def share(states):
        cell = tuple(states.get(name, slice(None)) for name in net.names)
        return joint[cell].sum()

    below = share(dict.fromkeys(needed.inputs, 0))
    for k, value in enumerate(found):
        above = share({**dict.fromkeys(needed.observed, 0), names[0]: k})
        assert value == pytest.approx(above / below, abs=1e-12)


@pytest.mark.syllabus("5.4.4")
def test_an_answer_that_is_a_row_of_a_table_is_read_from_it():
    working = explain_query(ASIA, "lung", {"smoke": "yes", "asia": "no"})
    assert [step.rule for step in working.steps] == [
        "Conditional independence",
        "Read from the table",
    ]
    assert "lung ⊥ asia | smoke: d-separated" in working.steps[0].text
    assert "P(lung | smoke=yes) is the row smoke=yes of the table of lung" in str(
        working
    )
    (step,) = explain_query(ASIA, "smoke").steps
    assert step.rule == "Read from the table"
    # below an observed node nothing else matters
    working = explain_query(ASIA, "dysp", {"either": "yes", "smoke": "no"})
    assert "asia, tub, lung: d-separated from the query by the evidence" in str(working)
    assert "Σ over bronc of P(bronc | smoke=no) P(dysp | bronc, either=yes)" in str(
        working
    )


@pytest.mark.syllabus("5.4")
def test_a_notebook_shows_every_line_and_no_markup_of_names():
    net = BayesNet([TableNode("<b>", ["<i>", "&"], table=[0.25, 0.75])])
    page = explain_query(net, "<b>")._repr_html_()
    assert "&lt;b&gt;=&lt;i&gt;: 0.25" in page
    assert "<i>" not in page
    assert page.count("<li>") == 1
    assert repr(explain_query(net, "<b>")) == "<the working of P(<b>): 1 step>"


# -- Gaussian variables ----------------------------------------------------------------

CLINIC = BayesNet(
    [
        TableNode("sick", ["no", "yes"], table=[0.9, 0.1]),
        GaussianNode("fever", ["sick"], intercept=[36.8, 39.0], variance=[0.1, 0.5]),
        GaussianNode("pulse", ["fever"], -200.0, coefficients=[7.3], variance=30.0),
        GaussianNode("watch", ["pulse"], 1.0, coefficients=[1.0], variance=4.0),
    ]
)


@pytest.mark.syllabus("5.4.5", "5.6")
def test_a_gaussian_query_shows_means_covariances_and_the_formula():
    working = explain_query(CLINIC, "fever", {"pulse": 80.0, "sick": "no"})
    text = str(working)
    # by hand: 0.73 / 35.329 = 0.02066, 36.8 + 0.02066 · 11.36 = 37.0347
    for line in (
        "E[pulse] = -200 + 7.3 · 36.8 = 68.64",
        "Cov[pulse, fever] = 7.3 · 0.1 = 0.73",
        "Var[pulse] = 30 + 7.3 · 0.73 = 35.33",
        "K = C_qe C_ee⁻¹ = 0.02066",
        "mean = 36.8 + 0.02066 · 11.36 = 37.03",
        "covariance = 0.1 − 0.02066 · 0.73 = 0.08492",
    ):
        assert line in text
    by_rule = {step.rule: step for step in working.steps}
    numbers = by_rule["Conditional Gaussian"].numbers
    np.testing.assert_allclose(numbers["gain"], [[[0.73 / 35.329]]])
    np.testing.assert_allclose(working.posterior.mean, numbers["means"][0])
    step = working.as_dict()["steps"][0]
    assert step["numbers"]["means"] == [pytest.approx([36.8, 68.64])]


@pytest.mark.syllabus("5.4", "5.6")
def test_states_behind_numbers_are_weighted_by_densities():
    working = explain_query(CLINIC, "sick", {"pulse": 80.0})
    variances = [30 + 7.3**2 * 0.1, 30 + 7.3**2 * 0.5]
    density = [
        norm.pdf(80, -200 + 7.3 * m, np.sqrt(v))
        for m, v in zip((36.8, 39.0), variances)
    ]
    weights = np.array([0.9, 0.1]) * density
    np.testing.assert_allclose(working.posterior.values, weights / weights.sum())
    mixture = explain_query(CLINIC, "fever", {"pulse": 80.0})
    assert mixture.steps[-1].rule == "Mixture over the states"
    exact = CLINIC.posterior("fever", {"pulse": 80.0})
    np.testing.assert_allclose(mixture.posterior.mean, exact.mean)
    np.testing.assert_allclose(
        mixture.steps[-1].numbers["covariance"], exact.covariance
    )


def test_an_equation_with_all_parents_observed_is_read_off():
    working = explain_query(CLINIC, "pulse", {"fever": 39.0, "sick": "yes"})
    assert [step.rule for step in working.steps] == [
        "Conditional independence",
        "Read from the equation",
    ]
    assert "mean = -200 + 7.3 · 39 = 84.7" in str(working)
    assert "variance = 30" in str(working)


@pytest.mark.parametrize("query", ["fever", ["fever", "pulse"], "sick"])
@pytest.mark.parametrize("evidence", [{}, {"watch": 70.0}])
def test_workings_with_numbers_end_at_the_posterior(query, evidence):
    for soft in (None, {"sick": [0.2, 0.9]}):
        found = explain_query(CLINIC, query, evidence, soft=soft).posterior
        exact = CLINIC.posterior(query, evidence, soft=soft)
        if query == "sick":
            np.testing.assert_allclose(found.values, exact.values)
        else:
            np.testing.assert_allclose(found.mean, exact.mean)
            np.testing.assert_allclose(found.covariance, exact.covariance)
            assert found._repr_html_() == exact._repr_html_()


def test_likelihoods_of_states_are_taken_beside_numbers():
    # by hand: 0.9 · 0.1 and 0.1 · 0.9 weigh the same
    found = CLINIC.posterior("sick", soft={"sick": [0.1, 0.9]})
    np.testing.assert_allclose(found.values, [0.5, 0.5])

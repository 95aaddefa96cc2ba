"""Estimates from draws: within their own standard errors of the exact answer."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bayesnets.nets import random_net

from lyceum import datasets
from lyceum.bayesnets import BayesNet, TableNode, read_bif
from lyceum.errors import DataError

ASIA = read_bif(datasets.path("asia"))


@pytest.mark.syllabus("5.6.1")
@pytest.mark.parametrize("method", ["likelihood_weighting", "gibbs"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_estimates_lie_within_their_errors(method, seed):
    net = random_net(8, seed, 0.4)
    query, seen = list(net.names[:2]), {net.names[4]: 0, net.names[5]: 1}
    exact = net.posterior(query, seen)
    soft = {net.names[6]: np.linspace(0.2, 1.0, len(net.states(net.names[6])))}
    for given in ({}, {"soft": soft}):
        exact = net.posterior(query, seen, **given)
        found = net.posterior(
            query, seen, method=method, n_samples=40_000, random_state=seed, **given
        )
        assert found.error is not None
        assert found.error.max() < 0.02
        assert (np.abs(found.values - exact.values) <= 5 * found.error + 1e-3).all()
        assert found.values.sum() == pytest.approx(1.0)


@pytest.mark.syllabus("5.6")
def test_likelihood_weighting_knows_the_probability_of_the_evidence():
    found = ASIA.posterior(
        "lung",
        {"xray": "yes", "dysp": "yes"},
        method="likelihood_weighting",
        n_samples=50_000,
    )
    exact = ASIA.posterior("lung", {"xray": "yes", "dysp": "yes"})
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)
    assert "likelihood weighting" in found.method


def wide_net(n: int = 34) -> BayesNet:
    """Every variable of the last row depends on many of the first: no small junction tree."""
    rng = np.random.default_rng(0)
    tops = [TableNode(f"a{i}", [0, 1], table=rng.dirichlet([1, 1])) for i in range(n)]
    below = []
    for i in range(3 * n):
        parents = [f"a{j}" for j in rng.choice(n, 5, replace=False)]
        below.append(
            TableNode(f"b{i}", [0, 1], parents, rng.dirichlet([3, 3], (2,) * 5))
        )
    return BayesNet([*tops, *below])


@pytest.mark.syllabus("5.6")
def test_a_network_too_wide_is_answered_by_draws_and_says_so():
    net = wide_net()
    evidence = {f"b{i}": i % 2 for i in range(0, 102, 2)}
    with pytest.warns(
        UserWarning, match="too wide for exact inference.*standard errors up to"
    ):
        found = net.posterior("a0", evidence, n_samples=400)
    assert found.error is not None
    assert "sampl" in found.method
    # where few variables matter, the answer is exact in the same network
    assert net.posterior("a3").method == "variable elimination"
    np.testing.assert_allclose(
        net.posterior("a3").values, net.node("a3").table, atol=1e-12
    )


@pytest.mark.syllabus("5.1")
def test_drawn_rows_follow_the_network():
    rows = ASIA.sample(60_000, 3).to_pandas()
    assert list(rows["smoke"].cat.categories) == ["yes", "no"]
    for name in ASIA.names:
        share = (rows[name] == "yes").mean()
        assert share == pytest.approx(ASIA.posterior(name)["yes"], abs=0.01)
    both = ((rows["lung"] == "yes") & (rows["bronc"] == "yes")).mean()
    assert both == pytest.approx(
        ASIA.posterior(["lung", "bronc"])[{"lung": "yes", "bronc": "yes"}], abs=0.005
    )
    assert ASIA.sample(5, 7).equals(ASIA.sample(5, 7))
    assert ASIA.sample(0, 7).num_rows == 0


def test_evidence_that_is_never_drawn_is_a_clear_error():
    impossible = {"lung": "yes", "either": "no"}
    for method in ("likelihood_weighting", "gibbs"):
        with pytest.raises(DataError, match="rows agrees with the evidence"):
            ASIA.posterior("asia", impossible, method=method, n_samples=1_000)

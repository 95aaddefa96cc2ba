"""Networks with numbers in them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from lyceum.bayesnets import BayesNet, GaussianNode, TableNode
from lyceum.errors import DataError, SettingError
from lyceum.probability import Gaussian


def gaussian_net(seed: int = 0, n: int = 5) -> tuple[BayesNet, np.ndarray, np.ndarray]:
    """A dense linear network, and its mean and covariance from (I - B)⁻¹."""
    rng = np.random.default_rng(seed)
    B = np.tril(rng.normal(size=(n, n)), -1)
    b, v = rng.normal(size=n), rng.random(n) + 0.2
    nodes = [
        GaussianNode(f"x{i}", [f"x{j}" for j in range(i)], b[i], B[i, :i], v[i])
        for i in range(n)
    ]
    A = np.linalg.inv(np.eye(n) - B)
    return BayesNet(nodes[::-1]), A @ b, A @ np.diag(v) @ A.T


@pytest.mark.syllabus("5.4.5", "5.6")
def test_an_all_gaussian_network_is_conditioned_exactly():
    for seed in range(5):
        net, mean, covariance = gaussian_net(seed)
        joint = Gaussian(mean, covariance)
        want = joint.condition([2, 4], [0.3, -1.0])
        found = net.posterior(["x0", "x1", "x3"], {"x2": 0.3, "x4": -1.0})
        np.testing.assert_allclose(found.mean, want.mean, atol=1e-9)
        np.testing.assert_allclose(found.covariance, want.covariance, atol=1e-9)
        want_log = Gaussian(
            mean[[2, 4]], covariance[np.ix_([2, 4], [2, 4])]
        ).log_density([[0.3, -1.0]])[0]
        assert found.log_evidence == pytest.approx(want_log)
        assert found.method == "exact Gaussian algebra"


def mixed_net() -> BayesNet:
    return BayesNet(
        [
            TableNode("sick", ["no", "yes"], table=[0.9, 0.1]),
            TableNode("drug", ["no", "yes"], "sick", [[0.95, 0.05], [0.3, 0.7]]),
            GaussianNode(
                "fever",
                ["sick", "drug"],
                [[36.8, 36.6], [39.0, 37.5]],
                (),
                [[0.1, 0.1], [0.5, 0.4]],
            ),
            GaussianNode("pulse", ["fever"], -200.0, [7.3], 30.0),
        ]
    )


@pytest.mark.syllabus("5.6")
def test_a_conditional_gaussian_network_is_the_sum_over_its_states():
    net = mixed_net()
    evidence = {"pulse": 80.0}
    weights = {}
    for s, sick in enumerate(("no", "yes")):
        for d, drug in enumerate(("no", "yes")):
            node = net.node("fever")
            m, v = node.intercept[s, d], node.variance[s, d]
            p = net.node("sick").table[s] * net.node("drug").table[s, d]
            weights[sick, drug] = p * norm.pdf(
                80.0, -200 + 7.3 * m, np.sqrt(7.3**2 * v + 30.0)
            )
    total = sum(weights.values())
    found = net.posterior("sick", evidence)
    assert found["yes"] == pytest.approx(
        (weights["yes", "no"] + weights["yes", "yes"]) / total, rel=1e-10
    )
    assert found.log_evidence == pytest.approx(np.log(total), rel=1e-10)
    joint = net.posterior(["drug", "sick"], evidence)
    assert joint[{"sick": "yes", "drug": "no"}] == pytest.approx(
        weights["yes", "no"] / total, rel=1e-10
    )
    fever = net.posterior("fever", evidence)
    assert len(fever.weights) == 4
    assert fever.weights.sum() == pytest.approx(1.0)
    # discrete evidence narrows it to one component
    sure = net.posterior("fever", {"sick": "yes", "drug": "no", "pulse": 80.0})
    precision = 1 / 0.5 + 7.3**2 / 30.0
    assert float(sure.covariance[0, 0]) == pytest.approx(1 / precision)


@pytest.mark.syllabus("5.6")
def test_draws_agree_with_the_exact_answer():
    net = mixed_net()
    rows = net.sample(40_000, 0).to_pandas()
    assert rows["pulse"].mean() == pytest.approx(
        float(net.posterior("pulse").mean[0]), abs=0.3
    )
    assert rows["fever"].std() == pytest.approx(
        float(np.sqrt(net.posterior("fever").covariance[0, 0])), rel=0.03
    )
    exact = net.posterior("sick", {"pulse": 80.0})
    drawn = net.posterior(
        "sick", {"pulse": 80.0}, method="likelihood_weighting", n_samples=50_000
    )
    assert (np.abs(exact.values - drawn.values) <= 5 * drawn.error).all()
    exact, drawn = (
        net.posterior("fever", {"pulse": 80.0}, method=m)
        for m in ("auto", "likelihood_weighting")
    )
    assert abs(exact.mean[0] - drawn.mean[0]) <= 5 * drawn.error[0]


def test_too_many_states_for_an_exact_answer_are_drawn_with_a_warning():
    switches = [TableNode(f"s{i}", [0, 1], table=[0.5, 0.5]) for i in range(18)]
    numbers = [
        GaussianNode(
            f"x{i}",
            [f"s{i}", *([f"x{i - 1}"] if i else [])],
            [0.0, 1.0],
            [[0.5], [0.5]] if i else (),
        )
        for i in range(18)
    ]
    net = BayesNet([*switches, *numbers])
    with pytest.warns(UserWarning, match="too many combinations"):
        found = net.posterior("x17", n_samples=20_000)
    mean = 0.5 * sum(0.5**i for i in range(18))
    assert abs(found.mean[0] - mean) <= 5 * found.error[0]


def test_interventions_and_fixed_numbers():
    net = mixed_net()
    set_ = net.do(fever=38.0)
    assert float(set_.posterior("pulse").mean[0]) == pytest.approx(-200 + 7.3 * 38)
    assert set_.posterior("sick", {"pulse": 90.0})["yes"] == pytest.approx(0.1)
    assert set(net.marginals({"pulse": 80.0})) == {"sick", "drug", "fever"}


def test_what_cannot_be_asked_is_a_clear_error():
    net = mixed_net()
    with pytest.raises(DataError, match="ask separately"):
        net.posterior(["sick", "fever"])
    with pytest.raises(DataError, match="give a finite number"):
        net.posterior("sick", {"fever": "high"})
    with pytest.raises(SettingError, match="Gibbs"):
        net.posterior("sick", method="gibbs")
    with pytest.raises(SettingError, match="'fever' is Gaussian"):
        net.junction_tree()
    with pytest.raises(DataError, match="variance of 'x' is negative"):
        BayesNet([GaussianNode("x", variance=-1.0)])
    with pytest.raises(DataError, match="coefficients of 'y'"):
        BayesNet([GaussianNode("x"), GaussianNode("y", ["x"], coefficients=[1.0, 2.0])])


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_columns_do_not_make_a_network_singular(unit):
    slopes = np.array([2.0, -1.0])
    nodes = [
        GaussianNode("a", [], 1.0, [], 1.0),
        GaussianNode("b", [], 0.0, [], unit**2),
    ]
    net = BayesNet(
        [*nodes, GaussianNode("c", ["a", "b"], 0.0, slopes / [1.0, unit], 0.5)]
    )
    found = net.posterior("c", {"a": 2.0, "b": 3.0 * unit})
    assert found.mean == pytest.approx(4.0 - 3.0)
    want = norm.logpdf(2.0, 1.0, 1.0) + norm.logpdf(3.0 * unit, 0.0, unit)
    assert found.log_evidence == pytest.approx(want)

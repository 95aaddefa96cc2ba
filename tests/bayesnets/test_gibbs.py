"""Gibbs sampling: the stated errors cover the exact answers, also where tables hold zeros."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.bayesnets.nets import random_net

from lyceum import datasets
from lyceum.bayesnets import BayesNet, TableNode, read_bif
from lyceum.errors import SettingError

ASIA = read_bif(datasets.path("asia"))


def logic_net(n: int, seed: int, noise: float = 0.0) -> BayesNet:
    """Coins, and gates (or, and, exclusive or) over those before them, wrong with some
    probability."""
    rng = np.random.default_rng(seed)
    gates = (np.bitwise_or, np.bitwise_and, np.bitwise_xor)
    nodes = []
    for i in range(n):
        if i < 3 or rng.random() < 0.3:
            p = rng.uniform(0.1, 0.9)
            nodes.append(TableNode(f"v{i}", [0, 1], table=[1 - p, p]))
            continue
        a, b = rng.choice(i, 2, replace=False)
        gate = gates[rng.integers(3)]
        true = gate.outer([0, 1], [0, 1])
        table = np.where(np.arange(2) == true[..., None], 1 - noise, noise)
        nodes.append(TableNode(f"v{i}", [0, 1], [f"v{a}", f"v{b}"], table))
    return BayesNet(nodes)


def coverage(nets, method: str) -> tuple[float, float]:
    """The share of values within 1.96 standard errors of the exact ones, and the largest distance
    in errors."""
    distances = []
    for seed, net in enumerate(nets):
        names = np.random.default_rng(seed).permutation(net.names).tolist()
        row = net.sample(1, seed).to_pylist()[0]
        evidence = {name: int(row[name]) for name in names[3:5]}
        exact = net.posterior(names[0], evidence).values
        found = net.posterior(
            names[0], evidence, method=method, n_samples=8_000, random_state=seed
        )
        distances.append(np.abs(found.values - exact)[0] / found.error[0])
    return float(np.mean(np.array(distances) <= 1.96)), float(np.max(distances))


@pytest.mark.syllabus("5.6")
def test_a_node_that_follows_from_its_parents_is_drawn_with_them():
    # P(either=yes) = 1 - .9896 · .945: one variable at a time, a chain never leaves its start
    found = ASIA.posterior("either", method="gibbs")
    assert found["yes"] == pytest.approx(0.064828, abs=4 * found.error[0])
    assert 0.0005 < found.error[0] < 0.003
    evidence = {"xray": "yes", "dysp": "yes"}
    both = ASIA.posterior(["lung", "tub"], evidence, method="gibbs")
    exact = ASIA.posterior(["lung", "tub"], evidence)
    assert (np.abs(both.values - exact.values) <= 4 * both.error).all()


@pytest.mark.syllabus("5.6")
@pytest.mark.parametrize("method", ["gibbs", "likelihood_weighting"])
@pytest.mark.parametrize("zeros", [False, True])
def test_stated_intervals_cover_exact_answers_of_random_networks(method, zeros):
    nets = [random_net(8, seed, 0.4, zeros=zeros) for seed in range(120)]
    share, farthest = coverage(nets, method)
    # of 120 intervals of 95 %, fewer than 88 % miss with a chance of some 1e-3
    assert share >= 0.88
    assert farthest < 5


@pytest.mark.syllabus("5.6")
@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.003])
def test_stated_intervals_cover_exact_answers_of_logic_gates(noise):
    share, farthest = coverage(
        [logic_net(9, seed, noise) for seed in range(80)], "gibbs"
    )
    assert share >= 0.86
    assert farthest < 6


@pytest.mark.syllabus("5.6")
def test_a_state_that_was_never_drawn_is_not_called_impossible():
    net = BayesNet([TableNode("x", [0, 1], table=[1 - 1e-7, 1e-7])])
    found = net.posterior("x", method="gibbs", n_samples=1_000)
    assert found[1] == 0.0
    np.testing.assert_allclose(found.error, 3 / 1_000)


def test_a_block_with_too_many_states_is_refused_and_not_guessed():
    n = 20
    nodes = [TableNode(f"c{i}", [0, 1]) for i in range(n)]
    for i in range(n - 1):
        # both coins are tails with probability 0: no product of states
        table = [[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]]
        nodes.append(TableNode(f"s{i}", [0, 1], [f"c{i}", f"c{i + 1}"], table))
    net = BayesNet(nodes)
    query, evidence = "c0", {"s5": 1}
    with pytest.raises(
        SettingError, match=r"zeros in tables tie .*likelihood_weighting"
    ):
        net.posterior(
            query, evidence | {f"s{i}": 0 for i in range(5)}, soft={
                f"s{i}": [0.5, 0.4] for i in range(6, n - 1)
            }, method="gibbs",
        )  # fmt: skip


def test_blocks_leave_networks_without_zeros_as_they_are():
    from lyceum.bayesnets.inference.blocks import Blocks
    from lyceum.bayesnets.inference.evidence import read_evidence

    rng = np.random.default_rng(0)
    a = TableNode("a", [0, 1], table=[0.4, 0.6])
    b = TableNode("b", [0, 1, 2], ["a"], rng.dirichlet([5, 5, 5], 2))
    net = BayesNet([a, b])
    blocks = Blocks.of(net, net.order, read_evidence(net, None))
    assert [block.names for block in blocks.blocks] == [("a",), ("b",)]
    tied = Blocks.of(ASIA, ASIA.order, read_evidence(ASIA, None))
    (block,) = [block for block in tied.blocks if "either" in block.names]
    assert set(block.names) >= {"tub", "lung", "either"}
    for table in tied.tables:
        assert (tied.expand(table)[1] > 0).all()


def test_two_seeds_agree_within_their_errors_on_a_wide_network():
    # forty coins under 120 observed children of four each: too wide for tables
    rng = np.random.default_rng(1)
    coins = [TableNode(f"c{i}", [0, 1], table=[0.5, 0.5]) for i in range(40)]
    gates = []
    for i in range(120):
        parents = [f"c{j}" for j in rng.choice(40, 4, replace=False)]
        table = rng.dirichlet([8, 8], (2,) * 4)
        gates.append(TableNode(f"g{i}", [0, 1], parents, table))
    net = BayesNet([*coins, *gates])
    evidence = {f"g{i}": int(rng.integers(2)) for i in range(120)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = net.posterior("c0", evidence, method="gibbs", random_state=1)
        second = net.posterior("c0", evidence, method="gibbs", random_state=2)
    gap = np.abs(first.values - second.values)
    assert (gap <= 4 * np.hypot(first.error, second.error)).all()


def test_probabilities_next_to_zero_that_cannot_be_one_block_are_warned_of():
    # a long chain of copies, each wrong once in a million times: 2^16 joint states
    copy = [[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]]
    nodes = [TableNode("x0", [0, 1])]
    nodes += [TableNode(f"x{i}", [0, 1], [f"x{i - 1}"], copy) for i in range(1, 16)]
    net = BayesNet(nodes)
    with pytest.warns(UserWarning, match="next to 0 tie .* errors be too small"):
        net.posterior("x15", method="gibbs", n_samples=800)


@pytest.mark.syllabus("5.6")
def test_weighted_rows_that_miss_the_explanation_of_a_surprise_say_so():
    # the evidence has a cause of probability 1e-6, which explains it ten million times better:
    # P(cause | seen) = 0.91, but no drawn row has it
    cause = TableNode("cause", [0, 1], table=[1 - 1e-6, 1e-6])
    seen = TableNode("seen", [0, 1], ["cause"], [[1 - 1e-7, 1e-7], [0.0, 1.0]])
    coin = TableNode("coin", [0, 1], ["cause"], [[0.5, 0.5], [0.9, 0.1]])
    net = BayesNet([cause, seen, coin])
    exact = net.posterior("coin", {"seen": 1}).values
    found = net.posterior("coin", {"seen": 1}, method="likelihood_weighting")
    assert (np.abs(found.values - exact) <= 2 * found.error).all()
    assert found.error.min() > 0.3
    # an observation that is no surprise has the usual error
    usual = net.posterior("coin", {"seen": 0}, method="likelihood_weighting")
    assert usual.error.max() < 0.005

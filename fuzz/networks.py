"""Random Bayesian networks: every method of inference against sums over the whole joint table.

Tables are smooth, sparse, deterministic or next to zero; evidence is observed, uncertain, set by an
intervention or impossible. Exact methods must agree to 1e-9; the answers of sampling methods are
counted by how many of their standard errors they are away.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzz import Finding
from lyceum.bayesnets import (
    BayesNet,
    GaussianNode,
    TableNode,
    d_separated,
    explain_query,
    read_bif,
    write_bif,
)
from lyceum.errors import DataError, SettingError

__all__ = ["case", "make"]

_EXACT = 1e-9
_FAR = 8.0  # standard errors: beyond, and by more than a hundredth, is a finding
_SAMPLING = ("likelihood_weighting", "gibbs")


def make() -> None:
    """Nothing is shared by the cases."""


def case(shared: None, rng: np.random.Generator) -> list[str]:
    """One network with one question, asked in every way."""
    if rng.random() < 0.25:
        return list(_gaussian_case(rng))
    return list(_discrete_case(rng))


# -- discrete networks -----------------------------------------------------------------


def _discrete_case(rng: np.random.Generator) -> Iterator[str]:
    net = _random_net(rng)
    names = [str(name) for name in rng.permutation(net.names)]
    query = names[: int(rng.integers(1, min(3, len(names)) + 1))]
    rest = names[len(query) :]
    n_seen = int(rng.integers(0, len(rest) + 1))
    evidence = {
        name: int(rng.integers(len(net.states(name)))) for name in rest[:n_seen]
    }
    if rng.random() < 0.7:  # evidence that is possible
        row = net.sample(1, int(rng.integers(1 << 31))).to_pylist()[0]
        evidence = {name: int(row[name]) for name in evidence}
    soft = {}
    for name in names[: int(rng.integers(0, 3))]:
        if name not in evidence:
            soft[name] = rng.uniform(0.05, 1.0, len(net.states(name)))
    if rng.random() < 0.3:
        net, evidence = _intervene(net, rest, evidence, rng)
    joint = _joint(net, evidence, soft)
    if not joint.sum() > 0:
        yield _check_impossible(net, query, evidence, soft)
        return
    yield from _check_exact(net, query, evidence, soft, joint)
    yield from _check_explanations(net, evidence, soft, joint)
    yield from _check_sampling(net, query, evidence, soft, joint, rng)
    yield _check_separation(net, names, rng)
    if write_bif(read_bif(write_bif(net))) != write_bif(net):
        raise Finding("a network differs after it was written as BIF and read")


def _random_net(rng: np.random.Generator) -> BayesNet:
    n = int(rng.integers(1, 8))
    sizes = rng.integers(1, 5, n)
    density = rng.choice([0.2, 0.5, 0.9])
    nodes = []
    for v in range(n):
        parents = [u for u in range(v) if rng.random() < density][:4]
        shape = tuple(int(sizes[u]) for u in parents)
        table = _random_table(shape, int(sizes[v]), rng)
        names = [f"v{u}" for u in parents]
        nodes.append(TableNode(f"v{v}", range(int(sizes[v])), names, table))
    return BayesNet([nodes[i] for i in rng.permutation(n)])


def _random_table(
    shape: tuple[int, ...], n_states: int, rng: np.random.Generator
) -> np.ndarray:
    table = rng.dirichlet(np.full(n_states, rng.choice([0.3, 1.0, 5.0])), shape)
    kind = rng.choice(["smooth", "zeros", "certain", "nearly certain"])
    if kind == "zeros":
        table = np.where(table < 0.2, 0.0, table)
    elif kind != "smooth":
        least = 0.0 if kind == "certain" else 10.0 ** rng.uniform(-8, -2)
        largest = table == table.max(axis=-1, keepdims=True)
        table = np.where(largest, 1.0, least)
    return table / table.sum(axis=-1, keepdims=True)


def _intervene(
    net: BayesNet, rest: list[str], evidence: dict[str, int], rng: np.random.Generator
) -> tuple[BayesNet, dict[str, int]]:
    """The network after do(x), made by `do` and by hand: both must have the same joint table."""
    if not rest:
        return net, evidence
    name = rest[0]
    state = int(rng.integers(len(net.states(name))))
    done = net.do(**{name: state})
    nodes: list[Any] = []
    for node in net.nodes:
        if node.name == name:
            table = np.eye(len(node.states))[state]
            nodes.append(TableNode(name, node.states, (), table))
        else:
            nodes.append(node)
    if not np.array_equal(_joint(done, {}, {}), _joint(BayesNet(nodes), {}, {})):
        raise Finding(f"do({name}={state}) is not the product without P({name} | ...)")
    return done, {key: value for key, value in evidence.items() if key != name}


def _joint(
    net: BayesNet, evidence: dict[str, int], soft: dict[str, np.ndarray]
) -> np.ndarray:
    """P(all variables, evidence), cell by cell, one axis per variable in the order of names."""
    shape = tuple(len(net.states(name)) for name in net.names)
    joint = np.zeros(shape)
    index = {name: i for i, name in enumerate(net.names)}
    for cell in itertools.product(*map(range, shape)):
        if any(cell[index[name]] != state for name, state in evidence.items()):
            continue
        p = 1.0
        for node in net.nodes:
            family = (*node.parents, node.name)
            p *= node.table[tuple(cell[index[name]] for name in family)]
        for name, likelihood in soft.items():
            p *= likelihood[cell[index[name]]]
        joint[cell] = p
    return joint


def _marginal(net: BayesNet, query: list[str], joint: np.ndarray) -> np.ndarray:
    """P(query | evidence) from the joint table."""
    keep = [net.names.index(name) for name in query]
    others = tuple(i for i in range(joint.ndim) if i not in keep)
    table = joint.sum(axis=others)
    order = [sorted(keep).index(i) for i in keep]
    return table.transpose(order) / joint.sum()


def _check_impossible(
    net: BayesNet, query: list[str], evidence: dict[str, int], soft: dict
) -> str:
    """Evidence of probability 0 is refused by every method."""
    asks = [
        lambda method=method: net.posterior(query, evidence, soft=soft, method=method)
        for method in ("junction_tree", "elimination")
    ]
    asks.append(lambda: explain_query(net, query, evidence, soft=soft))
    asks.append(lambda: net.most_probable(evidence, soft=soft))
    for ask in asks:
        try:
            answer = ask()
        except DataError:
            continue
        raise Finding(f"impossible evidence {evidence} is answered by {answer}")
    return "impossible"


def _check_exact(
    net: BayesNet, query: list[str], evidence: dict, soft: dict, joint: np.ndarray
) -> Iterator[str]:
    want = _marginal(net, query, joint)
    log_evidence = np.log(joint.sum())
    for method in ("auto", "junction_tree", "elimination"):
        found = net.posterior(query, evidence, soft=soft, method=method)
        _agree(found.values, want, f"P({query} | {evidence}) by {method}")
        _agree(found.log_evidence, log_evidence, f"log P({evidence}) by {method}")
        yield method
    working = explain_query(net, query, evidence, soft=soft)
    _agree(working.posterior.values, want, f"the working of P({query} | {evidence})")
    yield "working"
    for name, found in net.marginals(evidence, soft=soft).items():
        _agree(found.values, _marginal(net, [name], joint), f"the marginal of {name}")
    yield "marginals"
    if not soft:
        codes = [evidence.get(name, -1) for name in net.names]
        rows = np.array([codes], np.int32)
        for name, values in net.marginals_of_rows(rows).items():
            _agree(values[0], _marginal(net, [name], joint), f"the row of {name}")
        yield "rows"


def _check_explanations(
    net: BayesNet, evidence: dict, soft: dict, joint: np.ndarray
) -> Iterator[str]:
    best = np.sort(joint[joint > 0])[::-1]
    first = net.most_probable(evidence, soft=soft)
    _agree(first.probability, best[0] / best.sum(), "the most probable explanation")
    k = 7
    found = [
        answer.probability for answer in net.k_most_probable(k, evidence, soft=soft)
    ]
    _agree(found, best[:k] / best.sum(), "the most probable explanations")
    yield "explanations"


def _check_sampling(
    net: BayesNet,
    query: list[str],
    evidence: dict,
    soft: dict,
    joint: np.ndarray,
    rng: np.random.Generator,
) -> Iterator[str]:
    """How far estimates are from exact answers: the first value, as the others follow from it."""
    want = _marginal(net, query, joint).ravel()
    for method in _SAMPLING:
        seed = int(rng.integers(1 << 31))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                found = net.posterior(
                    query,
                    evidence,
                    soft=soft,
                    method=method,
                    n_samples=4_000,
                    random_state=seed,
                )
            except (DataError, SettingError):
                yield f"{method}: refused"
                continue
        gap = np.abs(found.values.ravel() - want)
        errors = gap / found.error.ravel()
        mark = " (warned)" if heard else ""
        far = (errors > _FAR) & (gap > 0.01)
        if far.any() and not heard:
            raise Finding(
                f"P({query} | {evidence}) by {method} is {errors.max():.0f} standard errors away:"
                f" {found.values.ravel()} ± {found.error.ravel()} for {want}"
            )
        inside = "within" if errors[0] <= 1.96 else "beyond"
        yield f"{method}: {inside} 1.96 errors{mark}"


def _check_separation(net: BayesNet, names: list[str], rng: np.random.Generator) -> str:
    """Variables that the graph separates are independent in the numbers."""
    if len(names) < 2:
        return "one variable"
    first, second, *rest = names
    given = rest[: int(rng.integers(0, len(rest) + 1))]
    if not d_separated(net, first, second, given, max_paths=20):
        return "connected"
    joint = _joint(net, {}, {})
    axes = [net.names.index(name) for name in (first, second, *given)]
    others = tuple(i for i in range(joint.ndim) if i not in axes)
    table = joint.sum(axis=others).transpose([sorted(axes).index(i) for i in axes])
    # P(a, b, c) P(c) = P(a, c) P(b, c)
    left = table * table.sum(axis=(0, 1), keepdims=True)
    right = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    _agree(left, right, f"{first} ⊥ {second} | {given}")
    return "separated"


def _agree(found: Any, want: Any, what: str) -> None:
    """Raise unless the numbers are the same, up to rounding."""
    if np.shape(found) != np.shape(want):
        raise Finding(f"{what} has the shape {np.shape(found)}, not {np.shape(want)}")
    if not np.allclose(found, want, rtol=_EXACT, atol=_EXACT):
        raise Finding(f"{what} is {found}, but the joint table says {want}")


# -- networks with numbers -------------------------------------------------------------


def _gaussian_case(rng: np.random.Generator) -> Iterator[str]:
    """Linear Gaussians below up to two discrete variables, by matrices for every state."""
    states = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3)))]
    shape = tuple(states)
    d = int(rng.integers(1, 5))
    nodes: list[Any] = []
    for i, n in enumerate(states):
        table = rng.dirichlet(np.ones(n), tuple(states[:i]))
        nodes.append(TableNode(f"s{i}", range(n), [f"s{j}" for j in range(i)], table))
    edges = np.tril(rng.random((d, d)) < 0.6, -1)
    a = rng.normal(size=(*shape, d))
    B = rng.normal(size=(*shape, d, d)) * edges
    noise = rng.uniform(0.1, 2.0, (*shape, d))
    for j in range(d):
        parents = [f"s{i}" for i in range(len(states))]
        numeric = np.flatnonzero(edges[j])
        parents += [f"x{i}" for i in numeric]
        b = B[..., j, :][..., numeric]
        nodes.append(GaussianNode(f"x{j}", parents, a[..., j], b, noise[..., j]))
    net = BayesNet([nodes[i] for i in rng.permutation(len(nodes))])
    seen = sorted(int(j) for j in rng.permutation(d)[: int(rng.integers(0, d))])
    evidence = {f"x{j}": float(rng.normal()) for j in seen}
    asked = [j for j in range(d) if j not in seen]
    want = _gaussian_answer(net, a, B, noise, seen, np.array(list(evidence.values())))
    weights, means, covariances = want
    query = [f"x{j}" for j in asked]
    for found in (
        net.posterior(query, evidence),
        explain_query(net, query, evidence).posterior,
    ):
        mean = weights @ means[:, asked]
        gap = means[:, asked] - mean
        spread = np.tensordot(weights, covariances[:, asked][:, :, asked], 1)
        _agree(found.mean, mean, f"the mean of {query} given {evidence}")
        want_spread = spread + (weights * gap.T) @ gap
        _agree(found.covariance, want_spread, f"the covariance of {query}")
    yield "numbers"
    if states:
        found = net.posterior("s0", evidence)
        table = weights.reshape(shape).sum(axis=tuple(range(1, len(shape))))
        _agree(found.values, table, f"P(s0 | {evidence})")
        working = explain_query(net, "s0", evidence)
        _agree(working.posterior.values, table, f"the working of P(s0 | {evidence})")
        yield "states behind numbers"


def _gaussian_answer(
    net: BayesNet,
    a: np.ndarray,
    B: np.ndarray,
    noise: np.ndarray,
    seen: list[int],
    values: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, means and covariances given the values, for every combination of states.

    x = a + B x + e: its mean is (I − B)⁻¹ a, its covariance (I − B)⁻¹ D (I − B)⁻ᵀ.
    """
    d = a.shape[-1]
    weights, means, covariances = [], [], []
    for cell in np.ndindex(a.shape[:-1]):
        inverse = np.linalg.inv(np.eye(d) - B[cell])
        mean = inverse @ a[cell]
        covariance = inverse @ np.diag(noise[cell]) @ inverse.T
        p = 1.0
        for i, k in enumerate(cell):
            p *= net.node(f"s{i}").table[(*cell[:i], k)]
        part = covariance[np.ix_(seen, seen)]
        gap = values - mean[seen]
        log_density = -0.5 * (
            gap @ np.linalg.solve(part, gap) + np.linalg.slogdet(2 * np.pi * part)[1]
        )
        gain = np.linalg.solve(part, covariance[seen]).T
        weights.append(p * np.exp(log_density))
        means.append(mean + gain @ gap)
        covariances.append(covariance - gain @ covariance[seen])
    shares = np.array(weights) / np.sum(weights)
    return shares, np.array(means), np.array(covariances)

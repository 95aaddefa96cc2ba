"""Attacks on networks that were invented after the repairs: functions of hidden causes, copies that
nearly agree, two modes far apart, and questions about large graphs."""

from __future__ import annotations

import itertools
import time
import warnings
from typing import Any

import networkx as nx
import numpy as np

from fuzz import Finding
from lyceum.bayesnets import BayesNet, TableNode, d_separated
from lyceum.errors import DataError, SettingError

__all__ = ["case", "make"]

_SECONDS = 5.0  # of the processor, for one verdict with its paths on a slow machine


def make() -> None:
    """Nothing is shared by the cases."""


def case(shared: None, rng: np.random.Generator) -> str | list[str]:
    """One network with one question."""
    if rng.random() < 0.3:
        return _large_graph(rng)
    makers = [_parity, _copies, _two_modes, _noisy_or, _switch]
    return _sampled(makers[rng.integers(len(makers))](rng), rng)


# -- networks that sampling may get wrong ----------------------------------------------


def _root(name: str, p: float) -> TableNode:
    return TableNode(name, range(2), (), [1 - p, p])


def _function(name: str, parents: list[str], of: Any, slip: float) -> TableNode:
    """A variable that is a function of its parents but for a slip."""
    table = np.empty((2,) * len(parents) + (2,))
    for cell in np.ndindex(*(2,) * len(parents)):
        value = int(of(cell))
        table[(*cell, value)] = 1 - slip
        table[(*cell, 1 - value)] = slip
    return TableNode(name, range(2), parents, table)


def _slip(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, 0.0, 1e-12, 1e-6, 1e-3, 0.05]))


def _parity(rng: np.random.Generator) -> tuple[BayesNet, dict[str, int]]:
    """Causes whose sum modulo 2 is seen: no single one can change alone."""
    n = int(rng.integers(2, 5))
    causes = [_root(f"c{i}", float(rng.uniform(0.05, 0.95))) for i in range(n)]
    names = [cause.name for cause in causes]
    odd = _function("odd", names, lambda cell: sum(cell) % 2, _slip(rng))
    return BayesNet([*causes, odd]), {"odd": int(rng.integers(2))}


def _copies(rng: np.random.Generator) -> tuple[BayesNet, dict[str, int]]:
    """A chain of copies, some turned around, that agree but for a slip."""
    n = int(rng.integers(3, 9))
    nodes = [_root("x0", float(rng.uniform(0.01, 0.99)))]
    slip = _slip(rng)
    for i in range(1, n):
        turned = bool(rng.random() < 0.3)
        of = (lambda cell: 1 - cell[0]) if turned else (lambda cell: cell[0])
        nodes.append(_function(f"x{i}", [f"x{i - 1}"], of, slip))
    evidence = {} if rng.random() < 0.5 else {f"x{n - 1}": int(rng.integers(2))}
    return BayesNet(nodes), evidence


def _two_modes(rng: np.random.Generator) -> tuple[BayesNet, dict[str, int]]:
    """Several readings of one hidden state, each nearly certain: all change together or none."""
    slip = float(rng.choice([0.0, 1e-9, 1e-4, 0.01]))
    nodes = [_root("state", float(rng.uniform(0.2, 0.8)))]
    for i in range(int(rng.integers(2, 7))):
        nodes.append(_function(f"r{i}", ["state"], lambda cell: cell[0], slip))
    return BayesNet(nodes), {}


def _noisy_or(rng: np.random.Generator) -> tuple[BayesNet, dict[str, int]]:
    """Rare causes of one effect that is seen."""
    n = int(rng.integers(2, 5))
    causes = [_root(f"c{i}", 10.0 ** rng.uniform(-4, -0.5)) for i in range(n)]
    names = [cause.name for cause in causes]
    keep = rng.uniform(0.0, 0.3, n)
    table = np.empty((2,) * n + (2,))
    for cell in np.ndindex(*(2,) * n):
        off = float(np.prod(np.where(cell, keep, 1.0)))
        table[cell] = [off, 1 - off]
    return BayesNet([*causes, TableNode("e", range(2), names, table)]), {"e": 1}


def _switch(rng: np.random.Generator) -> tuple[BayesNet, dict[str, int]]:
    """A switch that chooses which of two inputs is shown, and a copy of what is shown."""
    roots = [_root(name, float(rng.uniform(0.05, 0.95))) for name in "sab"]
    shown = _function(
        "shown", ["s", "a", "b"], lambda cell: cell[1 + cell[0]], _slip(rng)
    )
    copy = _function("copy", ["shown"], lambda cell: cell[0], _slip(rng))
    return BayesNet([*roots, shown, copy]), {"copy": int(rng.integers(2))}


def _sampled(
    problem: tuple[BayesNet, dict[str, int]], rng: np.random.Generator
) -> list[str]:
    """Estimates against the exact answer, which the joint table gives too."""
    net, evidence = problem
    free = [name for name in net.names if name not in evidence]
    query = str(rng.choice(free))
    joint = np.ones((2,) * len(net.names))
    for node in net.nodes:
        axes = [net.names.index(name) for name in (*node.parents, node.name)]
        shape = [2 if i in axes else 1 for i in range(joint.ndim)]
        order = np.argsort(axes)
        joint = joint * node.table.transpose(order).reshape(shape)
    for name, state in evidence.items():
        axis = net.names.index(name)
        seen = np.arange(2) == state
        joint = joint * seen.reshape([2 if i == axis else 1 for i in range(joint.ndim)])
    others = tuple(i for i, name in enumerate(net.names) if name != query)
    if not joint.sum() > 0:
        return ["impossible"]
    want = joint.sum(axis=others) / joint.sum()
    exact = net.posterior(query, evidence).values
    if not np.allclose(exact, want, rtol=1e-9, atol=1e-12):
        raise Finding(f"P({query} | {evidence}) is {exact}, not {want}")
    return ["exact", *(_estimate(net, query, evidence, want, m, rng) for m in METHODS)]


METHODS = ("gibbs", "likelihood_weighting")


def _estimate(
    net: BayesNet, query: str, evidence: Any, want: Any, method: str, rng: Any
) -> str:
    seed = int(rng.integers(1 << 31))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = net.posterior(
                query, evidence, method=method, n_samples=4000, random_state=seed
            )
        except (DataError, SettingError):
            return f"{method}: refused"
    gap = np.abs(found.values - want)
    if (gap > 8 * found.error).any() and gap.max() > 0.01 and not heard:
        raise Finding(
            f"P({query} | {evidence}) by {method} is {found.values} ± {found.error}, not {want}, of"
            f" {[node.table.tolist() for node in net.nodes]}"
        )
    if not np.isfinite(found.values).all() or not np.isfinite(found.error).all():
        raise Finding(f"{method} answers {found.values} ± {found.error}")
    inside = "within" if gap[0] <= 1.96 * found.error[0] else "beyond"
    return f"{method}: {inside} 1.96 errors{' (warned)' if heard else ''}"


# -- large graphs ----------------------------------------------------------------------


def _large_graph(rng: np.random.Generator) -> str:
    """The verdict in little time, on graphs with very many paths."""
    n = int(rng.integers(20, 300))
    edges = _edges(n, rng)
    order = rng.permutation(n)
    first, second = ({f"v{i}"} for i in order[:2])
    given = {f"v{i}" for i in order[2 : 2 + int(rng.integers(0, 6))]}
    parents: dict[str, list[str]] = {f"v{i}": [] for i in range(n)}
    for start, end in edges:
        parents[f"v{end}"].append(f"v{start}")
    started = time.process_time()
    found = d_separated(parents, first, second, given)
    took = time.process_time() - started
    want = _separated_by_moral_graph(parents, first | second, given)
    if bool(found) != want:
        raise Finding(f"{first} and {second} given {given}: {bool(found)}, not {want}")
    if took > _SECONDS:
        raise Finding(f"{took:.1f} s for {n} nodes and {len(edges)} edges")
    open_paths = [path for path in found.paths if not path.blocked]
    if want and open_paths:
        raise Finding(f"separated, but {open_paths[0].text} is open")
    return "separated" if want else "connected"


def _separated_by_moral_graph(
    parents: dict[str, list[str]], asked: set[str], given: set[str]
) -> bool:
    """Lauritzen's criterion: no path outside of `given` in the moral graph of all ancestors."""
    ancestors = set(asked | given)
    waiting = list(ancestors)
    while waiting:
        new = set(parents[waiting.pop()]) - ancestors
        ancestors |= new
        waiting += new
    moral = nx.Graph()
    moral.add_nodes_from(ancestors)
    for child in ancestors:
        family = [child, *parents[child]]
        moral.add_edges_from(itertools.combinations(family, 2))
    moral.remove_nodes_from(given)
    return not nx.has_path(moral, *asked)


def _edges(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Layers, ladders, dense graphs or trees: some have more paths than atoms."""
    kind = rng.integers(4)
    if kind == 0:
        width = int(rng.integers(2, 8))
        return [
            (i, j)
            for i in range(n)
            for j in range((i // width + 1) * width, min((i // width + 2) * width, n))
        ]
    if kind == 1:
        return [(i, i + step) for i in range(n) for step in (1, 2) if i + step < n]
    if kind == 2:
        share = rng.uniform(0.01, 0.3)
        return [(i, j) for j in range(n) for i in range(j) if rng.random() < share]
    return [(int(rng.integers(j)), j) for j in range(1, n)]

"""Workloads of Bayesian networks, beside pyAgrum and pgmpy.

Insurance and hailfinder come from pgmpy's own package where it brings them; otherwise random
networks of their size stand in, and the title says so.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from workloads import Workload, size, workload

from lyceum import datasets
from lyceum.bayesnets import (
    BayesNet,
    TableNode,
    read_bif,
    structural_distance,
    write_bif,
)


def _bundled(name: str) -> BayesNet | None:
    """A network that pgmpy brings along as a (packed) BIF file."""
    try:
        import gzip
        from importlib.resources import files

        folder = files("pgmpy.utils") / "example_models"
        packed = folder / f"{name}.bif.gz"
        return read_bif(gzip.decompress(packed.read_bytes()).decode())
    except (ImportError, FileNotFoundError, NotADirectoryError):
        return None


def _stand_in(n: int, edges: int, seed: int) -> BayesNet:
    """A random network of n nodes and about `edges` edges, 2 to 4 states, at most 3 parents, near
    ones."""
    rng = np.random.default_rng(seed)
    states = rng.integers(2, 5, n)
    nodes = []
    for v in range(n):
        near = np.arange(max(0, v - 6), v)
        count = min(len(near), 3, int(rng.poisson(edges / n)))
        parents = rng.choice(near, count, replace=False) if count else []
        table = rng.dirichlet(np.ones(states[v]), tuple(states[u] for u in parents))
        labels = [f"s{k}" for k in range(states[v])]
        nodes.append(TableNode(f"v{v}", labels, [f"v{u}" for u in parents], table))
    return BayesNet(nodes)


def _queries(net: BayesNet, count: int) -> list[tuple[str, dict[str, str]]]:
    rng = np.random.default_rng(0)
    rows = net.sample(count, 1).to_pylist()
    found = []
    for row in rows:
        query, seen = rng.choice(net.names, 2, replace=False)
        found.append((str(query), {str(seen): row[seen]}))
    return found


def _file(net: BayesNet) -> str:
    path = Path(tempfile.mkdtemp()) / "net.bif"
    write_bif(net, path)
    return str(path)


def _query_workload(name: str, net: BayesNet, note: str = "") -> Workload:
    queries, path = _queries(net, 200), _file(net)
    exact = [
        net.posterior(query, seen, method="elimination").values
        for query, seen in queries
    ]

    def lyceum():
        known = read_bif(path)

        def run():
            model = BayesNet(known.nodes)  # a fresh one: compiling is timed
            return [model.posterior(query, seen).values for query, seen in queries]

        return run

    def pyagrum(engine):
        def prepare():
            import pyagrum as gum

            model = gum.loadBN(path)

            def run():
                inference = getattr(gum, engine)(model)
                found = []
                for query, seen in queries:
                    inference.setEvidence(seen)
                    inference.addTarget(
                        query
                    ) if engine == "VariableElimination" else None
                    found.append(inference.posterior(query).toarray())
                return found

            return run

        return prepare

    def pgmpy():
        from pgmpy.inference import VariableElimination
        from pgmpy.readwrite import BIFReader

        model = BIFReader(path).get_model()

        def run():
            inference = VariableElimination(model)
            return [
                _ordered(inference.query([q], seen, show_progress=False), net, q)
                for q, seen in queries
            ]

        return run

    def quality(found):
        error = max(float(np.abs(a - b).max()) for a, b in zip(found, exact))
        return {"largest error": error, "right to 1e-6": float(error < 1e-6)}

    return Workload(
        "Bayesian networks",
        f"200 single-evidence queries, {name} ({len(net.names)} nodes){note}",
        {
            "lyceum": lyceum,
            "pyagrum VariableElimination": pyagrum("VariableElimination"),
            "pyagrum LazyPropagation": pyagrum("LazyPropagation"),
            "pgmpy VariableElimination": pgmpy,
        },
        quality,
        ("right to 1e-6", +1, 1e-9),
    )


def _ordered(factor, net: BayesNet, query: str) -> np.ndarray:
    names = factor.state_names[query]
    return np.array(
        [factor.values[names.index(str(state))] for state in net.states(query)]
    )


@workload
def bayesnet_queries_alarm(scale):
    return _query_workload("alarm", read_bif(datasets.path("alarm")))


@workload
def bayesnet_queries_insurance(scale):
    net = _bundled("insurance")
    stand_in = net is None
    return _query_workload(
        "insurance",
        net or _stand_in(27, 52, 1),
        " (a random one of its size)" * stand_in,
    )


@workload
def bayesnet_queries_hailfinder(scale):
    net = _bundled("hailfinder")
    stand_in = net is None
    return _query_workload(
        "hailfinder",
        net or _stand_in(56, 66, 2),
        " (a random one of its size)" * stand_in,
    )


@workload
def bayesnet_hill_climbing(scale):
    alarm = read_bif(datasets.path("alarm"))
    table = alarm.sample(size(10_000, scale), 0)
    frame = table.to_pandas().astype(str)

    def lyceum(method):
        def prepare():
            from lyceum.bayesnets import learn_structure

            return lambda: learn_structure(table, method).net.edges

        return prepare

    def pyagrum():
        import pyagrum as gum

        template = gum.loadBN(str(datasets.path("alarm")))

        def run():
            learner = gum.BNLearner(frame, template)
            learner.useGreedyHillClimbing()
            learner.useScoreBIC()
            graph = learner.learnDAG()
            names = {i: template.variable(i).name() for i in template.nodes()}
            return [(names[a], names[b]) for a, b in graph.arcs()]

        return run

    def pgmpy():
        from pgmpy.estimators import HillClimbSearch

        return lambda: list(
            HillClimbSearch(frame)
            .estimate(scoring_method="bic-d", show_progress=False)
            .edges()
        )

    def quality(edges):
        nodes = [
            TableNode(name, alarm.states(name), [a for a, b in edges if b == name])
            for name in alarm.names
        ]
        return {
            "BIC": _bic(nodes, table),
            "structural distance": structural_distance(BayesNet(nodes), alarm),
        }

    return Workload(
        "Bayesian networks",
        f"structure by hill climbing, BIC, {table.num_rows:,} samples of alarm (37 variables)",
        {
            "lyceum": lyceum("order_search"),
            "lyceum hill climbing": lyceum("hill_climbing"),
            "lyceum tabu": lyceum("tabu"),
            "pyagrum greedy": pyagrum,
            "pgmpy HillClimbSearch": pgmpy,
        },
        quality,
        ("BIC", +1, 2e-3),
    )


def _bic(nodes, table) -> float:
    """From counts by NumPy: the same for every contender."""
    codes = {
        name: table.column(name).combine_chunks().indices.to_numpy()
        for name in table.column_names
    }
    states = {node.name: len(node.states) for node in nodes}
    total = 0.0
    for node in nodes:
        row = np.zeros(table.num_rows, dtype=np.int64)
        q = 1
        for parent in node.parents:
            row, q = row * states[parent] + codes[parent], q * states[parent]
        r = states[node.name]
        counts = (
            np.bincount(row * r + codes[node.name], minlength=q * r)
            .reshape(q, r)
            .astype(float)
        )
        sums = counts.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            total += np.where(counts > 0, counts * np.log(counts / sums), 0.0).sum()
        total -= 0.5 * np.log(table.num_rows) * q * (r - 1)
    return float(total)


@workload
def bayesnet_rows(scale):
    alarm = read_bif(datasets.path("alarm"))
    n = size(100_000, scale)
    table = alarm.sample(n, 2)
    codes = np.column_stack(
        [table.column(m).combine_chunks().indices.to_numpy() for m in alarm.names]
    )
    codes[np.random.default_rng(0).random(codes.shape) < 0.7] = -1
    some = range(0, n, max(1, n // 50))
    exact = [alarm.marginals(_known(alarm, codes[i]))["HR"].values for i in some]

    def lyceum():
        return lambda: alarm.marginals_of_rows(codes)["HR"]

    def pyagrum():
        import pyagrum as gum

        model = gum.loadBN(str(datasets.path("alarm")))
        few = min(n, 500)  # one at a time: timed on a part, reported as it is

        def run():
            inference = gum.LazyPropagation(model)
            out = np.full((n, 3), np.nan)
            for i in range(few):
                inference.setEvidence(
                    {k: str(v) for k, v in _known(alarm, codes[i]).items()}
                )
                inference.makeInference()
                for name in alarm.names:
                    found = inference.posterior(name)
                    if name == "HR":
                        out[i] = found.toarray()
            return out

        return run

    def quality(found):
        pairs = [
            (found[i], want)
            for i, want in zip(some, exact)
            if np.isfinite(found[i]).all()
        ]
        error = max(float(np.abs(a - b).max()) for a, b in pairs)
        return {
            "largest error": error,
            "right to 1e-6": float(error < 1e-6),
            "rows answered": int(np.isfinite(found).all(axis=1).sum()),
        }

    return Workload(
        "Bayesian networks",
        f"all marginals of alarm for {n:,} rows of evidence (30 % known; pyagrum: the first 500"
        " rows only)",
        {"lyceum": lyceum, "pyagrum LazyPropagation, 500 rows": pyagrum},
        quality,
        ("right to 1e-6", +1, 1e-9),
    )


def _known(net: BayesNet, codes: np.ndarray) -> dict[str, str]:
    return {
        name: net.states(name)[k]
        for name, k in zip(net.names, codes.tolist())
        if k >= 0
    }

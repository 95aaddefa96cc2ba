"""learn_structure: the graph of a network from rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import scan
from lyceum._core.probability import find_labels
from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum._core.types import Data
from lyceum.bayesnets.directed_graph import topological_order
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.nodes import TableNode
from lyceum.bayesnets.parameters.fit import learn_parameters
from lyceum.bayesnets.structure.coded_data import (
    SCORES,
    CodedData,
    ScoreRule,
    StreamedData,
    learning_rows,
    structure_data,
)
from lyceum.bayesnets.structure.pdag import extend, pc
from lyceum.bayesnets.structure.search import (
    EdgeRules,
    StructureSearch,
    climb_with_orders,
    k2,
    random_moves,
)
from lyceum.bayesnets.structure.trees import (
    chow_liu,
    column_index,
    tree_augmented,
)
from lyceum.errors import DataError, SettingError
from lyceum.report import Summary, Table

METHODS = ("order_search", "hill_climbing", "tabu", "k2", "chow_liu", "tan", "pc")
_SEARCHES = ("order_search", "hill_climbing", "tabu")
_PATIENCE = 15
Edges = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class LearnedStructure(Shown):
    """A structure learned from rows.

    Attributes
    ----------
    net : BayesNet
        The graph with the parameters estimated from the same rows. After "pc" one of the graphs
        that the pattern stands for.
    method, score_name : str
        How it was learned, and the score that was maximized.
    score : float
        The score of the graph on the rows; larger is better.
    history : list of float
        The score after every edge of a search; empty otherwise.
    undirected : list of (str, str)
        After "pc": edges whose direction the data do not decide.
    n_tests : int
        After "pc": the number of tests.

    See Also
    --------
    learn_structure : Makes it.
    structural_distance : How far two structures are apart.
    learn_parameters : The tables of a given structure.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.bayesnets import learn_structure
    >>> rain = ["no", "no", "yes", "yes"] * 5
    >>> table = pd.DataFrame({"rain": rain, "wet": rain, "coin": ["h", "t"] * 10})
    >>> structure = learn_structure(table)
    >>> [sorted(edge) for edge in structure.net.edges]  # the coin is independent
    [['rain', 'wet']]
    >>> structure.method, structure.score_name
    ('order_search', 'bic')
    """

    net: BayesNet
    method: str
    score_name: str
    score: float
    history: list[float]
    undirected: list[tuple[str, str]]
    n_tests: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The method, the score, the edges and the search, in JSON's own types."""
        return plain(
            {
                "method": self.method,
                "score_name": self.score_name,
                "score": self.score,
                "nodes": self.net.names,
                "edges": self.net.edges,
                "undirected": self.undirected,
                "parameters": self.net.n_parameters,
                "history": self.history,
                "n_tests": self.n_tests,
            }
        )

    def summary(self) -> Summary:
        """The method, the score and the edges."""
        facts: dict[str, Any] = {
            "method": self.method,
            self.score_name: self.score,
            "nodes": len(self.net.names),
            "edges": len(self.net.edges),
            "parameters": self.net.n_parameters,
        }
        if self.n_tests:
            facts["tests"] = self.n_tests
        open_ = {frozenset(edge) for edge in self.undirected}
        rows = [
            (a, "—" if frozenset((a, b)) in open_ else "→", b)
            for a, b in self.net.edges
        ]
        return Summary(
            "Structure of a Bayesian network",
            facts,
            [Table("Edges", ("from", "", "to"), rows)],
        )


def learn_structure(
    data: Data,
    method: str = "order_search",
    *,
    score: str = "bic",
    equivalent_sample_size: float = 10.0,
    pseudo_count: float = 1.0,
    max_parents: int | None = None,
    required: Edges = (),
    forbidden: Edges = (),
    order: Sequence[str] | None = None,
    root: str | None = None,
    tree_root: str | None = None,
    restarts: int = 0,
    tabu_length: int = 10,
    alpha: float = 0.05,
    test: str = "g2",
    estimate: str = "laplace",
    random_state: int | None = 0,
) -> LearnedStructure:
    """The graph of a Bayesian network from rows of categories, and its parameters.

    Parameters
    ----------
    data : frame, path or `scan(...)`
        All columns are variables, the target too. Numbers must be discretized first
        (`lyceum.prepare.KBinsDiscretizer`). Files larger than memory are counted in passes. Where
        cells are missing, the searches and K2 leave incomplete rows out; trees and tests leave them
        out pair by pair, test by test.
    method : str, default="order_search"
        "hill_climbing" (add, remove or turn the best edge until nothing gains), "order_search"
        (from there to the best order of the variables among the families scored, and climb again,
        until neither gains: the best score, for about twice the time), "tabu" (goes on downhill for
        a while), "k2" (needs `order`), "chow_liu" (the best tree), "tan" (the class, which is the
        target of the scan or `root`, over a tree of the columns) or "pc" (tests of independence).
    score : {"bic", "aic", "bdeu", "bd", "k2"}, default="bic"
        What the searches and K2 maximize. The last three are log P(rows | graph) with a Dirichlet
        prior of every row of every table.
    equivalent_sample_size : float, default=10.0
        Of "bdeu": the prior rows of a table, spread evenly over its cells. Graphs with the same
        independences score the same.
    pseudo_count : float, default=1.0
        Of "bd": the prior rows of every cell of every table; with 1 it is "k2".
    max_parents : int, optional
        The most parents of a node; by default no limit but that a table has at most four million
        cells.
    required, forbidden : lists of (from, to)
        Edges that must, and must not, be there; for the searches, K2 and PC, where an edge that is
        forbidden one way points the other way if there is one. Trees refuse them.
    order : names
        For K2: parents come before their children.
    root : name, optional
        For "chow_liu" the root of the tree, by default the first column; for "tan" the class.
    tree_root : name, optional
        For "tan": the column from which the edges of the tree point away, by default the first.
    restarts : int, default=0
        How often a search starts again from the best structure after random changes.
    tabu_length : int, default=10
        For how many steps a changed edge is left alone by "tabu".
    alpha : float, default=0.05
        For PC: the level of the tests.
    test : {"g2", "chi2"}, default="g2"
        For PC.
    estimate : {"laplace", "raw", "dirichlet"}, default="laplace"
        How the tables are then estimated, see `learn_parameters`.
    random_state : int or None, default=0
        For restarts and the order search.

    Returns
    -------
    LearnedStructure

    References
    ----------
    D. Heckerman, D. Geiger and D. M. Chickering, "Learning Bayesian networks", Machine Learning 20,
    1995. M. Teyssier and D. Koller, "Ordering-based search", Uncertainty in Artificial
    Intelligence, 2005.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import learn_structure, read_bif
    >>> rows = read_bif(datasets.path("asia")).sample(5_000, random_state=0)
    >>> structure = learn_structure(rows)
    >>> sorted(structure.net.markov_blanket("smoke"))
    ['bronc', 'lung']
    """
    _check(method, score, test, alpha, max_parents, tree_root)
    rows = data if hasattr(data, "reduce") else scan(data)
    coded = _code_rows(rows, method)
    names = list(coded.states)
    rule = ScoreRule(score, coded.weight, equivalent_sample_size, pseudo_count)
    rules = _edge_rules(names, required, forbidden, max_parents)
    history: list[float] = []
    undirected: list[tuple[str, str]] = []
    n_tests = 0
    if method in _SEARCHES:
        search = StructureSearch(coded, rule, rules)
        parents, history = _search(search, method, tabu_length, restarts, random_state)
    elif method == "pc":
        assert isinstance(coded, CodedData)
        pattern, n_tests = pc(coded, alpha, test, rules=rules)
        parents = extend(pattern)
        undirected = [(names[u], names[v]) for u, v in sorted(pattern.undirected)]
    elif method == "k2":
        parents = k2(coded, rule, _whole_order(names, order), rules)
    else:
        parents = _tree(coded, rows, method, (root, tree_root), rules)
    total = _total_score(coded, parents, rule)
    net = learn_parameters(
        _network(coded, parents),
        rows,
        estimate=estimate,
        equivalent_sample_size=equivalent_sample_size,
    )
    return LearnedStructure(net, method, score, total, history, undirected, n_tests)


def _total_score(
    data: CodedData | StreamedData, parents: list[set[int]], rule: ScoreRule
) -> float:
    families = [(v, sorted(of)) for v, of in enumerate(parents)]
    return sum(data.families(families, rule))


def _code_rows(rows: Any, method: str) -> CodedData | StreamedData:
    """The rows as codes; only complete ones for methods that score families of any size."""
    make = structure_data
    if method == "pc":
        make = CodedData.of
    coded = make(learning_rows(rows), f"learn_structure(..., method={method!r})")
    if method not in (*_SEARCHES, "k2"):
        return coded
    coded = coded.complete()
    if not coded.weight > 0:
        raise DataError(
            "no row is complete: fill missing cells first, e.g."
            " lyceum.prepare.MissingCategory(), or use method='chow_liu' or 'pc'"
        )
    return coded


def _tree(
    data: CodedData | StreamedData,
    rows: Any,
    method: str,
    roots: tuple[str | None, str | None],
    rules: EdgeRules,
) -> list[set[int]]:
    """The parents of every variable by "chow_liu" or "tan"; `roots` are root and tree_root."""
    root, tree_root = roots
    if rules.required.any() or rules.forbidden.any():
        raise SettingError(
            f"method={method!r} takes no required or forbidden edges: use a search, k2 or pc"
        )
    names = list(data.states)
    if method == "chow_liu":
        if root is None:
            return chow_liu(data, 0)
        return chow_liu(data, find_labels([root], names, "the root")[0])
    if root is None:
        labels = rows.schema.target
        if labels is None:
            raise DataError(
                "TAN needs a class: scan(..., target=...), or name it as root"
            )
        root = labels.name
    target = find_labels([root], names, "the class")[0]
    return tree_augmented(data, target, column_index(names, tree_root, target))


def _check(
    method: str,
    score: str,
    test: str,
    alpha: float,
    max_parents: int | None,
    tree_root: str | None,
) -> None:
    if method not in METHODS:
        raise SettingError(
            f"there is no method {method!r}: choose one of {', '.join(METHODS)}"
        )
    if score not in SCORES:
        raise SettingError(
            f"there is no score {score!r}: choose one of {', '.join(SCORES)}"
        )
    if test not in ("g2", "chi2"):
        raise SettingError(f"there is no test {test!r}: choose g2 or chi2")
    if tree_root is not None and method != "tan":
        raise SettingError(
            f"tree_root is for method='tan', not {method!r}: take root for 'chow_liu'"
        )
    if not 0 < alpha < 1:
        raise SettingError(f"alpha is {alpha}: the level of a test is between 0 and 1")
    if max_parents is not None and max_parents < 0:
        raise SettingError(f"max_parents is {max_parents}: give 0 or more")
    if max_parents is not None and method in ("chow_liu", "tan", "pc"):
        raise SettingError(
            f"max_parents has no meaning for method={method!r}, whose graph follows from its own"
            " rule: leave it out, or take 'order_search', 'hill_climbing', 'tabu' or 'k2'"
        )


def _edge_rules(
    names: list[str], required: Edges, forbidden: Edges, max_parents: int | None
) -> EdgeRules:
    """Edges by name as tables of bool, checked against each other, the limit and cycles."""
    tables = []
    for what, edges in (("required", required), ("forbidden", forbidden)):
        table = np.zeros((len(names), len(names)), dtype=bool)
        for edge in edges:
            if isinstance(edge, str) or len(edge) != 2:
                raise SettingError(
                    f"{what} must be pairs (from, to) of variables, but it has {edge!r}"
                )
            u, v = find_labels(list(edge), names, f"{what} edges: the variable")
            table[u, v] = True
        tables.append(table)
    must, must_not = tables
    both = must & must_not
    if both.any():
        u, v = np.argwhere(both)[0]
        raise SettingError(
            f"the edge {names[u]} → {names[v]} is required and forbidden"
        )
    most = must.sum(axis=0)
    if max_parents is not None and len(names) and most.max() > max_parents:
        raise SettingError(
            f"{names[int(most.argmax())]!r} has {most.max()} required parents, more than "
            f"max_parents={max_parents}"
        )
    # raises where the required edges have a cycle
    needed = {
        name: [names[u] for u in np.flatnonzero(must[:, v])]
        for v, name in enumerate(names)
    }
    topological_order(needed)
    if max_parents is None:
        max_parents = len(names)
    return EdgeRules(must, must_not, max_parents)


def _search(
    search: StructureSearch,
    method: str,
    tabu_length: int,
    restarts: int,
    random_state: int | None,
) -> tuple[list[set[int]], list[float]]:
    # from the required edges alone, and then from random changes of the best structure
    rng = np.random.default_rng(random_state)
    start = [set(np.flatnonzero(column).tolist()) for column in search.rules.required.T]
    if method == "order_search":
        climb = partial(climb_with_orders, search, rng=rng)
    elif method == "tabu":
        climb = partial(search.climb, tabu_length=tabu_length, patience=_PATIENCE)
    else:
        climb = search.climb  # type: ignore[assignment]
    best, best_score, history = climb(start)
    for _ in range(restarts):
        moved = random_moves(search, best, max(4, search.n // 4), rng)
        parents, score, _ = climb(moved)
        if score > best_score:
            best = parents
            best_score = score
            history.append(best_score)
    return best, history


def _whole_order(names: list[str], order: Sequence[str] | None) -> list[int]:
    if order is None:
        raise SettingError(
            "K2 needs an order of the variables: order=[...], parents before children"
        )
    indices = find_labels(list(order), names, "the order: the variable")
    if sorted(indices) != list(range(len(names))):
        raise SettingError("the order must name every variable once")
    return indices


def _network(data: CodedData | StreamedData, parents: list[set[int]]) -> BayesNet:
    names = list(data.states)
    nodes = []
    for name, of in zip(names, parents):
        states = tuple(data.states[name].tolist())
        nodes.append(TableNode(name, states, tuple(names[u] for u in sorted(of))))
    return BayesNet(nodes)

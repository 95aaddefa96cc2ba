"""A junction tree: a network compiled once, for any number of exact queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.native import native
from lyceum.bayesnets.directed_graph import moral_graph
from lyceum.bayesnets.inference.best_states import best_states
from lyceum.bayesnets.inference.evidence import Evidence, impossible
from lyceum.bayesnets.inference.posterior import MostProbable, Posterior
from lyceum.bayesnets.inference.triangulation import (
    clique_tree,
    elimination_order,
    order_cells,
)
from lyceum.errors import SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


MAX_CELLS = 1 << 24
_NONE = np.empty(0, np.int32)


class JunctionTree:
    """The cliques of a discrete network as a tree, through which evidence is propagated.

    The graph is made moral and triangulated, every table goes into a clique that has its variables,
    and messages pass from the leaves to the root and back (Hugin). A query costs a few passes over
    the cells of all cliques; `BayesNet.posterior` makes one of these and keeps it.

    Parameters
    ----------
    net : BayesNet
        All of whose variables are discrete.
    max_cells : int, default=2**24
        The most cells of all cliques together; a wider network is refused.

    Attributes
    ----------
    cliques : list of tuples of str
        The variables of every clique; parents come before their children.
    parents : list of int
        The parent of every clique, -1 for the root.
    separators : list of tuples of str
        The variables that every clique shares with its parent.
    n_cells : int
        The cells of all cliques.
    width : int
        The variables of the largest clique, less one: the tree-width that was found.
    net : BayesNet
        The network.

    See Also
    --------
    BayesNet.posterior : Queries by this tree.
    moral_graph : The first step to it.

    References
    ----------
    S. L. Lauritzen and D. J. Spiegelhalter, "Local computations with probabilities on graphical
    structures", Journal of the Royal Statistical Society B 50, 1988.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import JunctionTree, read_bif
    >>> tree = JunctionTree(read_bif(datasets.path("asia")))
    >>> tree.width, tree.n_cells
    (2, 40)
    """

    def __init__(self, net: BayesNet, max_cells: int = MAX_CELLS) -> None:
        if net.gaussian_names:
            raise SettingError(
                f"a junction tree has tables only, but {net.gaussian_names[0]!r} is Gaussian"
            )
        self.net = net
        sizes = {name: len(net.states(name)) for name in net.names}
        neighbors = moral_graph(net.parents)
        order = elimination_order(neighbors, sizes)
        # A quick refusal before the cliques are made. These cells also count cliques that are
        # parts of others; hence the factor.
        made = order_cells(neighbors, sizes, order)
        if made > 64 * max_cells:
            self._refuse(made, max_cells)
        self.cliques, self.parents, self.separators = clique_tree(
            neighbors, order, sizes, net.names
        )
        cells = [prod(self._shape(clique)) for clique in self.cliques]
        self.n_cells = sum(cells)
        if self.n_cells > max_cells:
            self._refuse(self.n_cells, max_cells)
        self.width = max(map(len, self.cliques)) - 1
        self._offsets = np.cumsum([0, *cells], dtype=np.int64)
        # the cliques that have a variable, the smallest first
        self._having: dict[str, list[int]] = {name: [] for name in net.names}
        for c in sorted(range(len(cells)), key=cells.__getitem__):
            for name in self.cliques[c]:
                self._having[name].append(c)
        self._tree = self._compile()

    def with_tables(self, net: BayesNet) -> JunctionTree:
        """The same cliques with the tables of a network of the same graph."""
        tree = object.__new__(JunctionTree)
        tree.__dict__.update(self.__dict__, net=net)
        tree._tree = tree._compile()
        return tree

    @staticmethod
    def _refuse(cells: float, limit: int) -> None:
        raise SettingError(
            f"the junction tree would have {cells:.3g} cells, more than max_cells={limit:.3g}: ask"
            " with method='likelihood_weighting' or 'gibbs'"
        )

    def _shape(self, clique: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(self.net.states(name)) for name in clique)

    def _find(self, names: Sequence[str]) -> int | None:
        """The smallest clique that has all of these variables."""
        wanted = set(names)
        rarest = min(names, key=lambda name: len(self._having[name]))
        return next(
            (c for c in self._having[rarest] if wanted.issubset(self.cliques[c])), None
        )

    def _compile(self) -> Any:
        """The kernel's tree: the product of the tables that each clique holds, end to end."""
        net = self.net
        index = self.net.index_of
        tables = [np.ones(self._shape(clique)) for clique in self.cliques]
        for node in net.nodes:
            c = self._find([node.name, *node.parents])
            assert c is not None
            family = (*node.parents, node.name)
            self._multiply(tables[c], self.cliques[c], family, node.table)  # type: ignore[union-attr]
        # the members of all cliques end to end with where each begins, and for every variable the
        # clique that answers for it
        members = [index[name] for clique in self.cliques for name in clique]
        starts = np.cumsum([0, *map(len, self.cliques)])
        home = [self._find([name]) for name in net.names]
        return native.JunctionTree(
            np.array([len(net.states(name)) for name in net.names], np.int32),
            np.array(members, np.int32),
            starts.astype(np.int32),
            np.array(self.parents, np.int32),
            np.array([len(separator) for separator in self.separators], np.int32),
            np.array(home, np.int32),
            np.concatenate([table.ravel() for table in tables]),
        )

    @staticmethod
    def _multiply(
        into: np.ndarray,
        members: Sequence[str],
        scope: Sequence[str],
        table: np.ndarray,
    ) -> None:
        """The cells of a clique times a table over some of its variables."""
        # the axes of the table in the order of the clique, length 1 where it has no variable
        order = sorted(range(len(scope)), key=lambda k: members.index(scope[k]))
        present = set(scope)
        shape = [
            size if name in present else 1 for name, size in zip(members, into.shape)
        ]
        into *= table.transpose(order).reshape(shape)

    # -- queries -----------------------------------------------------------------------

    def posterior(self, query: Sequence[str], evidence: Evidence) -> Posterior | None:
        """P(query | evidence); None if no clique has all variables of the query."""
        if len(query) == 1:
            name = query[0]
            states = self.net.states(name)
            wanted = np.array([self.net.index_of[name]], np.int32)
            values, log_p = self._propagate(evidence, wanted, len(states))
            return Posterior(
                {name: states}, values, evidence.given, log_p, "junction tree"
            )
        c = self._find(query)
        if c is None:
            return None
        beliefs = np.zeros(self.n_cells)
        _, log_p = self._propagate(evidence, _NONE, 0, beliefs)
        joint = {name: self.net.states(name) for name in query}
        return Posterior(
            joint,
            self.project(beliefs, c, query),
            evidence.given,
            log_p,
            "junction tree",
        )

    def _propagate(
        self,
        evidence: Evidence,
        wanted: np.ndarray,
        n_values: int,
        beliefs: np.ndarray | None = None,
    ) -> tuple[np.ndarray, float]:
        """The posteriors of wanted variables in a row, and the log probability of the evidence."""
        values = np.empty((1, n_values))
        log_p = np.empty(1)
        self._tree.propagate(
            evidence.codes, evidence.likelihood, wanted, values, log_p, None, beliefs
        )
        if log_p[0] == -np.inf:
            raise impossible(evidence.given)
        return values[0], float(log_p[0])

    def marginals(self, evidence: Evidence) -> dict[str, Posterior]:
        """P(variable | evidence) of every variable, in one pass."""
        wanted = np.arange(len(self.net.names), dtype=np.int32)
        sizes = [len(self.net.states(name)) for name in self.net.names]
        values, log_p = self._propagate(evidence, wanted, sum(sizes))
        parts = np.split(values, np.cumsum(sizes)[:-1])
        return {
            name: Posterior(
                {name: self.net.states(name)},
                part,
                evidence.given,
                log_p,
                "junction tree",
            )
            for name, part in zip(self.net.names, parts)
        }

    def rows(
        self, codes: np.ndarray, names: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The marginals of some variables, side by side, and log P(row), for every row of state
        codes.

        Parameters
        ----------
        codes : array of int32 of shape (n, variables)
            The state of every variable in the order of `net.names`, -1 where it is not observed.
        names : names
        """
        wanted = np.array([self.net.index_of[name] for name in names], np.int32)
        values = np.empty(
            (len(codes), sum(len(self.net.states(name)) for name in names))
        )
        log_p = np.empty(len(codes))
        if len(codes):
            self._tree.propagate(codes, None, wanted, values, log_p)
        return values, log_p

    def expected_counts(
        self, codes: np.ndarray, w: np.ndarray | None
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """The expected weight of every cell of every node's table, given rows of codes, and log
        P(row)."""
        beliefs = np.zeros(self.n_cells)
        log_p = np.empty(len(codes))
        self._tree.propagate(
            codes, None, _NONE, np.empty((len(codes), 0)), log_p, w, beliefs
        )
        counts = []
        for node in self.net.nodes:
            family = [*node.parents, node.name]
            clique = self._find(family)
            assert clique is not None
            counts.append(self.project(beliefs, clique, family))
        return counts, log_p

    def project(self, cells: np.ndarray, c: int, names: Sequence[str]) -> np.ndarray:
        """The cells of a clique, from those of all cliques, summed over all variables but
        `names`."""
        members = self.cliques[c]
        part = cells[self._offsets[c] : self._offsets[c + 1]]
        rest = tuple(i for i, name in enumerate(members) if name not in names)
        table = part.reshape(self._shape(members)).sum(axis=rest)
        left = [name for name in members if name in names]
        order = [left.index(name) for name in names]
        return np.ascontiguousarray(table.transpose(order))

    def most_probable(self, evidence: Evidence) -> MostProbable:
        """The most probable states of all variables that are not observed."""
        return self.k_most_probable(1, evidence)[0]

    def k_most_probable(self, k: int, evidence: Evidence) -> list[MostProbable]:
        """The k most probable combinations of states of all variables that are not observed."""
        _, log_evidence = self._propagate(evidence, _NONE, 0)
        names = self.net.names
        explanations = []
        for log_p, states in best_states(self, evidence, k):
            likeliest = {
                name: self.net.states(name)[code]
                for name, code in zip(names, states.tolist())
                if name not in evidence.hard
            }
            share = float(np.exp(log_p - log_evidence))
            explanations.append(MostProbable(likeliest, log_p, share))
        return explanations

    def maximize(
        self, codes: np.ndarray, likelihood: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The most probable states of all variables for every row of evidence, and their log
        joint."""
        states = np.empty((len(codes), len(self.net.names)), np.int32)
        log_p = np.empty(len(codes))
        self._tree.most_probable(codes, likelihood, states, log_p)
        return states, log_p

    def summary_facts(self) -> Mapping[str, Any]:
        """Cliques, width and cells."""
        return {
            "cliques": len(self.cliques),
            "tree-width": self.width,
            "cells": self.n_cells,
        }

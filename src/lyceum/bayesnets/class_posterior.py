"""P(class | row) in a network, with missing cells summed out."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lyceum._core.data import Block
from lyceum.bayesnets.net import BayesNet
from lyceum.progress import report

_ROWS = 64  # between two reports of progress


def block_codes(block: Block) -> np.ndarray:
    """The codes of a block of categories, -1 where a cell is missing or unknown."""
    cells = block.dense
    if cells.dtype.kind == "f":
        return np.where(np.isnan(cells), -1, cells).astype(np.int32)
    return cells.astype(np.int32)


class ClassPosterior:
    """The joint probabilities of rows and classes.

    Parameters
    ----------
    net : BayesNet
        Its last node is the class, the others are the columns.
    name : str
        The class.
    """

    def __init__(self, net: BayesNet, name: str) -> None:
        self.net = net
        self.name = name
        self.K = len(net.states(name))

    @cached_property
    def _blanket(self) -> list[int]:
        return [self.net.index_of[name] for name in self.net.markov_blanket(self.name)]

    @cached_property
    def _tables(self) -> list[tuple[list[int], np.ndarray]]:
        """log P(node | parents) of every family with the class: its columns, and the table, classes
        last."""
        tables = []
        for node in self.net.nodes:
            family = [*node.parents, node.name]
            if self.name not in family:
                continue
            with np.errstate(divide="ignore"):
                table = np.log(node.table)  # type: ignore[union-attr]
            axis = family.index(self.name)
            others = [self.net.index_of[name] for name in family if name != self.name]
            tables.append((others, np.moveaxis(table, axis, -1)))
        return tables

    def log_prior(self) -> np.ndarray:
        """log P(class)."""
        with np.errstate(divide="ignore"):
            return np.log(self.net.posterior(self.name).values)

    def log_joint(self, codes: np.ndarray) -> np.ndarray:
        """log P(row, class) up to a number per row, (n, K); the priors where all classes are
        impossible."""
        # A row that has the whole Markov blanket of the class needs no propagation: cells outside
        # of it, known or missing, change log P by the same number for all classes.
        complete = (codes[:, self._blanket] >= 0).all(axis=1)
        joint = np.empty((len(codes), self.K))
        joint[complete] = self._of_complete(codes[complete])
        if not complete.all():
            joint[~complete] = self._of_incomplete(codes[~complete])
        nowhere = np.isneginf(joint).all(axis=1)
        if nowhere.any():
            joint[nowhere] = self.log_prior()
        return joint

    def _of_complete(self, codes: np.ndarray) -> np.ndarray:
        """Given its Markov blanket, the class depends on nothing else."""
        joint = np.zeros((len(codes), self.K))
        for columns, table in self._tables:
            joint += table[tuple(codes[:, v] for v in columns)]
        return joint

    def _of_incomplete(self, codes: np.ndarray) -> np.ndarray:
        """log P(what is known, class = k) by one propagation for every class."""
        joint = np.empty((len(codes), self.K))
        # some rows at a time, so that a long prediction can be cancelled
        for start in range(0, len(codes), _ROWS):
            report("rows", start, len(codes))
            part = codes[start : start + _ROWS]
            # every row K times, each with another class as its last variable
            wide = np.empty((len(part), self.K, len(self.net.names)), np.int32)
            wide[:, :, :-1] = part[:, None, :]
            wide[:, :, -1] = np.arange(self.K)
            rows = wide.reshape(-1, wide.shape[2])
            _, log_p = self.net.junction_tree().rows(rows, [])
            joint[start : start + _ROWS] = log_p.reshape(-1, self.K)
        return joint

    # -- explanations ------------------------------------------------------------------

    @cached_property
    def _order(self) -> list[int]:
        """The columns with parents before children."""
        return [self.net.index_of[name] for name in self.net.order if name != self.name]

    def order_indices(self) -> list[int]:
        """Where every column stands in the order of `chain`."""
        return np.argsort(self._order).tolist()

    def chain(self, codes: np.ndarray) -> np.ndarray:
        """log P(the first j columns of the row, class), (n, K, d + 1), parents before children."""
        # one column more is shown at a time; those not shown yet are summed out as missing
        n, d = codes.shape
        chain = np.empty((n, self.K, d + 1))
        shown = np.full(codes.shape, -1, np.int32)
        chain[:, :, 0] = self.log_prior()
        for j, v in enumerate(self._order):
            shown[:, v] = codes[:, v]
            chain[:, :, j + 1] = self._of_incomplete(shown)
        return chain

    def information(self) -> np.ndarray:
        """The mutual information of every node with the class, in bits; 0 for the class itself."""
        names = list(self.net.names)
        prior = self.net.posterior(self.name).values[:, None]
        # P(state | class) of every node, from one row per class in which only the class is seen
        rows = np.full((self.K, len(names)), -1, np.int32)
        rows[:, -1] = np.arange(self.K)
        values, _ = self.net.junction_tree().rows(rows, names)
        ends = np.cumsum([len(self.net.states(name)) for name in names])[:-1]
        bits = np.zeros(len(names))
        for j, conditional in enumerate(np.split(values, ends, axis=1)):
            if names[j] == self.name:
                continue
            # I(X; C) = Σ_c Σ_x P(c) P(x | c) log₂ [P(x | c) / P(x)], with 0 log 0 = 0
            conditional = np.where(prior > 0, conditional, 0.0)
            joint = prior * conditional
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = conditional / joint.sum(axis=0)
                terms = np.where(joint > 0, joint * np.log2(ratio), 0.0)
            bits[j] = max(float(terms.sum()), 0.0)
        return bits

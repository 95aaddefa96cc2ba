"""A Bayesian network from a table: numbers cut into intervals, the graph learned or drawn."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyceum._core.data import FileFormat, Kind, scan
from lyceum._core.report import Shown
from lyceum._core.types import Data
from lyceum.bayesnets import BayesNet, LearnedStructure, learn_structure, write_bif
from lyceum.errors import SettingError
from lyceum.persist import save
from lyceum.prepare import KBinsDiscretizer
from lyceum.report import Summary

Edges = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class LearnedNetwork(Shown):
    """A network learned from a table.

    Attributes
    ----------
    structure : LearnedStructure
        The graph with its tables, and its score.
    cut : tuple of str
        The columns of numbers that were cut into intervals.
    net : BayesNet
        The network.

    See Also
    --------
    learn_network : Makes it.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.workflows import learn_network
    >>> learned = learn_network(datasets.path("penguins"), edges=[("species", "island")])
    >>> learned.net.edges, learned.cut[:2]
    ([('species', 'island')], ('bill_length_mm', 'bill_depth_mm'))
    """

    structure: LearnedStructure
    cut: tuple[str, ...]

    @property
    def net(self) -> BayesNet:
        """The network."""
        return self.structure.net

    def summary(self) -> Summary:
        """The method, the score and the edges."""
        return self.structure.summary()

    def as_dict(self) -> dict[str, Any]:
        """The summary, the edges and the columns that were cut, in JSON's own types."""
        return {
            "cut": list(self.cut),
            "edges": [list(edge) for edge in self.net.edges],
            "undirected": [list(edge) for edge in self.structure.undirected],
            **self.summary().as_dict(),
        }


def learn_network(
    data: Data,
    target: str | None = None,
    *,
    method: str = "order_search",
    edges: Edges | None = None,
    n_bins: int = 5,
    kinds: Mapping[str, Kind] | None = None,
    ignore: Collection[str] = (),
    file_format: FileFormat | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    **settings: Any,
) -> LearnedNetwork:
    """Learn a Bayesian network from a table; its numbers are cut into intervals first.

    Parameters
    ----------
    data : path, frame or anything that `lyceum.scan` takes
    target : str, optional
        The class: for "tan", and to cut numbers by it.
    method : str, default="order_search"
        As in `lyceum.bayesnets.learn_structure`.
    edges : list of (from, to), optional
        A graph that was drawn: exactly these edges are taken, and only its tables are learned.
    n_bins : int, default=5
        The number of intervals of a column of numbers.
    kinds : mapping, optional
        The kinds of some columns, where what is inferred is not wanted.
    ignore : collection of str, default=()
        Columns to leave out.
    file_format : FileFormat, optional
        How the file is written; by default that is found out.
    out : path, optional
        The file to write: BIF, or a model file if its name ends in .lyceum.
    force : bool, default=False
        Whether it may replace a file.
    **settings
        Further parameters of `lyceum.bayesnets.learn_structure`.

    Returns
    -------
    LearnedNetwork

    See Also
    --------
    lyceum.bayesnets.learn_structure : Learns from rows of categories.
    query_network : Queries it.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.workflows import learn_network
    >>> learned = learn_network(datasets.path("weather"), method="chow_liu")
    >>> len(learned.net.names), len(learned.net.edges)
    (5, 4)
    """
    if out is not None and not force and Path(out).exists():
        raise SettingError(f"{out} exists: give force=True to replace it")
    options = (file_format or FileFormat()).options()
    rows = scan(data, target=target, kinds=kinds, ignore=ignore, **options)
    cut = tuple(rows.schema[int(j)].name for j in rows.schema.continuous)
    if cut:
        rows = KBinsDiscretizer(n_bins, strategy="auto").fit(rows).transform(rows)
    if edges is not None:
        drawn = list(edges)
        names = list(rows.schema.names)
        if target is not None:
            names.append(target)
        unknown = {name for edge in drawn for name in edge}.difference(names)
        if unknown:
            raise SettingError(
                f"edges: there is no column {min(unknown)!r}: the columns are {', '.join(names)}"
            )
        # a search that may take these edges and no others
        settings["required"] = drawn
        pairs = itertools.permutations(names, 2)
        settings["forbidden"] = [pair for pair in pairs if pair not in drawn]
        method = "hill_climbing"
    learned = LearnedNetwork(learn_structure(rows, method, **settings), cut)
    if out is not None:
        _write(learned.net, Path(out))
    return learned


def _write(net: BayesNet, path: Path) -> None:
    """As a model file or as BIF, by the ending of the name."""
    if path.suffix.lower() == ".lyceum":
        save(net, path, force=True)
    else:
        write_bif(net, path)

"""Tables to put learners to the test with, and the same rows in every form that `fit` takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from lyceum import catalog
from lyceum.data import Block, Column, Rows, Schema, scan

__all__ = [
    "CountedCuts",
    "Cuts",
    "Data",
    "dask_for",
    "data_for",
    "frame_of",
    "mixed_for",
    "sources",
    "turn_of",
]

N, D, K = 400, 4, 3  # rows, columns, groups


@dataclass(frozen=True)
class Data:
    """Rows to learn from: cells, target (None where there is nothing to predict), whole weights."""

    X: np.ndarray
    y: np.ndarray | None
    w: np.ndarray

    def take(self, rows: Any) -> Data:
        return Data(
            self.X[rows], None if self.y is None else self.y[rows], self.w[rows]
        )


def data_for(learner: Any, n: int = N, seed: int = 0) -> Data:
    """Three overlapping groups; their names, or a noisy plane over them, to predict. Not to be
    changed."""
    return _data(*_task_of(learner), n, seed)


def mixed_for(learner: Any, n: int = N) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Numbers, text, two texts, true and false."""
    frame, y = _mixed(*_task_of(learner), n)
    return frame.copy(), y


def dask_for(learner: Any) -> tuple[Any, Any]:
    """The rows of `mixed_for` and their target in three partitions on Dask, held in memory."""
    return _on_dask(*_task_of(learner))


def _task_of(learner: Any) -> tuple[str, bool]:
    """What the learner has to predict, and whether its cells are to be positive."""
    tags = get_tags(learner)
    kind = tags.estimator_type
    if kind not in ("classifier", "regressor") and tags.target_tags.required:
        kind = "classifier"
    return kind or "", tags.input_tags.positive_only


@cache
def _data(kind: str, positive: bool, n: int, seed: int) -> Data:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, K, n)
    X = (
        rng.normal(size=(n, D)) @ rng.normal(size=(D, D))
        + 3.0 * rng.normal(size=(K, D))[group]
    )
    X = np.abs(X) if positive else X
    y: np.ndarray | None = None
    if kind == "classifier":
        y = np.array(["ant", "bee", "cow"])[group]
    elif kind == "regressor":
        y = X @ rng.normal(size=D) + rng.normal(size=n)
    return Data(X, y, rng.integers(0, 4, n).astype(np.float64))


@cache
def _on_dask(kind: str, positive: bool) -> tuple[Any, Any]:
    import dask.dataframe as dd

    frame, y = _mixed(kind, positive, N)
    lazy = dd.from_pandas(
        frame if y is None else frame.assign(y=y), npartitions=3
    ).persist(scheduler="sync")
    return lazy[list(frame.columns)], None if y is None else lazy["y"]


@cache
def _mixed(kind: str, positive: bool, n: int) -> tuple[pd.DataFrame, np.ndarray | None]:
    data = _data(kind, positive, n, seed=1)
    rng = np.random.default_rng(2)
    high = data.X[:, 2] + 3.0 * rng.normal(size=n) > np.median(data.X[:, 2])
    frame = pd.DataFrame(
        {
            "age": data.X[:, 0],
            "town": np.where(
                high, rng.choice(["Ulm", "Bonn"], n), rng.choice(["Köln", "Bonn"], n)
            ),
            "income": data.X[:, 1],
            "sex": rng.choice(["f", "m"], n),
            "smokes": rng.random(n) < 0.3,
        }
    )
    return frame, data.y


@dataclass(frozen=True)
class Cuts:
    """Rows of an array cut at random places, also into parts and blocks of no rows: a source for
    tests."""

    data: Data
    seed: int = 0
    n_parts: int = 7

    @property
    def n_rows(self) -> int:
        return len(self.data.X)

    @cached_property
    def schema(self) -> Schema:
        columns = tuple(
            Column(f"x{j}", why="a number in an array")
            for j in range(self.data.X.shape[1])
        )
        return Schema(columns, self._target, "w")

    @property
    def _target(self) -> Column | None:
        y = self.data.y
        if y is None:
            return None
        return (
            Column("y", why="y")
            if y.dtype.kind == "f"
            else Column("y", "categorical", np.unique(y), "y")
        )

    @cached_property
    def coded_y(self) -> np.ndarray | None:
        y = self.data.y
        return (
            y
            if y is None or y.dtype.kind == "f"
            else np.unique(y, return_inverse=True)[1].astype(np.int32)
        )

    def parts(self) -> Iterator[_CutPart]:
        cuts = np.sort(
            np.random.default_rng(self.seed).integers(0, self.n_rows + 1, self.n_parts)
        )
        bounds = [0, 0, *cuts.tolist(), self.n_rows]
        return (_CutPart(self, a, b) for a, b in pairwise(bounds))


@dataclass(frozen=True)
class CountedCuts(Cuts):
    """The same, with an entry in `passes` for every reading."""

    passes: list[int] = field(default_factory=list)

    def parts(self) -> Iterator[_CutPart]:
        self.passes.append(1)
        return super().parts()


@dataclass(frozen=True)
class _CutPart:
    cuts: Cuts
    start: int
    stop: int

    def blocks(self) -> Iterator[Block]:
        middle = (self.start + self.stop) // 2
        for a, b in (
            (self.start, self.start),
            (self.start, middle),
            (middle, self.stop),
        ):
            yield self._block(slice(a, b))

    def _block(self, rows: slice) -> Block:
        data, y = self.cuts.data, self.cuts.coded_y
        X = np.ascontiguousarray(data.X[rows])
        return Block(
            X,
            None if y is None else y[rows],
            data.w[rows],
            rows.start,
            self.cuts.schema,
        )


def frame_of(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def sources(
    learner: Any, data: Data, folder: Path
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The rows in forms that `fit` takes, with what to call it with: one form of every kind.

    Random cuts come always. The other forms become the same blocks before a learner sees them
    (tests/data/test_same_rows.py), so that every learner tries one of each kind, and every form has
    its turn at a third of the learners.
    """
    turn = turn_of(learner)
    yield "random cuts", (Rows(Cuts(_weighted(learner, data))),)
    in_memory = (_fortran, _pandas, _polars)
    streams = (_parquet_stream, _csv_stream)
    # who keeps all rows tries a Dask collection once, on a mixed table
    lazy = (
        ()
        if learner._reads_rows == "in memory"
        else (_dask_array, _dask_frame, _dask_scan)
    )
    for kind in (in_memory, streams, lazy):
        if kind:
            form = kind[turn % len(kind)]
            yield form.__name__.replace("_", " ").strip(), form(learner, data, folder)


def turn_of(learner: Any) -> int:
    """The learner's place in the catalog; for one that is not in it, a number from its name."""
    names = [entry.name for entry in catalog.learners()]
    name = type(learner).__name__
    return names.index(name) if name in names else sum(map(ord, name))


def _weighted(learner: Any, data: Data) -> Data:
    return (
        data
        if has_fit_parameter(learner, "sample_weight")
        else Data(data.X, data.y, np.ones(N))
    )


def _table(learner: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Cells, target and weights of `data_for` in one table, and what `scan` is to be told of it."""
    table = _whole_table(
        *_task_of(learner), has_fit_parameter(learner, "sample_weight")
    )
    names = set(table.columns)
    roles: dict[str, Any] = {
        "target": "y" if "y" in names else None,
        "weight": "w" if "w" in names else None,
        "kinds": dict.fromkeys(table.columns[:D], "continuous"),
    }
    return table, roles


@cache
def _whole_table(kind: str, positive: bool, weighted: bool) -> pd.DataFrame:
    data = _data(kind, positive, N, 0)
    table = frame_of(data.X)
    table = table if data.y is None else table.assign(y=data.y)
    return table.assign(w=data.w) if weighted else table


@cache
def _whole_on_dask(kind: str, positive: bool, weighted: bool) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(
        _whole_table(kind, positive, weighted), npartitions=3
    ).persist(scheduler="sync")


def _fortran(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    return np.asfortranarray(data.X), data.y, data.w


def _pandas(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    return frame_of(data.X), data.y, data.w


def _polars(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    return pl.from_pandas(frame_of(data.X)), data.y, data.w


def _parquet_stream(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    table, roles = _table(learner)
    pq.write_table(
        pa.Table.from_pandas(table, preserve_index=False),
        folder / "t.parquet",
        row_group_size=97,
    )
    return (scan(folder / "t.parquet", **roles, memory=0),)


def _csv_stream(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    table, roles = _table(learner)
    table.to_csv(folder / "t.csv", index=False)
    return (scan(folder / "t.csv", **roles, memory=0),)


def _dask_array(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    import dask.array as da

    chunks = (90, 1, 160, N - 251)
    pieces = [
        None if a is None else da.from_array(a, chunks=chunks) for a in (data.y, data.w)
    ]
    return da.from_array(data.X, chunks=(chunks, D)), *pieces


def _dask_frame(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    roles = _table(learner)[1]
    lazy = _whole_on_dask(*_task_of(learner), roles["weight"] is not None)
    others = [
        None if roles[role] is None else lazy[roles[role]]
        for role in ("target", "weight")
    ]
    return lazy[list(roles["kinds"])], *others


def _dask_scan(learner: Any, data: Data, folder: Path) -> tuple[Any, ...]:
    roles = _table(learner)[1]
    return (
        scan(_whole_on_dask(*_task_of(learner), roles["weight"] is not None), **roles),
    )

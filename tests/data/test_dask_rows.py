"""Rows in Dask collections: kept partitions, results, refusals."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from tests.data.row_cases import N, Order
from tests.data.tiny import Line, Mean, NearestMean

from lyceum import scan
from lyceum._core.data.rows import dask as _dask
from lyceum.data import Block, Rows, Schema
from lyceum.errors import DataError

pytestmark = pytest.mark.usefixtures("small_parts")

# -- empty blocks and partitions -------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """Rows of an array cut at given places; a part of no rows has no block."""

    X: np.ndarray
    cuts: list[int]
    schema: Schema

    @property
    def n_rows(self):
        return len(self.X)

    def parts(self):
        bounds = [0, *self.cuts, len(self.X)]
        return (_CutPart(self, a, b) for a, b in pairwise(bounds))


@dataclass(frozen=True)
class _CutPart:
    cut: Cut
    start: int
    stop: int

    def blocks(self):
        if self.start < self.stop:
            yield Block(
                self.cut.X[self.start : self.stop],
                None,
                None,
                self.start,
                self.cut.schema,
            )


def test_parts_without_blocks_count_for_nothing(frame):
    X = frame[["a", "b"]].to_numpy()
    schema = scan(frame[["a", "b"]]).schema
    rows = Rows(Cut(X, [0, 0, 10, 10, N, N], schema))
    assert rows.reduce(Order.of).n_rows == N
    np.testing.assert_array_equal(rows.collect(lambda block: block.X), X)
    with pytest.raises(DataError, match="there are no rows"):
        Rows(Cut(X[:0], [], schema)).reduce(Order.of)
    with pytest.raises(DataError, match="there are no rows"):
        Rows(Cut(X[:0], [], schema)).collect(lambda block: block.X)


def test_empty_dask_partitions_count_for_nothing(frame):
    dd = pytest.importorskip("dask.dataframe")
    parts = [
        frame.iloc[:0],
        frame.iloc[:700],
        frame.iloc[700:700],
        frame.iloc[700:],
        frame.iloc[:0],
    ]
    data = dd.from_delayed(
        [pytest.importorskip("dask").delayed(part) for part in parts],
        meta=frame.iloc[:0],
    )
    learner = NearestMean().fit(scan(data, target="t"))
    whole = NearestMean().fit(scan(frame, target="t"))
    np.testing.assert_allclose(learner.mean_, whole.mean_, rtol=1e-12)
    predicted = learner.predict(data[["a", "b"]])
    assert predicted.compute().tolist() == whole.predict(frame[["a", "b"]]).tolist()
    fitted = NearestMean().fit(data[["a", "b"]], data["t"])
    np.testing.assert_allclose(fitted.mean_, whole.mean_, rtol=1e-12)


# -- Dask ------------------------------------------------------------------------------


def test_dask_keeps_the_partitions_from_the_second_pass_on(frame, monkeypatch):
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    loads = []

    def load(i):
        loads.append(i)
        return frame.iloc[1000 * i : 1000 * (i + 1)]

    data = dd.from_delayed(
        [dask.delayed(load)(i) for i in range(5)],
        meta=frame.iloc[:0],
        verify_meta=False,
    )
    rows = scan(data, target="t")
    loads.clear()
    for _ in range(4):
        rows.reduce(Order.of)
    # the first pass, and the one that persists
    assert sorted(loads) == sorted([*range(5)] * 2)
    assert rows.reduce(Order.of).n_rows == N


@pytest.mark.parametrize("chunks", [(1000, 2), (700, 1), (N, 2)])
def test_dask_arrays_are_arrays(frame, chunks):
    da = pytest.importorskip("dask.array")
    X, y = frame[["a", "b"]].to_numpy(), (frame["a"] > 0).to_numpy()
    w = np.abs(frame["b"].to_numpy())
    args = (
        da.from_array(X, chunks=chunks),
        da.from_array(y, chunks=chunks[0]),
        da.from_array(w, chunks=chunks[0]),
    )
    lazy, here = (
        NearestMean().fit(*args[:2], sample_weight=args[2]),
        NearestMean().fit(X, y, sample_weight=w),
    )
    np.testing.assert_allclose(lazy.mean_, here.mean_, rtol=1e-12)
    proba = lazy.predict_proba(args[0])
    assert type(proba).__module__.startswith("dask")
    assert proba.shape == (N, 2)
    np.testing.assert_allclose(proba.compute(), here.predict_proba(X), rtol=1e-10)
    number = Line().fit(args[0], args[2])
    np.testing.assert_allclose(number.coef_, Line().fit(X, w).coef_, rtol=1e-10)


def test_dask_results_keep_their_type(frame):
    da = pytest.importorskip("dask.array")
    X = frame[["a", "b"]].to_numpy(np.float32)
    learner = Mean().fit(X)
    lazy = learner._apply(lambda block: block.X * 2, da.from_array(X, chunks=(900, 2)))
    assert lazy.dtype == np.float32
    np.testing.assert_array_equal(lazy.compute(), X * 2)


@pytest.mark.parametrize(
    ("y", "w", "message"),
    [
        (
            "array",
            None,
            "X is a Dask collection but y is not: give both as Dask collections",
        ),
        ("uneven", None, "rows where that of X has 1000: partition both alike"),
        ("fewer", None, "y has 2 partitions where X has 5: partition both alike"),
        (
            "gaps",
            None,
            "target 'y' is missing (NaN) in row 0 of a partition: drop such rows first",
        ),
        ("reals", None, "Unknown label type: continuous"),
        (None, None, "NearestMean requires y to be passed, but the target y is None"),
        ("good", "negative", "sample_weight has negative, missing or infinite values"),
        ("good", "zero", "sample_weight is zero for every row"),
        ("good", "array", "X is a Dask collection but sample_weight is not"),
    ],
)
def test_dask_collections_that_do_not_fit_together_are_refused(frame, y, w, message):
    da = pytest.importorskip("dask.array")
    X = da.from_array(frame[["a", "b"]].to_numpy(), chunks=(1000, 2))
    codes = np.arange(N) % 3
    ys = {
        None: None,
        "array": codes,
        "good": da.from_array(codes, chunks=1000),
        "uneven": da.from_array(codes[:N], chunks=((3000, 500, 500, 500, 500),)),
        "fewer": da.from_array(codes, chunks=2500),
        "gaps": da.from_array(np.where(np.arange(N) == 0, np.nan, codes), chunks=1000),
        "reals": da.from_array(frame["a"].to_numpy(), chunks=1000),
    }
    ws = {
        None: None,
        "array": np.ones(N),
        "negative": da.from_array(frame["a"].to_numpy(), chunks=1000),
        "zero": da.zeros(N, chunks=1000),
    }
    with pytest.raises(ValueError) as error:  # noqa: PT011  the message is what is tested
        NearestMean().fit(X, ys[y], sample_weight=ws[w])
    assert message in str(error.value)


def test_a_dask_array_cannot_be_scanned():
    da = pytest.importorskip("dask.array")
    with pytest.raises(
        DataError,
        match="scan takes a Dask frame with named columns: give arrays to fit",
    ):
        scan(da.ones((4, 2)))


def test_one_tree_of_merges_a_pass(monkeypatch, frame):
    """Partitions are merged eight at a time and in order, however many there are."""
    dd = pytest.importorskip("dask.dataframe")
    merged = []
    inner = _dask.merge_all
    monkeypatch.setattr(
        _dask, "merge_all", lambda parts: (merged.append(len(parts)), inner(parts))[1]
    )
    rows = scan(dd.from_pandas(frame, npartitions=20))
    merged.clear()
    order = rows.reduce(Order.of)
    assert list(order.starts) == sorted(order.starts)
    assert sorted(merged) == [3, 4, 8, 8]

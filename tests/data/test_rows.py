"""Rows: reductions in order, progress from every source, bounded memory, nothing left running."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data.row_cases import N, Order
from tests.data.tiny import Mean, NearestMean

from lyceum import scan
from lyceum._core.data import block_rows
from lyceum.errors import Cancelled
from lyceum.progress import watch

pytestmark = pytest.mark.usefixtures("small_parts")


def every_source(frame, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    pq.write_table(
        pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=300
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    yield "memory", frame, {}
    yield "parquet", tmp_path / "t.parquet", {"memory": 0}
    yield "csv", tmp_path / "t.csv", {"memory": 0}
    yield "dask", dd.from_pandas(frame, npartitions=4), {}


def test_every_row_is_summarized_once_and_in_order(frame, tmp_path):
    for name, data, options in every_source(frame, tmp_path):
        order = scan(data, **options).reduce(Order.of)
        assert order.n_rows == N, name
        assert list(order.starts) == sorted(set(order.starts)), name


def test_the_number_of_rows_is_known_after_a_scan(frame, tmp_path):
    for name, data, options in every_source(frame, tmp_path):
        rows = scan(data, **options)
        assert rows.n_rows == len(rows) == N, name


def test_progress_goes_up_to_all_rows_from_every_source(frame, tmp_path):
    for name, data, options in every_source(frame, tmp_path):
        rows, seen = scan(data, **options), []
        with watch(seen.append):
            rows.reduce(Order.of)
        done = [update.done for update in seen]
        assert done == sorted(done), name
        assert done[-1] == N, name
        assert {(update.stage, update.total) for update in seen} == {("rows", N)}, name
        if name != "memory":
            assert len(seen) > 2, name


def test_progress_of_predictions_and_of_every_pass(frame):
    seen, rows = [], scan(frame, target="t")
    with watch(seen.append):
        learner = NearestMean().fit(rows)
        assert seen[-1].done == N
        seen.clear()
        learner.predict(rows)
        assert seen[-1].done == N


def test_an_error_in_progress_reaches_the_caller(frame):
    def stop(update):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watch(stop):
        scan(frame).reduce(Order.of)


def test_reading_can_be_cancelled_from_every_source(frame, tmp_path):
    for name, data, options in every_source(frame, tmp_path):
        rows, seen = scan(data, **options), []
        with watch(seen.append) as watched:
            watched.cancel()
            with pytest.raises(Cancelled, match="rows"):
                rows.reduce(Order.of)
        assert not seen, name
        assert rows.reduce(Order.of).n_rows == N, name


def test_the_scan_of_a_stream_without_types_reports_its_rows(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    seen = []
    with watch(seen.append):
        scan(tmp_path / "t.csv", memory=0)
    assert seen[-1].done == N


def test_rows_can_be_read_again(frame, tmp_path):
    for name, data, options in every_source(frame, tmp_path):
        rows = scan(data, target="t", **options)
        assert (
            rows.reduce(Order.of) == rows.reduce(Order.of) == rows.reduce(Order.of)
        ), name


def test_block_sizes_depend_on_the_width_alone():
    assert [block_rows(d) for d in (1, 32, 100, 1000, 10**6)] == [
        16384,
        16384,
        4096,
        1024,
        1024,
    ]


# -- nothing left behind ---------------------------------------------------------------


def test_a_consumer_that_stops_early_leaves_nothing_running(frame, tmp_path):
    for _, data, options in every_source(frame, tmp_path):
        running = []

        def slow(block, running=running):
            running.append(block.start)
            try:
                return np.sort(block.X.ravel())
            finally:
                running.remove(block.start)

        results = scan(data, **options).map(slow)
        next(results)
        results.close()
        assert not running


def test_a_failing_block_is_the_error_that_is_seen(frame, tmp_path):
    def fail(block):
        if block.start:
            raise ZeroDivisionError(f"block {block.start}")
        return Order.of(block)

    for name, data, options in every_source(frame, tmp_path):
        if name != "memory":
            with pytest.raises(ZeroDivisionError, match="block"):
                scan(data, **options).reduce(fail)
    assert not [
        thread
        for thread in threading.enumerate()
        if thread.name.startswith("lyceum") and thread.daemon
    ]


def test_memory_stays_bounded_while_streaming(tmp_path):
    """64 MB of cells pass through a stream; Arrow never holds more than a few parts of them."""
    n = 1_000_000
    rng = np.random.default_rng(0)
    path = tmp_path / "t.parquet"
    with pq.ParquetWriter(
        path, pa.schema({f"x{j}": pa.float64() for j in range(8)})
    ) as writer:
        for _ in range(20):
            writer.write_table(
                pa.table({f"x{j}": rng.normal(size=n // 20) for j in range(8)})
            )
    pool = pa.default_memory_pool()
    rows = scan(path, memory=0)
    before, peak = pool.bytes_allocated(), []
    rows.reduce(lambda block: peak.append(pool.bytes_allocated()) or Order.of(block))
    assert max(peak) - before < 32 << 20


def test_a_cluster_gives_the_same_and_reports_the_end(frame):
    distributed = pytest.importorskip("distributed")
    dd = pytest.importorskip("dask.dataframe")
    data = dd.from_pandas(frame, npartitions=4)
    here = NearestMean().fit(scan(data, target="t"))
    seen = []
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None
    ):
        with watch(seen.append):
            there = NearestMean().fit(scan(data, target="t"))
        assert (seen[-1].done, seen[-1].total) == (N, N)
        np.testing.assert_array_equal(there.mean_, here.mean_)
        predicted = there.predict(data[["a", "b"]]).compute()
    assert predicted.tolist() == here.predict(frame[["a", "b"]]).tolist()


def test_a_dask_frame_has_the_kinds_of_its_types_like_any_frame():
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(
        {
            "two": pd.array([0, 1, 0, 1], dtype="Int64"),
            "day": pd.to_datetime(["2020-01-01", "2020-01-02"] * 2),
            "truth": [True, False, False, True],
            "text": ["a", "b", "a", "b"],
            "kind": pd.Categorical([3, 5, 3, 5]),
        }
    )
    lazy = Mean().fit(dd.from_pandas(frame, npartitions=2))
    here = Mean().fit(frame)
    assert str(lazy.schema_) == str(here.schema_)
    np.testing.assert_allclose(lazy.mean_, here.mean_)


class DropOdd:
    """A step that drops rows."""

    def schema(self, schema):
        return schema

    def __call__(self, block):
        return block.take(np.arange(len(block)) % 2 == 0)


def test_progress_counts_the_rows_that_are_read_not_those_that_are_left(
    frame, tmp_path
):
    for name, data, options in every_source(frame, tmp_path):
        rows, seen = scan(data, **options).then(DropOdd()), []
        with watch(seen.append):
            assert rows.reduce(Order.of).n_rows < N, name
        assert seen[-1].done == N, name


# -- the end of the process ------------------------------------------------------------


def test_a_stream_that_is_left_in_the_middle_does_not_crash_the_interpreter(
    frame, tmp_path
):
    frame.to_csv(tmp_path / "t.csv", index=False)
    pq.write_table(
        pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=100
    )
    code = (
        "import sys\nfrom lyceum.data import scan\nfrom lyceum._core.data.files import csv\n"
        "csv._STREAM_BYTES = 4096\n"
        "blocks = [scan(path, memory=0).blocks() for path in sys.argv[1:]]\n"
        "results = [scan(path, memory=0).map(lambda block: block.X) for path in sys.argv[1:]]\n"
        "print(*[len(next(part)) for part in blocks + results])\n"
    )
    paths = [str(tmp_path / "t.csv"), str(tmp_path / "t.parquet")]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_ends_a_long_reduction():
    code = (
        "import time, numpy as np; from lyceum.data import scan\n"
        "class Slow:\n"
        "    def __init__(self, block): block.start or print('go', flush=True); time.sleep(0.1)\n"
        "    def merge(self, other): return self\n"
        "scan(np.zeros((16384 * 2000, 1), dtype=np.float32)).reduce(Slow)\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout.readline() == "go\n"
            running.send_signal(signal.SIGINT)
            _, complaint = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode != 0
    assert "KeyboardInterrupt" in complaint

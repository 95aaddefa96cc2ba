"""Threads: limits are obeyed, results do not depend on their number, nothing outlives its
caller."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lyceum._core import threads as _threads
from lyceum._core.threads import (
    limit_threads,
    n_threads,
    ordered_map,
    single_threaded_blas,
)
from lyceum.data import Rows, scan
from lyceum.linear import LinearRegression

FIT = """
import hashlib, numpy as np
from lyceum._core.threads import n_threads
from lyceum.data import scan
from lyceum.statistics import ClassScatter
rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 20)) @ rng.normal(size=(20, 20))
rows = scan(np.c_[X, rng.integers(0, 3, len(X))], target="x20")
statistic = rows.reduce(ClassScatter.of)
arrays = statistic.weight, statistic.mean, statistic.scatter
bits = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
print(n_threads(), hashlib.sha256(bits).hexdigest())
"""


@pytest.fixture
def two_threads():
    """At least two threads, however few the processors."""
    with threadpool_limits(2, user_api="openmp"):
        yield


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_the_environment_sets_the_count_and_not_the_bits(capsys):
    with threadpool_limits(1):
        exec(FIT, {})
    one, three = capsys.readouterr().out.split(), run(FIT, OMP_NUM_THREADS="3")
    assert (one[0], three[0]) == ("1", "3")
    assert one[1] == three[1]


def test_threadpoolctl_sets_the_count_and_not_the_bits():
    rng = np.random.default_rng(1)
    rows = scan(rng.normal(size=(50_000, 12)))
    sums = []
    for count in (1, 2, 4):
        with threadpool_limits(count):
            assert n_threads() == count
            sums.append(rows.reduce(Products))
    np.testing.assert_array_equal(sums[0].total, sums[1].total)
    np.testing.assert_array_equal(sums[0].total, sums[2].total)


class Products:
    def __init__(self, block):
        self.total = block.X.T @ block.X

    def merge(self, other):
        self.total = self.total + other.total
        return self


def test_one_thread_means_the_calling_one():
    with threadpool_limits(1):
        assert set(ordered_map(lambda _: threading.get_ident(), range(50))) == {
            threading.get_ident()
        }


def test_joblibs_inner_limit_is_obeyed():
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        assert joblib.Parallel()(joblib.delayed(_count)() for _ in range(2)) == [1, 1]


def _count():
    from lyceum._core.threads import n_threads

    return n_threads()


# -- ordered_map -----------------------------------------------------------------------


def test_results_come_in_order(two_threads):
    def slow_first(i):
        time.sleep(0.01 * (i % 2 == 0))
        return i

    assert list(ordered_map(slow_first, range(20))) == list(range(20))


def test_two_items_a_thread_are_read_ahead_and_no_more(two_threads):
    taken = []

    def items():
        for i in range(40):
            taken.append(i)
            yield i

    for done, _ in enumerate(ordered_map(lambda i: i, items())):
        assert len(taken) <= done + 1 + 2 * n_threads()


@pytest.mark.parametrize("how", ["close", "error", "interrupt", "items"])
def test_nothing_runs_on_when_the_caller_stops(two_threads, how):
    begun, running = [], []
    gate = threading.Event()

    def work(i):
        begun.append(i)
        running.append(i)
        gate.wait(0.02)
        running.remove(i)
        if how == "error" and i == 1:
            raise ZeroDivisionError("in item 1")
        return i

    def items():
        yield from range(3)
        if how == "items":
            raise ZeroDivisionError("in the items")
        yield from range(3, 1000)

    results = ordered_map(work, items())
    if how in ("error", "items"):
        with pytest.raises(ZeroDivisionError, match=r"in item 1|in the items"):
            list(results)
    else:
        next(results)
        if how == "close":
            results.close()
        else:
            with pytest.raises(KeyboardInterrupt):
                results.throw(KeyboardInterrupt)
    assert not running
    assert len(begun) < 20


def test_a_map_inside_a_worker_stays_in_the_worker(two_threads):
    def outer(i):
        inner = set(ordered_map(lambda _: threading.get_ident(), range(10)))
        return inner == {threading.get_ident()}

    assert all(ordered_map(outer, range(20)))


def test_a_reduction_inside_a_reduction_comes_to_an_end(two_threads):
    rows = scan(np.random.default_rng(0).normal(size=(40_000, 3)))

    def of(block):
        return Products(
            type(block)(block.X + rows.reduce(Products).total[0, 0], *_rest(block))
        )

    with ThreadPoolExecutor(1) as outside:
        nested = outside.submit(lambda: rows.reduce(of)).result(timeout=60)
    assert np.isfinite(nested.total).all()


def _rest(block):
    return block.y, block.w, block.start, block.schema


def test_as_many_run_at_once_as_are_allowed_now():
    """Also fewer than before."""
    for count in (2, 4, 3, 2):
        with threadpool_limits(count, user_api="openmp"):
            together = threading.Barrier(count, timeout=30)  # all of them at once,
            running, most = [], []

            def work(i, together=together, running=running, most=most):
                running.append(i)
                if i < together.parties:
                    together.wait()
                most.append(len(running))
                time.sleep(0.001)
                running.remove(i)

            list(ordered_map(work, range(8 * count)))
            assert max(most) == count  # and never more


# -- BLAS ------------------------------------------------------------------------------


def blas_threads():
    return {
        pool["filepath"]: pool["num_threads"]
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }


def test_blas_has_one_thread_inside_and_its_own_number_after():
    import scipy.linalg.cython_blas  # noqa: F401  so that SciPy's BLAS is there before and after

    def inside():
        with single_threaded_blas(), single_threaded_blas():
            assert set(blas_threads().values()) == {1}
            raise ZeroDivisionError

    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        inside()
    assert blas_threads() == before


def test_reductions_of_several_user_threads_restore_blas_when_the_last_ends(
    two_threads,
):
    rows = scan(np.random.default_rng(0).normal(size=(60_000, 8)))
    rows.reduce(Products)
    before, seen = blas_threads(), []

    class Watched(Products):
        def __init__(self, block):
            seen.append(set(blas_threads().values()))
            super().__init__(block)

    with ThreadPoolExecutor(4) as users:
        totals = [
            future.result().total
            for future in [users.submit(rows.reduce, Watched) for _ in range(12)]
        ]
    assert all(np.array_equal(total, totals[0]) for total in totals)
    assert seen
    assert all(limits == {1} for limits in seen)
    assert blas_threads() == before
    assert _threads._limit_depth == 0


def test_an_abandoned_map_gives_blas_back():
    rows = scan(np.random.default_rng(0).normal(size=(60_000, 8)))
    before = blas_threads()
    results = rows.map(lambda block: block.X)
    next(results)
    del results
    assert blas_threads() == before


# -- fork ------------------------------------------------------------------------------


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"
)
@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)
def test_a_forked_child_reduces_like_its_parent(two_threads):
    rows = scan(np.random.default_rng(0).normal(size=(60_000, 8)))
    here = rows.reduce(Products).total
    with (
        single_threaded_blas()
    ):  # a child born in the middle of a reduction must not inherit the limit's owner
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_in_child, args=(rows, queue))
        child.start()
        total, depth = queue.get(timeout=60)
        child.join(timeout=60)
    assert child.exitcode == 0
    assert depth == 0
    np.testing.assert_array_equal(total, here)


def _in_child(rows: Rows, queue):
    total = rows.reduce(Products).total
    queue.put((total, _threads._limit_depth))


def test_a_million_threads_are_not_started():
    """A model file whose n_jobs was changed to a million once took the process with it."""
    with limit_threads(1_000_000):
        assert n_threads() == max(64, os.cpu_count())


# -- fits and questions at once --------------------------------------------------------

CELLS = np.arange(12.0).reshape(6, 2) ** 1.5
Y = np.arange(6.0)


def test_who_asks_during_a_fit_is_answered_as_before_it():
    seen = []

    class Watched(LinearRegression):
        def fit(self, X, y):
            super().fit(X, y)
            if hasattr(watched, "coef_"):  # as another thread would
                seen.append(watched.predict(X))
            return self

    watched = Watched()
    before = watched.fit(CELLS, Y).predict(CELLS)
    watched.fit(CELLS, 5.0 - Y)
    np.testing.assert_array_equal(seen, [before])
    np.testing.assert_allclose(watched.predict(CELLS), 5.0 - before, atol=1e-12)


def test_a_fit_that_ends_during_a_question_does_not_mix_two_states():
    fits = []

    class Crossed(LinearRegression):
        def predict(self, X):
            coefficients = self.coef_
            if not fits:
                fits.append(threading.Thread(target=self.fit, args=(CELLS, 5.0 - Y)))
                fits[0].start()
                fits[0].join()
            return X @ coefficients + self.intercept_

    crossed = Crossed().fit(CELLS, Y)
    answer = crossed.predict(CELLS)
    np.testing.assert_allclose(answer, crossed.predict(CELLS))

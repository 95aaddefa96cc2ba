"""Threads over blocks: how many there are, one shared pool, and BLAS kept to one thread inside it.

The count is OpenMP's, so that OMP_NUM_THREADS, threadpoolctl and joblib's inner limit are obeyed.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from lyceum._core.native import native

Item = TypeVar("Item")
Result = TypeVar("Result")

_MANY = 64  # threads
_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()
_here = threading.local()


def n_threads() -> int:
    """How many threads a reduction may use here and now."""
    return native.max_threads()


def _executor(size: int) -> ThreadPoolExecutor:
    """The shared pool of exactly this many threads: a larger one would run more at once than
    allowed."""
    with _lock:
        if size not in _pools:
            _pools[size] = _started_pool(size)
        return _pools[size]


def _started_pool(size: int) -> ThreadPoolExecutor:
    """A pool with all its threads, started from a thread that Ctrl-C does not reach.

    An interrupt in the middle of `Thread.start` would leave a worker that nobody tells to end, and
    the process would wait for it forever.
    """
    pool = ThreadPoolExecutor(
        size, thread_name_prefix="lyceum", initializer=_mark_worker
    )

    # a pool starts a thread only if none is idle: the barrier keeps each until all are there
    def start_all() -> None:
        together = threading.Barrier(size)
        wait([pool.submit(together.wait) for _ in range(size)])

    starter = threading.Thread(target=start_all)
    starter.start()
    starter.join()
    return pool


def _mark_worker() -> None:
    _here.is_worker = True
    for library in _blas():
        # a BLAS that uses OpenMP has a limit of its own in every thread
        if library.layer == "openmp":
            library.write(1)


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    """`map` on the shared threads, in order, with at most two items per thread read ahead.

    The work is done in the calling thread when one thread is allowed, when there is one item, and
    inside a worker: a worker that waited for other workers could wait forever. When the caller
    stops early or an item fails, what has not begun is cancelled and what is running is waited for:
    no work continues after that.
    """
    size = n_threads()
    iterator = iter(items)
    first = list(islice(iterator, 2))
    if size == 1 or len(first) < 2 or getattr(_here, "is_worker", False):
        yield from map(function, chain(first, iterator))
        return
    pool = _executor(size)
    waiting: deque[Future[Result]] = deque()
    try:
        for item in chain(first, islice(iterator, 2 * size - len(first))):
            waiting.append(pool.submit(function, item))
        while waiting:
            result = waiting[0].result()
            waiting.popleft()
            for item in islice(iterator, 1):
                waiting.append(pool.submit(function, item))
            yield result
    finally:
        wait([future for future in waiting if not future.cancel()])


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Run at most `count` threads for what this thread starts; inside a worker there is one
    already.

    More than there are processors (or 64) are never started: a model file could end the process by
    a number.
    """
    count = min(count, max(_MANY, os.cpu_count() or 1))
    if getattr(_here, "is_worker", False):
        yield
        return
    with _openmp().limit(limits=count, user_api="openmp"):
        yield


@contextmanager
def in_this_thread() -> Iterator[None]:
    """Do what `ordered_map` would give to other threads in this one: for work of microseconds."""
    before = getattr(_here, "is_worker", False)
    _here.is_worker = True
    try:
        yield
    finally:
        _here.is_worker = before


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep what this thread starts to one thread: small work is done before others have woken
    up."""
    with single_threaded_blas(), _openmp().limit(limits=1, user_api="openmp"):
        yield


@cache
def _openmp() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


class _Blas(NamedTuple):
    """What reads and what sets the number of threads of a BLAS library."""

    read: Callable[[], int]
    write: Callable[[int], object]
    layer: str


@cache
def _blas() -> list[_Blas]:
    """The BLAS libraries that are loaded."""
    import scipy.linalg.cython_blas  # noqa: F401  SciPy has a BLAS of its own: load it, to limit it
    from threadpoolctl import ThreadpoolController

    libraries = []
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        layer = getattr(library, "threading_layer", "")
        read = library.get_num_threads
        # threadpoolctl's own setter does nothing while another thread holds OpenBLAS's limit. Here
        # the first thread that comes sets it and the last that goes restores it, and these need
        # not be the same.
        write = getattr(library, "_real_set_num_threads", library.set_num_threads)
        # the library's own functions are quicker, which matters to predictions of one row
        if (library.internal_api, layer) == ("openblas", "pthreads"):
            read = library._get_symbol("openblas_get_num_threads") or read
            write = library._get_symbol("openblas_set_num_threads") or write
        libraries.append(_Blas(read, write, layer))
    return libraries


_limit_lock = threading.Lock()
_limit_depth = 0
_limits_before: list[tuple[_Blas, int]] = []


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread: blocks are what runs in parallel, and each block's bits stay the
    same.

    The limit is the process's: it holds from the first thread that comes to the last that goes.
    """
    global _limit_depth
    with _limit_lock:
        if _limit_depth == 0:
            # all limits are read before one is set: libraries may share one
            _limits_before[:] = [(library, library.read()) for library in _blas()]
            for library in _blas():
                library.write(1)
        _limit_depth += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limit_depth -= 1
            if _limit_depth == 0:
                _restore_blas_threads()


def blas_is_limited() -> bool:
    """Whether a `single_threaded_blas` block is open in this process."""
    return _limit_depth > 0


def _restore_blas_threads() -> None:
    for library, count in _limits_before:
        library.write(count)
    _limits_before.clear()


def _start_afresh() -> None:
    """A forked child has none of its parent's threads, and may be born while one of them holds a
    lock."""
    global _lock, _limit_lock, _limit_depth
    _pools.clear()
    _lock = threading.Lock()
    _limit_lock = threading.Lock()
    _limit_depth = 0
    _restore_blas_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)

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
from typing import TypeVar

from lyceum._native import kernels

__all__ = ["n_threads", "ordered_map", "single_threaded_blas"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_lock = threading.Lock()
_here = threading.local()


def n_threads() -> int:
    """How many threads a reduction may use here and now."""
    return kernels.max_threads()


def _executor(size: int) -> ThreadPoolExecutor:
    """The shared pool, grown when more threads are allowed than it has."""
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            _pool = ThreadPoolExecutor(size, thread_name_prefix="lyceum", initializer=_mark_worker)
            _pool_size = size
        return _pool


def _mark_worker() -> None:
    _here.is_worker = True


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map` on the shared threads, in order, with at most two items a thread read ahead.

    The work is done in the calling thread when one thread is allowed, when there is one item, and inside a worker:
    a worker that waited for other workers could wait for ever. When the caller stops early or an item fails, what
    has not begun is cancelled and what is running is waited for: nothing goes on behind the caller's back.
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


@cache
def _blas():
    import scipy.linalg.cython_blas  # noqa: F401  the kernels call SciPy's BLAS: it has to be loaded to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


_limit_lock = threading.Lock()
_limit_depth = 0
_limiter = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread: blocks are what runs in parallel, and each block's bits stay the same."""
    global _limit_depth, _limiter
    with _limit_lock:
        if _limit_depth == 0:
            _limiter = _blas().limit(limits=1)
        _limit_depth += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limit_depth -= 1
            if _limit_depth == 0 and _limiter is not None:
                _limiter.restore_original_limits()
                _limiter = None


def _start_afresh() -> None:
    """A forked child has none of its parent's threads, and may have been born while one of them held a lock."""
    global _pool, _lock, _limit_lock, _limit_depth, _limiter
    _pool, _lock, _limit_lock = None, threading.Lock(), threading.Lock()
    if _limiter is not None:
        _limiter.restore_original_limits()
    _limit_depth, _limiter = 0, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)

"""Other processes that run tasks of the same study, for small tables that one thread fits at a
time.

The processes are joblib's (loky). Each is sent the plan and the rows once, then one task after
another. Only the process that holds the folder writes to it, and its workers end with it.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from typing import Any, Protocol

from joblib.externals.loky import ProcessPoolExecutor

from lyceum._core.threads import n_threads

_SOON = 4.0  # seconds of work that one process does while others are being started
_MOST = 16  # processes

Job = Any


class JobQueue(Protocol):
    """What jobs are taken from: a deque, or what says itself which comes next."""

    def popleft(self) -> Job: ...

    def appendleft(self, job: Job, /) -> None: ...

    def __len__(self) -> int: ...


class Workers:
    """Processes that take jobs from a queue, beside the caller, who takes jobs from it too.

    Parameters
    ----------
    run_job : picklable callable
        Called with a job, it gives the outcome; sent to every process once.
    jobs : deque, or what is taken from like one
        What is left to do, taken from the left. A job whose process died is put back.
    is_open : callable
        Whether a job is still to be done when its turn comes.
    """

    def __init__(
        self,
        run_job: Callable[[Job], Any],
        jobs: JobQueue,
        is_open: Callable[[Job], bool],
    ) -> None:
        self._run_job = run_job
        self._jobs = jobs
        self._is_open = is_open
        self._start_time = time.monotonic()
        self._n_before = len(jobs)
        self._outcomes: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # guards `_n_running`, and that a job is taken and counted at once: jobs are taken by the
        # caller and by a thread of the pool
        self._lock = threading.Lock()
        self._n_running = 0
        self._is_tried = False
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(kill_workers=True)

    def start_if_worth(self) -> None:
        """Start the processes once it is seen that the jobs take longer than starting them."""
        n_done = self._n_before - len(self._jobs)
        if self._is_tried or not n_done:
            return
        seconds = time.monotonic() - self._start_time
        if seconds < 0.25 * _SOON or seconds / n_done * len(self._jobs) < _SOON:
            return
        self._is_tried = True
        n_workers = min(n_threads(), _MOST, len(self._jobs)) - 1
        if n_workers < 1:
            return
        # no memory, no processes left, or none allowed: the caller works alone
        try:
            self._pool = _open_pool(n_workers, self._run_job)
        except Exception:
            return
        for _ in range(n_workers):
            self._submit_next()

    @property
    def are_working(self) -> bool:
        """Whether other processes use the cores too."""
        return self._n_running > 0

    def next_job(self) -> Job | None:
        """The next job that is still open, None where none is left."""
        while True:
            try:
                job = self._jobs.popleft()
            except IndexError:
                return None
            if self._is_open(job):
                return job

    def outcomes(self) -> Iterator[Any]:
        """The outcomes that have come from other processes."""
        while not self._outcomes.empty():
            yield self._outcomes.get()

    def wait(self, seconds: float) -> bool:
        """Wait for another process to finish a job, not longer than this; False if all is done."""
        with self._lock:
            if not self._n_running:
                return bool(self._jobs) or not self._outcomes.empty()
        end = time.monotonic() + seconds
        while self._outcomes.empty() and time.monotonic() < end:
            time.sleep(0.01)
        return True

    def _submit_next(self) -> None:
        """Send the next job to a free process."""
        assert self._pool is not None
        with self._lock:
            job = self.next_job()
            if job is None:
                return
            self._n_running += 1
        try:
            future = self._pool.submit(_run_in_worker, job)
        except RuntimeError:  # the pool is broken or closed
            self._put_back(job)
        else:
            future.add_done_callback(partial(self._receive, job))

    def _receive(self, job: Job, future: Future[Any]) -> None:
        """Take the outcome of a job; called in a thread of the pool."""
        if future.cancelled() or future.exception() is not None:
            self._put_back(job)
            return
        self._outcomes.put(future.result())
        # the next job is counted before this one no longer is, so that the caller never sees 0
        # while there is work
        self._submit_next()
        with self._lock:
            self._n_running -= 1

    def _put_back(self, job: Job) -> None:
        """Leave a job to whoever comes next: its process died, or could not run it."""
        with self._lock:
            self._jobs.appendleft(job)
            self._n_running -= 1


def _open_pool(n_workers: int, run_job: Callable[[Job], Any]) -> ProcessPoolExecutor:
    """A pool whose processes are started, with one thread each."""
    pool = ProcessPoolExecutor(
        n_workers,
        initializer=_prepare_worker,
        initargs=(run_job, os.getpid()),
        env={"OMP_NUM_THREADS": "1"},
    )
    # a pool of which only some processes could be started must not leave these behind
    try:
        with _blocked_interrupts():
            pool.submit(os.getpid)  # starts all of them
    except Exception:
        for process in pool._processes.values():
            process.kill()
        raise
    return pool


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Block Ctrl-C in the processes started here: it is for the caller, who then ends them."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # which unblocks it, when it starts
    # processes inherit the mask of the thread that starts them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in a worker -----------------------------------------------------------------------

# set once in every process, so that plan and rows are not sent with each job
_run_job: Callable[[Job], Any]


def _prepare_worker(run_job: Callable[[Job], Any], caller: int) -> None:
    global _run_job
    _run_job = run_job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # what a learner prints goes nowhere
        os.dup2(nowhere, stream)
    threading.Thread(target=_end_with, args=(caller,), daemon=True).start()


def _run_in_worker(job: Job) -> Any:
    return _run_job(job)


def _end_with(caller: int) -> None:
    """End this process, whatever it does, once its caller is gone, as after a kill."""
    if sys.platform == "win32":
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
    else:
        while os.getppid() == caller:
            time.sleep(0.5)
    os._exit(0)

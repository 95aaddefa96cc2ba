"""Other processes that run tasks of the same study, for small tables that one thread fits at a
time.

A helper is sent the plan and the rows once, then one task after another. Nothing but tasks and
results passes between the processes, and only the process that holds the folder writes to it. A
helper ends as soon as the process that started it is gone.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from lyceum._core.threads import n_threads

_SOON = 4.0  # seconds of work that one process does while others are being started
_MOST = 16  # processes

Job = Any
Attempt = Callable[[Job], Any]
"""What runs one task: called with a job, it gives the outcome, or None where the time was over."""


class Helpers:
    """Processes that take jobs from a queue, beside the caller, who takes jobs from it too.

    Parameters
    ----------
    attempt : picklable callable
        Runs a job; sent to every helper once.
    jobs : deque
        What is left to do; helpers take from the left. A job whose helper died is put back.
    is_open : callable
        Whether a job is still to be done when its turn comes.
    """

    def __init__(self, attempt: Attempt, jobs: deque[Job], is_open: Callable[[Job], bool]) -> None:
        self._attempt = attempt
        self._jobs = jobs
        self._is_open = is_open
        self._start_time = time.monotonic()
        self._n_before = len(jobs)
        self._outcomes: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._busy = 0
        self._is_started = False

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        for process, thread in zip(self._processes, self._threads):
            thread.join()
            with suppress(OSError), process:  # closes its pipes and waits for it
                pass

    def start_if_worth(self) -> None:
        """Start the helpers once it is seen that the jobs take longer than starting them."""
        n_done = self._n_before - len(self._jobs)
        if self._is_started or not n_done or not sys.executable:
            return
        spent = time.monotonic() - self._start_time
        if spent < 0.5 * _SOON or spent / n_done * len(self._jobs) < _SOON:
            return
        self._is_started = True
        for _ in range(min(n_threads(), _MOST, len(self._jobs)) - 1):
            try:
                process = _start()
            except OSError:  # no memory or no processes left: the caller does the work alone
                return
            thread = threading.Thread(target=self._feed, args=(process,), daemon=True)
            self._processes.append(process)
            self._threads.append(thread)
            thread.start()

    @property
    def are_working(self) -> bool:
        """Whether other processes use the cores too."""
        return bool(self._processes)

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
        """The outcomes that have come from helpers."""
        while not self._outcomes.empty():
            yield self._outcomes.get()

    def wait(self, seconds: float) -> bool:
        """Wait for a helper to finish a job, not longer than this; False if all is done."""
        with self._lock:
            if not self._busy:
                return bool(self._jobs) or not self._outcomes.empty()
        end = time.monotonic() + seconds
        while self._outcomes.empty() and time.monotonic() < end:
            time.sleep(0.01)
        return True

    def _feed(self, process: subprocess.Popen[bytes]) -> None:
        """Give a helper its jobs, in a thread of its own."""
        assert process.stdin is not None
        assert process.stdout is not None
        job = None
        try:
            _send(process.stdin, self._attempt)
            pickle.load(process.stdout)  # it has started
            while True:
                with self._lock:
                    job = self.next_job()
                    self._busy += job is not None
                if job is None:
                    return
                _send(process.stdin, job)
                self._outcomes.put(pickle.load(process.stdout))
                self._end_job()
        except (EOFError, OSError, pickle.PickleError, AttributeError, ImportError):
            if job is not None:  # the helper died: whoever comes next does it
                self._jobs.appendleft(job)
                self._end_job()

    def _end_job(self) -> None:
        with self._lock:
            self._busy -= 1


def _start() -> subprocess.Popen[bytes]:
    # this file alone: the packages that the jobs need are imported with the first of them
    code = (
        "import sys, json, runpy; sys.path[:] = json.loads(sys.argv[1]); run ="
        " runpy.run_path(sys.argv[2])"
    )
    command = [sys.executable, "-c", f"{code}; run['serve']()", json.dumps(sys.path), __file__]
    # a session of its own: Ctrl-C reaches the process that started it, which then ends it
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _send(pipe: Any, value: Any) -> None:
    pickle.dump(value, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def serve() -> None:
    """The work of a helper: jobs from standard input, outcomes to standard output."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a learner prints goes nowhere
    attempt = pickle.load(requests)
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, jobs), daemon=True).start()
    _send(answers, True)
    while True:
        _send(answers, attempt(jobs.get()))


def _read(requests: BinaryIO, jobs: queue.SimpleQueue[Job]) -> None:
    """Pass on the jobs; end the process, whatever it does, when nobody is there to send any."""
    try:
        while True:
            jobs.put(pickle.load(requests))
    except (EOFError, OSError, pickle.PickleError):
        os._exit(0)

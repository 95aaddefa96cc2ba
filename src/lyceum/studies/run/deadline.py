"""The time that a study has: one value, which everything that may take long asks."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lyceum import progress
from lyceum.errors import Cancelled

_RESERVE = 0.2  # the share of the time that is kept for what follows the folds,
_LEAST_RESERVE = 3.4  # but not less than these seconds, if that is half of it at most,
_MOST_BUSY = (
    0.4  # or, on a busy machine, so much of it: learners must have some time too
)
_MOST_RESERVE = 60.0  # and not more than these
_LATE = 0.2  # seconds after the deadline when work is stopped that does not look at the time
_REPORT = 3.0  # seconds that a report takes at most,
FINAL_SHARE = (
    0.4  # or what is left of what is kept after this share for the final model
)
_MOST_SLOW = (
    8.0  # times that a machine may be thought to be slower for what else it does
)
_LEAST_RUN = 0.2  # seconds that a thread must have run to know how long it waits


class OutOfTime(Exception):
    """Work was not finished by its deadline."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When work is to be done, on the clock of `time.monotonic`, which all processes share.

    Without an `end` there is all the time in the world.

    >>> Deadline.in_minutes(None).is_over, Deadline.in_minutes(0).is_over
    (False, True)
    >>> with Deadline(end=0.0).limit():
    ...     progress.report("rows", 1)
    Traceback (most recent call last):
    lyceum.studies.run.deadline.OutOfTime
    """

    end: float | None = None
    reserve: float = 0.0  # seconds of it that are kept for what follows the folds
    slowness: float = 1.0  # times that work takes longer than on an idle machine

    @classmethod
    def in_minutes(cls, minutes: float | None, began: float | None = None) -> Deadline:
        """The deadline of a study that begins now, or that began on the clock of
        `time.monotonic`."""
        if minutes is None:
            return cls()
        seconds = 60.0 * minutes
        slowness = _slowness()
        least = min(_LEAST_RESERVE, 0.5 * seconds)
        if slowness > 1.0:
            least = max(least, min(least * slowness, _MOST_BUSY * seconds))
        reserve = min(max(_RESERVE * seconds, least), _MOST_RESERVE)
        if began is None:
            began = time.monotonic()
        return cls(began + seconds, reserve, slowness)

    @property
    def for_folds(self) -> Deadline:
        """When no more folds are started, nor settings searched."""
        if self.end is None:
            return self
        return Deadline(self.end - self.reserve)

    @property
    def for_report(self) -> Deadline:
        """When the report is begun: a part of what is kept goes to the final model."""
        if self.end is None:
            return self
        kept = min((1.0 - FINAL_SHARE) * self.reserve, _REPORT * self.slowness)
        return Deadline(self.end - kept, self.reserve, self.slowness)

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be started that can be left out."""
        return self.end is not None and time.monotonic() >= self.end

    def allows(self, seconds: float) -> bool:
        """Whether work of so many seconds would be done in time."""
        return self.end is None or time.monotonic() + seconds < self.end

    def or_after(self, seconds: float) -> Deadline:
        """The same, or so many seconds from now if that is later."""
        if self.end is None:
            return self
        return Deadline(max(self.end, time.monotonic() + seconds))

    def or_before(self, seconds: float | None) -> Deadline:
        """The same, or so many seconds from now if that is earlier; the same for None."""
        if seconds is None:
            return self
        end = time.monotonic() + seconds
        return Deadline(end if self.end is None else min(self.end, end))

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Stop the work of a `with` block at the deadline, by OutOfTime.

        `Cancelled` before it is the request of a person, and passes.
        """
        # work that reports its progress is stopped there, by Cancelled, and other work by a signal
        try:
            with progress.watch(deadline=self.end), _signal_at(self.end):
                yield
        except Cancelled:
            if self.is_over:
                raise OutOfTime from None
            raise


def _slowness() -> float:
    """How many times longer work takes here than on an idle machine, 1 where it does not.

    On Linux a thread knows for how long it ran and for how long it waited for a processor, which
    counts its priority too; a thread that did little so far, and other systems, go by the number of
    processes that want one.
    """
    try:
        times = Path("/proc/thread-self/schedstat").read_text().split()
        ran, waited = (1e-9 * int(time) for time in times[:2])
    except (OSError, ValueError):
        ran = waited = 0.0
    slowness = 1.0
    if ran >= _LEAST_RUN:
        slowness = 1.0 + waited / ran
    elif hasattr(os, "getloadavg"):  # not on Windows
        slowness = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return min(slowness, _MOST_SLOW)


@contextmanager
def _signal_at(end: float | None) -> Iterator[None]:
    """Raise Cancelled in the main thread soon after the end, wherever it is.

    Work that does not report its progress is stopped by it too: Python looks for signals between
    instructions, and kernels every few milliseconds. Elsewhere than in the main thread, and on
    systems without such signals, this does nothing.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if end is None or not is_main or not hasattr(signal, "pthread_kill"):
        yield
        return
    is_active = True

    def stop(*_: object) -> None:
        if is_active and time.monotonic() >= end:
            raise Cancelled("the time is over")

    before = signal.signal(signal.SIGUSR2, stop)
    wait = max(0.0, end - time.monotonic()) + _LATE
    alarm = threading.Timer(
        wait, signal.pthread_kill, (threading.get_ident(), signal.SIGUSR2)
    )
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        is_active = False
        alarm.cancel()
        alarm.join()
        signal.signal(signal.SIGUSR2, before)

"""The time that a study has: one value, which everything that may take long asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lyceum import progress
from lyceum.errors import Cancelled

_RESERVE = 0.2  # the share of the time that is kept for what follows the folds,
_MOST_RESERVE = 60.0  # but not more than these seconds


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

    @classmethod
    def in_minutes(cls, minutes: float | None) -> Deadline:
        """The deadline of a study that begins now."""
        if minutes is None:
            return cls()
        seconds = 60.0 * minutes
        return cls(time.monotonic() + seconds, min(_RESERVE * seconds, _MOST_RESERVE))

    @property
    def for_folds(self) -> Deadline:
        """When no more folds are started, nor settings searched."""
        if self.end is None:
            return self
        return Deadline(self.end - self.reserve)

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be started that can be left out."""
        return self.end is not None and time.monotonic() >= self.end

    def or_after(self, seconds: float) -> Deadline:
        """The same, or so many seconds from now if that is later."""
        if self.end is None:
            return self
        return Deadline(max(self.end, time.monotonic() + seconds))

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Stop the work of a `with` block at the deadline, by OutOfTime.

        `Cancelled` before it is the request of a person, and passes.
        """
        # work that reports its progress is stopped there, by Cancelled
        try:
            with progress.watch(deadline=self.end):
                yield
        except Cancelled:
            if self.is_over:
                raise OutOfTime from None
            raise

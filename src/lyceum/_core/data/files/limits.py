"""How much memory and time the reading of a file may take: known before the work begins.

A file of a few bytes can ask for any amount of both: a cell in the last row of a sheet, a packed
file of zeros, a view without an end. What a file declares is checked before it is read; what it
does not declare is counted while it is read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from lyceum.errors import DataError, SettingError

MEMORY_AT_ONCE = 512 << 20  # bytes of a file that can be read in parts, by default
_SHARE = 0.5  # of the machine's memory that the reading of one file may take
_SECONDS = 600.0  # that a database may take for one table
_UNKNOWN_MACHINE = 16 << 30
_CGROUP = Path("/sys/fs/cgroup/memory.max")  # of a container, "max" without a limit


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Bytes and seconds that the reading of one file may take, None for the defaults."""

    memory: int | None = None
    seconds: float | None = None


_DEFAULTS = ReadingLimits()
_limits: ContextVar[ReadingLimits] = ContextVar("limits", default=_DEFAULTS)


@contextmanager
def reading_limits(
    memory: int | None = None, seconds: float | None = None
) -> Iterator[None]:
    """Other limits for all files that are read inside the block; None leaves a limit as it is.

    >>> with reading_limits(memory=1 << 20):
    ...     memory_limit()
    1048576
    """
    for name, value in (("memory", memory), ("limit", seconds)):
        if value is not None and not value > 0:
            raise SettingError(f"{name} = {value}: give a number above 0")
    outer = _limits.get()
    if memory is None:
        memory = outer.memory
    if seconds is None:
        seconds = outer.seconds
    token = _limits.set(ReadingLimits(memory, seconds))
    try:
        yield
    finally:
        _limits.reset(token)


def allow_memory(
    memory: int, seconds: float | None = None
) -> AbstractContextManager[None]:
    """The limits in which a person who gave `memory` reads: it raises the limit, never lowers it.

    `memory` also says what is held at once of files that can be read in parts; its default there
    raises nothing.
    """
    more = memory if memory > max(memory_limit(), MEMORY_AT_ONCE) else None
    return reading_limits(more, seconds)


def memory_limit() -> int:
    """Bytes that the reading of one file may take: half of the machine's memory by default."""
    memory = _limits.get().memory
    if memory is not None:
        return memory
    return int(_SHARE * machine_memory())


def machine_memory() -> int:
    """Bytes of this machine's memory, or of its container where that may take less."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every system
        memory = _UNKNOWN_MACHINE
    try:
        return min(memory, int(_CGROUP.read_text()))
    except (OSError, ValueError):
        return memory


def check_memory(needed: float, path: str, what: str) -> None:
    """Raise if what a file holds takes more memory than its reading may.

    >>> with reading_limits(memory=1 << 20):
    ...     check_memory(3e9, "t.csv", "its 300,000 columns")
    Traceback (most recent call last):
        ...
    lyceum.errors.DataError: t.csv cannot be read: its 300,000 columns take about 3 GB of memory, \
more than the 1 MB that are allowed: allow more by --memory (in MB), or memory=... of scan
    """
    limit = memory_limit()
    if needed <= limit:
        return
    allowed = f"{_size(limit)} that are allowed"
    if _limits.get().memory is None:
        allowed = f"{_size(limit)} that are allowed, half of this machine's memory"
    raise DataError(
        f"{path} cannot be read: {what} take about {_size(needed)} of memory, more than the"
        f" {allowed}: allow more by --memory (in MB), or memory=... of scan"
    )


def _size(n_bytes: float) -> str:
    """A number of bytes as people read it.

    >>> _size(1_500_000), _size(3e9), _size(200)
    ('1.5 MB', '3 GB', '0.0002 MB')
    """
    if n_bytes >= 1e9:
        return (
            f"{n_bytes / 1e9:,.3g} GB" if n_bytes < 1e12 else f"{n_bytes / 1e9:,.0f} GB"
        )
    return f"{n_bytes / 1e6:.2g} MB" if n_bytes < 1e8 else f"{n_bytes / 1e6:.0f} MB"


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """The time that the reading of one file takes, against its limit."""

    path: str
    start: float = field(default_factory=time.monotonic)
    seconds: float = field(default_factory=lambda: _limits.get().seconds or _SECONDS)

    @property
    def left(self) -> float:
        """Seconds until the limit, negative beyond it."""
        return self.start + self.seconds - time.monotonic()

    def error(self, what: str) -> DataError:
        """The error of a reading that took too long."""
        return DataError(
            f"{self.path} cannot be read: {what} is not finished after {self.seconds:,g} s, the"
            " time that is allowed: it may have no end; allow more by --limit (in seconds), or"
            " limit=... of scan"
        )

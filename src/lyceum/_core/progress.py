"""Progress of long work: one protocol for reading, fitting, evaluating and studies, with a way to
stop.

Long-running code calls `report(stage, done, total)`. To see its progress, or to be able to cancel
it, run it inside `watch`:

    with watch(show) as watched:
        model.fit(rows)          # show(Update("trees", 12, 100)), ...

and calls `watched.cancel()`, from any thread, to end the work: the next report raises `Cancelled`,
and a learner whose fit is cancelled is left as it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from lyceum.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Update:
    """The progress of some work: `done` of `total` steps of a stage ("rows", "trees").

    Attributes
    ----------
    stage : str
        What is being done.
    done : int
        How many steps are done.
    total : int or None, default=None
        How many there will be, None if that is not known.

    See Also
    --------
    report : Sends one to all watches.
    watch : Receives them.

    Examples
    --------
    >>> updates = []
    >>> with watch(updates.append):
    ...     report("trees", 1, 2)
    >>> updates
    [Update(stage='trees', done=1, total=2)]
    """

    stage: str
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """One watch over some work: it receives the updates and can cancel the work.

    Attributes
    ----------
    show : function of an Update or None, default=None
        Called at every update.
    deadline : float or None, default=None
        When the work is cancelled, on the clock of `time.monotonic`.
    cancelled : bool
        Whether the work is to stop at its next report: it was cancelled, or the deadline has
        passed.

    See Also
    --------
    watch : Makes one for the work of a `with` block.
    lyceum.errors.Cancelled : What cancelled work raises.

    Examples
    --------
    >>> with watch() as watched:
    ...     report("rows", 100)
    ...     watched.cancel()
    >>> watched.cancelled
    True
    """

    show: Callable[[Update], None] | None = None
    deadline: float | None = None
    _stop: Event = field(default_factory=Event, repr=False)

    def cancel(self) -> None:
        """Stop the work at its next report; may be called from any thread."""
        self._stop.set()

    @property
    def cancelled(self) -> bool:
        """Whether the work is to stop: it was cancelled, or the deadline has passed."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return True
        return self._stop.is_set()


_watches: ContextVar[tuple[Watch, ...]] = ContextVar("lyceum_watches", default=())


@contextmanager
def watch(
    show: Callable[[Update], None] | None = None, deadline: float | None = None
) -> Iterator[Watch]:
    """Watch the work of a `with` block.

    Parameters
    ----------
    show : callable, optional
        Called with every `Update`, in the thread that does the work. Watches nest: all of them are
        called.
    deadline : float, optional
        When the work is to be stopped, on the clock of `time.monotonic`.

    Examples
    --------
    >>> with watch(lambda update: print(update.stage, update.done, update.total)) as watched:
    ...     report("trees", 1, 2)
    ...     watched.cancel()
    ...     report("trees", 2, 2)
    Traceback (most recent call last):
    lyceum.errors.Cancelled: cancelled after 2 of 2 trees
    """
    watched = Watch(show, deadline)
    token = _watches.set((*_watches.get(), watched))
    try:
        yield watched
    finally:
        _watches.reset(token)


def with_watches(work: Callable[..., Any]) -> Callable[..., Any]:
    """The same work for other threads: cancelling the caller cancels it there, and it shows
    nothing."""
    watches = tuple(replace(each, show=None) for each in _watches.get())

    def watched_work(*arguments: Any) -> Any:
        token = _watches.set(watches)
        try:
            return work(*arguments)
        finally:
            _watches.reset(token)

    return watched_work


def is_watched() -> bool:
    """Whether there is a watch; without one, the content of a report need not be computed."""
    return bool(_watches.get())


def report(stage: str, done: int, total: int | None = None) -> None:
    """Send the progress of the work to all watches; raises `Cancelled` if one of them cancels
    it.

    Examples
    --------
    >>> from lyceum.progress import report, watch
    >>> stages = []
    >>> with watch(lambda update: stages.append((update.stage, update.done, update.total))):
    ...     report("reading rows", 3, 10)
    >>> stages
    [('reading rows', 3, 10)]
    """
    for watched in _watches.get():
        if watched.cancelled:
            count = f"{done:,}"
            if total is not None:
                count += f" of {total:,}"
            raise Cancelled(f"cancelled after {count} {stage}")
        if watched.show is not None:
            watched.show(Update(stage, done, total))

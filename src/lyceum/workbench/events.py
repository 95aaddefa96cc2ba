"""Server-sent events: numbered, kept for a while, so that a page that comes back misses nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from lyceum.web import encode_json

_KEPT = 5000
_LOOK_SECONDS = 0.05
_BEAT_SECONDS = 10.0  # a closed page is noticed by the next beat


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: its number, what it is about, and the news."""

    number: int
    kind: str
    value: Any

    @property
    def text(self) -> bytes:
        data = encode_json(self.value)
        return f"id: {self.number}\nevent: {self.kind}\n".encode() + (
            b"data: " + data + b"\n\n"
        )


class EventLog:
    """The last events of a workbench; any thread may add one, any number of pages follow."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=_KEPT)
        self.last = 0
        self.n_following = 0

    def add(self, kind: str, value: Any) -> None:
        # the event first: whoever sees the number finds it
        self._events.append(Event(self.last + 1, kind, value))
        self.last += 1

    def since(self, number: int) -> list[Event]:
        """The events after one; a page that missed more than is kept is told to start anew."""
        events = [event for event in list(self._events) if event.number > number]
        missed_some = number < self.last - len(events)
        if missed_some or number > self.last:
            return [Event(self.last, "restart", None)]
        return events

    async def follow(
        self, number: int, is_ending: Callable[[], bool]
    ) -> AsyncIterator[bytes]:
        """The events after one, as they come; comments in between keep the connection."""
        self.n_following += 1
        try:
            yield b"retry: 500\n\n"
            quiet = 0.0
            while not is_ending():
                if number == self.last:
                    await asyncio.sleep(_LOOK_SECONDS)
                    quiet += _LOOK_SECONDS
                    if quiet >= _BEAT_SECONDS:
                        quiet = 0.0
                        yield b": beat\n\n"
                    continue
                for event in self.since(number):
                    yield event.text
                    number = event.number
        finally:
            self.n_following -= 1

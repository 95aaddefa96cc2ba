"""What every page of the workbench is made of on this side: its name, its routes, its parser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lyceum.progress import Update, watch
from lyceum.web import JsonAnswer, Refused
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk

Handler = Callable[[Desk, Address], Any]


_PATIENCE = 0.1  # seconds after which a page that can come back is told to
_KEPT = 60.0  # seconds in which it comes back


@dataclass(frozen=True)
class Page:
    """A page: the name in its address, the word on its tab, and its routes."""

    name: str
    title: str
    routes: Sequence[Route]


@dataclass
class Work:
    """An answer that is being made, and how far that is."""

    begun: float = field(default_factory=time.monotonic)
    stage: str = ""
    task: Any = None

    def make(self, handler: Handler, desk: Desk, address: Address) -> Any:
        with watch(self._note):
            return handler(desk, address)

    def _note(self, update: Update) -> None:
        self.stage = update.stage
        if update.total:
            self.stage = f"{update.stage}: {update.done} of {update.total}"

    def as_dict(self) -> dict[str, Any]:
        return {"stage": self.stage, "seconds": time.monotonic() - self.begun}


def answers(path: str, handler: Handler, *, methods: Sequence[str] = ("GET",)) -> Route:
    """A route whose handler takes the desk and the address, in a thread of its own, and gives a
    value for JSON, or a finished response.

    A request that prefers to come back (`Prefer: respond-async`, RFC 7240) is answered by 202 and
    how far the work is, where that takes longer than a moment; the work goes on.
    """

    async def answer(request: Request) -> Response:
        desk: Desk = request.app.state.desk
        address = Address.of(request.query_params)
        comes_back = request.headers.get("prefer") == "respond-async"
        # a name that is too long, a folder in the place of a file, a full disk
        try:
            if not comes_back:
                value = await asyncio.to_thread(handler, desk, address)
            else:
                value = await _within_a_moment(request, handler, desk, address)
        except OSError as error:
            name = Path(str(error.filename or address.file)).name[:80]
            raise Refused(422, f"{name}: {error.strerror or error}") from error
        if isinstance(value, Work):
            return JsonAnswer(value.as_dict(), 202)
        return value if isinstance(value, Response) else JsonAnswer(value)

    return Route(path, answer, methods=list(methods))


async def _within_a_moment(
    request: Request, handler: Handler, desk: Desk, address: Address
) -> Any:
    """The value of the handler, or the work that is under way."""
    key = str(request.url)
    work = desk.under_way.get(key)
    if work is None:
        work = desk.under_way[key] = Work()
        work.task = asyncio.create_task(
            asyncio.to_thread(work.make, handler, desk, address)
        )

        def forget() -> None:
            if desk.under_way.get(key) is work:
                del desk.under_way[key]

        def end(task: Any) -> None:
            if not task.cancelled():
                task.exception()  # said to whoever comes back, if anybody does
            asyncio.get_running_loop().call_later(_KEPT, forget)

        work.task.add_done_callback(end)
    done, _ = await asyncio.wait({work.task}, timeout=_PATIENCE)
    if not done:
        return work
    desk.under_way.pop(key, None)
    return work.task.result()

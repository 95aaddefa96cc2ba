"""What every page of the workbench is made of on this side: its name, its routes, its parser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lyceum.web import JsonAnswer, Refused
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk

Handler = Callable[[Desk, Address], Any]


@dataclass(frozen=True)
class Page:
    """A page: the name in its address, the word on its tab, and its routes."""

    name: str
    title: str
    routes: Sequence[Route]


def answers(path: str, handler: Handler, *, methods: Sequence[str] = ("GET",)) -> Route:
    """A route whose handler takes the desk and the address, in a thread of its own, and gives a
    value for JSON, or a finished response."""

    async def answer(request: Request) -> Response:
        desk: Desk = request.app.state.desk
        address = Address.of(request.query_params)
        # a name that is too long, a folder in the place of a file, a full disk
        try:
            value = await asyncio.to_thread(handler, desk, address)
        except OSError as error:
            name = Path(str(error.filename or address.file)).name[:80]
            raise Refused(422, f"{name}: {error.strerror or error}") from error
        return value if isinstance(value, Response) else JsonAnswer(value)

    return Route(path, answer, methods=list(methods))

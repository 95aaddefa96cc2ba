"""The application of the workbench: the shell, its files, the events, and the pages' own routes."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from lyceum import __version__
from lyceum.web import HANDLERS, JsonAnswer, Limited, Limits, Refused, TokenDoor
from lyceum.workbench.desk import Desk
from lyceum.workbench.page_files import FILE_TYPES, exported_page, static_files
from lyceum.workbench.pages import (
    ask,
    clusters,
    columns,
    compare,
    data,
    decide,
    errors,
    networks,
    question,
    study,
    theatre,
)

# the order of the tabs; `docs/workbench.md` says how a page is added
PAGES = (
    data.PAGE,
    question.PAGE,
    study.PAGE,
    decide.PAGE,
    ask.PAGE,
    errors.PAGE,
    networks.PAGE,
    theatre.PAGE,
    clusters.PAGE,
    columns.PAGE,
    compare.PAGE,
)

LIMITS = Limits(body=256 << 20, read_seconds=120.0, answer_seconds=24 * 3600.0)


@dataclass(frozen=True)
class StartSettings:
    """Who may come in, what is shown first, and when nobody is there any more."""

    host: str
    port: int
    token: str
    start: str = "/data"
    idle_seconds: float = 600.0


def make_app(desk: Desk, settings: StartSettings) -> Any:
    """The ASGI application of a workbench."""
    routes = [
        Route("/api/start", start),
        Route("/api/files", files),
        Route("/api/upload", upload, methods=["POST"]),
        Route("/api/events", events),
        Route("/api/export", export),
        Route("/", shell),
        *(Route(f"/{page.name}", shell) for page in PAGES),
        Route("/page/{path:path}", static_file),
    ]
    for page in PAGES:
        routes += page.routes

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(desk.end_when_idle(settings.idle_seconds))
        yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    app = Starlette(routes=routes, exception_handlers=HANDLERS, lifespan=lifespan)
    app.state.desk = desk
    app.state.start = settings.start
    door = TokenDoor(app, settings.host, settings.port, settings.token)
    return Limited(door, LIMITS)


# -- the shell -------------------------------------------------------------------------


async def shell(request: Request) -> Response:
    """The same page under every address; its script reads the address."""
    return _file_answer(request, "index.html")


async def static_file(request: Request) -> Response:
    return _file_answer(request, request.path_params["path"])


def _file_answer(request: Request, name: str) -> Response:
    request.app.state.desk.last_request = time.monotonic()
    if name not in static_files():
        raise Refused(404, f"there is no page {name}")
    body = static_files()[name].read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    headers["Content-Type"] = FILE_TYPES["." + name.rpartition(".")[2]]
    return Response(body, headers=headers)


async def export(request: Request) -> Response:
    """A page as one HTML file; the page itself puts its address and its answers into it."""
    name = request.query_params.get("page", "")
    titles = {page.name: page.title for page in PAGES}
    if name not in titles:
        raise Refused(404, f"there is no page {name}")
    return JsonAnswer({"html": exported_page(name, titles[name])})


async def start(request: Request) -> Response:
    """What the shell shows around the pages."""
    desk: Desk = request.app.state.desk
    pages = [{"name": page.name, "title": page.title} for page in PAGES]
    return JsonAnswer(
        {
            "pages": pages,
            "start": request.app.state.start,
            "folder": desk.folder.name,
            "version": __version__,
        }
    )


async def files(request: Request) -> Response:
    desk: Desk = request.app.state.desk
    desk.last_request = time.monotonic()
    return JsonAnswer({"files": await asyncio.to_thread(desk.files)})


async def upload(request: Request) -> Response:
    """A file that was dropped on the page: its bytes are the body, its name is in the address."""
    desk: Desk = request.app.state.desk
    name = request.query_params.get("name", "")
    body = await request.body()
    return JsonAnswer({"name": await asyncio.to_thread(desk.keep_upload, name, body)})


async def events(request: Request) -> Response:
    """The events after the last that the page has seen, and then all that come."""
    desk: Desk = request.app.state.desk
    seen = request.headers.get("last-event-id") or request.query_params.get("after", "")
    number = int(seen) if seen.isdecimal() else desk.events.last
    follow = desk.events.follow(number, lambda: desk.is_ending)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(follow, media_type="text/event-stream", headers=headers)

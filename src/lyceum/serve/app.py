"""The application: routes, each of which parses, asks one function and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import perf_counter
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lyceum.serve.answering import answer_record, answer_table
from lyceum.serve.bodies import read_question
from lyceum.serve.shelf import ServedModel, Shelf
from lyceum.web.answers import HANDLERS, JsonAnswer, Refused
from lyceum.web.doors import Door
from lyceum.web.limits import Limited, Limits


def make_app(
    shelf: Shelf,
    *,
    host: str = "127.0.0.1",
    key: str | None = None,
    limits: Limits | None = None,
    may_put: bool = False,
) -> Any:
    """The ASGI application that answers with the models of a shelf."""
    routes = [
        Route("/models", list_models),
        Route("/models/{name}", describe_model),
        Route("/models/{name}/predict", predict, methods=["POST"]),
        Route("/health/live", health),
        Route("/health/ready", health),
    ]
    if may_put:
        routes.append(Route("/models/{name}", put_model, methods=["PUT"]))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(shelf.watch())
        yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    app = Starlette(routes=routes, exception_handlers=HANDLERS, lifespan=lifespan)
    app.state.shelf = shelf
    return Limited(Door(app, host, key), limits or Limits())


def _served(request: Request) -> ServedModel:
    shelf: Shelf = request.app.state.shelf
    name = request.path_params["name"]
    served = shelf.find(name)
    if served is None:
        known = ", ".join(sorted(shelf.models))
        raise Refused(404, f"there is no model {name!r}: choose one of {known}")
    return served


async def health(request: Request) -> Response:
    return JsonAnswer({"status": "ok"})


async def list_models(request: Request) -> Response:
    shelf: Shelf = request.app.state.shelf
    models = [_card(served, shelf) for served in shelf.models.values()]
    return JsonAnswer({"models": models})


def _card(served: ServedModel, shelf: Shelf) -> dict[str, Any]:
    fitted = served.fitted
    card = {
        "name": served.name,
        "version": served.version,
        "learner": fitted.name,
        "target": fitted.target.name,
    }
    if fitted.classes is not None:
        card["classes"] = fitted.classes.tolist()
    if served.name in shelf.faults:
        card["fault"] = shelf.faults[served.name]
    return card


async def describe_model(request: Request) -> Response:
    served = _served(request)
    fitted = served.fitted
    columns = [
        {
            "name": column.name,
            "kind": column.kind,
            "categories": None
            if column.categories is None
            else column.categories.tolist(),
        }
        for column in fitted.schema
    ]
    summary = fitted.learner.summary().as_dict()
    card = _card(served, request.app.state.shelf)
    return JsonAnswer({**card, "columns": columns, "summary": summary})


async def predict(request: Request) -> Response:
    """Decisions for one record or many; `Server-Timing` says where the time went."""
    start = perf_counter()
    served = _served(request)
    body = await request.body()
    kind = request.headers.get("content-type", "")
    question = read_question(body, kind, served.fitted.schema.names)
    parsed = perf_counter()
    answer: Any
    if question.record is not None:
        answer = answer_record(served, question)
    else:
        answer = {"predictions": await asyncio.to_thread(_all_rows, served, question)}
    answered = perf_counter()
    answer["model"] = served.name
    answer["version"] = served.version
    response = JsonAnswer(answer)
    written = perf_counter()
    response.headers["Server-Timing"] = _timing(
        parse=parsed - start, model=answered - parsed, answer=written - answered
    )
    return response


def _all_rows(served: ServedModel, question: Any) -> list[dict[str, Any]]:
    return list(answer_table(served, question))


def _timing(**seconds: float) -> str:
    parts = [f"{name};dur={1000 * value:.3f}" for name, value in seconds.items()]
    return ", ".join(parts)


async def put_model(request: Request) -> Response:
    served = _served(request)
    shelf: Shelf = request.app.state.shelf
    fresh = await shelf.put(served.name, await request.body())
    return JsonAnswer(_card(fresh, shelf))

"""The application: routes, each of which parses, asks one function and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import resources
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lyceum.serve import protocol
from lyceum.serve.answering import answer_cells, answer_table
from lyceum.serve.bodies import Question, read_question
from lyceum.serve.describing import model_card, model_description, openapi
from lyceum.serve.explaining import explain_record
from lyceum.serve.prediction_log import PredictionLog
from lyceum.serve.shelf import ServedModel, Shelf
from lyceum.serve.watching import Watched
from lyceum.web import (
    HANDLERS,
    Door,
    JsonAnswer,
    Limited,
    Limits,
    Refused,
    decode_json,
    encode_json,
)

PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}


def make_app(
    shelf: Shelf,
    *,
    host: str = "127.0.0.1",
    key: str | None = None,
    limits: Limits | None = None,
    may_put: bool = False,
    access_log: str | Path | None = None,
    prediction_log: str | Path | None = None,
    shared_counts: str | Path | None = None,
    watch_seconds: float = 0.5,
) -> Any:
    """The ASGI application that answers with the models of a shelf."""
    routes = [
        Route("/models", list_models),
        Route("/models/{name}", describe_model),
        Route("/models/{name}/predict", predict, methods=["POST"]),
        Route("/models/{name}/explain", explain, methods=["POST"]),
        Route("/models/{name}/outcome", outcome, methods=["POST"]),
        Route("/models/{name}/drift", drift),
        Route("/health/live", health),
        Route("/health/ready", health),
        Route("/openapi.json", describe_interface),
        Route("/metrics", metrics),
        *(Route(path, page) for path in PAGE),
        *_protocol_routes(),
    ]
    if may_put:
        routes.append(Route("/models/{name}", put_model, methods=["PUT"]))
    log = None if prediction_log is None else PredictionLog(prediction_log)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(shelf.watch(watch_seconds))]
        if log is not None:
            tasks.append(asyncio.create_task(log.write_on()))
        if watched.shared is not None:
            tasks.append(asyncio.create_task(watched.share_on()))
        yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    app = Starlette(routes=routes, exception_handlers=HANDLERS, lifespan=lifespan)
    app.state.shelf = shelf
    app.state.has_key = key is not None
    app.state.log = log
    door = Door(app, host, key, open_paths=tuple(PAGE))
    limited = Limited(door, limits or Limits())
    watched = Watched(limited, shelf, access_log, shared_counts)
    app.state.watched = watched
    return watched


def _protocol_routes() -> list[Route]:
    return [
        Route("/v2", protocol_server),
        Route("/v2/health/live", health),
        Route("/v2/health/ready", health),
        Route("/v2/models/{name}", protocol_model),
        Route("/v2/models/{name}/ready", protocol_ready),
        Route("/v2/models/{name}/infer", protocol_infer, methods=["POST"]),
        Route("/v2/models/{name}/explain", explain, methods=["POST"]),
    ]


def _served(request: Request) -> ServedModel:
    shelf: Shelf = request.app.state.shelf
    name = request.path_params["name"]
    served = shelf.find(name)
    if served is None:
        known = ", ".join(sorted(shelf.models))
        raise Refused(404, f"there is no model {name!r}: choose one of {known}")
    return served


# -- models ----------------------------------------------------------------------------


async def health(request: Request) -> Response:
    return JsonAnswer({"status": "ok"})


async def list_models(request: Request) -> Response:
    shelf: Shelf = request.app.state.shelf
    models = [model_card(served, shelf) for served in shelf.models.values()]
    return JsonAnswer({"models": models})


async def describe_model(request: Request) -> Response:
    served = _served(request)
    return JsonAnswer(model_description(served, request.app.state.shelf))


async def describe_interface(request: Request) -> Response:
    return JsonAnswer(openapi(request.app.state.shelf, request.app.state.has_key))


async def put_model(request: Request) -> Response:
    served = _served(request)
    shelf: Shelf = request.app.state.shelf
    fresh = await shelf.put(served.name, await request.body())
    return JsonAnswer(model_card(fresh, shelf))


async def page(request: Request) -> Response:
    """The page to try models on: three files, nothing from elsewhere."""
    name, media_type = PAGE[request.url.path]
    text = resources.files("lyceum.serve").joinpath("page", name).read_bytes()
    headers = {"Cache-Control": "no-cache", "Content-Type": media_type}
    return Response(text, headers=headers)


# -- decisions -------------------------------------------------------------------------


async def predict(request: Request) -> Response:
    """Decisions for one record or many; `Server-Timing` says where the time went."""
    start = perf_counter()
    served = _served(request)
    question = await _question(request, served)
    parsed = perf_counter()
    log: PredictionLog | None = request.app.state.log
    if question.record is None:
        rows = await asyncio.to_thread(answer_table, served, question, log)
        answer: dict[str, Any] = {"predictions": rows}
        prepared = parsed
    else:
        X, schema = served.records.coder.cells(question.record)
        prepared = perf_counter()
        answer = answer_cells(served, X, schema, question)
        _watch_record(served, X, answer)
        if log is not None:
            names = served.fitted.schema.names
            values = served.records.coder.values(question.record)
            log.note(served, [dict(zip(names, values))], [dict(answer)])
    decided = perf_counter()
    answer["model"] = served.name
    answer["version"] = served.version
    body = encode_json(answer)
    timing = _timing(start, parsed, prepared, decided)
    return Response(body, headers={**timing, "Content-Type": "application/json"})


async def _question(request: Request, served: ServedModel) -> Question:
    body = await request.body()
    kind = request.headers.get("content-type", "")
    return read_question(body, kind, served.fitted.schema.names)


def _watch_record(served: ServedModel, X: np.ndarray, answer: dict[str, Any]) -> None:
    served.watch.note_rows(X)
    if served.fitted.classes is not None and "probabilities" in answer:
        served.watch.note_posteriors(np.array([[*answer["probabilities"].values()]]))


def _timing(
    start: float, parsed: float, prepared: float, decided: float
) -> dict[str, str]:
    """The header that says where the time went, until now."""
    times = (start, parsed, prepared, decided, perf_counter())
    names = ("parse", "prepare", "model", "answer")
    parts = [
        f"{name};dur={1000 * (end - begin):.3f}"
        for name, begin, end in zip(names, times, times[1:])
    ]
    return {"Server-Timing": ", ".join(parts)}


async def explain(request: Request) -> Response:
    """The decision for one record, what each column adds, and what would alter it."""
    start = perf_counter()
    served = _served(request)
    question = await _question(request, served)
    if question.record is None:
        raise Refused(422, "one record at a time is explained")
    parsed = perf_counter()
    answer = await asyncio.to_thread(explain_record, served, question)
    decided = perf_counter()
    body = encode_json({**answer, "model": served.name, "version": served.version})
    timing = _timing(start, parsed, parsed, decided)
    return Response(body, headers={**timing, "Content-Type": "application/json"})


async def outcome(request: Request) -> Response:
    """What a decision turned out to be: {"record": ..., "outcome": ...}."""
    served = _served(request)
    value = decode_json(await request.body())
    if not isinstance(value, dict) or value.keys() != {"record", "outcome"}:
        raise Refused(422, 'send {"record": the record, "outcome": what came true}')
    fitted = served.fitted
    if fitted.classes is None:
        raise Refused(422, "outcomes of classes only are counted")
    labels = {str(label) for label in fitted.classes.tolist()}
    truth = str(value["outcome"])
    if truth not in labels:
        raise Refused(422, f"the outcome {truth!r} is no class of {sorted(labels)}")
    decision = served.records.decide(value["record"])
    share = None
    if decision.probabilities is not None:
        share = max(decision.probabilities.values())
    served.watch.note_outcome(str(decision.predicted), truth, share)
    return JsonAnswer(served.watch.as_dict()["outcomes"])


async def drift(request: Request) -> Response:
    return JsonAnswer(_served(request).watch.as_dict())


async def metrics(request: Request) -> Response:
    text = request.app.state.watched.text()
    return Response(text, media_type="text/plain; version=0.0.4")


# -- the Open Inference Protocol -------------------------------------------------------


async def protocol_server(request: Request) -> Response:
    return JsonAnswer(protocol.server_metadata())


async def protocol_model(request: Request) -> Response:
    return JsonAnswer(protocol.model_metadata(_served(request)))


async def protocol_ready(request: Request) -> Response:
    return JsonAnswer({"name": _served(request).name, "ready": True})


async def protocol_infer(request: Request) -> Response:
    start = perf_counter()
    served = _served(request)
    body = await request.body()
    asked, rest = protocol.read_request(body, request.headers)
    parsed = perf_counter()
    table = protocol.read_tensors(asked, rest, served)
    prepared = perf_counter()
    rows = await asyncio.to_thread(
        answer_table, served, Question(table=table), request.app.state.log
    )
    decided = perf_counter()
    answer, headers = protocol.write_response(served, asked, rows)
    timing = _timing(start, parsed, prepared, decided)
    return Response(answer, headers={**headers, **timing})

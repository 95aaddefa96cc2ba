"""Answers of a server: JSON, and sentences where something is wrong with a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lyceum.errors import LyceumError

encode_json = msgspec.json.Encoder(enc_hook=str).encode


class JsonAnswer(Response):
    """A value in JSON; numbers that JSON has no word for (NaN, infinity) are null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encode_json(content)


class Refused(Exception):
    """A request that cannot be answered: a status of HTTP, and a sentence for the person."""

    def __init__(self, status: int, sentence: str, **headers: str):
        super().__init__(sentence)
        self.status = status
        self.headers = {
            name.replace("_", "-"): value for name, value in headers.items()
        }


def refusal(
    status: int, sentence: str, headers: dict[str, str] | None = None
) -> JsonAnswer:
    return JsonAnswer({"error": sentence}, status, headers)


async def on_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return refusal(error.status, str(error), error.headers)


async def on_lyceum_error(request: Request, error: Exception) -> Response:
    """The fault lies in the request: its sentence says where."""
    return refusal(422, str(error))


async def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = f"{request.method} {request.url.path}: {error.detail}"
    return refusal(error.status_code, sentence, dict(error.headers or {}))


async def on_fault(request: Request, error: Exception) -> Response:
    """A fault of ours: the kind of error for whoever mends it, nothing of the inside."""
    return refusal(500, f"this should not happen: {type(error).__name__}; see the log")


HANDLERS: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    Refused: on_refused,
    LyceumError: on_lyceum_error,
    HTTPException: on_http_error,
    Exception: on_fault,
}


def decode_json(body: bytes) -> Any:
    """The value of a JSON body; deep nesting and whatever else is no JSON is refused."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from error

"""Limits of a server: bodies, time and requests at once. What exceeds them gets an answer.

Plain ASGI, as a layer of Starlette's own would cost more than the whole answer to a record.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from lyceum.web.answers import refusal

Scope = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take.

    Attributes
    ----------
    body : int, default=64 MiB
        The largest body in bytes.
    read_seconds : float, default=20
        How long a client may take to send its body.
    answer_seconds : float, default=60
        How long an answer may take.
    at_once : int, default=256
        How many requests are worked on or wait at a time; more are told to come back.
    """

    body: int = 64 << 20
    read_seconds: float = 20.0
    answer_seconds: float = 60.0
    at_once: int = 256


class _TooLarge(Exception):
    pass


class _CutOff(Exception):
    """The client went away before its body was whole."""


class Limited:
    """An ASGI application within limits."""

    def __init__(self, app: Any, limits: Limits):
        self.app = app
        self.limits = limits
        self.running = 0

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.running >= self.limits.at_once:
            sentence = (
                f"{self.running} requests are being answered: try again in a second"
            )
            await refusal(503, sentence, {"Retry-After": "1"})(scope, receive, send)
            return
        self.running += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            self.running -= 1

    async def _answer(self, scope: Scope, receive: Any, send: Any) -> None:
        limits = self.limits
        begun = False

        async def send_on(message: dict[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            async with asyncio.timeout(limits.read_seconds):
                body = await _read_body(scope, receive, limits.body)
            async with asyncio.timeout(limits.answer_seconds):
                await self.app(scope, _replay(body, receive), send_on)
            return
        except _CutOff:
            return  # nobody waits for an answer, and half a body is none
        except _TooLarge:
            answer = refusal(
                413, f"the body is larger than {limits.body:,} bytes: send fewer rows"
            )
        except TimeoutError:
            if begun:  # half an answer is sent: closing the connection says so
                raise
            if _was_read(scope):
                answer = refusal(503, "the answer took too long: send fewer rows")
            else:
                answer = refusal(408, "the body did not arrive in time")
        answer.headers["Connection"] = "close"
        await answer(scope, receive, send)


def _was_read(scope: Scope) -> bool:
    return bool(scope.get("lyceum.read"))


async def _read_body(scope: Scope, receive: Any, most: int) -> bytes:
    """The whole body; refused as soon as it is known to be too large."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > most:
            raise _TooLarge
    parts = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _CutOff
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _TooLarge
        parts.append(part)
        if not message.get("more_body", False):
            break
    scope["lyceum.read"] = True
    return b"".join(parts)


def _replay(body: bytes, receive: Any) -> Any:
    """The body as one message, then whatever the connection says."""
    sent = False

    async def receive_again() -> dict[str, Any]:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again

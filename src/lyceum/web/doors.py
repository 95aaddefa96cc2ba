"""Who may come in: hosts, keys, and the headers that a browser must respect."""

from __future__ import annotations

import hmac
from collections.abc import MutableMapping
from ipaddress import ip_address
from typing import Any

from lyceum.errors import SettingError
from lyceum.web.answers import refusal

HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        b" connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
]
# answered without a key, so that a watchdog needs none
_OPEN = ("/health/live", "/health/ready", "/v2/health/live", "/v2/health/ready")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_address(
    host: str, key: str | None, client_certificates: bool = False
) -> None:
    """Raise unless strangers are kept out: another address needs a key or client certificates."""
    if is_loopback(host) or key or client_certificates:
        return
    raise SettingError(
        f"--host {host} can be reached by other machines: give a key that clients have to send"
        " (--key-file), or certificates (--client-ca)"
    )


class Door:
    """An ASGI application behind a door: the host must be ours, the key right.

    A page of another site that a browser on this machine has open could send requests to a
    loopback address; its host or its origin gives it away.
    """

    def __init__(
        self,
        app: Any,
        host: str,
        key: str | None = None,
        open_paths: tuple[str, ...] = (),
    ):
        self.app = app
        self.open_paths = {*_OPEN, *open_paths}
        self.key = None if key is None else key.encode()
        self.hosts = {host.strip("[]").lower()}
        self.any_host = not is_loopback(host)
        if is_loopback(host):
            self.hosts |= {"localhost", "127.0.0.1", "::1"}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *HEADERS]}
            await send(message)

        sentence = self._refuses(scope)
        if sentence is None:
            await self.app(scope, receive, send_with_headers)
            return
        status, text = sentence
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        await refusal(status, text, headers)(scope, receive, send_with_headers)

    def _refuses(self, scope: dict[str, Any]) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        host = _hostname(headers.get(b"host", b""))
        if not self.any_host and host not in self.hosts:
            return 421, f"this server does not answer for the host {host!r}"
        origin = headers.get(b"origin")
        if origin is not None and not self._is_ours(origin, host):
            return 403, "requests from pages of other sites are refused"
        if not self._has_key(scope["path"], headers):
            return 401, "send the key: Authorization: Bearer KEY"
        return None

    def _is_ours(self, origin: bytes, host: str) -> bool:
        """Whether the page that sends a request came from here."""
        site = _hostname(origin.partition(b"://")[2])
        return site == host if self.any_host else site in self.hosts

    def _has_key(self, path: str, headers: dict[bytes, bytes]) -> bool:
        if self.key is None or path in self.open_paths:
            return True
        return hmac.compare_digest(_given_key(headers), self.key)


def _given_key(headers: dict[bytes, bytes]) -> bytes:
    kind, _, key = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() == b"bearer":
        return key.strip()
    return headers.get(b"x-api-key", b"")


def _hostname(host: bytes) -> str:
    """The host without its port; an address of IPv6 without its brackets."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text

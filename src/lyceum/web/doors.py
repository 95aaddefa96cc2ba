"""Who may come in: hosts, keys, and the headers that a browser must respect."""

from __future__ import annotations

import hmac
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode

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
        return _hostname(origin.partition(b"://")[2]) == host

    def _has_key(self, path: str, headers: dict[bytes, bytes]) -> bool:
        if self.key is None or path in self.open_paths:
            return True
        return hmac.compare_digest(_given_key(headers), self.key)


class TokenDoor(Door):
    """A door for people: the address that is printed has the key, a cookie keeps it.

    The first request, `/?token=KEY`, is sent on to the same address without it. The name of the
    cookie has the port, as browsers give cookies to all ports of a host. A page of another port of
    this machine is a stranger, too.
    """

    def __init__(
        self, app: Any, host: str, port: int, key: str, open_paths: tuple[str, ...] = ()
    ):
        super().__init__(app, host, key, open_paths)
        self.cookie = f"lyceum-{port}"

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http" and self._enters(scope):
            query = parse_qsl(scope["query_string"].decode("latin-1"))
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            assert self.key is not None
            cookie = (
                f"{self.cookie}={self.key.decode()}; Path=/; HttpOnly; SameSite=Strict"
            )
            headers = {
                "Location": scope["path"] + (f"?{rest}" if rest else ""),
                "Set-Cookie": cookie,
            }
            await refusal(303, "come in", headers)(scope, receive, send)
            return
        await super().__call__(scope, receive, send)

    def _enters(self, scope: dict[str, Any]) -> bool:
        """Whether a page is asked for with the key in its address."""
        headers = dict(scope["headers"])
        token = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if scope["method"] != "GET" or token is None or self.key is None:
            return False
        is_host_ours = _hostname(headers.get(b"host", b"")) in self.hosts
        return is_host_ours and hmac.compare_digest(token.encode(), self.key)

    def _refuses(self, scope: dict[str, Any]) -> tuple[int, str] | None:
        refused = super()._refuses(scope)
        if refused is not None and refused[0] == 401:
            return (
                401,
                "open the address that `lyceum workbench` has printed, with its token",
            )
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        site = headers.get(b"sec-fetch-site", b"none")
        is_page = headers.get(b"sec-fetch-mode") == b"navigate"
        if origin is not None and origin != b"http://" + headers.get(b"host", b""):
            return 403, "requests from pages of other sites are refused"
        if site in (b"cross-site", b"same-site") and not is_page:
            return 403, "requests from pages of other sites are refused"
        return refused

    def _has_key(self, path: str, headers: dict[bytes, bytes]) -> bool:
        if super()._has_key(path, headers):
            return True
        try:
            cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return False
        morsel = cookies.get(self.cookie)
        if morsel is None or self.key is None:
            return False
        return hmac.compare_digest(morsel.value.encode(), self.key)


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

"""Run an ASGI application: bind first, say where, drain on SIGTERM."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from lyceum._core.threads import single_threaded_blas
from lyceum.errors import LyceumError

HEADER_SECONDS = 10.0
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on the address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
    except OSError as error:
        listening.close()
        raise LyceumError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port, or --port 0"
            " for a free one"
        ) from error
    listening.listen(2048)
    return listening


def address_of(listening: socket.socket, scheme: str = "http") -> str:
    host, port = listening.getsockname()[:2]
    if ":" in host:
        host = f"[{host}]"
    return f"{scheme}://{host}:{port}"


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """Uvicorn's protocol, which closes connections whose request does not come."""

    _timer: Any = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._set_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._set_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop_timer()  # from here on uvicorn's own, of an idle connection

    def connection_lost(self, reason: Any) -> None:
        self._stop_timer()
        super().connection_lost(reason)

    def _set_timer(self) -> None:
        """Wait for the rest of a head; a body is the business of `Limits`."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(_TOO_SLOW)
            self.transport.close()


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files for TLS; with `client_ca` only clients with a certificate of it come in."""

    certificate: str | None = None
    private_key: str | None = None
    client_ca: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        if self.certificate is None:
            return {}
        return {
            "ssl_certfile": self.certificate,
            "ssl_keyfile": self.private_key,
            "ssl_ca_certs": self.client_ca,
            "ssl_cert_reqs": ssl.CERT_REQUIRED if self.client_ca else ssl.CERT_NONE,
        }


def run(
    app: Any,
    listening: socket.socket,
    certificates: Certificates | None = None,
    on_start: Callable[[uvicorn.Server], None] | None = None,
) -> None:
    """Answer until SIGTERM or Ctrl-C; answers that are under way are finished first.

    `on_start` is given the server, whose `should_exit` says and ends the answering.
    """
    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=30,
        limit_concurrency=4096,
        h11_max_incomplete_event_size=64 << 10,
        **(certificates or Certificates()).settings,
    )
    server = uvicorn.Server(config)
    if on_start is not None:
        on_start(server)

    def stop(*_: Any) -> None:
        server.should_exit = True

    # for the time before uvicorn listens to signals, and after it has drained, when it raises them
    # again; an exception here could be lost in whatever runs at the moment
    signal.signal(signal.SIGTERM, stop)
    # what was loaded stays: the collector need not look at it again, not even now (0.1 s)
    gc.freeze()
    with single_threaded_blas():
        server.run(sockets=[listening])


def run_workers(work: Callable[..., None], n_workers: int, *arguments: Any) -> None:
    """Run `work(*arguments)` in several processes until SIGTERM or Ctrl-C; one that ends by itself
    is started again."""
    context = multiprocessing.get_context("spawn")
    stopped = False

    def stop(*_: Any) -> None:
        nonlocal stopped
        stopped = True

    def start() -> Any:
        worker = context.Process(target=work, args=arguments)
        worker.start()
        return worker

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    workers = [start() for _ in range(n_workers)]
    while not stopped:
        time.sleep(0.1)
        for index, worker in enumerate(workers):
            if not worker.is_alive() and not stopped:
                workers[index] = start()
    for worker in workers:
        with suppress(ValueError, AttributeError):
            worker.terminate()
    for worker in workers:
        worker.join(35)

"""Run an ASGI application: bind first, say where, drain on SIGTERM."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn

from lyceum.errors import LyceumError


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


def run(app: Any, listening: socket.socket, **settings: Any) -> None:
    """Answer until SIGTERM or Ctrl-C; answers that are under way are finished first."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=30,
        h11_max_incomplete_event_size=64 << 10,
        **settings,
    )
    uvicorn.Server(config).run(sockets=[listening])

"""From model files to a server that answers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from lyceum.errors import SettingError
from lyceum.serve.app import make_app
from lyceum.serve.shelf import Shelf
from lyceum.web import (
    Certificates,
    Limits,
    address_of,
    bind,
    check_address,
    run,
    run_workers,
)

_SHORTEST_KEY = 16


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How models are served; the defaults answer this machine alone.

    Attributes
    ----------
    host : str, default="127.0.0.1"
        The address to listen on; another than loopback needs a key or `client_ca`.
    port : int, default=8000
        0 takes a free one.
    key : str or None, default=None
        What clients have to send, of 16 characters at least.
    n_workers : int, default=1
        Processes that answer.
    may_put : bool, default=False
        Whether `PUT /models/NAME` may replace a model file.
    access_log : str or None, default=None
        A file for one line of JSON per request.
    prediction_log : str or None, default=None
        A folder for Parquet files with every record and its answer.
    limits : Limits
        What one request may take.
    certificates : Certificates
        Files for TLS.

    See Also
    --------
    serve_models : Takes them.

    Examples
    --------
    >>> settings = ServeSettings(host="0.0.0.0", key="x" * 16)
    >>> settings.check()  # another address needs a key
    >>> settings.port, settings.n_workers
    (8000, 1)
    """

    host: str = "127.0.0.1"
    port: int = 8000
    key: str | None = None
    n_workers: int = 1
    may_put: bool = False
    access_log: str | None = None
    prediction_log: str | None = None
    limits: Limits = field(default_factory=Limits)
    certificates: Certificates = field(default_factory=Certificates)

    def check(self) -> None:
        """Raise where strangers could come in, or a setting makes no sense."""
        if self.key is not None and len(self.key) < _SHORTEST_KEY:
            raise SettingError(
                f"the key has {len(self.key)} characters: take {_SHORTEST_KEY} at least, e.g. of"
                " python -c 'import secrets; print(secrets.token_urlsafe())'"
            )
        if self.certificates.client_ca and not self.certificates.certificate:
            raise SettingError("--client-ca needs --certificate and --private-key")
        if self.n_workers < 1:
            raise SettingError(f"--workers {self.n_workers}: give 1 or more")
        check_address(self.host, self.key, bool(self.certificates.client_ca))


def serve_models(
    paths: Sequence[str],
    settings: ServeSettings | None = None,
    say: Callable[[str], Any] = print,
) -> None:
    """Answer with the models of some files until SIGTERM or Ctrl-C.

    Parameters
    ----------
    paths : list of str
        Model files; the stem of a file is the model's name.
    settings : ServeSettings, optional
    say : function of str, default=print
        Is told the address, once requests can come.

    See Also
    --------
    lyceum.decide : The same answers without a server.

    Examples
    --------
    >>> serve_models(["model.lyceum"], ServeSettings(host="0.0.0.0"))
    Traceback (most recent call last):
        ...
    lyceum.errors.SettingError: --host 0.0.0.0 can be reached by other machines: give a key that \
clients have to send (--key-file), or certificates (--client-ca)
    """
    settings = settings or ServeSettings()
    settings.check()
    shelf = Shelf.of_files(paths)  # refuses a damaged file before anybody is let in
    listening = bind(settings.host, settings.port)
    scheme = "https" if settings.certificates.certificate else "http"
    say(address_of(listening, scheme))
    if settings.n_workers == 1:
        _answer(shelf, settings, listening)
        return
    with TemporaryDirectory(prefix="lyceum-counts-") as counts:
        work = (list(paths), settings, listening, counts)
        run_workers(_work, settings.n_workers, *work)


def _work(
    paths: list[str], settings: ServeSettings, listening: socket.socket, counts: str
) -> None:
    _answer(Shelf.of_files(paths), settings, listening, counts)


def _answer(
    shelf: Shelf,
    settings: ServeSettings,
    listening: socket.socket,
    shared_counts: str | None = None,
) -> None:
    app = make_app(
        shelf,
        host=settings.host,
        key=settings.key,
        limits=settings.limits,
        may_put=settings.may_put,
        access_log=settings.access_log,
        prediction_log=settings.prediction_log,
        shared_counts=shared_counts,
    )
    run(app, listening, settings.certificates)

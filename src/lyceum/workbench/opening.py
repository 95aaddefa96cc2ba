"""From a file, a study or a model to an open workbench."""

from __future__ import annotations

import secrets
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from lyceum.errors import DataError, SettingError
from lyceum.theatre import list_methods
from lyceum.web import address_of, bind, run
from lyceum.workbench.app import PAGES, StartSettings, make_app
from lyceum.workbench.desk import Desk

_WARM_SECONDS = 1.0
_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class WorkbenchSettings:
    """How a workbench is opened; it answers this machine alone.

    Attributes
    ----------
    port : int, default=0
        0 takes a free one.
    browser : bool, default=True
        Whether the browser is opened on it.
    idle_seconds : float, default=600
        When it ends after the last page was closed and nothing runs.

    See Also
    --------
    open_workbench : Takes them.

    Examples
    --------
    >>> WorkbenchSettings(browser=False).port
    0
    """

    port: int = 0
    browser: bool = True
    idle_seconds: float = 600.0


def open_workbench(
    path: str | None = None,
    settings: WorkbenchSettings | None = None,
    say: Callable[[str], Any] = print,
) -> None:
    """Open the workbench on a file, a study or a model, until Ctrl-C or the last page is closed.

    Everything that it reads and writes is below the current folder, or below the folder of the
    file if that is elsewhere.

    Parameters
    ----------
    path : str, optional
        A table, the folder of a study, or a model file.
    settings : WorkbenchSettings, optional
    say : function of str, default=print
        Is told the address, with the token that lets a browser in.

    See Also
    --------
    lyceum.serve.serve_models : Models for programs.

    Examples
    --------
    >>> open_workbench("no_such_file.csv")
    Traceback (most recent call last):
        ...
    lyceum.errors.DataError: there is no file no_such_file.csv
    """
    settings = settings or WorkbenchSettings()
    folder, start = _start(path)
    listening = bind(_HOST, settings.port)
    token = secrets.token_urlsafe(24)
    port = listening.getsockname()[1]
    desk = Desk(folder)
    app = make_app(
        desk, StartSettings(_HOST, port, token, start, settings.idle_seconds)
    )
    address = f"{address_of(listening)}/?token={token}"
    say(address)
    if settings.browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    def keep(server: Any) -> None:
        desk.server = server
        # after the first page, so that nothing waits for it
        warming = threading.Timer(_WARM_SECONDS, _warm)
        warming.daemon = True
        warming.start()

    run(app, listening, on_start=keep)


def _warm() -> None:
    """Load what pages need only later: the learners that the theatre shows."""
    list_methods()


def _start(path: str | None) -> tuple[Path, str]:
    """The folder of the workbench, and the address that it begins with."""
    here = Path.cwd()
    if path is None:
        return here, "/data"
    given = Path(path)
    if not given.exists():
        raise DataError(f"there is no file {path}")
    resolved = given.resolve()
    folder = here
    if not resolved.is_relative_to(here.resolve()):
        folder = resolved.parent
    name = resolved.relative_to(folder.resolve()).as_posix()
    page = "data"
    query = {"file": name}
    if (resolved / "study.sqlite").is_file():
        page = "study"
        query = {"out": name}
    elif resolved.suffix == ".lyceum":
        page = "ask"
        query = {"model": name}
    if page not in {each.name for each in PAGES}:
        raise SettingError(f"{path}: this workbench has no page for it yet")
    return folder, f"/{page}?{urlencode(query)}"

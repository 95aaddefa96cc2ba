"""What the pages of a workbench share: the folder, the tables that were read, and the events."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from lyceum._core.data import FILE_ENDINGS
from lyceum._core.files import write_file
from lyceum.web import Refused
from lyceum.workbench.events import EventLog

_MOST_FILES = 1000
_MOST_VALUES = 24  # tables and the like that are held at a time
_NOT_IN_A_NAME = re.compile(r"[^\w.\- ()]+")


class Desk:
    """One workbench: everything that its pages read or write is below its folder.

    Attributes
    ----------
    folder : Path
        The folder it was started in.
    events : EventLog
        What happens, for all open pages.
    server : uvicorn.Server or None
        Set once it runs; `should_exit` ends it.
    """

    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        self.events = EventLog()
        self.server: Any = None
        self.last_request = time.monotonic()
        self.jobs: dict[str, Any] = {}  # studies that run or ran, by their folder
        self.under_way: dict[str, Any] = {}  # answers that are being made, by address
        self.queues: dict[str, Any] = {}  # studies of several tables, by their folder
        self.busy: set[str] = (
            set()
        )  # names of long work: the workbench stays while there is any
        self._values: OrderedDict[Any, Future[Any]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def is_ending(self) -> bool:
        return self.server is not None and self.server.should_exit

    async def end_when_idle(self, seconds: float) -> None:
        """A closed browser leaves no process: without a page or work it ends by itself."""
        while not self.is_ending:
            await asyncio.sleep(min(1.0, seconds / 4))
            if self.events.n_following or self.busy:
                self.last_request = time.monotonic()
            is_idle = time.monotonic() - self.last_request > seconds
            if is_idle and self.server is not None:
                self.server.should_exit = True

    # -- files -------------------------------------------------------------------------

    def path(self, name: str) -> Path:
        """A path below the folder; anything else is refused, also by way of a link."""
        if not name or "\0" in name:
            raise Refused(422, "the address names no file: choose one")
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise Refused(
                403, f"{name} is not below {self.folder}: start the workbench there"
            )
        return path

    def file(self, name: str) -> Path:
        """A file or folder that is there."""
        path = self.path(name)
        if not path.exists():
            raise Refused(404, f"there is no file {name}")
        return path

    def name_of(self, path: Path) -> str:
        """How pages and commands call a path: relative to the folder where it is below it."""
        path = path.resolve()
        if path.is_relative_to(self.folder):
            path = path.relative_to(self.folder)
        return path.as_posix()

    def files(self) -> list[dict[str, Any]]:
        """The tables, studies, models and networks below the folder, the newest first."""
        listed = sorted(self._files(), key=lambda item: -item["changed"])
        return listed[:_MOST_FILES]

    def _files(self) -> Iterator[dict[str, Any]]:
        for folder, folders, names in os.walk(self.folder):
            kinds = {name: _kind(name) for name in names}
            is_study = "study.sqlite" in names
            folders[:] = [name for name in folders if not name.startswith((".", "__"))]
            if is_study:
                folders.clear()
                kinds = {"": "study", "model.lyceum": kinds.get("model.lyceum")}
            for name, kind in kinds.items():
                path = Path(folder, name)
                if kind is None or name.startswith("."):
                    continue
                status = path.stat()
                yield {
                    "name": path.relative_to(self.folder).as_posix(),
                    "kind": kind,
                    "size": status.st_size,
                    "changed": status.st_mtime,
                }

    def keep_upload(self, name: str, body: bytes) -> str:
        """Write an uploaded file beside the others, under a name that is free; never over one."""
        plain = _NOT_IN_A_NAME.sub("_", Path(name).name).lstrip(".") or "table"
        if _kind(plain) is None:
            raise Refused(
                415, f"{plain} is no table: choose one of {', '.join(FILE_ENDINGS)}"
            )
        digest = hashlib.sha256(body).digest()
        number = 1
        path = self.path(plain)
        while path.exists():
            if hashlib.sha256(path.read_bytes()).digest() == digest:
                return self.name_of(path)
            number += 1
            path = self.path(f"{Path(plain).stem}-{number}{Path(plain).suffix}")
        write_file(path, body)
        self.events.add("files", {"name": self.name_of(path)})
        return self.name_of(path)

    # -- values that are made once -----------------------------------------------------

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """A value by its key, made by whoever asks first; the last few are held."""
        with self._lock:
            is_first = key not in self._values
            future = self._values.setdefault(key, Future())
            self._values.move_to_end(key)
            while len(self._values) > _MOST_VALUES:
                self._values.popitem(last=False)
        if is_first:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    self._values.pop(key, None)
                future.set_exception(error)
        return future.result()


def stamp(path: Path) -> tuple[str, int, int]:
    """What tells one version of a file from the next."""
    status = path.stat()
    return str(path), status.st_mtime_ns, status.st_size


def _kind(name: str) -> str | None:
    if name.endswith(".lyceum"):
        return "model"
    if name.endswith(".bif"):
        return "network"
    if name.endswith(tuple(FILE_ENDINGS)):
        return "table"
    return None

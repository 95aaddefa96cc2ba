"""The models that a server answers with: loaded once, swapped whole when their file changes."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import lyceum
from lyceum.errors import LyceumError, ModelFileError, SettingError
from lyceum.serve.drift import DriftWatch
from lyceum.workflows import AskableModel

_TRIES = 10
Mark = tuple[int, int, int]  # of a file: it changes when the file is replaced


@dataclass(frozen=True)
class ServedModel(AskableModel):
    """A model of a file, compiled for records.

    Attributes
    ----------
    model : learner, pipeline or MinimumRiskClassifier
        As `lyceum.load` returns it.
    name : str
        The stem of its file.
    path : Path
    digest : str
        SHA-256 of the file: the version of the model.
    loaded : float
        When it was loaded, in seconds since 1970.
    mark : tuple
        What changes when the file is replaced.
    """

    name: str
    path: Path
    digest: str
    loaded: float
    mark: Mark

    @classmethod
    def load(cls, path: Path) -> ServedModel:
        """The model in a file; everything that an answer needs is made here, not at the first
        request."""
        for _ in range(_TRIES):
            mark = _mark(path)
            model = lyceum.load(path)
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            # else the file was replaced between both readings
            if _mark(path) == mark:
                break
        else:
            raise ModelFileError(f"{path} changes all the time")
        served = cls(model, path.stem, path, digest, time.time(), mark)
        if served.fitted.gives != "predictions":
            raise LyceumError(
                f"{path.name} holds a {served.fitted.name}, which predicts nothing: serve a"
                " classifier or a regressor"
            )
        served.bounds  # noqa: B018
        served.records  # noqa: B018
        served.watch  # noqa: B018
        return served

    @cached_property
    def watch(self) -> DriftWatch:
        """What the records that arrive are like."""
        return DriftWatch.of_model(self.fitted, self.profile)

    @property
    def version(self) -> str:
        return self.digest[:12]


def _mark(path: Path) -> Mark:
    status = os.stat(path)
    return status.st_mtime_ns, status.st_ino, status.st_size


@dataclass
class Shelf:
    """All models of a server, by name.

    A file that is replaced, by an atomic rename, is loaded beside the old model and takes its place
    between two requests; one that cannot be loaded leaves the old model where it is.
    """

    models: dict[str, ServedModel]
    faults: dict[str, str] = field(default_factory=dict)
    shared: Path | None = None  # a folder in which several workers count together

    @classmethod
    def of_files(cls, paths: Sequence[str | Path]) -> Shelf:
        models: dict[str, ServedModel] = {}
        for path in map(Path, paths):
            if path.stem in models:
                raise SettingError(
                    f"{path} and {models[path.stem].path} have the same name: rename one"
                )
            models[path.stem] = ServedModel.load(path)
        return cls(models)

    def share_in(self, folder: Path) -> None:
        """Count together with the other workers that use this folder."""
        self.shared = folder
        for served in self.models.values():
            self._count_together(served)

    def _count_together(self, served: ServedModel) -> None:
        if self.shared is not None:
            # a stem may be any text, and two files may have the same bytes
            key = hashlib.sha256(f"{served.digest}{served.name}".encode()).hexdigest()
            served.watch.shared = self.shared / f"{key[:32]}.drift"

    def find(self, name: str) -> ServedModel | None:
        return self.models.get(name)

    async def watch(self, seconds: float = 0.5) -> None:
        """Look for replaced files until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            await self.refresh()

    async def refresh(self) -> None:
        """Load what has changed; a file that is being written or is damaged waits."""
        for name, served in list(self.models.items()):
            try:
                changed = _mark(served.path) != served.mark
            except OSError:  # gone for now: the model stays
                continue
            if changed:
                await self._replace(name, served.path)

    async def _replace(self, name: str, path: Path) -> None:
        try:
            fresh = await asyncio.to_thread(ServedModel.load, path)
        except (LyceumError, OSError) as error:
            self.faults[name] = f"{path.name} was not loaded: {error}"
            return
        self._count_together(fresh)
        self.models[name] = fresh
        self.faults.pop(name, None)

    async def put(self, name: str, data: bytes) -> ServedModel:
        """Replace the file of a model by other bytes, which must be a model file."""
        path = self.models[name].path
        beside = path.with_name(f".{path.name}.{os.getpid()}.new")
        try:
            await asyncio.to_thread(_write_checked, beside, data)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        await self._replace(name, path)
        if name in self.faults:
            raise ModelFileError(self.faults[name])
        return self.models[name]


def _write_checked(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    ServedModel.load(path)

"""Studies of several tables, one after the other; the pages hear how far they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lyceum.errors import LyceumError
from lyceum.web import Refused
from lyceum.workbench.desk import Desk
from lyceum.workbench.study_jobs import StudyJob


class StudyQueue:
    """Studies that are run in turn, each in a process of its own.

    Attributes
    ----------
    name : str
        The folder of all of them.
    outs : list of str
        The folders of the studies, also of those that have results already.
    status : {"running", "stopping", "finished", "stopped"}
    refused : dict of str to str
        Why a study could not begin, by its folder.
    """

    def __init__(
        self,
        desk: Desk,
        name: str,
        begins: Mapping[str, Callable[[], StudyJob]],
        outs: Sequence[str],
    ):
        self.desk = desk
        self.name = name
        self.outs = list(outs)
        self.status = "running"
        self.refused: dict[str, str] = {}
        self._begins = dict(begins)
        self._job: StudyJob | None = None
        self._lock = threading.Lock()
        desk.busy.add(f"queue {name}")
        self._tell()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def is_running(self) -> bool:
        return self.status in ("running", "stopping")

    def stop(self) -> None:
        """Begin no more studies, and let the one that runs answer from what it has."""
        with self._lock:
            self.status = "stopping"
            if self._job is not None and self._job.status == "running":
                self._job.stop()
        self._tell()

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "outs": self.outs,
            "status": self.status,
            "refused": self.refused,
        }

    def _run(self) -> None:
        for out, begin in self._begins.items():
            # a stop comes before a study begins, or finds its job
            with self._lock:
                if self.status == "stopping":
                    break
                try:
                    self._job = begin()
                except (LyceumError, Refused, OSError) as error:
                    self.refused[out] = str(error)
                    self._job = None
            if self._job is not None:
                self._job.wait()
        self.status = "stopped" if self.status == "stopping" else "finished"
        self.desk.busy.discard(f"queue {self.name}")
        self._tell()

    def _tell(self) -> None:
        self.desk.events.add("queue", self.as_dict())

"""Studies that run for the workbench, each in a process of its own; all pages hear of them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from lyceum.web import Refused
from lyceum.workbench.desk import Desk


class StudyJob:
    """A study that runs, or has run, since the workbench was opened.

    Attributes
    ----------
    out : str
        Its folder, below that of the workbench.
    status : {"running", "concluding", "finished", "ended", "failed"}
        "ended" is without conclusions, so that it can be continued.
    ranking : dict or None
        The last `RankingSoFar`.
    message : str
        Why it failed.
    """

    def __init__(self, desk: Desk, out: str, recipe: Path):
        self.desk = desk
        self.out = out
        self.status = "running"
        self.ranking: dict[str, Any] | None = None
        self.message = ""
        self._first: tuple[float, int] | None = None
        self._last_time = time.monotonic()
        self._has_ended = threading.Event()
        folder = desk.path(out)
        # errors of others (warnings of packages) are of no use to the page
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lyceum.workbench.study_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=desk.folder,
        )
        self._write(json.dumps({"recipe": str(recipe), "out": str(folder)}))
        desk.busy.add(out)
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_running(self) -> bool:
        return self.status in ("running", "concluding")

    def stop(self) -> None:
        """Run no more folds, and draw conclusions from those that are finished."""
        self.status = "concluding"
        self._write("stop")
        self._tell()

    def wait(self) -> None:
        """Until its process has ended."""
        self._has_ended.wait()

    def seconds_left(self) -> float | None:
        """What the tasks so far say about those that are left."""
        if self.ranking is None or self._first is None or self.status != "running":
            return None
        start, n_before = self._first
        n_done = self.ranking["n_done"] - n_before
        if n_done == 0:
            return None
        n_left = self.ranking["n_tasks"] - self.ranking["n_done"]
        return (self._last_time - start) / n_done * n_left

    def as_dict(self) -> dict[str, Any]:
        return {
            "out": self.out,
            "status": self.status,
            "message": self.message,
            "ranking": self.ranking,
            "seconds_left": self.seconds_left(),
        }

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended: `_listen` says so

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            if event["kind"] == "ranking":
                self._note_ranking(event["value"])
            elif event["kind"] == "status":
                self.status = event["value"]
            elif event["kind"] == "error":
                self.status = "failed"
                self.message = event["value"]
            elif event["value"][0] == "conclusions" and self.status == "running":
                self.status = "concluding"
            self._tell()
        self.process.wait()
        if self.is_running:
            self.status = "ended"
        self.desk.busy.discard(self.out)
        self._tell()
        self.desk.events.add("files", {"name": self.out})
        self._has_ended.set()

    def _note_ranking(self, ranking: dict[str, Any]) -> None:
        self._last_time = time.monotonic()
        if self._first is None:
            self._first = (self._last_time, ranking["n_done"])
        self.ranking = ranking

    def _tell(self) -> None:
        self.desk.events.add("study", self.as_dict())


def job_of(desk: Desk, out: str) -> StudyJob | None:
    return desk.jobs.get(out)


def start_job(desk: Desk, out: str, recipe: Path) -> StudyJob:
    """Run the study of a recipe in its folder, or the rest of it."""
    job = job_of(desk, out)
    if job is not None and job.is_running:
        raise Refused(409, f"the study in {out} is running")
    job = StudyJob(desk, out, recipe)
    desk.jobs[out] = job
    return job

"""What the server did: counts for Prometheus, and an access log of JSON lines."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from lyceum.serve.shelf import Shelf

_BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_encode = msgspec.json.Encoder().encode


class Watched:
    """An ASGI application whose requests are counted and, if a file is given, logged.

    A log line has the time, the client's address, method, path, status, bytes and milliseconds;
    never a cell, a key or a query.
    """

    def __init__(self, app: Any, shelf: Shelf, log: str | Path | None = None):
        self.app = app
        self.shelf = shelf
        self.log = None if log is None else open(log, "ab", buffering=0)  # noqa: SIM115
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds = [0] * (len(_BOUNDS) + 1)
        self.total_seconds = 0.0

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 499  # the client has gone
        size = 0

        async def send_on(message: dict[str, Any]) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_on)
        finally:
            self._note(scope, status, size, time.perf_counter() - start)

    def _note(
        self, scope: dict[str, Any], status: int, size: int, taken: float
    ) -> None:
        model, verb = self._route(scope["path"])
        self.requests[model, verb, status] += 1
        self.seconds[bisect_left(_BOUNDS, taken)] += 1
        self.total_seconds += taken
        if self.log is not None:
            client = scope.get("client") or ("", 0)
            line = {
                "time": time.time(),
                "client": client[0],
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "bytes": size,
                "ms": round(1000 * taken, 3),
            }
            self.log.write(_encode(line) + b"\n")

    def _route(self, path: str) -> tuple[str, str]:
        """The model and the verb of a path; others are not labels, so that there are few."""
        parts = path.strip("/").split("/")
        if parts[0] == "v2":
            parts = parts[1:]
        if len(parts) < 2 or parts[0] != "models" or parts[1] not in self.shelf.models:
            return "", ""
        verb = parts[-1] if len(parts) > 2 else "describe"
        if verb not in ("predict", "explain", "outcome", "infer", "ready", "drift"):
            verb = "describe"
        return parts[1], verb

    def text(self) -> str:
        """All counts in the text format of Prometheus; every worker counts its own requests."""
        worker = f'worker="{os.getpid()}"'
        lines = ["# TYPE lyceum_requests_total counter"]
        for (model, verb, status), count in sorted(self.requests.items()):
            labels = (
                f'model="{_escape(model)}",verb="{verb}",status="{status}",{worker}'
            )
            lines.append(f"lyceum_requests_total{{{labels}}} {count}")
        lines.append("# TYPE lyceum_request_seconds histogram")
        total = 0
        for bound, count in zip((*_BOUNDS, "+Inf"), self.seconds):
            total += count
            lines.append(
                f'lyceum_request_seconds_bucket{{le="{bound}",{worker}}} {total}'
            )
        lines.append(f"lyceum_request_seconds_sum{{{worker}}} {self.total_seconds}")
        lines.append(f"lyceum_request_seconds_count{{{worker}}} {total}")
        lines += self._models(worker)
        return "\n".join(lines) + "\n"

    def _models(self, worker: str) -> list[str]:
        rows = ["# TYPE lyceum_rows_total counter"]
        alarms = ["# TYPE lyceum_drift_alarms_total counter"]
        distances = ["# TYPE lyceum_drift_distance gauge"]
        for name, served in sorted(self.shelf.models.items()):
            label = f'model="{_escape(name)}",{worker}'
            watch = served.watch
            rows.append(f"lyceum_rows_total{{{label}}} {watch.n_rows}")
            alarms.append(f"lyceum_drift_alarms_total{{{label}}} {watch.n_alarms}")
            for result in watch.last:
                column = f'{label},column="{_escape(result["column"])}"'
                distances.append(
                    f"lyceum_drift_distance{{{column}}} {result['distance']:.6g}"
                )
        return rows + alarms + distances


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

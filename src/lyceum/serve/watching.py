"""What the server did: counts for Prometheus, and an access log of JSON lines."""

from __future__ import annotations

import asyncio
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
_decode = msgspec.json.Decoder(list[tuple[str, str, str]]).decode


class Watched:
    """An ASGI application whose requests are counted and, if a file is given, logged; several
    workers put their counts together in a folder that they share.

    A log line has the time, the client's address, method, path, status, bytes and milliseconds;
    never a cell, a key or a query.
    """

    def __init__(
        self,
        app: Any,
        shelf: Shelf,
        log: str | Path | None = None,
        shared: str | Path | None = None,
    ):
        self.app = app
        self.shelf = shelf
        self.shared = None
        if shared is not None:
            self.shared = Path(shared)
            shelf.share_in(self.shared)
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
        """All counts in the text format of Prometheus, those of the other workers too."""
        samples = self.samples()
        if self.shared is not None:
            self.share()
            for path in sorted(self.shared.iterdir()):
                if path.suffix == ".json" and path.stem != str(os.getpid()):
                    samples += _decode(path.read_bytes())
        samples += self._models()
        families: dict[str, list[str]] = {}
        for head, name, value in samples:
            families.setdefault(head, []).append(f"{name} {value}")
        lines = [line for head in families for line in (head, *families[head])]
        return "\n".join(lines) + "\n"

    async def share_on(self, seconds: float = 0.5) -> None:
        """Leave the counts where the other workers find them, until cancelled and then once more:
        a scrape reaches any one of them."""
        try:
            while True:
                self.share()
                await asyncio.sleep(seconds)
        finally:
            self.share()

    def share(self) -> None:
        """The counts so far as a file of this worker; it stays when the worker ends, so that
        counts do not fall."""
        assert self.shared is not None
        beside = self.shared / f"{os.getpid()}.part"
        beside.write_bytes(_encode(self.samples()))
        beside.replace(beside.with_suffix(".json"))
        for served in self.shelf.models.values():
            served.watch.share()

    def samples(self) -> list[tuple[str, str, str]]:
        """The first line of a family, the name of a sample with its labels, and its value."""
        worker = f'worker="{os.getpid()}"'
        head = "# TYPE lyceum_requests_total counter"
        samples = []
        for (model, verb, status), count in sorted(self.requests.items()):
            labels = (
                f'model="{_escape(model)}",verb="{verb}",status="{status}",{worker}'
            )
            samples.append((head, f"lyceum_requests_total{{{labels}}}", str(count)))
        name = "lyceum_request_seconds"
        head = f"# TYPE {name} histogram"
        total = 0
        for bound, count in zip((*_BOUNDS, "+Inf"), self.seconds):
            total += count
            labels = f'le="{bound}",{worker}'
            samples.append((head, f"{name}_bucket{{{labels}}}", str(total)))
        samples.append((head, f"{name}_sum{{{worker}}}", str(self.total_seconds)))
        samples.append((head, f"{name}_count{{{worker}}}", str(total)))
        return samples

    def _models(self) -> list[tuple[str, str, str]]:
        """What all workers saw of the records of every model."""
        rows = "# TYPE lyceum_rows_total counter"
        alarms = "# TYPE lyceum_drift_alarms_total counter"
        distances = "# TYPE lyceum_drift_distance gauge"
        samples = []
        for name, served in sorted(self.shelf.models.items()):
            label = f'model="{_escape(name)}"'
            facts = served.watch.as_dict()
            count = str(facts["rows"])
            samples.append((rows, f"lyceum_rows_total{{{label}}}", count))
            count = str(facts["alarms"])
            samples.append((alarms, f"lyceum_drift_alarms_total{{{label}}}", count))
            for result in facts["last_window"]:
                column = f'{label},column="{_escape(result["column"])}"'
                distance = f"{result['distance']:.6g}"
                sample = f"lyceum_drift_distance{{{column}}}"
                samples.append((distances, sample, distance))
        return samples


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

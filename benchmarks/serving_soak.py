"""A server for an hour: right answers under swaps, misbehaving clients, and level memory.

    python benchmarks/serving_soak.py [--minutes 60] [--per-second 300] [--record FILE]

One worker on loopback. Paced clients send records of twenty mixed columns, and every answer is
checked against `lyceum.decide` of the version that it names; another model takes the place of the
file every ten seconds; other clients send what no server should fall over. Memory of the server is
read every minute. 300 requests a second for an hour are a million.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from serving import Client, processor_seconds

import lyceum
from lyceum import datasets
from lyceum.workflows import fit_file

SWAP_SECONDS = 10.0
HEAD = (
    b"POST /models/model/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\n"
)
# each is sent on a connection of its own, which then closes, some after a while
NUISANCES = [
    b"",
    b"GET / HT",
    b"NONSENSE\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    HEAD + b"Content-Length: 99999999999\r\n\r\n",
    HEAD + b"Content-Length: 500\r\n\r\nhalf a body",
    HEAD + b"Content-Length: 40000\r\n\r\n" + b"[" * 40_000,
    HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZZ\r\n",
    HEAD.replace(b"application/json", b"image/png") + b"Content-Length: 1\r\n\r\nx",
    b"GET /models/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000,
]


class Soak:
    """What is right by version, and what was seen."""

    def __init__(self, right: dict[str, list[dict[str, float]]]):
        self.right = right
        self.answers = 0
        self.wrong = 0
        self.swaps = 0
        self.nuisances = 0
        self.versions: dict[str, int] = {}
        self.late: list[float] = []

    async def pace(self, client: Client, first: float, gap: float, end: float) -> None:
        index = 0
        planned = first
        while planned < end:
            await asyncio.sleep(max(0.0, planned - time.perf_counter()))
            answer = await client.ask(index)
            self.note(index, answer)
            if self.answers % 50 == 0:
                self.late.append(time.perf_counter() - planned)
            index = (index + 1) % len(client.requests)
            planned += gap

    def note(self, index: int, answer: dict[str, Any]) -> None:
        self.answers += 1
        version = answer["version"]
        self.versions[version] = self.versions.get(version, 0) + 1
        self.wrong += answer["probabilities"] != self.right[version][index]

    async def swap(self, path: Path, files: list[Path], end: float) -> None:
        while time.perf_counter() < end - SWAP_SECONDS:
            await asyncio.sleep(SWAP_SECONDS)
            self.swaps += 1
            beside = path.with_suffix(".next")
            await asyncio.to_thread(shutil.copy, files[self.swaps % 2], beside)
            beside.replace(path)

    async def misbehave(self, address: tuple[str, int], end: float) -> None:
        draw = random.Random(0)
        while time.perf_counter() < end:
            data = draw.choice(NUISANCES)
            with suppress(OSError, TimeoutError):
                reader, writer = await asyncio.open_connection(*address)
                writer.write(data)
                async with asyncio.timeout(draw.choice([0.01, 0.1, 3.0])):
                    await reader.read(1000)
                writer.close()
            self.nuisances += 1
            await asyncio.sleep(draw.random())

    async def watch(self, pid: int, end: float, record: Path | None) -> None:
        start = time.perf_counter()
        used = processor_seconds(pid)
        minute = 0
        while time.perf_counter() < end:
            await asyncio.sleep(max(0.0, start + 60 * minute - time.perf_counter()))
            line = {
                "minute": minute,
                "megabytes": round(resident_bytes(pid) / 1e6, 1),
                "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
                "answers": self.answers,
                "wrong": self.wrong,
                "swaps": self.swaps,
                "nuisances": self.nuisances,
                "processor_seconds": round(processor_seconds(pid) - used, 1),
                "load": os.getloadavg()[0],
            }
            print(json.dumps(line), flush=True)
            if record is not None:
                with record.open("a") as lines:
                    lines.write(json.dumps(line) + "\n")
            minute += 1


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def soak(
    path: Path,
    files: list[Path],
    address: tuple[str, int],
    pid: int,
    arguments: argparse.Namespace,
) -> None:
    frame = pd.read_csv(datasets.path("german_credit")).drop(columns="class").head(200)
    records = json.loads(frame.to_json(orient="records"))
    bodies = [json.dumps(record).encode() for record in records]
    right = {}
    for file in files:
        model = lyceum.load(file)
        decisions = [lyceum.decide(model, record) for record in records]
        version = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        right[version] = [each.probabilities for each in decisions]
    clients = [Client(address, bodies) for _ in range(6)]
    for client in clients:
        await client.open()
    soaked = Soak(right)
    start = time.perf_counter() + 0.1
    end = start + 60 * arguments.minutes
    rate = arguments.per_second
    tasks = [
        soaked.pace(client, start + i / rate, len(clients) / rate, end)
        for i, client in enumerate(clients)
    ]
    tasks += [soaked.misbehave(address, end) for _ in range(3)]
    tasks.append(soaked.swap(path, files, end))
    tasks.append(soaked.watch(pid, end + 1, arguments.record))
    await asyncio.gather(*tasks)
    p50, p99 = 1000 * np.quantile(soaked.late, [0.5, 0.99])
    print(
        f"{soaked.wrong} wrong of {soaked.answers:,}; versions {soaked.versions};"
        f" {soaked.swaps} swaps; {soaked.nuisances} misbehaving clients;"
        f" p50 {p50:.2f} ms, p99 {p99:.2f} ms from the time planned"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--per-second", type=float, default=300.0)
    parser.add_argument("--record", type=Path, help="a file for a line per minute")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = datasets.path("german_credit")
        files = [Path(folder) / "one", Path(folder) / "two"]
        for file, learner in zip(files, ("LogisticRegression", "NaiveBayes")):
            lyceum.save(fit_file(data, "class", learner), file)
        path = Path(folder) / "model.lyceum"
        shutil.copy(files[0], path)
        command = [sys.executable, "-m", "lyceum", "serve", str(path), "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            host, _, port = server.stdout.readline().strip()[7:].rpartition(":")
            address = (host, int(port))
            asyncio.run(soak(path, files, address, server.pid, arguments))
        finally:
            server.send_signal(signal.SIGTERM)
            print("the server ended with", server.wait(60))


if __name__ == "__main__":
    main()

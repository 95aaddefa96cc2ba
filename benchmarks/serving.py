"""The server under load on this machine: requests per second, latencies, and swaps under load.

    python benchmarks/serving.py [--seconds 10] [--json FILE]

One record of twenty mixed columns (German credit) per request, keep-alive connections on loopback;
the server has one worker, the clients are a process of their own. Every answer is checked against
`lyceum.decide`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lyceum
from lyceum import datasets
from lyceum.workflows import fit_file


class Client:
    """Requests over one connection, each with the next record."""

    def __init__(
        self,
        address: tuple[str, int],
        bodies: list[bytes],
        path: str = "/models/model/predict",
    ):
        self.address = address
        self.requests = [
            b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (path.encode(), len(body), body)
            for body in bodies
        ]

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(*self.address)

    async def ask(self, index: int) -> dict[str, Any]:
        self.writer.write(self.requests[index])
        head = await self.reader.readuntil(b"\r\n\r\n")
        lower = head.lower()
        start = lower.index(b"content-length:") + 15
        size = int(lower[start : lower.index(b"\r\n", start)])
        answer = json.loads(await self.reader.readexactly(size))
        assert head.startswith(b"HTTP/1.1 200"), answer
        return answer


class Load:
    """Clients, the right answers by model version, and what was seen."""

    def __init__(self, right: list[set[float]]):
        self.right = right
        self.seconds: list[float] = []
        self.wrong = 0

    def note(self, index: int, answer: dict[str, Any], seconds: float) -> None:
        self.seconds.append(seconds)
        self.wrong += answer["probabilities"]["good"] not in self.right[index]

    async def flood(self, client: Client, end: float) -> None:
        """As many requests as one connection can."""
        index = 0
        while time.perf_counter() < end:
            start = time.perf_counter()
            answer = await client.ask(index)
            self.note(index, answer, time.perf_counter() - start)
            index = (index + 1) % len(client.requests)

    async def pace(self, client: Client, first: float, gap: float, end: float) -> None:
        """Requests at fixed times; latency counts from the time planned, so that a stall of the
        server is not hidden by clients that wait for it."""
        index = 0
        planned = first
        while planned < end:
            await asyncio.sleep(max(0.0, planned - time.perf_counter()))
            answer = await client.ask(index)
            self.note(index, answer, time.perf_counter() - planned)
            index = (index + 1) % len(client.requests)
            planned += gap


async def run_load(
    address: tuple[str, int],
    bodies: list[bytes],
    right: list[set[float]],
    seconds: float,
    per_second: float | None,
    n_clients: int,
) -> Load:
    clients = [Client(address, bodies) for _ in range(n_clients)]
    for client in clients:
        await client.open()
    load = Load(right)
    start = time.perf_counter() + 0.1
    end = start + seconds
    if per_second is None:
        tasks = [load.flood(client, end) for client in clients]
    else:
        gap = n_clients / per_second
        tasks = [
            load.pace(client, start + i / per_second, gap, end)
            for i, client in enumerate(clients)
        ]
    await asyncio.gather(*tasks)
    for client in clients:
        client.writer.close()
    return load


async def swap(path: Path, files: list[Path], seconds: float) -> int:
    """Rename another model over the file every second."""
    count = 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        await asyncio.sleep(1.0)
        count += 1
        beside = path.with_suffix(".next")
        await asyncio.to_thread(shutil.copy, files[count % 2], beside)
        beside.replace(path)
    return count


async def explanations(
    address: tuple[str, int], bodies: list[bytes], pid: int
) -> dict[str, Any]:
    """Milliseconds for one client that waits for every answer: decisions and explanations of the
    same records in turns."""
    paths = ("/models/model/predict", "/models/model/explain")
    clients = [Client(address, bodies, path) for path in paths]
    taken: list[list[float]] = [[], []]
    used = [0.0, 0.0]
    for client in clients:
        await client.open()
        await client.ask(0)
    for _ in range(5):
        for which, client in enumerate(clients):
            before = processor_seconds(pid)
            for index in range(len(bodies)):
                start = time.perf_counter()
                await client.ask(index)
                taken[which].append(1000 * (time.perf_counter() - start))
            used[which] += processor_seconds(pid) - before
    figures: dict[str, Any] = {}
    for name, each, seconds in zip(("predict", "explain"), taken, used):
        figures[name] = {
            "p50 ms": round(float(np.median(each)), 3),
            "mean ms": round(float(np.mean(each)), 3),
            "p99 ms": round(float(np.quantile(each, 0.99)), 3),
            "processor ms": round(1000 * seconds / len(each), 3),
        }
    return figures


async def measure(
    path: Path, files: list[Path], address: tuple[str, int], pid: int, seconds: float
) -> dict[str, Any]:
    frame = pd.read_csv(datasets.path("german_credit")).drop(columns="class").head(200)
    records = json.loads(frame.to_json(orient="records"))
    bodies = [json.dumps(record).encode() for record in records]
    models = [lyceum.load(file) for file in files]
    shares = [
        [lyceum.decide(model, record).probabilities["good"] for record in records]
        for model in models
    ]
    right = [set(pair) for pair in zip(*shares)]
    await run_load(address, bodies, right, 1.0, None, 4)  # warm
    figures = await explanations(address, bodies, pid)
    for name, figure in figures.items():
        print(f"one client, {name}: {figure}")
    before = processor_seconds(pid)
    load = await run_load(address, bodies, right, seconds, None, 8)
    used = processor_seconds(pid) - before
    figures["flood"] = report("as many as it can", load, seconds)
    per_core = len(load.seconds) / used
    figures["flood"]["per core second"] = round(per_core)
    print(
        f"  the server used {used:.2f} s of processor: {per_core:,.0f} per core second"
    )
    load = await run_load(address, bodies, right, seconds, 1000.0, 8)
    figures["paced"] = report("1,000 a second", load, seconds)
    swapping = asyncio.create_task(swap(path, files, seconds))
    load = await run_load(address, bodies, right, seconds, 1000.0, 8)
    n_swaps = await swapping
    figures["swaps"] = report(f"1,000 a second, {n_swaps} swaps", load, seconds)
    return figures


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(title: str, load: Load, seconds: float) -> dict[str, Any]:
    p50, p99, most = 1000 * np.quantile(load.seconds, [0.5, 0.99, 1.0])
    rate = len(load.seconds) / seconds
    print(
        f"{title}: {rate:,.0f} requests a second, p50 {p50:.2f} ms, p99 {p99:.2f} ms,"
        f" max {most:.1f} ms, {load.wrong} wrong of {len(load.seconds):,}"
    )
    return {
        "a second": round(rate),
        "p50 ms": round(float(p50), 2),
        "p99 ms": round(float(p99), 2),
        "wrong": load.wrong,
        "answers": len(load.seconds),
    }


async def first_answer(address: tuple[str, int]) -> None:
    """One record to a server that has just said its address."""
    frame = pd.read_csv(datasets.path("german_credit")).drop(columns="class").head(1)
    (record,) = json.loads(frame.to_json(orient="records"))
    client = Client(address, [json.dumps(record).encode()])
    await client.open()
    await client.ask(0)
    client.writer.close()


def start_seconds(path: Path) -> float:
    """From the command to the first answer: the median of five starts."""
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        server, address = start_server(path)
        try:
            asyncio.run(first_answer(address))
            taken.append(time.perf_counter() - start)
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate()
    return float(np.median(taken))


def start_server(path: Path) -> tuple[subprocess.Popen[str], tuple[str, int]]:
    """A server of a model file, and the address that it prints."""
    command = [sys.executable, "-m", "lyceum", "serve", str(path), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    host, _, port = server.stdout.readline().strip()[7:].rpartition(":")
    return server, (host, int(port))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of every load")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = datasets.path("german_credit")
        files = [Path(folder) / "one", Path(folder) / "two"]
        for file, learner in zip(files, ("LogisticRegression", "NaiveBayes")):
            lyceum.save(fit_file(data, "class", learner), file)
        path = Path(folder) / "model.lyceum"
        shutil.copy(files[0], path)
        start = start_seconds(path)
        print(f"start to first answer: {start:.2f} s, the median of five")
        server, address = start_server(path)
        try:
            work = measure(path, files, address, server.pid, arguments.seconds)
            figures = {"start s": round(start, 2), **asyncio.run(work)}
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate()
    figures["load"] = round(os.getloadavg()[0], 1)
    print(f"load of this machine: {figures['load']}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

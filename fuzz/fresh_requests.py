"""Requests to a server under way: smuggled lengths, deep and damaged bodies, packed bombs, clients
that stop in the middle; each gets an answer or a closed line, and the next one is served."""

from __future__ import annotations

import atexit
import io
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lyceum
from fuzz import Finding
from fuzz.mutations import mutate_bytes
from lyceum import datasets
from lyceum.workflows import fit_file

__all__ = ["ATTACKS", "Target", "case", "make"]

SECONDS = 30.0  # for an answer, on a busy machine
MOST_BYTES = 1500 << 20  # that the server may take at any time
PATH = "/models/m/predict"
JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"


class Target:
    """A server in a process of its own, with one model and one good record."""

    def __init__(self) -> None:
        path = Path(tempfile.mkdtemp()) / "m.lyceum"
        data = datasets.path("weather")
        lyceum.save(fit_file(data, "play", "NaiveBayes"), path)
        command = [sys.executable, "-m", "lyceum", "serve", "--port", "0", str(path)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        atexit.register(self.process.kill)
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip()
        self.host, _, port = address.partition("://")[2].rpartition(":")
        self.port = int(port)
        head = f"GET /models/m HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()
        self.record = json.loads(self.send(head)[1])["example"]
        self.answer = self.ask(self.record)[1]

    def send(self, data: bytes, stop: bool = False) -> tuple[int, bytes]:
        """The status and the body of the first answer to some bytes; 0 if the line is closed."""
        with socket.create_connection((self.host, self.port), timeout=SECONDS) as line:
            try:
                line.sendall(data)
                if stop:
                    line.shutdown(socket.SHUT_WR)
                return _first_answer(line)
            except ConnectionError:
                return 0, b""
            except TimeoutError as error:
                raise Finding(f"no answer in {SECONDS} s to {data[:300]!r}") from error

    def ask(self, value: Any) -> tuple[int, bytes]:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.send(self.request(body))

    def request(self, body: bytes, kind: str = JSON, *lines: str) -> bytes:
        """A request of one body; lines are added to its head."""
        head = [f"POST {PATH} HTTP/1.1", f"Host: {self.host}", f"Content-Type: {kind}"]
        if not any("ength" in line or "ncoding" in line for line in lines):
            head.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*head, *lines, "", ""]).encode("latin-1") + body

    def check(self, what: str) -> None:
        """Raise `Finding` unless a good record is answered as before, within bounds of memory."""
        if self.process.poll() is not None:
            raise Finding(f"the server ended after {what}")
        status, answer = self.ask(self.record)
        if (status, answer) != (200, self.answer):
            raise Finding(f"{status} {answer[:200]!r} to a good record after {what}")
        pages = Path(f"/proc/{self.process.pid}/status").read_text()
        (peak,) = [line for line in pages.splitlines() if line.startswith("VmHWM")]
        if int(peak.split()[1]) << 10 > MOST_BYTES:
            raise Finding(f"the server took {peak} after {what}")


def _first_answer(line: socket.socket) -> tuple[int, bytes]:
    data = b""
    length = None
    while True:
        part = line.recv(1 << 16)
        data += part
        head, blank, body = data.partition(b"\r\n\r\n")
        if blank and length is None:
            length = 0
            for field in head.lower().split(b"\r\n"):
                if field.startswith(b"content-length:"):
                    length = int(field.partition(b":")[2])
        if not part or (length is not None and len(body) >= length):
            break
    words = data.split(maxsplit=2)
    return (int(words[1]) if len(words) > 1 else 0), body


# -- attacks: each returns the bytes to send -------------------------------------------

Attack = Callable[[Target, np.random.Generator], bytes]


def _changed_record(target: Target, rng: np.random.Generator) -> bytes:
    return target.request(mutate_bytes(json.dumps(target.record).encode(), rng))


def _smuggled(target: Target, rng: np.random.Generator) -> bytes:
    """Two lengths, lengths with signs or blanks, and both ways of saying a length."""
    body = json.dumps(target.record).encode()
    n = len(body)
    heads = [
        (f"Content-Length: {n}", "Content-Length: 3"),
        (f"Content-Length: {n}, {n}",),
        (f"Content-Length: +{n}",),
        (f"Content-Length: 0x{n:x}",),
        (f"Content-Length: {n}_0",),
        ("Content-Length: -1",),
        (f"Content-Length: {2**64 + n}",),
        ("Transfer-Encoding: chunked", f"Content-Length: {n}"),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding: chunked, identity",),
        (f"Content-Length : {n}",),
    ]
    lines = heads[rng.integers(len(heads))]
    second = b"GET /models HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    if "chunked" in lines[0]:
        body = b"0\r\n\r\n" + second
    return target.request(body + second, JSON, *lines)


def _chunks(target: Target, rng: np.random.Generator) -> bytes:
    """Chunks with extensions, trailers, huge or negative sizes."""
    body = json.dumps(target.record).encode()
    sizes = [f"{len(body):x}", "ffffffffffffffff", "-1", "0x10", "7fffffff;a=b", "z"]
    size = sizes[rng.integers(len(sizes))].encode()
    data = size + b"\r\n" + body + b"\r\n0\r\nX-Trailer: y\r\n\r\n"
    return target.request(data, JSON, "Transfer-Encoding: chunked")


def _deep(target: Target, rng: np.random.Generator) -> bytes:
    depth = int(10 ** rng.uniform(1, 5.5))
    name = next(iter(target.record))
    opening = ["[", '{"a":', '[{"b":', '{"record":'][rng.integers(4)]
    inner = opening * depth
    bodies = [inner, f'{{"{name}":{inner}', f'{{"records":[{inner}', f"[{inner}"]
    return target.request(bodies[rng.integers(4)].encode())


def _odd_values(target: Target, rng: np.random.Generator) -> bytes:
    """Cells of other types and sizes, keys that appear twice, texts that are none."""
    values = [
        "1e400", "-1e400", "1e-400", "NaN", "Infinity", "9" * 5000, "true", '"\\ud800"',
        '"\\u0000"', "[]", "{}", '"' + "x" * 200_000 + '"', "0x10", "1_000", "-0",
    ]  # fmt: skip
    name = list(target.record)[rng.integers(len(target.record))]
    cell = values[rng.integers(len(values))]
    record = json.dumps({**target.record, name: "@"}).replace('"@"', cell)
    if rng.random() < 0.3:
        record = record[:-1] + f', "{name}": {cell}}}'
    if rng.random() < 0.3:
        record = f'{{"records": [{record}], "doubt": {cell}}}'
    return target.request(record.encode())


def _costs(target: Target, rng: np.random.Generator) -> bytes:
    losses = [[[0, 1]], [[0, 1e400], [1, 0]], {"a": 3}, [[None]], "x", [[[0]]], [], {}]
    costs = {"loss": losses[rng.integers(len(losses))], "doubt": -1.0}
    return target.request(json.dumps({"record": target.record, **costs}).encode())


def _table(target: Target, n_rows: int) -> pa.Table:
    return pa.table({name: [cell] * n_rows for name, cell in target.record.items()})


def _stream(table: pa.Table, packing: str | None = None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=packing)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _damaged_tables(target: Target, rng: np.random.Generator) -> bytes:
    table = _table(target, 5)
    if rng.random() < 0.5:
        return target.request(mutate_bytes(_stream(table), rng), ARROW)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return target.request(mutate_bytes(sink.getvalue(), rng), PARQUET)


def _bombs(target: Target, rng: np.random.Generator) -> bytes:
    """A few kilobytes that are unpacked to gigabytes."""
    name = next(iter(target.record))
    zeros = pa.table({name: np.zeros(30_000_000)})
    text = pa.array(["x" * 1_000_000])
    codes = pa.array(np.zeros(3000, np.int32))
    repeated = pa.table({name: pa.DictionaryArray.from_arrays(codes, text)})
    which = rng.integers(4)
    if which == 0:
        return target.request(_stream(zeros, "zstd"), ARROW)
    if which == 1:
        return target.request(_stream(repeated), ARROW)
    if which == 2:
        return target.request(_stream(pa.table({name: pa.nulls(2**31 - 1)})), ARROW)
    sink = io.BytesIO()
    pq.write_table(repeated, sink, store_schema=bool(rng.random() < 0.5))
    return target.request(sink.getvalue(), PARQUET)


def _csv(target: Target, rng: np.random.Generator) -> bytes:
    names = ",".join(target.record)
    cells = ",".join(map(str, target.record.values()))
    text = f"{names}\n{cells}\n{cells}\n"
    odd = [text, f"sep=;\n{text}", "\ufeff" + text, f'{names}\n"{cells}', text * 1000]
    body = odd[rng.integers(len(odd))].encode(str(rng.choice(["utf8", "utf-16"])))
    return target.request(mutate_bytes(body, rng), "text/csv")


def _other_media(target: Target, rng: np.random.Generator) -> bytes:
    kinds = [
        "application/json; charset=utf-7",
        "text/csv; header=absent",
        "a/b",
        "",
        ";;",
    ]
    body = json.dumps(target.record).encode(str(rng.choice(["utf8", "utf-16"])))
    lines = ["Content-Encoding: gzip"] if rng.random() < 0.3 else []
    kind = kinds[rng.integers(len(kinds))]
    return target.request(body, kind, *lines, f"Content-Length: {len(body)}")


def _heads(target: Target, rng: np.random.Generator) -> bytes:
    """Request lines and headers that are nearly right."""
    paths = [
        "*",
        "//models",
        "/models/m/predict?" + "a=b&" * 5000,
        "/models/%ff",
        "/\x00",
    ]
    line = f"POST {paths[rng.integers(len(paths))]} HTTP/1.{rng.integers(3)}"
    hosts = ["", "a b", "127.0.0.1:99999", "[::1", "\xff", "127.0.0.1, evil.example"]
    host = hosts[rng.integers(len(hosts))]
    many = "".join(f"X-{i}: y\r\n" for i in range(int(rng.choice([0, 3000]))))
    head = f"{line}\r\nHost: {host}\r\n{many}Content-Length: 2\r\n\r\n{{}}"
    return mutate_bytes(head.encode("latin-1"), rng)


ATTACKS: dict[str, Attack] = {
    "changed record": _changed_record,
    "smuggled length": _smuggled,
    "chunks": _chunks,
    "deep": _deep,
    "odd values": _odd_values,
    "costs": _costs,
    "damaged tables": _damaged_tables,
    "bombs": _bombs,
    "csv": _csv,
    "other media": _other_media,
    "heads": _heads,
}


# whose end a server may wait for
OF_OPEN_LENGTH = {"smuggled length", "chunks", "heads"}


def make() -> Target:
    """A server that has started."""
    return Target()


def case(target: Target, rng: np.random.Generator) -> str:
    """One attack, whole or cut off in the middle, then a good record."""
    name = list(ATTACKS)[rng.integers(len(ATTACKS))]
    data = ATTACKS[name](target, rng)
    stop = name in OF_OPEN_LENGTH
    if rng.random() < 0.15:
        data = data[: rng.integers(len(data))]
        stop = True
    # half-open: nothing more will come, so that an answer or the end must
    status, answer = target.send(data, stop)
    target.check(f"{name}: {data[:300]!r}")
    if status >= 500:
        raise Finding(f"{status} {answer[:300]!r} to {name}: {data[:400]!r}")
    if status >= 400 and answer.startswith(b"{") and "error" not in json.loads(answer):
        raise Finding(f"{answer[:300]!r} without a sentence to {name}: {data[:300]!r}")
    return str(status)

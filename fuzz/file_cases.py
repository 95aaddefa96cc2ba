"""What the fuzzers of data files share: a child process that reads, and tables of awkward values.

A fuzzer writes a file, perhaps changes its bytes, and has it read by a `ReadingProcess`. A process
that dies, takes too long or ends in anything but a `LyceumError` that names the file is a finding;
so is a file that was left as it was and is not read to what was written.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import Finding
from lyceum.data import inspect, scan
from lyceum.errors import LyceumError
from lyceum.workflows.batches import Batches

__all__ = [
    "INTEGERS",
    "NUMBERS",
    "TEXTS",
    "Outcome",
    "ReadingProcess",
    "as_cells",
    "check_batches",
    "check_cells",
    "draw_cells",
    "draw_names",
    "read_every_way",
    "scanned_cells",
]

# resident bytes of a reading process, beyond what its imports take
MEMORY_BYTES = 2 << 30
# addresses are not memory: Arrow's allocator takes 1 GiB of them for its first buffer, and every
# thread some more. This limit only makes a single absurd request fail
ADDRESSES = 32 << 30
SECONDS = 60  # of the processor for one file
PATIENCE = 15  # times as long by the clock: a process that waits for nothing, or a busy machine
LOOK = 0.02  # seconds between two looks at the memory of a process
FILES = 300  # that one process reads: allocators keep some of what is freed

INTEGERS = (
    0,
    1,
    -1,
    255,
    2**31 - 1,
    -(2**31),
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**63 - 1,
    -(2**63),
)
NUMBERS = (0.0, -0.0, 0.1, -2.5, 1e-300, 5e-324, 1e300, 1.7976931348623157e308, 1 / 3)
TEXTS = (
    "red",
    "a,b",
    'say "x"',
    "line\nbreak",
    "tab\tstop",
    " blank ",
    "'",
    ";",
    "é",
    "日本",
    "\U0001f600",
    "\u202eabc",
    "=1+1",
    "\\",
    "#",
    "{}",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: the value that was read, or the sentence that refused it."""

    value: Any = None
    refusal: str = ""

    @property
    def word(self) -> str:
        """ "read" or "refused", for the counts of a fuzzer."""
        return "refused" if self.refusal else "read"


class ReadingProcess:
    """A child process with limits of memory and time, which is started again after it died.

    Parameters
    ----------
    read : callable
        A function of a module, of a path; what it returns must be picklable.
    memory : int
        The resident bytes that it may take beyond what its imports take.
    seconds : float
        The processor time that it may take for one file.
    """

    def __init__(
        self,
        read: Callable[[str], Any],
        memory: int = MEMORY_BYTES,
        seconds: float = SECONDS,
    ) -> None:
        self._read = read
        self._memory = memory
        self._seconds = seconds
        self._start()

    def _start(self) -> None:
        # one process imports what all readers need, and the others begin as copies of it
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, "pandas", "lyceum.data"])
        self._connection, other = context.Pipe()
        arguments = (other, self._read)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        self._n_files = 0
        other.close()
        self._most_memory = self._connection.recv() + self._memory

    def __call__(self, path: str | os.PathLike[str]) -> Outcome:
        """What became of the file; raises `Finding` if it was neither read nor refused clearly."""
        if self._n_files == FILES:
            self.close()
            self._start()
        self._n_files += 1
        self._connection.send(os.fspath(path))
        try:
            self._wait()
            word, value, peak = self._connection.recv()
            self._check_memory(peak)
        except EOFError:
            self._process.join()
            code = self._process.exitcode or 0
            name = signal.Signals(-code).name if code < 0 else f"exit {code}"
            self._start()
            raise Finding(f"the process that read the file died: {name}") from None
        except Finding:
            self.close()
            self._start()
            raise
        if word == "error":
            raise Finding(f"a raw error: {value}")
        if word == "read":
            return Outcome(value)
        if Path(path).name not in value and "column '" not in value:
            raise Finding(f"a refusal that names neither file nor column: {value}")
        return Outcome(refusal=value)

    def _wait(self) -> None:
        """Until there is an answer; raises where that takes too long, or too much memory."""
        deadline = time.monotonic() + PATIENCE * self._seconds
        most = _processor_seconds(self._process.pid) + self._seconds
        while not self._connection.poll(LOOK):
            if time.monotonic() > deadline:
                raise Finding(f"a hang: nothing after {PATIENCE * self._seconds} s")
            if _processor_seconds(self._process.pid) > most:
                raise Finding(f"a hang: nothing after {self._seconds} s of work")
            self._check_memory(_status_bytes("VmRSS", self._process.pid))

    def _check_memory(self, n_bytes: int) -> None:
        if n_bytes > self._most_memory:
            allowed = f"{self._most_memory >> 20:,} MiB that it may have"
            raise Finding(f"{n_bytes >> 20:,} MiB of memory, more than the {allowed}")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _status_bytes(name: str, process: int | str | None = "self") -> int:
    """What the system says of a process' memory, 0 once it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    numbers = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return 1024 * int(numbers[0]) if numbers else 0


def _processor_seconds(process: int | None) -> float:
    """The processor time that a process has taken, 0 once it has ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0.0
    # behind the name, which may hold anything: state, ..., user and system time
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _serve(connection: Any, read: Callable[[str], Any]) -> None:
    """Read the files whose paths come, until the other side is gone."""
    warnings.simplefilter("ignore")
    limit = _status_bytes("VmSize") + ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # no file is left behind by a crash
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection.send(_status_bytes("VmRSS"))
    while True:
        try:
            path = connection.recv()
        except EOFError:
            return
        try:
            answer = ("read", read(path))
        except LyceumError as error:
            answer = ("refused", str(error))
        except Exception:
            answer = ("error", traceback.format_exc())
        connection.send((*answer, _status_bytes("VmHWM")))


def read_every_way(path: str) -> int:
    """The rows of a file, read at once, in parts and by `inspect`, which all must agree."""
    counts = [inspect(path).n_rows]
    for memory in (1 << 30, 0):
        rows = scan(path, memory=memory)
        counts.append(sum(len(block.X) for block in rows.blocks()))
    if len(set(counts)) > 1:
        raise AssertionError(f"inspect, scan at once and in parts: {counts} rows")
    return counts[0]


def check_batches(path: str) -> None:
    """Raise `Finding` if predictions in batches would see other rows than `scan`."""
    rows = scan(path)
    batches = Batches(path, tuple(rows.schema.columns))
    n_rows = sum(batch.num_rows for batch in batches)
    if n_rows != len(rows):
        raise Finding(f"{n_rows} rows in batches, {len(rows)} by scan")


def scanned_cells(path: str, memory: int = 1 << 30) -> dict[str, list[Any]]:
    """The cells of a file as learners get them: numbers as floats, categories, None if missing."""
    rows = scan(path, memory=memory)
    X = np.concatenate([block.X for block in rows.blocks()])
    cells: dict[str, list[Any]] = {}
    for j, column in enumerate(rows.schema):
        values = X[:, j].tolist()
        if not column.numeric:
            levels = np.asarray(column.categories).tolist()
            known = dict(enumerate(levels))
            values = [
                math.nan if code != code else known.get(int(code), "(unknown)")
                for code in values
            ]
        cells[column.name] = as_cells(values)
    return cells


def as_cells(values: Sequence[Any]) -> list[Any]:
    """Python values as `scanned_cells` has them, to compare with."""
    return [_as_cell(value) for value in values]


def _as_cell(value: Any) -> Any:
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return value
    return float(value)


def check_cells(
    found: Mapping[str, list[Any]], expected: Mapping[str, list[Any]], reader: str
) -> None:
    """Raise `Finding` with the first cell in which a file was read otherwise than expected."""
    if list(found) != list(expected):
        raise Finding(f"columns {list(found)} instead of {list(expected)} by {reader}")
    for name, cells in expected.items():
        if len(found[name]) != len(cells):
            n_rows = len(found[name])
            raise Finding(f"{n_rows} rows instead of {len(cells)} by {reader}")
        for row, (one, other) in enumerate(zip(found[name], cells)):
            if one != other:
                raise Finding(
                    f"column {name!r}, row {row}: {one!r} instead of {other!r} by {reader}"
                )


# -- tables ----------------------------------------------------------------------------


def draw_names(rng: np.random.Generator, count: int) -> list[str]:
    """Names of columns, all different, some of them awkward."""
    odd = ("a b", "é", "x.y", 'q"q', "a,b", "0", "日本")
    names = [f"c{j}" for j in range(count)]
    for j in range(count):
        if rng.random() < 0.2:
            names[j] = f"{odd[rng.integers(len(odd))]}{j}"
    return names


def draw_cells(
    rng: np.random.Generator, kind: str, count: int, missing: float = 0.2
) -> list[Any]:
    """Cells of one column, as Python values, None where they are missing.

    `kind` is "integer", "number", "text" or "bool".
    """
    choices: Sequence[Any]
    if kind == "integer":
        choices = INTEGERS
    elif kind == "number":
        choices = NUMBERS
    elif kind == "text":
        choices = TEXTS
    else:
        choices = (True, False)
    cells = [choices[place] for place in rng.integers(len(choices), size=count)]
    for row in range(count):
        if rng.random() < missing:
            cells[row] = None
    return cells

"""Files that are read once: their bytes serve the look at the first rows, the parser and the hash alike."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["FileReads", "current_reads", "read_footer", "read_parquet_file", "reading_once"]

_CHUNK = 1 << 20


class FileReads:
    """The files that are being read: each is opened once, and hashed as it is read if that is wanted.

    The bytes of a file are held from the first call of `head` or `whole` until `release`. A file that is
    streamed is never held: who reads it wraps what is read by `hashed_stream` or `hashed_file`.
    """

    def __init__(self, hashed: bool = False) -> None:
        self.hashed = hashed
        self._open: dict[str, io.FileIO] = {}
        self._bytes: dict[str, bytearray] = {}
        self._pieces: dict[str, dict[int, bytes]] = {}

    def handle(self, path: str) -> io.FileIO:
        """The open file."""
        if path not in self._open:
            self._open[path] = io.FileIO(path)
        return self._open[path]

    def head(self, path: str, size: int) -> bytes:
        """The first bytes of a file."""
        if len(self._bytes.get(path, b"")) < size:
            self._read_on(path, size)
        return bytes(self._bytes[path][:size])

    def whole(self, path: str) -> bytearray:
        """All bytes of a file."""
        self._read_on(path, os.fstat(self.handle(path).fileno()).st_size)
        if self.hashed and path not in self._pieces:
            self._pieces[path] = {0: hashlib.sha256(self._bytes[path]).digest()}
        return self._bytes[path]

    def _read_on(self, path: str, size: int) -> None:
        """Read the file on until so many bytes of it are held, or up to its end."""
        file, before = self.handle(path), self._bytes.get(path, bytearray())
        size, done = min(size, os.fstat(file.fileno()).st_size), len(before)
        held = before if size <= done else bytearray(size)
        held[:done] = before
        file.seek(done)
        with memoryview(held) as view:
            while done < size:
                count = file.readinto(view[done:])
                if not count:
                    break
                done += count
        del held[done:]
        self._bytes[path] = held

    def release(self) -> None:
        """Close the files and let go of their bytes; hashes stay."""
        for file in self._open.values():
            file.close()
        self._open.clear()
        self._bytes.clear()

    # -- hashes --------------------------------------------------------------------------------------------

    def hashed_stream(self, path: str, stream: Any) -> Any:
        """The stream, which hashes what is read from it if that is wanted."""
        return _HashedStream(path, stream, self._pieces) if self.hashed else stream

    def hashed_file(self, path: str, part: int) -> _HashedFile | None:
        """The file opened for a reader of some of it, part number `part`; None if no hash is wanted."""
        return _HashedFile(path, part, self._pieces) if self.hashed else None

    def digest(self, paths: Sequence[str]) -> str:
        """A hash of the files and their order; one that was not hashed while it was read is read for it."""
        total = hashlib.sha256()
        for path in paths:
            pieces = self._pieces.get(path)
            if pieces is None:
                pieces = {0: _hash_of(path)}
            total.update(os.path.getsize(path).to_bytes(8, "big"))
            for place, piece in sorted(pieces.items()):
                total.update(place.to_bytes(8, "big") + piece)
        return total.hexdigest()


def _hash_of(path: str) -> bytes:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            found.update(chunk)
    return found.digest()


class _HashedStream:
    """A stream of bytes that hashes what is read, and says so at the end."""

    def __init__(self, path: str, stream: Any, pieces: dict[str, dict[int, bytes]]) -> None:
        self._path, self._stream, self._pieces = path, stream, pieces
        self._hash = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._hash.update(data)
        if size and not data:
            self._pieces[self._path] = {0: self._hash.digest()}
        return data

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def close(self) -> None:
        self._stream.close()


class _HashedFile(io.FileIO):
    """A file that hashes what is read, whatever the order in which its stretches are read."""

    def __init__(self, path: str, part: int, pieces: dict[str, dict[int, bytes]]) -> None:
        super().__init__(path, "rb")
        self._path, self._part, self._pieces = path, part, pieces
        self._stretches: dict[int, bytes] = {}

    def read(self, size: int | None = -1, /) -> bytes:
        start = self.tell()
        data = super().read(size)
        self._stretches[start] = hashlib.sha256(data).digest()
        return data

    def finish(self) -> None:
        """Say that this part of the file has been read."""
        total = hashlib.sha256()
        for start, piece in sorted(self._stretches.items()):
            total.update(start.to_bytes(8, "big") + piece)
        self._pieces.setdefault(self._path, {})[self._part] = total.digest()


_reads: ContextVar[FileReads | None] = ContextVar("reads", default=None)


def current_reads() -> FileReads | None:
    """The files that are being read here, inside of `reading_once`."""
    return _reads.get()


@contextmanager
def reading_once(hashed: bool = False) -> Iterator[FileReads]:
    """Inside, `fits_memory` and `read_data` together open and read a file once; so does `read_through`.

    Inside of another `reading_once`, that one goes on.

    Parameters
    ----------
    hashed : bool, default=False
        Whether files are hashed while they are read: `digest(paths)` of what it gives is the hash of all.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.data import read_data
    >>> path = datasets.path("weather")
    >>> with reading_once(hashed=True) as reads:
    ...     table = read_data(path).table
    >>> len(reads.digest([path]))
    64
    """
    outer = _reads.get()
    if outer is not None:
        yield outer
        return
    reads = FileReads(hashed)
    token = _reads.set(reads)
    try:
        yield reads
    finally:
        _reads.reset(token)
        reads.release()


# -- Parquet files -------------------------------------------------------------------------------------------


def read_footer(path: str) -> pq.FileMetaData:
    """The description of a Parquet file, which stands at its end."""
    reads = current_reads()
    return pq.read_metadata(path if reads is None else reads.handle(path))


def read_parquet_file(path: str, columns: list[str] | None) -> pa.Table:
    """Some columns of a Parquet file, which is read in full only if it is hashed."""
    reads = current_reads()
    if reads is None or not reads.hashed:
        return pq.read_table(path, columns=columns)
    return pq.read_table(pa.BufferReader(pa.py_buffer(reads.whole(path))), columns=columns)

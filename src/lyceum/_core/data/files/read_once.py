"""Files that are read once: their bytes serve the look at the first rows, the parser and the hash
alike."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from lyceum._core.lazy_arrow import pa, pq

_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
_LAST = 256  # bytes of a stream that are remembered
_FOOTER = -1  # its place before the parts of a Parquet file


class FileReads:
    """The files that are being read: every byte once, and hashed as it is read if that is wanted.

    The bytes that `head`, `end` and `whole` read are held until `release`, and whoever reads the
    file later begins with them. A file that does not fit passes by in a `stream`, or in `part`s of
    a Parquet file.
    """

    def __init__(self, hashed: bool = False) -> None:
        self.hashed = hashed
        self._open: dict[str, io.FileIO] = {}
        self._bytes: dict[str, pa.Buffer] = {}
        self._ends: dict[str, bytes] = {}
        self._passing: list[io.FileIO] = []
        self._footers: dict[str, pq.FileMetaData] = {}
        self._pieces: dict[str, dict[int, bytes]] = {}

    def handle(self, path: str) -> io.FileIO:
        """The open file."""
        if path not in self._open:
            self._open[path] = io.FileIO(path)
        return self._open[path]

    def head(self, path: str, size: int) -> bytes:
        """The first bytes of a file."""
        return self._read_on(path, size)[:size].to_pybytes()

    def whole(self, path: str) -> pa.Buffer:
        """All bytes of a file."""
        data = self._read_on(path, self._size(path))
        if self.hashed and 0 not in self._pieces.get(path, {}):
            self.keep_hash(path, hashlib.sha256(data).digest())
        return data

    def end(self, path: str, size: int) -> bytes:
        """The last bytes of a file."""
        total = self._size(path)
        held = self._bytes.get(path)
        size = min(size, total)
        known = self._ends.get(path, b"")
        if held is not None and held.size == total:
            return held[total - size :].to_pybytes()
        if len(known) < size:
            self.handle(path).seek(-size, os.SEEK_END)
            known = self._ends[path] = self.handle(path).read(size - len(known)) + known
        return known[len(known) - size :]

    def _size(self, path: str) -> int:
        return os.fstat(self.handle(path).fileno()).st_size

    def _read_on(self, path: str, size: int) -> pa.Buffer:
        """Read the file on until at least `size` bytes of it are held, or up to its end."""
        file = self.handle(path)
        before = self._bytes.get(path, pa.py_buffer(b""))
        end = self._ends.get(path, b"")
        total = self._size(path)
        done = before.size
        size = min(size, total)
        if size > done:
            unread = max(
                done, min(size, total - len(end))
            )  # behind it the bytes are those of the end
            held = pa.allocate_buffer(size)
            with memoryview(held) as view:
                view[:done] = memoryview(before)
                file.seek(done)
                while done < unread and (count := file.readinto(view[done:unread])):
                    done += count
                if done == unread < size:
                    at = unread - (total - len(end))
                    view[unread:] = memoryview(pa.py_buffer(end[at : at + size - unread]))
                    done = size
            self._bytes[path] = held[:done]
        return self._bytes.setdefault(path, before)

    def stream(self, path: str) -> _FileStream:
        """All bytes of a file in their order: those that are held, then the rest, which is not."""
        return _FileStream(self, path)

    def begin(self, path: str) -> tuple[pa.Buffer, io.FileIO]:
        """The bytes that are held from the start of a file, and the file behind them, for one
        stream."""
        held = self._bytes.get(path, pa.py_buffer(b""))
        file = self.handle(path)
        self._passing.append(self._open.pop(path))
        if held.size:
            file.seek(held.size)
        return held, file

    def footer(self, path: str) -> pq.FileMetaData:
        """The description of a Parquet file, which stands at its end."""
        if path not in self._footers:
            size = int.from_bytes(self.end(path, 8)[:4], "little") + 8
            footer = self.end(path, size)
            is_cut = len(footer) < size
            self._footers[path] = pq.read_metadata(
                self.handle(path) if is_cut else pa.BufferReader(footer)
            )
            self._pieces.setdefault(path, {})[_FOOTER] = hashlib.sha256(footer).digest()
        return self._footers[path]

    def part(self, path: str, number: int) -> _FilePart | None:
        """A Parquet file opened for a reader of some of its row groups; None if no hash is
        wanted."""
        if self.hashed:
            return _FilePart(path, number, self._pieces)
        return None

    def release(self) -> None:
        """Close the files and let go of their bytes; hashes and footers stay."""
        for file in (*self._open.values(), *self._passing):
            file.close()
        self._open.clear()
        self._passing.clear()
        self._bytes.clear()
        self._ends.clear()

    # -- hashes ------------------------------------------------------------------------

    def finish(self, path: str, found: bytes, last: bytes) -> None:
        """Keep the hash and the last bytes of a file that has passed by."""
        self._ends.setdefault(path, last)
        if self.hashed:
            self.keep_hash(path, found)

    def keep_hash(self, path: str, found: bytes) -> None:
        """Keep the hash of all that was read of a file."""
        self._pieces[path] = {0: found}

    def digest(self, paths: Sequence[str | os.PathLike[str]]) -> str:
        """A hash of the files as they were read, and of their order."""
        total = hashlib.sha256()
        for path in paths:
            for place, piece in sorted(self._pieces[os.fspath(path)].items()):
                total.update(place.to_bytes(8, "big", signed=True) + piece)
        return total.hexdigest()


class _FileStream:
    """A file from its first byte to its last, of which those that are held are not read again."""

    closed = False

    def __init__(self, reads: FileReads, path: str) -> None:
        self._reads = reads
        self._path = path
        self._at = 0
        self._held, self._file = reads.begin(path)
        self._hash = hashlib.sha256()
        self._last = b""

    def read(self, size: int) -> bytes:
        data = self._held[self._at : self._at + size].to_pybytes()
        self._at += len(data)
        if len(data) < size:
            data = data + self._file.read(size - len(data))
        if self._reads.hashed:
            self._hash.update(data)
        self._last = (data if len(data) >= _LAST else self._last + data)[-_LAST:]
        if size and not data:
            self._reads.finish(self._path, self._hash.digest(), self._last)
        return data

    def close(self) -> None:
        """The file is closed by `release`: a reader that gave up may still read ahead."""


class _StartStream:
    """The first bytes of a file for who unpacks them: what is read is held."""

    closed = False

    def __init__(self, reads: FileReads, path: str) -> None:
        self._reads = reads
        self._path = path
        self._at = 0

    def read(self, size: int) -> bytes:
        data = self._reads.head(self._path, self._at + size)[self._at :]
        self._at += len(data)
        return data

    def close(self) -> None:
        """The file stays open: its reader goes on from here."""


class _FilePart(io.FileIO):
    """A file that hashes what is read, whatever the order in which its stretches are read."""

    def __init__(self, path: str, number: int, pieces: dict[str, dict[int, bytes]]) -> None:
        super().__init__(path, "rb")
        self._path = path
        self._number = number
        self._pieces = pieces
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
        self._pieces.setdefault(self._path, {})[self._number] = total.digest()


_reads: ContextVar[FileReads | None] = ContextVar("reads", default=None)


def current_reads() -> FileReads | None:
    """The files that are being read here, inside of `reading_once`."""
    return _reads.get()


@contextmanager
def reading_once(hashed: bool = False) -> Iterator[FileReads]:
    """Inside, `fits_memory` with `read_data` or `profile_large_file` reads a file once.

    Inside of another `reading_once`, that one goes on.

    Parameters
    ----------
    hashed : bool, default=False
        Whether files are hashed while they are read: `digest(paths)` of what it gives is the hash
        of all.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum._core.data import read_data, reading_once
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


# -- what readers take -----------------------------------------------------------------


def is_packed(path: str) -> bool:
    """Whether a file is compressed, by its name."""
    return _codec(path) is not None


def _codec(path: str) -> str | None:
    return _CODECS.get(os.path.splitext(path)[1].lower())


def read_start(path: str, size: int) -> bytes:
    """The first bytes of a file, unpacked."""
    reads = current_reads()
    codec = _codec(path)
    if reads is not None and os.path.isfile(path):
        if codec is None:
            return reads.head(path, size)
        with pa.input_stream(_StartStream(reads, path), compression=codec) as stream:
            return stream.read(size)
    with pa.input_stream(path, compression=codec) as stream:
        return stream.read(size)


def open_stream(path: str) -> Any:
    """A file that is read in pieces, unpacked."""
    reads = current_reads()
    codec = _codec(path)
    if reads is not None and codec is None:
        return reads.stream(path)
    return pa.input_stream(path if reads is None else reads.stream(path), compression=codec)


def open_whole(path: str) -> pa.NativeFile:
    """All of a file, unpacked; inside of `reading_once` it may be opened again without reading it
    again."""
    with reading_once() as reads:
        file = pa.BufferReader(reads.whole(path))
    codec = _codec(path)
    if codec is None:
        return file
    return pa.CompressedInputStream(file, codec)


def read_footer(path: str) -> pq.FileMetaData:
    """The description of a Parquet file, which stands at its end."""
    reads = current_reads()
    if reads is None:
        return pq.read_metadata(path)
    return reads.footer(path)


def read_parquet_file(path: str, columns: list[str] | None) -> pa.Table:
    """Some columns of a Parquet file, which is read in full only if it is hashed."""
    reads = current_reads()
    if reads is None or not reads.hashed:
        return pq.read_table(path, columns=columns)
    return pq.read_table(pa.BufferReader(reads.whole(path)), columns=columns)

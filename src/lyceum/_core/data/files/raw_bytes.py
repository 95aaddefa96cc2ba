"""The bytes of files, unpacked where their names say that they are compressed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lyceum._core.data.files.limits import check_memory
from lyceum._core.lazy_arrow import pa
from lyceum.errors import DataError

_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
HEAD_BYTES = 1 << 20
_PIECE_BYTES = 1 << 24


def _codec(path: str) -> str | None:
    return _CODECS.get(os.path.splitext(path)[1].lower())


def is_packed(path: str) -> bool:
    """Whether a file is compressed, by its name."""
    return _codec(path) is not None


def unpacked_name(path: str) -> str:
    """The name of a file without the suffix of its compression."""
    if is_packed(path):
        return os.path.splitext(path)[0]
    return path


def open_stream(path: str) -> pa.NativeFile:
    """A file that is read in pieces, unpacked."""
    return pa.input_stream(path, compression=_codec(path))


@contextmanager
def _unpacking_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # those of the system have a number, those of a codec have none
        if error.errno is not None or not is_packed(path):
            raise
        raise DataError(
            f"{path} is damaged or cut off, or not packed as its name says: {error}"
        ) from error


def read_head(path: str, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file, unpacked."""
    with _unpacking_errors(path), open_stream(path) as stream:
        return stream.read(size)


def read_end(path: str, size: int) -> bytes:
    """The last bytes of a file, as they are."""
    with open(path, "rb") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(max(0, length - size))
        return file.read()


def read_bytes(path: str) -> pa.Buffer:
    """All bytes of a file, unpacked; raises where they are more than memory may hold."""
    check_memory(os.path.getsize(path), path, "its bytes")
    with _unpacking_errors(path), open_stream(path) as stream:
        if not is_packed(path):
            return stream.read_buffer()
        # a packed file does not say how long it is
        sink = pa.BufferOutputStream()
        while piece := stream.read(_PIECE_BYTES):
            sink.write(piece)
            check_memory(sink.tell(), path, "its first bytes, unpacked,")
        return sink.getvalue()

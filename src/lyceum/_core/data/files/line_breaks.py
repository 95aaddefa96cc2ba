"""Inputs in Python that Arrow's threads read: as UTF-8 with whole line breaks, and given back
before Python ends."""

from __future__ import annotations

import atexit
import codecs
import threading
import time
import weakref
from typing import IO, ClassVar

from lyceum._core.data.files.encodings import is_utf8
from lyceum._core.data.files.raw_bytes import open_stream
from lyceum._core.lazy_arrow import pa

_MOST_SECONDS = 2.0  # an input may be kept by a traceback, or be a pipe that waits
_GRACE = 0.05  # in which a thread that has let go of an input leaves Python


def keep_line_breaks(
    source: str | IO[bytes] | pa.NativeFile, encoding: str = "utf8"
) -> pa.PythonFile:
    """The input for Arrow's reader, which loses a line feed that is the first byte of a block.

    Other encodings become UTF-8 here: Arrow's own reader of them calls Python in threads that
    nobody waits for when Python ends.
    """
    if isinstance(source, str):
        stream = open_stream(source)
    else:
        stream = source
    if not is_utf8(encoding):
        stream = _Utf8(stream, encoding)
    return pa.PythonFile(_LineBreaks(stream), mode="r")


class _Utf8:
    """Reads text of another encoding as the bytes of UTF-8."""

    def __init__(self, stream: IO[bytes] | pa.NativeFile, encoding: str):
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest = b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes, none at the end of the input."""
        at_end = False
        while len(self._rest) < size and not at_end:
            piece = self._stream.read(size)
            at_end = not piece
            self._rest += self._decoder.decode(piece, at_end).encode()
        data = self._rest[:size]
        self._rest = self._rest[size:]
        return data

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def close(self) -> None:
        self._stream.close()


class _LineBreaks:
    """Reads bytes so that no piece ends between a carriage return and its line feed."""

    # when a thread of Arrow was the last to hold an input
    last_release: ClassVar[float] = -_GRACE

    def __init__(self, stream: IO[bytes] | pa.NativeFile | _Utf8):
        self._stream = stream
        self._held = b""
        _LENT.add(self)

    def __del__(self) -> None:
        if threading.get_ident() != _MAIN:
            _LineBreaks.last_release = time.monotonic()

    def read(self, size: int) -> bytes:
        """At most `size` bytes, none at the end of the input."""
        data = self._held + self._stream.read(size - len(self._held))
        # a return at the end waits for the next piece, unless nothing else came
        self._held = b""
        if len(data) > 1 and data.endswith(b"\r"):
            self._held = b"\r"
        return data[: len(data) - len(self._held)]

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def close(self) -> None:
        self._stream.close()


_LENT: weakref.WeakSet[_LineBreaks] = weakref.WeakSet()
_MAIN = threading.main_thread().ident


@atexit.register
def wait_for_arrow() -> None:
    """Let Arrow's threads give back their inputs before Python ends.

    Arrow reads ahead in threads of its own, and one of them may be the last to hold an input, also
    after the table was read. A thread that asks for Python's lock when Python has ended is ended
    inside C++, which aborts the process: "terminate called without an active exception".
    """
    deadline = time.monotonic() + _MOST_SECONDS
    while len(_LENT) or time.monotonic() < _LineBreaks.last_release + _GRACE:
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)

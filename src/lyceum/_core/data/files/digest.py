"""A hash of data files, by which a study that goes on notices that they have changed."""

from __future__ import annotations

import hashlib
import io
from typing import Any

from lyceum._core.data.files.databases import database_kind, read_database
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.tables import paths_of
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data


def digest_data(data: Data, file_format: FileFormat | None = None) -> str:
    """A hash of the bytes of files and of their order.

    Of a database it is the rows of the table that are hashed: its own bytes also hold other
    tables, and its last rows may stand in a journal beside it.

    >>> from lyceum import datasets
    >>> len(digest_data(datasets.path("weather")))
    64
    """
    # a hash of hashes, so that the same bytes split otherwise into files are other data
    files = hashlib.sha256()
    for path in paths_of(data):
        if database_kind(path):
            table = read_database(path, file_format or FileFormat())
            files.update(_table_hash(table))
            continue
        with open(path, "rb") as file:
            files.update(hashlib.file_digest(file, "sha256").digest())
    return files.hexdigest()


def _table_hash(table: pa.Table) -> bytes:
    """A hash of names, types and cells, whatever stands in the memory of missing cells."""
    sink = _HashSink()
    for name in table.column_names:
        column = table.column(name)
        present = column.is_valid()
        cells = column.drop_null()
        if pa.types.is_boolean(cells.type):
            cells = cells.cast(pa.uint8())
        for values in (present.cast(pa.uint8()), cells):
            content = pa.table({name: values}).combine_chunks()
            stream = pa.PythonFile(sink, "w")
            with pa.ipc.new_stream(stream, content.schema) as writer:
                writer.write_table(content)
    return sink.hash.digest()


class _HashSink(io.RawIOBase):
    """A file whose bytes are hashed as they are written, and kept nowhere."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.hash.update(data)
        return len(data)

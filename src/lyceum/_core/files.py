"""Files written as a whole or not at all, and standard input as a file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lyceum.errors import DataError

if TYPE_CHECKING:  # the command line writes files without NumPy
    from lyceum._core.types import Data


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of `path` when the block ends without an error.

    It is written under a temporary name in the same folder (`.NAME.` and eight hexadecimal digits),
    flushed to disk and renamed. If the block fails, the temporary file is removed and `path` is as
    it was.

    Parameters
    ----------
    path : str or path
        The file to write or replace.

    Yields
    ------
    binary file

    See Also
    --------
    write_file : The same for bytes that are in memory.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(f"{folder}/a.txt") as file:
    ...         written = file.write(b"first")
    ...     try:
    ...         with replace_file(f"{folder}/a.txt") as file:
    ...             written = file.write(b"sec")
    ...             raise OSError("the disk is full")
    ...     except OSError:
    ...         os.listdir(folder), Path(folder, "a.txt").read_text()
    (['a.txt'], 'first')
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        with open(temporary, "xb") as file:
            yield file
            # on the disk before the name is there: a crash leaves the old file or all of the new
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        # people know the name that they gave, not the temporary one
        if error.errno and error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write all of `data` to a file, or leave the file as it was.

    Parameters
    ----------
    path : str or path
        The file to write or replace.
    data : bytes
        What it holds afterwards.

    See Also
    --------
    replace_file : The same for data that come in pieces.
    """
    with replace_file(path) as file:
        file.write(data)


@contextmanager
def spool(data: Data, stream: IO[bytes] | None = None) -> Iterator[Any]:
    """The data; for "-" a CSV file of what comes from standard input, gone afterwards."""
    if not (isinstance(data, str) and data == "-"):
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="lyceum-") as folder:
        path = Path(folder) / "standard-input.csv"
        with open(path, "wb") as file:
            shutil.copyfileobj(stream or sys.stdin.buffer, file)
        if not path.stat().st_size:
            raise DataError(
                "standard input is empty: it needs a line of column names and some rows"
            )
        yield str(path)

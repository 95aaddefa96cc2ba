"""The one boundary between readers of files and the rest: whatever goes wrong is one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lyceum._core.lazy_arrow import pa
from lyceum.errors import DataError, LyceumError

_A_FILE = {
    "arff": "an ARFF file",
    "arrow": "an Arrow file",
    "csv": "a CSV file",
    "duckdb": "a DuckDB file",
    "json": "a JSON file",
    "parquet": "a Parquet file",
    "sqlite": "an SQLite file",
}
_LONGEST = 300  # characters of a reader's own words


@contextmanager
def file_errors(path: str, kind: str = "parquet") -> Iterator[None]:
    """Turn what a reader raises into a DataError that names the file.

    Parameters
    ----------
    path : str
        The file.
    kind : str, default="parquet"
        What it should be, for the sentence.

    >>> with file_errors("t.parquet"):
    ...     raise OverflowError("date value out of range")
    Traceback (most recent call last):
    lyceum.errors.DataError: t.parquet is damaged or not a Parquet file: date value out of range
    """
    try:
        yield
    except (LyceumError, PermissionError):
        raise
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except MemoryError as error:
        raise _too_large(path) from error
    except RecursionError as error:
        raise DataError(f"{path} is nested too deeply to be a table") from error
    except (pa.ArrowException, OSError, ValueError, ArithmeticError, EOFError) as error:
        if "launch worker thread" in str(error):
            raise DataError(
                f"{path} cannot be read: this process may start no more threads (a limit of"
                " memory or of processes: ulimit -a shows both)"
            ) from error
        raise DataError(
            f"{path} is damaged or not {_A_FILE.get(kind, f'a {kind} file')}: {first_line(error)}"
        ) from error


@contextmanager
def memory_errors(path: str) -> Iterator[None]:
    """Turn the end of memory, in whatever is done with a file, into a DataError that names it."""
    try:
        yield
    except MemoryError as error:
        raise _too_large(path) from error


def _too_large(path: str) -> DataError:
    return DataError(
        f"{path} asks for more memory than there is: it may be damaged; else give it in parts"
    )


def first_line(error: Exception) -> str:
    """What a reader says, without the lines that follow and what cannot be printed."""
    first, *more = str(error).strip().split("\n", 1)
    if len(first) > _LONGEST or more:
        first = f"{first[:_LONGEST]} ..."
    # bytes of the file that are no text, and the characters of terminals
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in first
    )

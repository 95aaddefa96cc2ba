"""Errors of disks and of damaged study folders in plain words."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lyceum.errors import StudyError

_READ_ONLY = "{folder} may not be written to: give another folder, out=..."
_FAILS = {
    errno.EIO: (
        "the disk of {folder} fails (input/output error): run the same study in another folder"
    ),
    errno.EFBIG: (
        "a file in {folder} would be larger than is allowed here (ulimit -f): raise the limit"
    ),
    errno.EROFS: _READ_ONLY,
}
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quota


_FULL_TEXT = (
    "the disk of {folder} is full: free some space and run the same study again; what it finished"
    " is kept"
)


@contextmanager
def explain_disk_errors(folder: Path) -> Iterator[None]:
    """Say what to do where the disk is full, fails or may not be written to, or what is on it is
    damaged."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StudyError(_FULL_TEXT.format(folder=folder)) from error
        if isinstance(error, PermissionError):
            raise StudyError(_READ_ONLY.format(folder=folder)) from error
        if error.errno in _FAILS:
            raise StudyError(_FAILS[error.errno].format(folder=folder)) from error
        raise
    except sqlite3.OperationalError as error:
        # SQLite has one class for all of these, and only the text tells them apart
        if "full" in str(error):
            raise StudyError(_FULL_TEXT.format(folder=folder)) from error
        if "locked" in str(error):
            raise StudyError(
                f"the study in {folder} is being run by another process: wait for it, or give"
                " another folder"
            ) from error
        if "readonly" in str(error) or "unable to open" in str(error):
            raise StudyError(_READ_ONLY.format(folder=folder)) from error
        hint = ""
        if "I/O" in str(error):
            hint = ": the disk fails, or a file may not grow (ulimit -f)"
        raise StudyError(
            f"the study in {folder} cannot be read or written: {error}{hint}"
        ) from error
    # names of tables and columns that are not text
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise damage_error(folder, error) from error


def damage_error(folder: Path, error: BaseException) -> StudyError:
    """The error of a study whose folder does not hold what a study wrote."""
    detail = f"{type(error).__name__}: {error}"
    return StudyError(
        f"the study in {folder} is damaged ({detail}): start anew with force"
    )

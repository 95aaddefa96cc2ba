"""Errors of a full or read-only disk in plain words."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lyceum.errors import StudyError

__all__ = ["explain_full_disk"]

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quota


@contextmanager
def explain_full_disk(folder: Path) -> Iterator[None]:
    """Say what to do where the disk is full or may not be written to."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StudyError(_message(folder)) from error
        if isinstance(error, PermissionError):
            raise StudyError(f"{folder} may not be written to: give another folder, out=...") from error
        raise
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            raise StudyError(_message(folder)) from error
        if "locked" in str(error):
            raise StudyError(
                f"the study in {folder} is being run by another process: wait for it, or give another folder"
            ) from error
        raise


def _message(folder: Path) -> str:
    return (
        f"the disk of {folder} is full: free some space and run the same study again; what it finished is "
        "kept"
    )

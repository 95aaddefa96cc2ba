"""What Lyceum raises when the fault lies in the data, a file or a request.

LyceumError
├── DataError (a ValueError)         the rows cannot be used as they are
│   ├── SchemaError                  columns do not fit: names, kinds, categories
│   ├── MissingValuesError           missing cells where the method cannot take them
│   └── SourceError (a TypeError)    this method cannot run on this kind of source
├── SettingError (a ValueError)      parameters that do not go together, or not with these data
├── ModelFileError (a ValueError)    a model file is damaged, unknown or unsafe
├── StudyError (a ValueError)        a study cannot be run as requested, or not in this folder
└── Cancelled                        the work was stopped by whoever watched its progress
DataWarning (a UserWarning)          what was found out, and taken for true, about the way a file is written

A message says what, where, what came, and what to do instead.
"""

from __future__ import annotations

__all__ = [
    "Cancelled",
    "DataError",
    "DataWarning",
    "LyceumError",
    "MissingValuesError",
    "ModelFileError",
    "SchemaError",
    "SettingError",
    "SourceError",
    "StudyError",
]


class LyceumError(Exception):
    """The base of every error that Lyceum raises on purpose."""


class DataError(LyceumError, ValueError):
    """The rows cannot be used as they are."""


class SchemaError(DataError):
    """Columns do not fit: a name, a kind or a category."""


class MissingValuesError(DataError):
    """There are missing or infinite cells where the method cannot take them."""


class SourceError(DataError, TypeError):
    """The method cannot run on this kind of source."""


class SettingError(LyceumError, ValueError):
    """Parameters that do not go together, or do not go with these data."""


class ModelFileError(LyceumError, ValueError):
    """A model file is damaged, of an unknown make, or holds what may not be loaded."""


class StudyError(LyceumError, ValueError):
    """A study cannot be run as requested, or not in this folder."""


class Cancelled(LyceumError):
    """The work was stopped by whoever watched its progress."""


class DataWarning(UserWarning):
    """What was found out, and taken for true, about the way in which a file is written."""

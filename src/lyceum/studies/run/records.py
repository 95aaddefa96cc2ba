"""Dataclasses as JSON and back: the one way in which a study stores what it knows.

A record is written field by field, and read by the types that its fields declare. A class that is
stored in another form has its own `as_dict` and `from_dict`.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

R = TypeVar("R")
_PLAIN = (bool, float, int, str, type(None))  # as they are in JSON


def write_record(value: Any) -> Any:
    """The value in JSON's own types.

    >>> from lyceum.studies import HoldoutResult
    >>> write_record(HoldoutResult(50, np.float64(0.1), (0.04, 0.21)))
    {'n_rows': 50, 'loss': 0.1, 'interval': [0.04, 0.21], 'error': None, 'reject_rate': None}
    """
    if hasattr(value, "from_dict"):
        return value.as_dict()
    if is_dataclass(value):
        return {
            field.name: write_record(getattr(value, field.name))
            for field in fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): write_record(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        # a confusion table of 300 classes has 90,000 numbers
        return [item if type(item) in _PLAIN else write_record(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value


def read_record(kind: type[R], stored: Any) -> R:
    """The value of this type that `write_record` made; fields that are not stored have defaults.

    >>> from lyceum.studies import HoldoutResult
    >>> read_record(HoldoutResult, {"n_rows": 50, "loss": 0.1, "interval": [0.04, 0.21]}).interval
    (0.04, 0.21)
    """
    from_dict = getattr(kind, "from_dict", None)
    if from_dict is not None:
        return from_dict(stored)
    types_of_fields: dict[str, Any] = _field_types(kind)  # type: ignore[arg-type]
    values = {
        name: _read(field_type, stored[name])
        for name, field_type in types_of_fields.items()
        if name in stored
    }
    return kind(**values)


@cache  # a study reads the same few classes again and again
def _field_types(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _read(kind: Any, stored: Any) -> Any:
    if stored is None:
        return None
    origin = get_origin(kind)
    parts = get_args(kind)
    if origin in (Union, types.UnionType):
        # of a type and None: what None is has been read above
        [kind] = [part for part in parts if part is not type(None)]
        return _read(kind, stored)
    if origin is tuple and parts[-1] is Ellipsis:
        if parts[0] in _PLAIN:
            return tuple(stored)
        return tuple(_read(parts[0], item) for item in stored)
    if origin is tuple:
        return tuple(
            _read(part, item) for part, item in zip(parts, stored, strict=True)
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {name: _read(parts[1], item) for name, item in stored.items()}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return [_read(parts[0], item) for item in stored]
    if kind is np.ndarray:
        return np.array(stored)
    if is_dataclass(kind):
        return read_record(kind, stored)  # type: ignore[arg-type]
    return stored

"""Lyceum: all of classical machine learning as one system.

The families are packages (`lyceum.bayes`, `lyceum.linear`, ...); the top level has `scan`, `save` and `load`.
Everything is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lyceum.data import scan
    from lyceum.persist import load, save

__version__ = "0.1.0"

__all__ = ["__version__", "load", "save", "scan"]

_HOMES = {"scan": "lyceum.data", "save": "lyceum.persist", "load": "lyceum.persist"}
_ROOMS = ("bayes", "catalog", "cluster", "data", "datasets", "errors", "linear", "persist", "prepare", "reduce",
          "solvers", "statistics")  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"lyceum.{name}")
    raise AttributeError(f"module 'lyceum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})

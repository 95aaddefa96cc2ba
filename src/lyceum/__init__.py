"""Lyceum: all of classical machine learning as one system.

The families are packages (`lyceum.bayes`, `lyceum.linear`, ...); the top level has `scan`, `save`, `load` and
`study`. Everything is imported when it is first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lyceum.data import scan
    from lyceum.persist import load, save
    from lyceum.study import study

__version__ = "0.1.0"

__all__ = ["__version__", "load", "save", "scan", "study"]

_HOMES = {"scan": "lyceum.data", "save": "lyceum.persist", "load": "lyceum.persist"}
_ROOMS = ("bayes", "catalog", "cluster", "data", "datasets", "decision", "density", "ensemble", "errors",
          "evaluate", "linear", "neural", "persist", "plot", "prepare", "probability", "reduce", "solvers",
          "statistics", "trees")  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"lyceum.{name}")
    raise AttributeError(f"module 'lyceum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})


class _Lyceum(ModuleType):
    """This module, in which `study` is the function of that name and not the package that it is in.

    The import system binds a package to its parent as soon as it is imported; here it finds a property in
    that place. The package is reached by `from lyceum.study import ...`, which does not ask the parent.
    """

    @property
    def study(self) -> Any:
        return importlib.import_module("lyceum.study").study

    @study.setter
    def study(self, package: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Lyceum

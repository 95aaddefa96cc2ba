"""Lyceum: all of classical machine learning as one system.

The families are packages (`lyceum.bayes`, `lyceum.linear`, ...); the top level has `scan`, `save`,
`load`, `decide` and `study`. Everything is imported when it is first used.
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lyceum.base import decide
    from lyceum.data import scan
    from lyceum.dropin import patch_sklearn, unpatch_sklearn
    from lyceum.persist import load, save
    from lyceum.studies import study

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "decide",
    "load",
    "patch_sklearn",
    "save",
    "scan",
    "study",
    "unpatch_sklearn",
]

# names of the top level, imported from their rooms when they are first used
_HOMES = {
    "decide": "lyceum.base",
    "load": "lyceum.persist",
    "patch_sklearn": "lyceum.dropin",
    "save": "lyceum.persist",
    "scan": "lyceum.data",
    "study": "lyceum.studies",
    "unpatch_sklearn": "lyceum.dropin",
}
_ROOMS = (
    "anomaly",
    "base",
    "bayes",
    "bayesnets",
    "catalog",
    "cli",
    "cluster",
    "data",
    "datasets",
    "decision",
    "decomposition",
    "density",
    "distances",
    "dropin",
    "ensemble",
    "errors",
    "evaluate",
    "exercises",
    "export",
    "kernels",
    "linear",
    "mixtures",
    "neighbors",
    "neural",
    "persist",
    "plot",
    "prepare",
    "probability",
    "progress",
    "reinforcement",
    "report",
    "semi_supervised",
    "serve",
    "solvers",
    "statistics",
    "studies",
    "syllabus",
    "theatre",
    "transfer",
    "trees",
    "web",
    "workbench",
    "workflows",
)


def _warn_of_namesake(folder: str) -> None:
    """Warn if another project's distribution "lyceum" is installed in the folder that this package
    is in."""
    try:
        names = os.listdir(folder)
    except OSError:  # a folder that may be searched, but not listed
        return
    if any(
        name.startswith("lyceum-") and name.endswith(".dist-info") for name in names
    ):
        from lyceum._core.packages import NAMESAKE

        warnings.warn(NAMESAKE, stacklevel=3)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"lyceum.{name}")
    raise AttributeError(f"module 'lyceum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})


_warn_of_namesake(os.path.dirname(os.path.dirname(__file__)))
if os.environ.get("LYCEUM_DROPIN", "0") not in ("", "0"):
    importlib.import_module("lyceum.dropin.environment").switch_with_sklearn()

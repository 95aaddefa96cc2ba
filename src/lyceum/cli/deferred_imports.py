"""Modules that are imported when something in them is first used, for a quick start of commands.

scikit-learn imports pandas and scipy.stats whenever it is imported, which takes longer than all of
the rest; most commands use neither. Only the command `lyceum` does this, whose process is its own:
a library must not put stand-ins between other packages.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_lock = threading.RLock()


class DeferredModule(ModuleType):
    """Stands for a module until an attribute is asked for, and hands on what that one has."""

    def __getattr__(self, name: str) -> Any:
        # Python itself asks for other names of this form, of every module there is
        if name.startswith("__") and name not in ("__path__", "__version__"):
            raise AttributeError(name)
        own = self.__name__
        with _lock:
            if sys.modules.get(own) is self:
                del sys.modules[own]
            return getattr(import_module(own), name)


def defer_imports() -> None:
    """Put off the import of pandas and scipy.stats, unless they are there already."""
    for name in ("pandas", "scipy.stats"):
        package = name.partition(".")[0]
        if name not in sys.modules and find_spec(package) is not None:
            sys.modules[name] = DeferredModule(name)

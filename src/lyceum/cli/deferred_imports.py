"""Modules that are imported when something in them is first used, for a quick start of commands.

scikit-learn imports pandas and scipy.stats whenever it is imported, which takes longer than all of
the rest; most commands use neither. Its packages of preparations import all of their modules, and
with them its metrics and SciPy's splines, where one of them is needed. Only the command `lyceum`
does this, whose process is its own: a library must not put stand-ins between other packages.
"""

from __future__ import annotations

import re
import sys
import threading
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_lock = threading.RLock()
_IMPORT = re.compile(r"^from (\S+) import (\([^)]*\)|[^(\n]*)", re.M)


class DeferredModule(ModuleType):
    """Stands for a module until an attribute is asked for, and hands on what that one has."""

    def __getattr__(self, name: str) -> Any:
        # Python itself asks for other names of this form, of every module there is
        if name.startswith("__") and name not in ("__all__", "__path__", "__version__"):
            raise AttributeError(name)
        own = self.__name__
        with _lock:
            if sys.modules.get(own) is self:
                del sys.modules[own]
            return getattr(import_module(own), name)


class DeferredPackage(DeferredModule):
    """Stands for a package; a name that it has from one of its own modules takes only that one."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        # that of its parent is found without importing that
        parent, _, own = name.partition(".")
        spec = find_spec(parent)
        assert spec is not None
        folders = spec.submodule_search_locations or []
        self.__path__ = [str(Path(folder) / own) for folder in folders]

    @cached_property
    def _homes(self) -> dict[str, str]:
        """The module of every name that the package imports from one of its own."""
        homes: dict[str, str] = {}
        for folder in self.__path__:
            file = Path(folder) / "__init__.py"
            text = file.read_text(encoding="utf-8") if file.is_file() else ""
            for module, names in _IMPORT.findall(text):
                if module.startswith(f"{self.__name__}."):
                    homes |= dict.fromkeys(re.findall(r"\w+", names), module)
        return homes

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self and name in self._homes:
            return getattr(import_module(self._homes[name]), name)
        return super().__getattr__(name)


def defer_imports() -> None:
    """Put off the import of packages that take long, unless they are there already."""
    deferred: dict[str, type[DeferredModule]] = {
        "pandas": DeferredModule,
        "scipy.optimize": DeferredModule,
        "scipy.stats": DeferredModule,
        "sklearn.impute": DeferredPackage,
        "sklearn.preprocessing": DeferredPackage,
    }
    for name, stand_in in deferred.items():
        if name not in sys.modules and _is_installed(name.partition(".")[0]):
            sys.modules[name] = stand_in(name)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:  # a finder may say so by itself
        return False

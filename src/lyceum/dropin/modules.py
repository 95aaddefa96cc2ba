"""scikit-learn's modules while the switch is on: who asks from outside gets Lyceum's learners.

A module is an object, and its class may be set: the code of the module itself reads its names from
its dictionary, where scikit-learn's classes stay, and all others ask the object. So nothing has to
be imported in advance, and what scikit-learn's own code makes of its classes remains as it was.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Set as AbstractSet
from types import ModuleType
from typing import Any

# who gets scikit-learn's own class: itself, our learners that inherit from one, and Python when it
# looks whether a name is there
_INSIDE = ("sklearn.", "lyceum.", "importlib.")

_names: AbstractSet[str] = frozenset()  # what is replaced


class SwitchedModule(ModuleType):
    """A module of scikit-learn that gives our class where one of the same name is asked for."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name not in _names or not isinstance(value, type):
            return value
        if _is_inside(sys._getframe(1).f_globals):
            return value
        # imported here: this module is imported before scikit-learn is
        from lyceum.dropin.stand_ins import stand_in

        is_theirs = value.__module__.startswith("sklearn.") and hasattr(value, "fit")
        return stand_in(name) if is_theirs else value


def _is_inside(names: dict[str, Any]) -> bool:
    """Whether these are the global names of such a module, and no copy of them: an example in a
    docstring is run with a copy, as code from outside."""
    asking = names.get("__name__") or ""
    if not asking.startswith(_INSIDE) or ".tests." in asking:
        return False
    module = sys.modules.get(asking)
    return module is None or module.__dict__ is names


class _Finder:
    """Finds scikit-learn's modules where they are, and switches each when it has been loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith("sklearn."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or not isinstance(
            spec.loader, importlib.machinery.SourceFileLoader
        ):
            return spec
        load = spec.loader.exec_module

        def load_and_switch(module: ModuleType) -> None:
            load(module)
            if self in sys.meta_path:
                _switch_one(module)

        spec.loader.exec_module = load_and_switch  # type: ignore[method-assign]
        return spec


_finder = _Finder()


def switch(names: AbstractSet[str]) -> None:
    """Let scikit-learn's modules, those of now and those to come, give our classes of these
    names."""
    global _names
    _names = names
    sys.meta_path.insert(0, _finder)
    for name, module in list(sys.modules.items()):
        if name.startswith("sklearn."):
            _switch_one(module)


def switch_back() -> None:
    """Let the modules be as they were."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    switched = [m for m in sys.modules.values() if type(m) is SwitchedModule]
    for module in switched:
        object.__setattr__(module, "__class__", ModuleType)


def _switch_one(module: Any) -> None:
    if type(module) is ModuleType:
        module.__class__ = SwitchedModule

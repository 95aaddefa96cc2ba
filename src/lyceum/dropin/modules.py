"""scikit-learn's modules while the switch is on: who asks from outside gets Lyceum's learners.

A module is an object, and its class may be set: the code of the module itself reads its names from
its dictionary, where scikit-learn's classes stay, and all others ask the object. So nothing has to
be imported in advance, and what scikit-learn's own code makes of its classes remains as it was.
"""

from __future__ import annotations

import copyreg
import importlib
import importlib.machinery
import sys
from collections.abc import Callable, Set as AbstractSet
from functools import cache
from types import ModuleType
from typing import Any

from lyceum._core.first_use import without_collection
from lyceum.dropin import deferred
from lyceum.dropin.names import their_class

# who gets scikit-learn's own class: itself, our learners that inherit from one, and Python when it
# looks whether a name is there
_INSIDE = ("sklearn.", "lyceum.", "importlib.")

_TREES = "sklearn.tree._tree"  # compiled; its `Tree` is what `tree_` is there

_names: AbstractSet[str] = frozenset()  # what is replaced
_pickled: set[type] = set()  # scikit-learn's classes that `copyreg` knows by us


class SwitchedModule(ModuleType):
    """A module of scikit-learn that gives our class where one of the same name is asked for."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name == "Tree" and super().__getattribute__("__name__") == _TREES:
            return value if _is_inside(sys._getframe(1).f_globals) else _tree(value)
        if name not in _names or not isinstance(value, type):
            return value
        if _is_inside(sys._getframe(1).f_globals):
            return value
        # imported here: this module is imported before scikit-learn is
        from lyceum.dropin.stand_ins import stand_in

        return stand_in(name) if _is_replaced(value) else value


def _is_replaced(value: Any) -> bool:
    """Whether a value of a shared name is scikit-learn's learner."""
    is_class = isinstance(value, type) and value.__module__.startswith("sklearn.")
    return is_class and hasattr(value, "fit")


class _TreeType(type):
    """The type of a class of scikit-learn's nodes, of which ours count as instances: packages that
    read trees ask for it (SHAP)."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if isinstance(instance, cls.__bases__):
            return True
        from lyceum._core.trees import Tree  # not before a tree is asked for

        return isinstance(instance, Tree)


@cache
def _tree(theirs: type) -> type:
    return _TreeType("Tree", (theirs,), {"__module__": _TREES})


def _tree_parts(tree: Any) -> tuple[Any, ...]:
    """How scikit-learn's nodes are pickled while another class has their name."""
    _, arguments, state = tree.__reduce__()
    return _their_tree, arguments, state


def _their_tree(*arguments: Any) -> Any:
    return vars(importlib.import_module(_TREES))["Tree"](*arguments)


def pickle_as_theirs(theirs: type) -> None:
    """Let objects of scikit-learn's class be pickled by a name that is not switched."""
    _pickle(theirs, _their_parts)


def _pickle(theirs: type, parts: Callable[[Any], tuple[Any, ...]]) -> None:
    copyreg.pickle(theirs, parts)
    _pickled.add(theirs)


def _their_parts(model: Any) -> tuple[Any, ...]:
    return _their_object, (type(model).__name__,), model.__getstate__()


def _their_object(name: str) -> Any:
    theirs = their_class(name)
    return theirs.__new__(theirs)


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
        if spec is None or spec.loader is None:
            return spec
        is_source = isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        if not is_source and name != _TREES:
            return spec
        load = spec.loader.exec_module

        def load_and_switch(module: ModuleType) -> None:
            with without_collection():
                deferred.load(module, load)
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
    while _pickled:
        copyreg.dispatch_table.pop(_pickled.pop(), None)


def _switch_one(module: Any) -> None:
    if type(module) is ModuleType:
        if module.__name__ == _TREES:
            _pickle(module.Tree, _tree_parts)
        for name in _names & vars(module).keys():
            value = getattr(module, name)
            if _is_replaced(value):
                # scikit-learn's own code goes on making them
                pickle_as_theirs(value)
        module.__class__ = SwitchedModule

"""Put Lyceum's learners in the place of scikit-learn's classes of the same name, and back."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from lyceum.dropin import calls, modules, stand_ins
from lyceum.dropin.differences import KEPT
from lyceum.dropin.names import our_class, our_names, their_class

# (module, name, scikit-learn's class) of everything that was replaced
_replaced: list[tuple[ModuleType, str, Any]] = []


@cache
def shared_classes() -> dict[str, tuple[type, type]]:
    """The learners that Lyceum and scikit-learn both have: name to (ours, theirs).

    See Also
    --------
    patch_sklearn : Puts ours in the place of theirs.

    Examples
    --------
    >>> from lyceum.dropin import shared_classes
    >>> ours, theirs = shared_classes()["Ridge"]
    >>> ours.__module__.partition(".")[0], theirs.__module__.partition(".")[0]
    ('lyceum', 'sklearn')
    """
    return {
        name: (our_class(name), theirs)
        for name, theirs in _public_estimators().items()
        if name in our_names()
    }


def patch_sklearn(fallback: bool = True) -> None:
    """Let imports from scikit-learn give Lyceum's learners, where it has the class.

    Modules of scikit-learn give Lyceum's class to whoever asks them from outside; scikit-learn's
    own code goes on with its own classes, and so does code that imported a class before: call this
    first. Nothing is imported before it is asked for. What inherits from a replaced class inherits
    from scikit-learn's, whose private parts a subclass may use. Classes whose defaults mean
    something else in Lyceum stay scikit-learn's: `lyceum.dropin.differences.KEPT` says which and
    why.

    Parameters
    ----------
    fallback : bool, default=True
        Where Lyceum's learner refuses a parameter, its value or an input, scikit-learn's learns
        instead: the object becomes one of scikit-learn's class, and `report()` says why. If it
        refuses too, the error is scikit-learn's. Without, the error is Lyceum's, and all classes
        are replaced: for tests of Lyceum itself.

    See Also
    --------
    unpatch_sklearn : Undoes it.
    report : What learned since.

    Examples
    --------
    >>> import lyceum
    >>> lyceum.patch_sklearn()
    >>> from sklearn.linear_model import Ridge
    >>> isinstance(Ridge(), lyceum.linear.Ridge)
    True
    >>> lyceum.unpatch_sklearn()
    """
    unpatch_sklearn()
    stand_ins.set_fallback(fallback)
    calls.forget()
    if fallback:
        modules.switch(our_names() - KEPT.keys())
        return
    for name, (_, theirs) in shared_classes().items():
        for module in _homes(name, theirs):
            _replaced.append((module, name, theirs))
            setattr(module, name, stand_ins.stand_in(name))


def unpatch_sklearn() -> None:
    """Put scikit-learn's own classes back; what was made meanwhile goes on working.

    See Also
    --------
    patch_sklearn : The switch.

    Examples
    --------
    >>> import lyceum
    >>> lyceum.patch_sklearn()
    >>> lyceum.unpatch_sklearn()
    >>> from sklearn.linear_model import Ridge
    >>> Ridge.__module__
    'sklearn.linear_model._ridge'
    """
    modules.switch_back()
    while _replaced:
        module, name, theirs = _replaced.pop()
        setattr(module, name, theirs)


def names_of_theirs(space: Mapping[str, Any]) -> list[str]:
    """The names in a space that stand for scikit-learn's classes, where the switch has ours."""
    replaced = our_names() - KEPT.keys()
    return sorted(
        name
        for name, value in space.items()
        if isinstance(value, type)
        and value.__name__ in replaced
        and value is their_class(value.__name__)
    )


def _public_estimators() -> dict[str, type]:
    """The estimators of scikit-learn's public modules, all of which are imported."""
    # what starts with the switch on imports scikit-learn no earlier than the program does
    import sklearn
    from sklearn.base import BaseEstimator

    for name in sklearn.__all__:
        try:
            importlib.import_module(f"sklearn.{name}")
        except ImportError:  # a function, or a part that needs another package
            continue
    return {
        name: value
        for module in _public_modules()
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, BaseEstimator)
        and not name.startswith("_")
        and value.__module__.startswith("sklearn.")
    }


def _public_modules() -> list[ModuleType]:
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("sklearn.") and "._" not in name and ".tests" not in name
    ]


def _homes(name: str, theirs: type) -> list[ModuleType]:
    """The modules in which the name stands for scikit-learn's class: its own, and the public ones,
    where it finds its learners."""
    exporting = [
        module for module in _public_modules() if vars(module).get(name) is theirs
    ]
    own = sys.modules[theirs.__module__]
    return list({id(module): module for module in [own, *exporting]}.values())

"""The names that Lyceum and scikit-learn share, and where each has the class: nothing is imported
before it is asked for."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

# rooms with learners, and scikit-learn's modules with classes of the same names
_ROOMS: dict[str, tuple[str, ...]] = {
    "anomaly": ("ensemble", "neighbors", "svm", "covariance"),
    "bayes": ("naive_bayes", "discriminant_analysis"),
    "cluster": ("cluster",),
    "decision": ("calibration",),
    "decomposition": ("decomposition", "manifold", "feature_selection"),
    "density": ("neighbors",),
    "ensemble": ("ensemble", "multiclass", "multioutput"),
    "kernels": ("svm", "decomposition", "kernel_ridge", "kernel_approximation"),
    "linear": ("linear_model",),
    "mixtures": ("mixture",),
    "neighbors": ("neighbors",),
    "neural": ("neural_network",),
    "prepare": ("preprocessing", "impute", "compose"),
    "semi_supervised": ("semi_supervised",),
    "trees": ("tree",),
}


@cache
def _homes() -> dict[str, str]:
    """The room of every class that stands at a door: doors list names without importing them."""
    rooms = {room: importlib.import_module(f"lyceum.{room}") for room in _ROOMS}
    return {
        name: room
        for room, module in rooms.items()
        for name in module.__all__
        if name[0].isupper()
    }


def our_names() -> set[str]:
    """The names of Lyceum's classes, among them those that scikit-learn has too.

    >>> "Ridge" in our_names()
    True
    """
    return set(_homes())


def our_class(name: str) -> Any:
    """Lyceum's class of this name.

    >>> our_class("Ridge").__module__.partition(".")[0]
    'lyceum'
    """
    return getattr(importlib.import_module(f"lyceum.{_homes()[name]}"), name)


def their_class(name: str) -> Any:
    """scikit-learn's class of this name, or None: modules may be switched, so that their
    dictionaries are asked.

    >>> their_class("Ridge").__module__
    'sklearn.linear_model._ridge'
    """
    for module in _ROOMS[_homes()[name]]:
        values = vars(importlib.import_module(f"sklearn.{module}"))
        if name in values:
            return values[name]
    return None

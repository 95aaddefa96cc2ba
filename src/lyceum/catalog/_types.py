"""The classes that a model file may hold."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator

__all__ = ["types"]

# what model files hold beside learners; studies save their baselines
_OTHERS = (
    ("lyceum.probability", "LossMatrix"),
    ("lyceum.decision", "CalibratedClassifier"),
    ("lyceum.decision", "MinimumRiskClassifier"),
    ("lyceum.ensemble", "MultiLabel"),
    ("lyceum.studies", "MeanRegressor"),
    ("lyceum.studies", "PriorClassifier"),
)


def types(names: Iterable[str] | None = None) -> dict[str, type]:
    """The classes that a model file may hold, by public name: learners, and what `_parts` of these names.

    Parameters
    ----------
    names : iterable of str, optional
        Full names of classes in a file; only the learners among them are imported, with their parts. By
        default all are.

    Examples
    --------
    >>> sorted(types(["lyceum.linear.Ridge"]))[:2]
    ['lyceum.data.Column', 'lyceum.data.Schema']
    """
    wanted = None if names is None else {_room_and_name(name) for name in names}
    found: dict[str, type] = {}
    for package, name in _saved_classes():
        if wanted is None or (package, name) in wanted:
            kind = getattr(importlib.import_module(package), name)
            parts = kind._parts() if hasattr(kind, "_parts") else ()
            found |= {_public_name(part): part for part in (kind, *parts)}
    return found


def _saved_classes() -> Iterator[tuple[str, str]]:
    from lyceum import catalog

    yield from ((entry.package, entry.name) for entry in catalog.learners())
    yield from _OTHERS


def _room_and_name(full: str) -> tuple[str, str]:
    """The room and the class of a full name, public or not."""
    return ".".join(full.split(".")[:2]), full.rpartition(".")[2]


def _public_name(kind: type) -> str:
    """The name in the room's own module if it is exported there, which stays when files are renamed."""
    room = ".".join(kind.__module__.split(".")[:2])
    public = getattr(importlib.import_module(room), kind.__name__, None) is kind
    return f"{room if public else kind.__module__}.{kind.__name__}"

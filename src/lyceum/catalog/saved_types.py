"""The classes that a model file may hold."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable

# what model files hold beside learners; studies save their baselines
_OTHERS = (
    ("lyceum.bayesnets", "BayesNet"),
    ("lyceum.decision", "LossMatrix"),
    ("lyceum.decision", "CalibratedClassifierCV"),
    ("lyceum.decision", "MinimumRiskClassifier"),
    ("lyceum.ensemble", "MultiOutputClassifier"),
    ("lyceum.studies", "MeanRegressor"),
    ("lyceum.studies", "PriorClassifier"),
    ("lyceum.studies", "TargetStatistics"),
)


def types(names: Iterable[str] | None = None) -> dict[str, type]:
    """The classes that a model file may hold, by public name: learners, and what `_parts` of these
    names.

    Parameters
    ----------
    names : iterable of str, optional
        Full names of classes in a file; only the learners among them are imported, with their
        parts. By default all are.

    Examples
    --------
    >>> [name for name in sorted(types(["lyceum.linear.Ridge"])) if name.startswith("lyceum.data.")]
    ['lyceum.data.Column', 'lyceum.data.Schema']
    """
    from lyceum import catalog

    saved = [(entry.package, entry.name) for entry in catalog.learners()]
    saved += _OTHERS
    if names is not None:
        wanted = {(_room(name), name.rpartition(".")[2]) for name in names}
        # one that stands on the private floor may have its door in another room
        wanted_names = {name for _, name in wanted}
        wanted |= {other for other in _OTHERS if other[1] in wanted_names}
        saved = [learner for learner in saved if learner in wanted]
    classes: dict[str, type] = {}
    for package, name in saved:
        kind = getattr(importlib.import_module(package), name)
        # what a learner keeps of other classes, such as trees and schemas
        parts = kind._parts() if hasattr(kind, "_parts") else ()
        classes |= {_public_name(part): part for part in (kind, *parts)}
    return classes


def _room(full: str) -> str:
    """The public room of a module; what stands on the private floor has its door on the public
    one."""
    parts = [part for part in full.split(".") if part != "_core"]
    return ".".join(parts[:2])


def _public_name(kind: type) -> str:
    """The name at the door of its room, which stays when files are renamed."""
    room = _room(kind.__module__)
    # doors in the order of trust: named above, the public room, the private floor
    others = [package for package, name in _OTHERS if name == kind.__name__]
    for door in (*others, room, room.replace("lyceum.", "lyceum._core.")):
        if importlib.util.find_spec(door):
            module = importlib.import_module(door)
            if getattr(module, kind.__name__, None) is kind:
                return f"{door}.{kind.__name__}"
    return f"{kind.__module__}.{kind.__name__}"

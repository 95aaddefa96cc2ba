"""Preset: a tree learner some of whose parameters are fixed."""

from __future__ import annotations

from typing import Any, ClassVar


def _settings(of: Any) -> dict[str, Any]:
    """The parameters and their defaults."""
    return dict(of.__init__.__kwdefaults__)


class Preset:
    """A tree whose other parameters are fixed: they are attributes, not parameters."""

    _base_learner: ClassVar[Any]  # the learner with all parameters
    _fixed: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        names = _settings(cls)
        for name, value in (_settings(cls._base_learner) | cls._fixed).items():
            if name not in names and name != "min_weight_fraction_leaf":
                setattr(cls, name, value)
        known = cls._base_learner._parameter_constraints | cls.__dict__.get(
            "_parameter_constraints", {}
        )
        cls._parameter_constraints = {name: known[name] for name in names}  # type: ignore[attr-defined]

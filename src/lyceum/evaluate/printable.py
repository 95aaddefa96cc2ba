"""The bases of results: they print as text, show as tables in a notebook and become JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, ClassVar

from lyceum._core.text import plain
from lyceum.errors import undefined
from lyceum.report import Summary


class Printable:
    """A result that prints as its `summary()`; subclasses are dataclasses."""

    __slots__ = ()

    # properties that `as_dict` adds to the fields
    _derived: ClassVar[tuple[str, ...]] = ()

    def summary(self) -> Summary:
        """The result as a title, facts and tables."""
        raise undefined(self, "summary")

    def as_dict(self) -> dict[str, Any]:
        """All values by name, in JSON's own types: arrays are lists, NaN and infinity are None."""
        # fields first, in the order of the class, then what follows from them
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        names += self._derived
        return {name: plain(getattr(self, name)) for name in names}

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


class Unpackable(Printable):
    """A result that unpacks and indexes as the tuple that scikit-learn's function returns."""

    __slots__ = ()

    _unpacked: ClassVar[tuple[str, ...]]  # the fields, in scikit-learn's order

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self._unpacked)

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index]

    def __len__(self) -> int:
        return len(self._unpacked)

"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["import_on_first_use"]


def import_on_first_use(
    package: str, modules: Mapping[str, Sequence[str]], public: Sequence[str], before: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package that imports its modules one by one, as they are needed.

    Parameters
    ----------
    package : str
        Its `__name__`.
    modules : mapping of str to sequence of str
        The names that every module of it defines.
    public : sequence of str
        Its `__all__`.
    before : str, optional
        A module of many that is imported before any of the package. Deep inside other imports it would take
        0.1 s longer: beyond some depth Python 3.11 asks the system for memory at every call.

    Examples
    --------
    >>> find, listed = import_on_first_use("lyceum.apply", {"_fit": ("fit_file",)}, ["fit_file"])
    >>> find("fit_file").__module__, listed()
    ('lyceum.apply._fit', ['fit_file'])
    >>> find("nothing")
    Traceback (most recent call last):
    AttributeError: module 'lyceum.apply' has no attribute 'nothing'
    """
    homes = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name in homes:
            if before is not None:
                importlib.import_module(before)
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted(public)

"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["import_on_first_use"]


def import_on_first_use(
    package: str, modules: Mapping[str, Sequence[str]], public: Sequence[str]
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
            with _without_collections():
                return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted(public)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Pause the garbage collector: what a module defines stays, and looking through all of it takes 0.1 s."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()

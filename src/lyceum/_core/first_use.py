"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import gc
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\(.*?\)|[^(]*?)$", re.M | re.S)
_NAME = re.compile(r"(\w+) as \1\b")


def import_on_first_use(
    package: str, before: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package that imports its modules as they are
    needed.

    The names of the package stand in its stub, `__init__.pyi`, where type checkers read them too:
    `from lyceum.bayes.naive_bayes import NaiveBayes as NaiveBayes`.

    Parameters
    ----------
    package : str
        Its `__name__`.
    before : str, optional
        A module to import first, where imports are not yet deep.

    Examples
    --------
    >>> find, listed, public = import_on_first_use("lyceum.workflows")
    >>> find("fit_file").__module__, "fit_file" in listed(), "fit_file" in public
    ('lyceum.workflows.fit', True, True)
    >>> find("nothing")
    Traceback (most recent call last):
    AttributeError: module 'lyceum.workflows' has no attribute 'nothing'
    """
    # the module of every name that the stub of the package imports
    file = sys.modules[package].__file__
    assert file is not None
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {
        name: module
        for module, names in _IMPORT.findall(stub)
        for name in _NAME.findall(names)
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with without_collection():
            if before is not None:
                importlib.import_module(before)
            return getattr(importlib.import_module(homes[name]), name)

    # __all__ as a linter sorts it: constants, classes, functions, each by the alphabet
    def order(name: str) -> tuple[bool, bool, str]:
        return not name.isupper(), not name[0].isupper(), name

    return find, lambda: sorted(homes), sorted(homes, key=order)


@contextmanager
def without_collection() -> Iterator[None]:
    """Imports make objects that stay: the collector would look for garbage among all that
    scikit-learn and pandas have made, again and again, for a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

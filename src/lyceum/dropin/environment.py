"""`LYCEUM_DROPIN=1` in the environment: switch as soon as scikit-learn is imported.

It takes effect where `lyceum` is imported, before or after scikit-learn. A program that never
imports it runs by `python -m lyceum.dropin`, or with a file `lyceum.pth` that holds the line
`import lyceum` in the folder of installed packages: Python then imports it at every start, which
takes a few milliseconds.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from typing import Any


def switch_with_sklearn() -> None:
    """Switch now if scikit-learn is imported, or when it will be."""
    if "sklearn" in sys.modules:
        _patch()
    else:
        sys.meta_path.insert(0, _AfterImport())


def _patch() -> None:
    importlib.import_module("lyceum.dropin.switch").patch_sklearn()


class _AfterImport:
    """Finds scikit-learn where it is, and switches when it has been loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "sklearn":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_switch(module: Any) -> None:
            load(module)
            _patch()

        spec.loader.exec_module = load_and_switch  # type: ignore[method-assign]
        return spec

"""What scikit-learn imports and hardly uses, put off until it does.

pandas and scipy.stats take as long as all else that scikit-learn imports, and it calls a few of
their functions. Only its own modules hold what stands for them: a program that imports pandas has
pandas, and `sys.modules` has nothing that is not a module.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

# scikit-learn's modules that import pandas or scipy.stats when they are imported
_MODULES = {
    "sklearn._loss.link",
    "sklearn.covariance._robust_covariance",
    "sklearn.feature_selection._univariate_selection",
    "sklearn.impute._iterative",
    "sklearn.inspection._partial_dependence",
    "sklearn.inspection._plot.partial_dependence",
    "sklearn.isotonic",
    "sklearn.metrics._ranking",
    "sklearn.model_selection._search",
    "sklearn.preprocessing._data",
    "sklearn.utils.fixes",
}
# what they take from scipy.stats by name: functions, which they call
_FUNCTIONS = {
    "scipy.stats": {"chi2", "gmean", "rankdata", "spearmanr"},
    "scipy.stats.mstats": {"mquantiles"},
}


class Deferred:
    """Stands for a module or for something in it, which is imported when it is used."""

    def __init__(self, module: str, name: str = "") -> None:
        self._module = module
        self._name = name

    def _value(self) -> Any:
        module = importlib.import_module(self._module)
        if not self._name:
            return module
        return getattr(module, self._name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value(), name)

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self._value()(*values, **named)


def load(module: ModuleType, execute: Callable[[ModuleType], None]) -> None:
    """Load a module of scikit-learn; what it imports meanwhile may be put off."""
    if module.__name__ not in _MODULES:
        execute(module)
        return
    is_loading = True

    def import_module(
        name: str,
        names: Any = None,
        local_names: Any = None,
        wanted: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        # later, in its functions, it imports as others do
        stand_in = None
        if is_loading and not level:
            stand_in = _stand_in(name, wanted or ())
        if stand_in is not None:
            return stand_in
        return builtins.__import__(name, names, local_names, wanted or (), level)

    # Python takes `import` from here
    own_builtins = {**vars(builtins), "__import__": import_module}
    vars(module)["__builtins__"] = own_builtins
    try:
        execute(module)
    finally:
        is_loading = False


def _stand_in(name: str, wanted: Sequence[str]) -> Any:
    """What an import of scikit-learn's is given, or None if it is not put off."""
    if name == "pandas" and not wanted and _can_wait("pandas"):
        return Deferred("pandas")
    if not name.startswith("scipy") or not _can_wait("scipy.stats"):
        return None
    if name == "scipy.stats" and not wanted:
        return importlib.import_module("scipy")  # which imports it when it is asked for
    if name == "scipy" and "stats" in wanted:
        others = [f"scipy.{part}" for part in wanted if part != "stats"]
        parts = {other[6:]: importlib.import_module(other) for other in others}
        return SimpleNamespace(stats=Deferred("scipy.stats"), **parts)
    if wanted and set(wanted) <= _FUNCTIONS.get(name, set()):
        functions: dict[str, Any] = {part: Deferred(name, part) for part in wanted}
        if "rankdata" in functions:
            functions["rankdata"] = _ranks
        return SimpleNamespace(**functions)
    return None


def _ranks(values: Any, *arguments: Any, **options: Any) -> Any:
    """`scipy.stats.rankdata`; what every search asks it for takes no import."""
    numbers = np.asarray(values)
    is_plain = numbers.ndim == 1 and numbers.dtype == np.float64
    if not is_plain or arguments or options != {"method": "min"}:
        return Deferred("scipy.stats", "rankdata")(values, *arguments, **options)
    if np.isnan(numbers).any():
        return np.full(len(numbers), np.nan)
    return np.searchsorted(np.sort(numbers), numbers) + 1


def _can_wait(name: str) -> bool:
    """Whether a package is installed and nobody has imported it."""
    package = name.partition(".")[0]
    return name not in sys.modules and importlib.util.find_spec(package) is not None

"""Values to try a parameter with, and whether they change anything that a person could see."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter
from tests.checks.cases import SETTINGS
from tests.checks.docstrings import fitted_names, names_in, section
from tests.checks.fits import METHODS
from tests.checks.parameter_values import (
    AGAIN,
    FEW_LABELS,
    FINE,
    FIRST_TABLE,
    OF_DATES,
    OF_NUMBERS,
    QUICK,
    TOGETHER,
    VALUES,
)
from tests.checks.tables import data_for, mixed_for

from lyceum import catalog, datasets
from lyceum._core.constraints import Interval, InvalidParameterError, StrOptions
from lyceum.errors import LyceumError

__all__ = ["ignored", "parameters_of", "shown"]

N = 64
TABLES = ("numbers", "mixed", "crossed")


def parameters_of(name: str) -> list[str]:
    return [
        p
        for p in inspect.signature(catalog.find(name).load().__init__).parameters
        if p != "self"
    ]


def ignored(name: str, parameter: str, known: dict[Any, Any] | None = None) -> bool:
    """Whether no value of the parameter changes what the learner does, on any table, or is refused.

    What it does without is put into `known`, for the other parameters of the same learner.
    """
    seen = {} if known is None else known
    parameters, again = parameters_of(name), parameter in AGAIN
    tables = _tables(name, parameter)
    for together in _together(name, parameter, parameters):
        for table in tables:
            if (key := (table, again, repr(together))) not in seen:
                seen[key] = shown(name, table, again, together)
            before = seen[key]
            for value in values(name, parameter) if before is not None else ():
                after = shown(name, table, again, together | {parameter: value})
                if after is None or before != after:
                    return False
    return True


def _tables(name: str, parameter: str) -> tuple[str, ...]:
    """The tables to try, one on which the parameter is known to matter first."""
    if {parameter, f"{name}.{parameter}"} & set(FINE):
        return ("credit",)
    first = FIRST_TABLE.get(
        f"{name}.{parameter}", FIRST_TABLE.get(parameter, FIRST_TABLE.get(name))
    )
    return tuple(sorted(TABLES, key=lambda table: table != first))


def _together(
    name: str, parameter: str, parameters: list[str]
) -> Iterator[dict[str, Any]]:
    """What of the settings in `TOGETHER` the learner has, each once; at last nothing."""
    tried = set()
    for settings in TOGETHER.get(f"{name}.{parameter}", TOGETHER.get(parameter, ())):
        together = {
            key: value
            for key, value in settings.items()
            if key in parameters and key != parameter
        }
        if together and repr(together) not in tried:
            tried.add(repr(together))
            yield together
    yield {}


# -- values ----------------------------------------------------------------------------


def values(name: str, parameter: str) -> Iterator[Any]:
    """Values other than the default: from the tables, or by the types that the parameter takes."""
    found = VALUES.get(f"{name}.{parameter}", VALUES.get(parameter))
    if found is not None:
        yield from found
        return
    learner = catalog.find(name).load()
    default = _settings(name).get(
        parameter, inspect.signature(learner.__init__).parameters[parameter].default
    )
    for taken in learner._parameter_constraints[parameter]:
        for value in _of_type(taken, default):
            if value is not default and value != default:
                yield value


def _of_type(taken: Any, default: Any) -> Iterator[Any]:
    if taken == "boolean":
        yield from (True, False)
    elif isinstance(taken, StrOptions):
        yield from sorted(taken.options)
    elif taken is None:
        yield None
    elif isinstance(taken, Interval):
        number = default if isinstance(default, int | float) else 1.0
        near = (number / 2, number * 2)
        if taken.type is Integral:
            tried: Any = dict.fromkeys(map(round, (*near, 1.0, 2.0, 5.0)))
        else:
            tried = dict.fromkeys(
                map(float, (0.5, 0.1, *near, 0.9, 0.001, 2.0, 5.0, number * 1000))
            )
        yield from (value for value in tried if value in taken)


# -- what there is to see --------------------------------------------------------------


def _settings(name: str) -> dict[str, Any]:
    """Those of the laws, which make learners quick, but no given starts."""
    return {
        key: value
        for key, value in (SETTINGS.get(name, {}) | QUICK.get(name, {})).items()
        if not isinstance(value, np.ndarray) and (key, value) != ("tol", None)
    }


@cache
def _table(name: str, kind: str) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from, targets, weights, and rows to predict."""
    if kind == "credit":
        rows = datasets.load("german_credit")
        return rows, None, None, rows
    learner = catalog.find(name).load()(**_settings(name))
    data = data_for(learner, N, seed=4)
    X: Any = data.X
    y = (
        X @ [1.0, 2.0, 0.0, 0.5] + np.sin(9.0 * X[:, 0])
        if name in OF_NUMBERS
        else data.y
    )
    w = data.w
    if kind == "crossed":  # no column alone says anything of y
        X, w = (
            np.array(
                [[i >> j & 1 for j in range(4)] for i in range(N)], dtype=np.float64
            ),
            np.ones(N),
        )
        y = None if y is None else np.sort(y)[(X[:, 0] == X[:, 1]) * (N - 1)]
    new = X
    if kind == "mixed":
        X, other = mixed_for(learner, N)
        y = y if name in OF_NUMBERS else other
        if catalog.find(name).missing:
            X.loc[::7, "income"] = np.nan
            X.loc[::5, "town"] = None
        if name in OF_DATES:
            X["day"] = pd.date_range("2024-12-01", periods=N)
        if name == "TextVectorizer":
            X["note"] = [
                f"all of it is word{i % 3} and term{i % 9} here" for i in range(N)
            ]
        new = X.copy()
        new.loc[0, "town"] = "Rome"
    if name in FEW_LABELS:
        y = np.array(
            [label if i % 3 else None for i, label in enumerate(y)], dtype=object
        )
    return X, y, w, new


class Shown:
    """What a learner says and what it learned, by name; it is compared part by part, up to a
    difference."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self._parts = parts
        self._digests: dict[str, Any] = {}

    def _digest(self, name: str) -> Any:
        if name not in self._digests:
            self._digests[name] = _digest(self._parts[name])
        return self._digests[name]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Shown)
            and self._parts.keys() == other._parts.keys()
            and all(self._digest(name) == other._digest(name) for name in self._parts)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Shown({self._digests})"


def shown(name: str, kind: str, again: bool, settings: dict[str, Any]) -> Shown | None:
    """What the learner learned and says, by name; None if it refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _fit(name, kind, again, settings)
        except (LyceumError, InvalidParameterError):
            return None


def _fit(name: str, kind: str, again: bool, settings: dict[str, Any]) -> Shown:
    learner = catalog.find(name).load()()
    known = learner.get_params()
    learner.set_params(
        **({"random_state": 0} if "random_state" in known else {})
        | _settings(name)
        | settings
    )
    X, y, w, new = _table(name, kind)
    arguments = {} if y is None else {"y": y}
    if w is not None and has_fit_parameter(learner, "sample_weight"):
        arguments["sample_weight"] = w
    if again:
        learner.fit(
            X[: N // 2], **{key: value[: N // 2] for key, value in arguments.items()}
        )
        for rounds in ("n_estimators", "max_iter"):
            if rounds in known:
                learner.set_params(**{rounds: learner.get_params()[rounds] + 2})
                break
    learner.fit(X, **arguments)
    undescribed = fitted_names(learner) - _described(type(learner))
    assert not undescribed, (
        f"{learner} has attributes that its docstring does not describe: {undescribed}"
    )
    said = {
        method: getattr(learner, method)(new)
        for method in METHODS
        if hasattr(learner, method)
    }
    learned = {
        key: value
        for key, value in vars(learner).items()
        if key.endswith("_") and key[0] != "_"
    }
    return Shown(said | learned)


@cache
def _described(kind: type) -> set[str]:
    """The attributes that the docstring lists; a subclass made by a test has that of its parent."""
    return names_in(section(kind if kind.__doc__ else kind.__base__, "Attributes"))


def _digest(value: Any, depth: int = 0) -> Any:
    """A value in a form that compares: numbers to nine digits, objects by what they hold."""
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("list")
    elif sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, float | np.floating):
        return f"{value:.9g}"
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        digits = 9 - np.ceil(
            np.log10(np.max(np.abs(value[np.isfinite(value)]), initial=1e-300))
        )
        return value.shape, (np.round(value, int(min(digits, 300))) + 0.0).tobytes()
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.shape, value.tobytes()
    if isinstance(value, dict):
        return {str(key): _digest(each, depth) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_digest(each, depth) for each in value]
    if value is None or isinstance(value, int | str | bytes | np.generic):
        return str(value)
    if depth == 4:
        return type(value).__name__
    slots = {
        name: getattr(value, name, None)
        for name in getattr(type(value), "__slots__", ())
    }
    held = {**slots, **getattr(value, "__dict__", {})}
    return type(value).__name__, {
        key: _digest(each, depth + 1)
        for key, each in held.items()
        if key[0] != "_" and key != "seed_"
    }

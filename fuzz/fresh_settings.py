"""Attacks on learners, the fifth set: every parameter at its limits, several at once, with odd
targets, weights and cells. Answers are finite, the same for a row alone as among others and after
saving and loading, or an error says why there are none."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from tests.checks.extremes import METHODS, _call, _unsound
from tests.checks.parameter_values import VALUES
from tests.checks.tables import data_for, mixed_for

from fuzz import Finding
from fuzz.fresh_learners import make
from lyceum import persist
from lyceum._core.constraints import Interval, StrOptions

__all__ = ["case", "make"]

# numbers that ask for as much work as they say
WORK = ("n_jobs", "verbose", "cache", "max_iter", "random_state", "depth", "branching")
REALS = (0.0, 5e-324, 1e-300, 1e-9, 0.1, 0.5, 0.999, 1.0, 1.5, 3.0, 1e9, 1e150, 1e300)
# scikit-learn's words for what it refuses, which its tests ask for
REFUSALS = (
    "InvalidParameterError",
    "NotFittedError",
    "y should be a 1d array, got an array of shape (",
    "Sparse data was passed for X",
)
WHOLE = (0, 1, 2, 3, 5, 8, 29, 30, 31)


def case(
    learners: list[tuple[str, Any]], rng: np.random.Generator
) -> Counter[str] | str:
    """A learner with up to four drawn settings, fitted and asked."""
    name, learner = learners[rng.integers(len(learners))]
    learner = clone(learner)
    settings = draw_settings(name, learner, rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            learner.set_params(**settings)
        except (ValueError, TypeError):
            return "setting refused"
        X, y, named, how = draw_rows(learner, rng)
        model, broken = _call("fit", learner.fit, X, *y, **named)
        where = f"{name}({settings}) on {how}"
        broken = _not_of_settings(broken)
        if broken:
            raise Finding(f"{where}: {'; '.join(broken)}")
        if model is None:
            return "fit refused"
        return _ask(where, model, X)


def _not_of_settings(broken: list[str]) -> list[str]:
    """What is broken beside what scikit-learn's own checks refuse, in its words."""
    return [line for line in broken if not any(word in line for word in REFUSALS)]


# -- drawing ---------------------------------------------------------------------------


def draw_settings(name: str, learner: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Values for one to four parameters of a learner, most of them as declared."""
    known = [p for p in learner.get_params(deep=False) if p not in WORK]
    if not known:
        return {}
    count = min(len(known), int(rng.integers(1, 5)))
    chosen = rng.choice(known, count, replace=False)
    return {str(p): _value(name, learner, str(p), rng) for p in chosen}


def _value(name: str, learner: Any, parameter: str, rng: np.random.Generator) -> Any:
    known = VALUES.get(f"{name}.{parameter}", VALUES.get(parameter))
    if known and rng.random() < 0.3:
        return list(known)[rng.integers(len(list(known)))]
    allowed = type(learner)._parameter_constraints.get(parameter, [None])
    if not isinstance(allowed, list):
        allowed = [None]
    taken = allowed[rng.integers(len(allowed))]
    if taken == "boolean":
        return bool(rng.integers(2))
    if isinstance(taken, StrOptions):
        options = sorted(taken.options)
        return options[rng.integers(len(options))]
    if isinstance(taken, Interval):
        return _number(taken, rng)
    if taken is None:
        return None
    return inspect.signature(type(learner).__init__).parameters[parameter].default


def _number(interval: Interval, rng: np.random.Generator) -> Any:
    """A number of the interval: an end of it, or one of the list."""
    if interval.type is Integral:
        numbers: list[Any] = [n for n in WHOLE if n in interval]
        if interval.left is not None and abs(interval.left) < 100:
            numbers.append(
                int(interval.left) + (interval.closed in ("right", "neither"))
            )
    else:
        ends = [end for end in (interval.left, interval.right) if end is not None]
        inner = [float(np.nextafter(end, 0.5)) for end in ends if np.isfinite(end)]
        near = [*map(float, ends), *inner, *REALS]
        numbers = [n for n in near if n in interval and np.isfinite(n)]
    return numbers[rng.integers(len(numbers))] if numbers else None


def draw_rows(learner: Any, rng: np.random.Generator) -> tuple[Any, Any, Any, str]:
    """Rows, targets, weights, and what they are."""
    n = int(rng.choice([2, 5, 30, 30, 30]))
    data = data_for(learner, n, int(rng.integers(1000)))
    X: Any = data.X
    y: Any = data.y
    form = str(
        rng.choice(["plain", "plain", "table", "sparse", "float32", "ties", "far"])
    )
    if form == "table":
        X, y = mixed_for(learner, n)
    elif form == "sparse":
        X = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    elif form == "float32":
        X = X.astype(np.float32)
    elif form == "ties":
        X = np.round(X)
    elif form == "far":
        X = X * 10.0 ** rng.integers(-160, 160)
    target = "y"
    if y is not None:
        y, target = _target(np.asarray(y), rng)
    named = {}
    if has_fit_parameter(learner, "sample_weight") and rng.random() < 0.5:
        named["sample_weight"] = _weights(n, rng)
    how = f"{n} rows, {form}, {target}, {'weights' if named else 'no weights'}"
    return X, () if y is None else (y,), named, how


def _target(y: np.ndarray, rng: np.random.Generator) -> tuple[Any, str]:
    n = len(y)
    kind = rng.integers(8)
    if kind == 0:
        return np.column_stack([y, y[::-1]]), "two columns"
    if kind == 1:
        return y.reshape(-1, 1), "one column"
    if kind == 2:
        return sparse.csr_array(rng.integers(0, 2, (n, 3))), "sparse indicators"
    if kind == 3 and y.dtype.kind == "f":
        return y * 10.0 ** rng.integers(-300, 300), "a far target"
    if kind == 4:
        return np.full(n, y[0]), "one value"
    if kind == 5:
        return pd.Series(y, index=np.arange(n)[::-1], name="y"), "a series"
    return y, "y"


def _weights(n: int, rng: np.random.Generator) -> np.ndarray:
    w = rng.choice([0.0, 5e-324, 1e-300, 0.5, 1.0, 2.0, 1e9], n)
    w[rng.integers(n)] = 1.0
    return w


# -- asking ----------------------------------------------------------------------------


def _ask(where: str, model: Any, X: Any) -> Counter[str]:
    """Finite answers, the same of rows alone and of a model that was saved and loaded."""
    counts = Counter[str]()
    again = _loaded(where, model)
    for method, infinite in METHODS.items():
        if method == "explain" or not hasattr(model, method):
            continue
        if method == "decision_function" and model._scores_are_logs:
            infinite = True
        answer, broken = _call(method, getattr(model, method), X)
        if isinstance(answer, list):  # of several targets
            counts["several"] += 1
            continue
        if answer is not None:
            broken += _unsound(method, answer, infinite)
            broken += _by_rows(method, model, X, answer)
            if again is not None:
                other, more = _call(method, getattr(again, method), X)
                broken += more + _differences(f"{method}, loaded", answer, other, 0.0)
        if broken:
            raise Finding(f"{where}: {'; '.join(broken)}")
        counts["refused" if answer is None else "answered"] += 1
    return counts


def _loaded(where: str, model: Any) -> Any:
    """The model, saved and loaded; None where it cannot be saved."""
    file, broken = _call("save", persist._pack, model)
    if file is None and not broken:
        return None
    if not broken:
        again, broken = _call("load", persist._build, persist._members(file))
        if again is None and not broken:
            broken = ["load: what was saved is refused"]
    if broken:
        raise Finding(f"{where}: {'; '.join(broken)}")
    return again


def _by_rows(method: str, model: Any, X: Any, answer: Any) -> list[str]:
    """The last rows alone get the answers that they got among the others."""
    few = X[-2:] if not isinstance(X, pd.DataFrame) else X.iloc[-2:]
    alone, broken = _call(method, getattr(model, method), few)
    return broken + _differences(f"{method} of two rows", answer, alone, 1e-6)


def _differences(what: str, one: Any, two: Any, tolerance: float) -> list[str]:
    if two is None:
        return [f"{what}: refused"]
    a, b = _array(one), _array(two)
    a = a[-len(b) :]
    if a.shape != b.shape:
        return [f"{what}: {a.shape} and {b.shape}"]
    if a.dtype.kind != "f":
        return [] if (a.astype(str) == b.astype(str)).all() else [f"{what}: {a}, {b}"]
    size = np.abs(a[np.isfinite(a)]).max(initial=1e-300)
    close = np.isclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True)
    return [] if close.all() else [f"{what}: {a[~close][:3]}, {b[~close][:3]}"]


def _array(answer: Any) -> np.ndarray:
    return answer.toarray() if sparse.issparse(answer) else np.asarray(answer)

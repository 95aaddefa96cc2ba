"""Extreme numbers put to every learner: scales, weights, ranks and shapes, and rows to ask about.

An answer to finite cells is finite, or a Lyceum error says why there is none. Only logarithms may
be infinite: of densities and posteriors of zero, and of densities where rows lie on each other.
"""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter
from tests.checks.tables import Data, data_for

from lyceum.errors import LyceumError

__all__ = ["EXTREMES", "Extreme", "examine"]

# methods, and whether an infinite number is an answer
METHODS = {
    "predict": False,
    "predict_proba": False,
    "predict_log_proba": True,
    "decision_function": False,
    "transform": False,
    "score_samples": True,
    "explain": False,
}
N_ROWS = 30
N_ASKED = 7

Change = Callable[[Data, np.random.Generator], tuple[Data, np.ndarray]]


@dataclass(frozen=True)
class Extreme:
    """A change of ordinary rows: what is fitted, and what is asked afterwards."""

    name: str
    change: Change


def _scaled(scale: float) -> Change:
    return lambda data, rng: (
        Data(data.X * scale, data.y, np.ones(len(data.X))),
        data.X[:N_ASKED] * scale,
    )


def _asked(scale: float) -> Change:
    """Ordinary rows to fit, rows far away to ask about."""
    return lambda data, rng: (
        Data(data.X, data.y, np.ones(len(data.X))),
        np.sign(data.X[:N_ASKED]) * scale,
    )


def _cell(value: float) -> Change:
    """One cell of the last row is another."""

    def change(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
        X = data.X.copy()
        X[-1, -1] = value
        return Data(X, data.y, np.ones(len(X))), X[-N_ASKED:]

    return change


def _both_ends(value: float) -> Change:
    """A column has both signs of a value, whose difference may overflow."""

    def change(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
        X = data.X.copy()
        X[::2, 0] = value
        X[1::2, 0] = -value if (data.X < 0).any() else 0.0
        return Data(X, data.y, np.ones(len(X))), X[:N_ASKED]

    return change


def _moved(offset: float) -> Change:
    return lambda data, rng: (
        Data(data.X + offset, data.y, np.ones(len(data.X))),
        data.X[:N_ASKED] + offset,
    )


def _weighted(weights: Callable[[int], np.ndarray]) -> Change:
    return lambda data, rng: (
        Data(data.X, data.y, weights(len(data.X))),
        data.X[:N_ASKED],
    )


def _columns(of: Callable[[np.ndarray], np.ndarray]) -> Change:
    def change(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
        X = of(data.X)
        return Data(X, data.y, np.ones(len(X))), X[:N_ASKED]

    return change


def _rows(take: Any) -> Change:
    def change(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
        few = data.take(take)
        return Data(few.X, few.y, np.ones(len(few.X))), data.X[:N_ASKED]

    return change


def _target(of: Callable[[np.ndarray], np.ndarray]) -> Change:
    """Another target for a regressor; other learners see ordinary rows."""

    def change(data: Data, rng: np.random.Generator) -> tuple[Data, np.ndarray]:
        y = data.y
        if y is not None and y.dtype.kind == "f":
            y = of(y)
        return Data(data.X, y, np.ones(len(data.X))), data.X[:N_ASKED]

    return change


def _first_only(value: float, others: float) -> Callable[[int], np.ndarray]:
    def weights(n: int) -> np.ndarray:
        w = np.full(n, others)
        w[0] = value
        return w

    return weights


def _mixed_scales(X: np.ndarray) -> np.ndarray:
    return X * np.array([1e-150, 1.0, 1e150, 1e-300])


def _extremes() -> Iterator[Extreme]:
    scales = (5e-324, 1e-310, 1e-200, 1e-160, 1e-100, 1e100, 1e150, 1e154, 1e200, 1e300)
    for scale in scales:
        yield Extreme(f"cells times {scale:g}", _scaled(scale))
    for scale in (1e100, 1e155, 1e200, 1e300, 1.7e308):
        yield Extreme(f"asked at {scale:g}", _asked(scale))
    for value in (1e155, 1e308, -1e308, 1.7e308, 5e-324):
        yield Extreme(f"one cell of {value:g}", _cell(value))
    for value in (1e154, 1e308, 1.7e308):
        yield Extreme(f"both signs of {value:g}", _both_ends(value))
    for offset in (1e12, 1e17, 1e300):
        yield Extreme(f"moved by {offset:g}", _moved(offset))
    for value in (5e-324, 1e-310, 1e-200, 1e100, 1e300):
        yield Extreme(
            f"weights of {value:g}", _weighted(lambda n, v=value: np.full(n, v))
        )
    yield Extreme("weight on one row", _weighted(_first_only(1.0, 0.0)))
    yield Extreme("nearly all weight on one row", _weighted(_first_only(1e300, 1.0)))
    yield Extreme("one tiny weight", _weighted(_first_only(5e-324, 1.0)))
    yield Extreme("weights 1 and 5e-324", _weighted(_first_only(1.0, 5e-324)))
    yield Extreme("constant columns", _columns(lambda X: np.ones_like(X)))
    yield Extreme("all cells zero", _columns(lambda X: np.zeros_like(X)))
    yield Extreme("rank one", _columns(lambda X: X[:, :1] * np.ones(X.shape[1])))
    yield Extreme("equal columns, far", _columns(lambda X: X[:, :1] + np.full(4, 1e8)))
    yield Extreme("one column", _columns(lambda X: X[:, :1]))
    yield Extreme(
        "more columns than rows", _columns(lambda X: np.hstack([X, X**2] * 5))
    )
    yield Extreme("columns of other scales", _columns(_mixed_scales))
    yield Extreme("two values", _columns(lambda X: (np.median(X) < X).astype(float)))
    yield Extreme("one row", _rows(slice(0, 1)))
    yield Extreme("two rows", _rows(slice(0, 2)))
    yield Extreme("four rows", _rows(slice(0, 4)))
    yield Extreme("one row many times", _rows(np.zeros(N_ROWS, dtype=int)))
    yield Extreme("a constant target", _target(lambda y: np.zeros_like(y)))
    for scale in (5e-324, 1e-200, 1e150, 1e200, 1e300):
        yield Extreme(f"target times {scale:g}", _target(lambda y, s=scale: y * s))
    yield Extreme(
        "target of both signs of 1.7e308", _target(lambda y: np.sign(y) * 1.7e308)
    )


EXTREMES = {extreme.name: extreme for extreme in _extremes()}


def examine(
    learner: Any, extreme: Extreme, seed: int = 0
) -> tuple[Counter[str], list[str]]:
    """How many methods answer or refuse, and, one line each, what is neither finite nor a refusal
    by name."""
    counts = Counter[str]()
    data = data_for(learner, N_ROWS, seed)
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        changed, asked = extreme.change(data, rng)
        named = {}
        if has_fit_parameter(learner, "sample_weight"):
            named = {"sample_weight": changed.w}
        elif (changed.w != 1.0).any():
            return counts, []
        model, broken = _call("fit", learner.fit, changed.X, changed.y, **named)
        if model is None:
            counts["fits refused"] += 1
            return counts, broken
        for method, infinite in METHODS.items():
            if not hasattr(model, method):
                continue
            if method == "decision_function" and learner._scores_are_logs:
                infinite = True
            answer, raw = _call(method, getattr(model, method), asked)
            broken += raw
            if answer is None:
                counts["questions refused"] += 1
            else:
                counts["answers"] += 1
                broken += _unsound(method, answer, infinite)
    return counts, broken


def _call(
    method: str, function: Any, *data: Any, **named: Any
) -> tuple[Any, list[str]]:
    """The answer, or None with what is raised beside errors of Lyceum."""
    try:
        return function(*data, **named), []
    except LyceumError:
        return None, []
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/lyceum/" in frame.filename]
        place = ours[-1] if ours else frames[-1]
        where = place.filename.rpartition("/lyceum/")[2]
        return None, [f"{method}: {error!r} in {where}:{place.lineno}"]


def _unsound(method: str, answer: Any, infinite: bool) -> list[str]:
    if method == "explain":
        infinite = "log" in answer.unit
        answer = answer.contributions
    if sparse.issparse(answer):
        answer = answer.data
    values = np.asarray(answer)
    if values.dtype.kind != "f":
        return []
    bad = np.isnan(values) if infinite else ~np.isfinite(values)
    if bad.any():
        return [f"{method}: {values[bad][0]} in {bad.sum()} of {bad.size}"]
    if method == "predict_proba" and not np.allclose(values.sum(axis=1), 1.0):
        return [f"{method}: rows sum to {values.sum(axis=1)[:3]}"]
    return []

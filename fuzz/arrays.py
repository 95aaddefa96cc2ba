"""Arrays of any shape, type, layout and content into every learner: answered soundly, or refused by
name."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter
from tests.checks.cases import learner_named

from fuzz import Finding, fitted
from lyceum import catalog
from lyceum.errors import LyceumError

__all__ = ["case", "make"]

TYPES = (
    "f8",
    "f8",
    "f8",
    "f4",
    "i8",
    "i4",
    "u1",
    "?",
    ">f8",
    "f2",
    "O",
    "U5",
    "S3",
    "c16",
    "M8[D]",
    "g",
)
ODD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-308, 1e150, 2.0**53, 0.0, -0.0)
LABELS: Any = (
    *2 * (["a", "b", "c"], ["a", "b"], [0, 1]),
    [1],
    [True, False],
    [2**60, 2**60 + 1],
    [0.5, 1.5],
    [None, "a"],
    ["a", 1],
)
METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
    "explain",
)


def make() -> list[Any]:
    """Every cataloged learner, with settings for few rows."""
    return [learner_named(entry.name) for entry in catalog.learners()[:: fitted.EVERY]]


def case(learners: list[Any], rng: np.random.Generator) -> str:
    """Fit a learner on arrays drawn at random, and put others to it."""
    learner = clone(learners[rng.integers(len(learners))])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        X, y, w = cells(rng), target(learner, rng), weights(rng)
        n = X.shape[0] if X.ndim and rng.random() < 0.95 else len(y)
        y, named = y[:n], {}
        if w is not None and has_fit_parameter(learner, "sample_weight"):
            named = {"sample_weight": w[:n]}
        before = X.copy()
        how = (
            f"{learner} on {_array_text(X)} {_array_text(y)}"
            f" {_array_text(named.get('sample_weight'))}"
        )
        if (fit := _call(how, learner.fit, X, y, **named)) is None:
            return "refused"
        if not _same(before, X):
            raise Finding(f"{how}: fit changed its input")
        outcome = "fitted"
        for method in METHODS:
            if hasattr(fit, method):
                answer = _call(f"{how}: {method}", getattr(fit, method), X)
                if answer is not None:
                    _check(how, method, answer, fit, X)
                    outcome = "answered"
    return outcome


def _call(how: str, function: Any, *data: Any, **named: Any) -> Any:
    """The result, or None where it is refused by name: by Lyceum, or by scikit-learn's checks of
    arrays."""
    try:
        return function(*data, **named)
    except LyceumError:
        return None
    except (ValueError, TypeError) as error:
        last = traceback.extract_tb(error.__traceback__)[-1].filename
        if "sklearn" in last:
            return None
        raise Finding(f"{how}: {error!r} in {last}") from error
    except Exception as error:
        raise Finding(f"{how}: {error!r}") from error


def _check(how: str, method: str, answer: Any, model: Any, X: Any) -> None:
    """What holds of every answer to finite cells."""
    if method == "explain":
        return
    if method == "predict_proba":
        P = np.asarray(answer)
        if not (
            (P >= 0).all()
            and (P <= 1).all()
            and np.allclose(P.sum(axis=1), 1.0, atol=1e-9)
        ):
            raise Finding(f"{how}: posteriors {P[:3]}")
    elif (
        method == "predict"
        and is_regressor(model)
        and not np.isfinite(np.asarray(answer, dtype=float)).all()
    ):
        raise Finding(f"{how}: predicts {np.asarray(answer)[:5]}")
    if isinstance(X, np.ndarray) and X.dtype != object and not X.flags.c_contiguous:
        again = getattr(model, method)(np.ascontiguousarray(X))
        if not _same(_dense(answer), _dense(again)):
            raise Finding(f"{how}: {method} depends on the layout of the array")


# -- drawing ---------------------------------------------------------------------------


def cells(rng: np.random.Generator) -> Any:
    """Rows of cells; sometimes not even a table."""
    n = int(rng.choice([0, 1, 2, 3, 5, 12, 12, 20, 20, 40]))
    d = int(rng.choice([0, 1, 1, 2, 3, 3, 4, 9]))
    shape: tuple[int, ...] = (
        (n, d) if rng.random() < 0.95 else [(), (n,), (n, d, 2)][rng.integers(3)]
    )
    X = np.asarray(rng.normal(size=shape)) * 10.0 ** rng.integers(-3, 4) + rng.choice(
        [0.0, 0.0, 1e6]
    )
    if rng.random() < 0.2:
        X = np.round(X)
    if rng.random() < 0.2 and X.size:
        X.reshape(-1)[rng.integers(X.size, size=rng.integers(1, 4))] = ODD[
            rng.integers(len(ODD))
        ]
    if rng.random() < 0.1 and X.ndim == 2:
        X[:] = X[:1] if len(X) else 0.0  # constant columns
    if rng.random() < 0.05 and X.ndim == 2:
        return sparse.csr_array(np.where(X > 0, X, 0.0))
    kind = TYPES[rng.integers(len(TYPES))] if rng.random() < 0.5 else "f8"
    return layout(np.asarray(X, dtype=kind), rng) if X.ndim else np.array(X)


def layout(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same cells, stored in another way."""
    how = rng.integers(8)
    if how == 0:
        return np.asfortranarray(X)
    if how == 1 and X.ndim == 2:
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if how == 2 and X.ndim:
        return X[::-1].copy()[::-1]
    if how == 3:
        X.flags.writeable = False
    if how == 4 and X.ndim == 2:
        wide = np.zeros((X.shape[0], X.shape[1] + 1), X.dtype)
        wide[:, 1:] = X
        return wide[:, 1:]
    return X


def target(learner: Any, rng: np.random.Generator) -> np.ndarray:
    if is_classifier(learner) or (not is_regressor(learner) and rng.random() < 0.5):
        return rng.choice(np.array(LABELS[rng.integers(len(LABELS))], dtype=object), 40)
    y = rng.normal(size=40) * 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.1:
        y[rng.integers(40)] = ODD[rng.integers(len(ODD))]
    return y if rng.random() < 0.9 else y.astype(TYPES[rng.integers(len(TYPES))])


def weights(rng: np.random.Generator) -> np.ndarray | None:
    if rng.random() < 0.6:
        return None
    w = rng.integers(0, 4, 40).astype(float)
    if rng.random() < 0.3:
        w[rng.integers(40)] = (*ODD, -1.0)[rng.integers(len(ODD) + 1)]
    return np.zeros(40) if rng.random() < 0.05 else w


def _same(a: Any, b: Any) -> bool:
    if sparse.issparse(a):
        return (a != b).nnz == 0
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        return bool(np.array_equal(a, b, equal_nan=True))
    return a.shape == b.shape and list(map(repr, a.ravel().tolist())) == list(
        map(repr, b.ravel().tolist())
    )


def _dense(answer: Any) -> Any:
    return answer.toarray() if sparse.issparse(answer) else answer


def _array_text(array: Any) -> str:
    if array is None or sparse.issparse(array):
        return repr(array)
    text = (
        np.array2string(array, threshold=30, edgeitems=3)
        if array.dtype != object
        else repr(array.tolist()[:9])
    )
    return f"{array.dtype}{array.shape} strides {array.strides} {text}"

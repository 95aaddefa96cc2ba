"""Attacks on learners that were invented after the repairs: number types at their limits, columns
one rounding apart, tails, frames with categories, later batches, and odd sparse arrays."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from tests.checks.cases import case_of, learner_named
from tests.checks.extremes import METHODS, Extreme, _call, _unsound, examine
from tests.checks.fits import fit, outcome, same
from tests.checks.source_laws import cut_short
from tests.checks.tables import Data, data_for, mixed_for

from fuzz import Finding, fitted
from lyceum import catalog
from lyceum.errors import LyceumError

__all__ = ["case", "make"]

SCALES = (1e-320, 1e-200, 1e-30, 1e30, 1e200, 1e307)


def make() -> list[Any]:
    """Every cataloged learner, with settings for few rows."""
    names = [entry.name for entry in catalog.learners()[:: fitted.EVERY]]
    return [(name, cut_short(learner_named(name))) for name in names]


def case(
    learners: list[tuple[str, Any]], rng: np.random.Generator
) -> Counter[str] | str:
    """One attack on one learner."""
    name, learner = learners[rng.integers(len(learners))]
    attacks = [_extremes, _extremes, _frames, _batches, _sparse_cells]
    return attacks[rng.integers(len(attacks))](name, clone(learner), rng)


# -- finite answers --------------------------------------------------------------------


def _extremes(name: str, learner: Any, rng: np.random.Generator) -> Counter[str]:
    how = list(CHANGES)[rng.integers(len(CHANGES))]
    outcomes, broken = examine(learner, Extreme(how, CHANGES[how]), rng.integers(1000))
    if broken:
        raise Finding(f"{name} on {how}: {'; '.join(broken)}")
    return outcomes + Counter([how])


def _with(data: Data, X: np.ndarray, w: np.ndarray | None = None) -> Any:
    """The rows to fit and seven of them to ask about, weights of 1 unless given."""
    return Data(X, data.y, np.ones(len(X)) if w is None else w), X[:7]


def _neighboring_columns(data: Data, rng: np.random.Generator) -> Any:
    first = data.X[:, :1]
    return _with(data, np.hstack([first, np.nextafter(first, np.inf), data.X[:, 1:]]))


def _constants_one_rounding_apart(data: Data, rng: np.random.Generator) -> Any:
    X = np.full_like(data.X, 10.0 ** rng.integers(-300, 300))
    some = rng.random(X.shape) < 0.3
    X[some] = np.nextafter(X[some], np.inf)
    return _with(data, X)


def _heavy_tails(data: Data, rng: np.random.Generator) -> Any:
    with np.errstate(over="ignore"):
        tails = np.exp(rng.standard_cauchy(data.X.shape))
    X = np.sign(data.X) * np.clip(tails, 0.0, 1e308)
    return _with(data, X)


def _single_precision(data: Data, rng: np.random.Generator) -> Any:
    limits = np.finfo(np.float32)
    values = np.array([limits.max, limits.tiny, limits.smallest_subnormal, 1.0, 0.0])
    X = data.X.astype(np.float32)
    some = rng.random(X.shape) < 0.1
    X[some] = (
        np.sign(X[some]) * values.astype(np.float32)[rng.integers(5, size=some.sum())]
    )
    return _with(data, X)


def _whole_numbers(data: Data, rng: np.random.Generator) -> Any:
    kind = [np.int64, np.uint8, np.int8, np.uint64][rng.integers(4)]
    limits = np.iinfo(kind)
    X = np.clip(np.abs(data.X), 0, 100).astype(kind)
    some = rng.random(X.shape) < 0.1
    least = max(limits.min, 0) if (data.X >= 0).all() else limits.min
    X[some] = rng.choice([least, limits.max], some.sum()).astype(kind)
    return _with(data, X)


def _geometric_weights(data: Data, rng: np.random.Generator) -> Any:
    n = len(data.X)
    power = rng.uniform(50, 300)
    w = 10.0 ** np.linspace(-power, rng.uniform(-100, 100), n)
    return _with(data, data.X, rng.permutation(w))


def _hilbert(data: Data, rng: np.random.Generator) -> Any:
    n = len(data.X)
    columns = 1.0 / (np.arange(n)[:, None] + np.arange(1, 13))
    return _with(data, columns * 10.0 ** rng.integers(-8, 8))


def _nearly_collinear(data: Data, rng: np.random.Generator) -> Any:
    tiny = 10.0 ** rng.uniform(-17, -5)
    X = np.hstack([data.X, data.X @ rng.normal(size=(4, 3)) + tiny * data.X[:, :3]])
    return _with(data, np.abs(X) if (data.X >= 0).all() else X)


def _few_rows_many_columns(data: Data, rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 7))
    X = np.abs(rng.normal(size=(n, 40))) * 10.0 ** rng.choice([-150, 0, 150])
    y = None if data.y is None else data.y[:n]
    return Data(X, y, np.ones(n)), X[:7]


def _scaled_target(data: Data, rng: np.random.Generator) -> Any:
    y = data.y
    if y is not None and y.dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            y = np.clip(y * rng.choice(SCALES), -1.7e308, 1.7e308)
        y[rng.integers(len(y))] = rng.choice([0.0, 5e-324, 1.7e308])
    return Data(data.X, y, np.ones(len(data.X))), data.X[:7] * rng.choice(SCALES[2:4])


def _one_outlier_per_column(data: Data, rng: np.random.Generator) -> Any:
    X = data.X.copy()
    rows = rng.integers(len(X), size=X.shape[1])
    X[rows, np.arange(X.shape[1])] = 10.0 ** rng.uniform(10, 308, X.shape[1])
    return _with(data, X)


CHANGES: dict[str, Callable[[Data, np.random.Generator], Any]] = {
    function.__name__.strip("_"): function
    for function in (
        _neighboring_columns,
        _constants_one_rounding_apart,
        _heavy_tails,
        _single_precision,
        _whole_numbers,
        _geometric_weights,
        _hilbert,
        _nearly_collinear,
        _few_rows_many_columns,
        _scaled_target,
        _one_outlier_per_column,
    )
}


def _ask(name: str, model: Any, asked: Any, how: str) -> Counter[str]:
    """Every method of a fitted model: finite, or refused by name."""
    counts = Counter[str]()
    for method, infinite in METHODS.items():
        if not hasattr(model, method):
            continue
        if method == "decision_function" and model._scores_are_logs:
            infinite = True
        answer, broken = _call(method, getattr(model, method), asked)
        if answer is not None:
            broken += _unsound(method, answer, infinite)
        if broken:
            raise Finding(f"{name} on {how}: {'; '.join(broken)}")
        counts["refused" if answer is None else "answered"] += 1
    return counts


def _frames(name: str, learner: Any, rng: np.random.Generator) -> Counter[str] | str:
    """A table with categories whose numbers are extreme, and other tables to ask about."""
    frame, y = mixed_for(learner, 40)
    scale = rng.choice(SCALES)
    for table in (frame, asked := frame.head(7).copy()):
        if rng.random() < 0.7:
            with np.errstate(over="ignore", under="ignore"):
                cells = table[["age", "income"]].to_numpy() * scale
            table[["age", "income"]] = np.clip(cells, -1.7e308, 1.7e308)
    if rng.random() < 0.3:
        asked["town"] = "nowhere"
    how = f"a table with categories and cells times {scale:g}"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model, broken = _call("fit", learner.fit, frame, y)
        if broken:
            raise Finding(f"{name} on {how}: {'; '.join(broken)}")
        if model is None:
            return "fit refused"
        return _ask(name, model, asked, how)


def _batches(name: str, learner: Any, rng: np.random.Generator) -> Counter[str] | str:
    """An ordinary batch, then an extreme one: refused and as before, or answered."""
    if not hasattr(learner, "partial_fit"):
        return _extremes(name, learner, rng)
    data = data_for(learner, 40, int(rng.integers(1000)))
    with np.errstate(over="ignore", under="ignore"):
        later = np.clip(data.X * rng.choice(SCALES), -1.7e308, 1.7e308)
    named = {} if data.y is None else {"y": data.y}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model, broken = _call("partial_fit", learner.partial_fit, data.X, **named)
        if model is None and not broken:
            return "fit refused"
        _, more = _call("partial_fit", learner.partial_fit, later, **named)
        if broken + more:
            raise Finding(f"{name} on later batches: {'; '.join(broken + more)}")
        return _ask(name, learner, data.X[:7], "a later batch")


# -- dense equals sparse ---------------------------------------------------------------


def _odd_storage(X: np.ndarray, rng: np.random.Generator) -> Any:
    """The cells as a sparse array: stored zeros, sums of duplicates, unsorted, of any format."""
    rows, columns = np.nonzero(X)
    data = X[rows, columns]
    # cells that are zero and stored, and cells in two parts, which add up exactly
    more = rng.integers(X.size, size=5)
    zero_rows, zero_columns = np.unravel_index(more, X.shape)
    halves = rng.random(len(data)) < 0.2
    parts = np.where(halves, data / 2, data)
    rows = np.concatenate([rows, rows[halves], zero_rows])
    columns = np.concatenate([columns, columns[halves], zero_columns])
    data = np.concatenate([parts, data[halves] / 2, np.zeros(5)])
    order = rng.permutation(len(data))
    made = sparse.coo_array((data[order], (rows[order], columns[order])), X.shape)
    kinds = ["csr", "csc", "coo", "lil", "dok", "bsr", "unsorted"]  # codespell:ignore
    kind = str(rng.choice(kinds))
    if kind != "unsorted":
        return made.asformat(kind)
    made = made.tocsr()
    made.has_sorted_indices = False
    for i in range(X.shape[0]):
        part = slice(made.indptr[i], made.indptr[i + 1])
        made.indices[part] = made.indices[part][::-1].copy()
        made.data[part] = made.data[part][::-1].copy()
    return made


def _rounded(values: Any, size: float) -> Any:
    """Numbers without what is below a millionth of a millionth of the largest, or, of one number
    alone, of the squares of the cells."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
        if values.ndim == 0:
            largest = size
        return np.where(np.abs(values) <= 1e-12 * largest, 0.0, values)
    return values


def _sparse_cells(name: str, learner: Any, rng: np.random.Generator) -> str:
    """The same cells, dense and sparse, give the same model and answers, or the same refusal."""
    if not learner._takes_sparse:
        return "takes no sparse cells"
    data = data_for(learner, 60, int(rng.integers(1000)))
    X = np.where(np.abs(data.X) > rng.uniform(0.0, 3.0), data.X, 0.0)
    X[:, rng.random(X.shape[1]) < 0.2] = 0.0
    X[rng.random(len(X)) < 0.1] = 0.0
    cells = _odd_storage(X, rng)
    checks = case_of(name)
    # an optimum that is found to a tolerance only is not the same to six digits
    learner = learner_named(name)
    if isinstance(learner.get_params(deep=False).get("tol"), float):
        learner.set_params(tol=1e-12)
    answers = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for given in (X, cells):
            try:
                model = fit(clone(learner), given, data.y, data.w)
                learned = outcome(model, X, checks)
                outcome(model, cells, checks)
                answers.append(learned)
            except LyceumError as error:
                answers.append(str(error))
    dense, as_sparse = answers
    if isinstance(dense, str) or isinstance(as_sparse, str):
        if isinstance(dense, str) and isinstance(as_sparse, str):
            return "both refused"
        raise Finding(f"{name}, {type(cells).__name__}: {str(answers)[:300]}")
    # what is there of dense rows alone, and what is rounding beside the cells
    size = float(np.square(X).sum())
    dense = {key: _rounded(dense[key], size) for key in dense if key in as_sparse}
    as_sparse = {key: _rounded(as_sparse[key], size) for key in dense}
    try:
        same(dense, as_sparse, max(checks.rtol, 1e-6), type(cells).__name__)
    except AssertionError as error:
        raise Finding(f"{name}: dense is not sparse: {str(error)[:500]}") from error
    return "dense as sparse"

"""The laws that every learner obeys, whatever it learns and wherever its rows come from.

    from tests.checks.laws import check

    check(MyLearner())                          # all laws, on data for its task
    check(MyLearner(), Case(rtol=1e-6))         # with what is particular to it

A law is a function of a learner and a `Case`; `LAWS` lists them, for `pytest.mark.parametrize`. They need
nothing from a learner but scikit-learn's interface and a `fit` that takes `scan(...)` and Dask collections.
"""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from tests.checks.tables import Cuts, D, Data, N, data_for, frame_of, mixed_for, needs_memory, sources
from threadpoolctl import threadpool_limits

import lyceum
from lyceum import catalog
from lyceum.data import Rows, scan
from lyceum.errors import MissingValuesError, SourceError

__all__ = ["LAWS", "Case", "check"]

METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")


@dataclass(frozen=True)
class Case:
    """What is particular to a learner: how close two fits must be, and what does not apply to it."""

    rtol: float = 1e-7  # of the two fits, relative to the largest entry of each array
    single: float = 1e-4  # the same for float32 cells
    far: float = 1e-4  # the same for cells a million away
    skip: tuple[str, ...] = ()  # fitted attributes that may differ
    counts_rows: tuple[str, ...] = ()  # attributes for which a row of weight 2 is one row
    moves: bool = False  # a transformer that gives the cells back: they move with an offset
    mixed: dict[str, Any] = field(default_factory=dict)  # parameters for tables of mixed kinds
    moved: dict[str, Any] = field(default_factory=dict)  # parameters for cells that are a million away
    without: dict[str, str] = field(default_factory=dict)  # laws that cannot hold: the reason for each


# -- fitting and comparing ---------------------------------------------------------------------------------


def fit(learner: Any, X: Any, y: Any = None, w: Any = None) -> Any:
    """A fitted copy."""
    arguments = {} if y is None else {"y": y}
    if w is not None and has_fit_parameter(learner, "sample_weight"):
        arguments["sample_weight"] = w
    return clone(learner).fit(X, **arguments)


def outcome(fitted: Any, X: Any, case: Case, arrays: bool = True) -> dict[str, Any]:
    """What the learner says of X, and the arrays that it learned."""
    found = {name: _computed(getattr(fitted, name)(X)) for name in METHODS if hasattr(fitted, name)}
    assert found, f"{type(fitted).__name__} has none of {', '.join(METHODS)}"
    for name, value in vars(fitted).items() if arrays else ():
        learned = name.endswith("_") and not name.startswith("_") and name not in case.skip
        if (
            learned
            and isinstance(value, float | np.floating | np.ndarray)
            and np.asarray(value).dtype.kind == "f"
        ):
            found[name] = np.asarray(value)
    return found


def _computed(result: Any) -> Any:
    return result.compute() if hasattr(result, "compute") else result


def same(one: dict[str, Any], two: dict[str, Any], rtol: float, where: str = "") -> None:
    """Raise unless both agree: text exactly, numbers up to rtol of the largest; 0 means bit for bit."""
    assert one.keys() == two.keys(), where
    for name in one:
        for a, b in zip(_columns(one[name]), _columns(two[name]), strict=True):
            message = f"{name} {where}"
            if a.dtype.kind != "f" or b.dtype.kind != "f":
                _same_labels(a, b, message)
            elif rtol == 0:
                np.testing.assert_array_equal(a, b, err_msg=message)
            else:
                scale = np.max(np.abs(a[np.isfinite(a)]), initial=0.0)
                np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol * max(scale, 1e-300), err_msg=message)


def _same_labels(a: np.ndarray, b: np.ndarray, message: str) -> None:
    gone = pd.isna(a.astype(object))
    np.testing.assert_array_equal(gone, pd.isna(b.astype(object)), err_msg=message)
    np.testing.assert_array_equal(a[~gone].astype(str), b[~gone].astype(str), err_msg=message)


def _columns(result: Any) -> list[np.ndarray]:
    """An array or a frame column by column."""
    if isinstance(result, pl.DataFrame | pa.Table):
        result = result.to_pandas()
    if isinstance(result, pd.DataFrame):
        return [column.to_numpy() for _, column in result.items()]
    array = result.toarray() if hasattr(result, "toarray") else np.asarray(result)
    return list(array.T) if array.ndim == 2 else [array]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without scikit-learn's remark that columns had names in `fit` and have none now."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="X (does not have|has) valid feature names|X has feature names"
        )
        yield


# -- the laws ----------------------------------------------------------------------------------------------


def the_source_does_not_matter(learner: Any, case: Case) -> None:
    """Array = frame = random cuts = Parquet and CSV streams = Dask array and frames."""
    data = data_for(learner)
    expected = outcome(fit(learner, data.X, data.y, data.w), data.X, case)
    with tempfile.TemporaryDirectory() as folder, _quiet():
        for name, arguments in sources(learner, data, Path(folder)):
            fitted = fit(learner, *arguments)
            X = frame_of(data.X) if hasattr(fitted, "feature_names_in_") else data.X
            same(expected, outcome(fitted, X, case), case.rtol, f"from {name}")


def what_is_asked_of_it_may_come_from_anywhere(learner: Any, case: Case) -> None:
    """Predictions for a scan and for Dask are those for the array."""
    import dask.array as da

    data = data_for(learner)
    fitted = fit(learner, data.X, data.y)
    expected = outcome(fitted, data.X, case, arrays=False)
    same(
        expected,
        outcome(fitted, da.from_array(data.X, chunks=(170, D)), case, arrays=False),
        1e-12,
        "for Dask",
    )
    if hasattr(fitted, "predict"):
        rows = Rows(Cuts(Data(data.X, None, data.w), seed=3))
        same({"predict": expected["predict"]}, {"predict": fitted.predict(rows)}, 1e-12, "for rows")


def weights_are_repeats(learner: Any, case: Case) -> None:
    """A row of weight 2 counts as two rows, a row of weight 0 as none."""
    if not has_fit_parameter(learner, "sample_weight"):
        return
    data = data_for(learner)
    repeated = data.take(np.repeat(np.arange(N), data.w.astype(int)))
    case = replace(case, skip=(*case.skip, *case.counts_rows))
    weighted = outcome(fit(learner, data.X, data.y, data.w), data.X, case)
    same(outcome(fit(learner, repeated.X, repeated.y), data.X, case), weighted, case.rtol)


def rows_of_no_weight_are_not_there(learner: Any, case: Case) -> None:
    """However wild their cells are."""
    if not has_fit_parameter(learner, "sample_weight"):
        return
    data = data_for(learner)
    wild = Data(np.where(data.w[:, None] == 0, 1e8, data.X), data.y, data.w)
    there = data.take(data.w > 0)
    expected = outcome(fit(learner, there.X, there.y, there.w), data.X, case)
    same(expected, outcome(fit(learner, wild.X, wild.y, wild.w), data.X, case), case.rtol)


def the_order_of_rows_does_not_matter(learner: Any, case: Case) -> None:
    data = data_for(learner)
    mixed = data.take(np.random.default_rng(9).permutation(N))
    expected = outcome(fit(learner, data.X, data.y, data.w), data.X, case)
    same(expected, outcome(fit(learner, mixed.X, mixed.y, mixed.w), data.X, case), case.rtol)


def a_class_may_be_absent_from_the_first_block(learner: Any, case: Case) -> None:
    """Rows sorted by class and cut into blocks of one class or two are learned from as one array."""
    if not is_classifier(learner):
        return
    data = data_for(learner)
    ordered = data.take(np.argsort(data.y, kind="stable")[::-1])  # type: ignore[arg-type]
    expected = outcome(fit(learner, data.X, data.y, data.w), data.X, case)
    with _quiet():
        same(expected, outcome(fit(learner, Rows(Cuts(ordered, seed=4))), frame_of(data.X), case), case.rtol)


def single_precision_is_close_to_double(learner: Any, case: Case) -> None:
    data = data_for(learner)
    X = data.X.astype(np.float32)
    double = outcome(fit(learner, X.astype(np.float64), data.y, data.w), X.astype(np.float64), case)
    same(double, outcome(fit(learner, X, data.y, data.w), X, case), case.single)


def cells_may_be_a_million_away(learner: Any, case: Case) -> None:
    """Distances, spreads and predictions are those of the same rows about the origin."""
    data = data_for(learner)
    near = outcome(fit(learner, data.X, data.y, data.w), data.X, case, arrays=False)
    moved = clone(learner).set_params(**case.moved)
    far = outcome(fit(moved, data.X + 1e6, data.y, data.w), data.X + 1e6, case, arrays=False)
    if case.moves:
        far = {name: result - 1e6 for name, result in far.items()}
    same(near, far, case.far)


def threads_do_not_change_a_bit(learner: Any, case: Case) -> None:
    """One thread and two give the same result, bit for bit, over several blocks."""
    data = data_for(learner, n=40_000)
    results = []
    for count in (1, 2):
        with threadpool_limits(count):
            results.append(outcome(fit(learner, data.X, data.y, data.w), data.X, case))
    same(*results, rtol=0)


def going_on_is_fitting_at_once(learner: Any, case: Case) -> None:
    """`partial_fit` over stretches of rows, where it is offered, is `fit` on all of them."""
    if not hasattr(learner, "partial_fit"):
        return
    data = data_for(learner)
    parts = clone(learner)
    weighted = has_fit_parameter(learner, "sample_weight")
    for rows in np.array_split(np.arange(N), [30, 31, 200]):
        some = data.take(rows)
        arguments = {"sample_weight": some.w} if weighted and some.w.any() else {}
        if weighted and not arguments:
            continue
        parts.partial_fit(some.X, **({} if some.y is None else {"y": some.y}), **arguments)
    same(outcome(fit(learner, data.X, data.y, data.w), data.X, case), outcome(parts, data.X, case), case.rtol)


def a_saved_model_is_the_model(learner: Any, case: Case) -> None:
    """`lyceum.save` and `lyceum.load` give identical predictions, bit for bit; so does pickle."""
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    fitted = fit(learner, frame, y)
    expected = outcome(fitted, frame, case)
    same(expected, outcome(pickle.loads(pickle.dumps(fitted)), frame, case), rtol=0, where="after pickle")
    if type(learner) not in {entry.load() for entry in catalog.learners()}:
        return  # a model file holds only what is in the catalog
    with tempfile.TemporaryDirectory() as folder:
        path = lyceum.save(fitted, Path(folder) / "model.lyceum")
        loaded = lyceum.load(path)
    same(expected, outcome(loaded, frame, case), rtol=0, where="after load")
    assert str(loaded.schema_) == str(fitted.schema_)
    assert loaded.get_params().keys() == fitted.get_params().keys()


def it_shows_itself(learner: Any, case: Case) -> None:
    """A clone has the parameters and nothing learned; learner and summary print and show as HTML."""
    data = data_for(learner)
    fitted = fit(learner, data.X, data.y)
    fresh = clone(fitted)
    assert str(fresh.get_params()) == str(learner.get_params())
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    assert type(learner).__name__ in repr(fitted)
    assert type(learner).__name__ in fitted._repr_html_()
    summary = fitted.summary()
    assert summary.title in str(summary)
    assert len(str(summary).splitlines()) > 2
    assert "<table>" in summary._repr_html_()


def a_mixed_table_needs_no_encoding(learner: Any, case: Case) -> None:
    """Text, true/false and numbers together: the same from pandas, Polars, pyarrow, Parquet and Dask."""
    import dask.dataframe as dd

    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    expected = outcome(fit(learner, frame, y), frame, case)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, other in (("polars", pl.from_pandas(frame)), ("pyarrow", table)):
        same(expected, outcome(fit(learner, other, y), other, case), case.rtol, f"from {name}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        whole = table if y is None else table.append_column("y", pa.array(y))
        pq.write_table(whole, path, row_group_size=97)
        stream = scan(path, None if y is None else "y", memory=0)
        same(expected, outcome(fit(learner, stream), frame, case), case.rtol, "from a stream")
    lazy = dd.from_pandas(frame if y is None else frame.assign(y=y), npartitions=3)
    if needs_memory(learner):
        with pytest.raises(SourceError, match=r"keeps every row in memory .* use \w+"):
            fit(learner, lazy[list(frame.columns)], None if y is None else lazy["y"])
        return
    fitted = fit(learner, lazy[list(frame.columns)], None if y is None else lazy["y"])
    same(expected, outcome(fitted, frame, case), case.rtol, "from Dask")


def gaps_are_taken_or_named(learner: Any, case: Case) -> None:
    """A learner that cannot take missing cells names the column, in `fit` and after it."""
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    for column in ("income", "town"):
        gaps = frame.assign(**{column: frame[column].where(np.arange(N) % 7 > 0)})
        if get_tags(learner).input_tags.allow_nan:
            fitted = fit(learner, gaps, y)
            for name in METHODS:
                if hasattr(fitted, name):
                    assert len(_columns(getattr(fitted, name)(gaps))[0]), name
            continue
        with pytest.raises(MissingValuesError, match=f"column '{column}' has a missing value"):
            fit(learner, gaps, y)
        fitted = fit(learner, frame, y)
        with pytest.raises(MissingValuesError, match=f"column '{column}' has a missing value"):
            getattr(fitted, next(name for name in METHODS if hasattr(fitted, name)))(gaps)


def unseen_categories_do_not_stop_it(learner: Any, case: Case) -> None:
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    fitted = fit(learner, frame, y)
    new = frame.assign(town="Rom")
    for name in METHODS:
        if hasattr(fitted, name):
            assert len(_columns(getattr(fitted, name)(new))[0]) == N, name


def new_categories_may_come_later(learner: Any, case: Case) -> None:
    """`partial_fit` on rows with categories that were not there before is `fit` on all rows."""
    if not hasattr(learner, "partial_fit"):
        return
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    order = np.argsort(frame["town"].to_numpy() == "Bonn", kind="stable")  # Bonn comes last
    parts = clone(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # the first rows may be too few
        for rows in np.array_split(order, 5):
            parts.partial_fit(frame.iloc[rows], **({} if y is None else {"y": y[rows]}))
    assert parts.schema_["town"].categories.tolist() == ["Bonn", "Köln", "Ulm"]
    same(outcome(fit(learner, frame, y), frame, case), outcome(parts, frame, case), case.rtol)


def posteriors_are_probabilities(learner: Any, case: Case) -> None:
    """From 0 to 1, and the rows sum to 1 within 1e-12: near, far away, weighted, and for a mixed table.

    Ensembles have 100 members, because (1/100 + ... + 1/100) exceeds 1 in floating point.
    """
    if not is_classifier(learner) or not hasattr(learner, "predict_proba"):
        return
    if "n_estimators" in learner.get_params():
        learner = clone(learner).set_params(n_estimators=100)
    data = data_for(learner)
    for w in (None, data.w):
        fitted = fit(learner, data.X, data.y, w)
        for factor in (1.0, 100.0):
            _check_posteriors(fitted.predict_proba(data.X * factor))
    if get_tags(learner).input_tags.allow_nan:
        X = np.where(np.random.default_rng(0).random(data.X.shape) < 0.4, np.nan, data.X)
        _check_posteriors(fit(learner, X, data.y).predict_proba(X))
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    _check_posteriors(fit(learner, frame, y).predict_proba(frame))


def _check_posteriors(proba: np.ndarray) -> None:
    assert proba.min() >= 0.0, f"a posterior is {proba.min()!r}"
    assert proba.max() <= 1.0, f"a posterior is {proba.max()!r}"
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)


Law = Callable[[Any, Case], None]
LAWS: tuple[Law, ...] = (
    the_source_does_not_matter,
    what_is_asked_of_it_may_come_from_anywhere,
    weights_are_repeats,
    rows_of_no_weight_are_not_there,
    the_order_of_rows_does_not_matter,
    a_class_may_be_absent_from_the_first_block,
    single_precision_is_close_to_double,
    cells_may_be_a_million_away,
    threads_do_not_change_a_bit,
    going_on_is_fitting_at_once,
    a_saved_model_is_the_model,
    it_shows_itself,
    a_mixed_table_needs_no_encoding,
    gaps_are_taken_or_named,
    unseen_categories_do_not_stop_it,
    new_categories_may_come_later,
    posteriors_are_probabilities,
)


def check(learner: Any, case: Case | None = None) -> None:
    """Raise unless the learner obeys every law that is not in `case.without`."""
    case = case or Case()
    for law in LAWS:
        if law.__name__ not in case.without:
            law(learner, case)

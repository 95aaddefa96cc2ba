"""Where rows come from, and in which order and number they come, does not matter."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter
from tests.checks.fits import Case, fit, outcome, quiet, same
from tests.checks.shared_fits import fitted_to_numbers, learned_from_numbers
from tests.checks.tables import (
    CountedCuts,
    Cuts,
    D,
    Data,
    N,
    data_for,
    frame_of,
    sources,
)

from lyceum.data import Rows
from lyceum.errors import SourceError

__all__ = [
    "a_class_may_be_missing_from_the_first_block",
    "cut_short",
    "partial_fit_is_fit_on_all_rows",
    "passes_without_memory",
    "predictions_do_not_depend_on_the_source",
    "rows_are_read_as_declared",
    "the_order_of_rows_does_not_matter",
    "the_source_does_not_matter",
    "weights_are_repeats",
    "zero_weight_rows_are_ignored",
]


def the_source_does_not_matter(learner: Any, case: Case) -> None:
    """Array = random cuts = frames = Parquet or CSV stream = Dask array or frame."""
    data = data_for(learner)
    expected = learned_from_numbers(learner, case)
    with tempfile.TemporaryDirectory() as folder, quiet():
        for name, arguments in sources(learner, data, Path(folder)):
            fitted = fit(learner, *arguments)
            assert fitted.n_rows_ == N, f"n_rows_ is {fitted.n_rows_} from {name}"
            X = frame_of(data.X) if hasattr(fitted, "feature_names_in_") else data.X
            same(expected, outcome(fitted, X, case), case.rtol, f"from {name}")


def predictions_do_not_depend_on_the_source(learner: Any, case: Case) -> None:
    """Predictions for a scan and for Dask are those for the array."""
    import dask.array as da

    data = data_for(learner)
    fitted = fitted_to_numbers(learner)
    expected = outcome(fitted, data.X, case, arrays=False)
    same(
        expected,
        outcome(fitted, da.from_array(data.X, chunks=(170, D)), case, arrays=False),
        1e-12,
        "for Dask",
    )
    if hasattr(fitted, "predict"):
        rows = Rows(Cuts(Data(data.X, None, data.w), seed=3))
        same(
            {"predict": expected["predict"]},
            {"predict": fitted.predict(rows)},
            1e-12,
            "for rows",
        )
    if is_classifier(fitted) or is_regressor(fitted):
        rows = Rows(Cuts(data, seed=3))
        score = fitted.score(data.X, data.y, sample_weight=data.w)
        same(
            {"score": np.array(score)},
            {"score": np.array(fitted.score(rows))},
            1e-12,
            "for rows",
        )


def weights_are_repeats(learner: Any, case: Case) -> None:
    """A row of weight 2 counts as two rows, a row of weight 0 as none."""
    if not has_fit_parameter(learner, "sample_weight"):
        return
    data = data_for(learner)
    repeated = data.take(np.repeat(np.arange(N), data.w.astype(int)))
    case = replace(case, skip=(*case.skip, *case.counts_rows))
    weighted = learned_from_numbers(learner, case)
    same(
        outcome(fit(learner, repeated.X, repeated.y), data.X, case), weighted, case.rtol
    )


def zero_weight_rows_are_ignored(learner: Any, case: Case) -> None:
    """However wild their cells are."""
    if not has_fit_parameter(learner, "sample_weight"):
        return
    data = data_for(learner)
    wild = Data(np.where(data.w[:, None] == 0, 1e8, data.X), data.y, data.w)
    there = data.take(data.w > 0)
    expected = outcome(fit(learner, there.X, there.y, there.w), data.X, case)
    same(
        expected, outcome(fit(learner, wild.X, wild.y, wild.w), data.X, case), case.rtol
    )


def the_order_of_rows_does_not_matter(learner: Any, case: Case) -> None:
    data = data_for(learner)
    mixed = data.take(np.random.default_rng(9).permutation(N))
    expected = learned_from_numbers(learner, case)
    same(
        expected,
        outcome(fit(learner, mixed.X, mixed.y, mixed.w), data.X, case),
        case.rtol,
    )


def a_class_may_be_missing_from_the_first_block(learner: Any, case: Case) -> None:
    """Rows sorted by class and cut into blocks of one class or two are learned from as one
    array."""
    if not is_classifier(learner):
        return
    data = data_for(learner)
    ordered = data.take(np.argsort(data.y, kind="stable")[::-1])  # type: ignore[arg-type]
    expected = learned_from_numbers(learner, case)
    with quiet():
        same(
            expected,
            outcome(fit(learner, Rows(Cuts(ordered, seed=4))), frame_of(data.X), case),
            case.rtol,
        )


def partial_fit_is_fit_on_all_rows(learner: Any, case: Case) -> None:
    """`partial_fit` over stretches of rows, where it is offered, is `fit` on all of them."""
    if not hasattr(learner, "partial_fit"):
        return
    case = case.learned_in_parts()
    data = data_for(learner)
    named = case.named_classes(data.y)
    parts = clone(learner)
    weighted, n_rows = has_fit_parameter(learner, "sample_weight"), 0
    for rows in np.array_split(np.arange(N), [30, 31, 200]):
        some = data.take(rows)
        arguments = {"sample_weight": some.w} if weighted and some.w.any() else {}
        if weighted and not arguments:
            continue
        target = {} if some.y is None else {"y": some.y}
        parts.partial_fit(some.X, **target, **named, **arguments)
        n_rows += len(rows)
        assert parts.n_rows_ == n_rows
    same(learned_from_numbers(learner, case), outcome(parts, data.X, case), case.rtol)


def rows_are_read_as_declared(learner: Any, case: Case) -> None:
    """Rows that memory cannot hold are read once, or again and again, or refused: as `_reads_rows`
    says."""
    passes = passes_without_memory(learner)
    if learner._reads_rows == "in memory":
        assert passes is None, f"it reads rows that memory cannot hold, {passes} times"
    else:
        assert passes is not None, "it refuses rows that memory cannot hold"
        assert passes <= 1 or learner._reads_rows == "many passes", (
            f"it reads the rows {passes} times"
        )


def passes_without_memory(learner: Any) -> int | None:
    """How often `fit`, cut short, reads rows of which memory holds half; None if it refuses
    them."""
    n = 60
    data = data_for(learner, n)
    classes = np.array(["a", "b", "c"])[np.arange(n) % 3]
    source = CountedCuts(
        Data(data.X, classes if data.y is None else data.y, np.ones(n))
    )
    with (
        patch("lyceum._core.data.rows.gather._half_of_memory", return_value=4 * n * D),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            fit(cut_short(learner), Rows(source))
        except SourceError as refusal:
            if not str(refusal).startswith(
                f"{type(learner).__name__} keeps every row in memory"
            ):
                raise
            return None
    return len(source.passes)


def cut_short(learner: Any) -> Any:
    """A copy that takes a few steps only: enough to see how it reads rows, and whether units
    matter."""
    few = {"max_iter": 3, "n_estimators": 3, "n_init": 1, "random_state": 0}
    return clone(learner).set_params(
        **{name: few[name] for name in few if name in learner.get_params()}
    )

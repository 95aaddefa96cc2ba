"""Tables of mixed kinds, with missing cells and new categories."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.utils import get_tags
from tests.checks.fits import METHODS, Case, columns_of, fit, outcome, same
from tests.checks.shared_fits import fitted_to_mixed, learned_from_mixed
from tests.checks.tables import N, dask_for, mixed_for, turn_of

from lyceum.data import scan
from lyceum.errors import MissingValuesError

__all__ = [
    "a_mixed_table_needs_no_encoding",
    "a_scanned_frame_is_the_frame",
    "missing_cells_are_taken_or_named",
    "new_categories_may_come_later",
    "unseen_categories_do_not_stop_it",
]


def a_mixed_table_needs_no_encoding(learner: Any, case: Case) -> None:
    """Text, true/false and numbers together: the same from pandas, Polars or pyarrow, Parquet and
    Dask."""
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    assert {column.kind for column in scan(frame).schema} <= set(learner._takes_kinds)
    expected = learned_from_mixed(learner, case)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    other = pl.from_pandas(frame) if turn_of(learner) % 2 else table
    same(
        expected,
        outcome(fit(learner, other, y), other, case),
        case.rtol,
        f"from {type(other).__module__}",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        whole = table if y is None else table.append_column("y", pa.array(y))
        pq.write_table(whole, path, row_group_size=97)
        stream = scan(path, None if y is None else "y", memory=0)
        same(
            expected,
            outcome(fit(learner, stream), frame, case),
            case.rtol,
            "from a stream",
        )
    same(
        expected,
        outcome(fit(learner, *dask_for(learner)), frame, case),
        case.rtol,
        "from Dask",
    )


def a_scanned_frame_is_the_frame(learner: Any, case: Case) -> None:
    """`fit(frame, y)` and `fit(scan(frame, target))` are one model: kinds are declared or go by
    types."""
    learner = clone(learner).set_params(**case.mixed)
    if isinstance(learner.get_params().get("categorical_features"), str):
        learner.set_params(categorical_features={"rooms": "categorical"})
    frame, y = mixed_for(learner)
    rng = np.random.default_rng(3)
    levels = ["often", "never", "at times"]
    frame = frame.assign(
        children=rng.integers(0, 2, N),  # two numbers are numbers
        rooms=rng.choice([1.0, 2.0, 5.0], N),
        rate=np.where(rng.random(N) < 0.5, 0.25, 0.75),
        sport=pd.Categorical(
            np.asarray(levels)[np.arange(N) % 3], levels, ordered=True
        ),
    )
    if get_tags(learner).input_tags.allow_nan:
        frame = frame.assign(
            **{
                name: frame[name].where(rng.random(N) > 0.1)
                for name in ("income", "sport")
            }
        )
    direct = fit(learner, frame, y)
    whole = frame if y is None else frame.assign(target=y)
    scanned = fit(learner, scan(whole, None if y is None else "target"))
    for one, two in zip(direct.schema_, scanned.schema_, strict=True):
        assert one.same_as(two), (one, two)
    assert direct.schema_["sport"].categories.tolist() == levels
    same(outcome(direct, frame, case), outcome(scanned, frame, case), case.rtol)


def missing_cells_are_taken_or_named(learner: Any, case: Case) -> None:
    """A learner that cannot take missing cells names the column, in `fit` and after it."""
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    for column in ("income", "town"):
        incomplete = frame.assign(**{column: frame[column].where(np.arange(N) % 7 > 0)})
        if get_tags(learner).input_tags.allow_nan:
            fitted = fit(learner, incomplete, y)
            for name in METHODS:
                if hasattr(fitted, name):
                    assert len(columns_of(getattr(fitted, name)(incomplete))[0]), name
            continue
        with pytest.raises(
            MissingValuesError, match=f"column '{column}' has a missing value"
        ):
            fit(learner, incomplete, y)
        fitted = fitted_to_mixed(learner, case)
        with pytest.raises(
            MissingValuesError, match=f"column '{column}' has a missing value"
        ):
            getattr(fitted, next(name for name in METHODS if hasattr(fitted, name)))(
                incomplete
            )


def unseen_categories_do_not_stop_it(learner: Any, case: Case) -> None:
    learner = clone(learner).set_params(**case.mixed)
    frame, _ = mixed_for(learner)
    fitted = fitted_to_mixed(learner, case)
    new = frame.assign(town="Rom")
    for name in METHODS:
        if hasattr(fitted, name):
            assert len(columns_of(getattr(fitted, name)(new))[0]) == N, name


def new_categories_may_come_later(learner: Any, case: Case) -> None:
    """`partial_fit` on rows with categories that were not there before is `fit` on all rows."""
    if not hasattr(learner, "partial_fit"):
        return
    learner = clone(learner).set_params(**case.mixed)
    case = case.learned_in_parts()
    frame, y = mixed_for(learner)
    named = case.named_classes(y)
    # Bonn comes last
    order = np.argsort(frame["town"].to_numpy() == "Bonn", kind="stable")
    parts = clone(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # the first rows may be too few
        for rows in np.array_split(order, 3):
            target = {} if y is None else {"y": y[rows]}
            parts.partial_fit(frame.iloc[rows], **target, **named)
    assert parts.schema_["town"].categories.tolist() == ["Bonn", "Köln", "Ulm"]
    same(learned_from_mixed(learner, case), outcome(parts, frame, case), case.rtol)

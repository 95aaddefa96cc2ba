"""Fitting learners and comparing what they learned."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

__all__ = ["METHODS", "Case", "columns_of", "fit", "outcome", "quiet", "same"]

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
)


@dataclass(frozen=True)
class Case:
    """What is particular to a learner: how close two fits must be, and what does not apply to
    it."""

    rtol: float = 1e-7  # of the two fits, relative to the largest entry of each array
    single: float = 1e-4  # the same for float32 cells
    far: float = 1e-4  # the same for cells a million away
    skip: tuple[str, ...] = ()  # fitted attributes that may differ
    # attributes for which a row of weight 2 is one row
    counts_rows: tuple[str, ...] = ()
    # a transformer that gives the cells back: they move with an offset
    moves: bool = False
    # rows with an infinite cell are left out: refused are those of which nothing is left
    leaves_out: bool = False
    # the first call of `partial_fit` has to name the classes
    names_classes: bool = False
    # attributes of the first rows that `partial_fit` is given
    of_first_rows: tuple[str, ...] = ()
    many: int = 2_600  # rows over which threads are compared, in two blocks
    # parameters for tables of mixed kinds
    mixed: dict[str, Any] = field(default_factory=dict)
    moved: dict[str, Any] = field(
        default_factory=dict
    )  # parameters for cells that are a million away
    without: dict[str, str] = field(
        default_factory=dict
    )  # laws that cannot hold: the reason for each

    def learned_in_parts(self) -> Case:
        """The case where rows come in parts."""
        return replace(self, skip=(*self.skip, *self.of_first_rows))

    def named_classes(self, y: Any) -> dict[str, Any]:
        """The argument of `partial_fit` that names the classes, if it has to be given."""
        return {"classes": np.unique(y)} if self.names_classes else {}


# -- fitting and comparing -------------------------------------------------------------


def fit(learner: Any, X: Any, y: Any = None, w: Any = None) -> Any:
    """A fitted copy."""
    arguments = {} if y is None else {"y": y}
    if w is not None and has_fit_parameter(learner, "sample_weight"):
        arguments["sample_weight"] = w
    return clone(learner).fit(X, **arguments)


def outcome(fitted: Any, X: Any, case: Case, arrays: bool = True) -> dict[str, Any]:
    """What the learner says of X, and the arrays that it learned."""
    found = {
        name: computed(getattr(fitted, name)(X))
        for name in METHODS
        if hasattr(fitted, name)
    }
    assert found, f"{type(fitted).__name__} has none of {', '.join(METHODS)}"
    for name, value in vars(fitted).items() if arrays else ():
        learned = (
            name.endswith("_") and not name.startswith("_") and name not in case.skip
        )
        if (
            learned
            and isinstance(value, float | np.floating | np.ndarray)
            and np.asarray(value).dtype.kind == "f"
        ):
            found[name] = np.asarray(value)
    return found


def computed(result: Any) -> Any:
    return result.compute() if hasattr(result, "compute") else result


def same(
    one: dict[str, Any], two: dict[str, Any], rtol: float, where: str = ""
) -> None:
    """Raise unless both agree: text exactly, numbers up to rtol of the largest; 0 means bit for
    bit."""
    assert one.keys() == two.keys(), where
    for name in one:
        for a, b in zip(columns_of(one[name]), columns_of(two[name]), strict=True):
            message = f"{name} {where}"
            if a.dtype.kind != "f" or b.dtype.kind != "f":
                _same_labels(a, b, message)
            elif rtol == 0:
                np.testing.assert_array_equal(a, b, err_msg=message)
            else:
                scale = np.max(np.abs(a[np.isfinite(a)]), initial=0.0)
                np.testing.assert_allclose(
                    b, a, rtol=rtol, atol=rtol * max(scale, 1e-300), err_msg=message
                )


def _same_labels(a: np.ndarray, b: np.ndarray, message: str) -> None:
    gone = pd.isna(a.astype(object))
    np.testing.assert_array_equal(gone, pd.isna(b.astype(object)), err_msg=message)
    np.testing.assert_array_equal(
        a[~gone].astype(str), b[~gone].astype(str), err_msg=message
    )


def columns_of(result: Any) -> list[np.ndarray]:
    """An array or a frame column by column."""
    if isinstance(result, pl.DataFrame | pa.Table):
        result = result.to_pandas()
    if isinstance(result, pd.DataFrame):
        return [column.to_numpy() for _, column in result.items()]
    array = result.toarray() if hasattr(result, "toarray") else np.asarray(result)
    return list(array.T) if array.ndim == 2 else [array]


@contextmanager
def quiet() -> Iterator[None]:
    """Without scikit-learn's remark that columns had names in `fit` and have none now."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore",
            message="X (does not have|has) valid feature names|X has feature names",
        )
        yield

"""Small fitted models of every learner in the catalog, as `load` gives them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.checks.cases import learner_named
from tests.checks.tables import data_for, mixed_for

from lyceum import catalog, persist
from lyceum._core.data import ArraySource, Inputs
from lyceum.data import Rows
from lyceum.errors import LyceumError

__all__ = ["fitted_files", "fitted_models"]

N_ROWS = 30
EVERY = 1  # the tests take every so many learners only


def fitted_files() -> Iterator[tuple[str, bytes, Any]]:
    """Name, model file and some rows, on numbers and, where the learner takes them, on a mixed
    table."""
    for entry in catalog.learners()[::EVERY]:
        for table in ("numbers", "mixed"):
            learner = learner_named(entry.name)
            data = data_for(learner, N_ROWS)
            X, y = (
                (data.X, data.y) if table == "numbers" else mixed_for(learner, N_ROWS)
            )
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    yield (
                        f"{entry.name} on {table}",
                        persist._pack(learner.fit(X, y)),
                        X[:7],
                    )
            except (
                LyceumError
            ):  # cannot take the mixed table, or cannot be saved with these settings
                continue


def fitted_models() -> Iterator[tuple[str, Any, Any]]:
    """Name, loaded model and some rows, coded once for all cases."""
    for name, data, X in fitted_files():
        model = persist._build(persist._members(data))
        yield name, model, _encode_rows(model, X) if hasattr(model, "schema_") else X


def _encode_rows(model: Any, X: Any) -> Rows:
    rows = Inputs(model).for_predict(X)
    cells = np.concatenate([block.X for block in rows.blocks()])
    return Rows(ArraySource(cells, None, None, copy.deepcopy(rows.schema), coded=True))

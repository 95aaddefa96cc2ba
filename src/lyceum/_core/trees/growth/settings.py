"""Growth rules from a learner's parameters, and the parameters' constraints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, RealNotInt, StrOptions
from lyceum._core.data import Schema
from lyceum._core.probability import LossMatrix
from lyceum._core.trees.growth.grow import Growth
from lyceum._core.types import Estimator
from lyceum.errors import SettingError, number_setting

_COUNT = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="neither"),
]

GROWTH_CONSTRAINTS: dict[str, Any] = {
    "splitter": [StrOptions({"best", "random"})],
    "categorical_split": [StrOptions({"groups", "multiway", "one_vs_rest"})],
    "continuous_split": [StrOptions({"two_way", "multi_way"})],
    "max_branches": [Interval(Integral, 2, None, closed="left")],
    "missing": [StrOptions({"learned", "fractions"})],
    "cut": [StrOptions({"midpoint", "observed"})],
    "max_depth": [None, Interval(Integral, 1, None, closed="left")],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
    ],
    "min_samples_leaf": _COUNT,
    "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
    "max_leaf_nodes": [None, Interval(Integral, 2, None, closed="left")],
    "min_impurity_decrease": [Interval(Real, 0, None, closed="left")],
    "require_gain": ["boolean"],
    "max_features": [
        None,
        StrOptions({"sqrt", "log2"}),
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
    ],
    "attribute_costs": [None, dict, "array-like"],
    "monotonic_cst": ["array-like", None],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "ccp_alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"cv"})],
    "max_bins": [None, Interval(Integral, 2, 255, closed="both")],
    "random_state": ["random_state"],
    "record": ["boolean"],
    "categorical_features": CATEGORICAL_FEATURES,
}


def growth_rules(
    learner: Estimator, schema: Schema, n_rows: int, weight: float, seed: int
) -> Growth:
    """Growth rules from a learner's parameters, for `n_rows` rows of total weight `weight`."""
    loss = getattr(learner, "loss_matrix_", None)
    if learner.criterion != "misclassification":
        loss = None
    # the smallest weight of a child: an absolute one for C45, a share of the total for the others
    if hasattr(learner, "min_weight_leaf"):
        min_weight = learner.min_weight_leaf
    else:
        min_weight = learner.min_weight_fraction_leaf * weight
    max_features = learner.max_features_
    if max_features == len(schema):
        max_features = None
    return Growth(
        criterion=learner.criterion,
        categorical=learner.categorical_split,
        continuous=learner.continuous_split,
        max_branches=learner.max_branches,
        missing=learner.missing,
        cut=learner.cut,
        max_depth=learner.max_depth,
        min_samples_split=max(2, resolve_row_count(learner.min_samples_split, n_rows)),
        min_samples_leaf=resolve_row_count(learner.min_samples_leaf, n_rows),
        min_weight_leaf=min_weight,
        max_leaf_nodes=learner.max_leaf_nodes,
        min_impurity_decrease=learner.min_impurity_decrease,
        max_p_value=getattr(learner, "max_p_value", None),
        max_features=max_features,
        splitter=learner.splitter,
        needs_gain=learner.require_gain,
        release8=getattr(learner, "_release8", False),
        costs=column_costs(learner.attribute_costs, schema),
        loss=loss,
        monotonic=column_directions(learner, schema),
        seed=seed,
        record=learner.record,
    )


def resolve_row_count(given: float, n_rows: int) -> int:
    """A number of rows, from a number or from a share of all rows."""
    if isinstance(given, int | np.integer):
        return int(given)
    return max(1, math.ceil(given * n_rows))


def resolve_max_features(max_features: Any, d: int) -> int:
    """The number of columns drawn at a node."""
    if max_features is None:
        return d
    if max_features == "sqrt":
        return max(1, int(math.sqrt(d)))
    if max_features == "log2":
        return max(1, int(math.log2(d)))
    if isinstance(max_features, int | np.integer):
        return min(int(max_features), d)
    return max(1, int(max_features * d))


def column_costs(costs: Any, schema: Schema) -> np.ndarray | None:
    """The cost of testing every column; a column that a dict does not name costs 1."""
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        odd = [name for name in costs if name not in schema.names]
        if odd:
            raise SettingError(
                f"attribute_costs names the column {odd[0]!r}; the columns are {list(schema.names)}"
            )
        cells: Any = [costs.get(name, 1.0) for name in schema.names]
    else:
        cells = costs
    values = number_setting("attribute_costs", cells)
    are_positive = np.isfinite(values) & (values > 0)
    if values.shape != (len(schema),) or not are_positive.all():
        raise SettingError(
            f"attribute_costs must be {len(schema)} positive numbers, one per column, or a dict by"
            f" column name; got {costs!r}"
        )
    return values


def column_directions(learner: Estimator, schema: Schema) -> np.ndarray | None:
    """`monotonic_cst`, checked: one of −1, 0 and 1 per column, for two classes or one number."""
    if learner.monotonic_cst is None:
        return None
    name = type(learner).__name__
    if getattr(learner, "n_outputs_", 1) > 1:
        raise SettingError(
            f"Monotonicity constraints are not supported with multiple outputs: fit one {name} per"
            " column of y"
        )
    if len(getattr(learner, "classes_", (0, 1))) > 2:
        raise SettingError(
            "Monotonicity constraints are not supported with multiclass classification: the"
            " posteriors of more than two classes cannot all rise"
        )
    directions = np.asarray(learner.monotonic_cst)
    if directions.shape != (len(schema),):
        raise SettingError(
            f"monotonic_cst has shape {directions.size} but the input data X has {len(schema)}"
            " features."
        )
    if not np.isin(directions, (-1, 0, 1)).all():
        raise SettingError(
            "monotonic_cst must be None or an array-like of -1, 0 or 1, but got"
            f" {np.unique(directions).tolist()}"
        )
    if not directions.any():
        return None
    ordered = learner.criterion not in ("sd", "gain_ratio")
    two_way = getattr(learner, "continuous_split", "two_way") == "two_way"
    if not ordered or not two_way or any(column.is_categorical for column in schema):
        raise SettingError(
            "monotonic_cst is for columns of numbers, splits in two and criteria of means, medians"
            f" or class shares: this {name} has criterion={learner.criterion!r} or columns of"
            " categories"
        )
    return directions


def class_losses(
    loss: Any, classes: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray]:
    """The losses with rows in the order of the classes, and the actions of the columns."""
    if loss is None:
        return None, classes
    if isinstance(loss, LossMatrix | Mapping):
        loss = LossMatrix.of(loss, classes)
        actions = np.asarray(loss.actions if loss.actions is not None else classes)
        return np.array(loss.values, dtype=np.float64), actions
    values = number_setting("loss_matrix", loss)
    if values.shape != (len(classes), len(classes)):
        raise SettingError(
            f"loss_matrix has shape {values.shape}, but there are {len(classes)} classes: give rows"
            " = true class and columns = predicted class in the order of classes_, or a LossMatrix"
            " where actions have other names"
        )
    return values, classes

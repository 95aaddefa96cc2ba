"""What was learned and recorded stays as it is: later fits and the caller's arrays do not change
it."""

import copy
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from tests.checks.cases import learner_named
from tests.checks.fits import METHODS, columns_of
from tests.checks.source_laws import cut_short
from tests.checks.tables import data_for

from lyceum import catalog

NAMES = [entry.name for entry in catalog.learners()]
# names of what shows the way of a fit: every step is one of its own
STEPS = ("record_", "history_")


def arrays_in(value, path, seen):
    """Every array that can be reached from a value, with the way to it."""
    if id(value) in seen or isinstance(value, str | bytes | type):
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield path, value
        if value.dtype == object:
            for i, part in enumerate(value.ravel()):
                yield from arrays_in(part, f"{path}[{i}]", seen)
    elif sparse.issparse(value):
        yield f"{path}.data", value.data
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from arrays_in(part, f"{path}[{key!r}]", seen)
    elif isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from arrays_in(part, f"{path}[{i}]", seen)
    elif is_dataclass(value):
        for field in fields(value):
            part = getattr(value, field.name, None)
            yield from arrays_in(part, f"{path}.{field.name}", seen)
    elif hasattr(value, "__dict__"):
        for name, part in vars(value).items():
            yield from arrays_in(part, f"{path}.{name}", seen)


def learned_arrays(model):
    """The arrays of everything learned, not of the settings."""
    settings = model.get_params(deep=False)
    for name, value in list(vars(model).items()):
        if name not in settings:
            yield from arrays_in(value, name, set())


def fitted(name, record=True, two_classes=False):
    """A fitted learner that records its steps where it can, and copies of its rows."""
    learner = cut_short(learner_named(name))
    if "record" in learner.get_params(deep=False):
        learner.set_params(record=record)
    data = copy.deepcopy(data_for(learner, 60))
    if two_classes and data.y is not None and data.y.dtype.kind == "U":
        data.y[data.y == "cow"] = "bee"
    weights = {}
    if has_fit_parameter(learner, "sample_weight"):
        weights = {"sample_weight": data.w + 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(learner).fit(data.X, data.y, **weights)
    return model, data, weights


def changed(snapshot):
    return [
        path
        for path, array, before in snapshot
        if not np.array_equal(array, before, equal_nan=array.dtype.kind == "f")
    ]


def snapshot_of(model):
    return [(path, array, array.copy()) for path, array in learned_arrays(model)]


@pytest.mark.parametrize("name", NAMES)
def test_later_fits_do_not_change_what_was_learned_before(name):
    model, _, _ = fitted(name)
    before = snapshot_of(model)
    other = data_for(model, 60, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(model, "partial_fit"):
            model.partial_fit(other.X, other.y)
            assert not changed(before)
            before = snapshot_of(model)
        model.fit(other.X, other.y)
        model.predict(other.X) if hasattr(model, "predict") else None
    assert not changed(before)


RECORDING = [
    name
    for name in NAMES
    if "record" in learner_named(name).get_params(deep=False)
    or "history_" in (learner_named(name).__doc__ or "")
]


@pytest.mark.parametrize("two_classes", [False, True])
@pytest.mark.parametrize("name", RECORDING)
def test_every_step_of_a_record_has_its_own_arrays(name, two_classes):
    takes_steps = "steps" in repr(
        learner_named(name)._parameter_constraints.get("record")
    )
    model, _, _ = fitted(name, "steps" if takes_steps else True, two_classes)
    for steps in STEPS:
        recorded = getattr(model, steps, None)
        if not isinstance(recorded, list | tuple) or len(recorded) < 2:
            continue
        of_step = [
            [array for _, array in arrays_in(step, "", set()) if array.size]
            for step in recorded
        ]
        for i in range(len(of_step)):
            for j in range(i):
                shared = any(
                    a is b or np.shares_memory(a, b)
                    for a in of_step[i]
                    for b in of_step[j]
                    if a.flags.writeable and b.flags.writeable
                )
                assert not shared, (steps, j, i)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_does_not_change_with_the_arrays_that_it_was_fitted_to(name):
    model, data, weights = fitted(name)
    asked = data_for(model, 9, seed=5).X
    answers = {
        method: [column.copy() for column in columns_of(getattr(model, method)(asked))]
        for method in METHODS
        if hasattr(model, method)
    }
    before = snapshot_of(model)
    data.X[:] = 1.0
    if data.y is not None:
        data.y[:] = data.y[0]
    for w in weights.values():
        w[:] = 1.0
    assert not changed(before)
    for method, columns in answers.items():
        for a, b in zip(columns, columns_of(getattr(model, method)(asked))):
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), method

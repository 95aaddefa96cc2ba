"""Loaded models with one or two values replaced in memory: each is refused as `load` would, or
answers.

`model_files` does the same through whole files. Here the model that was loaded once is changed in
place, checked as `load` checks it, asked, and mended again, which is some twenty times quicker.
"""

from __future__ import annotations

import resource
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _param_validation

from fuzz import Finding
from fuzz.fitted import fitted_models
from fuzz.mutations import mutate_array, mutate_json
from lyceum.data import Rows
from lyceum.errors import LyceumError, ModelFileError
from lyceum.persist.model_checks import check_model, rehearse

__all__ = ["case", "make"]

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
    "anomalies",
    "explain",
)
ALONE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("summary", {}),
    ("sample", {"n_samples": 2, "random_state": 1}),
)
CHANGES = 40  # of a model that is one learner
MEMORY = 8 << 30
Put = Callable[[Any], None]
_GONE = object()  # in the place of an attribute that a file does not have


@dataclass(frozen=True)
class Place:
    """Where a value stands in a model, and how another is put there."""

    name: str
    value: Any
    put: Put


@dataclass(frozen=True)
class Sample:
    """One loaded model, its places, what its containers held at first, and rows to put to it."""

    name: str
    model: Any
    places: list[Place]
    contents: list[tuple[Any, Any]]
    rows: Any

    @property
    def n_changes(self) -> int:
        """How many changes the model of one seed gets: committees, which take long to ask, get
        fewer."""
        learners = sum(
            isinstance(container, BaseEstimator) for container, _ in self.contents
        )
        return max(4, CHANGES // learners)

    def mend(self) -> None:
        """Bring everything back that a change, or a cache made from it, has left behind."""
        for container, content in self.contents:
            if isinstance(container, list):
                container[:] = content
            elif isinstance(container, dict):
                container.clear()
                container.update(content)
            elif hasattr(container, "__dict__"):
                vars(container).clear()
                vars(container).update(content)
            else:
                for name, value in content:
                    object.__setattr__(container, name, value)


def make() -> list[Sample]:
    """Every cataloged learner, on numbers and, where it takes them, on a mixed table."""
    # its shadow is larger than any limit
    if "libasan" not in Path("/proc/self/maps").read_text():
        resource.setrlimit(
            resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1])
        )
    _remember_constraints()
    BaseEstimator._get_param_names = classmethod(
        cache(BaseEstimator._get_param_names.__func__)
    )  # type: ignore
    samples = []
    for name, model, rows in fitted_models():
        samples.append(Sample(name, model, *_places(model), rows))
    return samples


def _remember_constraints() -> None:
    """Make scikit-learn's constraint of a parameter once, not at every check."""
    make, made = _param_validation.make_constraint, dict[int, tuple[Any, Any]]()

    def make_once(constraint: Any) -> Any:
        if id(constraint) not in made:
            made[id(constraint)] = (constraint, make(constraint))
        return made[id(constraint)][1]

    _param_validation.make_constraint = make_once


def case(samples: list[Sample], rng: np.random.Generator) -> Counter[str]:
    """Change one or two values of a model, and let it answer if the checks let it pass; several
    times."""
    sample = samples[rng.integers(len(samples))]
    outcomes = Counter[str]()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(sample.n_changes):
            try:
                outcomes[_change_and_ask(sample, samples, rng)] += 1
            finally:
                sample.mend()
    return outcomes


def _change_and_ask(
    sample: Sample, samples: list[Sample], rng: np.random.Generator
) -> str:
    changes = []
    try:
        for _ in range(1 + (rng.random() < 0.3)):
            place = sample.places[rng.integers(len(sample.places))]
            value = _changed(place.value, samples, rng)
            changes.append((place.name, place.value, value))
            place.put(value)
    except (
        Exception
    ):  # what no file could build either, e.g. a sparse matrix whose parts do not fit
        return "damaged"
    return _ask(sample, METHODS if rng.random() < 0.2 else METHODS[:-1], changes)


def _ask(
    sample: Sample, methods: Sequence[str], changes: list[tuple[str, Any, Any]]
) -> str:
    try:
        check_model(sample.model)
        rehearse(sample.model)
    except ModelFileError:
        return "refused"
    except Exception:
        return "unusable"  # which `load` says in a sentence of its own
    for method in methods:
        _ask_method(sample, changes, method, sample.rows)
    for method, settings in ALONE:
        _ask_method(sample, changes, method, **settings)
    return "answered"


def _ask_method(
    sample: Sample,
    changes: list[tuple[str, Any, Any]],
    method: str,
    *data: Any,
    **settings: Any,
) -> None:
    if not hasattr(sample.model, method):
        return
    try:
        answer = getattr(sample.model, method)(*data, **settings)
        if isinstance(answer, Rows):  # of a transformer, lazy
            list(answer.blocks())
    except LyceumError:
        return
    except Exception as error:
        raise Finding(
            f"{sample.name}: {_words(changes)}: {method} raised {error!r}"
        ) from error
    _check_numbers(sample, method, answer, changes)


def _check_numbers(
    sample: Sample, method: str, answer: Any, changes: list[tuple[str, Any, Any]]
) -> None:
    """Raise if the answer to finite cells has missing numbers."""
    values = answer[0] if isinstance(answer, tuple) else answer
    is_float = isinstance(values, np.ndarray) and values.dtype.kind == "f"
    if not is_float or not np.isnan(values).any() or not isinstance(sample.rows, Rows):
        return
    if all(np.isfinite(block.dense).all() for block in sample.rows.blocks()):
        raise Finding(f"{sample.name}: {_words(changes)}: {method} gives NaN")


def _words(changes: list[tuple[str, Any, Any]]) -> str:
    return " and ".join(
        f"{name} from {_short(old)} to {_short(new)}" for name, old, new in changes
    )


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape} {np.array2string(value, threshold=12)}"[
            :300
        ]
    return "nothing" if value is _GONE else repr(value)[:100]


def _changed(value: Any, samples: list[Sample], rng: np.random.Generator) -> Any:
    """Another value: near this one, none at all, or one that stands in some model."""
    how = rng.random()
    if how < 0.1:
        other = samples[rng.integers(len(samples))]
        return other.places[rng.integers(len(other.places))].value
    if how < 0.12:
        return _GONE
    if isinstance(value, np.ndarray) and value.dtype != object:
        return mutate_array(value, rng)
    if sparse.issparse(value):
        return _other_sparse(value, rng)
    return mutate_json(value, rng)


def _other_sparse(value: Any, rng: np.random.Generator) -> Any:
    parts = [value.data, value.indices, value.indptr]
    at = rng.integers(3)
    parts[at] = mutate_array(parts[at], rng)
    return type(value)(tuple(parts), shape=value.shape)


# -- the places of a model -------------------------------------------------------------


def _places(model: Any) -> tuple[list[Place], list[tuple[Any, Any]]]:
    """Every value of the model that a file holds, down to the leaves; and what its containers
    hold."""
    places: list[Place] = []
    contents: list[tuple[Any, Any]] = []
    waiting: list[tuple[str, Any, Put | None, tuple[Callable[[], None], ...]]]
    waiting, seen = [(type(model).__name__, model, None, ())], set()
    while waiting:
        name, value, put, refresh = waiting.pop()
        if put is not None:
            places.append(
                Place(name, value, put if not refresh else _refreshing(put, refresh))
            )
        if id(value) in seen and not isinstance(value, tuple):
            continue
        seen.add(id(value))
        if (content := _content(value)) is not None:
            contents.append((value, content))
        if (state := _own_state(value)) is not None:
            contents.append((state, dict(state)))
            refresh = (*refresh, _set_state(value, state))
            value = state
        waiting.extend(
            (f"{name}.{key}", inner, to, refresh)
            for key, inner, to in _items(value, put)
        )
    return places, contents


def _items(holder: Any, put: Put | None) -> Iterator[tuple[Any, Any, Put]]:
    """What a value holds, each with the function that puts another thing in its place."""
    if isinstance(holder, dict):
        for key, value in holder.items():
            yield key, value, partial(_put_item, holder, key)
    elif isinstance(holder, list):
        for at, value in enumerate(holder):
            yield at, value, partial(_put_item, holder, at)
    elif isinstance(holder, tuple):
        assert put is not None
        for at, value in enumerate(holder):
            yield at, value, partial(_put_in_tuple, holder, at, put)
    elif isinstance(holder, BaseEstimator) or type(holder).__module__.startswith(
        "lyceum."
    ):
        for name, value in _attributes(holder):
            yield name, value, partial(_put_attribute, holder, name)


def _attributes(holder: Any) -> list[tuple[str, Any]]:
    if hasattr(holder, "__dict__"):
        return list(vars(holder).items())
    if is_dataclass(holder):
        return [(field.name, getattr(holder, field.name)) for field in fields(holder)]
    return []


def _content(container: Any) -> Any:
    """What to put back: the items of a list or dictionary, the attributes of anything else."""
    if isinstance(container, list | dict):
        return container.copy()
    if isinstance(container, BaseEstimator) or type(container).__module__.startswith(
        "lyceum."
    ):
        return _attributes(container)
    return None


def _own_state(holder: Any) -> dict[str, Any] | None:
    """What a file holds of an object that does not keep all its attributes."""
    own = getattr(type(holder), "__getstate__", None)
    if isinstance(holder, type) or own in (
        None,
        object.__getstate__,
        BaseEstimator.__getstate__,
    ):
        return None
    state = holder.__getstate__()
    return dict(state) if isinstance(state, dict) else None


def _set_state(holder: Any, state: dict[str, Any]) -> Callable[[], None]:
    def set_state() -> None:
        vars(holder).clear()
        if hasattr(holder, "__setstate__"):
            holder.__setstate__(dict(state))
        else:
            vars(holder).update(state)

    return set_state


def _refreshing(put: Put, refresh: tuple[Callable[[], None], ...]) -> Put:
    def put_and_refresh(value: Any) -> None:
        put(value)
        for set_state in reversed(refresh):
            set_state()

    return put_and_refresh


def _put_item(holder: Any, key: Any, value: Any) -> None:
    if value is _GONE:
        del holder[key]
    else:
        holder[key] = value


def _put_in_tuple(holder: tuple[Any, ...], at: int, put: Put, value: Any) -> None:
    put((*holder[:at], *(() if value is _GONE else (value,)), *holder[at + 1 :]))


def _put_attribute(holder: Any, name: str, value: Any) -> None:
    if value is _GONE:
        object.__delattr__(holder, name)
    else:
        object.__setattr__(holder, name, value)

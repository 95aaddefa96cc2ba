"""Model files with a right digest and wrong contents: each loads into a model that answers, or is
refused."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fuzz import Finding
from fuzz.fitted import fitted_files
from fuzz.mutations import mutate_array, mutate_json
from lyceum import persist
from lyceum.errors import LyceumError, ModelFileError
from lyceum.persist.model_checks import check_model, rehearse

__all__ = ["case", "make"]

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
    "explain",
)
METHODS += ("decision_path",)  # of scikit-learn's trees


@dataclass(frozen=True)
class Sample:
    """One fitted learner as a file, and rows to put to it."""

    name: str
    members: dict[str, bytes]
    X: Any


def make() -> list[Sample]:
    """Every cataloged learner, on numbers and, where it can, on a mixed table; some of
    scikit-learn's."""
    files = (*fitted_files(), *foreign_files())
    return [Sample(name, persist._members(data), X) for name, data, X in files]


def foreign_files() -> Iterator[tuple[str, bytes, Any]]:
    """Learners of scikit-learn with compiled parts, several times each: files of them may be loaded
    too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    for learner in (
        DecisionTreeClassifier(max_depth=5),
        RandomForestRegressor(2),
        GaussianNB(),
    ) * 5:
        yield (
            f"scikit-learn's {type(learner).__name__}",
            persist._pack(learner.fit(X, y)),
            X[:7],
        )


def case(samples: list[Sample], rng: np.random.Generator) -> str:
    """Load one changed file, and let the model answer if it loads; what became of it."""
    sample = samples[rng.integers(len(samples))]
    data, how = changed_file(sample.members, rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            members = persist._members(data)
            persist._check_header(members)
            model = persist._build(members)
            check_model(model)
            rehearse(model)
        except ModelFileError:
            return "refused"
        except MemoryError as error:
            raise Finding(f"{sample.name}: {how}: {error!r} while loading") from error
        except Exception:
            return "damaged"
        return answer(model, sample, how)


def answer(model: Any, sample: Sample, how: str) -> str:
    """Call everything that predicts; refusals by name are answers, other errors are findings."""
    for method in METHODS:
        if not hasattr(model, method):
            continue
        try:
            getattr(model, method)(sample.X)
        except LyceumError:
            continue
        except Exception as error:
            # its own complaint; it must not crash
            if sample.name.startswith("scikit-learn"):
                return "an error of scikit-learn's"
            raise Finding(f"{sample.name}: {how}: {method} raised {error!r}") from error
    return "answered"


def changed_file(
    members: dict[str, bytes], rng: np.random.Generator
) -> tuple[bytes, str]:
    """The file with one or two arrays or values changed and its digest made anew; and what was
    changed."""
    members, changes = dict(members), []
    arrays = [name for name in members if name.endswith(".npy")]
    for _ in range(rng.integers(1, 3)):
        if arrays and rng.random() < 0.7:
            name = arrays[rng.integers(len(arrays))]
            array = np.load(io.BytesIO(members[name]), allow_pickle=False)
            changed = mutate_array(array, rng)
            stream = io.BytesIO()
            np.save(stream, changed, allow_pickle=False)
            members[name] = stream.getvalue()
            changes.append(
                f"array {array.dtype}{array.shape} to {changed.dtype}{changed.shape}"
            )
        else:
            schema = json.loads(members["schema.json"])
            changes.append(_change_value(schema, rng))
            members["schema.json"] = json.dumps(schema).encode()
    header = json.loads(members["lyceum.json"])
    header["sha256"] = persist._digest(members)
    return persist._archive(
        members | {"lyceum.json": json.dumps(header).encode()}
    ), " and ".join(changes)


def _change_value(schema: Any, rng: np.random.Generator) -> str:
    """Change one value that the file holds beside its arrays."""
    places: list[tuple[Any, Any]] = []
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        items = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in items:
            if isinstance(value, dict | list):
                waiting.append(value)
            elif key not in (
                "__module__",
                "__class__",
                "__loader__",
                "protocol",
                "_skops_version",
            ):
                places.append((part, key))
    holder, key = places[rng.integers(len(places))]
    before = holder[key]
    if isinstance(before, str) and key == "content":  # a JSON text within the JSON
        holder[key] = (
            json.dumps(mutate_json(json.loads(before), rng))
            if _is_json(before)
            else str(mutate_json(before, rng))
        )
    else:
        holder[key] = mutate_json(before, rng)
    return f"{key} {before!r} to {holder[key]!r}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True

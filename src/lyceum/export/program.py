"""A fitted model as a program: operations on the cells of one row, with their constants.

Steps and learners give their own operations (`operations`, `_operations`); what has none is refused
by name. `lyceum.export.runtime` runs them in plain Python, and every writer of this room writes the
same program in its language.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from lyceum import __version__
from lyceum._core.base import decides_apart, model_operations, pipeline_steps
from lyceum._core.data import Column, Schema
from lyceum._core.types import Estimator, Operation
from lyceum.decision import MinimumRiskClassifier
from lyceum.errors import ExportError, LyceumError, cannot_export
from lyceum.export import runtime

Answer = dict[str, Any] | str  # a sentence where a record is refused


@dataclass(frozen=True)
class Program:
    """What an exported model computes of a record.

    Attributes
    ----------
    name : str
        The class of the learner.
    target : str
        What it predicts.
    columns : list of dict
        The columns of a record: name, and codes of categories by their text (None for numbers).
    operations : list of (name, constants)
        What happens to the cells of a row, one after the other.
    labels : list or None
        The classes; None if it predicts numbers.
    has_posteriors : bool
        Whether the last numbers are posteriors, not only scores.
    decides_apart : bool
        Whether scores of the classes, the largest of which decides, follow the posteriors.
    costs : dict or None
        The loss matrix and the doubt of a MinimumRiskClassifier.

    See Also
    --------
    export_model : Writes it to a file.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.export import Program
    >>> program = Program.of(NaiveBayes().fit(datasets.load("weather")))
    >>> [name for name, constants in program.operations]
    ['recode', 'require', 'column_densities', 'softmax']
    >>> record = {"outlook": "sunny", "temperature": "hot", "humidity": "high", "windy": False}
    >>> program.decide(record)["predicted"]
    'no'
    """

    name: str
    target: str
    columns: list[dict[str, Any]]
    operations: list[Operation]
    labels: list[Any] | None = None
    has_posteriors: bool = False
    decides_apart: bool = False
    costs: dict[str, Any] | None = None

    @classmethod
    def of(cls, model: Estimator) -> Program:
        """The program of a fitted learner, pipeline or MinimumRiskClassifier."""
        costs = None
        if isinstance(model, MinimumRiskClassifier):
            costs = _costs(model)
            model = model.estimator_
        steps = [
            step for step in pipeline_steps(model) if step not in (None, "passthrough")
        ]
        learner = steps[-1]
        if not hasattr(steps[0], "schema_"):
            raise cannot_export(
                learner, "it does not say which columns it was fitted on"
            )
        schema = Schema(steps[0].schema_.columns)
        operations = model_operations(model, schema)
        apart = decides_apart(model)
        if apart and costs is not None:  # a loss decides by posteriors
            columns = list(range(len(learner.classes_)))
            operations.append(("pick", {"columns": columns}))
            apart = False
        return cls(
            name=type(learner).__name__,
            target=_target_name(learner),
            columns=[_column(column) for column in schema],
            operations=operations,
            labels=_labels(learner),
            has_posteriors=hasattr(learner, "predict_proba"),
            decides_apart=apart,
            costs=costs,
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything in plain lists and dicts; numbers may be NaN or infinite."""
        return {
            "name": self.name,
            "target": self.target,
            "columns": self.columns,
            "operations": [list(operation) for operation in self.operations],
            "labels": self.labels,
            "has_posteriors": self.has_posteriors,
            "decides_apart": self.decides_apart,
            "costs": self.costs,
        }

    def decide(self, record: dict[str, Any]) -> dict[str, Any]:
        """The answer to a record, as every exported file gives it."""
        cells = runtime.read_cells(record, self.columns)
        return runtime.decide_cells(cells, self.as_dict())


def _target_name(learner: Any) -> str:
    if not hasattr(learner, "classes_") and not is_regressor(learner):
        return "cluster"
    return learner.schema_.target_name


def _labels(learner: Any) -> list[Any] | None:
    """The classes, or the numbers of clusters and components; None of values."""
    if hasattr(learner, "classes_"):
        return learner.classes_.tolist()
    if is_regressor(learner):
        return None
    for name in ("n_components", "n_clusters"):
        if hasattr(learner, name):
            return list(range(getattr(learner, name)))
    raise cannot_export(learner, "it predicts no target")


def _column(column: Column) -> dict[str, Any]:
    """How a cell of a record is read."""
    if column.is_free_text or column.is_time:
        kind = "free text" if column.is_free_text else "a date"
        raise ExportError(f"column {column.name!r} is {kind}, which cannot be exported")
    if column.categories is None or column.numeric:
        return {"name": column.name, "codes": None}
    labels = column.categories.tolist()
    return {
        "name": column.name,
        "codes": {_key(label): code for code, label in enumerate(labels)},
        "labels": _kind_of(labels),
    }


def _kind_of(labels: list[Any]) -> str:
    """What the categories of a column are, beside the texts by which they are found."""
    if all(isinstance(label, bool) for label in labels):
        return "true or false"
    if all(isinstance(label, int | float) for label in labels):
        return "numbers"
    return "texts"


def _key(label: Any) -> str:
    """The text by which a category is found in every language: of 1.0 as of 1, of True "true"."""
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def _costs(model: MinimumRiskClassifier) -> dict[str, Any]:
    loss = model.loss_matrix_
    actions = model.actions_.tolist()
    return {
        "values": loss.values.tolist(),
        "zero_one": bool(loss.is_zero_one),
        "actions": actions,
        "names_class": (loss.names_class >= 0).tolist(),
        "doubt": model.doubt,
        "reject_label": model.reject_label,
    }


# -- a check before anything is written ------------------------------------------------


def sample_records(
    program: Program,
    quantiles: Mapping[str, np.ndarray] | None = None,
    n: int = 200,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Records with ordinary, extreme, missing and unknown cells; ordinary numbers lie between the
    quantiles of the training rows, where these are known."""
    rng = np.random.default_rng(seed)
    # where the program refuses missing cells that the model would take, none are drawn
    complete = any(p.get("is_stricter") for _, p in program.operations)
    records = []
    for i in range(n):
        record: dict[str, Any] = {}
        for column in program.columns:
            levels = None if quantiles is None else quantiles.get(column["name"])
            ordinary = i % 4 < 2
            holes = not (complete or i % 2 == 0)
            known = levels if ordinary else None
            record[column["name"]] = _drawn_cell(column, rng, known, holes)
        records.append(record)
    return records


def _drawn_cell(
    column: dict[str, Any],
    rng: np.random.Generator,
    quantiles: np.ndarray | None,
    holes: bool,
) -> Any:
    if holes and rng.random() < 0.15:
        return None
    if column["codes"] is None and quantiles is not None:
        return float(
            np.interp(rng.random(), np.linspace(0, 1, len(quantiles)), quantiles)
        )
    if column["codes"] is None:
        scale = 10.0 ** rng.integers(-1, 5)
        return float(rng.normal() * scale)
    texts = list(column["codes"])
    if column["labels"] == "texts" and holes and rng.random() < 0.1:
        return "a category that is not there"
    if not texts:
        return None
    text = texts[rng.integers(len(texts))]
    if column["labels"] == "true or false":
        return text == "true"
    if column["labels"] == "numbers":
        is_whole = text.lstrip("-").isdigit()
        return int(text) if is_whole else float(text)
    return text


def hangs_on_rounding(program: Program, record: dict[str, Any]) -> bool:
    """Whether a member of a committee votes, or a row is among the nearest, by a difference that
    is nothing but rounding, so that another order of the same sums may decide otherwise."""
    try:
        cells = runtime.read_cells(record, program.columns)
        return _least_margin(cells, program.operations) < 1e-9
    except (LyceumError, ValueError):  # a record that is refused is compared as such
        return False


def _least_margin(x: list[float], operations: Sequence[Operation]) -> float:
    margin = math.inf
    for name, p in operations:
        if name == "branches":
            inside = (_least_margin(x, branch) for branch in p["branches"])
            margin = min(margin, *inside)
        if name == "vote" and len(x) > 1:
            second, first = sorted(x)[-2:]
            margin = min(margin, first - second)
        if name == "nearest" and len(x) > p["k"]:
            last, next_one = sorted(x)[p["k"] - 1 : p["k"] + 1]
            margin = min(margin, next_one - last)
        x = runtime.OPERATIONS[name](x, p)
    return margin


def program_title(program: Program) -> str:
    """What was exported, for the first comment of a file."""
    target = comment_text(program.target)
    return f"{program.name} of {target}, exported by Lyceum {__version__}."


def comment_text(text: str) -> str:
    """A name from the data that cannot end a comment of any language: one line, without the signs
    of ends and escapes."""
    return "".join(
        letter if letter.isprintable() and letter not in '"\\*' else " "
        for letter in text
    )


def answers_to(
    answer: Callable[[dict[str, Any]], dict[str, Any]], records: list[dict[str, Any]]
) -> list[Answer]:
    """The answer to every record; the sentence of the error where there is none."""
    answers: list[Answer] = []
    for record in records:
        try:
            answers.append(answer(record))
        except (LyceumError, ValueError) as error:
            answers.append(str(error))
    return answers


def largest_difference(ours: list[Answer], theirs: list[Answer]) -> float:
    """The largest difference of probabilities or (relative) values between two lists of answers to
    the same records; infinite where their classes differ although one is clearly ahead, or only
    one of them refuses."""
    worst = 0.0
    for own, other in zip(ours, theirs, strict=True):
        if isinstance(own, str) and isinstance(other, str):
            continue
        if isinstance(own, str) or isinstance(other, str):
            return float("inf")
        worst = max(worst, _difference(own, other))
    return worst


def _distance(p: float, q: float) -> float:
    """|p - q|; infinite where only one of them is not a number."""
    if p != p or q != q:
        return 0.0 if p != p and q != q else float("inf")
    return abs(p - q)


def _difference(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    if "probabilities" in ours:
        pairs = zip(ours["probabilities"].values(), theirs["probabilities"].values())
        difference = max(_distance(p, q) for p, q in pairs)
    elif isinstance(ours["predicted"], float):
        size = max(1.0, abs(ours["predicted"]))
        return _distance(ours["predicted"], theirs["predicted"]) / size
    else:
        difference = 0.0
    if ours["predicted"] != theirs["predicted"]:
        tops = sorted(ours.get("probabilities", {0: 1.0, 1: 0.0}).values())
        # two classes that are level to rounding may change places
        return difference if tops[-1] - tops[-2] < 1e-12 else float("inf")
    return difference

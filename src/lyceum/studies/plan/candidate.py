"""Candidates of a study and the settings that they are tried with; suspicious columns, and learners
that failed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from lyceum._core.report import Shown
from lyceum._core.text import plain

TaskKind = Literal["classification", "regression"]
_DRAWS = 50  # of an even spread of settings
_STACKED = 200  # columns that a stack may learn from, whatever the rows


@dataclass(frozen=True, slots=True)
class Candidate(Shown):
    """One learner of the plan, as it is built.

    Attributes
    ----------
    name : str
        Unique in the study: the learner's name, with a number behind it where a learner occurs
        twice.
    learner : str
        Its name in the catalog; "PriorClassifier" or "MeanRegressor" for the baseline.
    label : str
        Its name in sentences: "logistic regression".
    about : str
        A sentence on the method.
    steps : tuple of str
        The pipeline, e.g. ("SimpleImputer", "StandardScaler", "LogisticRegression").
    settings : dict
        The parameters that are fixed.
    search : tuple of dicts
        The settings that the inner cross-validation chooses from; empty when there is nothing to
        choose.
    why : str
        Why it is here, or why it was built so.
    is_baseline : bool
        Whether it is the constant guess.
    sparse_text : bool
        Whether it has the words of free text as sparse rows: some thousands, where others have the
        hundred most frequent.
    members : tuple of str
        Of a committee or a stack: the names of the learners that it is made of; empty for others.
    hasty : dict
        Settings that take little time, for where the first of the search are cut off.
    promise : float
        How often such a learner is among the best; where time is short, the most promising are
        run first.

    See Also
    --------
    Study.candidates : Those of a study.
    LearnerChoice : The request for a learner, from which it is built.
    RankedLearner : The results of a candidate.

    Examples
    --------
    >>> from lyceum.studies import Candidate
    >>> candidate = Candidate(
    ...     "Ridge", "Ridge", "ridge regression", "Least squares with shrunken coefficients.",
    ...     steps=("SimpleImputer", "Ridge"), search=({"alpha": 0.1}, {"alpha": 10.0}))
    >>> len(candidate.search), candidate.is_baseline, candidate.as_dict()["steps"]
    (2, False, ['SimpleImputer', 'Ridge'])
    """

    name: str
    learner: str
    label: str
    about: str
    steps: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    search: tuple[Mapping[str, Any], ...] = ()
    why: str = ""
    is_baseline: bool = False
    sparse_text: bool = False
    members: tuple[str, ...] = ()
    promise: float = 0.1
    hasty: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))


@dataclass(frozen=True, slots=True)
class ColumnWarning(Shown):
    """A column that looks wrong, as `lyceum inspect` reports it.

    Attributes
    ----------
    column : str
        The column.
    code : str
        The kind of suspicion: "identifier", "constant", "empty", "free_text", "leak",
        "mostly_missing", "copy", ...
    text : str
        What is suspicious, in words.
    left_out : bool
        Whether the study leaves the column out.

    See Also
    --------
    Study.suspects : Those of a study.
    lyceum.data.inspect : Finds them, also without a study.

    Examples
    --------
    >>> from lyceum.studies import ColumnWarning
    >>> ColumnWarning("id", "identifier", "counts the rows", left_out=True).as_dict()
    {'column': 'id', 'code': 'identifier', 'text': 'counts the rows', 'left_out': True}
    """

    column: str
    code: str
    text: str
    left_out: bool

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Failure(Shown):
    """A learner that could not be compared, where it failed and why.

    Attributes
    ----------
    name : str
        The candidate.
    label : str
        Its name in sentences.
    repeat : int
        The repeat of the folds, from 0.
    fold : int
        The fold, from 0.
    reason : str
        What went wrong.

    See Also
    --------
    Study.failures : Those of a study.
    Study.problems : What else could not be made.

    Examples
    --------
    >>> from lyceum.studies import Failure
    >>> failure = Failure("Ridge", "ridge regression", repeat=0, fold=2,
    ...     reason="column 'age' overflows")
    >>> f"{failure.label}, fold {failure.fold + 1}: {failure.reason}"
    "ridge regression, fold 3: column 'age' overflows"
    """

    name: str
    label: str
    repeat: int
    fold: int
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return asdict(self)


def planned_committees(
    candidates: Sequence[Candidate], n_classes: int | None, n_rows: int
) -> tuple[tuple[Candidate, ...], list[str]]:
    """The committee and the stack of at least three learners; a sentence on the stack where it is
    left out, as it would learn from more columns than rows."""
    names = tuple(c.name for c in candidates if not c.is_baseline)
    if len(names) < 3:
        return (), []
    if n_classes is not None:
        voting = "VotingClassifier"
        stack = "StackingClassifier"
    else:
        voting = "VotingRegressor"
        stack = "StackingRegressor"
    committee = Candidate(
        name="Committee",
        learner=voting,
        label="committee",
        about=(
            "The weighted mean of the learners, with weights learned on predictions out of fold."
        ),
        steps=(voting,),
        why="made of the learners above, none of them fitted again",
        members=names,
    )
    stacking = replace(
        committee,
        name="Stacking",
        learner=stack,
        label="stacking",
        steps=(stack,),
        about="A linear learner that combines the predictions of the learners out of fold.",
    )
    n_columns = len(names) * (n_classes or 1)
    if n_columns <= max(n_rows, _STACKED):
        return (committee, stacking), []
    text = (
        f"Left out: stacking, which would learn from {n_columns:,} posteriors of each of"
        f" {n_rows:,} rows."
    )
    return (committee,), [text]


# -- settings --------------------------------------------------------------------------


def spread_settings(
    space: Mapping[str, Any], most: int, with_defaults: bool
) -> tuple[dict[str, Any], ...]:
    """At most `most` settings: the defaults (an empty dict), then all combinations or an even
    spread.

    Lists are taken as they are, ranges at `most` points if alone. Where there are more combinations
    than that, the settings are a Latin hypercube, the same for every seed of a study.

    >>> spread_settings({"alpha": (0.1, 10.0, "log")}, 4, True)
    ({}, {'alpha': 0.1}, {'alpha': 1.0}, {'alpha': 10.0})
    """
    first: list[dict[str, Any]] = [{}] if with_defaults else []
    n_settings = most - len(first)
    if not space or n_settings < 1:
        return ()  # the defaults alone: nothing to compare
    n_points = _points_per_range(space, n_settings)
    if n_points:
        points = np.linspace(0.0, 1.0, n_points) if n_points > 1 else np.array([0.5])
        choices = []
        for values in space.values():
            if isinstance(values, tuple):
                values = _distinct([_at(values, u) for u in points.tolist()])
            choices.append(values)
        combinations = itertools.product(*choices)
        return (*first, *(dict(zip(space, values)) for values in combinations))
    spread = _even_points(len(space), n_settings)
    drawn = [
        {name: _at(values, u) for (name, values), u in zip(space.items(), point)}
        for point in spread.tolist()
    ]
    return (*first, *_distinct(drawn))


def portfolio_settings(
    portfolio: Sequence[Mapping[str, Any]], fixed: Mapping[str, Any], most: int
) -> tuple[dict[str, Any], ...]:
    """At most `most` settings of a portfolio, each once and without what is fixed.

    >>> portfolio_settings([{"alpha": 1.0, "n": 2}, {"n": 2}, {"n": 3}], {"alpha": 0.5}, 3)
    ({'n': 2}, {'n': 3})
    """
    free = [
        {name: value for name, value in settings.items() if name not in fixed}
        for settings in portfolio[:most]
    ]
    return tuple(_distinct(free))


def _distinct(values: list[Any]) -> list[Any]:
    """The values, each once; they need no hash."""
    return [value for i, value in enumerate(values) if value not in values[:i]]


def _points_per_range(space: Mapping[str, Any], n_settings: int) -> int:
    """How many points of a range all combinations allow; 0 for several ranges, or fewer than five
    points."""
    ranges = sum(isinstance(values, tuple) for values in space.values())
    lists = [values for values in space.values() if not isinstance(values, tuple)]
    share = n_settings / math.prod(map(len, lists))
    if not ranges:
        return int(share >= 1.0)
    n = math.floor(share + 1e-9)  # 12 / 3 may be just below 4
    if len(space) == 1 or (ranges == 1 and n >= 5):
        return n
    return 0


def _at(values: Any, u: float) -> Any:
    """The value at the share u of a list or of a range."""
    if not isinstance(values, tuple):
        return values[min(int(u * len(values)), len(values) - 1)]
    low, high, scale = values
    if scale == "log":
        point = low * (high / low) ** u
    else:
        point = low + (high - low) * u
    # whole numbers stay whole; others have six digits, as people would write them
    if isinstance(low, int) and isinstance(high, int):
        return round(point)
    return float(f"{point:.6g}")


def _even_points(d: int, n: int) -> np.ndarray:
    """n points in the unit cube, one in each of n slices of every axis: of some draws the most
    spread out."""
    rng = np.random.default_rng([d, n])
    best = np.empty((n, d))
    widest = -1.0
    for _ in range(_DRAWS):
        # one point in the middle of every slice
        slices = np.column_stack([rng.permutation(n) for _ in range(d)])
        drawn = (slices + 0.5) / n
        # squared distances, those of a point to itself above any other
        apart = ((drawn[:, None] - drawn) ** 2).sum(axis=2) + 2.0 * d * np.eye(n)
        if apart.min() > widest:
            best = drawn
            widest = float(apart.min())
    return best

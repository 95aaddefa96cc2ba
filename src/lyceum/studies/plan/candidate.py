"""Candidates of a study, suspicious columns, and learners that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from lyceum._core.text import plain

TaskKind = Literal["classification", "regression"]


@dataclass(frozen=True, slots=True)
class Candidate:
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

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))


@dataclass(frozen=True, slots=True)
class ColumnWarning:
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
class Failure:
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
    candidates: Sequence[Candidate], has_classes: bool
) -> tuple[Candidate, ...]:
    """The committee and the stack of at least three learners."""
    names = tuple(c.name for c in candidates if not c.is_baseline)
    if len(names) < 3:
        return ()
    if has_classes:
        voting = "VotingClassifier"
        stack = "StackingClassifier"
    else:
        voting = "VotingRegressor"
        stack = "StackingRegressor"
    committee = Candidate(
        "Committee", voting, "committee",
        "The weighted mean of the learners, with weights learned on predictions out of fold.",
        (voting,), why="made of the learners above, none of them fitted again",
    )  # fmt: skip
    stacking = replace(
        committee, name="Stacking", learner=stack, label="stacking", steps=(stack,),
        about="A linear learner that combines the predictions of the learners out of fold.",
    )  # fmt: skip
    return replace(committee, members=names), replace(stacking, members=names)

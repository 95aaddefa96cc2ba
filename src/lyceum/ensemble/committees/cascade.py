"""Cascades: cheap learners first; what they doubt goes on to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum import prepare
from lyceum._core.base import Classifier, normalize_posteriors
from lyceum._core.constraints import StrOptions
from lyceum._core.members import MemberData
from lyceum._core.report import Shown
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.bayes import NaiveBayes
from lyceum.ensemble.committees.base import NAMED_CONSTRAINTS, NamedEnsemble
from lyceum.ensemble.committees.cascade_thresholds import Flow, choose_thresholds
from lyceum.errors import SettingError, number_setting
from lyceum.linear import LogisticRegression
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True)
class StageReport(Shown):
    """One stage of a cascade, measured on the left-out rows of cross-validation.

    Attributes
    ----------
    name : str
        The name of the stage.
    reached, decided : float
        The shares of all rows, by weight, that reach the stage and that it decides.
    error : float
        The share of the rows it decides that it gets wrong; NaN if it decides none.
    cost : float
        The cost of asking the stage, per row that reaches it.
    threshold : float
        The smallest posterior with which it decides.

    See Also
    --------
    CascadeClassifier : Has one per stage as `stages_`.

    Examples
    --------
    The test alone decides three in four rows; where it is unclear, the dose decides:

    >>> import pandas as pd
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.ensemble import CascadeClassifier
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> X = pd.DataFrame({"test": ["no"] * 12 + ["yes"] * 12 + ["unclear"] * 8,
    ...                   "dose": [1.0] * 12 + [9.0] * 12 + [1.0, 9.0] * 4})
    >>> stages = [("test", NaiveBayes(), ["test"]), ("both", DecisionTreeClassifier())]
    >>> model = CascadeClassifier(stages, thresholds=[0.8], random_state=0).fit(X, X["dose"] > 5)
    >>> [(stage.name, stage.reached, stage.decided, stage.cost) for stage in model.stages_]
    [('test', 1.0, 0.75, 1.0), ('both', 0.25, 0.25, 2.0)]
    """

    name: str
    reached: float
    decided: float
    error: float
    cost: float
    threshold: float


class CascadeClassifier(Classifier, NamedEnsemble):
    """A cascade of classifiers: each decides the rows that it is sure of and passes the doubtful
    ones on.

    A stage decides a row if its largest posterior is at least the stage's threshold; the last one
    decides all that reach it. Cheap stages, or stages that need few columns, come first. With
    `routes` the next stage depends on the class that a stage leans to, so that stages form a tree
    instead of a line.

    Parameters
    ----------
    stages : list of classifiers, (name, classifier) or (name, classifier, columns), default=None
        The stages in order; `columns` are names or numbers. None is naive Bayes, then logistic
        regression.
    thresholds : list of float, optional
        The least posterior with which every stage but the last decides. By default they are chosen
        on rows left out: the least error within `budget`; without a budget the least cost whose
        error is not above that of the most accurate stage alone.
    costs : list of float, optional
        What asking every stage costs per row; by default the number of columns that it sees.
    budget : float, optional
        The largest mean cost per row.
    routes : dict, optional
        {stage: {class: stage}}: where a doubtful row goes on from a stage, by the class it would
        have been given; stages that are not named go on to the next in the list. Routes only lead
        to later stages.
    cv : int, "leave_one_out" or splitter, default=5
        How rows are left out, for the thresholds and the report.

    Attributes
    ----------
    estimators_ : list of classifiers
        The stages, fitted on all rows.
    thresholds_ : array of shape (S,)
        The thresholds; 0 for the last stage.
    costs_ : array of shape (S,)
        What asking every stage costs.
    next_ : array of shape (S, K), of int
        The stage after each stage, for every class it leans to; -1 after the last.
    stages_ : list of StageReport
        What every stage does on rows left out.
    cost_, error_ : float
        The mean cost per row and the error, on rows left out.

    See Also
    --------
    VotingClassifier : All members predict every row.
    lyceum.decision.MinimumRiskClassifier : Doubt as an action.

    References
    ----------
    Kaynak and Alpaydin (2000), MultiStage cascading of multiple classifiers, ICML.
    Viola and Jones (2001), Rapid object detection using a boosted cascade of simple features, CVPR.

    Examples
    --------
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.datasets import load
    >>> from lyceum.ensemble import RandomForestClassifier
    >>> stages = [("bill", NaiveBayes(), ["bill_length_mm"]), ("all", RandomForestClassifier())]
    >>> model = CascadeClassifier(stages, budget=5.0, random_state=0).fit(load("penguins"))
    >>> bool(model.cost_ <= 5.0)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **{
            name: rule
            for name, rule in NAMED_CONSTRAINTS.items()
            if name != "estimators"
        },
        "stages": ["array-like", None],
        "thresholds": ["array-like", None],
        "costs": ["array-like", None],
        "budget": [float, int, None],
        "routes": [dict, None],
        "cv": ["cv_object", StrOptions({"leave_one_out"})],
    }
    _members_name: ClassVar[str] = "stages"

    def __init__(
        self,
        stages: Any = None,
        *,
        thresholds: Any = None,
        costs: Any = None,
        budget: float | None = None,
        routes: Mapping[str, Mapping[Any, str]] | None = None,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.stages = stages
        self.thresholds = thresholds
        self.costs = costs
        self.budget = budget
        self.routes = routes
        self.cv = cv
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _default_members(self) -> list[Any]:
        from sklearn.pipeline import make_pipeline  # takes long to import

        accurate = make_pipeline(
            prepare.SimpleImputer(), prepare.StandardScaler(), LogisticRegression()
        )
        return [("bayes", NaiveBayes()), ("logistic", accurate)]

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Choose the thresholds on rows left out, then fit every stage on all rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Every stage must take weights then.
        """
        data, target, w = self._member_data(X, y, sample_weight)
        self.costs_ = self._stage_costs()
        self.next_ = self._next_stages()
        thresholds = self._given_thresholds(len(self.names_))
        answers = self._out_of_fold(data, target, w, self.cv)
        # a splitter may never test some rows
        tested = np.isfinite(answers).all(axis=(0, 2))
        flow = Flow.of(
            answers[:, tested],
            target[tested],
            w=None if w is None else w[tested],
            costs=self.costs_,
            following=self.next_,
        )
        if thresholds is None:
            thresholds = choose_thresholds(flow, self.budget)
        self.thresholds_ = thresholds
        self._report(flow)
        self._fit_members(data, w)
        return self

    def _stage_costs(self) -> np.ndarray:
        if self.costs is None:
            counts = [
                self.n_features_in_ if columns is None else len(columns)
                for columns in self.columns_
            ]
            return np.array(counts, dtype=np.float64)
        costs = number_setting("costs", self.costs)
        if costs.shape != (len(self.names_),) or not _are_amounts(costs):
            raise SettingError(
                f"costs must be one number of at least 0 per stage, not {self.costs!r}"
            )
        return costs

    def _given_thresholds(self, S: int) -> np.ndarray | None:
        if self.thresholds is None:
            return None
        numbers = number_setting("thresholds", self.thresholds)
        if numbers.shape != (S - 1,) or not _are_amounts(numbers):
            raise SettingError(
                f"thresholds must be {S - 1} numbers, one per stage but the last:"
                f" {numbers.tolist()}"
            )
        return np.append(numbers, 0.0)

    def _next_stages(self) -> np.ndarray:
        # without routes, the next in the list whatever the class
        S = len(self.names_)
        K = len(self.classes_)
        table = np.repeat(np.append(np.arange(1, S), -1)[:, None], K, axis=1)
        labels = self.classes_.tolist()
        for name, ways in (self.routes or {}).items():
            if not isinstance(ways, Mapping):
                raise SettingError(
                    f"routes[{name!r}] must be a dict of class: stage, got {ways!r}"
                )
            for label, other in ways.items():
                for stage in (name, other):
                    if stage not in self.names_:
                        raise SettingError(
                            f"routes name {stage!r}, but the stages are {', '.join(self.names_)}"
                        )
                if label not in labels:
                    raise SettingError(
                        f"routes name the class {label!r}, which is none of {labels}"
                    )
                first = self.names_.index(name)
                second = self.names_.index(other)
                if second <= first:
                    raise SettingError(
                        f"the route from {name!r} to {other!r} does not lead to a later stage"
                    )
                table[first, labels.index(label)] = second
        return table

    def _report(self, flow: Flow) -> None:
        stage, wrong = flow.run(self.thresholds_)
        asked = flow.reached_stages(self.thresholds_)
        w = flow.w / flow.w.sum()
        self.cost_, self.error_ = flow.cost_and_error(self.thresholds_)
        self.stages_ = []
        for s, name in enumerate(self.names_):
            decided = float(w[stage == s].sum())
            error = float("nan")
            if decided > 0:
                error = float(w[wrong & (stage == s)].sum()) / decided
            self.stages_.append(
                StageReport(
                    name,
                    reached=float(w[asked[s]].sum()),
                    decided=decided,
                    error=error,
                    cost=float(self.costs_[s]),
                    threshold=float(self.thresholds_[s]),
                )
            )

    # -- predict -----------------------------------------------------------------------

    def _decide(
        self,
        data: MemberData,
        n: int,
        every: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The posteriors of the stage that decides, and its number; `every`, (n, S, K), is given
        the answers of all stages that the row reached."""
        # `current` is the stage where a row waits, -1 once it is decided; routes only lead onward,
        # so that one pass over the stages decides every row
        posterior = np.empty((n, len(self.classes_)))
        stage = np.full(n, -1)
        current = np.zeros(n, dtype=np.int64)
        for s, member in enumerate(self.estimators_):
            rows = np.flatnonzero(current == s)
            if not len(rows):
                continue
            answers = self._answer(s, member, data, None if len(rows) == n else rows)
            if every is not None:
                every[rows, s] = answers
            onward = self.next_[s, answers.argmax(axis=1)]
            sure = (answers.max(axis=1) >= self.thresholds_[s]) | (onward < 0)
            posterior[rows[sure]] = answers[sure]
            stage[rows[sure]] = s
            current[rows] = np.where(sure, -1, onward)
        return posterior, stage

    def _posteriors(self, data: MemberData) -> np.ndarray:
        return self._decide(data, data.n_rows)[0]

    def _stages(self, data: MemberData) -> np.ndarray:
        return self._decide(data, data.n_rows)[1]

    def _fused_answer(self, data: MemberData) -> np.ndarray:
        return normalize_posteriors(self._posteriors(data))

    def _operations(self) -> list[Operation]:
        branches = [
            self._answer_operations(s, member)
            for s, member in enumerate(self.estimators_)
        ]
        stages = {
            "width": len(self.classes_),
            "next": self.next_.tolist(),
            "thresholds": self.thresholds_.tolist(),
        }
        every: Operation = ("branches", {"branches": branches})
        return [every, ("cascade", stages), ("shares", {})]

    def predict(self, X: Data) -> Any:
        """The class that the stage which is sure enough gives to each row."""
        return self._predict_largest(self._posteriors, X)

    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the stage that decides each row."""
        return self._apply_to_members(self._fused_answer, X)

    def predict_stage(self, X: Data) -> Any:
        """The number of the stage that decides each row, from 0."""
        return self._apply_to_members(self._stages, X)

    # -- what was learned --------------------------------------------------------------

    def _member_heads(self) -> tuple[list[str], str, tuple[str, np.ndarray] | None]:
        return self.names_, "decides", ("threshold", self.thresholds_)

    def _member_parts(self, data: MemberData) -> np.ndarray:
        n = data.n_rows
        S = len(self.names_)
        answers = np.full((n, S, len(self.classes_)), np.nan)
        posterior, stage = self._decide(data, n, answers)
        parts = np.full((n, S, 3), np.nan)
        asked = np.isfinite(answers[:, :, 0])
        parts[asked, 0] = answers[asked].argmax(axis=1)
        parts[:, :, 1] = answers[np.arange(n), :, posterior.argmax(axis=1)]
        parts[:, :, 2] = stage[:, None] == np.arange(S)
        return parts

    def summary(self) -> Summary:
        """What every stage decides on rows left out, how well, and at what cost."""
        check_is_fitted(self)
        heads = [
            "stage",
            "learner",
            "columns",
            "threshold",
            "reached",
            "decided",
            "error",
            "cost",
        ]
        rows = [
            [
                s.name,
                type(member).__name__,
                self._columns_text(i),
                s.threshold,
                s.reached,
                s.decided,
                s.error,
                s.cost,
            ]
            for i, (s, member) in enumerate(zip(self.stages_, self.estimators_))
        ]
        facts = {"cost per row": self.cost_, "error left out": self.error_}
        if self.budget is not None:
            facts["budget"] = self.budget
        return Summary(self._title(), facts, [Table("Stages", heads, rows)])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), StageReport)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        S = len(self.estimators_)
        stages = {"thresholds_": (S,), "costs_": (S,), "next_": (S, len(self.classes_))}
        return super()._shapes() | stages


def _are_amounts(numbers: np.ndarray) -> bool:
    return bool((np.isfinite(numbers) & (numbers >= 0)).all())

"""Ensembles of different learners: members by name, each with its own columns, and their answers.

A member is an estimator, (name, estimator) or (name, estimator, columns).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    NewColumns,
    pipeline_steps,
    takes_rows,
    takes_weights,
    undefined,
)
from lyceum._core.data import ArraySource, Block, Inputs, Rows
from lyceum._core.members import (
    Ensemble,
    MemberData,
    class_operations,
    member_operations,
    one_hot,
    set_seeds,
)
from lyceum._core.routing import Route, Routed, routed
from lyceum._core.statistics import given_splits, seed_from
from lyceum._core.threads import ordered_map
from lyceum._core.types import Data, Operation, Target, Weights
from lyceum.ensemble.committees.explanation import MemberExplanation
from lyceum.errors import DataError, SettingError, WeightsError
from lyceum.evaluate import splitter
from lyceum.progress import report

NAMED_CONSTRAINTS: dict[str, Any] = {
    "estimators": ["array-like", None],
    "random_state": ["random_state"],
    "categorical_features": CATEGORICAL_FEATURES,
}


@dataclass(frozen=True, slots=True)
class Member:
    """One learner of an ensemble: its name, and the columns that it sees (None for all)."""

    name: str
    estimator: Any
    columns: Any = None


def is_dropped(member: Any) -> bool:
    """Whether a named member is scikit-learn's "drop": it is left out."""
    return (
        isinstance(member, tuple | list)
        and len(member) > 1
        and isinstance(member[1], str)
        and member[1] == "drop"
    )


def member_kind(member: Any) -> str:
    """The class of a member; of a pipeline that of its last step, of calibrated posteriors that of
    the learner behind them.

    >>> from sklearn.pipeline import make_pipeline
    >>> from lyceum.linear import Ridge
    >>> from lyceum.prepare import StandardScaler
    >>> member_kind(make_pipeline(StandardScaler(), Ridge()))
    'Ridge'
    """
    learner = getattr(member, "estimator_", member)
    return type(pipeline_steps(learner)[-1]).__name__


def named_members(members: Sequence[Any], what: str = "estimators") -> list[Member]:
    """The members by name; the class, and a number where one comes twice, names those without."""
    if not len(members):
        raise SettingError(f"there are no {what}: give at least one learner")
    listed = []
    for member in members:
        if not isinstance(member, tuple | list):
            listed.append(Member("", member))
        elif len(member) in (2, 3):
            listed.append(Member(*member))
        else:
            raise SettingError(
                f"{member!r} in {what} is neither (name, learner) nor (name, learner, columns)"
            )
    # names as of scikit-learn's make_pipeline: "ridge", or "ridge-1" and "ridge-2"
    kinds = [type(member.estimator).__name__.lower() for member in listed]
    named = []
    for i, (member, kind) in enumerate(zip(listed, kinds)):
        name = kind
        if kinds.count(kind) > 1:
            name = f"{kind}-{kinds[: i + 1].count(kind)}"
        named.append(replace(member, name=member.name or name))
    names = [member.name for member in named]
    for member in named:
        if names.count(member.name) > 1:
            raise SettingError(
                f"Names provided are not unique: {names}; give each of {what} its own name"
            )
        learner = member.estimator
        if not hasattr(learner, "fit") or not hasattr(learner, "predict"):
            raise SettingError(
                f"{member.name!r} in {what} is no learner: it has no fit and predict"
            )
    return named


def column_numbers(
    columns: Iterable[Any],
    names: Sequence[str],
    caller: str,
) -> np.ndarray:
    """The numbers of columns, given by name or number, ascending and each once; `caller` begins
    the refusal.

    >>> column_numbers(["b", 0, "b"], ["a", "b"], "this names").tolist()
    [0, 1]
    """
    numbers = set()
    for column in columns:
        if isinstance(column, str) and column in names:
            numbers.add(names.index(column))
        elif not isinstance(column, str) and column in range(len(names)):
            numbers.add(int(column))
        else:
            listed = ", ".join(names[:8])
            if len(names) > 8:
                listed += ", ..."
            raise SettingError(
                f"{caller} column {column!r}, which does not exist: the columns are {listed}"
            )
    return np.array(sorted(numbers), dtype=np.int64)


class MemberColumns(NewColumns):
    """`transform` of an ensemble: the answers of its members as columns."""

    names_: list[str]
    _members: Callable[[], list[Member]]

    _uses_weights = False

    def _routes(self) -> list[Route]:
        fits = (("fit", "fit"),)
        return [Route(one.name, one.estimator, fits) for one in self._members()]

    def _metadata(self) -> Routed:
        # by the names of members; kept with the rows, as members are fitted in threads
        names = [member.name for member in self._members()]
        parts = {name: routed(self, name) for name in names}
        return {name: part["fit"] for name, part in parts.items() if part}

    def _new_cells(self, data: MemberData) -> np.ndarray:
        """The columns of some rows."""
        raise undefined(self, "_new_cells")

    def transform(self, X: Data) -> Any:
        """The answers of the members, one column or several per member.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        columns : array or frame of shape (n_samples, n_columns)
            Named by `get_feature_names_out`.
        """
        check_is_fitted(self)
        if self._needs_frame(X):
            return self._contain(self._apply_to_members(self._new_cells, X), X)
        return self._in_new_columns(self._block_answer(self._new_cells), X)

    def _answer_names(self, width: int) -> list[str]:
        """scikit-learn's names of the columns of members, each of so many."""
        prefix = type(self).__name__.lower()
        if width == 1:
            return [f"{prefix}_{name}" for name in self.names_]
        return [f"{prefix}_{name}{k}" for name in self.names_ for k in range(width)]


class NamedEnsemble(_BaseComposition, Ensemble):
    """Different learners, each with its own columns, whatever is done with their answers."""

    _parameter_docs: ClassVar[str] = """
    categorical_features : "from_dtype", True, mask, indices, names or None
        Which columns hold categories: those of a category or text type, all, or the ones given.
    """
    _attribute_docs: ClassVar[str] = """
    named_estimators_ : Bunch
        The members by name.
    names_ : list of str
        The names of the members.
    columns_ : list of arrays
        The indices of the members' columns, None for all.
    seed_ : int
        The seed that was used.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded; where explanations start.
    """

    _inputs: ClassVar[type[Inputs]] = Inputs
    _keeps_source: ClassVar[bool] = True
    _alternative: ClassVar[str] = "NaiveBayes or LogisticRegression"
    _members_name: ClassVar[str] = "estimators"
    _explains_by_replacement: ClassVar[bool] = True

    random_state: int | np.random.RandomState | None
    categorical_features: Any
    names_: list[str]
    columns_: list[np.ndarray | None]
    classes_: np.ndarray

    @property
    def _predicts_classes(self) -> bool:
        # not by scikit-learn's is_classifier, which asks every member for its tags
        return isinstance(self, ClassifierMixin)

    # -- members -----------------------------------------------------------------------

    def _default_members(self) -> list[Any]:
        raise undefined(self, "_default_members")

    def _members(self) -> list[Member]:
        members = getattr(self, self._members_name)
        if members is None:
            members = self._default_members()
        kept = [member for member in members if not is_dropped(member)]
        if not kept:  # `fit` refuses it; tags and pictures are asked for before
            return []
        return named_members(kept, self._members_name)

    def _learners(self) -> list[Any]:
        return [member.estimator for member in self._members()]

    def _predicting_learners(self) -> list[Any]:
        return self.estimators_

    @property
    def named_estimators(self) -> Bunch:
        """The members that were given names, by name."""
        return Bunch(**dict(self._named_estimators))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name; "drop" for those left out."""
        fitted = dict(zip(self.names_, self.estimators_))
        dropped = [
            name
            for name, member in self._named_estimators
            if is_dropped((name, member))
        ]
        return Bunch(**dict.fromkeys(dropped, "drop"), **fitted)

    @property
    def _named_estimators(self) -> list[tuple[str, Any]]:
        """(name, learner) of members that were given names, for `get_params`."""
        members = getattr(self, self._members_name)
        if not isinstance(members, list | tuple):
            return []
        return [
            (member[0], member[1])
            for member in members
            if isinstance(member, tuple | list)
        ]

    @_named_estimators.setter
    def _named_estimators(self, pairs: list[tuple[str, Any]]) -> None:
        new = dict(pairs)
        members = list(getattr(self, self._members_name))
        for i, member in enumerate(members):
            if isinstance(member, tuple | list):
                members[i] = (member[0], new[member[0]], *member[2:])
        setattr(self, self._members_name, members)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of named members too."""
        params = {name: getattr(self, name) for name in self._get_param_names()}
        if not deep:
            return params
        for name, estimator in self._named_estimators:
            params[name] = estimator
            if not hasattr(estimator, "get_params"):
                continue
            for key, value in estimator.get_params(deep=True).items():
                params[f"{name}__{key}"] = value
        return params

    def set_params(self, **params: Any):
        """Set parameters, also `name` or `name__parameter` of a named member."""
        self._set_params("_named_estimators", **params)
        return self

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return all(
            member.columns is None and get_tags(member.estimator).input_tags.sparse
            for member in self._members()
        )

    def _sk_visual_block_(self) -> Any:
        """What scikit-learn shows in notebooks: the members side by side."""
        from sklearn.pipeline import FeatureUnion  # takes long to import

        members = [(member.name, member.estimator) for member in self._members()]
        return FeatureUnion(members)._sk_visual_block_()

    # -- rows --------------------------------------------------------------------------

    def _member_data(
        self,
        X: Data,
        y: Target,
        w: Weights,
    ) -> tuple[MemberData, np.ndarray, np.ndarray | None]:
        self._validate_params()
        members = self._members()
        self._check_given(members)
        self._validate_names([name for name, _ in self._named_estimators])
        self._check_tasks(members)
        data, target, w = super()._member_data(X, y, w)
        if w is not None:
            self._check_weighted()
        self.names_ = [member.name for member in members]
        self.columns_ = [self._member_columns(member) for member in members]
        self.seed_ = seed_from(self.random_state)
        return data, target, w

    def _check_given(self, members: Sequence[Member]) -> None:
        if members:
            return
        if getattr(self, self._members_name):
            raise SettingError(
                "All estimators are dropped. At least one is required to be an estimator."
            )
        raise SettingError(
            f"Invalid '{self._members_name}' attribute, '{self._members_name}' should be a"
            " non-empty list of (string, estimator) tuples."
        )

    def _check_tasks(self, members: Sequence[Member]) -> None:
        fits = is_regressor
        word = "regressor"
        if self._predicts_classes:
            fits = is_classifier
            word = "classifier"
        for member in members:
            if not fits(member.estimator):
                raise SettingError(
                    f"The estimator {type(member.estimator).__name__} ({member.name!r}) should be"
                    f" a {word}: {type(self).__name__} is an ensemble of {word}s"
                )

    def _check_weighted(self) -> None:
        for learner in self._all_learners():
            if not takes_weights(learner):
                raise WeightsError(
                    f"Underlying estimator {type(learner).__name__} does not support sample"
                    f" weights. {type(self).__name__} passes them on: leave it out, or fit without"
                    " sample_weight"
                )

    def _gather(self, rows: Rows) -> ArraySource:
        block = rows.in_one_block(type(self).__name__, self._alternative)
        cv = getattr(self, "cv", None)
        # splits by the numbers of rows, and learners that are given X as it is, need all rows
        numbered = not isinstance(cv, str) and hasattr(cv, "__iter__")
        if all(map(takes_rows, self._all_learners())) and not numbered:
            block = block.without_zero_weights()
        return ArraySource.of_block(block)

    def _member_columns(self, member: Member) -> np.ndarray | None:
        """The numbers of a member's columns in the table."""
        if member.columns is None:
            return None
        wanted = np.atleast_1d(np.asarray(member.columns, dtype=object)).tolist()
        numbers = column_numbers(
            wanted, self.schema_.names, f"member {member.name!r} asks for"
        )
        if not len(numbers):
            raise SettingError(
                f"member {member.name!r} has no columns: give some, or None for all"
            )
        return numbers

    def _collect(self, rows: Rows, answer: Callable[[Block], np.ndarray]) -> Any:
        is_one = getattr(rows.source, "n_rows", None) == 1
        if is_one:  # a block anyway, and collected it can be compiled for records
            return rows.collect(answer)
        if rows.in_memory and all(map(takes_rows, self._predicting_learners())):
            # members split rows into blocks, and spread them, themselves
            return answer(rows.in_one_block(type(self).__name__, self._alternative))
        return rows.collect(answer)

    # -- answers -----------------------------------------------------------------------

    def _fit_members(self, data: MemberData, w: np.ndarray | None) -> None:
        """Every member on all rows, one after the other: each has its own threads."""
        self.estimators_ = []
        for i, member in enumerate(self._members()):
            self.estimators_.append(self._fit_member(i, member, data, w))
            report("members", i + 1, len(self.names_))

    def _fit_member(
        self, i: int, member: Member, data: MemberData, w: Any, rows: Any = None
    ) -> Any:
        copy = set_seeds(clone(member.estimator), self.seed_, i, keep=True)
        weights = w
        given = data.metadata.get(member.name)
        if given is not None:
            data = replace(data, metadata={"fit": given})
            if "sample_weight" not in given:
                weights = w = None
        if w is not None and rows is not None:
            weights = w[rows]
        if weights is not None and not weights.all():
            # other libraries may count rows of weight zero
            positive = np.flatnonzero(weights)
            weights = weights[positive]
            rows = positive if rows is None else rows[positive]
        return data.fit(copy, rows, self.columns_[i], weights)

    def _answer(
        self,
        i: int,
        fitted: Any,
        data: MemberData,
        rows: Any = None,
        vote: bool = False,
    ) -> np.ndarray:
        """Posteriors (n, K), votes (n, K) or numbers (n, 1) of member i."""
        columns = self.columns_[i]
        if not self._predicts_classes:
            return data.numbers(fitted, rows, columns)[:, None]
        if vote:
            codes = data.class_codes(fitted, self.classes_, rows, columns)
            return one_hot(codes, len(self.classes_))
        return data.posteriors(fitted, self.classes_, rows, columns)

    def _answer_operations(
        self, i: int, fitted: Any, vote: bool = False
    ) -> list[Operation]:
        """`_answer` for exported models."""
        columns = self.columns_[i]
        if not self._predicts_classes:
            return member_operations(fitted, self.schema_, columns)
        return class_operations(fitted, self.classes_, self.schema_, columns, vote)

    def _answers(self, data: MemberData, vote: bool = False) -> np.ndarray:
        """The answers of every member, (L, n, K or 1)."""
        return np.stack(
            [
                self._answer(i, member, data, vote=vote)
                for i, member in enumerate(self.estimators_)
            ]
        )

    def _splits(
        self,
        cv: Any,
        target: np.ndarray,
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of every fold: as many folds as rows for "leave_one_out"."""
        n = len(target)
        labels = target
        kind = "k_fold"
        if self._predicts_classes:
            labels = self.classes_[target]
            kind = "stratified"
        if cv == "leave_one_out":
            cv = splitter("leave_one_out")
        if isinstance(cv, int | np.integer):
            folds = min(int(cv), n)
            if folds < 2:
                raise DataError(
                    f"{type(self).__name__} cannot leave rows out of n_samples={n}: cv={cv}"
                )
            cv = splitter(kind, n_splits=folds, random_state=self.seed_ % 2**31)
        return given_splits(cv, n, labels, classifier=self._predicts_classes)

    def _out_of_fold(
        self,
        data: MemberData,
        target: np.ndarray,
        w: np.ndarray | None,
        cv: Any,
        vote: bool = False,
    ) -> np.ndarray:
        """The out-of-fold answers of every member, (L, n, K or 1); NaN for rows that are never
        tested.

        Folds and members are spread over the threads.
        """
        # one task per fold and member: members alone may be fewer than threads
        members = self._members()
        splits = self._splits(cv, target)
        tasks = [
            (i, train, test) for train, test in splits for i in range(len(members))
        ]
        width = 1
        if self._predicts_classes:
            width = len(self.classes_)
        out = np.full((len(members), len(target), width), np.nan)

        def work(
            task: tuple[int, np.ndarray, np.ndarray],
        ) -> tuple[int, np.ndarray, np.ndarray]:
            i, train, test = task
            fitted = self._fit_member(i, members[i], data, w, train)
            return i, test, self._answer(i, fitted, data, test, vote)

        for done, (i, test, answers) in enumerate(ordered_map(work, tasks), 1):
            out[i, test] = answers
            report("folds and members", done, len(tasks))
        return out

    # -- what was learned --------------------------------------------------------------

    def _fused_answer(self, data: MemberData) -> np.ndarray:
        """What is predicted by: posteriors (n, K), or numbers (n,)."""
        raise undefined(self, "_fused_answer")

    def explain(self, X: Data) -> MemberExplanation:
        """What every column adds to the posterior of the class, or to the number, that is
        predicted, and the answer and share of every member (`detail`).

        The base is the answer for rows drawn in `fit` (`background_`) in the mean, whose columns
        are replaced by the row's own in random orders (Shapley's values, sampled). Members of any
        library are explained so; if they were given a frame, columns are replaced in the frame, by
        cells of its own types.
        """
        explanation, parts = self._replace_with_more(
            self._fused_answer, self._flat_member_parts, X, self._unit
        )
        classes = getattr(self, "classes_", None)
        return MemberExplanation.of(explanation, parts, classes, *self._member_heads())

    @property
    def _unit(self) -> str:
        """What explanations are measured in."""
        if self._predicts_classes:
            return "posterior"
        return self.schema_.target_name or "y"

    def _member_heads(self) -> tuple[list[str], str, tuple[str, np.ndarray] | None]:
        """The members that explanations name, the unit of their shares, and a setting of each."""
        raise undefined(self, "_member_heads")

    def _member_parts(self, data: MemberData) -> np.ndarray:
        """Answer, support and share of every member that `_member_heads` names, (n, members, 3).

        A class code or number, the posterior of the class that is predicted, and what it counts
        for.
        """
        raise undefined(self, "_member_parts")

    def _flat_member_parts(self, data: MemberData) -> np.ndarray:
        parts = self._member_parts(data)
        # not -1, which reshape cannot infer where there are no rows
        return parts.reshape(len(parts), math.prod(parts.shape[1:]))

    def _columns_text(self, i: int) -> str:
        numbers = self.columns_[i]
        if numbers is None:
            return "all"
        return ", ".join(self.schema_.names[j] for j in numbers)

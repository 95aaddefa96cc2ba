"""What committees of different learners share: their members, rows in the form of each, out-of-fold
answers.

A member is an estimator, (name, estimator) or (name, estimator, columns). Lyceum's own learners,
and pipelines of them, take coded rows; those of other libraries take what the user gave, an array
or a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    complexity,
    explain_frame,
    replace_columns,
    typical_row,
    undefined,
)
from lyceum._core.data import ArraySource, Block, Inputs, Step, is_frame
from lyceum._core.statistics import given_splits, seed_from
from lyceum._core.threads import ordered_map
from lyceum.ensemble.bagging.draws import set_seeds
from lyceum.ensemble.committees.explanation import CommitteeExplanation
from lyceum.ensemble.members.answers import one_hot, posteriors, vote_codes
from lyceum.ensemble.members.data import (
    MemberData,
    for_any_rows,
    refuse_codes,
    takes_missing,
    takes_rows,
    takes_text,
)
from lyceum.ensemble.members.names import (
    Member,
    check_tasks,
    check_weighted,
    column_numbers,
    named_members,
)
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import splitter
from lyceum.progress import report

COMMITTEE_CONSTRAINTS: dict[str, Any] = {
    "members": ["array-like", None],
    "random_state": ["random_state"],
    "categorical_features": CATEGORICAL_FEATURES,
}


@dataclass(frozen=True, eq=False)
class CommitteeData:
    """Rows as members take them: coded for Lyceum's own, an array or a frame for the others."""

    own: MemberData | None
    other: MemberData | None

    def of(self, estimator: Any) -> MemberData:
        if takes_rows(estimator):
            found = self.own
        else:
            found = self.other
        assert found is not None
        return found

    @property
    def n_rows(self) -> int:
        if self.own is not None and self.own.source is not None:
            return self.own.source.n_rows
        assert self.other is not None
        return len(self.other.container)


class CommitteeBase(_BaseComposition, Learner):
    """Different learners, each with its own columns, whatever is done with their answers."""

    _coding = "codes"
    _reads_rows = "in memory"
    _alternative: ClassVar[str] = "NaiveBayes or LogisticRegression"
    _members_name: ClassVar[str] = "members"
    _nan_means_none: ClassVar[bool] = True  # in `typical_`, of columns without a known cell

    random_state: int | np.random.RandomState | None
    categorical_features: Any
    estimators_: list[Any]
    names_: list[str]
    columns_: list[np.ndarray | None]
    seed_: int
    framed_: bool
    typical_: np.ndarray
    classes_: np.ndarray

    # -- members -----------------------------------------------------------------------

    def _default_members(self) -> list[Any]:
        raise undefined(self, "_default_members")

    def _members(self) -> list[Member]:
        given = getattr(self, self._members_name)
        return named_members(
            self._default_members() if given is None else given, self._members_name
        )

    @property
    def _predicts_classes(self) -> bool:
        return is_classifier(self)

    @property
    def _named_estimators(self) -> list[tuple[str, Any]]:
        """(name, learner) of members that were given names, for `get_params`."""
        given = getattr(self, self._members_name)
        if not isinstance(given, list | tuple):
            given = []
        return [(one[0], one[1]) for one in given if isinstance(one, tuple | list)]

    @_named_estimators.setter
    def _named_estimators(self, pairs: list[tuple[str, Any]]) -> None:
        new = dict(pairs)
        given = getattr(self, self._members_name)
        changed = [
            (*one[:1], new[one[0]], *one[2:]) if isinstance(one, tuple | list) else one
            for one in given
        ]
        setattr(self, self._members_name, changed)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of named members too."""
        own = {name: getattr(self, name) for name in self._get_param_names()}
        if not deep:
            return own
        for name, one in self._named_estimators:
            own[name] = one
            own.update(
                {f"{name}__{key}": value for key, value in one.get_params(deep=True).items()}
            )
        return own

    def set_params(self, **params: Any):
        """Set parameters, also `name` or `name__parameter` of a named member."""
        self._set_params("_named_estimators", **params)
        return self

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return all(takes_missing(one.estimator) for one in self._members())

    @property
    def _takes_text(self) -> bool:
        return all(takes_text(one.estimator) for one in self._members())

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        members = self._members()
        return all(
            bool(get_tags(m.estimator).input_tags.sparse) and m.columns is None for m in members
        )

    def _steps(self) -> list[Step]:
        return []  # members have their own

    # -- rows --------------------------------------------------------------------------

    def _committee_data(
        self, X: Any, y: Any, w: Any, extra: Sequence[Any] = ()
    ) -> tuple[CommitteeData, np.ndarray, np.ndarray | None]:
        """What members learn from, class codes or numbers, and weights if there are any."""
        self._validate_params()
        members = self._members()
        check_tasks(members, self._predicts_classes, type(self).__name__)
        rows = Inputs(self).for_fit(X, y, w)
        estimators = [*(one.estimator for one in members), *extra]
        block = rows.in_one_block(type(self).__name__, self._alternative)
        cv = getattr(self, "cv", None)
        numbered = not isinstance(cv, str) and hasattr(
            cv, "__iter__"
        )  # splits by the numbers of rows
        if all(map(takes_rows, estimators)) and not numbered:  # others are given X as it is
            block = block.without_zero_weights()
        source = ArraySource.of_block(block)
        assert source.y is not None
        self.typical_ = typical_row(source.block)
        if source.w is not None:
            check_weighted(estimators, type(self).__name__)
        self.names_ = [one.name for one in members]
        self.columns_ = [self._member_columns(one) for one in members]
        self.seed_ = seed_from(self.random_state)
        return self._split_data(estimators, source, X), source.y, source.w

    def _split_data(self, estimators: Sequence[Any], source: ArraySource, X: Any) -> CommitteeData:
        own = MemberData(source, named=hasattr(self, "feature_names_in_"))
        self.framed_ = False
        if all(map(takes_rows, estimators)):
            return CommitteeData(own, None)
        self.framed_ = is_frame(X)
        if not self.framed_:
            refuse_codes(source.schema)
        labels = self.classes_[source.y] if self._predicts_classes else source.y
        return CommitteeData(own, MemberData(None, X if self.framed_ else source.X, labels))

    def _member_columns(self, member: Member) -> np.ndarray | None:
        """The numbers of a member's columns in the table."""
        if member.columns is None:
            return None
        wanted = np.atleast_1d(np.asarray(member.columns, dtype=object)).tolist()
        found = column_numbers(wanted, self.schema_.names, f"member {member.name!r} asks for")
        if not len(found):
            raise SettingError(f"member {member.name!r} has no columns: give some, or None for all")
        return found

    def _apply_to_members(self, of: Callable[[CommitteeData], np.ndarray], X: Any) -> Any:
        """`of` the rows of X as members take them, one result per row (lazy on Dask)."""
        if not self._needs_frame(X):
            rows = self.rows_to_predict(X)
            others = not all(map(takes_rows, self._all_fitted))
            if (
                rows.in_memory and not others
            ):  # members split rows into blocks, and spread them, themselves
                return _of_block(
                    rows.in_one_block(type(self).__name__, self._alternative), of, others
                )
            return rows.collect(partial(_of_block, of=of, others=others))
        _check_feature_names(self, X, reset=False)
        if not self._needs_codes:
            return of(CommitteeData(None, MemberData(None, X)))
        block = self.rows_to_predict(X).in_one_block(type(self).__name__, self._alternative)
        return of(CommitteeData(MemberData(ArraySource.of_block(block)), MemberData(None, X)))

    def _needs_frame(self, X: Any) -> bool:
        """Whether members of other libraries are to be given this frame, as they were in `fit`."""
        if not hasattr(self, "framed_"):
            check_is_fitted(self)
        return self.framed_ and is_frame(X) and not all(map(takes_rows, self._all_fitted))

    @property
    def _all_fitted(self) -> list[Any]:
        return self.estimators_

    @property
    def _needs_codes(self) -> bool:
        """Whether some member takes coded rows."""
        return any(map(takes_rows, self._all_fitted))

    # -- answers -----------------------------------------------------------------------

    def _fit_members(self, data: CommitteeData, w: np.ndarray | None) -> None:
        """Every member on all rows, one after the other: each has its own threads."""
        self.estimators_ = []
        for i, member in enumerate(self._members()):
            self.estimators_.append(self._fit_member(i, member, data, w))
            report("members", i + 1, len(self.names_))

    def _fit_member(
        self, i: int, member: Member, data: CommitteeData, w: np.ndarray | None, rows: Any = None
    ) -> Any:
        copy = set_seeds(clone(member.estimator), self.seed_, i)
        if w is None or rows is None:
            part = w
        else:
            part = w[rows]
        if part is not None and not part.all():  # other libraries may count rows of weight zero
            keep = np.flatnonzero(part)
            if rows is None:
                rows = keep
            else:
                rows = rows[keep]
            part = part[keep]
        return data.of(member.estimator).fit(copy, rows, self.columns_[i], part)

    def _answer(
        self, i: int, fitted: Any, data: CommitteeData, rows: Any = None, vote: bool = False
    ) -> np.ndarray:
        """Posteriors (n, K), votes (n, K) or numbers (n, 1) of member i."""
        ask = partial(data.of(fitted).ask, rows=rows, columns=self.columns_[i])
        if not self._predicts_classes:
            return np.asarray(ask(fitted.predict), dtype=np.float64).reshape(-1, 1)
        if vote:
            return one_hot(vote_codes(fitted, self.classes_, ask), len(self.classes_))
        return posteriors(fitted, self.classes_, ask)

    def _answers(self, data: CommitteeData, vote: bool = False) -> np.ndarray:
        """The answers of every member, (L, n, K or 1)."""
        return np.stack(
            [self._answer(i, one, data, vote=vote) for i, one in enumerate(self.estimators_)]
        )

    def _splits(self, cv: Any, target: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of every fold: as many folds as rows for "leave_one_out"."""
        n = len(target)
        if cv == "leave_one_out":
            cv = splitter("leave_one_out")
        if isinstance(cv, int | np.integer):
            folds = min(int(cv), n)
            if folds < 2:
                raise DataError(
                    f"{type(self).__name__} cannot leave rows out of n_samples={n}: cv={cv}"
                )
            if self._predicts_classes:
                kind = "stratified"
            else:
                kind = "k_fold"
            cv = splitter(kind, n_splits=folds, random_state=self.seed_ % 2**31)
        if self._predicts_classes:
            labels = self.classes_[target]
        else:
            labels = target
        return given_splits(cv, n, labels, classifier=self._predicts_classes)

    def _out_of_fold(
        self,
        data: CommitteeData,
        target: np.ndarray,
        w: np.ndarray | None,
        cv: Any,
        vote: bool = False,
    ) -> np.ndarray:
        """The out-of-fold answers of every member, (L, n, K or 1); NaN for rows that are never
        tested.

        Folds and members are spread over the threads.
        """
        members = self._members()
        splits = self._splits(cv, target)
        tasks = [(i, train, test) for train, test in splits for i in range(len(members))]
        if self._predicts_classes:
            width = len(self.classes_)
        else:
            width = 1
        out = np.full((len(members), len(target), width), np.nan)

        def work(task: tuple[int, np.ndarray, np.ndarray]) -> tuple[int, np.ndarray, np.ndarray]:
            i, train, test = task
            fitted = self._fit_member(i, members[i], data, w, train)
            return i, test, self._answer(i, fitted, data, test, vote)

        for done, (i, test, answers) in enumerate(ordered_map(work, tasks), 1):
            out[i, test] = answers
            report("folds and members", done, len(tasks))
        return out

    # -- what was learned --------------------------------------------------------------

    def _fused_answer(self, data: CommitteeData) -> np.ndarray:
        """What is predicted by: posteriors (n, K), or numbers (n,)."""
        raise undefined(self, "_fused_answer")

    def explain(self, X: Any) -> CommitteeExplanation:
        """What every column adds to the posterior of the class, or to the number, that is
        predicted, and the answer and share of every member (`detail`).

        The base is the answer for a row of typical cells (`typical_`), whose columns are replaced
        by the row's own, one after the other, from both ends. Members of any library are explained
        so; if they were given a frame, columns are replaced in the frame, by typical cells of its
        own types.
        """
        check_is_fitted(self)
        if self._predicts_classes:
            unit = "posterior"
        else:
            unit = self.schema_.target_name or "y"
        if self._predicts_classes:
            classes = self.classes_
        else:
            classes = None
        if self._needs_frame(X):
            answer = partial(self._apply_to_members, self._fused_answer)
            members = partial(self._apply_to_members, partial(_flat_member_parts, self))
            rows = self.rows_to_predict(X)
            found, answers = explain_frame(X, rows, self.typical_, answer, unit, classes, members)
        else:
            found, answers = self._explain_with_more(X, partial(_parts, self), unit)
        return CommitteeExplanation.of(found, answers, classes, *self._member_heads())

    def _member_heads(self) -> tuple[list[str], str, tuple[str, np.ndarray] | None]:
        """The members that explanations name, the unit of their shares, and a setting of each."""
        raise undefined(self, "_member_heads")

    def _member_parts(self, data: CommitteeData) -> np.ndarray:
        """Answer, support and share of every member that `_member_heads` names, (n, members, 3).

        A class code or number, the posterior of the class that is predicted, and what it counts
        for.
        """
        raise undefined(self, "_member_parts")

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of all members."""
        check_is_fitted(self)
        return sum(map(complexity, self._all_fitted))

    def _columns_text(self, i: int) -> str:
        places = self.columns_[i]
        if places is None:
            return "all"
        return ", ".join(self.schema_.names[j] for j in places)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = all(takes_rows(one.estimator) for one in self._members())
        return tags


def _parts(model: CommitteeBase, block: Block) -> np.ndarray:
    others = not all(map(takes_rows, model._all_fitted))
    columns = replace_columns(
        block, model.typical_, partial(_of_block, of=model._fused_answer, others=others)
    )
    return np.hstack([columns, _of_block(block, partial(_flat_member_parts, model), others)])


def _flat_member_parts(model: CommitteeBase, data: CommitteeData) -> np.ndarray:
    parts = model._member_parts(data)
    return parts.reshape(len(parts), math.prod(parts.shape[1:]))


def _of_block(block: Block, of: Callable[[CommitteeData], np.ndarray], others: bool) -> np.ndarray:
    return for_any_rows(block, partial(_of_rows, of=of, others=others))


def _of_rows(block: Block, of: Callable[[CommitteeData], np.ndarray], others: bool) -> np.ndarray:
    own = MemberData(ArraySource(block.X, None, None, block.schema, coded=True))
    if not others:
        return of(CommitteeData(own, None))
    refuse_codes(block.schema)
    return of(CommitteeData(own, MemberData(None, block.X)))

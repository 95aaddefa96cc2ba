"""Stacking: a learner that learns from what other learners say of rows that they have not seen."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from lyceum.base import Classifier, Regressor, complexity, normalize_posteriors, undefined
from lyceum.data import ArraySource, Column, Rows, Schema
from lyceum.ensemble._committee import usual_classifiers, usual_regressors
from lyceum.ensemble._committee_base import COMMITTEE_CONSTRAINTS, CommitteeBase, CommitteeData
from lyceum.ensemble._draws import seeded
from lyceum.ensemble._member_data import MemberData, posteriors, takes_rows
from lyceum.errors import DataError
from lyceum.linear import LogisticRegression, Ridge
from lyceum.report import Summary, Table

__all__ = ["StackingClassifier", "StackingRegressor"]

_CONSTRAINTS: dict[str, Any] = {
    **COMMITTEE_CONSTRAINTS,
    "final": [HasMethods(["fit", "predict"]), None],
    "cv": ["cv_object", StrOptions({"leave_one_out"})],
    "passthrough": ["boolean"],
}
_FINAL = 1_000_003  # the number of the final learner among the members, for its seed


class _Stacking(CommitteeBase):
    """Level 0: the members; level 1: the final learner, on their out-of-fold answers."""

    final: Any
    cv: Any
    passthrough: bool
    final_: Any
    level0_names_: list[str]

    def _default_final(self) -> Any:
        raise undefined(self, "_default_final")

    def _final(self) -> Any:
        return self._default_final() if self.final is None else self.final

    @property
    def _all_fitted(self) -> list[Any]:
        return [*self.estimators_, self.final_] if self.passthrough else self.estimators_

    # -- fit -----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit the final learner on what members say out of fold, then every member on all rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Every member and the final learner must take weights then.
        """
        final = self._final()
        data, target, w = self._committee_data(X, y, sample_weight, extra=[final])
        self.level0_names_ = self._level0_names()
        said = self._out_of_fold(data, target, w, self.cv)
        seen = np.flatnonzero(np.isfinite(said).all(axis=(0, 2)))
        if not len(seen):
            raise DataError("cv leaves no row out: there is nothing for the final learner to learn from")
        table = self._level1(self._columns_of(said[:, seen]), data, seen)
        learner = seeded(clone(final), self.seed_, _FINAL)
        part = None if w is None else w[seen]
        keep = None if part is None or part.all() else np.flatnonzero(part)
        known = self.classes_ if self._predicts_classes else None
        self.final_ = _fit_final(learner, table, target[seen], known, part, keep)
        self._fit_members(data, w)
        return self

    def _level0_names(self) -> list[str]:
        if not self._predicts_classes:
            return list(self.names_)
        shown = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [f"{name}: {label}" for name in self.names_ for label in shown]

    def _columns_of(self, said: np.ndarray) -> np.ndarray:
        """Answers side by side, (n, columns); of two classes the first says nothing new."""
        if self._predicts_classes and said.shape[2] == 2:
            said = said[:, :, 1:]
        return np.concatenate(list(said), axis=1)

    def _level1(self, columns: np.ndarray, data: CommitteeData, rows: Any = None) -> ArraySource:
        """The table that the final learner sees, coded."""
        schema = Schema(tuple(Column(name, why="what a member says") for name in self.level0_names_))
        if not self.passthrough:
            return ArraySource(columns, None, None, schema, coded=True)
        assert data.own is not None
        source = data.own.source
        assert source is not None
        X = source.X if rows is None else source.X[rows]
        X = X.toarray() if sparse.issparse(X) else X
        both = Schema((*schema.columns, *source.schema.columns))
        return ArraySource(np.hstack([columns, X.astype(np.float64)]), None, None, both, coded=True)

    # -- predict -------------------------------------------------------------------------------------------

    def _asked(self, data: CommitteeData) -> MemberData:
        """Level-1 rows, to ask the final learner about."""
        table = self._level1(self._columns_of(self._answers(data)), data)
        return MemberData(table) if takes_rows(self.final_) else MemberData(None, table.X)

    def level0(self, X: Any) -> Any:
        """What the members say, one column per member (and class): the rows of level 1."""
        return self._apply_to_members(partial(_level0, self), X)

    # -- what was learned ----------------------------------------------------------------------------------

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"typical_": (self.n_features_in_,)}

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the members and of the final learner."""
        check_is_fitted(self)
        return sum(map(complexity, [*self.estimators_, self.final_]))

    def summary(self) -> Summary:
        """The members, and what the final learner made of them."""
        check_is_fitted(self)
        heads = ["member", "learner", "columns"]
        rows = [
            [name, type(one).__name__, self._columns_text(i)]
            for i, (name, one) in enumerate(zip(self.names_, self.estimators_))
        ]
        tables = [Table("Members", heads, rows)]
        coef = getattr(self.final_, "coef_", None)
        if coef is not None and np.ndim(coef) and np.shape(coef)[-1] == len(self.level0_names_):
            tables.append(_coefficients(np.atleast_2d(coef), self.level0_names_))
        facts = {"final": type(self.final_).__name__, "cv": str(self.cv), "answers": len(self.level0_names_)}
        return Summary(self._title(), facts, tables)


def _coefficients(coef: np.ndarray, names: list[str]) -> Table:
    heads = ["level-0 answer", *([str(k) for k in range(len(coef))] if len(coef) > 1 else ["coefficient"])]
    return Table("Final learner", heads, [[name, *map(float, part)] for name, part in zip(names, coef.T)])


def _fit_final(
    learner: Any, table: ArraySource, target: np.ndarray, classes: np.ndarray | None, w: Any, keep: Any
) -> Any:
    """The final learner on level-1 rows; `target` has class codes, or numbers where `classes` is None."""
    if keep is not None:
        table, target, w = table.take(keep), target[keep], w[keep]
    if not takes_rows(learner):
        weights = {} if w is None else {"sample_weight": w}
        return learner.fit(table.X, target if classes is None else classes[target], **weights)
    column = Column("y", why="y")
    if classes is not None:
        column = Column("y", "binary" if len(classes) == 2 else "categorical", classes, "y")
    return learner.fit(Rows(replace(table, y=target, w=w, schema=table.schema.with_target(column))))


class StackingClassifier(Classifier, _Stacking):
    """Stacked generalization: a final classifier learns from the posteriors that members give out of fold.

    The final learner is trained on what each member says of rows that it was not fitted on, so that no row's
    own label is in its level-0 answers. Afterwards every member is fitted again on all rows.

    Parameters
    ----------
    members : list of learners, (name, learner) or (name, learner, columns), default=None
        The classifiers of level 0, of any library; `columns` are names or numbers. None is naive Bayes,
        logistic regression and a decision tree.
    final : classifier, default=None
        The learner of level 1; None is `LogisticRegression`.
    cv : int, "leave_one_out" or splitter, default=5
        How rows are left out; folds and members run in parallel. Rows that a splitter never tests are not
        learned from at level 1.
    passthrough : bool, default=False
        Whether the final learner also sees the columns of the table.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of every `random_state` in the learners.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, sorted.
    estimators_ : list of classifiers
        The members, fitted on all rows.
    final_ : classifier
        The fitted final learner.
    level0_names_ : list of str
        The level-0 columns that it sees: a member and a class each (of two classes the second).
    names_ : list of str
        The names of the members.
    columns_ : list of arrays
        The places of their columns, None for all.
    seed_ : int
        The seed that was used.
    framed_ : bool
        Whether learners of another library were given a frame.
    typical_ : array of shape (d,)
        The mean or commonest cell of every column, coded; where explanations start.

    See Also
    --------
    Committee : Fixed rules instead of a final learner.

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5.
    Ting and Witten (1999), Issues in stacked generalization, JAIR 10.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> penguins = load("penguins")
    >>> model = StackingClassifier(random_state=0).fit(penguins)
    >>> model.score(penguins) > 0.97
    True
    """

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    def __init__(
        self,
        members: Any = None,
        final: Any = None,
        *,
        cv: Any = 5,
        passthrough: bool = False,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.members = members
        self.final = final
        self.cv = cv
        self.passthrough = passthrough
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default_members(self) -> list[Any]:
        return usual_classifiers()

    def _default_final(self) -> Any:
        return LogisticRegression()

    def _fused_answer(self, data: CommitteeData) -> np.ndarray:
        return _final_posteriors(self, data)

    def predict(self, X: Any) -> Any:
        """The class of the largest posterior of the final learner."""
        return self._apply_to_members(partial(_classes, self), X)

    def predict_proba(self, X: Any) -> Any:
        """The posteriors of the final learner; its votes if it has none."""
        return self._apply_to_members(partial(_final_posteriors, self), X)


class StackingRegressor(Regressor, _Stacking):
    """Stacked generalization: a final regressor learns from the predictions of members out of fold.

    The final learner is trained on what each member predicts for rows that it was not fitted on; afterwards
    every member is fitted again on all rows.

    Parameters
    ----------
    members : list of learners, (name, learner) or (name, learner, columns), default=None
        The regressors of level 0, of any library; `columns` are names or numbers. None is ridge regression
        and a regression tree.
    final : regressor, default=None
        The learner of level 1; None is `Ridge`.
    cv : int, "leave_one_out" or splitter, default=5
        How rows are left out; folds and members run in parallel. Rows that a splitter never tests are not
        learned from at level 1.
    passthrough : bool, default=False
        Whether the final learner also sees the columns of the table.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of every `random_state` in the learners.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    estimators_ : list of regressors
        The members, fitted on all rows.
    final_ : regressor
        The fitted final learner.
    level0_names_ : list of str
        The level-0 columns that it sees, one per member.
    names_ : list of str
        The names of the members.
    columns_ : list of arrays
        The places of their columns, None for all.
    seed_ : int
        The seed that was used.
    framed_ : bool
        Whether learners of another library were given a frame.
    typical_ : array of shape (d,)
        The mean or commonest cell of every column, coded; where explanations start.

    See Also
    --------
    Committee : Fixed rules instead of a final learner.

    References
    ----------
    Breiman (1996), Stacked regressions, Machine Learning 24.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> cpu = load("cpu")
    >>> StackingRegressor(random_state=0).fit(cpu).score(cpu) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    def __init__(
        self,
        members: Any = None,
        final: Any = None,
        *,
        cv: Any = 5,
        passthrough: bool = False,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.members = members
        self.final = final
        self.cv = cv
        self.passthrough = passthrough
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default_members(self) -> list[Any]:
        return usual_regressors()

    def _default_final(self) -> Any:
        return Ridge(alpha=1e-3)

    def _fused_answer(self, data: CommitteeData) -> np.ndarray:
        return _numbers(self, data)

    def predict(self, X: Any) -> Any:
        """What the final learner predicts."""
        return self._apply_to_members(partial(_numbers, self), X)


def _level0(model: _Stacking, data: CommitteeData) -> np.ndarray:
    return model._columns_of(model._answers(data))


def _final_posteriors(model: StackingClassifier, data: CommitteeData) -> np.ndarray:
    return normalize_posteriors(posteriors(model.final_, model.classes_, model._asked(data).ask))


def _classes(model: StackingClassifier, data: CommitteeData) -> np.ndarray:
    return model.classes_[_final_posteriors(model, data).argmax(axis=1)]


def _numbers(model: StackingRegressor, data: CommitteeData) -> np.ndarray:
    return np.asarray(model._asked(data).ask(model.final_.predict), dtype=np.float64)

"""Stacking: a final learner that is fitted on the out-of-fold predictions of other learners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from lyceum import prepare
from lyceum._core.base import (
    Classifier,
    Regressor,
    complexity,
    normalize_posteriors,
    parts_by_replacement,
    plausible_cells,
    takes_rows,
    undefined,
)
from lyceum._core.constraints import HasMethods, StrOptions
from lyceum._core.data import ArraySource, Column, Rows, Schema, dense_cells
from lyceum._core.members import (
    MemberData,
    class_operations,
    member_operations,
    set_seeds,
)
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.ensemble.committees.base import (
    NAMED_CONSTRAINTS,
    MemberColumns,
    NamedEnsemble,
    member_kind,
)
from lyceum.ensemble.committees.usual_members import (
    usual_classifiers,
    usual_regressors,
)
from lyceum.errors import DataError
from lyceum.linear import LogisticRegression, Ridge
from lyceum.report import Summary, Table

_SHOWN = 5  # rows of the level-0 table in a summary
_FINAL = 1_000_003  # the number of the final learner among the members, for its seed
_CONSTRAINTS: dict[str, Any] = {
    **NAMED_CONSTRAINTS,
    "final_estimator": [HasMethods(["fit", "predict"]), None],
    "cv": ["cv_object", StrOptions({"leave_one_out", "prefit"})],
    "passthrough": ["boolean"],
}


def _final_has_scores(self: Any) -> bool:
    return hasattr(
        getattr(self, "final_estimator_", self._final()), "decision_function"
    )


class _Stacking(MemberColumns, NamedEnsemble):
    """Level 0: the members; level 1: the final learner, on their out-of-fold answers."""

    _parameter_docs: ClassVar[str] = """
    cv : int, "leave_one_out", "prefit" or splitter
        How rows are left out; folds and members run in parallel. Rows that a splitter never tests
        are not learned from at level 1. "prefit": the members are fitted already, on other rows,
        and stay as they are.
    passthrough : bool
        Whether the final learner also sees the columns of the table.
    """

    final_estimator: Any
    cv: Any
    passthrough: bool
    final_estimator_: Any
    level0_names_: list[str]
    level0_: np.ndarray
    level0_rows_: np.ndarray
    level0_target_: np.ndarray
    typical_answers_: np.ndarray

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = 5,
        passthrough: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.passthrough = passthrough
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default_final(self) -> Any:
        raise undefined(self, "_default_final")

    def _final(self) -> Any:
        """The learner of level 1; the usual one fills and standardizes the columns that it sees."""
        if self.final_estimator is not None:
            return self.final_estimator
        if not self.passthrough:
            return self._default_final()
        from sklearn.pipeline import make_pipeline  # takes long to import

        return make_pipeline(
            prepare.SimpleImputer(), prepare.StandardScaler(), self._default_final()
        )

    def _sk_visual_block_(self) -> Any:
        """What scikit-learn shows in notebooks: the members above the final learner."""
        from sklearn.pipeline import FeatureUnion  # takes long to import

        members = super()._sk_visual_block_()
        final = FeatureUnion([("final_estimator", self._final())])._sk_visual_block_()
        return type(members)("serial", (members, final), dash_wrapped=False)

    def _all_learners(self) -> list[Any]:
        return [*self._learners(), self._final()]

    def _predicting_learners(self) -> list[Any]:
        if self.passthrough:
            return [*self.estimators_, self.final_estimator_]
        return self.estimators_

    @property
    def _needs_source(self) -> bool:
        return self.passthrough or super()._needs_source

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit the final learner on the out-of-fold answers of the members, then every member on all
        rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Every member and the final learner must take weights then.
        """
        data, target, w = self._member_data(X, y, sample_weight)
        self.level0_names_ = self._level0_names()
        if self.cv == "prefit":
            self.estimators_ = self._fitted_learners()
            answers = self._answers(data)
        else:
            answers = self._out_of_fold(data, target, w, self.cv)
        tested = np.flatnonzero(np.isfinite(answers).all(axis=(0, 2)))
        if not len(tested):
            raise DataError(
                "cv leaves no row out: there is nothing for the final learner to learn from"
            )
        columns = self._columns_of(answers[:, tested])
        weights = None
        if w is not None:
            weights = w[tested]
        self.typical_answers_ = np.average(columns, axis=0, weights=weights)
        self.level0_ = columns
        self.level0_rows_ = tested
        self.level0_target_ = target[tested]
        if self._predicts_classes:
            self.level0_target_ = self.classes_[target[tested]]
        table = self._level1(columns, data, tested)
        self.final_estimator_ = self._fit_final(table, target[tested], weights)
        if self.cv != "prefit":
            self._fit_members(data, w)
        return self

    def _fitted_learners(self) -> list[Any]:
        """The members as they were given, of cv="prefit"."""
        learners = self._learners()
        for learner in learners:
            check_is_fitted(learner)
        return learners

    def _fit_final(
        self,
        table: ArraySource,
        target: np.ndarray,
        w: np.ndarray | None,
    ) -> Any:
        """The final learner on level-1 rows; `target` has class codes, or numbers."""
        learner = set_seeds(clone(self._final()), self.seed_, _FINAL, keep=True)
        if w is not None and not w.all():
            positive = np.flatnonzero(w)
            table = table.take(positive)
            target = target[positive]
            w = w[positive]
        labels = target
        column = Column("y", why="y")
        if self._predicts_classes:
            labels = self.classes_[target]
            two = len(self.classes_) == 2
            column = Column("y", "binary" if two else "categorical", self.classes_, "y")
        if takes_rows(learner):
            schema = table.schema.with_target(column)
            return learner.fit(Rows(replace(table, y=target, w=w, schema=schema)))
        if w is None:
            return learner.fit(table.X, labels)
        return learner.fit(table.X, labels, sample_weight=w)

    def _level0_names(self) -> list[str]:
        if not self._predicts_classes:
            return list(self.names_)
        labels = self.classes_
        if len(labels) == 2:
            labels = labels[1:]
        return [f"{name}: {label}" for name in self.names_ for label in labels]

    def _columns_of(self, answers: np.ndarray) -> np.ndarray:
        """Answers side by side, (n, columns); of two classes the first adds nothing."""
        if self._predicts_classes and answers.shape[2] == 2:
            answers = answers[:, :, 1:]
        return np.concatenate(list(answers), axis=1)

    def _level0(self, data: MemberData) -> np.ndarray:
        return self._columns_of(self._answers(data))

    def _level1(
        self,
        columns: np.ndarray,
        data: MemberData,
        rows: Any = None,
    ) -> ArraySource:
        """The table that the final learner sees, coded."""
        seen = [
            Column(name, why="the answer of a member") for name in self.level0_names_
        ]
        if not self.passthrough:
            return ArraySource(columns, None, None, Schema(tuple(seen)), coded=True)
        source = data.source
        assert source is not None
        X = source.X
        if rows is not None:
            X = X[rows]
        both = Schema((*seen, *source.schema.columns))
        cells = np.hstack([columns, dense_cells(X).astype(np.float64)])
        return ArraySource(cells, None, None, both, coded=True)

    # -- predict -----------------------------------------------------------------------

    def _final_answer(self, table: ArraySource) -> np.ndarray:
        """The answers of the final learner for level-1 rows: posteriors (n, K), or numbers (n,)."""
        final = self.final_estimator_
        level1 = MemberData(table if takes_rows(final) else None, table.X)
        if self._predicts_classes:
            return normalize_posteriors(level1.posteriors(final, self.classes_))
        return np.asarray(level1.predict_with(final), dtype=np.float64)

    def _fused_answer(self, data: MemberData) -> np.ndarray:
        return self._final_answer(self._level1(self._level0(data), data))

    def _operations(self) -> list[Operation]:
        branches = []
        for i, member in enumerate(self.estimators_):
            operations = self._answer_operations(i, member)
            if self._predicts_classes and len(self.classes_) == 2:
                operations.append(("pick", {"columns": [1]}))
            branches.append(operations)
        if self.passthrough:
            branches.append([])
        source = ArraySource(
            plausible_cells(self.schema_), None, None, self.schema_, coded=True
        )
        answers = np.zeros((1, len(self.level0_names_)))
        level1 = self._level1(answers, MemberData(source)).schema
        final = member_operations(self.final_estimator_, level1)
        if self._predicts_classes:
            final = class_operations(self.final_estimator_, self.classes_, level1)
            final.append(("shares", {}))
        return [("branches", {"branches": branches}), *final]

    def _new_cells(self, data: MemberData) -> np.ndarray:
        return np.asarray(self._level1(self._level0(data), data).X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`: class, member and number of the answer."""
        width = len(self.level0_names_) // len(self.names_)
        names = self._answer_names(width)
        if self.passthrough:
            names += _check_feature_names_in(self, input_features).tolist()
        return np.array(names, dtype=object)

    def transform(self, X: Data) -> Any:
        """The answers of the members, and with `passthrough` the columns of X: what the final
        learner sees.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        columns : array or frame of shape (n_samples, n_columns)
            Named by `get_feature_names_out`; sparse where X is and passes through.
        """
        given: Any = X
        if self.passthrough and sparse.issparse(given):
            both = [sparse.csr_matrix(self.level0(X)), given]
            return sparse.hstack(both, format=given.format)
        return super().transform(X)

    def level0(self, X: Data) -> Any:
        """The answers of the members, one column per member (and class): the rows of level 1."""
        return self._apply_to_members(self._level0, X)

    # -- what was learned --------------------------------------------------------------

    def level0_table(self, rows: Any = slice(None)) -> Table:
        """The table that the final learner was fitted on: out-of-fold answers, and the target.

        Parameters
        ----------
        rows : slice or array of int, default=slice(None)
            Which of its rows.

        Returns
        -------
        Table
            The number of a row of the training table, the answers of the members that have not seen
            it, and its target.
        """
        check_is_fitted(self)
        columns = [self.level0_rows_[rows].tolist(), *self.level0_[rows].T.tolist()]
        columns.append(self.level0_target_[rows].tolist())
        head = ["row", *self.level0_names_, self.schema_.target_name or "y"]
        return Table("Level-0 table", head, list(zip(*columns)))

    def _member_heads(self) -> tuple[list[str], str, tuple[str, np.ndarray] | None]:
        heads = [*self.names_, "(base)"]
        if self.passthrough:
            heads.insert(-1, "(columns)")
        return heads, f"adds to the {self._unit}", None

    def _member_parts(self, data: MemberData) -> np.ndarray:
        answers = self._answers(data)
        added = self._added_by_members(self._level1(self._columns_of(answers), data))
        n = len(added)
        L = len(self.names_)
        # members, the table's columns where they pass through, and at the end the base
        parts = np.full((n, added.shape[1] - 1, 3), np.nan)
        parts[:, :-1, 2] = added[:, 2:]
        parts[:, -1, 2] = added[:, 1]
        if self._predicts_classes:
            parts[:, :L, 0] = answers.argmax(axis=2).T
            parts[:, :L, 1] = answers[:, np.arange(n), added[:, 0].astype(int)].T
        else:
            parts[:, :L, 0] = answers[:, :, 0].T
        return parts

    def _added_by_members(self, table: ArraySource) -> np.ndarray:
        """Rows of prediction, base, and what the answers of every member add."""
        # the columns of a member are replaced together, by its mean answers
        n_answers = len(self.level0_names_)
        width = n_answers // len(self.names_)
        groups: list[Any] = [slice(i, i + width) for i in range(0, n_answers, width)]
        typical = self.typical_answers_
        if self.passthrough:
            groups.append(slice(n_answers, table.X.shape[1]))
            answers = np.tile(typical, (len(self.background_), 1))
            typical = np.column_stack([answers, self.background_])

        def answer(X: np.ndarray) -> np.ndarray:
            return self._final_answer(replace(table, X=X))

        cells = np.asarray(table.X, dtype=np.float64)
        return parts_by_replacement(cells, typical, answer, groups)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return super()._shapes() | {"typical_answers_": (len(self.level0_names_),)}

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the members and of the final learner."""
        return super().complexity() + complexity(self.final_estimator_)

    def summary(self) -> Summary:
        """The members, and what the final learner made of them."""
        check_is_fitted(self)
        rows = []
        for i, (name, member) in enumerate(zip(self.names_, self.estimators_)):
            rows.append([name, member_kind(member), self._columns_text(i)])
        tables = [Table("Members", ["member", "learner", "columns"], rows)]
        coef: Any = getattr(self.final_estimator_, "coef_", None)
        if np.ndim(coef) and np.shape(coef)[-1] == len(self.level0_names_):
            tables.append(_coefficients_table(np.atleast_2d(coef), self.level0_names_))
        facts = {
            "final estimator": type(self.final_estimator_).__name__,
            "cv": str(self.cv),
            "answers": len(self.level0_names_),
            "rows of level 1": f"{len(self.level0_):,}; level0_table() has all",
        }
        first = self.level0_table(slice(_SHOWN))
        tables.append(replace(first, title=f"Level-0 table, first {_SHOWN} rows"))
        return Summary(self._title(), facts, tables)


class StackingClassifier(Classifier, _Stacking):
    """Stacked generalization: a final classifier learns from the posteriors that members give out
    of fold.

    The final learner is fitted on the out-of-fold predictions of the members, so that no row's own
    label is in its level-0 answers. Afterwards every member is fitted again on all rows.

    Parameters
    ----------
    estimators : list of learners, (name, learner) or (name, learner, columns), default=None
        The classifiers of level 0, of any library; `columns` are names or numbers. None is naive
        Bayes, logistic regression and a decision tree.
    final_estimator : classifier, default=None
        The learner of level 1; None is `LogisticRegression` (with `passthrough`, after filling
        missing cells and standardizing).

    Attributes
    ----------
    estimators_ : list of classifiers
        The members, fitted on all rows.
    final_estimator_ : classifier
        The fitted final learner.
    level0_names_ : list of str
        The level-0 columns that it sees: a member and a class each (of two classes the second).
    level0_ : array of shape (tested rows, level-0 columns)
        The out-of-fold answers that it was fitted on; `level0_table()` shows them.
    level0_rows_, level0_target_ : arrays of shape (tested rows,)
        The numbers of these rows in the training table, and their targets.
    typical_answers_ : array of shape (level-0 columns,)
        Their means over the rows of `fit`; where explanations by members start.

    See Also
    --------
    VotingClassifier : Fixed rules instead of a final learner.

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

    def _default_members(self) -> list[Any]:
        return usual_classifiers()

    def _default_final(self) -> Any:
        return LogisticRegression()

    def predict(self, X: Data, **predict_params: Any) -> Any:
        """The class of the largest posterior of the final learner; `predict_params` are given to
        its `predict`."""
        if predict_params:
            return self.final_estimator_.predict(self.transform(X), **predict_params)
        return self._predict_largest(self._fused_answer, X)

    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the final learner; its votes if it has none."""
        return self._apply_to_members(self._fused_answer, X)

    @available_if(_final_has_scores)
    def decision_function(self, X: Data) -> Any:
        """The scores of the final learner, if it has some."""
        return self._apply_to_members(self._final_scores, X)

    def _final_scores(self, data: MemberData) -> np.ndarray:
        table = self._level1(self._level0(data), data)
        final = self.final_estimator_
        level1 = MemberData(table if takes_rows(final) else None, table.X)
        return level1.predict_with(final, "decision_function")


class StackingRegressor(Regressor, _Stacking):
    """Stacked generalization: a final regressor learns from the predictions of members out of fold.

    The final learner is trained on what each member predicts for rows that it was not fitted on;
    afterwards every member is fitted again on all rows.

    Parameters
    ----------
    estimators : list of learners, (name, learner) or (name, learner, columns), default=None
        The regressors of level 0, of any library; `columns` are names or numbers. None is ridge
        regression and a regression tree.
    final_estimator : regressor, default=None
        The learner of level 1; None is `Ridge` (with `passthrough`, after filling missing cells and
        standardizing).

    Attributes
    ----------
    estimators_ : list of regressors
        The members, fitted on all rows.
    final_estimator_ : regressor
        The fitted final learner.
    level0_names_ : list of str
        The level-0 columns that it sees, one per member.
    level0_ : array of shape (tested rows, level-0 columns)
        The out-of-fold answers that it was fitted on; `level0_table()` shows them.
    level0_rows_, level0_target_ : arrays of shape (tested rows,)
        The numbers of these rows in the training table, and their targets.
    typical_answers_ : array of shape (level-0 columns,)
        Their means over the rows of `fit`; where explanations by members start.

    See Also
    --------
    VotingRegressor : Fixed rules instead of a final learner.

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

    def _default_members(self) -> list[Any]:
        return usual_regressors()

    def _default_final(self) -> Any:
        return Ridge(alpha=1e-3, standardize=True)  # in any unit of the target

    def predict(self, X: Data, **predict_params: Any) -> Any:
        """What the final learner predicts; `predict_params` are given to its `predict`, such as
        `return_std`."""
        if predict_params:
            return self.final_estimator_.predict(self.transform(X), **predict_params)
        return self._apply_to_members(self._fused_answer, X)


def _coefficients_table(coef: np.ndarray, names: list[str]) -> Table:
    heads = ["level-0 answer", "coefficient"]
    if len(coef) > 1:
        heads = ["level-0 answer", *map(str, range(len(coef)))]
    rows = [[name, *map(float, column)] for name, column in zip(names, coef.T)]
    return Table("Final estimator", heads, rows)

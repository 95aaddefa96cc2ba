"""Auxiliary targets: columns that are known in training only, learned beside the main one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    background_rows,
    complexity,
    replace_columns,
    takes_rows,
)
from lyceum._core.constraints import HasMethods
from lyceum._core.data import (
    ArraySource,
    Block,
    CheckCells,
    Column,
    Inputs,
    Rows,
    Schema,
    Step,
    dense_cells,
    row_weights,
)
from lyceum._core.members import EitherTask, has_classes, set_seeds
from lyceum._core.statistics import row_splits, seed_from
from lyceum._core.types import Categories, Data, Estimator, Target, Weights
from lyceum.ensemble.committees.base import column_numbers
from lyceum.errors import SettingError
from lyceum.report import Explanation, Summary, Table
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

_FINAL = 1_000_003  # the number of the final learner, for its seed


class AuxiliaryTargets(EitherTask, Learner):
    """A learner helped by columns that are known in training but not when it is used.

    Every auxiliary column is itself predicted from the other columns; what is predicted for rows
    left out is given to the learner of the main target beside those columns. When the model is
    used, auxiliary cells are not looked at: they may be missing.

    Parameters
    ----------
    estimator : learner, default=None
        One of Lyceum's classifiers or regressors, which learns the main target; None is a
        `DecisionTreeClassifier` of depth 6.
    auxiliary : list of str or int, default=None
        The columns that are auxiliary targets, by name or number; None for none.
    cv : int or splitter, default=5
        The folds by which auxiliary targets are predicted for training rows.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, sorted; of classifiers only.
    estimator_ : learner
        The learner of the main target.
    auxiliary_ : list of learners
        The learners of the auxiliary targets: trees of depth 6.
    places_ : array of int
        The places of the auxiliary columns in the table.
    seed_ : int
        The seed that was used.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded; where explanations start.

    See Also
    --------
    StackingClassifier : Members that predict the main target.

    References
    ----------
    Caruana (1997), Multitask learning, Machine Learning 28.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); hint = X[:, :1] * X[:, 1:]
    >>> y = hint[:, 0] > 0
    >>> model = AuxiliaryTargets(auxiliary=[2], random_state=0).fit(np.hstack([X, hint]), y)
    >>> unknown = np.full((300, 1), np.nan)
    >>> model.score(np.hstack([X, unknown]), y) > 0.9
    True
    """

    _coding = "codes"
    _reads_rows = "in memory"
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "auxiliary": ["array-like", None],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    _nan_means_none: ClassVar[bool] = True  # in `background_`, where a cell is missing
    _for_classes: ClassVar[str] = "give it a classifier, e.g. estimator=NaiveBayes()"
    _for_numbers: ClassVar[str] = "give it a regressor, e.g. estimator=Ridge()"

    classes_: np.ndarray
    estimator_: Any
    places_: np.ndarray
    background_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        *,
        auxiliary: Any = None,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.auxiliary = auxiliary
        self.cv = cv
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _base(self) -> Any:
        if self.estimator is None:
            return DecisionTreeClassifier(max_depth=6)
        return self.estimator

    def _task_giver(self) -> Any:
        return self._base()

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return bool(getattr(self._base(), "_takes_missing", False))

    def _steps(self) -> list[Step]:
        return [CheckCells(type(self).__name__, True)]  # the learners have their own

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Learn the auxiliary targets, then the main one with their help.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            The auxiliary columns too.
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        self._validate_params()
        base = self._own_base()
        rows = self._prepare_rows(Inputs(self).for_fit(X, y, sample_weight))
        block = rows.in_one_block(
            "AuxiliaryTargets", "NaiveBayes or LogisticRegression"
        )
        source = ArraySource.of_block(block)
        self.background_ = background_rows(block)
        self.seed_ = seed_from(self.random_state)
        self.places_ = self._auxiliary_columns()
        rest = self._without_auxiliary(source)
        answers = []
        self.auxiliary_ = []
        for i, j in enumerate(self.places_.tolist()):
            column = source.schema[j]
            cells = np.asarray(dense_cells(source.X)[:, j], dtype=np.float64)
            fit = partial(
                _fit_auxiliary, rest, column, cells, seed=self.seed_, number=i
            )
            # the main learner sees answers for rows left out, as it will when it is used
            answers.append(self._held_out(rest, fit))
            self.auxiliary_.append(fit(rows=np.arange(len(cells))))
        # the main target from the other columns and the answers, on rows with a weight
        final = set_seeds(clone(base), self.seed_, _FINAL)
        table = self._with_answers(rest, answers)
        if table.w is not None and not table.w.all():
            table = table.take(np.flatnonzero(table.w))
        self.estimator_ = final.fit(Rows(table))
        if not has_classes(self):
            self.__dict__.pop("classes_", None)
        return self

    def _own_base(self) -> Any:
        """The learner of the main target; refuses one that takes no coded rows."""
        base = self._base()
        if not takes_rows(base):
            raise SettingError(
                f"{type(base).__name__} is not one of Lyceum's learners: set estimator to one of"
                " them, e.g. DecisionTreeClassifier(), or to a pipeline of Lyceum's own steps"
            )
        return base

    def _auxiliary_columns(self) -> np.ndarray:
        names = self.schema_.names
        auxiliary = self.auxiliary
        if self.auxiliary is None:
            auxiliary = ()
        columns = column_numbers(auxiliary, names, "auxiliary names")
        if len(columns) == len(names):
            raise SettingError(
                "every column is auxiliary: nothing is left to predict from"
            )
        return columns

    def _without_auxiliary(self, source: ArraySource) -> ArraySource:
        """The rows without the auxiliary columns."""
        if not len(self.places_):
            return source
        numbers = np.setdiff1d(np.arange(len(source.schema)), self.places_)
        columns = tuple(source.schema[j] for j in numbers.tolist())
        X = np.ascontiguousarray(dense_cells(source.X)[:, numbers])
        return replace(source, X=X, schema=replace(source.schema, columns=columns))

    def _held_out(self, rest: ArraySource, fit: Callable[..., Any]) -> np.ndarray:
        """The answers for every row of a learner that was fitted without its fold."""
        n = rest.n_rows
        held_out: np.ndarray | None = None
        for train, test in row_splits(self.cv, n, self.seed_):
            answers = _answers(fit(rows=train), rest.take(test))
            if held_out is None:
                held_out = np.full((n, answers.shape[1]), np.nan)
            held_out[test] = answers
        assert held_out is not None
        return held_out

    def _with_answers(
        self,
        rest: ArraySource,
        answers: list[np.ndarray],
    ) -> ArraySource:
        if not answers:
            return rest
        columns = list(rest.schema.columns)
        for j, part in zip(self.places_.tolist(), answers):
            name = self.schema_[j].name
            columns.extend(
                Column(f"{name}: {k}", why="predicted") for k in range(part.shape[1])
            )
        X = np.hstack([np.asarray(rest.X, dtype=np.float64), *answers])
        schema = replace(rest.schema, columns=tuple(columns))
        return replace(rest, X=X, schema=schema, coded=True)

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """What the learner of the main target predicts."""
        return self._apply(partial(self._ask, "predict"), X)

    @available_if(has_classes)
    def predict_proba(self, X: Data) -> Any:
        """Its posteriors."""
        return self._apply(partial(self._ask, "predict_proba"), X)

    def _ask(self, method: str, block: Block) -> np.ndarray:
        """The answer of a method of the main learner; for no rows, of the shape and type of that
        for one."""
        if not len(block):
            one_row = block.with_X(np.zeros((1, len(block.schema))), block.schema)
            return self._ask(method, replace(one_row, y=None, w=None))[:0]
        source = ArraySource(block.X, None, None, block.schema, coded=True)
        rest = self._without_auxiliary(source)
        answers = [_answers(learner, rest) for learner in self.auxiliary_]
        ask = getattr(self.estimator_, method)
        return np.asarray(ask(Rows(self._with_answers(rest, answers))))

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the posterior of the class, or to the number, that is
        predicted.

        The base is the answer for rows drawn in `fit` (`background_`) in the mean, whose columns
        are replaced by the row's own in random orders (Shapley's values, sampled). Auxiliary
        columns add nothing.
        """
        unit = self.schema_.target_name
        if has_classes(self):
            unit = "posterior"
        return self._explain(X, self._explained_parts, unit)

    def _explained_parts(self, block: Block) -> np.ndarray:
        """The prediction, the base and the contributions; of equal posteriors that of the class
        predicted."""
        predict = partial(self._ask, "predict")
        if not has_classes(self):
            return replace_columns(block, self.background_, predict)
        codes = np.searchsorted(self.classes_, predict(block))
        posteriors = partial(self._ask, "predict_proba")
        return replace_columns(block, self.background_, posteriors, codes)

    def summary(self) -> Summary:
        """The auxiliary targets and their learners."""
        check_is_fitted(self)
        rows = [
            [self.schema_[j].name, type(learner).__name__]
            for j, learner in zip(self.places_.tolist(), self.auxiliary_)
        ]
        facts = {
            "learner": type(self.estimator_).__name__,
            "auxiliary targets": len(rows),
        }
        table = Table("Auxiliary targets", ("column", "learner"), rows)
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"background_": (len(self.background_), self.n_features_in_)}

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of all learners."""
        check_is_fitted(self)
        return complexity(self.estimator_) + sum(map(complexity, self.auxiliary_))


def _fit_auxiliary(
    rest: ArraySource,
    column: Column,
    cells: np.ndarray,
    *,
    rows: np.ndarray,
    seed: int,
    number: int,
) -> Any:
    """A tree for the auxiliary column, on those of the rows where it is known."""
    # missing numbers are NaN, missing categories have a negative code
    is_known = np.isfinite(cells) & (row_weights(rest.w, len(cells)) > 0)
    if not column.numeric:
        is_known &= cells >= 0
    known_rows = rows[is_known[rows]]
    if not len(known_rows):
        raise SettingError(
            f"the auxiliary column {column.name!r} has no known cell in some folds"
        )
    part = rest.take(known_rows)
    y = cells[known_rows]
    target = Column("y", why="auxiliary")
    tree: Any = DecisionTreeRegressor(max_depth=6)
    if column.is_categorical and not column.numeric:
        y = y.astype(np.int32)
        target = Column("y", column.kind, column.categories, "auxiliary")
        tree = DecisionTreeClassifier(max_depth=6)
    source = replace(part, y=y, schema=Schema(part.schema.columns, target))
    return set_seeds(tree, seed, number).fit(Rows(source))


def _answers(model: Estimator, source: ArraySource) -> np.ndarray:
    rows = Rows(replace(source, y=None, w=None))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows))
    return np.asarray(model.predict(rows), dtype=np.float64)[:, None]

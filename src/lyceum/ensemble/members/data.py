"""What ensembles of arbitrary learners share: rows in the form that members take.

Lyceum's own learners, and pipelines of them, take coded rows: categories and missing cells reach
them as they are, from any source. Learners from elsewhere take what the user gave: an array, or a
frame with its own columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    complexity,
    explain_frame,
    pipeline_steps,
    replace_columns,
    takes_missing,
    takes_rows,
    takes_text,
    typical_row,
    undefined,
    without_names,
    without_row_names,
)
from lyceum._core.constraints import HasMethods
from lyceum._core.data import ArraySource, Block, Inputs, Rows, Schema, Step, is_frame
from lyceum.ensemble.members.packed import pack, unpack
from lyceum.errors import SchemaError
from lyceum.report import Explanation

MEMBER_CONSTRAINTS: dict[str, Any] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
    "categorical_features": CATEGORICAL_FEATURES,
}


@dataclass(frozen=True, eq=False)
class MemberData:
    """Rows in memory, in the form that members take.

    `container` is None for Lyceum's own learners, which take `source`; else it is an array or a
    frame, and `labels` the targets.

    Attributes
    ----------
    source : ArraySource or None
        Coded rows, for Lyceum's own learners.
    container : array or frame, default=None
        What learners of other libraries take; None for Lyceum's own.
    labels : array or None, default=None
        The targets, for learners of other libraries.
    named : bool, default=True
        Whether the columns have names; else they have numbers.

    See Also
    --------
    Ensemble : Gives it to its members.
    posteriors, vote_codes : The answers of a member for the classes of the ensemble.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from lyceum.ensemble import MemberData
    >>> data = MemberData(None, np.array([[0.0], [1.0], [4.0], [5.0]]), np.array(["a", "a", "b", "b"]))
    >>> member = data.fit(KNeighborsClassifier(1), rows=[0, 1, 2])
    >>> data.ask(member.predict, rows=[3]).tolist()
    ['b']
    """

    source: ArraySource | None
    container: Any = None
    labels: np.ndarray | None = None
    named: bool = True

    def fit(self, member: Any, rows: Any = None, columns: Any = None, w: Any = None) -> Any:
        """The member fitted on some rows and columns with these weights."""
        if self.container is None:
            source = replace(self._source(rows, columns), w=w, settled=True)
            member.fit(Rows(source), None)  # a subclass may want a y
            if self.named:
                return member
            return without_names(member)
        assert self.labels is not None
        if rows is None:
            y = self.labels
        else:
            y = self.labels[rows]
        if w is None:
            weights = {}
        else:
            weights = {"sample_weight": w}
        return member.fit(_part(self.container, rows, columns), y, **weights)

    def ask(
        self, method: Callable[[Any], Any], rows: Any = None, columns: Any = None
    ) -> np.ndarray:
        """The answer of a method of a member for some rows and columns."""
        return np.asarray(method(self.inputs(rows, columns)))

    def inputs(self, rows: Any = None, columns: Any = None) -> Any:
        """Some rows and columns, as input of a member."""
        if self.container is None:
            return Rows(replace(self._source(rows, columns), y=None, w=None))
        return _part(self.container, rows, columns)

    def _source(self, rows: Any, columns: Any) -> ArraySource:
        source = self.source
        assert source is not None
        if rows is not None:
            source = source.take(rows)
        if columns is None:
            return source
        names = [source.schema[j] for j in columns.tolist()]
        twice = [j for j in range(1, len(names)) if columns[j] == columns[j - 1]]
        for j in twice:  # drawn again: a column of its own
            names[j] = replace(names[j], name=f"{names[j - 1].name}'")
        schema = replace(source.schema, columns=tuple(names))
        if sparse.issparse(source.X):
            X = source.X[:, columns]
        else:
            X = source.X.take(columns, axis=1)
        return replace(source, X=X, schema=schema)


def _part(container: Any, rows: Any, columns: Any) -> Any:
    if columns is not None:
        container = _safe_indexing(container, columns, axis=1)
    if rows is None:
        return container
    return _safe_indexing(container, rows)


def for_any_rows(block: Block, of: Callable[[Block], np.ndarray]) -> np.ndarray:
    """`of` the block; the answers for no rows have the shape and the type of those for one."""
    if len(block):
        return of(block)
    return of(block.with_X(np.zeros((1, len(block.schema))), block.schema))[:0]


def _of_block(block: Block, of: Callable[[MemberData], np.ndarray], own: bool) -> np.ndarray:
    return for_any_rows(block, partial(_of_rows, of=of, own=own))


def _of_rows(block: Block, of: Callable[[MemberData], np.ndarray], own: bool) -> np.ndarray:
    if own:
        return of(MemberData(ArraySource(block.X, None, None, block.schema, coded=True)))
    refuse_codes(block.schema)
    return of(MemberData(None, block.X))


def explains_rows(estimator: Any) -> bool:
    """Whether an estimator is Lyceum's own and explains its predictions."""
    return takes_rows(estimator) and hasattr(estimator, "explain")


def refuse_codes(schema: Schema) -> None:
    for column in schema:
        if not column.numeric:
            raise SchemaError(
                f"column {column.name!r} holds categories ({column.why}), which a learner that is"
                " not Lyceum's takes in a frame only, if at all: give a frame, and a pipeline that"
                " encodes them"
            )


class _Inputs(Inputs):
    """The way in for an ensemble: which columns hold categories may also be a setting of the
    estimator."""

    def _kinds(self, names: Sequence[str], named: bool = True) -> Any:
        declared = self.learner.categorical_features
        base = self.learner._base()
        first = pipeline_steps(base)[0]
        if isinstance(declared, str) and hasattr(first, "categorical_features"):
            return Inputs(first)._kinds(names, named)
        return super()._kinds(names, named)


class Ensemble(Learner):
    """Many fitted copies of one estimator: the base of bagging, boosting and of multi-class
    schemes.

    A subclass has the parameters `estimator` and `categorical_features`, defines `_default()` (the
    estimator where none is given), and fits `estimators_` on the `MemberData` of `_member_data(X,
    y, w)`.

    Attributes
    ----------
    estimators_ : list of learners
        The fitted members; `model[i]` is member i, and `len(model)` their number.
    seed_ : int
        The seed that was used, of ensembles that draw.
    framed_ : bool
        Whether members of another library were given a frame.
    typical_ : array of shape (d,)
        The mean or commonest cell of every column, coded, of ensembles that are explained from
        there.

    See Also
    --------
    MemberData : The rows that members are fitted on and predict.
    BaggingClassifier, AdaBoostClassifier, OneVsRestClassifier : Ensembles of this kind.
    lyceum.base.Learner : What it is based on.

    Examples
    --------
    Two members, each fitted on every second row:

    >>> import numpy as np
    >>> from lyceum.base import Classifier
    >>> from lyceum.ensemble import Ensemble, posteriors
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> class Halves(Classifier, Ensemble):
    ...     def __init__(self, estimator=None, categorical_features="from_dtype"):
    ...         self.estimator, self.categorical_features = estimator, categorical_features
    ...     def _default(self):
    ...         return DecisionTreeClassifier()
    ...     def fit(self, X, y=None):
    ...         data, codes, _ = self._member_data(X, y, None)
    ...         halves = [np.arange(k, len(codes), 2) for k in (0, 1)]
    ...         self.estimators_ = [data.fit(self._copy(), rows) for rows in halves]
    ...         return self
    ...     def predict_proba(self, X):
    ...         return self._apply_to_members(self._mean, X)
    ...     def _mean(self, data):
    ...         return np.mean([posteriors(one, self.classes_, data.ask) for one in self], axis=0)
    >>> model = Halves().fit([[0.0], [1.0], [0.0], [2.0], [5.0], [6.0], [5.5], [7.0]], list("aaaabbbb"))
    >>> [one.tree_.threshold[0].item() for one in model]
    [2.5, 4.0]
    >>> model.predict_proba([[1.0], [3.0]]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    _coding = "codes"
    _reads_rows = "in memory"
    _alternative: ClassVar[str] = "a sample of the rows"  # where the rows are too many to hold
    _explains_by_replacement: ClassVar[bool] = (
        False  # `fit` learns `typical_`, where `explain` starts
    )

    estimator: Any
    estimators_: list[Any]
    seed_: int
    framed_: bool  # whether learners that are not Lyceum's were given a frame
    typical_: np.ndarray  # of those that are explained by replacement

    def _base(self) -> Any:
        """The estimator that members are copies of."""
        if self.estimator is None:
            return self._default()
        return self.estimator

    def _default(self) -> Any:
        raise undefined(self, "_default")

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return takes_missing(self._base())

    @property
    def _takes_text(self) -> bool:
        return takes_text(self._base())

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._base()).input_tags.sparse)

    def _steps(self) -> list[Step]:
        return []  # members have their own

    def _member_data(
        self, X: Any, y: Any, w: Any
    ) -> tuple[MemberData, np.ndarray, np.ndarray | None]:
        """What members learn from, with class codes or numbers, and weights if there are any."""
        self._validate_params()
        base = self._base()
        rows = _Inputs(self).for_fit(X, y, w)
        blank = getattr(base, "_blanks_row_names", False)
        if takes_rows(base):
            rows = without_row_names(rows, type(self).__name__, blank)
        source = self._gather(rows)
        assert source.y is not None
        self.__dict__.pop("typical_", None)
        if self._explains_by_replacement:
            self.typical_ = typical_row(source.block)
        if takes_rows(base):
            named = hasattr(self, "feature_names_in_")
            return MemberData(source, named=named), source.y, source.w
        self.framed_ = is_frame(X)
        if not self.framed_:
            refuse_codes(source.schema)
        if self.framed_:
            container = X
        else:
            container = source.X
        if hasattr(self, "classes_"):
            labels = self.classes_[source.y]
        else:
            labels = source.y
        return MemberData(None, container, labels), source.y, source.w

    def _apply_to_members(self, of: Callable[[MemberData], np.ndarray], X: Any) -> Any:
        """`of` the rows of X as members take them, one result per row (lazy on Dask)."""
        check_is_fitted(self)
        own = takes_rows(self._base())
        if not own and self.framed_ and is_frame(X):
            _check_feature_names(self, X, reset=False)
            return of(MemberData(None, X))
        return self.rows_to_predict(X).collect(partial(_of_block, of=of, own=own))

    def _explain_members(
        self, of: Callable[[MemberData], np.ndarray], X: Any, unit: str
    ) -> Explanation:
        """The explanation by `of`: rows of prediction, base and contributions of Lyceum's own
        members."""
        return self._explain(X, partial(_of_block, of=of, own=True), unit)

    def _explain_by_replacement(
        self, of: Callable[[MemberData], np.ndarray], X: Any, unit: str = "posterior"
    ) -> Explanation:
        """What every column adds to the largest score of a class, or to a number, from `typical_`
        on."""
        check_is_fitted(self)
        own = takes_rows(self._base())
        if not own and self.framed_ and is_frame(X):
            rows = self.rows_to_predict(X)
            asked = partial(self._apply_to_members, of)
            return explain_frame(
                X, rows, self.typical_, asked, unit, getattr(self, "classes_", None)
            )[0]
        answer = partial(_of_block, of=of, own=own)
        return self._explain(
            X, partial(replace_columns, typical=self.typical_, answer=answer), unit
        )

    @property
    def _nan_means_none(self) -> bool:  # type: ignore[override]
        return self._explains_by_replacement  # `typical_` is NaN for columns without a known cell

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        if self._explains_by_replacement:
            return {"typical_": (self.n_features_in_,)}
        return {}

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of all members."""
        check_is_fitted(self)
        return sum(map(complexity, self.estimators_))

    def __len__(self) -> int:
        return len(getattr(self, "estimators_", ()))

    def __bool__(self) -> bool:
        return True  # an ensemble without members is one too

    def __getitem__(self, number: Any) -> Any:
        """A fitted member, by its number."""
        check_is_fitted(self)
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        check_is_fitted(self)
        return iter(self.estimators_)

    def _gather(self, rows: Rows) -> ArraySource:
        """All rows in memory."""
        return ArraySource.of_block(rows.in_one_block(type(self).__name__, self._alternative))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("estimators_"):
            packed = pack(state["estimators_"])
        else:
            packed = None
        if packed is not None:
            del state["estimators_"]
            state["packed_"] = packed
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "packed_" in state:
            state["estimators_"] = unpack(state.pop("packed_"))
        super().__setstate__(state)

    def _copy(self) -> Any:
        return clone(self._base())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = takes_rows(self._base())
        return tags


class MemberImportances:
    """Importances of columns from those of the members."""

    estimators_: list[Any]
    n_features_in_: int

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean of the members' importances, by their weights if they have some, normalized to
        sum 1."""
        check_is_fitted(self)
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(
                f"the members of this {type(self).__name__} have no feature_importances_"
            )
        total = np.zeros(self.n_features_in_)
        weights = getattr(self, "alphas_", np.ones(len(self.estimators_)))
        columns = getattr(self, "estimators_features_", [slice(None)] * len(weights))
        for member, weight, places in zip(self.estimators_, weights, columns):
            total[places] += weight * member.feature_importances_
        if total.sum() > 0.0:
            return total / total.sum()
        return total

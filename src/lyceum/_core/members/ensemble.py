"""One base of all ensembles: members, their rows, and predictions and explanations over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    background_rows,
    complexity,
    explain_frame,
    pipeline_steps,
    replace_columns,
    takes_missing,
    takes_rows,
    takes_text,
    undefined,
    without_row_names,
)
from lyceum._core.constraints import HasMethods
from lyceum._core.data import ArraySource, Block, Inputs, Rows, Step, is_frame
from lyceum._core.members.data import MemberData, refuse_codes
from lyceum._core.members.packed import pack, unpack
from lyceum._core.report import Explanation
from lyceum._core.routing import Routed, routed
from lyceum._core.types import Data, Estimator, Target, Weights

MEMBER_CONSTRAINTS: dict[str, Any] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
    "categorical_features": CATEGORICAL_FEATURES,
}

Answer = Callable[[MemberData], np.ndarray]


def explains_rows(estimator: Estimator) -> bool:
    """Whether an estimator is Lyceum's own and explains its predictions."""
    return takes_rows(estimator) and hasattr(estimator, "explain")


class EstimatorInputs(Inputs):
    """The way in for copies of one estimator: which columns hold categories may also be a setting
    of the estimator."""

    def _kinds(self, names: Sequence[str], named: bool = True) -> Any:
        declared = self.learner.categorical_features
        first = pipeline_steps(self.learner._base())[0]
        if isinstance(declared, str) and hasattr(first, "categorical_features"):
            return Inputs(first)._kinds(names, named)
        return super()._kinds(names, named)


class Ensemble(Learner):
    """Many fitted members: the base of bagging, boosting, voting, stacking and multi-class schemes.

    A subclass with copies of one learner has the parameters `estimator` and `categorical_features`
    and defines `_default()`, the estimator where none is given. One with different learners
    defines `_learners()` and `_predicting_learners()`. Both fit `estimators_` on the `MemberData`
    of `_member_data(X, y, w)`, in `_fit(data, target, w, before)` if `fit` is the usual one.

    Attributes
    ----------
    estimators_ : list of learners
        The fitted members; `model[i]` is member i, and `len(model)` their number.
    seed_ : int
        The seed that was used, of ensembles that draw.
    framed_ : bool
        Whether members of another library were given a frame.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded, of ensembles that are explained from
        there.

    See Also
    --------
    MemberData : The rows that members are fitted on and predict.

    Examples
    --------
    Two members, each fitted on every second row:

    >>> import numpy as np
    >>> from lyceum.base import Classifier
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> class Halves(Classifier, Ensemble):
    ...     def __init__(self, estimator=None, categorical_features="from_dtype"):
    ...         self.estimator = estimator
    ...         self.categorical_features = categorical_features
    ...     def _default(self):
    ...         return DecisionTreeClassifier()
    ...     def _fit(self, data, target, w, before):
    ...         halves = [np.arange(k, len(target), 2) for k in (0, 1)]
    ...         self.estimators_ = [data.fit(self._copy(), rows) for rows in halves]
    ...     def predict_proba(self, X):
    ...         return self._apply_to_members(self._mean, X)
    ...     def _mean(self, data):
    ...         return np.mean([data.posteriors(one, self.classes_) for one in self], axis=0)
    >>> X = [[0.0], [1.0], [0.0], [2.0], [5.0], [6.0], [5.5], [7.0]]
    >>> model = Halves().fit(X, list("aaaabbbb"))
    >>> [one.tree_.threshold[0].item() for one in model]
    [2.5, 4.0]
    >>> model.predict_proba([[1.0], [3.0]]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    _parameter_docs: ClassVar[str] = """
    categorical_features : "from_dtype", True, mask, indices, names or None
        Which columns hold categories; "from_dtype" leaves it to the estimator's own setting.
    """
    _attribute_docs: ClassVar[str] = """
    framed_ : bool
        Whether members of another library were given a frame.
    """

    _coding = "codes"
    _reads_rows = "in memory"
    _inputs: ClassVar[type[Inputs]] = EstimatorInputs
    # where the rows are too many to hold
    _alternative: ClassVar[str] = "a sample of the rows"
    # whether `fit` learns `background_`, where `explain` starts
    _explains_by_replacement: ClassVar[bool] = False

    estimator: Any
    estimators_: list[Any]
    seed_: int
    framed_: bool
    background_: np.ndarray
    classes_: np.ndarray

    # -- members -----------------------------------------------------------------------

    def _base(self) -> Any:
        """The estimator that members are copies of."""
        if self.estimator is None:
            return self._default()
        return self.estimator

    def _default(self) -> Any:
        raise undefined(self, "_default")

    def _copy(self) -> Any:
        return clone(self._base())

    # Which learners are asked: `_learners` what may be in the table (missing cells, text);
    # `_all_learners` in what form rows are handed on by `fit`; `_predicting_learners` by `predict`.

    def _learners(self) -> list[Any]:
        """The learners that members are copies of."""
        return [self._base()]

    def _all_learners(self) -> list[Any]:
        """Those, and the learners that are fitted besides."""
        return self._learners()

    def _predicting_learners(self) -> list[Any]:
        """The learners, fitted or not, whose library decides what they are given to predict."""
        return [self._base()]

    @property
    def _needs_source(self) -> bool:
        """Whether coded rows are needed to predict."""
        return any(map(takes_rows, self._predicting_learners()))

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return all(map(takes_missing, self._learners()))

    @property
    def _takes_text(self) -> bool:
        return all(map(takes_text, self._learners()))

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return all(
            bool(get_tags(learner).input_tags.sparse) for learner in self._learners()
        )

    def _steps(self) -> list[Step]:
        return []  # members have their own

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        before = dict(vars(self))
        self._fit(*self._member_data(X, y, sample_weight), before)
        return self

    def _fit(
        self,
        data: MemberData,
        target: np.ndarray,
        w: np.ndarray | None,
        before: dict[str, Any],
    ) -> None:
        """Fit the members; `before` has the attributes of an earlier fit, for a warm start."""
        raise undefined(self, "_fit")

    def _member_data(
        self,
        X: Data,
        y: Target,
        w: Weights,
    ) -> tuple[MemberData, np.ndarray, np.ndarray | None]:
        """What members learn from, with class codes or numbers, and weights if there are any."""
        self._validate_params()
        rows = self._inputs(self).for_fit(X, y, w)
        source = self._gather(rows)
        assert source.y is not None
        # an earlier fit may have been explained in another way
        self.__dict__.pop("background_", None)
        if self._explains_by_replacement:
            self.background_ = background_rows(source.block)
        labels = source.y
        if hasattr(self, "classes_"):
            labels = self.classes_[source.y]
        return self._split_by_library(source, X, labels), source.y, source.w

    def _gather(self, rows: Rows) -> ArraySource:
        """All rows in memory."""
        base = self._base()
        if takes_rows(base):
            blank = getattr(base, "_blanks_row_names", False)
            rows = without_row_names(rows, type(self).__name__, blank)
        block = rows.in_one_block(type(self).__name__, self._alternative)
        return ArraySource.of_block(block)

    def _split_by_library(
        self,
        source: ArraySource,
        X: Data,
        labels: Any = None,
    ) -> MemberData:
        """Coded rows for Lyceum's own learners, an array or a frame for the others."""
        are_ours = [takes_rows(learner) for learner in self._all_learners()]
        named = hasattr(self, "feature_names_in_")
        self.framed_ = False
        metadata = self._metadata()
        if all(are_ours):
            return MemberData(source, named=named, metadata=metadata)
        # Others take a frame as it is; in an array, the codes of categories would pass for numbers.
        container = X
        self.framed_ = is_frame(X)
        if not self.framed_:
            refuse_codes(source.schema)
            container = source.X
            given: Any = X
            is_indexed = sparse.issparse(given) and given.format in ("csr", "csc")
            if is_indexed and given.shape == container.shape:
                container = given  # in its own format
        if any(are_ours) or self._keeps_source:
            return MemberData(source, container, labels, named, metadata)
        return MemberData(None, container, labels, metadata=metadata)

    def _metadata(self) -> Routed:
        """What members are given beside their rows, by their methods."""
        return routed(self, "estimator")

    # in `fit`, also where no learner takes coded rows
    _keeps_source: ClassVar[bool] = False

    # -- predict -----------------------------------------------------------------------

    def _apply_to_members(self, of: Answer, X: Data) -> Any:
        """`of` the rows of X as members take them, one result per row (lazy on Dask)."""
        # block by block as long as members take coded rows or arrays; a frame goes to members whole
        check_is_fitted(self)
        metadata = self._metadata()
        if metadata:
            return of(MemberData(None, X, metadata=metadata))
        if not self._needs_frame(X):
            return self._collect(self.rows_to_predict(X), self._block_answer(of))
        _check_feature_names(self, X, reset=False)
        if not self._needs_source:
            return of(MemberData(None, X))
        block = self.rows_to_predict(X).in_one_block(
            type(self).__name__, self._alternative
        )
        return of(MemberData(ArraySource.of_block(block), X))

    def _predict_largest(self, scores: Answer, X: Data) -> Any:
        """The class with the largest of the scores, (n, K), the first of equal ones."""
        check_is_fitted(self)
        return self._apply_to_members(partial(self._largest, scores), X)

    def _largest(self, scores: Answer, data: MemberData) -> np.ndarray:
        return self.classes_[scores(data).argmax(axis=1)]

    def _collect(self, rows: Rows, answer: Callable[[Block], np.ndarray]) -> Any:
        return rows.collect(answer)

    def _needs_frame(self, X: Data) -> bool:
        """Whether members of other libraries are to be given this frame, as they were in `fit`."""
        return (
            self.framed_
            and is_frame(X)
            and not all(map(takes_rows, self._predicting_learners()))
        )

    def _block_answer(self, of: Answer) -> Callable[[Block], np.ndarray]:
        """`of` as a function of a block."""
        other = not all(map(takes_rows, self._predicting_learners()))
        return partial(_answer_for_block, of=of, coded=self._needs_source, other=other)

    # -- what was learned --------------------------------------------------------------

    def _explain_members(
        self,
        of: Answer,
        X: Data,
        unit: str,
    ) -> Explanation:
        """The explanation by `of`: rows of prediction, base and contributions of Lyceum's own
        members."""
        return self._explain(X, self._block_answer(of), unit)

    def _explain_by_replacement(
        self,
        of: Answer,
        X: Data,
        unit: str = "posterior",
    ) -> Explanation:
        """What every column adds to the largest score of a class, or to a number, from
        `background_` on."""
        return self._replace_with_more(of, None, X, unit)[0]

    def _replace_with_more(
        self,
        of: Answer,
        more: Answer | None,
        X: Any,
        unit: str,
    ) -> tuple[Explanation, np.ndarray]:
        """The explanation of `of` by replacement, and `more` of every row, in further columns."""
        check_is_fitted(self)
        if self._needs_frame(X):
            # members of other libraries: cells are replaced in the frame that they are given
            further = None
            if more is not None:
                further = partial(self._apply_to_members, more)
            return explain_frame(
                X,
                self.rows_to_predict(X),
                background=self.background_,
                answer=partial(self._apply_to_members, of),
                unit=unit,
                labels=getattr(self, "classes_", None),
                more=further,
            )
        columns = partial(
            replace_columns, background=self.background_, answer=self._block_answer(of)
        )
        if more is None:
            return self._explain_with_more(X, columns, unit)
        both = partial(_side_by_side, functions=(columns, self._block_answer(more)))
        return self._explain_with_more(X, both, unit)

    @property
    def _nan_means_none(self) -> bool:  # type: ignore[override]
        # `background_` is NaN for columns without a known cell
        return self._explains_by_replacement

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        if self._explains_by_replacement:
            return {"background_": (len(self.background_), self.n_features_in_)}
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

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        packed = pack(state.get("estimators_", []))
        if packed is not None:
            del state["estimators_"]
            state["packed_"] = packed
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "packed_" in state:
            state["estimators_"] = unpack(state.pop("packed_"))
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = all(map(takes_rows, self._learners()))
        return tags


def _answer_for_block(
    block: Block,
    of: Answer,
    coded: bool,
    other: bool,
) -> np.ndarray:
    """`of` the rows of a block; the answers for no rows have the shape and the type of those for
    one."""
    if len(block):
        return of(MemberData.of_block(block, coded, other))
    one_row = block.with_X(np.zeros((1, len(block.schema))), block.schema)
    return of(MemberData.of_block(one_row, coded, other))[:0]


def _side_by_side(
    block: Block,
    functions: Sequence[Callable[[Block], np.ndarray]],
) -> np.ndarray:
    return np.hstack([function(block) for function in functions])


class MemberImportances:
    """Importances of columns from those of the members."""

    _attribute_docs: ClassVar[str] = """
    feature_importances_ : array of shape (n_features,)
        The mean of the members' importances, if they have some, normalized to sum 1.
    """

    estimators_: list[Any]
    n_features_in_: int

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean of the members' importances, by their weights if they have some, normalized to
        sum 1."""
        check_is_fitted(self)
        for member in self.estimators_:
            if not hasattr(member, "feature_importances_"):
                raise AttributeError(
                    f"the members of this {type(self).__name__} have no feature_importances_"
                )
        # members of AdaBoost weigh α, members of a bag may have columns of their own
        weights = getattr(self, "alphas_", np.ones(len(self.estimators_)))
        columns = getattr(self, "estimators_features_", [slice(None)] * len(weights))
        importances = np.zeros(self.n_features_in_)
        for member, weight, indices in zip(self.estimators_, weights, columns):
            importances[indices] += weight * member.feature_importances_
        if importances.sum() > 0.0:
            return importances / importances.sum()
        return importances

"""A model of one task as the prior of another."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    complexity,
    replace_columns,
    takes_rows,
    typical_row,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import ArraySource, Block, CheckCells, Step
from lyceum._core.members import EitherTask, MemberData, has_classes
from lyceum._core.solvers import fit_softmax, softmax
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.linear import Ridge
from lyceum.report import Explanation, Summary, Table

_MOST_STEPS = 2000  # of L-BFGS
# a source's posterior of 0, which no correction could change: as much as 1 - p is rounded by
_ZERO = np.finfo(np.float64).eps
_UNKNOWN = 1e-6  # the posterior of a class that the source does not know


class PriorTransfer(EitherTask, Learner):
    """A penalized linear correction to the model of another task: the fewer rows, the more it
    decides.

    .. math:: P(k|x) \\propto P_0(k|x)\\, e^{v_k \\cdot z + b_k}, \\quad f(x) = f_0(x) + v \\cdot z
        + b,
        \\quad \\min \\text{loss} + \\tfrac{\\alpha}{2} |V|^2

    P₀ or f₀ is the model of the first task, z the row in units of its deviations (0 where a cell is
    missing). The penalty is a Gaussian prior around that model, however sure it is: if it is linear
    itself, its coefficients are the mean of the prior of the new ones. A posterior of exactly 0
    counts as 2e-16. The loss is the negative log-likelihood, or half the squared error.

    Parameters
    ----------
    task : {"classification", "regression"}, default="classification"
        What is predicted.
    alpha : float, default=1.0
        The precision of the prior.
    tol : float, default=1e-8
        The largest part of the mean gradient at which L-BFGS stops.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Columns to code one-of-C in the correction.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, sorted; of classifiers only.
    coef_ : array of shape (K, d) or (1, d)
        The correction V, per deviation of each design column.
    intercept_ : array of shape (K,) or (1,)
        The correction b, for a row at the means.
    mean_, scale_ : array of shape (d,)
        Mean and deviation of every design column.
    source_ : learner or None
        The model of the first task.
    typical_ : array of shape (columns,)
        The mean or commonest cell of every column, coded; where explanations start.

    See Also
    --------
    TrAdaBoost : Rows of the other task instead of a model.
    lyceum.neural.MLPClassifier : `warm_start=True` goes on from the weights of another task.

    References
    ----------
    Chelba and Acero (2004), Adaptation of maximum entropy capitalizer: little data can help a lot,
    EMNLP.

    Examples
    --------
    >>> from lyceum.linear import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3)); first = LogisticRegression().fit(X, X[:, 0] + X[:, 1] > 0)
    >>> few = rng.normal(size=(12, 3)); y = few[:, 0] + few[:, 1] > 0.2
    >>> model = PriorTransfer().fit(few, y, source=first)
    >>> bool(model.score(X, X[:, 0] + X[:, 1] > 0.2) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "task": [StrOptions({"classification", "regression"})],
        "alpha": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    _reads_rows = "in memory"
    _takes_missing: ClassVar[bool] = True
    # in `typical_`, of columns without a known cell
    _nan_means_none: ClassVar[bool] = True

    _for_classes: ClassVar[str] = "give task='classification'"
    _for_numbers: ClassVar[str] = "give task='regression'"

    classes_: np.ndarray
    source_: Any

    def __init__(
        self,
        *,
        task: str = "classification",
        alpha: float = 1.0,
        tol: float = 1e-8,
        categorical_features: Categories = "from_dtype",
    ):
        self.task = task
        self.alpha = alpha
        self.tol = tol
        self.categorical_features = categorical_features

    def _task_giver(self) -> Any:
        if self.task == "regression":
            return Ridge()
        return None

    def _steps(self) -> list[Step]:
        return [CheckCells(type(self).__name__, True)]  # the source has its own design

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        source: Any = None,
    ):
        """Correct the source model for the rows of this task.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        source : fitted learner, optional
            The model of the first task, on the same columns. Classes that it does not know have
            the posterior 1e-6. None is a prior around equal posteriors, or around zero.
        """
        if source is not None and not hasattr(source, "predict"):
            raise SettingError(
                f"the source is {type(source).__name__}, which does not predict"
            )
        rows = self._rows(X, y, sample_weight)
        block = rows.in_one_block("PriorTransfer", "LogisticRegression or Ridge")
        block = block.without_zero_weights()
        assert block.y is not None
        self.source_ = source
        self.typical_ = typical_row(block)
        D = np.asarray(self._design(block).dense, dtype=np.float64)
        w = block.weights
        self._learn_scale(D, w)
        # the scores of the source are an offset: a coefficient of zero leaves them as they are
        Z = self._standard(D)
        before = self._source_scores(block)
        if has_classes(self):
            hot = (block.y[:, None] == np.arange(len(self.classes_))).astype(np.float64)
            V = fit_softmax(
                Z,
                hot,
                w,
                alpha=self.alpha,
                offset=before,
                max_iter=_MOST_STEPS,
                tol=self.tol,
            )
            self.coef_ = V[:, :-1]
            # a constant in all scores changes no posterior
            self.intercept_ = V[:, -1] - V[:, -1].mean()
        else:
            self.__dict__.pop("classes_", None)
            self._fit_numbers(Z, block.y - before[:, 0], w)
        return self

    def _learn_scale(self, D: np.ndarray, w: np.ndarray) -> None:
        """Mean and deviation of every design column, over its known cells."""
        present = ~np.isnan(D)
        share = w[:, None] * present
        share /= np.maximum(share.sum(axis=0), 1e-300)
        self.mean_ = (share * np.where(present, D, 0.0)).sum(axis=0)
        centered = np.where(present, D - self.mean_, 0.0)
        scale = np.sqrt((share * centered**2).sum(axis=0))
        varies = scale > 1e-12 * np.maximum(np.abs(self.mean_), 1.0)
        self.scale_ = np.where(varies, scale, 1.0)

    def _fit_numbers(
        self,
        Z: np.ndarray,
        rest: np.ndarray,
        w: np.ndarray,
    ) -> None:
        """Ridge regression of the residuals r of the source: (ZᵀWZ + αI) a = ZᵀW(r − r̄), Z
        centered."""
        mean = float(w @ rest / w.sum())
        center = w @ Z / w.sum()  # not 0 where cells are missing
        Z = Z - center
        weighted = Z * w[:, None]
        system = weighted.T @ Z + self.alpha * np.eye(Z.shape[1])
        self.coef_ = np.linalg.solve(system, weighted.T @ (rest - mean))[None]
        self.intercept_ = np.array([mean - float(center @ self.coef_[0])])

    def _standard(self, D: np.ndarray) -> np.ndarray:
        """Deviations from the means; those of missing cells are 0."""
        return np.nan_to_num((D - self.mean_) / self.scale_)

    def _source_scores(self, block: Block) -> np.ndarray:
        """Log posteriors, (n, K), or numbers, (n, 1), of the source."""
        width = 1
        if has_classes(self):
            width = len(self.classes_)
        if self.source_ is None or not len(block):
            return np.zeros((len(block), width))
        data = MemberData(None, block.X)
        if takes_rows(self.source_):
            source = ArraySource(block.X, None, None, block.schema, coded=True)
            data = MemberData(source)
        if not has_classes(self):
            return data.numbers(self.source_)[:, None]
        known = self.source_.classes_
        shared = np.isin(self.classes_, known)
        scores = np.full((len(block), width), np.log(_UNKNOWN))
        columns = np.searchsorted(known, self.classes_[shared])
        scores[:, shared] = _log_posteriors(data, self.source_)[:, columns]
        return scores

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior, or the corrected number."""
        return self._apply(self._predict, X)

    @available_if(has_classes)
    def predict_proba(self, X: Data) -> Any:
        """The corrected posteriors."""
        return self._apply(self._posteriors, X)

    def _scores(self, block: Block) -> np.ndarray:
        D = np.asarray(self._design(block).dense, dtype=np.float64)
        corrections = self._standard(D) @ self.coef_.T
        return self._source_scores(block) + corrections + self.intercept_

    def _posteriors(self, block: Block) -> np.ndarray:
        scores = self._scores(block)
        return softmax(scores) if len(scores) else scores

    def _predict(self, block: Block) -> np.ndarray:
        scores = self._scores(block)
        if has_classes(self):
            return self.classes_[scores.argmax(axis=1)]
        return scores[:, 0]

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the posterior of the class, or to the number, that is
        predicted.

        The base is the answer for a row of typical cells (`typical_`), whose columns are replaced
        by the row's own, one after the other, from both ends: in the source and in its correction.
        """
        check_is_fitted(self)
        answer = self._predict
        unit = self.schema_.target_name or "y"
        if has_classes(self):
            answer = self._posteriors
            unit = "posterior"
        parts = partial(replace_columns, background=self.typical_, answer=answer)
        return self._explain(X, parts, unit)

    def summary(self) -> Summary:
        """The correction of every design column."""
        check_is_fitted(self)
        heads = ["column", "correction"]
        if has_classes(self):
            heads = ["column", *map(str, self.classes_)]
        corrections = zip(self.design_names, self.coef_.T.tolist())
        rows = [[name, *numbers] for name, numbers in corrections]
        rows.append(["(intercept)", *self.intercept_.tolist()])
        source = "none"
        if self.source_ is not None:
            source = type(self.source_).__name__
        facts = {"source": source, "precision of the prior": self.alpha}
        table = Table("Corrections per deviation", heads, rows)
        return Summary(self._title(), facts, [table])

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the source and of the correction."""
        check_is_fitted(self)
        if self.source_ is None:
            return int(self.coef_.size)
        return int(self.coef_.size) + complexity(self.source_)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        K = 1
        if has_classes(self):
            K = len(self.classes_)
        shapes = {"coef_": (K, d), "intercept_": (K,), "mean_": (d,), "scale_": (d,)}
        return shapes | {"typical_": (self.n_features_in_,)}


def _log_posteriors(data: MemberData, source: Any) -> np.ndarray:
    """ln P₀ of the classes of the source, finite."""
    # logarithms of its own are exact where posteriors round to 0 or 1
    with np.errstate(divide="ignore"):
        if hasattr(source, "predict_log_proba"):
            scores = data.predict_with(source, "predict_log_proba")
        else:
            scores = np.log(data.posteriors(source, source.classes_))
    return np.where(np.isneginf(scores), np.log(_ZERO), scores)

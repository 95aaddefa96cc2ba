"""Minimum-risk decisions on top of any classifier with posteriors."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Classifier,
    decide as decide_record,
    guard_public_methods,
    is_record,
    normalize_posteriors,
    targets_to_score,
    unchanged_on_failure,
)
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.probability import LossMatrix, class_codes, label_key
from lyceum._core.types import Data, Estimator, Target, Weights
from lyceum.decision.estimator_columns import inherit_columns, summary_title
from lyceum.decision.risk import (
    REJECT,
    Decisions,
    action_labels,
    check_doubt,
    check_posteriors,
    check_target,
    check_weight,
    decide,
)
from lyceum.decision.threshold import theoretical_threshold
from lyceum.errors import DataError, SettingError, SourceError
from lyceum.report import Summary


def _can_explain(self: Any) -> bool:
    return hasattr(
        _inner_estimator(getattr(self, "estimator_", self.estimator)), "explain"
    )


def _inner_estimator(estimator: Estimator) -> Any:
    """The estimator whose posteriors are explained: the one inside a calibration."""
    # a module that takes long to import: where it is not, no such object can be
    theirs = sys.modules.get("sklearn.calibration")
    if theirs is not None and isinstance(estimator, theirs.CalibratedClassifierCV):
        estimator = estimator.calibrated_classifiers_[0].estimator
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    return estimator


@guard_public_methods
class MinimumRiskClassifier(MetaEstimatorMixin, Classifier, BaseEstimator):
    """Any classifier with posteriors, with decisions of least expected risk under a loss matrix.

    predict(x) = argmin_a R(a|x) with R(a|x) = Σ_k λ[k, a] P(k|x); where doubt costs θ and min_a
    R(a|x) ≥ θ the answer is `reject_label`. Of equal risks the first action is taken; a risk equal
    to θ is doubt.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, of any library
        It is cloned and fitted; wrap a fitted one in `sklearn.frozen.FrozenEstimator` to keep it as
        it is.
    loss_matrix : LossMatrix, array of shape (K, A) or dict, default=None
        Rows = true class, columns = action. A labeled matrix is matched by label; an array has its
        rows in the order of `classes_`; a dict maps (true class, action) to a cost. None is the 0/1
        loss. Actions that are no class may be predicted too.
    doubt : float, default=None
        θ ≥ 0, the cost of rejecting a row. None never rejects.
    calibrate : {"isotonic", "sigmoid"}, default=None
        How the posteriors are calibrated, with
        `sklearn.calibration.CalibratedClassifierCV(ensemble=False)`: one estimator on all rows,
        calibrated by its out-of-fold posteriors. None leaves them as they are. Risks are only as
        good as the posteriors.
    cv : int or splitter, default=None
        The folds of the calibration; None has five. A frozen estimator is calibrated on all rows
        given to `fit`, which should not be those that it was fitted on.
    reject_label : label, default="reject"
        The label that `predict` returns for a rejected row; it may not be a class.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, in the order of the columns of `predict_proba`.
    estimator_ : classifier
        The fitted estimator, calibrated with `calibrate`.
    loss_matrix_ : LossMatrix
        The losses with rows in the order of `classes_`.
    actions_ : array
        The labels that `predict` may return, in the order of the columns of the matrix, that of
        doubt last.
    n_features_in_ : int
        The number of columns, if the estimator knows it.
    feature_names_in_ : array of str
        Their names, if the estimator knows them.

    See Also
    --------
    minimum_risk : The rule itself.
    best_threshold : The same for two classes and any score.

    References
    ----------
    C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 16, 1970.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.bayes import LinearDiscriminantAnalysis
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = ["bad", "bad", "good", "bad", "good", "good"]
    >>> costs = {("bad", "good"): 5, ("good", "bad"): 1}                # (true class, action)
    >>> model = MinimumRiskClassifier(LinearDiscriminantAnalysis(), costs).fit(X, y)
    >>> LinearDiscriminantAnalysis().fit(X, y).predict([[3.0], [5.0]]).tolist()
    ['good', 'good']
    >>> model.predict([[3.0], [5.0]]).tolist()
    ['bad', 'good']
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        "loss_matrix": [LossMatrix, "array-like", dict, None],
        "doubt": [Interval(Real, 0, None, closed="left"), None],
        "calibrate": [StrOptions({"isotonic", "sigmoid"}), None],
        "cv": ["cv_object"],
        "reject_label": "no_validation",
    }

    def __init__(
        self,
        estimator: Estimator,
        loss_matrix: Any = None,
        *,
        doubt: float | None = None,
        calibrate: str | None = None,
        cv: Any = None,
        reject_label: Any = REJECT,
    ):
        self.estimator = estimator
        self.loss_matrix = loss_matrix
        self.doubt = doubt
        self.calibrate = calibrate
        self.cv = cv
        self.reject_label = reject_label

    # -- fit ---------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        **fit_params: Any,
    ):
        """Fit the estimator, calibrate it with `calibrate`, and match the loss matrix to its
        classes.

        Parameters
        ----------
        X : whatever the estimator takes: array, frame, or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        **fit_params
            Passed to the estimator's `fit`.
        """
        y = check_target(y, self)
        learner = self._learner(X)
        if sample_weight is not None:
            # `fit` names sample_weight, or takes any keyword and decides itself
            parameters = inspect.signature(learner.fit).parameters.values()
            if not any(
                p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters
            ):
                raise DataError(
                    f"{type(self.estimator).__name__} does not take sample_weight: fit it without"
                )
            fit_params["sample_weight"] = sample_weight
        with unchanged_on_failure(self):
            self.estimator_ = learner.fit(X, y, **fit_params)
            self._finish(y)
        return self

    @classmethod
    def of_fitted(
        cls, estimator: Estimator, loss_matrix: Any = None, doubt: float | None = None
    ) -> MinimumRiskClassifier:
        """A fitted classifier with these costs; it is neither copied nor fitted again.

        >>> from lyceum import datasets
        >>> from lyceum.bayes import NaiveBayes
        >>> model = NaiveBayes().fit(datasets.load("weather"))
        >>> careful = MinimumRiskClassifier.of_fitted(model, {("no", "yes"): 9, ("yes", "no"): 1})
        >>> careful.decide(("overcast", "mild", "high", True)).action
        'no'
        """
        made = cls(estimator, loss_matrix, doubt=doubt)
        made.estimator_ = estimator
        made._finish(None)
        return made

    def _learner(self, X: Data) -> Any:
        """A new estimator to fit, inside a calibration with `calibrate`."""
        if self.calibrate is None:
            return clone(self.estimator)
        if isinstance(X, Rows):
            raise SourceError(
                "calibrate needs folds of rows in memory: give X and y, or calibrate scanned rows"
                " inside, MinimumRiskClassifier(CalibratedClassifierCV(...))"
            )
        # one estimator, on all rows, and a calibration of its out-of-fold posteriors
        from sklearn.calibration import CalibratedClassifierCV  # takes long to import

        return CalibratedClassifierCV(
            clone(self.estimator), method=self.calibrate, cv=self.cv, ensemble=False
        )

    def _finish(self, y: Target) -> None:
        estimator = self.estimator_
        if not hasattr(estimator, "classes_") and y is None:
            raise DataError(
                f"{type(estimator).__name__} has no classes_ after fit: give y, so that its classes"
                " are known"
            )
        if hasattr(estimator, "classes_"):
            self.classes_ = np.asarray(estimator.classes_)
        else:
            self.classes_ = np.unique(np.asarray(y))
        self.loss_matrix_ = LossMatrix.of(self.loss_matrix, self.classes_)
        if self.doubt is not None and label_key(self.reject_label) in map(
            label_key, self.classes_
        ):
            raise SettingError(
                f"reject_label {self.reject_label!r} is a class: choose another"
            )
        self.actions_ = action_labels(
            self.loss_matrix_, self.doubt, self.reject_label, like=self.classes_
        )
        inherit_columns(self, self.estimator_)

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The action of least risk, or `reject_label` (lazy on Dask)."""
        proba = self.predict_proba(X)
        if hasattr(proba, "map_blocks"):
            return proba.map_blocks(
                partial(_actions, self), drop_axis=1, dtype=self.actions_.dtype
            )
        return _actions(self, proba)

    def predict_proba(self, X: Data) -> Any:
        """The posteriors that the risks are computed from."""
        check_is_fitted(self)
        return self._from_posteriors(self.estimator_.predict_proba(X))

    def _from_posteriors(self, proba: Any) -> Any:
        """The posteriors that the risks are computed from, of those of the estimator."""
        return normalize_posteriors(proba)

    def _decide_posteriors(self, proba: ArrayLike) -> Decisions:
        return _decisions(self, proba)

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of the posteriors."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def expected_risk(self, X: Data) -> Any:
        """R(a|x) of every action of `loss_matrix_`, (n, A), without doubt, which always costs θ."""
        proba = self.predict_proba(X)
        if not hasattr(proba, "map_blocks"):  # lazy posteriors cannot be checked yet
            proba = check_posteriors(proba)
        return proba @ self.loss_matrix_.values

    def decide(self, X: Data) -> Any:
        """Actions with the risks behind them and where they reject, as `Decisions`.

        One record, a dict of columns and values or the values in order, gives one `Decision`: the
        most probable class, the posteriors, the action and its risk.

        >>> from lyceum import datasets
        >>> from lyceum.bayes import NaiveBayes
        >>> costs = {("no", "yes"): 9, ("yes", "no"): 1}                # (true class, action)
        >>> model = MinimumRiskClassifier(NaiveBayes(), costs).fit(datasets.load("weather"))
        >>> decision = model.decide(("overcast", "mild", "high", True))
        >>> decision.predicted, decision.action, round(decision.risk, 2)
        ('yes', 'no', 0.68)
        """
        if is_record(X):
            return decide_record(self, X)
        return _decisions(self, self.predict_proba(X))

    # -- how good ----------------------------------------------------------------------

    def score(self, X: Data, y: Target = None, sample_weight: Weights = None) -> float:
        """The share of rows whose true class is named; a rejected row is not right."""
        y, sample_weight = targets_to_score(self, X, y, sample_weight)
        right = np.asarray(self.predict(X)) == np.asarray(y)
        return float(np.average(right, weights=check_weight(sample_weight, len(right))))

    def mean_loss(
        self, X: Data, y: Target = None, sample_weight: Weights = None
    ) -> float:
        """The loss paid per row on these rows; a row rejected by doubt costs θ."""
        y, sample_weight = targets_to_score(self, X, y, sample_weight)
        index = self.decide(X).index
        codes = class_codes(y, len(self.classes_), self.loss_matrix_.classes)
        paid = self.loss_matrix_.values[codes, index]
        if self.doubt is not None:
            paid = np.where(index < 0, self.doubt, paid)
        return float(np.average(paid, weights=check_weight(sample_weight, len(paid))))

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The losses, the doubt, and with two classes the posterior at which the decision
        changes."""
        check_is_fitted(self)
        doubt = "never"
        if self.doubt is not None:
            doubt = f"{self.doubt:g}, rejected as {self.reject_label!r}"
        facts = {
            "estimator": repr(self.estimator),
            "calibration": self.calibrate or "none",
            "doubt": doubt,
            **self._turning_point(),
        }
        return Summary(
            summary_title(self, _inner_estimator(self.estimator_)),
            facts,
            [self.loss_matrix_.table()],
        )

    def _turning_point(self) -> dict[str, Any]:
        values = self.loss_matrix_.values
        if (
            values.shape != (2, 2)
            or self.loss_matrix_.actions != self.loss_matrix_.classes
        ):
            return {}
        (tn, fp), (fn, tp) = values
        try:
            t = theoretical_threshold(fp, fn, cost_tp=tp, cost_tn=tn)
        except SettingError:
            return {}  # one action is never worse than the other
        return {f"decides for {self.classes_[1]!s} where its posterior exceeds": t}

    @available_if(_can_explain)
    def explain(self, X: Data) -> Any:
        """Why the estimator gives these posteriors; with `calibrate`, those before the
        calibration."""
        check_is_fitted(self)
        return _inner_estimator(self.estimator_).explain(X)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        doubts = self.doubt is not None
        n_classes, n_actions = self.loss_matrix_.values.shape
        return {"classes_": (n_classes,), "actions_": (n_actions + doubts,)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if inner.classifier_tags:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        else:
            tags.classifier_tags.multi_class = True
        return tags


def _decisions(model: MinimumRiskClassifier, proba: ArrayLike) -> Decisions:
    return decide(
        check_posteriors(proba),
        model.loss_matrix_,
        check_doubt(model.doubt),
        model.actions_,
    )


def _actions(model: MinimumRiskClassifier, proba: np.ndarray) -> np.ndarray:
    return _decisions(model, proba).actions

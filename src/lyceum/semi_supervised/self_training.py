"""Self-training: a classifier that learns from its own surest predictions."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    check_takes_weights,
    normalize_posteriors,
)
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import row_weights
from lyceum._core.members import Ensemble, MemberData, class_operations
from lyceum._core.routing import Route
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.bayes import NaiveBayes
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table


def _has_scores(learner: SelfTrainingClassifier) -> bool:
    """Whether the classifier has a decision function; what it says if not is the cause of the
    error."""
    fitted = getattr(learner, "estimators_", None)
    inner = fitted[0] if fitted else learner._base()
    return callable(inner.decision_function)


class SelfTrainingClassifier(Classifier, Ensemble):
    """Self-training: fit on the labeled rows, label the surest of the others, and fit again.

    An unlabeled row has the class None or NaN, or a missing target cell in scanned rows; among
    whole numbers -1 is unlabeled too, as in scikit-learn, unless only one other class occurs.

    Parameters
    ----------
    estimator : classifier, default=None
        Any classifier with posteriors, of any library; None is `NaiveBayes`.
    criterion : {"threshold", "k_best"}, default="threshold"
        Whether all rows whose largest posterior is at least `threshold` are labeled in a round, or
        the `k_best` surest.
    threshold : float, default=0.75
        The least posterior that is believed.
    k_best : int, default=10
        How many rows are labeled in a round.
    max_iter : int or None, default=10
        The most rounds; None goes on until nothing is left to label.

    Attributes
    ----------
    estimators_ : list of one classifier
        The classifier of the last round.
    label_codes_ : array of shape (n,), of int
        The index in `classes_` of the class of every row; -1 where it stayed unlabeled.
    transduction_ : array of shape (n,)
        The same as labels; where a row stayed unlabeled -1 if labels are integers, else None.
    estimator_ : classifier
        The classifier of the last round, the only one in `estimators_`.
    labeled_iter_ : array of shape (n,), of int
        The round in which a row got its class: 0 where it had one, -1 where it has none.
    record_ : list of dict
        `step`, `labeled` and `threshold` (the least posterior that was believed) of every round.
    n_iter_ : int
        How many rounds of labeling there were, with the one that labeled nothing.
    termination_condition_ : str
        Why it stopped: "all_labeled", "no_change" or "max_iter".
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded; where explanations start.

    See Also
    --------
    SemiSupervisedEM : Soft labels from a generative model.
    LabelPropagation : Labels that spread to neighbors.

    References
    ----------
    Yarowsky (1995), Unsupervised word sense disambiguation rivaling supervised methods, ACL.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.3], [5.1]])
    >>> model = SelfTrainingClassifier().fit(X, ["a", "a", None, "b", "b", None])
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _step_kind = StepKind(
        "round",
        (
            StepColumn(
                "labeled", "labeled", "rows that were given a label", unit="rows"
            ),
            StepColumn(
                "threshold", "threshold", "the least posterior that was believed"
            ),
        ),
    )
    _takes_unlabeled: ClassVar[bool] = True
    _explains_by_replacement: ClassVar[bool] = True
    _alternative: ClassVar[str] = "SemiSupervisedEM"
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "criterion": [StrOptions({"threshold", "k_best"})],
        "threshold": [Interval(Real, 0.0, 1.0, closed="left")],
        "k_best": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        criterion: str = "threshold",
        threshold: float = 0.75,
        k_best: int = 10,
        max_iter: int | None = 10,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.criterion = criterion
        self.threshold = threshold
        self.k_best = k_best
        self.max_iter = max_iter
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return NaiveBayes()

    _uses_weights = False

    def _routes(self) -> list[Route]:
        # `fit` asks for the posteriors of the rows without labels
        methods = [("fit", "fit"), ("fit", "predict_proba")]
        answers = ("predict", "predict_proba", "predict_log_proba")
        methods += [(method, "predict_proba") for method in answers]
        methods.append(("decision_function", "decision_function"))
        return [Route("estimator", self._base(), tuple(methods))]

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Learn from labeled rows, then from its own labels of the others.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan; some may be missing
        sample_weight : array of shape (n_samples,), optional
        """
        data, codes, w = self._member_data(X, y, sample_weight)
        check_takes_weights(self._base(), w)
        codes = codes.copy()
        weighted = row_weights(w, len(codes)) > 0
        self._warn_of(int(((codes < 0) & weighted).sum()))
        # the round in which a row got its label: 0 for given labels, -1 for none yet
        self.labeled_iter_ = np.where(codes >= 0, 0, -1)
        self.record_ = []
        step = 0
        while True:
            member = self._fit_labeled(data, codes, w, weighted)
            open_rows = np.flatnonzero((codes < 0) & weighted)
            self.termination_condition_ = self._stops(step, len(open_rows))
            if self.termination_condition_:
                break
            proba = data.posteriors(member, self.classes_, open_rows)
            chosen = self._choose(proba.max(axis=1))
            if not len(chosen):
                self.termination_condition_ = "no_change"
                break
            step += 1
            newly_labeled = open_rows[chosen]
            codes[newly_labeled] = proba[chosen].argmax(axis=1)
            self.labeled_iter_[newly_labeled] = step
            least = float(proba[chosen].max(axis=1).min())
            self.record_.append(
                {"step": step, "labeled": len(chosen), "threshold": least}
            )
            report("rounds", step, self.max_iter)
        self.estimators_ = [member]
        self.label_codes_ = codes
        # the round that finds nothing to label counts, too
        self.n_iter_ = step + (self.termination_condition_ == "no_change")
        return self

    def _warn_of(self, n_open: int) -> None:
        """Warn of settings that leave nothing to do after one round, or before it."""
        if not n_open:
            warnings.warn(
                "y contains no unlabeled samples: -1, None or NaN is a missing label, and"
                f" {type(self).__name__} is fitted once",
                UserWarning,
                stacklevel=4,
            )
        elif self.criterion == "k_best" and self.k_best > n_open:
            warnings.warn(
                f"k_best is larger than the {n_open} rows without a label: all of them will be"
                " labeled in the first round",
                UserWarning,
                stacklevel=4,
            )

    def _stops(self, step: int, n_open: int) -> str:
        if not n_open:
            return "all_labeled"
        if self.max_iter is not None and step >= self.max_iter:
            return "max_iter"
        return ""

    def _choose(self, sure: np.ndarray) -> np.ndarray:
        """The rows to label, of those whose largest posterior is given."""
        if self.criterion == "threshold":
            return np.flatnonzero(sure >= self.threshold)
        return np.sort(np.argsort(-sure, kind="stable")[: self.k_best])

    def _fit_labeled(
        self,
        data: MemberData,
        codes: np.ndarray,
        w: Any,
        weighted: np.ndarray,
    ) -> Any:
        rows: Any = np.flatnonzero((codes >= 0) & weighted)
        if w is not None:
            w = w[rows]
        if len(rows) == len(codes):
            rows = None
        labeled = data.with_target(codes, None, labels=self.classes_[codes])
        member = self._copy()
        if not hasattr(member, "predict_proba"):
            raise AttributeError(
                f"{type(member).__name__} has no attribute 'predict_proba', by which"
                " SelfTrainingClassifier finds the rows to label: choose a classifier with"
                " posteriors, or wrap it in CalibratedClassifierCV"
            )
        return labeled.fit(member, rows, w=w)

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior."""
        return self._predict_largest(self._posteriors, X)

    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the classifier of the last round."""
        return self._apply_to_members(self._posteriors, X)

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of the posteriors."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_has_scores)
    def decision_function(self, X: Data) -> Any:
        """The scores of the classifier of the last round."""
        return self._apply_to_members(self._scores, X)

    def _scores(self, data: MemberData) -> np.ndarray:
        return data.predict_with(self.estimator_, "decision_function")

    def _posteriors(self, data: MemberData) -> np.ndarray:
        return normalize_posteriors(data.posteriors(self.estimator_, self.classes_))

    def _operations(self) -> list[Operation]:
        posteriors = class_operations(self.estimator_, self.classes_, self.schema_)
        return [*posteriors, ("shares", {})]

    # -- what was learned --------------------------------------------------------------

    @property
    def estimator_(self) -> Any:
        """The classifier of the last round."""
        return self.estimators_[0]

    @property
    def transduction_(self) -> np.ndarray:
        """The labels of the rows of `fit`, those that it was given and those that it found."""
        labels = self.classes_[self.label_codes_]
        unlabeled = self.label_codes_ < 0
        if labels.dtype.kind == "i":
            labels[unlabeled] = -1
        elif unlabeled.any():
            labels = labels.astype(object)
            labels[unlabeled] = None
        return labels

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the posterior of the class that is predicted.

        The base is the posterior for rows drawn in `fit` (`background_`) in the mean, whose columns
        are replaced by the row's own in random orders (Shapley's values, sampled); in the frame
        itself if a classifier of another library was given one.
        """
        return self._explain_by_replacement(self._posteriors, X)

    def summary(self) -> Summary:
        """How many rows were labeled in every round."""
        facts = {
            "classifier": type(self.estimator_).__name__,
            "labeled rows": int((self.labeled_iter_ == 0).sum()),
            "labeled by itself": int((self.labeled_iter_ > 0).sum()),
            "still unlabeled": int((self.label_codes_ < 0).sum()),
            "stopped": self.termination_condition_,
        }
        rows = [list(step.values()) for step in self.record_]
        heads = ("round", "labeled", "least posterior")
        return Summary(self._title(), facts, [Table("Rounds", heads, rows)])

"""Anomaly detection: a threshold on any density, distance or tree depth."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import OutlierMixin, clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from lyceum.base import CATEGORICAL_FEATURES, Learner, complexity
from lyceum.data import ArraySource, Block, Inputs, Rows, Step
from lyceum.density import GaussianDensity, NeighborDensity
from lyceum.ensemble import takes_rows
from lyceum.errors import SettingError
from lyceum.evaluate import splitter
from lyceum.paradigms._isolation_forest import IsolationForest
from lyceum.report import Summary
from lyceum.statistics import seed_from

__all__ = ["AnomalyDetector"]


class AnomalyDetector(OutlierMixin, Learner):
    """Any model of usual rows, and the threshold below which a row is an anomaly.

    The threshold is the quantile of the scores of usual rows at the false-alarm rate: of rows like those of
    `fit`, that share is called unusual. Scores are taken on rows left out of the model, since a model is too
    sure of the rows that it was fitted on.

    Parameters
    ----------
    detector : learner with `score_samples`, or {"isolation", "gaussian", "distance"}, default="isolation"
        What scores rows, high where they are usual: any density, an `IsolationForest`, a Gaussian, or the
        distance to the k-th nearest row. Learners of other libraries take numbers.
    false_alarm_rate : float, default=0.05
        The share of usual rows that are called anomalies.
    cv : int or None, default=5
        The folds on which scores of usual rows are taken; None takes the scores of the rows of `fit`.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of the detector.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; "from_dtype" leaves it to the detector's own setting.

    Attributes
    ----------
    detector_ : learner
        The detector, fitted on all rows.
    threshold_ : float
        The score below which a row is an anomaly.
    offset_ : float
        The same, by scikit-learn's name.
    scores_ : array of shape (n,)
        The scores of the rows of `fit`, each by a model that has not seen it.
    seed_ : int
        The seed that was used.

    See Also
    --------
    IsolationForest : Scores from the depth of trees.
    lyceum.density.KernelDensity : A density as a detector.

    References
    ----------
    Chandola, Banerjee and Kumar (2009), Anomaly detection: a survey, ACM Computing Surveys 41.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> model = AnomalyDetector("gaussian", false_alarm_rate=0.01).fit(rng.normal(size=(500, 2)))
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    """

    _coding: ClassVar[Literal["codes", "one_of_c", "reference"]] = "codes"
    _parameter_constraints: ClassVar[dict] = {
        "detector": [HasMethods(["fit", "score_samples"]), StrOptions({"isolation", "gaussian", "distance"})],
        "false_alarm_rate": [Interval(Real, 0.0, 1.0, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        detector: Any = "isolation",
        *,
        false_alarm_rate: float = 0.05,
        cv: int | None = 5,
        random_state: int | None = None,
        categorical_features: Any = "from_dtype",
    ):
        self.detector = detector
        self.false_alarm_rate = false_alarm_rate
        self.cv = cv
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _detector(self) -> Any:
        if not isinstance(self.detector, str):
            return clone(self.detector)
        makers = {
            "isolation": IsolationForest,
            "gaussian": GaussianDensity,
            "distance": NeighborDensity,
        }
        return makers[self.detector]()

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        kind = IsolationForest if isinstance(self.detector, str) else type(self.detector)
        return bool(getattr(kind, "_takes_missing", False))

    def _steps(self) -> list[Step]:
        return []  # the detector has its own

    # -- fit -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None):
        """Fit the detector, and find the threshold on rows left out.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            Usual rows, or mostly usual ones.
        y : ignored
        """
        self._validate_params()
        rows = Inputs(self).for_fit(X, None, None)
        source = ArraySource.of_block(rows.gathered("AnomalyDetector", "GaussianDensity"))
        self.seed_ = seed_from(self.random_state)
        n = source.n_rows
        self.detector_ = self._fitted(source)
        if self.cv is None or n < 2:
            self.scores_ = self._scored(self.detector_, source)
        else:
            self.scores_ = np.empty(n)
            folds = splitter("k_fold", n_splits=min(self.cv, n), random_state=self.seed_ % 2**31)
            for train, test in folds.split(np.zeros(n)):
                one = self._fitted(source.take(train))
                self.scores_[test] = self._scored(one, source.take(test))
        self.threshold_ = _quantile(self.scores_, self.false_alarm_rate)
        self.offset_ = self.threshold_
        return self

    def _fitted(self, source: ArraySource) -> Any:
        one = self._detector()
        names = [name for name in one.get_params() if f"__{name}".endswith("__random_state")]
        one.set_params(**dict.fromkeys(names, self.seed_ % 2**31))
        if not takes_rows(one):
            self._refuse_categories(source)
            return one.fit(source.X)
        one.fit(Rows(source))
        if not hasattr(self, "feature_names_in_"):
            one.__dict__.pop("feature_names_in_", None)
        return one

    def _refuse_categories(self, source: ArraySource) -> None:
        for column in source.schema:
            if not column.numeric:
                raise SettingError(
                    f"column {column.name!r} holds categories, which the detector cannot take: use one of "
                    "Lyceum's densities, or a pipeline that encodes them"
                )

    @staticmethod
    def _scored(one: Any, source: ArraySource) -> np.ndarray:
        given = Rows(source) if takes_rows(one) else source.X
        return np.asarray(one.score_samples(given), dtype=np.float64)

    # -- predict ---------------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Any:
        """The scores of the detector: the lower, the more unusual."""
        check_is_fitted(self)
        rows = self._rows_to_predict(X)
        if takes_rows(self.detector_):
            return self.detector_.score_samples(rows)
        return rows.collect(partial(_scores_elsewhere, self))

    def decision_function(self, X: Any) -> Any:
        """Scores above the threshold: negative for anomalies."""
        return self.score_samples(X) - self.threshold_

    def predict(self, X: Any) -> Any:
        """1 for usual rows, -1 for anomalies."""
        unusual = self.decision_function(X) < 0
        return 1 - 2 * unusual.astype(int)

    # -- what was learned ------------------------------------------------------------------------------------

    def summary(self) -> Summary:
        """The threshold, and what share of usual rows is below it."""
        check_is_fitted(self)
        alarms = float((self.scores_ < self.threshold_).mean())
        facts = {
            "columns": self.n_features_in_,
            "detector": type(self.detector_).__name__,
            "threshold": self.threshold_,
            "false-alarm rate": self.false_alarm_rate,
            "alarms on rows left out": alarms,
        }
        return Summary(self._title(), facts)

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the detector."""
        check_is_fitted(self)
        return complexity(self.detector_) + 1

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {}


def _quantile(scores: np.ndarray, rate: float) -> float:
    """The largest threshold below which at most the stated share of the scores lies."""
    order = np.sort(scores)
    return float(order[min(int(np.floor(rate * len(order) + 1e-9)), len(order) - 1)])


def _scores_elsewhere(model: AnomalyDetector, block: Block) -> np.ndarray:
    return np.asarray(model.detector_.score_samples(block.X)) if len(block) else np.empty(0)

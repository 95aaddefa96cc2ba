"""Anomaly detection: a threshold on any density, distance or tree depth."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lyceum import prepare
from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    complexity,
    replace_columns,
    takes_missing,
    takes_rows,
    takes_weights,
    typical_row,
)
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import ArraySource, Block, Inputs, Rows, Step
from lyceum._core.members import MemberData
from lyceum._core.statistics import row_splits, seed_from
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.anomaly.isolation_forest import IsolationForest
from lyceum.anomaly.neighbor_score import NeighborAnomalyScore
from lyceum.density import GaussianDensity
from lyceum.errors import DataError, SettingError
from lyceum.report import Explanation, Summary


class AnomalyDetector(OutlierMixin, Learner):
    """Any model of usual rows, and the threshold below which a row is an anomaly.

    The threshold is the quantile of the scores of usual rows at the false-alarm rate: of rows like
    those of `fit`, that share is called unusual. Scores are taken on rows left out of the model,
    since a model is too sure of the rows that it was fitted on.

    Parameters
    ----------
    detector : learner or {"isolation", "gaussian", "distance"}, default="isolation"
        What scores rows by `score_samples`, high where they are usual: any density, an
        `IsolationForest`, a Gaussian, or the distance to the nearest rows (`NeighborAnomalyScore`),
        the last two after `SimpleImputer`. Learners of other libraries take numbers.
    false_alarm_rate : float, default=0.05
        The share of usual rows that are called anomalies.
    cv : int, splitter or None, default=5
        The folds on which scores of usual rows are taken; None takes the scores of the rows of
        `fit`.
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
    weights_ : array of shape (n,)
        The weights of these rows.
    typical_ : array of shape (columns,)
        The mean or commonest cell of every column, coded; where explanations start.
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

    # in `typical_`, of columns without a known cell
    _nan_means_none: ClassVar[bool] = True
    _scores_are_logs: ClassVar[bool] = True
    _coding = "codes"
    _reads_rows = "in memory"
    _parameter_constraints: ClassVar[dict] = {
        "detector": [
            HasMethods(["fit", "score_samples"]),
            StrOptions({"isolation", "gaussian", "distance"}),
        ],
        "false_alarm_rate": [Interval(Real, 0.0, 1.0, closed="left")],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        detector: Any = "isolation",
        *,
        false_alarm_rate: float = 0.05,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.detector = detector
        self.false_alarm_rate = false_alarm_rate
        self.cv = cv
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _detector(self) -> Any:
        if not isinstance(self.detector, str):
            return clone(self.detector)
        if self.detector == "isolation":
            return IsolationForest()
        from sklearn.pipeline import make_pipeline  # takes long to import

        if self.detector == "gaussian":
            return make_pipeline(prepare.SimpleImputer(), GaussianDensity())
        return make_pipeline(prepare.SimpleImputer(), NeighborAnomalyScore())

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return takes_missing(self._detector())

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._detector()).input_tags.sparse)

    def _steps(self) -> list[Step]:
        return []  # the detector has its own

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit the detector, and find the threshold on rows left out.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            Usual rows, or mostly usual ones; sparse where the detector takes it.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts, in the detector and in the share of false alarms. The
            detector must take weights then.
        """
        self._validate_params()
        rows = Inputs(self).for_fit(X, None, sample_weight)
        block = rows.in_one_block("AnomalyDetector", "GaussianDensity")
        # other splitters split by the numbers of rows
        if self.cv is None or isinstance(self.cv, int | np.integer):
            block = block.without_zero_weights()
        source = ArraySource.of_block(block)
        detector = self._detector()
        if source.w is not None and not takes_weights(detector):
            raise DataError(
                f"sample_weight was given, but {type(detector).__name__} takes no weights: leave it"
                " out"
            )
        self.typical_ = typical_row(block)
        self.weights_ = np.array(block.weights, dtype=np.float64)
        self.seed_ = seed_from(self.random_state)
        n = source.n_rows
        self.detector_ = self._fit_copy(source)
        if self.cv is None or n < 2:
            self.scores_ = _score_rows(self.detector_, source)
        else:
            self.scores_ = np.full(n, np.nan)
            for train, test in row_splits(self.cv, n, self.seed_):
                fitted = self._fit_copy(source.take(train))
                self.scores_[test] = _score_rows(fitted, source.take(test))
        self.threshold_ = self._threshold()
        self.offset_ = self.threshold_
        return self

    def _threshold(self) -> float:
        """The largest score below which at most the false-alarm rate of the weight lies."""
        counts = ~np.isnan(self.scores_) & (self.weights_ > 0)
        order = np.argsort(self.scores_[counts], kind="stable")
        scores = self.scores_[counts][order]
        w = self.weights_[counts]
        # the weight strictly before every score in their order
        below = np.cumsum(w[order]) - w[order]
        is_rare = below <= self.false_alarm_rate * w.sum() + 1e-9
        return float(scores[np.flatnonzero(is_rare)[-1]])

    def _fit_copy(self, source: ArraySource) -> Any:
        detector = self._detector()
        # every random_state in it, so that the copies of the folds differ by their rows alone
        names = [
            name
            for name in detector.get_params()
            if f"__{name}".endswith("__random_state")
        ]
        detector.set_params(**dict.fromkeys(names, self.seed_ % 2**31))
        if not takes_rows(detector):
            self._refuse_categories(source)
            if source.w is None:
                return detector.fit(source.X)
            return detector.fit(source.X, sample_weight=source.w)
        data = MemberData(source, named=hasattr(self, "feature_names_in_"))
        return data.fit(detector, w=source.w)

    def _refuse_categories(self, source: ArraySource) -> None:
        for column in source.schema:
            if not column.numeric:
                raise SettingError(
                    f"column {column.name!r} holds categories, which the detector cannot take: use"
                    " one of Lyceum's densities, or a pipeline that encodes them"
                )

    # -- predict -----------------------------------------------------------------------

    def score_samples(self, X: Data) -> Any:
        """The scores of the detector: the lower, the more unusual."""
        check_is_fitted(self)
        return self.rows_to_predict(X).collect(self._scores)

    def _scores(self, block: Block) -> np.ndarray:
        if not len(block):
            return np.empty(0)
        source = ArraySource(block.X, None, None, block.schema, coded=True)
        return _score_rows(self.detector_, source)

    def decision_function(self, X: Data) -> Any:
        """Scores above the threshold: negative for anomalies."""
        return self.score_samples(X) - self.threshold_

    def predict(self, X: Data) -> Any:
        """1 for usual rows, -1 for anomalies."""
        unusual = self.decision_function(X) < 0
        return 1 - 2 * unusual.astype(int)

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the score: what lowers it makes the row unusual.

        The base is the score of a row of typical cells (`typical_`), whose columns are replaced by
        the row's own, one after the other, from both ends.
        """
        check_is_fitted(self)
        parts = partial(replace_columns, background=self.typical_, answer=self._scores)
        explanation = self._explain(X, parts, "score")
        predicted = np.where(explanation.predicted < self.threshold_, -1, 1)
        return replace(explanation, predicted=predicted)

    def summary(self) -> Summary:
        """The threshold, and what share of usual rows is below it."""
        check_is_fitted(self)
        has_score = ~np.isnan(self.scores_)
        is_alarm = self.scores_[has_score] < self.threshold_
        alarms = float(np.average(is_alarm, weights=self.weights_[has_score]))
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
        n = len(self.scores_)
        return {"weights_": (n,), "typical_": (self.n_features_in_,)}


def _score_rows(detector: Any, source: ArraySource) -> np.ndarray:
    is_ours = takes_rows(detector)
    inputs = Rows(replace(source, w=None)) if is_ours else source.X
    return np.asarray(detector.score_samples(inputs), dtype=np.float64)

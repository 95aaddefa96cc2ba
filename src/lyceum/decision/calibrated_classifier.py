"""A classifier whose posteriors are calibrated on rows that it was not fitted on."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_method_params, check_is_fitted

from lyceum._core.base import (
    Classifier,
    Decision,
    decide,
    guard_public_methods,
    normalize_posteriors,
    takes_weights,
    target_of,
    unchanged_on_failure,
)
from lyceum._core.constraints import HasMethods, StrOptions
from lyceum._core.data import Rows
from lyceum._core.statistics import given_splits
from lyceum._core.types import Data, Estimator, Target, Weights
from lyceum.decision.estimator_columns import inherit_columns, summary_title
from lyceum.decision.posterior_map import PosteriorMap
from lyceum.decision.risk import check_target
from lyceum.errors import DataError
from lyceum.report import Summary


def _can_explain(self: Any) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "explain")


def _maps_posteriors(self: Any) -> bool:
    return not any(voter.map_.scores for voter in self._voters)


@guard_public_methods
class CalibratedClassifierCV(MetaEstimatorMixin, Classifier, BaseEstimator):
    """Any classifier with posteriors calibrated by a map learned from what it says of left-out
    rows: its scores, or its posteriors where it has no `decision_function`.

    One estimator is fitted on all rows; the map is learned from posteriors of rows that a clone of
    it was not fitted on.

    Parameters
    ----------
    estimator : classifier with `predict_proba` or `decision_function`, default=None
        It is cloned and fitted. None: scikit-learn's linear support vector machine, as there.
    method : {"sigmoid", "isotonic", "temperature", "logit", "bounded"} or PosteriorMap, \
default="sigmoid"
        How it is calibrated: the first three take scores or posteriors as they are, as in
        scikit-learn; "logit" and "bounded" are for posteriors (see `PosteriorMap`), and scores of
        an estimator without enter by the logistic or the softmax function. A map that was learned
        before is taken as it is.
    cv : int, splitter, or splits, default=None
        The folds from which the map is learned; a number makes stratified ones, in the order of
        the rows, or drawn if `random_state` is given; None makes five.
    n_jobs : int, default=None
        Threads at a time.
    ensemble : bool or "auto", default="auto"
        Whether the estimators of all folds, each with a map from its own left-out rows, vote by
        their mean posterior; else one estimator of all rows has the map of all left-out rows.
        "auto", as in scikit-learn, is the first, and the second where the estimator is frozen.
    random_state : int, default=None
        The seed of the folds; None: they are not drawn.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels.
    estimator_ : classifier
        The fitted estimator.
    map_ : PosteriorMap
        The map that its posteriors go through.
    calibrated_classifiers_ : list of CalibratedClassifierCV
        With `ensemble` the estimator of every fold with its map, else the one estimator with its
        map; `estimator` of each is fitted.
    n_features_in_ : int
        The number of columns, if the estimator knows it.
    feature_names_in_ : array of str
        Their names, if the estimator knows them.

    See Also
    --------
    PosteriorMap : The map by itself.
    MinimumRiskClassifier : Decisions from posteriors.

    References
    ----------
    A. Niculescu-Mizil and R. Caruana, "Predicting good probabilities with supervised learning",
    ICML 2005.

    Examples
    --------
    >>> from lyceum import datasets, scan
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.evaluate import log_loss
    >>> rows = scan(datasets.path("german_credit"), target="class")
    >>> plain, calibrated = NaiveBayes().fit(rows), CalibratedClassifierCV(NaiveBayes()).fit(rows)
    >>> y = rows.coded_y
    >>> log_loss(y, calibrated.predict_proba(rows)) < log_loss(y, plain.predict_proba(rows))
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [
            HasMethods(["fit", "predict_proba"]),
            HasMethods(["fit", "decision_function"]),
            None,
        ],
        "n_jobs": [Integral, None],
        "ensemble": ["boolean", StrOptions({"auto"})],
        "method": [StrOptions(set(PosteriorMap.METHODS)), PosteriorMap],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        method: Any = "sigmoid",
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        ensemble: bool | str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble
        self.random_state = random_state

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (PosteriorMap,)

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        **fit_params: Any,
    ):
        """Learn the map from out-of-fold posteriors, and fit the estimator on all rows.

        Parameters
        ----------
        X : array, frame, or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            An estimator that takes none is fitted without, with a warning.
        **fit_params
            Further arguments of the estimator's `fit`.
        """
        weights = None if sample_weight is None else np.asarray(sample_weight)
        given = self._for_estimator(weights, fit_params)
        if not isinstance(X, Rows):
            y = check_target(y, self)
        with unchanged_on_failure(self):
            self.__dict__.pop("calibrated_classifiers_", None)
            if isinstance(self.method, PosteriorMap):
                self.map_ = self.method
            else:
                self.map_ = self._learn_map(X, y, weights, given)
            self.estimator_ = self._new_estimator().fit(X, y, **given["fit"])
            self.classes_ = np.asarray(self.estimator_.classes_)
            inherit_columns(self, self.estimator_, schema=True)
            if not hasattr(self, "calibrated_classifiers_"):
                self.calibrated_classifiers_ = [
                    self._voter(self.estimator_, self.map_, self.classes_)
                ]
        return self

    def _for_estimator(self, w: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
        """What the estimator's `fit` and the splitter's `split` are given."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=w, **fit_params)
            return {"fit": routed.estimator.fit, "split": routed.splitter.split}
        given = dict(fit_params)
        estimator = self._new_estimator()
        if w is not None and takes_weights(estimator):
            given["sample_weight"] = w
        elif w is not None:
            warnings.warn(
                f"{type(estimator).__name__} takes no sample_weight: it is fitted without, and"
                " only the map is learned from the weights, which is likely to be wrong",
                UserWarning,
                stacklevel=4,
            )
        return {"fit": given, "split": {}}

    def get_metadata_routing(self) -> MetadataRouter:
        """What the estimator and the splitter ask for, as scikit-learn's classes say it."""
        router = MetadataRouter(owner=self).add_self_request(self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router.add(estimator=self._new_estimator(), method_mapping=to_fit)
        return router.add(splitter=self.cv, method_mapping=to_split)

    def _new_estimator(self) -> Any:
        if self.estimator is not None:
            return clone(self.estimator)
        from sklearn.svm import LinearSVC  # takes long to import

        estimator = LinearSVC(random_state=0)
        if get_config()["enable_metadata_routing"]:
            estimator.set_fit_request(sample_weight=True)
        return estimator

    @property
    def _votes_by_folds(self) -> bool:
        if self.ensemble != "auto":
            return bool(self.ensemble)
        from sklearn.frozen import FrozenEstimator  # takes long to import

        return not isinstance(self.estimator, FrozenEstimator)

    def _learn_map(
        self, X: Data, y: Target, weights: Any, given: dict[str, Any]
    ) -> PosteriorMap:
        """The map of all left-out rows, and the voters of the folds."""
        codes, take = _encode(X, y)
        labels: Any
        if isinstance(X, Rows):
            w = X.sample_weight
            labels = X.schema.target.categories  # type: ignore[union-attr]
        else:
            w = weights
            labels = np.unique(np.asarray(y))
        K = int(codes.max()) + 1
        # out-of-fold answers; a class that a fold's estimator has not seen has 0
        proba = np.zeros((len(codes), K))
        tested = np.zeros(len(codes), dtype=bool)
        voters = []
        of_scores = False
        for train, test in self._splits(codes, given["split"]):
            part = _check_method_params(X, given["fit"], indices=train)
            truth = None if y is None else np.asarray(y)[train]
            fitted = self._new_estimator().fit(take(train), truth, **part)
            columns = np.searchsorted(labels, fitted.classes_)
            of_scores = self._maps_scores(fitted)
            seen = answers_of(fitted, take(test), of_scores)
            proba[np.ix_(test, columns)] = _two_columns(seen)
            tested[test] = True
            if self._votes_by_folds:
                own = self._map_of(codes, proba, w, test, of_scores)
                voters.append(self._voter(fitted, own, np.asarray(labels)))
        if voters:
            self.calibrated_classifiers_ = voters
        # a splitter may leave rows untested
        return self._map_of(codes, proba, w, tested, of_scores)

    def _maps_scores(self, fitted: Estimator) -> bool:
        """Whether the map is of scores: scikit-learn's methods, where there are some."""
        of_posteriors = self.method in ("logit", "bounded")
        return not of_posteriors and hasattr(fitted, "decision_function")

    def _map_of(
        self, codes: Any, seen: Any, w: Any, rows: Any, of_scores: bool
    ) -> PosteriorMap:
        """The map learned from some rows."""
        weight = None if w is None else np.asarray(w)[rows]
        part = seen[rows]
        if of_scores and part.shape[1] == 2:
            part = part[:, 1]
        return PosteriorMap.fit(str(self.method), codes[rows], part, weight, of_scores)

    def _voter(
        self, fitted: Estimator, posterior_map: PosteriorMap, classes: np.ndarray
    ) -> Any:
        """A fitted estimator with its map."""
        voter = clone(self).set_params(ensemble=False)
        voter.estimator = fitted
        voter.estimator_ = fitted
        voter.map_ = posterior_map
        voter.classes_ = classes
        inherit_columns(voter, fitted, schema=True)
        return voter

    def _splits(self, codes: np.ndarray, given: dict[str, Any] | None = None) -> Any:
        """Training and test rows of every fold; unless a number of folds was given, no more than
        the rarest class has rows."""
        from sklearn.model_selection import StratifiedKFold  # takes long to import

        cv: Any = 5 if self.cv is None else self.cv
        counts = np.bincount(codes)
        if not isinstance(cv, Integral):
            if type(cv).__name__ == "LeaveOneOut":
                raise DataError(
                    "LeaveOneOut cross-validation does not allow all classes to be present in"
                    " test splits: take folds, e.g. cv=5"
                )
            n_folds: Any = getattr(cv, "n_splits", 1)
            if isinstance(n_folds, int) and (counts[counts > 0] < n_folds).any():
                raise self._too_few_rows(n_folds)
            if given:
                return cv.split(codes, codes, **given)
            return given_splits(cv, len(codes), codes, classifier=True)
        if counts.max() < 2:
            raise DataError(
                f"no class has two rows (n_samples={len(codes)}), so none can be learned and left"
                " out: give more rows, or method=PosteriorMap(...), which is known already"
            )
        rarest = int(counts[counts > 0].min())
        if self.cv is not None and rarest < int(cv):
            raise self._too_few_rows(int(cv))
        n_folds = max(2, min(int(cv), rarest))
        drawn: dict[str, Any] = {}
        if self.random_state is not None:
            drawn = {"shuffle": True, "random_state": self.random_state}
        return StratifiedKFold(n_folds, **drawn).split(codes, codes)

    @staticmethod
    def _too_few_rows(n_folds: int) -> DataError:
        return DataError(
            f"Requesting {n_folds}-fold cross-validation but provided less than {n_folds} examples"
            " for at least one class."
        )

    def predict_proba(self, X: Data) -> np.ndarray:
        """The calibrated posteriors."""
        check_is_fitted(self)
        seen = [
            answers_of(voter.estimator_, X, voter.map_.scores) for voter in self._voters
        ]
        return self._mean_of(*seen)

    @property
    def _voters(self) -> list[Any]:
        """Estimators with their maps, whose mean is the answer."""
        return getattr(self, "calibrated_classifiers_", [self])

    @available_if(_maps_posteriors)
    def _from_posteriors(self, *seen: Any) -> np.ndarray:
        """The same, for records whose posteriors are known; scores are computed anew."""
        return self._mean_of(*seen)

    def _mean_of(self, *seen: Any) -> np.ndarray:
        """The mean of what the voters make of the answers of their estimators."""
        mean = np.zeros((len(seen[0]), len(self.classes_)))
        for voter, proba in zip(self._voters, seen, strict=True):
            columns = np.searchsorted(self.classes_, voter.classes_)
            mean[:, columns] += voter._calibrated(np.asarray(proba))
        return mean / len(seen)

    def _calibrated(self, seen: np.ndarray) -> np.ndarray:
        """What the map makes of posteriors or scores of the estimator."""
        known = np.searchsorted(self.classes_, self.estimator_.classes_)
        if seen.ndim == 1 and len(self.classes_) == 2:
            return self.map_(seen)
        proba = np.zeros((len(seen), len(self.classes_)))
        proba[:, known] = _two_columns(seen)
        calibrated = self.map_(proba)
        if len(known) == len(self.classes_):
            return calibrated
        # a class that its fold lacked has 0
        proba[:, known] = calibrated[:, known]
        return normalize_posteriors(proba)

    def decide(self, record: Any) -> Decision:
        """The prediction for one record: a dict of columns and values, or the values in order."""
        return decide(self, record)

    def predict(self, X: Data) -> np.ndarray:
        """The most probable class."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_log_proba(self, X: Data) -> np.ndarray:
        """The logarithms of the posteriors."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def summary(self) -> Summary:
        """How posteriors are calibrated."""
        check_is_fitted(self)
        facts = {"estimator": repr(self.estimator), "map": self.map_.method}
        return Summary(summary_title(self, self.estimator_), facts)

    @available_if(_can_explain)
    def explain(self, X: Data) -> Any:
        """Why the estimator gives its posteriors, before the calibration."""
        check_is_fitted(self)
        return self.estimator_.explain(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._new_estimator())
        tags.input_tags = inner.input_tags
        if inner.classifier_tags:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def _two_columns(seen: np.ndarray) -> np.ndarray:
    """Scores of two classes, given for the second, as those of both."""
    if seen.ndim == 1:
        return np.column_stack([-seen, seen])
    return seen


def answers_of(estimator: Estimator, X: Data, of_scores: bool) -> np.ndarray:
    """The scores of a classifier, or its posteriors; where it has none, its scores by the logistic
    or the softmax function."""
    if of_scores:
        return np.asarray(estimator.decision_function(X))
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))
    scores = np.asarray(estimator.decision_function(X))
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return softmax(scores, axis=1)


def _encode(X: Data, y: Target) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """The codes of the classes, and a function that takes rows."""
    if isinstance(X, Rows):
        target_of(X)  # refuses rows without a target, and missing ones
        codes = np.asarray(X.coded_y)
        if codes.dtype.kind == "f":
            raise DataError(
                "the target holds numbers: declare classes, scan(..., task='classification')"
            )
        if not len(codes):
            raise DataError(
                "there are no rows (0 samples): CalibratedClassifierCV needs some of every class"
            )
        return codes, X.take
    if y is None:
        raise DataError(
            "CalibratedClassifierCV requires y to be passed, but the target y is None"
        )
    _, codes = np.unique(np.asarray(y), return_inverse=True)
    cells: Any = X
    if issparse(cells):
        cells = cells.tocsr()  # other formats do not give rows
    elif not hasattr(cells, "__getitem__"):
        cells = np.asarray(cells)
    return codes, partial(_safe_indexing, cells)

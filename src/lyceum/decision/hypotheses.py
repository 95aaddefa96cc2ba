"""The Bayes optimal classifier: a vote of hypotheses, each weighted by its posterior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import _fit_context, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Classifier,
    guard_public_methods,
    normalize_posteriors,
    unchanged_on_failure,
)
from lyceum._core.data import Block, Rows
from lyceum._core.probability import check_shares
from lyceum._core.types import Data, Target, Weights
from lyceum.decision.estimator_columns import summary_title
from lyceum.decision.risk import check_target, check_weight
from lyceum.errors import DataError, SettingError, SourceError, number_setting
from lyceum.report import Summary, Table


def hypothesis_posterior(log_likelihood: Any, prior: Any = None) -> np.ndarray:
    """P(h|D) = P(D|h) P(h) / Σ_h P(D|h) P(h), from the logarithms of the likelihoods.

    Parameters
    ----------
    log_likelihood : array of shape (H,)
        log P(D|h); -inf for a hypothesis that the data refute.
    prior : array of shape (H,), optional
        P(h), up to a factor; equal by default.

    Returns
    -------
    array of shape (H,)
        They sum to 1.

    See Also
    --------
    BayesOptimalClassifier : A vote of hypotheses with these weights.
    lyceum.evaluate.bayes_factor : Two hypotheses compared.

    Examples
    --------
    >>> import numpy as np
    >>> hypothesis_posterior(np.log([0.2, 0.1, 0.1]), [0.5, 0.25, 0.25]).round(3)
    array([0.667, 0.167, 0.167])
    """
    log_likelihood = number_setting("log_likelihood", log_likelihood)
    if (
        log_likelihood.ndim != 1
        or not len(log_likelihood)
        or (log_likelihood == np.inf).any()
    ):
        raise DataError(
            "log_likelihood must be one number below infinity for each of the hypotheses, got the"
            f" shape {log_likelihood.shape}"
        )
    prior = check_shares(prior, len(log_likelihood), "prior", "hypothesis")
    with np.errstate(divide="ignore"):
        joint = log_likelihood + np.log(prior)
    if np.isnan(log_likelihood).any():
        raise DataError(
            "a hypothesis gives NaN as the probability of a class: leave it out"
        )
    if not (joint > -np.inf).any():
        raise DataError(
            "every hypothesis gives probability 0 to some label that occurred: add one that does"
            " not, or smooth them"
        )
    return np.exp(joint - logsumexp(joint))


@guard_public_methods
class BayesOptimalClassifier(Classifier, _BaseComposition):
    """Bayes optimal classification over a set of hypotheses: P(v|x, D) = Σ_h P(v|x, h) P(h|D).

    P(h|D) is proportional to P(D|h) P(h), with P(D|h) = Π_i P(y_i|x_i, h)^w_i. Of all ways to
    combine these hypotheses none has a smaller error on average; it can predict a class that the
    most probable hypothesis would not.

    Parameters
    ----------
    hypotheses : list of classifiers, or of (name, classifier)
        Each is cloned and fitted; wrap a fitted one in `sklearn.frozen.FrozenEstimator` to keep it
        as it is. A hypothesis without `predict_proba` gives probability 1 to the class that it
        predicts.
    prior : array of shape (H,), default=None
        P(h), up to a factor; equal by default.
    weights : array of shape (H,), default=None
        P(h|D) itself, up to a factor, if it is known. None computes it from the rows.
    cv : int or splitter, default=None
        None takes the likelihood on the rows of `fit`: right for fixed hypotheses, too large for
        those that were fitted to these rows. With folds it is taken on rows that the fitted
        hypothesis has not seen.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, in the order of the columns of `predict_proba`.
    hypotheses_ : list of classifiers
        The fitted hypotheses.
    names_ : list of str
        Their names.
    log_likelihood_ : array of shape (H,)
        log P(D|h).
    prior_, posterior_ : array of shape (H,)
        P(h) and P(h|D).
    n_features_in_ : int
        The number of columns, if a hypothesis knows it.
    feature_names_in_ : array of str
        Their names, if a hypothesis knows them.

    See Also
    --------
    hypothesis_posterior : P(h|D) from log-likelihoods.

    References
    ----------
    T. M. Mitchell, "Machine Learning", McGraw-Hill, 1997, section 6.7.

    Examples
    --------
    Three hypotheses have the posteriors 0.4, 0.3 and 0.3: the first predicts 1, the others 0. The
    most probable hypothesis predicts 1, but 0 is the more probable class.

    >>> from sklearn.dummy import DummyClassifier
    >>> constants = [DummyClassifier(strategy="constant", constant=v) for v in (1, 0, 0)]
    >>> model = BayesOptimalClassifier(constants, weights=[0.4, 0.3, 0.3]).fit([[0], [0]], [0, 1])
    >>> model.map_hypothesis().predict([[0]]), model.predict([[0]])
    (array([1]), array([0]))
    >>> model.predict_proba([[0]])
    array([[0.6, 0.4]])
    """

    _parameter_constraints: ClassVar[dict] = {
        "hypotheses": [list, tuple],
        "prior": ["array-like", None],
        "weights": ["array-like", None],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        hypotheses: Sequence[Any],
        *,
        prior: Any = None,
        weights: ArrayLike | None = None,
        cv: Any = None,
    ):
        self.hypotheses = hypotheses
        self.prior = prior
        self.weights = weights
        self.cv = cv

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of named hypotheses too."""
        return self._get_params("hypotheses", deep=deep)

    def set_params(self, **params: Any):
        """Set parameters, also `name` or `name__parameter` of a named hypothesis."""
        self._set_params("hypotheses", **params)
        return self

    # -- fit ---------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Fit every hypothesis, and weight it by its posterior.

        Parameters
        ----------
        X : whatever the hypotheses take: array, frame, or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        with unchanged_on_failure(self):
            self._fit(X, check_target(y, self), sample_weight)
        return self

    def _fit(self, X: Data, y: Target, sample_weight: Weights) -> None:
        named = _name_hypotheses(self.hypotheses)
        extra = {}
        if sample_weight is not None:
            extra["sample_weight"] = sample_weight
        self.names_ = [name for name, _ in named]
        self.hypotheses_ = [clone(h).fit(X, y, **extra) for _, h in named]
        labels, w = _labels(X, y, sample_weight)
        # a fixed hypothesis may know classes that these rows do not have
        known = [h.classes_ for h in self.hypotheses_ if hasattr(h, "classes_")]
        self.classes_ = np.unique(np.concatenate([labels, *known]))
        codes = np.searchsorted(self.classes_, labels)
        self.prior_ = check_shares(self.prior, len(named), "prior", "hypothesis")
        self.log_likelihood_ = np.array(
            [self._log_likelihood(i, X, y, codes, w, extra) for i in range(len(named))]
        )
        if self.weights is None:
            self.posterior_ = hypothesis_posterior(self.log_likelihood_, self.prior_)
        else:
            self.posterior_ = check_shares(
                self.weights, len(named), "weights", "hypothesis"
            )
        self._copy_features()

    def _log_likelihood(
        self,
        i: int,
        X: Data,
        y: Target,
        codes: np.ndarray,
        w: np.ndarray | None,
        extra: dict,
    ) -> float:
        """log P(D|h) = Σ_i w_i log P(y_i|x_i, h)."""
        if self.cv is None:
            P = self._posteriors(self.hypotheses_[i], X)
        else:
            _, hypothesis = _name_hypotheses(self.hypotheses)[i]
            P = self._out_of_fold_posteriors(hypothesis, X, y, extra)
        # zero-weight rows are left out, as 0 times -inf would be NaN
        with np.errstate(divide="ignore"):
            terms = np.log(np.asarray(P)[np.arange(len(codes)), codes])
        if w is None:
            return float(terms.sum())
        return float((terms[w > 0] * w[w > 0]).sum())

    def _out_of_fold_posteriors(
        self, hypothesis: Any, X: Data, y: Target, extra: dict
    ) -> np.ndarray:
        """The posteriors of every row by the hypothesis fitted to the other folds."""
        from sklearn.model_selection import cross_val_predict  # takes long to import

        if isinstance(X, Rows):
            raise SourceError(
                "cv needs rows that can be divided into folds: give X and y in memory, or cv=None"
            )
        soft = hasattr(hypothesis, "predict_proba")
        out = cross_val_predict(
            clone(hypothesis),
            X,
            y,
            cv=self.cv,
            method="predict_proba" if soft else "predict",
            params=extra or None,
        )
        if soft:
            return out
        return (out[:, None] == self.classes_).astype(np.float64)

    def _posteriors(self, hypothesis: Any, X: Data) -> Any:
        """P(v|x, h) with a column for each of `classes_`."""
        if not hasattr(hypothesis, "predict_proba"):
            predicted = np.asarray(hypothesis.predict(X))
            return (predicted[:, None] == self.classes_).astype(np.float64)
        P = hypothesis.predict_proba(X)
        if P.shape[1] == len(self.classes_):
            return P
        # classes that the hypothesis does not know have probability 0
        full = np.zeros((P.shape[0], len(self.classes_)))
        full[:, np.searchsorted(self.classes_, hypothesis.classes_)] = P
        return full

    def _copy_features(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
            for hypothesis in self.hypotheses_:
                if hasattr(hypothesis, name):
                    setattr(self, name, getattr(hypothesis, name))
                    break

    # -- predict -----------------------------------------------------------------------

    def predict_proba(self, X: Data) -> np.ndarray:
        """Σ_h P(v|x, h) P(h|D); hypotheses with posterior 0 are left out."""
        check_is_fitted(self)
        used = [(h, p) for h, p in zip(self.hypotheses_, self.posterior_) if p > 0]
        mixed = sum(p * self._posteriors(h, X) for h, p in used)
        return normalize_posteriors(mixed)

    def predict(self, X: Data) -> np.ndarray:
        """The most probable class; of equally probable ones the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    # -- what was learned --------------------------------------------------------------

    def map_hypothesis(self) -> Any:
        """The hypothesis of largest P(h|D); of equal ones the first."""
        check_is_fitted(self)
        return self.hypotheses_[int(self.posterior_.argmax())]

    def ml_hypothesis(self) -> Any:
        """The hypothesis of largest likelihood P(D|h); of equal ones the first."""
        check_is_fitted(self)
        return self.hypotheses_[int(self.log_likelihood_.argmax())]

    def summary(self) -> Summary:
        """Every hypothesis with its prior, likelihood and posterior."""
        check_is_fitted(self)
        numbers = (self.prior_, self.log_likelihood_, self.posterior_)
        rows = list(zip(self.names_, *(column.tolist() for column in numbers)))
        most_probable = self.names_[int(self.posterior_.argmax())]
        most_likely = self.names_[int(self.log_likelihood_.argmax())]
        facts = {
            "most probable hypothesis (MAP)": most_probable,
            "most likely hypothesis (ML)": most_likely,
        }
        table = Table(
            "Hypotheses", ("hypothesis", "P(h)", "log P(D|h)", "P(h|D)"), rows
        )
        return Summary(summary_title(self, self.hypotheses_[0]), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"posterior_": (len(self.hypotheses_),)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = [get_tags(h) for _, h in _name_hypotheses(self.hypotheses)]
        tags.input_tags.sparse = all(t.input_tags.sparse for t in inner)
        tags.input_tags.allow_nan = all(t.input_tags.allow_nan for t in inner)
        tags.input_tags.categorical = all(t.input_tags.categorical for t in inner)
        return tags


def _name_hypotheses(hypotheses: Sequence[Any]) -> list[tuple[str, Any]]:
    """(name, classifier) of every hypothesis; h1, h2, ... where they have none."""
    if not len(hypotheses):
        raise SettingError("there are no hypotheses: give at least one classifier")
    named = [
        h if isinstance(h, tuple) else (f"h{i}", h) for i, h in enumerate(hypotheses, 1)
    ]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise SettingError(
            f"hypotheses share a name, {max(names, key=names.count)!r}: give each its own"
        )
    return named


def _labels(
    X: Data, y: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray | None]:
    """The true labels and weights, from the rows themselves if they carry them."""
    if isinstance(X, Rows):
        target = X.schema.target
        if target is None or target.categories is None:
            raise DataError(
                "the rows have no classes to predict: give scan(..., target=...)"
            )
        w = X.collect(lambda block: block.weights)
        return target.categories[np.asarray(X.collect(_codes))], np.asarray(w)
    return y, check_weight(sample_weight, len(y))


def _codes(block: Block) -> np.ndarray:
    if block.y is None:
        raise DataError("these rows carry no target: give scan(..., target=...)")
    return block.y

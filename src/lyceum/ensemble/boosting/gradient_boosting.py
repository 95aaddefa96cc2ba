"""Gradient boosting on exact trees, with scikit-learn's names, parameters and answers."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.members import MemberData
from lyceum._core.types import Categories, Data
from lyceum.ensemble.boosting.boosted_trees import BoostedClasses, BoostedNumbers
from lyceum.ensemble.boosting.losses import (
    REGRESSION_LOSSES,
    Exponential,
    Loss,
    class_loss,
)
from lyceum.ensemble.boosting.stages import ExactBoosting
from lyceum.errors import DataError, SettingError
from lyceum.report import Explanation

_LOSSES = ("squared_error", "absolute_error", "huber", "quantile")


class GradientBoostingClassifier(BoostedClasses, ExactBoosting):
    """Boosted exact trees for classes, by the logistic, multinomial or exponential loss.

    .. math:: F_t(x) = F_{t-1}(x) + \\eta \\, \\gamma_{t, l(x)}, \\qquad
        \\gamma_{tl} = \\frac{\\sum_{i \\in l} w_i (y_i - p_i)}{\\sum_{i \\in l} w_i p_i (1 - p_i)}

    F is the log-odds of the second of two classes; of K > 2 classes each has a score, whose softmax
    is P(k | x), and a tree a round, with (K − 1) / K times that step (Friedman 2001). A tree is a
    regression tree on the negative gradients y − p, on all values of the columns, and γ is one
    Newton step per leaf. "exponential" is AdaBoost's loss of two classes, for which F is half the
    log-odds. Without subsampling and drawn columns the answers are scikit-learn's, up to ties
    between equal splits, which it decides by chance.

    Columns of categories are split into two groups, and missing cells are sent where the split is
    best, as by `DecisionTreeRegressor`.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        The loss that the trees minimize.

    See Also
    --------
    HistGradientBoostingClassifier : On binned columns: quicker, and for tables of any size.
    AdaBoostClassifier : Boosting by weights on the rows.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29. Friedman (2002), Stochastic gradient boosting.

    Examples
    --------
    >>> from sklearn.datasets import make_hastie_10_2
    >>> from lyceum.ensemble import GradientBoostingClassifier
    >>> X, y = make_hastie_10_2(2000, random_state=0)
    >>> model = GradientBoostingClassifier(max_depth=1, learning_rate=1.0, n_estimators=50)
    >>> float(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **ExactBoosting._parameter_constraints,
        "loss": [StrOptions({"log_loss", "exponential"})],
        "init": [StrOptions({"zero"}), None, HasMethods(["fit", "predict_proba"])],
    }
    _alternative: ClassVar[str] = "HistGradientBoostingClassifier"

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: int | np.random.RandomState | None = None,
        max_features: Any = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.record = record
        self.categorical_features = categorical_features

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        n_classes = len(self.classes_)
        if self.loss == "log_loss":
            return class_loss(y, w, n_classes)
        if n_classes > 2:
            raise SettingError(
                "loss='exponential' is only suitable for a binary classification problem, you have"
                f" n_classes={n_classes}. Please use loss='log_loss' instead."
            )
        return Exponential(y, w)

    def _begin(self, block: Block) -> None:
        codes: Any = block.y
        n_classes = np.count_nonzero(np.bincount(codes, block.w))
        if n_classes < 2:
            raise DataError(
                f"y contains {n_classes} class after sample_weight trimmed classes with zero"
                " weights, while a minimum of 2 classes are required."
            )
        super()._begin(block)
        # what is common to all scores changes nothing: they sum to 0, as in scikit-learn
        if len(self.baseline_) > 1:
            self.baseline_ = self.baseline_ - self.baseline_.mean()

    @property
    def _odds_per_score(self) -> float:  # type: ignore[override]
        return 2.0 if self.loss == "exponential" else 1.0

    @property
    def _units(self) -> float:  # type: ignore[override]
        is_logistic = self.loss == "log_loss" and len(self.classes_) <= 2
        return 2.0 if is_logistic else 1.0

    def _constant(self) -> Any:
        from sklearn.dummy import DummyClassifier  # takes long to import

        priors = self._posterior(self.baseline_[None, :])[0]
        rows = np.zeros((len(priors), 1))
        return DummyClassifier(strategy="prior").fit(rows, self.classes_, priors)

    def _scores_of_init(self, data: MemberData) -> np.ndarray:
        least = np.finfo(np.float64).eps
        shares = data.posteriors(self.start_, self.classes_).clip(least, 1.0 - least)
        logs = np.log(shares)
        if len(self.classes_) > 2:
            return logs - logs.mean(axis=1, keepdims=True)
        odds = logs[:, -1:] - np.log(1.0 - shares[:, -1:])
        return odds / self._odds_per_score

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the score of the second of two classes, or to the winner's
        score; with an estimator as `init`, to the posterior, from a typical row on."""
        if not self._starts_from_learner:
            return super().explain(X)
        return self._explain_from_typical(partial(_posteriors_of, self), X, "posterior")


class GradientBoostingRegressor(BoostedNumbers, ExactBoosting):
    """Boosted exact trees for numbers: each a regression tree on the negative gradients of the
    loss.

    .. math:: F_t(x) = F_{t-1}(x) + \\eta \\, \\gamma_{t, l(x)}, \\qquad
        \\gamma_{tl} = \\arg\\min_\\gamma \\sum_{i \\in l} w_i L(y_i, F_{t-1}(x_i) + \\gamma)

    γ is the mean of the residuals in the leaf, their median ("absolute_error"), the α-quantile
    ("quantile"), or the median moved by the mean of what Huber's δ leaves of the rest; δ is the
    α-quantile of the absolute residuals, found anew in every round. Without subsampling and drawn
    columns the answers are scikit-learn's, up to ties between equal splits, which it decides by
    chance.

    Columns of categories are split into two groups, and missing cells are sent where the split is
    best, as by `DecisionTreeRegressor`.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, default="squared_error"
        The loss that the trees minimize.
    alpha : float, default=0.9
        The quantile of the absolute residuals that is Huber's δ, or the quantile to predict.

    See Also
    --------
    HistGradientBoostingRegressor : On binned columns: quicker, and for tables of any size.
    GenericBoostingRegressor : Gradient boosting of any regressor.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29. Friedman (2002), Stochastic gradient boosting.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import GradientBoostingRegressor
    >>> x = np.linspace(0.0, 6.0, 400)[:, None]
    >>> model = GradientBoostingRegressor().fit(x, np.sin(x[:, 0]))
    >>> bool(np.abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **ExactBoosting._parameter_constraints,
        "loss": [StrOptions(set(_LOSSES))],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
    }
    _alternative: ClassVar[str] = "HistGradientBoostingRegressor"

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: int | np.random.RandomState | None = None,
        max_features: Any = None,
        alpha: float = 0.9,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.record = record
        self.categorical_features = categorical_features

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        targets = np.ascontiguousarray(y, dtype=np.float64)
        if self.loss == "squared_error":
            return REGRESSION_LOSSES[self.loss](targets, w)
        loss = REGRESSION_LOSSES[self.loss](targets, w, self.alpha)
        loss.average = False  # scikit-learn's quantiles
        return loss

    @property
    def _units(self) -> float:  # type: ignore[override]
        return 2.0 if self.loss == "squared_error" else 1.0

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the prediction, along the paths through all trees; with an
        estimator as `init`, from a typical row on."""
        if not self._starts_from_learner:
            return super().explain(X)
        return self._explain_from_typical(self._predict, X, "prediction")

    def _constant(self) -> Any:
        from sklearn.dummy import DummyRegressor  # takes long to import

        dummy = DummyRegressor(strategy="mean")
        if self.loss != "squared_error":
            quantile = self.alpha if self.loss == "quantile" else 0.5
            dummy = DummyRegressor(strategy="quantile", quantile=quantile)
        return dummy.fit([[0.0]], self.baseline_)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"baseline_": (1,)}


def _posteriors_of(model: GradientBoostingClassifier, block: Block) -> np.ndarray:
    return model._posterior(model._scores(block))

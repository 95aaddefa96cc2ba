"""Gradient boosting on binned columns: trees one after the other, each down the gradient of a
loss."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import labels
from lyceum._core.probability import class_weight_factors
from lyceum._core.types import Categories, ClassWeight, Target
from lyceum.ensemble.boosting.boosted_trees import BoostedClasses, BoostedNumbers
from lyceum.ensemble.boosting.losses import (
    LOG_LINKS,
    REGRESSION_LOSSES,
    Loss,
    class_loss,
)
from lyceum.ensemble.boosting.rounds import HistBoosting
from lyceum.errors import DataError


class HistGradientBoostingClassifier(BoostedClasses, HistBoosting):
    """Boosted trees for classes, by the logistic loss, or the multinomial one for K > 2 classes.

    The score s of the second of two classes is its log-odds; of K classes each has a score and a
    tree a round, and P(k | x) is their softmax. Training goes down on Σ w_i [−log P(y_i | x_i)],
    with g_k = w (P_k − [y = k]) and h_k = w P_k (1 − P_k) (K / (K − 1) times that for K > 2:
    Friedman 2001).

    Columns are put into at most `max_bins` bins, and a tree grows leaf by leaf, the most promising
    first. With G and H the sums of gradients and hessians over the rows of a node, a split gains

        ½ [G_l² / (H_l + λ) + G_r² / (H_r + λ) − G² / (H + λ)],

    and a leaf adds −η G / (H + λ) to the scores of its rows. Rows with a missing cell go to
    whichever side gains more, to the side with more rows where `fit` saw none. Categories are
    ordered by G / (H + s h), s being `categorical_smoothing` and h the mean hessian of the rows,
    and cut in two; their splits gain with λ + s h for λ. Those of fewer rows in a node than half of
    what a leaf needs are taken together as one. A row whose category did not come to a node in
    `fit` stays there.

    Everything random follows from the seed and the numbers of round and row, and sums that decide
    on splits are of whole numbers: the result is the same for any number of threads. Rows are kept
    in two bytes per cell, also those of a file or of Dask, which are read twice.

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
        The loss that the trees minimize: there is one.

    Attributes
    ----------
    class_weight_ : ndarray of shape (K,)
        With `class_weight`: its factors.

    See Also
    --------
    RandomForestClassifier : Trees that do not depend on each other.
    AdaBoostClassifier : Boosting by weights on the rows.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.ensemble import HistGradientBoostingClassifier
    >>> heart = load("heart_disease")
    >>> model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(heart)
    >>> len(model.trees_), model.history_[-1] < 0.5 * model.history_[0]
    (20, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **HistBoosting._parameter_constraints,
        "loss": [StrOptions({"log_loss"})],
        "class_weight": [None, StrOptions({"balanced"}), dict],
    }

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: Any = "auto",
        l2_regularization: float = 0.0,
        categorical_smoothing: float = 10.0,
        subsample: float = 1.0,
        max_features: int | float = 1.0,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        early_stopping: bool | str = False,
        keep_best: bool = False,
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        record: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.categorical_smoothing = categorical_smoothing
        self.subsample = subsample
        self.max_features = max_features
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.early_stopping = early_stopping
        self.keep_best = keep_best
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.record = record
        self.random_state = random_state
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        return class_loss(y, w, len(self.classes_))

    def _codes(self, y: Target) -> np.ndarray:
        names = labels(y, "y")
        odd = np.setdiff1d(names, self.classes_)
        if len(odd):
            raise DataError(
                f"validation has the class {odd[0]!r}, which is not in the rows to learn from"
            )
        return np.searchsorted(self.classes_, names).astype(np.int32)

    def _weights(
        self,
        y: np.ndarray,
        w: np.ndarray | None,
        learning: bool,
    ) -> np.ndarray | None:
        if self.class_weight is None:
            return w
        if learning:
            weight = np.bincount(y, w, len(self.classes_)).astype(float)
            self.class_weight_ = class_weight_factors(
                self.class_weight, self.classes_.tolist(), weight
            )
        assert self.class_weight_ is not None
        factors = self.class_weight_[y]
        return factors if w is None else factors * w

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return self.classes_[y]


class HistGradientBoostingRegressor(BoostedNumbers, HistBoosting):
    """Boosted trees for numbers: f(x) = f_0 + Σ_m η t_m(x), each tree down the gradient of the
    loss.

    With the residual r = y − f(x): squared error ½ r², absolute error |r|, Huber's ½ r² up to δ and
    δ (|r| − δ/2) beyond, or the quantile loss α max(r, 0) + (1 − α) max(−r, 0). All have h = w. The
    leaves of the last three take constants of their own instead of −G / (H + λ): the median of
    their residuals, the median moved by the mean of what Huber's δ leaves of the rest, and the
    α-quantile (Friedman 2001); λ then acts on splits alone. "poisson" and "gamma" are half the
    deviances of counts and of positive numbers; the trees then add to the logarithm of the mean.

    Trees, categories, missing cells, memory and threads are as in
    `HistGradientBoostingClassifier`.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss that the trees minimize: "squared_error", "absolute_error", "huber", "quantile",
        "poisson" or "gamma".
    quantile : float or None, default=None
        The quantile to predict, with loss="quantile"; None takes `alpha`.
    alpha : float, default=0.9
        The quantile of |r| that is Huber's δ, found anew in every round; or the quantile to
        predict.

    See Also
    --------
    RandomForestRegressor : Trees that do not depend on each other.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import HistGradientBoostingRegressor
    >>> x = np.linspace(0.0, 6.0, 400)[:, None]
    >>> model = HistGradientBoostingRegressor().fit(x, np.sin(x[:, 0]))
    >>> bool(np.abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.2)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **HistBoosting._parameter_constraints,
        "loss": [StrOptions(set(REGRESSION_LOSSES))],
        "quantile": [Interval(Real, 0, 1, closed="both"), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        alpha: float = 0.9,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: Any = "auto",
        l2_regularization: float = 0.0,
        categorical_smoothing: float = 10.0,
        subsample: float = 1.0,
        max_features: int | float = 1.0,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        early_stopping: bool | str = False,
        keep_best: bool = False,
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        record: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.loss = loss
        self.quantile = quantile
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.categorical_smoothing = categorical_smoothing
        self.subsample = subsample
        self.max_features = max_features
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.early_stopping = early_stopping
        self.keep_best = keep_best
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.record = record
        self.random_state = random_state
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        kind = REGRESSION_LOSSES[self.loss]
        if self.loss in ("squared_error", *LOG_LINKS):
            return kind(y, w)
        if self.loss == "quantile" and self.quantile is not None:
            return kind(y, w, self.quantile)
        return kind(y, w, self.alpha)

    def _codes(self, y: Target) -> np.ndarray:
        return np.asarray(y, dtype=np.float64)

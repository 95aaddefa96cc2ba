"""Gaussian classes whose covariances are shrunk to the pooled one and to a simple shape."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgWarning
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import finite_sums
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.probability import RIDGE, whiten
from lyceum._core.statistics import (
    ClassRowScatter,
    ClassScatter,
    Folds,
    RowSpace,
    SplitStatistics,
    folds_of,
    is_wide,
    seed_from,
)
from lyceum._core.types import Categories, Data, Estimator, Priors, Target, Weights
from lyceum.bayes.discriminant import DISCRIMINANT_CONSTRAINTS, QuadraticRule
from lyceum.bayes.few_rows import regularized_covariances, shrinkage_target
from lyceum.bayes.fold_rules import (
    FoldLoss,
    FoldRules,
    RuleSettings,
    combine_covariances,
)
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.report import Summary, Table

_GRID = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
_DRAWS = 20  # of folds, until one row can be scored
_NUMBERS = 1 << 26  # in the rules of one pass: half a gigabyte


def _has_numbers(model: Estimator) -> bool:
    if all(isinstance(value, Real) for value in (model.alpha, model.gamma)):
        return True
    raise AttributeError(
        "RegularizedDiscriminant has partial_fit only when alpha and gamma are numbers:"
        " cross-validation reads all rows twice"
    )


class RegularizedDiscriminant(QuadraticRule):
    """Regularized discriminant: between the linear rule, the quadratic rule and the nearest mean.

    P(k | x) ∝ π_k N(x; μ_k, Σ_k(α, γ)), with the covariances of the classes shrunk first to the
    pooled one and then to a multiple of the identity, to the identity, or to their own diagonal:

    Σ_k(α) = [(1-α) n_k Σ_k + α N Σ] / [(1-α) n_k + α N],
    Σ_k(α, γ) = (1-γ) Σ_k(α) + γ tr(Σ_k(α))/d I.

    α = 0, γ = 0 is `QuadraticDiscriminantAnalysis`; α = 1, γ = 0 is `LinearDiscriminantAnalysis`; α
    = 1, γ = 1 is the nearest class mean, apart from the priors. Columns that are constant over all
    rows are left out and not counted in d. A class without any scatter of its own, as one of a
    single row, has the pooled covariance when α is 0. A covariance that is still singular (with γ =
    0) gets 1e-6 of the variance of each column on its diagonal, with a warning that names the
    class. A class without rows is never predicted.

    α and γ are chosen by cross-validation from two passes over the rows for a grid of any size: the
    first collects means and scatters by class and fold, and the statistics without a fold give the
    rules that the second pass scores on its rows. The fold of a row is a hash of its number and of
    `random_state`. Rows of a class that has rows in one fold only are not scored.

    Parameters
    ----------
    alpha : float in [0, 1], "cv" or array of candidates, default="cv"
        The share of the pooled covariance. "cv" chooses among 0, 0.1, 0.25, 0.5, 0.75, 0.9 and 1.
    pooling : {"weighted", "convex"}, default="weighted"
        How class and pooled covariance are mixed: by their weights as above, or (1-α) Σ_k + α Σ.
    gamma : float in [0, 1], "cv" or array of candidates, default="cv"
        The share of the simple shape.
    shrinkage : {"identity", "unit", "diagonal"}, default="identity"
        The simple shape: tr(Σ_k(α))/d I, which follows the units of the columns; "unit": I itself,
        for columns of about unit variance; or the diagonal of Σ_k(α). On the diagonal a column that
        has no variance in the class counts with its variance over all rows.
    scoring : {"log_loss", "error"}, default="log_loss"
        The loss that cross-validation minimizes: the mean of -log P(class | x), or the error rate.
        Of equal pairs the one with the largest α, then γ, is taken.
    cv : int, splitter, iterable of (train, test) or None, default=5
        The folds; a number divides rows of any source in one pass.
    unbiased : bool, default=False
        Divide by n_k - 1 instead of n_k, and by N - K instead of N.

    Attributes
    ----------
    alpha_, gamma_ : float
        The values used.
    alphas_, gammas_ : array
        The candidate values.
    scores_ : array of shape (number of alphas, number of gammas)
        The mean loss of every pair on the rows left out; only after cross-validation.
    seed_ : int
        The seed of the folds; only after cross-validation.
    covariance_ : array of shape (K, d, d), or list of K LowRankCovariance
        Σ_k(α, γ); by a diagonal and rows where there are over 1,000 columns and fewer rows.
    statistic_ : ClassScatter or ClassRowScatter
        The merged statistic of all rows seen.

    See Also
    --------
    LinearDiscriminantAnalysis : α = 1, γ = 0.
    QuadraticDiscriminantAnalysis : α = 0, γ = 0.

    References
    ----------
    J. H. Friedman, "Regularized discriminant analysis", Journal of the American Statistical
    Association 84, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.bayes import RegularizedDiscriminant
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 20)) + 0.7 * y[:, None]  # few rows, many columns, one round shape
    >>> model = RegularizedDiscriminant(alpha=1.0, random_state=0).fit(X, y)
    >>> model.gamma_
    0.9
    """

    covariance = "full"
    _reads_rows = "many passes"
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [
            Interval(Real, 0, 1, closed="both"),
            StrOptions({"cv"}),
            "array-like",
        ],
        "gamma": [
            Interval(Real, 0, 1, closed="both"),
            StrOptions({"cv"}),
            "array-like",
        ],
        "pooling": [StrOptions({"weighted", "convex"})],
        "shrinkage": [StrOptions({"identity", "unit", "diagonal"})],
        "scoring": [StrOptions({"log_loss", "error"})],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        **DISCRIMINANT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        alpha: Any = "cv",
        gamma: object = "cv",
        pooling: str = "weighted",
        shrinkage: str = "identity",
        scoring: str = "log_loss",
        cv: Any = 5,
        unbiased: bool = False,
        priors: Priors = None,
        prior_alpha: ArrayLike = 1.0,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.gamma = gamma
        self.pooling = pooling
        self.shrinkage = shrinkage
        self.scoring = scoring
        self.cv = cv
        self.unbiased = unbiased
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.random_state = random_state
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from all rows of X: one pass, or two when α or γ is to be chosen.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        self.alphas_, self.gammas_ = self._candidates()
        if len(self.alphas_) * len(self.gammas_) > 1:
            self.statistic_ = self._choose(rows)
        else:
            self.statistic_ = finite_sums(rows.reduce(self._statistic_for(rows)))
            for name in ("scores_", "seed_"):
                self.__dict__.pop(name, None)
        self._finish(self.statistic_)
        return self

    @available_if(_has_numbers)
    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """Learn from more rows with given α and γ: the result is that of one `fit` on all rows
        seen.

        New classes may come at any time; `classes` names those that will, so that they are in
        `classes_` at once.
        """
        return self._partial_fit(X, y, sample_weight, classes)

    def _candidates(self) -> tuple[np.ndarray, np.ndarray]:
        alphas = _candidate_values("alpha", self.alpha)
        return alphas, _candidate_values("gamma", self.gamma)

    def _choose(self, rows: Rows) -> ClassScatter | ClassRowScatter:
        """Score every pair on the rows left out; returns the statistic of all rows."""
        # Fewer rows than columns: in the space that the rows span, which has as many columns as
        # rows; `beyond` counts the other directions, in which no row differs from another.
        beyond = 0
        given = rows
        if is_wide(rows):
            rows, beyond = self._rotate(rows)
        folds, statistics = self._draw_folds(rows)
        settings = RuleSettings(
            priors=self.priors,
            prior_alpha=self.prior_alpha,
            unbiased=self.unbiased,
            shrinkage=self.shrinkage,
            pooling=self.pooling,
            beyond=beyond,
        )
        # as many alphas in one pass as memory allows: all of them unless there are hundreds of
        # columns
        rule_size = max(1, folds.n_splits * statistics.total.scatter.size)
        size = max(1, _NUMBERS // rule_size)
        losses = []
        for start in range(0, len(self.alphas_), size):
            alphas = self.alphas_[start : start + size]
            rules = FoldRules.of(folds, statistics, alphas, self.gammas_, settings)
            loss = partial(FoldLoss.of, rules=rules, scoring=self.scoring)
            losses.append(rows.reduce(loss))
        self.scores_ = np.concatenate([part.loss for part in losses])
        self.scores_ /= losses[0].weight
        if is_wide(given):
            return finite_sums(given.reduce(ClassRowScatter.of))
        return statistics.total

    def _draw_folds(self, rows: Rows) -> tuple[Folds, SplitStatistics]:
        """Folds of which at least one row can be scored; of few rows all may fall into one fold by
        chance."""
        first = seed_from(self.random_state)
        for seed in range(first, first + _DRAWS):
            self.seed_ = seed
            folds = folds_of(self.cv, rows, seed, classifier=True)
            statistics = folds.statistics(rows, ClassScatter.of, _finite_reduction)
            pairs = statistics.pairs
            if any(
                ((train.weight > 0) & (test.weight > 0)).any() for train, test in pairs
            ):
                return folds, statistics
        raise DataError(
            f"alpha and gamma cannot be cross-validated with {statistics.total.n_rows} sample(s):"
            f" no class has rows in two of the {folds.n_splits} folds; give numbers for both, or"
            " bring more rows"
        )

    def _rotate(self, rows: Rows) -> tuple[Rows, int]:
        if self.shrinkage == "diagonal":
            raise SettingError(
                "with fewer rows than columns, alpha and gamma are cross-validated for"
                " shrinkage='identity' alone: it is done among as many turned columns as there are"
                " rows, where a diagonal of the columns is no diagonal; give numbers for both"
            )
        space = RowSpace.of(rows, type(self).__name__)
        return space.rows, space.beyond

    def _finish(self, statistic: ClassScatter | ClassRowScatter) -> None:
        log_priors, total_variance = self._finish_classes(statistic)
        self.alphas_, self.gammas_ = self._candidates()
        self.alpha_, self.gamma_ = self._best()
        if isinstance(statistic, ClassRowScatter):
            low_rank, needy = regularized_covariances(
                statistic, total_variance, self.alpha_, self.gamma_, self
            )
            for k in [k for k in needy if self.class_count_[k] > 0][:1]:
                self._warn_of(k)
            self._set_few_rows(low_rank, log_priors, total_variance)
            return
        mixed = combine_covariances(
            statistic.scatter,
            statistic.weight,
            self.alpha_,
            lost_degrees=int(self.unbiased),
            pooling=self.pooling,
        )
        covariances = [self._shrink(S, total_variance) for S in mixed]
        white = [whiten(S, total_variance) for S in covariances]
        has_rows = self.class_count_ > 0
        singular = [
            k for k, w in enumerate(white) if w.dependent is not None and has_rows[k]
        ]
        if singular:
            self._warn_of(singular[0])
        self.covariance_ = np.stack(
            [S + np.diag(w.ridge) for S, w in zip(covariances, white)]
        )
        self._whiten = np.stack([w.W for w in white])
        self._set_constant(log_priors, white, total_variance)

    def _shrink(self, S: np.ndarray, total_variance: np.ndarray) -> np.ndarray:
        """(1-γ) Σ_k(α) + γ target."""
        target = shrinkage_target(np.diag(S), total_variance, self.shrinkage)
        return (1.0 - self.gamma_) * S + self.gamma_ * np.diag(target)

    def _best(self) -> tuple[float, float]:
        if len(self.alphas_) * len(self.gammas_) == 1:
            return float(self.alphas_[0]), float(self.gammas_[0])
        # the last of equal pairs, candidates being ascending
        a, g = np.argwhere(self.scores_ == np.nanmin(self.scores_))[-1]
        return float(self.alphas_[a]), float(self.gammas_[g])

    def _n_parameters(self) -> float:
        """Means, priors, and the trace of the map that takes the classes' own covariances to those
        used.

        A class has the share s_k = (1-w_k) + w_k n_k / N of its own covariance in Σ_k(α); of its
        entries, those off the diagonal count 1-γ, and those on it what γ leaves. At the corners
        these are the counts of the linear and the quadratic rule, of one variance per class, and of
        one for all.
        """
        weight = self.class_count_[self.class_count_ > 0]
        d = self._n_used_columns()
        gamma = self.gamma_
        alpha = self.alpha_
        N = weight.sum()
        # w_k, the weight of the pooled covariance, and Σ_k s_k
        pooled = alpha
        if self.pooling != "convex":
            pooled = alpha * N / ((1.0 - alpha) * weight + alpha * N)
        own = float((1.0 - pooled + pooled * weight / N).sum())
        on_diagonal = {
            "identity": (1.0 - gamma) * d + gamma,
            "unit": (1.0 - gamma) * d,
            "diagonal": float(d),
        }
        entries = (1.0 - gamma) * d * (d - 1) / 2 + on_diagonal[self.shrinkage]
        return self._n_shares() + len(weight) * d + own * entries

    def _warn_of(self, k: int) -> None:
        warnings.warn(
            f"RegularizedDiscriminant: with alpha={self.alpha_:g} and gamma={self.gamma_:g} the"
            f" covariance of class {self.classes_.tolist()[k]!r} is singular; {RIDGE:g} of the"
            " variance of each column was added. Choose a gamma above 0, an alpha above 0 if other"
            " classes have more rows, or drop columns that follow from others",
            LinAlgWarning,
            stacklevel=4,
        )

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """Priors, means, α and γ, and the losses that they were chosen by."""
        head = super().summary()
        facts = {
            **head.facts,
            "alpha": self.alpha_,
            "gamma": self.gamma_,
            "shrunk to": self.shrinkage,
        }
        tables = [*head.tables]
        if hasattr(self, "scores_"):
            heads = ("alpha", *(f"gamma {gamma:g}" for gamma in self.gammas_))
            losses = [
                (float(alpha), *row) for alpha, row in zip(self.alphas_, self.scores_)
            ]
            if isinstance(self.cv, Integral):
                folds = f"{self.cv}-fold"
            else:
                folds = "its"
            tables.append(
                Table(f"{self.scoring} of {folds} cross-validation", heads, losses)
            )
        return replace(head, facts=facts, tables=tables)

    def _divisor(self) -> str:
        if self.unbiased:
            return "n_k - 1, N - K (unbiased)"
        return "n_k, N (maximum likelihood)"


def _candidate_values(name: str, given: object) -> np.ndarray:
    if isinstance(given, str):
        return _GRID
    values = np.unique(number_setting(name, given))
    if values.ndim != 1 or not len(values) or not ((values >= 0) & (values <= 1)).all():
        raise SettingError(
            f"{name} must be in [0, 1], or several such numbers, but it is {given}"
        )
    return values


def _finite_reduction(rows: Rows, of: Any) -> Any:
    return finite_sums(rows.reduce(of))

"""Gaussian classes with one covariance: a linear rule."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgWarning
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import NewColumns
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.probability import (
    RIDGE,
    LowRankCovariance,
    gaussian_log_density,
    runner_up_odds,
    whiten,
)
from lyceum._core.statistics import ClassMoments, ClassRowScatter, ClassScatter
from lyceum._core.text import show_count
from lyceum._core.types import Categories, Data, Priors
from lyceum.bayes.class_covariances import SHRINKAGE, shrink
from lyceum.bayes.discriminant import (
    DISCRIMINANT_CONSTRAINTS,
    ClassStatistic,
    Discriminant,
    apply_structure,
)
from lyceum.bayes.few_rows import check_covariances, pooled_covariance
from lyceum.errors import SettingError, number_setting
from lyceum.report import Summary, Table


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, NewColumns, Discriminant
):
    """Linear discriminant: Gaussian classes that share one covariance.

    P(k | x) ∝ π_k N(x; μ_k, Σ). Terms that depend on x alone cancel, and the rule is linear:
    δ_k(x) = (x - x̄)ᵀ Σ⁻¹ (μ_k - x̄) - ½ (μ_k - x̄)ᵀ Σ⁻¹ (μ_k - x̄) + log π_k,
    with x̄ = Σ_k π_k μ_k, the mean of all rows unless priors are given.

    Σ is the scatter of the rows about the means of their classes, divided by N (maximum likelihood)
    or N - K (unbiased). If it is singular, 1e-6 of the variance of each column is added to its
    diagonal, with a warning that names the first column that follows from others. A column that is
    constant over all rows is left out. A class without rows is never predicted. Categories are
    coded without their first one, so that they do not make Σ singular.

    Parameters
    ----------
    covariance : {"full", "diagonal", "spherical", "identity"}, default="full"
        The structure of Σ: any; diagonal; σ²I, with σ² the mean of the variances; or I, which with
        `priors="uniform"` gives the class of the nearest mean.
    shrinkage : float in [0, 1], "auto" or None, default=None
        s of the covariance (1 - s) Σ + s σ²I, with σ² the mean of its variances; "auto": by Ledoit
        and Wolf for every class, from rows in memory, with the solver "lsqr" or "eigen".
    n_components : int or None, default=None
        The directions that `transform` keeps, at most min(K - 1, d); None: all of them.
    covariance_estimator : estimator, default=None
        Its `covariance_` of the rows of a class is taken, with the solver "lsqr" or "eigen"; Σ is
        the mean over the classes by their priors.
    unbiased : bool, default=False
        Divide by N - K instead of N.

    Attributes
    ----------
    covariance_ : array of shape (d, d), or (d,) unless `covariance` is "full"
        Σ as the rule uses it, the ridge included; only its diagonal unless it is full.
        Where there are over 1,000 columns and fewer rows, a `LowRankCovariance`.
    coef_ : array of shape (K, d), or (1, d) with two classes
        Σ⁻¹(μ_k - x̄); with two classes the difference of the second and the first.
    intercept_ : array of shape (K,) or (1,)
        The constants of the rule that belong to `coef_`.
    xbar_ : array of shape (d,)
        x̄, from which `transform` measures.
    scalings_ : array of shape (d, min(K - 1, d))
        The directions of `transform`, whose scores have variance 1 within the classes: the ratio of
        the variance between and within the classes falls from the first to the last.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of every direction in the variance between the classes.

    See Also
    --------
    QuadraticDiscriminantAnalysis : A covariance for every class.
    RegularizedDiscriminant : Between the linear and the quadratic rule.
    lyceum.linear.LogisticRegression : The same form of posterior, fitted directly.

    References
    ----------
    R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7,
    1936.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.bayes import LinearDiscriminantAnalysis
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [4.0, 5.0], [5.0, 4.0], [5.0, 5.0]])
    >>> model = LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[1.0, 1.0], [4.0, 4.0]])
    array([0, 1])
    >>> bool(abs(model.decision_function([[2.5, 2.5]])[0]) < 1e-9)
    True
    """

    _pooled = True
    _parameter_constraints: ClassVar[dict] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": SHRINKAGE,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "covariance": [StrOptions({"full", "diagonal", "spherical", "identity"})],
        **DISCRIMINANT_CONSTRAINTS,
    }

    _without_effect: ClassVar[dict[str, str]] = {
        "solver": "the pooled covariance is factored, whatever its name",
        "store_covariance": "`covariance_` is always there",
        "tol": "a singular covariance gets a ridge, with a warning",
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: Priors = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        covariance: str = "full",
        unbiased: bool = False,
        prior_alpha: ArrayLike = 1.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.covariance = covariance
        self.unbiased = unbiased
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def _given_priors(self) -> Any:
        """Shares that do not sum to 1 are divided by their sum, with a warning, as
        scikit-learn does."""
        if self.priors is None or isinstance(self.priors, str):
            return self.priors
        given = number_setting("priors", self.priors)
        total = given.sum()
        if (given < 0).any() or total <= 0 or np.isclose(total, 1.0):
            return given
        warnings.warn(
            f"The priors do not sum to 1 but to {total:g}. Renormalizing",
            UserWarning,
            stacklevel=6,
        )
        return given / total

    def _finish(self, statistic: ClassStatistic) -> None:
        log_priors, total_variance = self._finish_classes(statistic)
        if isinstance(statistic, ClassRowScatter):
            self._finish_few_rows(statistic, log_priors, total_variance)
            return
        covariance = self._covariance(statistic)
        white = whiten(covariance, apply_structure(self.covariance, total_variance))
        if white.dependent is not None:
            self._warn_of(white.dependent)
        diagonal = covariance.ndim == 1
        ridge = white.ridge
        if not diagonal:
            ridge = np.diag(ridge)
        self.covariance_: np.ndarray | LowRankCovariance = covariance + ridge
        # With m = μ_k - x̄ and Σ⁻¹ = Wᵀ W: the coefficients mᵀ Wᵀ W, and the constant
        # log π_k - ½ |W m|² - coefᵀ x̄. About x̄, so that a large offset does not cancel.
        center = self.priors_ @ self.means_
        self._set_directions(white.W, center)
        centered = white.apply(self.means_ - center)
        coef = centered * white.W if diagonal else centered @ white.W
        self._set_rule(
            coef, log_priors - 0.5 * (centered**2).sum(axis=1) - coef @ center
        )

    def _finish_few_rows(
        self,
        statistic: ClassRowScatter,
        log_priors: np.ndarray,
        total_variance: np.ndarray,
    ) -> None:
        for name in ("scalings_", "explained_variance_ratio_", "xbar_"):
            self.__dict__.pop(name, None)
        scatter = statistic.pooled_rows()
        divisor = self._degrees_left(bool(scatter.any()))
        self.covariance_ = pooled_covariance(statistic, divisor, total_variance)
        self._warn(
            f"it has {show_count(statistic.n_rows, 'row')} and"
            f" {show_count(len(self.mean_), 'column')}"
        )
        center = self.priors_ @ self.means_
        centered = self.means_ - center
        coef = self.covariance_.solve(centered)
        self._set_rule(
            coef, log_priors - 0.5 * (centered * coef).sum(axis=1) - coef @ center
        )

    def _set_rule(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """One row per class; of two classes the second against the first."""
        if len(self.classes_) == 2:
            coef = np.diff(coef, axis=0)
            intercept = np.diff(intercept)
        self.coef_ = coef
        self.intercept_ = intercept

    def _covariance(self, statistic: ClassMoments | ClassScatter) -> np.ndarray:
        """The pooled covariance, or its diagonal, before any ridge."""
        if self.covariance == "identity":
            return np.ones(len(self.mean_))
        if hasattr(self, "_class_covariances"):
            return np.tensordot(self.priors_, self._class_covariances, axes=1)
        scatter = statistic.scatter.sum(axis=0)
        left = self._degrees_left(bool(scatter.any()))
        if scatter.ndim != 2:
            scatter = apply_structure(self.covariance, scatter)
        if left <= 0:
            return np.zeros_like(scatter)
        return shrink(scatter / left, self.shrinkage)

    # -- directions --------------------------------------------------------------------

    @property
    def _n_directions(self) -> int:
        most = min(len(self.classes_) - 1, len(self.mean_))
        if self.n_components is None or most == 0:
            return most
        if self.n_components > most:
            raise SettingError(
                "n_components cannot be larger than min(n_features, n_classes - 1):"
                f" {self.n_components} > {most}"
            )
        return int(self.n_components)

    def _set_directions(self, W: np.ndarray, center: np.ndarray) -> None:
        """With Σ⁻¹ = Wᵀ W: the singular vectors of √π_k W (μ_k - x̄), taken back by Wᵀ."""
        most = min(len(self.classes_) - 1, len(self.mean_))
        roots = np.sqrt(self.priors_)[:, None]
        white = (
            (self.means_ - center) * W if W.ndim == 1 else (self.means_ - center) @ W.T
        )
        _, sizes, V = np.linalg.svd(roots * white, full_matrices=False)
        back = V[:most].T
        self.scalings_ = back * W[:, None] if W.ndim == 1 else W.T @ back
        squares = sizes[:most] ** 2
        total = float(squares.sum()) or 1.0
        self.explained_variance_ratio_ = (squares / total)[: self._n_directions]
        self.xbar_ = center

    def transform(self, X: Data) -> Any:
        """The rows on the directions that part the classes best, (n, n_components)."""
        check_is_fitted(self)
        if not hasattr(self, "scalings_"):
            raise SettingError(
                "transform needs a covariance of all columns, and there are fewer rows than"
                " columns: lyceum.decomposition.DiscriminantProjection takes them"
            )
        return self._in_new_columns(partial(_directions, self), X)

    @property
    def _n_features_out(self) -> int:
        return self._n_directions

    def _degrees_left(self, has_scatter: bool) -> float:
        """What the scatter is divided by: N, or N - K."""
        left = float(self.class_count_.sum())
        if self.unbiased:
            left -= self._n_classes_used()
        if left <= 0 and has_scatter:
            raise SettingError(
                f"unbiased=True divides by N - K, which is {left:g} here: the weights must count"
                " rows and there must be more rows than classes; or use unbiased=False"
            )
        return left

    def _warn_of(self, dependent: int) -> None:
        name = self.design_names[dependent]
        self._warn(
            f"column {name!r} has no variance there that the columns before it leave unexplained"
        )

    def _warn(self, why: str) -> None:
        warnings.warn(
            f"LinearDiscriminantAnalysis: the covariance within the classes is singular, {why};"
            f" {RIDGE:g} of the variance of each column was added. Drop such columns, bring more"
            " rows than columns, or use covariance='diagonal' or 'spherical'",
            LinAlgWarning,
            stacklevel=5,
        )

    # -- predict -----------------------------------------------------------------------

    def _linear_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """One rule per class; of two classes the first has zeros."""
        if len(self.classes_) != 2:
            return np.ascontiguousarray(self.coef_), self.intercept_
        coef = np.vstack([np.zeros_like(self.coef_), self.coef_])
        return coef, np.array([0.0, *self.intercept_])

    def _log_joint(self, block: Block) -> np.ndarray:
        coef = self.coef_.astype(np.float64, copy=False)
        if len(self.classes_) != 2:
            joint = block.X @ coef.T
            joint += self.intercept_
            return joint
        joint = np.zeros((len(block), 2))
        log_odds = block.X @ coef[0]
        np.add(log_odds, self.intercept_, out=joint[:, 1])
        return joint

    def _joint_density(self, block: Block) -> np.ndarray:
        # with the terms that depend on x alone, which the linear rule leaves out
        priors = self._log_priors()
        S = self.covariance_
        if isinstance(S, LowRankCovariance):
            n_used = np.count_nonzero(S.diagonal)
            peak = -0.5 * (S.log_det + n_used * np.log(2.0 * np.pi))
            squares = [S.squared_distances(block.X - mean) for mean in self.means_]
            return priors + peak - 0.5 * np.column_stack(squares)
        variances = S if S.ndim == 1 else np.diag(S)
        white = whiten(S, variances)
        n_used = np.count_nonzero(variances)
        peak = -0.5 * (white.log_det + n_used * np.log(2.0 * np.pi))
        W = np.broadcast_to(white.W, (len(priors), *white.W.shape))
        return gaussian_log_density(
            block.X, self.means_, np.ascontiguousarray(W), priors + peak
        )

    def _n_parameters(self) -> int:
        return self._count_parameters("linear_discriminant")

    # -- what was learned --------------------------------------------------------------

    def _column_odds(self, block: Block) -> np.ndarray:
        coef, intercept = self._linear_rule()
        terms = (block.X - self.mean_)[:, None, :] * coef
        return runner_up_odds(terms, intercept + coef @ self.mean_)

    def summary(self) -> Summary:
        """Priors, means and the coefficients of the rule."""
        head = super().summary()
        heads = [str(label) for label in self.classes_]
        if len(heads) == 2:
            heads = [f"{heads[1]} against {heads[0]}"]
        rows = [
            (name, *values) for name, values in zip(self.design_names, self.coef_.T)
        ]
        rows.append(("(intercept)", *self.intercept_))
        rule = Table("Log-odds", ("column", *heads), rows)
        return replace(head, tables=[*head.tables, rule])

    def _divisor(self) -> str:
        if self.covariance == "identity":
            return "nothing: the identity is not estimated"
        if self.unbiased:
            return "N - K (unbiased)"
        return "N (maximum likelihood)"

    def _check_model(self) -> None:
        super()._check_model()
        if self._has_few_rows:
            check_covariances([self.covariance_], (1, len(self.design_names)))

    def _in_type_of_rows(self) -> tuple[str, ...]:
        return ("coef_", "intercept_")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        d = len(self.design_names)
        rules = 1 if K == 2 else K
        return {
            "coef_": (rules, d),
            "intercept_": (rules,),
            "mean_": (d,),
            "means_": (K, d),
            "priors_": (K,),
        }


def _directions(learner: LinearDiscriminantAnalysis, block: Block) -> np.ndarray:
    kept = learner.scalings_[:, : learner._n_directions]
    return (block.X - learner.xbar_) @ kept

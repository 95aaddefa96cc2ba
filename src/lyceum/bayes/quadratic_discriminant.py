"""Gaussian classes, each with its own covariance: a quadratic rule."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgWarning

from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.probability import Whitening, whiten
from lyceum._core.statistics import ClassRowScatter
from lyceum._core.text import show, show_count
from lyceum._core.types import Categories, Priors
from lyceum.bayes.class_covariances import SHRINKAGE, shrink
from lyceum.bayes.discriminant import (
    DISCRIMINANT_CONSTRAINTS,
    ClassStatistic,
    QuadraticRule,
    apply_structure,
)
from lyceum.bayes.few_rows import borrowed_covariances


class QuadraticDiscriminantAnalysis(QuadraticRule):
    """Quadratic discriminant: Gaussian classes, each with its own covariance.

    P(k | x) ∝ π_k N(x; μ_k, Σ_k), that is
    δ_k(x) = log π_k - ½ log |Σ_k| - ½ (x - μ_k)ᵀ Σ_k⁻¹ (x - μ_k).

    Σ_k is the scatter of the rows of class k, divided by n_k (maximum likelihood) or n_k - 1
    (unbiased). A class whose covariance is singular (as with fewer rows than columns, or a column
    without variance in the class) borrows the covariance pooled over the classes with the weight of
    one row, (S_k + Σ) / (n_k + 1), with a warning that names the class. A column that is constant
    over all rows is left out. A class without rows is never predicted. Categories are coded without
    their first one.

    Parameters
    ----------
    shrinkage : float in [0, 1], "auto" or None, default=None
        s of the covariances (1 - s) Σ_k + s σ_k²I, with σ_k² the mean of the variances; "auto": by
        Ledoit and Wolf, from rows in memory, with solver="eigen".
    reg_param : float in [0, 1], default=0.0
        r of the covariances (1 - r) Σ_k + r I, after shrinkage.
    covariance_estimator : estimator, default=None
        Its `covariance_` of the rows of a class is Σ_k, with solver="eigen".
    covariance : {"full", "diagonal", "spherical"}, default="full"
        The structure of every Σ_k: any; diagonal; or σ_k² I, with σ_k² the mean of the variances.
    unbiased : bool, default=False
        Divide by n_k - 1 instead of n_k.

    Attributes
    ----------
    covariance_ : array of shape (K, d, d), or (K, d) unless `covariance` is "full"
        Σ_k as the rule uses them; only their diagonals unless they are full. Where there are over
        1,000 columns and fewer rows, a list of K `LowRankCovariance`.
    scalings_, rotations_ : lists of arrays of shape (d,) and (d, d)
        The eigenvalues of every Σ_k, falling, and its eigenvectors in columns.
    borrowed_ : array of shape (K,), of bool
        The classes whose covariance was singular.

    See Also
    --------
    LinearDiscriminantAnalysis : One covariance for all classes.
    RegularizedDiscriminant : Covariances drawn to the pooled one.
    BayesianGaussianClassifier : Averages over means and covariances.

    References
    ----------
    T. Hastie, R. Tibshirani and J. Friedman, "The Elements of Statistical Learning", second
    edition, Springer, 2009, section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.bayes import QuadraticDiscriminantAnalysis
    >>> X = np.array([[0.0], [0.2], [-0.2], [-3.0], [3.0], [4.0], [-4.0]])
    >>> model = QuadraticDiscriminantAnalysis().fit(X, ["near"] * 3 + ["far"] * 4)
    >>> model.predict([[-2.0], [0.1], [2.0]]).tolist()
    ['far', 'near', 'far']
    """

    _parameter_constraints: ClassVar[dict] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": SHRINKAGE,
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "covariance": [StrOptions({"full", "diagonal", "spherical"})],
        **DISCRIMINANT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: Priors = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        covariance: str = "full",
        unbiased: bool = False,
        prior_alpha: ArrayLike = 1.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.covariance = covariance
        self.unbiased = unbiased
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    _without_effect: ClassVar[dict[str, str]] = {
        "solver": "the covariances are factored, whatever its name",
        "store_covariance": "`covariance_` is always there",
        "tol": "a singular covariance borrows from the pooled one, with a warning",
    }

    # -- fit ---------------------------------------------------------------------------

    def _finish(self, statistic: ClassStatistic) -> None:
        log_priors, total_variance = self._finish_classes(statistic)
        if isinstance(statistic, ClassRowScatter):
            covariances = borrowed_covariances(statistic, total_variance)
            self._set_few_rows(covariances, log_priors, total_variance)
            varies = bool((total_variance > 0).any())
            self.borrowed_ = np.full(len(self.classes_), varies)
            self._warn_of(np.flatnonzero(self.borrowed_ & (self.class_count_ > 0)))
            return
        scatter = statistic.scatter
        if hasattr(self, "_class_covariances"):
            left = (self.class_count_ - self.unbiased)[:, None, None]
            scatter = self._class_covariances * left
        if self.covariance != "full":
            scatter = apply_structure(self.covariance, scatter)
        total_variance = apply_structure(self.covariance, total_variance)
        pooled = self._pooled_covariance(scatter, total_variance)
        fits = [
            self._class(S, n, pooled, total_variance)
            for S, n in zip(scatter, self.class_count_)
        ]
        self.covariance_ = np.stack([covariance for covariance, _, _ in fits])
        self.borrowed_ = np.array([borrowed for _, _, borrowed in fits])
        self._warn_of(np.flatnonzero(self.borrowed_ & (self.class_count_ > 0)))
        self._whiten = np.stack([white.W for _, white, _ in fits])
        self._set_constant(log_priors, [white for _, white, _ in fits], total_variance)

    def _pooled_covariance(
        self, scatter: np.ndarray, total_variance: np.ndarray
    ) -> np.ndarray:
        """Σ over all classes, made regular: what classes without one of their own borrow."""
        pooled = scatter.sum(axis=0) / self.class_count_.sum()
        ridge = whiten(pooled, total_variance).ridge
        if pooled.ndim == 2:
            ridge = np.diag(ridge)
        return pooled + ridge

    def _class(
        self, S: np.ndarray, n: float, pooled: np.ndarray, total_variance: np.ndarray
    ) -> tuple[np.ndarray, Whitening, bool]:
        """The covariance of one class, its whitening, and whether it had to borrow."""
        left = n - self.unbiased
        if left > 0:
            covariance = self._regularized(S / left)
            white = whiten(covariance, total_variance)
            if white.dependent is None:
                return covariance, white, False
        borrowed = (S + pooled) / (n + 1.0)
        varies = bool((total_variance > 0).any())
        return borrowed, whiten(borrowed, total_variance), varies

    def _regularized(self, covariance: np.ndarray) -> np.ndarray:
        """(1 - r) Σ_k + r I, after shrinkage."""
        shrunk = shrink(covariance, self.shrinkage)
        if not self.reg_param:
            return shrunk
        unit = 1.0 if shrunk.ndim == 1 else np.eye(len(shrunk))
        return (1 - self.reg_param) * shrunk + self.reg_param * unit

    @property
    def scalings_(self) -> list[np.ndarray]:
        """The eigenvalues of the covariance of every class, falling."""
        return [values[::-1] for values, _ in self._spectra()]

    @property
    def rotations_(self) -> list[np.ndarray]:
        """The eigenvectors of the covariance of every class, in columns."""
        return [vectors[:, ::-1] for _, vectors in self._spectra()]

    def _spectra(self) -> list[Any]:
        if not hasattr(self, "covariance_"):
            raise AttributeError("the covariances are learned by fit")
        return [
            np.linalg.eigh(np.diag(S) if S.ndim == 1 else S)
            for S in np.asarray(self.covariance_)
        ]

    def _warn_of(self, singular: np.ndarray) -> None:
        if not len(singular):
            return
        k = singular[0]
        more = len(singular) - 1
        warnings.warn(
            f"QuadraticDiscriminantAnalysis: the covariance of class {self.classes_.tolist()[k]!r}"
            f" (weight {show(float(self.class_count_[k]))},"
            f" {show_count(len(self.mean_), 'column')}) "
            + (f"and of {more} other classes " if more else "")
            + "is singular: the pooled covariance was added to it with the weight of one row. Bring"
            " more rows of the class, drop columns that are constant in it or follow from others,"
            " or use covariance='diagonal' or LinearDiscriminantAnalysis",
            LinAlgWarning,
            stacklevel=4,
        )

    def _n_parameters(self) -> int:
        return self._count_parameters("quadratic_discriminant")

    # -- what was learned --------------------------------------------------------------

    def _divisor(self) -> str:
        if self.unbiased:
            return "n_k - 1 (unbiased)"
        return "n_k (maximum likelihood)"

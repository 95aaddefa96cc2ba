"""Fisher's discriminant projection: the directions that separate the classes most."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.linalg import LinAlgWarning
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, NewColumns, OnePassLearner
from lyceum._core.constraints import Interval
from lyceum._core.data import Block
from lyceum._core.probability import RIDGE, whiten
from lyceum._core.statistics import ClassScatter
from lyceum._core.types import Categories, Data
from lyceum.decomposition.components import Components
from lyceum.decomposition.projections.spectrum import with_signs
from lyceum.errors import DataError, SettingError
from lyceum.report import Explanation, Summary, Table


class DiscriminantProjection(
    ClassNamePrefixFeaturesOutMixin, Components, NewColumns, OnePassLearner
):
    """Fisher's linear discriminant as a projection: it separates the class means most for their
    spread.

    With the scatters within and between the classes,

        S_W = Σ_k Σ_{i in k} (x_i - m_k)(x_i - m_k)ᵀ,    S_B = Σ_k n_k (m_k - m)(m_k - m)ᵀ,

    the directions w maximize J(w) = wᵀ S_B w / wᵀ S_W w: the eigenvectors of S_W⁻¹ S_B with the
    largest eigenvalues, which are their J. For two classes it is w ∝ S_W⁻¹ (m_1 - m_2), for K
    classes there are at most K - 1. Scores have variance 1 within the classes. One pass;
    `partial_fit` adds rows.

    For two classes S_B is often written (m_1 - m_2)(m_1 - m_2)ᵀ, without weights. The one above is
    n_1 n_2 / N times that: w is the same, and J is larger by this factor.
    `mean_difference_scatter_` and `mean_difference_criterion_` are without it.

    Parameters
    ----------
    n_components : int or None, default=None
        How many directions to keep, at most min(K - 1, columns); None keeps all of them.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes one-of-C columns without that of the first
        category.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_columns)
        The directions w, in design columns.
    criterion_ : array of shape (n_components_,)
        J of every direction.
    within_scatter_ : array of shape (n_columns, n_columns)
        S_W.
    between_scatter_ : array of shape (n_columns, n_columns)
        S_B.
    mean_difference_scatter_ : array of shape (n_columns, n_columns)
        Of two classes, (m_1 - m_2)(m_1 - m_2)ᵀ.
    mean_difference_criterion_ : float
        Of two classes, J of the direction with that S_B.
    explained_variance_ratio_ : array of shape (n_components_,)
        J as a proportion of Σ J over all directions.
    means_ : array of shape (K, n_columns)
        The class means.
    mean_ : array of shape (n_columns,)
        The mean of all rows, which is subtracted.
    classes_ : array of shape (K,)
        The classes.
    n_components_ : int
        The number of directions.
    statistic_ : ClassScatter
        The merged statistic, which `partial_fit` adds to.

    See Also
    --------
    PCA : the directions of largest variance, without classes.
    lyceum.bayes.LinearDiscriminantAnalysis : the classifier of the same model.

    References
    ----------
    Fisher, R. A. (1936). The use of multiple measurements in taxonomic problems. Annals of Eugenics
    7. Rao, C. R. (1948). The utilization of multiple measurements in problems of biological
    classification. Journal of the Royal Statistical Society B 10.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.decomposition import DiscriminantProjection
    >>> X = np.array([[0.0, 0], [1, 1], [0, 1], [4, 0], [5, 1], [4, 1]])
    >>> fisher = DiscriminantProjection().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> fisher.components_.round(3).tolist(), fisher.criterion_.round(3).tolist()
    ([[2.0, -1.0]], [24.0])
    """

    _coding = "reference"
    _target_task = "classes"
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    classes_: np.ndarray

    def __init__(
        self,
        n_components: int | None = None,
        *,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def _statistic(self) -> Callable[[Block], ClassScatter]:
        return partial(ClassScatter.of, pooled=True)

    def _finish(self, statistic: ClassScatter) -> None:
        seen = statistic.weight > 0
        n = float(statistic.weight.sum())
        K = int(seen.sum())
        d = statistic.mean.shape[1]
        if not n:
            raise DataError("every row has weight zero: there is nothing to learn from")
        if K < 2:
            raise DataError(
                f"DiscriminantProjection needs at least 2 classes, but the target has {K} class"
            )
        most = min(K - 1, d)
        if self.n_components is not None and self.n_components > most:
            raise SettingError(
                f"n_components={self.n_components} must be between 1 and min(classes - 1,"
                f" columns)={most}"
            )
        means = statistic.mean[seen]
        weight = statistic.weight[seen]
        # about the first class, so that means a million away lose no digits
        moved = means - means[0]
        center = weight @ moved / n
        spread = moved - center
        self.mean_ = means[0] + center
        self.means_ = statistic.mean
        self.within_scatter_ = statistic.scatter[0]
        self.between_scatter_ = (spread.T * weight) @ spread
        factor = np.sqrt(weight)[:, None] * spread
        self._solve(factor, freedom=max(n - K, 1.0), most=most)

    def _solve(
        self,
        factor: np.ndarray,
        freedom: float,
        most: int,
    ) -> None:
        """The eigenvectors of S_W⁻¹ S_B from the singular values of the whitened class means."""
        # With W the whitening of S_W and F the class means times √weight (S_B = FᵀF), the right
        # singular vectors of F Wᵀ, taken back by W, are the directions, and s² / freedom is J.
        covariance = self.within_scatter_ / freedom
        variances = np.diag(covariance) + (factor**2).sum(axis=0) / freedom
        white = whiten(covariance, variances)
        if white.dependent is not None:
            self._warn_of(white.dependent)
        _, singular, V = linalg.svd(white.apply(factor), full_matrices=False)
        J = singular**2 / freedom
        if self.n_components is None:
            k = most
        else:
            k = int(self.n_components)
        self.components_ = with_signs(V[:k] @ white.W)
        self.criterion_ = J[:k]
        self.explained_variance_ratio_ = np.zeros(k)
        if J.sum():
            self.explained_variance_ratio_ = J[:k] / J.sum()
        self.n_components_ = k

    def _warn_of(self, dependent: int) -> None:
        warnings.warn(
            "DiscriminantProjection: the scatter within the classes is singular in column"
            f" {self.design_names[dependent]!r}: {RIDGE:g} of the variances was added. Drop columns"
            " that follow from others, or use PCA first",
            LinAlgWarning,
            stacklevel=6,
        )

    @property
    def mean_difference_scatter_(self) -> np.ndarray:
        """Of two classes, (m_1 - m_2)(m_1 - m_2)ᵀ: S_B without n_1 n_2 / N."""
        return self.between_scatter_ / self._pair_factor()

    @property
    def mean_difference_criterion_(self) -> float:
        """Of two classes, J of the direction with S_B = (m_1 - m_2)(m_1 - m_2)ᵀ."""
        return float(self.criterion_[0] / self._pair_factor())

    def _pair_factor(self) -> float:
        """n_1 n_2 / N of two classes."""
        weight = np.zeros(0)
        if hasattr(self, "statistic_"):
            weight = self.statistic_.weight
        seen = weight[weight > 0]
        if len(seen) != 2:
            raise AttributeError(
                f"(m_1 - m_2)(m_1 - m_2)ᵀ is of two classes, but there are {len(seen)}"
            )
        return float(seen.prod() / seen.sum())

    # -- use ---------------------------------------------------------------------------

    def transform(self, X: Data) -> Any:
        """The scores on the directions, w · (x - m).

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_components_)
        """
        return self._in_new_columns(self._scores, X)

    def _scores(self, block: Block) -> np.ndarray:
        # in the type of the cells, as float32 in gives float32 out
        scores = (block.X - self.mean_) @ self.components_.T
        return scores.astype(block.X.dtype, copy=False)

    def explain(self, X: Data, component: int = 0) -> Explanation:
        """What every column adds to the score on one direction, (x_j - m_j) w_j.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        component : int, default=0
            The number of the direction, from 0.

        Returns
        -------
        Explanation
        """
        self._check_component(component)
        parts = partial(_parts, self, component)
        unit = f"score on direction {component + 1}"
        return self._explain(X, parts, unit, labels=False)

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """J of every direction, the directions, and the class means on them."""
        check_is_fitted(self)
        names = [f"direction {k + 1}" for k in range(self.n_components_)]
        facts = {
            "classes": len(self.classes_),
            "columns": len(self.mean_),
            "directions": self.n_components_,
            "trace of S_W": float(np.trace(self.within_scatter_)),
            "trace of S_B": float(np.trace(self.between_scatter_)),
        }
        if hasattr(self, "mean_difference_criterion_"):
            facts["J with S_B = (m1 - m2)(m1 - m2)ᵀ"] = self.mean_difference_criterion_
        criterion = list(zip(names, self.criterion_, self.explained_variance_ratio_))
        weights = [
            (name, *column)
            for name, column in zip(self.design_names, self.components_.T)
        ]
        placed = (self.means_ - self.mean_) @ self.components_.T
        means = [(str(label), *row) for label, row in zip(self.classes_, placed)]
        tables = [
            Table("Criterion", ("direction", "J", "proportion"), criterion),
            Table("Directions", ("column", *names), weights),
            Table("Class means", ("class", *names), means),
        ]
        return Summary(self._title(), facts, tables)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.n_components_
        d = len(self.design_names)
        return {
            "components_": (k, d),
            "mean_": (d,),
            "criterion_": (k,),
        }

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _parts(
    fisher: DiscriminantProjection,
    component: int,
    block: Block,
) -> np.ndarray:
    """The score on a direction, zero, and what every column adds."""
    centered = np.asarray(block.X, dtype=np.float64) - fisher.mean_
    added = centered * fisher.components_[component]
    scores = added.sum(axis=1)
    return np.column_stack([scores, np.zeros(len(added)), added])

"""A mixture of Bernoullis: which columns are present, and categories; latent class analysis."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lyceum._core.constraints import Interval
from lyceum._core.data import Block, Schema, Step
from lyceum._core.statistics import Moments, indicators
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data
from lyceum.errors import SettingError
from lyceum.mixtures.start import ScaledCells
from lyceum.mixtures.table_mixture import TABLE_CONSTRAINTS, TableMixture


class BernoulliMixture(TableMixture):
    """Mixture of Bernoullis: p(x) = Σ_k π_k Π_j p_kj^x_j (1 - p_kj)^(1 - x_j), by
    expectation-maximization.

    x_j is 1 where a number is above `binarize`. A column of C > 2 categories has a distribution
    over them in every component, so that tables of categories are taken as they are (latent class
    analysis). Missing cells are left out, which is exact, as the columns are independent within a
    component. The M-step is p_kj = (Σ_i r_ik x_ij + α) / (n_k + 2 α).

    Parameters
    ----------
    alpha : float, default=0.1
        Added to every count, so that no probability is 0 or 1.
    binarize : float or None, default=0.0
        x_j is 1 for a cell above this number; None if cells are 0 and 1 already. At least 0 for
        sparse rows.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories: one column of 0 and 1 for two of them, one-of-C columns for
        more.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        The weights π_k.
    probabilities_ : array of shape (n_components, n_columns)
        The probabilities p_kj, in design columns.
    labels_ : array of int of shape (n_samples,)
        The most probable component of every row of `fit` (lazy on Dask).
    lower_bound_ : float
        The objective per unit of weight.
    n_iter_ : int
        The number of iterations.
    converged_ : bool
        Whether the last iteration gained at most `tol` per row.
    history_ : list of float
        The objective at the start and after every iteration.
    record_ : list of dict
        With `record=True`, for every step `step`, `objective`, `weights` and `probabilities`.

    See Also
    --------
    MultinomialMixture : counts instead of presence.
    GaussianMixture : for measurements.

    References
    ----------
    Bishop, C. M. (2006). Pattern Recognition and Machine Learning, section 9.3.3. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.mixtures import BernoulliMixture
    >>> X = np.array([[1.0, 1, 0, 0]] * 5 + [[0.0, 0, 1, 1]] * 5)
    >>> mixture = BernoulliMixture(2, random_state=0).fit(X)
    >>> np.sort(mixture.probabilities_[:, 0]).round(2).tolist()
    [0.02, 0.98]
    """

    _step_kind = StepKind(
        "iteration",
        (
            StepColumn("objective", "F", "F = Σ ln Σ_k π_k p_k(x), and the prior"),
            StepColumn(
                "weights",
                "π",
                "π_k = Σ r_k / N",
                axes=("component",),
                ends_in="weights_",
            ),
            StepColumn(
                "probabilities",
                "p",
                "p_kj = Σ r_k x_j / Σ r_k, with added counts",
                axes=("component", "column"),
                ends_in="probabilities_",
            ),
        ),
    )
    _coding = "one_hot"
    _takes_missing = True
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict] = {
        **TABLE_CONSTRAINTS,
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
        binarize: float | None = 0.0,
        init_params: str = "kmeans",
        n_init: int = 1,
        weights_init: Any = None,
        probabilities_init: Any = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.binarize = binarize
        self.init_params = init_params
        self.n_init = n_init
        self.weights_init = weights_init
        self.probabilities_init = probabilities_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def _steps(self) -> list[Step]:
        return [*super()._steps(), _Binarize(self.binarize, self._from_numbers())]

    def _from_numbers(self) -> np.ndarray:
        """Which design columns come from columns of numbers."""
        numeric = np.array([column.numeric for column in self._design.before])
        return numeric[self._design.source]

    def _group(self) -> np.ndarray:
        # the columns of one categorical column sum to 1, unless it has a single one
        source = self._design.source
        width = self._design.width[source]
        return np.where(self._from_numbers() | (width == 1), -1, source)

    def _start_scaling(self, moments: Moments) -> ScaledCells:
        return ScaledCells.of(moments.mean, np.ones(len(moments.mean)))

    def _draw(self, k: int, n: int, random: np.random.RandomState) -> np.ndarray:
        P = self.probabilities_[k]
        group = self._group()
        out = (random.random_sample((n, len(P))) < P).astype(np.float64)
        for g in np.unique(group[group >= 0]):
            own = np.flatnonzero(group == g)
            out[:, own] = random.multinomial(1, P[own] / P[own].sum(), n)
        return out


@dataclass(frozen=True, eq=False)
class _Binarize:
    """Cells of number columns as 0 and 1; missing ones stay missing."""

    above: float | None
    number: np.ndarray  # (d,) which design columns come from numbers

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        X = block.X
        if sparse.issparse(X):
            return block.with_X(self._of_sparse(X), block.schema)
        X = np.array(X, dtype=np.float64)
        cells = X[:, self.number]
        if self.above is not None:
            X[:, self.number] = np.where(np.isnan(cells), np.nan, cells > self.above)
        elif ((cells < 0) | (cells > 1)).any():
            raise SettingError(
                "cells outside of 0 to 1 are not Bernoulli: set binarize to a number above which a"
                " cell is 1"
            )
        return block.with_X(X, block.schema)

    def _of_sparse(self, X: Data) -> Any:
        if self.above is not None and self.above < 0:
            raise SettingError(
                f"binarize={self.above} would fill sparse rows with ones: give a number of at"
                " least 0"
            )
        if self.above is None:
            return X
        return indicators(X, self.above)

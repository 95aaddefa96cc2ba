"""A mixture of multinomials: rows of counts, such as words in texts or visual words in images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, Schema, Step
from lyceum._core.statistics import Moments
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories
from lyceum.errors import DataError
from lyceum.mixtures.table_mixture import TABLE_CONSTRAINTS, TableMixture


class MultinomialMixture(TableMixture):
    """Mixture of multinomials over counts: p(x) = n! / Π_j x_j! Σ_k π_k Π_j p_kj^x_j, n = Σ_j x_j.

    Every component is a distribution p_k over the columns, from which the counts of a row are
    drawn; the total n of a row is taken as given. The M-step is p_kj = (Σ_i r_ik x_ij + α) / (Σ_j
    Σ_i r_ik x_ij + d α). Sparse rows are taken as they are. EM starts from k-means of the square
    roots of the shares x / n.

    Parameters
    ----------
    alpha : float, default=0.1
        Added to every count, so that no probability is 0.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each category counts as a column of 0 and 1.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        The weights π_k.
    probabilities_ : array of shape (n_components, n_columns)
        The probabilities p_kj, in design columns; rows sum to 1.
    mean_total_ : float
        The mean of the totals n, the size of rows that `sample` draws.
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
    BernoulliMixture : presence instead of counts.
    lyceum.bayes.MultinomialNB : with known classes.

    References
    ----------
    Nigam, K., McCallum, A. K., Thrun, S. and Mitchell, T. (2000). Text classification from labeled
    and unlabeled documents using EM. Machine Learning 39.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.mixtures import MultinomialMixture
    >>> counts = np.array([[8.0, 1, 0], [9, 0, 1], [0, 7, 6], [1, 5, 5]])
    >>> labels = MultinomialMixture(2, random_state=0).fit_predict(counts)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
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
    _takes_sparse = True
    _counts = True
    _parameter_constraints: ClassVar[dict] = TABLE_CONSTRAINTS

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
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
        return [*super()._steps(), _CheckCounts()]

    def _group(self) -> np.ndarray:
        return np.zeros(len(self.design_names), dtype=np.intp)

    def _start_scaling(self, moments: Moments) -> RootShares:
        return RootShares()

    def _draw(self, k: int, n: int, random: np.random.RandomState) -> np.ndarray:
        """Rows of as many counts as the rows of `fit` have on average."""
        size = max(1, round(self.mean_total_))
        return random.multinomial(size, self.probabilities_[k], n).astype(np.float64)

    def _em_problem(self, rows: Any, moments: Moments) -> Any:
        self.mean_total_ = float(moments.mean.sum())
        return super()._em_problem(rows, moments)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


@dataclass(frozen=True, slots=True)
class RootShares:
    """sqrt(x / Σ x) of every row: Euclidean distances are then Hellinger's."""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def cells(self, X: Any) -> Any:
        total = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        if sparse.issparse(X):
            out = sparse.csr_array(X, dtype=np.float64, copy=True)
            out.data = np.sqrt(out.data * np.repeat(scale, np.diff(out.indptr)))
            return out
        return np.sqrt(np.asarray(X, dtype=np.float64) * scale[:, None])

    def __call__(self, block: Block) -> Block:
        return block.with_X(self.cells(block.X), block.schema)


@dataclass(frozen=True, slots=True)
class _CheckCounts:
    """Refuses negative cells."""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        low = 0.0
        if block.X.shape[0] and (not sparse.issparse(block.X) or block.X.nnz):
            low = block.X.min()
        if low < 0:
            X = block.dense
            row, column = np.argwhere(X < 0)[0]
            raise DataError(
                "Negative values in data passed to MultinomialMixture: column"
                f" {block.schema[int(column)].name!r} has {X[row, column]:g} in row"
                f" {block.start + row}, but counts are at least 0"
            )
        return block

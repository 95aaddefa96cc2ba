"""Coordinates of rows from their inner products: for more columns than rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Learner, NewColumns, finite_sums
from lyceum._core.constraints import Interval
from lyceum._core.data import Block
from lyceum._core.statistics import Moments
from lyceum._core.types import Categories, Data, Target
from lyceum.decomposition.projections.centered_rows import CenteredRows
from lyceum.decomposition.projections.spectrum import with_signs
from lyceum.errors import SettingError
from lyceum.report import Summary, Table


class RowSVD(ClassNamePrefixFeaturesOutMixin, NewColumns, Learner):
    """Coordinates of the rows from the eigenvectors of X Xᵀ, an N × N matrix for any number of
    columns.

    With the rows R centered and R Rᵀ u = λ u, row i has the coordinates sqrt(λ_k) u_ki, whose inner
    products are those of the rows; of all coordinates in k dimensions they keep the inner products
    best. They are the scores of PCA, found without a d × d matrix: 50 spectra of 100,000 channels
    need a 50 × 50 matrix. A new row has the coordinates uᵀ R (x - m) / sqrt(λ).

    Parameters
    ----------
    n_components : int or None, default=None
        How many coordinates to keep; None keeps all that vary, at most N - 1.
    center : bool, default=True
        Whether the columns are centered first.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components_)
        The coordinates of the rows of `fit`.
    eigenvalues_ : array of shape (n_components_,)
        λ.
    kept_ratio_ : float
        The proportion of Σ λ that is kept.
    components_ : array of shape (n_components_, n_columns)
        Rᵀ u / sqrt(λ), the direction of every coordinate, in design columns.
    mean_ : array of shape (n_columns,)
        The mean m that is subtracted (0 without centering).
    n_components_ : int
        The number of coordinates.

    See Also
    --------
    PCA : for any number of rows, in one pass.
    ClassicalMDS : from distances.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.decomposition import RowSVD
    >>> X = np.random.default_rng(0).normal(size=(5, 1000))
    >>> embedding = RowSVD().fit(X)
    >>> embedding.embedding_.shape
    (5, 4)
    >>> bool(np.allclose(embedding.transform(X), embedding.embedding_))
    True
    """

    _coding = "one_hot"
    _reads_rows = "in memory"
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "center": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        center: bool = True,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.center = center
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None):
        """Find the coordinates.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        """
        rows = self._rows(X)
        block = rows.in_one_block(type(self).__name__, "PCA").without_zero_weights()
        finite_sums(Moments.of(block))
        n = len(block)
        if self.n_components is not None and self.n_components > n:
            raise SettingError(
                f"n_components={self.n_components} must be between 1 and n_samples={n}"
            )
        # weights do not count: coordinates are of the rows as they are
        centered = CenteredRows.of(Block(block.X, None, None, 0, block.schema))
        self.mean_ = centered.mean
        R = centered.rows
        if not self.center:
            self.mean_ = np.zeros(R.shape[1])
            R = np.asarray(block.dense, dtype=np.float64)
        self._embed(R)
        return self

    def _embed(self, R: np.ndarray) -> None:
        """Coordinates of the rows R: R Rᵀ = U diag(values) Uᵀ, and directions Uᵀ R of length 1."""
        values, U = linalg.eigh(R @ R.T)
        values = values[::-1]
        U = U[:, ::-1]
        trace = float(values.sum())
        rank = 1
        if trace > 0:
            # eigenvalues below this are rounding errors of the largest
            largest = max(values[0], 0.0)
            floor = max(R.shape) * np.finfo(float).eps * largest
            rank = max(1, int((values > floor).sum()))
        k = min(int(self.n_components or rank), rank)
        values = np.maximum(values[:k], 0.0)
        # R = U diag(√λ) V gives the directions V = Uᵀ R / √λ
        root = np.sqrt(values)[:, None]
        zeros = np.zeros((k, R.shape[1]))
        products = U[:, :k].T @ R
        directions = np.divide(products, root, out=zeros, where=root > 0)
        self.components_ = with_signs(directions)
        self.embedding_ = R @ self.components_.T
        self.eigenvalues_ = values
        if trace > 0:
            self.kept_ratio_ = float(values.sum() / trace)
        else:
            self.kept_ratio_ = 1.0
        self.n_components_ = k

    def fit_transform(self, X: Data, y: Target = None) -> Any:
        """The coordinates of the rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        array of shape (n_samples, n_components_)
        """
        return self.fit(X).transform(X)

    def transform(self, X: Data) -> Any:
        """The coordinates of rows, uᵀ R (x - m) / sqrt(λ).

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_components_)
        """
        return self._in_new_columns(self._scores, X)

    def _scores(self, block: Block) -> np.ndarray:
        scores = (block.X - self.mean_) @ self.components_.T
        return scores.astype(block.X.dtype, copy=False)

    def summary(self) -> Summary:
        """The eigenvalues, and what is kept."""
        check_is_fitted(self)
        facts = {
            "rows": len(self.embedding_),
            "columns": len(self.mean_),
            "coordinates": self.n_components_,
            "proportion kept": self.kept_ratio_,
        }
        rows = list(enumerate(self.eigenvalues_, start=1))
        table = Table("Eigenvalues", ("coordinate", "eigenvalue"), rows)
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.n_components_
        d = len(self.design_names)
        return {
            "components_": (k, d),
            "mean_": (d,),
            "eigenvalues_": (k,),
        }

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

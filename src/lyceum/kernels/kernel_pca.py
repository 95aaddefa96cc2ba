"""Principal components in the feature space of a kernel."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_array, check_is_fitted

from lyceum._core.base import NewColumns
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.text import show_count
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.kernels.functions.base import double_gram
from lyceum.kernels.functions.products import RBFKernel
from lyceum.kernels.kernel_learner import (
    KERNEL_CONSTRAINTS,
    KernelLearner,
    is_linear,
    refuse_pairs,
)
from lyceum.report import Summary, Table

_FEW = 600  # rows up to which all eigenvalues are computed at once
# eigenvalues below this share of the largest are zero: of rows in double, and of other rows
_ZERO = 1e-10
_ZERO_IN_SINGLE = 2e-7


class KernelPCA(ClassNamePrefixFeaturesOutMixin, NewColumns, KernelLearner):
    """Kernel principal component analysis: directions of largest variance in the feature space of a
    kernel.

    With K_c the Gram matrix of the rows about their mean in feature space, and S = √W K_c √W for
    weights W,

    .. math:: S u = \\lambda u, \\qquad
        z_k(x) = \\frac{1}{\\sqrt{\\lambda_k}} \\sum_i \\sqrt{w_i} u_{ik} k_c(x_i, x)

    is the score of x on component k. New rows are projected by the same formula, with the mean of
    the training rows. The largest |z_k| of a training row is positive. With the linear kernel
    this is PCA.

    `inverse_transform` gives rows whose image is near the projection: exactly so for the linear
    kernel; for the RBF kernel by the fixed point of Mika et al., a mean of the training rows
    weighted by kernel values. Other kernels have no rows for most points of their feature space,
    and refuse, unless `fit_inverse_transform` is set.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to keep; None keeps all that have variance.
    alpha : float, default=1.0
        The penalty of the ridge regression that learns the inverse, with `fit_inverse_transform`.
    fit_inverse_transform : bool, default=False
        Whether `inverse_transform` is learned, for any kernel, by kernel ridge regression of the
        rows on their scores, as in scikit-learn.
    remove_zero_eig : bool, default=False
        Whether components without variance are dropped although `n_components` asks for them.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components_,)
        λ: the scatter along every component; divided by the weight of the rows it is the variance.
    explained_variance_ratio_ : array of shape (n_components_,)
        The share of every component in the scatter of all rows in feature space.
    eigenvectors_ : array of shape (n, n_components_)
        u, one unit vector per component.
    n_components_ : int
        The number of components.
    rows_ : array or sparse array of shape (n, n_columns)
        The training rows with a weight.
    row_weights_ : array of shape (n,)
        Their weights.
    column_means_ : array of shape (n,)
        The weighted mean of k(x_i, x_j) over i, for every row j.
    total_mean_ : float
        The weighted mean of all kernel values.
    kernel_ : Kernel
        The kernel, with what it learned.
    gamma_ : float
        γ of the kernel; of one without, what it would be by name.
    X_transformed_fit_ : array of shape (n, n_components_)
        With `fit_inverse_transform`: the scores of the training rows.
    dual_coef_ : array of shape (n, n_columns)
        With `fit_inverse_transform`: (K + alpha I)⁻¹ X, K the kernel values of the scores.

    See Also
    --------
    lyceum.decomposition.PCA : The linear kernel, on files of any size.
    Nystroem : Features of a kernel from a sample of the rows.

    References
    ----------
    Bakır, Weston and Schölkopf (2004), Learning to find pre-images, NIPS 16.
    Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.
    Mika, Schölkopf, Smola, Müller, Scholz and Rätsch (1999), Kernel PCA and de-noising in feature
    spaces, NIPS 11.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.kernels import KernelPCA
    >>> angle = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> rows = np.vstack([ring, 3 * ring])
    >>> Z = KernelPCA(3, kernel="rbf", gamma=0.5).fit_transform(rows)
    >>> bool(Z[:30, 0].max() < Z[30:, 0].min() or Z[30:, 0].max() < Z[:30, 0].min())
    True
    """

    _alternative: ClassVar[str] = (
        "lyceum.kernels.Nystroem before lyceum.decomposition.PCA"
    )
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [
            Interval(Integral, 0, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        **KERNEL_CONSTRAINTS,
    }
    _without_effect: ClassVar[dict[str, str]] = dict.fromkeys(
        ("eigen_solver", "tol", "max_iter", "iterated_power", "random_state"),
        "the eigenvectors are exact",
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: object = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: int | np.random.RandomState | None = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Find the components.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        if self.fit_inverse_transform and self._is_precomputed:
            raise SettingError(
                "Cannot fit_inverse_transform with a precomputed kernel: it has no rows to give"
            )
        block = self._weighted_rows(self._rows(X, None, sample_weight))
        n = len(block)
        refuse_pairs(type(self).__name__, n, 16, self._alternative)
        self.rows_ = block.X.copy()  # the array may be the user's own
        w = np.array(block.weights, dtype=np.float64)
        self.row_weights_ = w
        self.kernel_ = self._learned_kernel(block)
        self._find(double_gram(self.kernel_, self.rows_), w)
        for name in ("X_transformed_fit_", "dual_coef_"):
            self.__dict__.pop(name, None)
        if self.fit_inverse_transform:
            self._learn_inverse()
        return self

    def _learn_inverse(self) -> None:
        """Rows by kernel ridge regression on scores (Bakır, Weston and Schölkopf, 2004)."""
        rows = self.rows_.toarray() if sparse.issparse(self.rows_) else self.rows_
        scores = np.sqrt(self.eigenvalues_) * self.eigenvectors_
        self.X_transformed_fit_ = scores / np.sqrt(self.row_weights_)[:, None]
        K = double_gram(self.kernel_, self.X_transformed_fit_)
        K[np.diag_indices_from(K)] += self.alpha
        self.dual_coef_ = linalg.solve(K, rows, assume_a="sym")

    def _find(self, K: np.ndarray, w: np.ndarray) -> None:
        share = w / w.sum()
        root = np.sqrt(w)
        # K_c = K - (means of columns) - (means of rows) + mean: the kernel about the weighted mean
        # of the rows in feature space; given values need not be symmetric
        self.column_means_ = share @ K
        row_means = K @ share
        self.total_mean_ = float(share @ self.column_means_)
        # what rounding of K may do to its eigenvalues, by its weighted trace
        trace = float(w @ np.abs(np.diagonal(K)))
        rounding = 10.0 * np.finfo(float).eps * trace
        # S = √W K_c √W, in the memory of K
        S = K
        S -= self.column_means_
        S -= row_means[:, None]
        S += self.total_mean_
        S *= root
        S *= root[:, None]
        total = float(np.trace(S))
        values, vectors = self._components(S, rounding)
        # the score of row i is √λ_k u_ik / √w_i: the largest decides the sign, whatever its weight
        scores = vectors / root[:, None]
        longest = np.abs(scores).argmax(axis=0)
        largest = scores[longest, np.arange(len(values))]
        signs = np.where(largest < 0, -1, 1)
        self.eigenvectors_ = np.ascontiguousarray(vectors * signs)
        self.eigenvalues_ = values
        self.n_components_ = len(values)
        self.explained_variance_ratio_ = np.zeros(len(values))
        if total > 0:
            self.explained_variance_ratio_ = values / total

    def _components(
        self,
        S: np.ndarray,
        rounding: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The largest eigenvalues, those of the size of rounding as 0, and their vectors; without
        `n_components` those above 0."""
        values, vectors = _largest(S, self.n_components)
        size = np.abs(values).max(initial=0.0)
        # an eigenvalue well below zero is no rounding of a Mercer kernel
        if len(values):
            least = values.min()
            if least < -max(1e-6 * size, rounding):
                raise SettingError(
                    f"There are significant negative eigenvalues: {self.kernel_!r} is no Mercer"
                    " kernel on these rows, as the centered Gram matrix has an eigenvalue of"
                    f" {least:.3g} beside {values[0]:.3g}. Ask for at most"
                    f" {int((values > 0).sum())} components, so that the largest are kept"
                )
        zero = _ZERO_IN_SINGLE if self.rows_.dtype == np.float32 else _ZERO
        is_positive = values > max(zero * size, rounding, np.finfo(float).tiny)
        values = np.where(is_positive, values, 0.0)
        if self.n_components is None or self.remove_zero_eig:
            k = max(1, int(is_positive.sum()))
            return values[:k], vectors[:, :k]
        return values, vectors

    def _row_coefficients(self) -> np.ndarray:
        """√w_i u_ik / √λ_k, what the centered kernel values of row i add to the score on k."""
        root = np.sqrt(self.row_weights_)
        values = self.eigenvalues_
        zeros = np.zeros(len(values))
        scale = np.divide(1.0, np.sqrt(values), out=zeros, where=values > 0)
        return np.ascontiguousarray(root[:, None] * self.eigenvectors_ * scale)

    # -- use ---------------------------------------------------------------------------

    def transform(self, X: Data) -> Any:
        """The scores of rows on the components.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_components_)
        """
        return self._in_new_columns(partial(_scores, self), X)

    def reconstruction_error(self, X: Data) -> Any:
        """The squared distance of every row to its projection in feature space, (n_samples,)."""
        check_is_fitted(self)
        return self._apply(partial(_squared_residuals, self), X)

    def inverse_transform(
        self,
        X: Data,
        max_iter: int = 200,
        tol: float = 1e-9,
    ) -> np.ndarray:
        """Rows for scores: exact for the linear kernel, a fixed point for the RBF kernel.

        Parameters
        ----------
        X : array of shape (n_samples, n_components_)
            Scores, as `transform` gives them.
        max_iter, tol : int and float
            For the RBF kernel: the most steps, and the change at which they end, in widths of the
            kernel.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        Z = check_array(X, dtype=np.float64)
        if self.fit_inverse_transform:
            K = double_gram(self.kernel_, Z, self.X_transformed_fit_)
            return K @ self.dual_coef_
        if Z.shape[1] != self.n_components_:
            raise DataError(
                f"the scores have {show_count(Z.shape[1], 'column')}, but there are "
                f"{self.n_components_} components"
            )
        if not isinstance(self.kernel_, RBFKernel) and not is_linear(self.kernel_):
            raise SettingError(
                f"points in the feature space of {self.kernel_!r} have no rows of their own: "
                "inverse_transform is for the linear and the RBF kernel"
            )
        if sparse.issparse(self.rows_):
            rows = self.rows_.toarray()
        else:
            rows = np.asarray(self.rows_, dtype=np.float64)
        share = self.row_weights_ / self.row_weights_.sum()
        # the projection is Σ_i g_i φ(x_i): components about the mean, and the mean
        coef = self._row_coefficients()
        about_mean = coef - np.outer(share, coef.sum(axis=0))
        G = Z @ about_mean.T + share
        if is_linear(self.kernel_):
            return G @ rows
        return self._fixed_points(G, rows, max_iter, tol)

    def _fixed_points(
        self,
        G: np.ndarray,
        rows: np.ndarray,
        max_iter: int,
        tol: float,
    ) -> np.ndarray:
        """x = Σ g_i k(x, x_i) x_i / Σ g_i k(x, x_i), from the training row nearest to the
        projection."""
        K = double_gram(self.kernel_, rows)
        X = rows[np.argmax(G @ K, axis=1)].copy()
        gamma = self.kernel_.native.gamma  # type: ignore[union-attr]
        going = np.arange(len(X))
        for _ in range(max_iter):
            values = double_gram(self.kernel_, X[going], rows)
            weights = G[going] * values
            sums = weights.sum(axis=1)
            # where weights cancel, x stays where it is
            sizes = np.abs(weights).sum(axis=1)
            fine = np.abs(sums) > 1e-12 * sizes
            new = X[going].copy()
            new[fine] = (weights[fine] / sums[fine, None]) @ rows
            # in units of the kernel's width
            distances = np.linalg.norm(new - X[going], axis=1)
            moved = np.sqrt(gamma) * distances
            X[going] = new
            going = going[moved > tol]
            if not len(going):
                break
        return X

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The kernel, and the variance in feature space that every component explains."""
        check_is_fitted(self)
        ratio = self.explained_variance_ratio_
        facts = {
            "rows": len(self.row_weights_),
            "kernel": repr(self.kernel_),
            "components": self.n_components_,
            "variance explained": float(ratio.sum()),
        }
        variance = self.eigenvalues_ / self.row_weights_.sum()
        rows = [
            (f"kernelpca{k}", *map(float, numbers))
            for k, numbers in enumerate(zip(variance, ratio, np.cumsum(ratio)))
        ]
        head = ("component", "variance", "proportion", "cumulative")
        table = Table("Variance in feature space", head, rows[:20])
        return Summary(self._title(), facts, [table])

    @property
    def gamma_(self) -> float:
        """γ of the kernel as it was learned; of one without, that which a kernel by name would
        have."""
        gamma = getattr(self.kernel_.native, "gamma", None)
        if gamma is None and isinstance(self.gamma, Real):
            gamma = self.gamma
        return 1.0 / self._n_cells if gamma is None else float(gamma)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n, k = self.eigenvectors_.shape
        return {
            "eigenvectors_": (n, self.n_components_),
            "eigenvalues_": (k,),
            "column_means_": (n,),
            "row_weights_": (n,),
            **self._row_shapes(),
        }


def _largest(S: np.ndarray, wanted: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues, the largest first, and their vectors as columns."""
    n = len(S)
    k = n if wanted is None else min(wanted, n)
    # a few of many by Lanczos, n² per step instead of n³ in all
    if n > _FEW and k <= n // 10:
        start = np.random.default_rng(0).standard_normal(n)  # the same every time
        values, vectors = eigsh(S, k, which="LA", v0=start, tol=0)
    else:
        last = (n - k, n - 1)
        values, vectors = linalg.eigh(S, subset_by_index=last, check_finite=False)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _scores_and_means(pca: KernelPCA, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """The scores of rows, and the weighted means of their kernel values with those of `fit`."""
    K = double_gram(pca.kernel_, block.X, pca.rows_)
    means = K @ (pca.row_weights_ / pca.row_weights_.sum())
    centered = K - means[:, None] - pca.column_means_ + pca.total_mean_
    return centered @ pca._row_coefficients(), means


def _scores(pca: KernelPCA, block: Block) -> np.ndarray:
    scores, _ = _scores_and_means(pca, block)
    return scores.astype(block.X.dtype, copy=False)


def _squared_residuals(pca: KernelPCA, block: Block) -> np.ndarray:
    """|φ(x) - mean|² = k(x, x) - 2 Σ_i share_i k(x, x_i) + mean, less the squares of the scores."""
    Z, means = _scores_and_means(pca, block)
    squares = pca.kernel_.diagonal(block.X) - 2.0 * means + pca.total_mean_
    return np.maximum(squares - (Z * Z).sum(axis=1), 0.0)

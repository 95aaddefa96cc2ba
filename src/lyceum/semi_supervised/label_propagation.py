"""Label propagation and label spreading on a sparse graph of neighbors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    replace_columns,
    typical_row,
    undefined,
)
from lyceum._core.clustering import NAMED_METRICS, MetricLearner
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.distances import (
    Euclidean,
    Metric,
    check_class_codes,
    check_stored,
    finite_distances,
    float_cells,
    nearest,
    queries,
    stored_index,
)
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import DataError
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table


class _LabelGraph(Classifier, MetricLearner):
    """Labels that go from labeled rows to their neighbors; a subclass says how."""

    _parameter_docs: ClassVar[str] = """
    kernel : {"rbf", "knn"}
        The weight of an edge: exp(-γ d²), or 1.
    gamma : float or None
        γ of the kernel; None is 1 / (2 h²), h the mean distance to the k-th neighbor, in any unit
        of the columns. scikit-learn's default is 20, on a graph of all rows.
    n_neighbors : int
        The neighbors of a row: with either kernel rows are joined with their nearest ones only,
        where scikit-learn's "rbf" joins all with all.
    metric : str or Metric
        How near rows are. "auto" is Gower's distance where columns hold categories or cells are
        missing, else the Euclidean one.
    max_iter : int
        The most steps of conjugate gradients.
    tol : float
        The residual at which they stop, relative to that of the start.
    """
    _attribute_docs: ClassVar[str] = """
    label_distributions_ : array of shape (n, K)
        The posteriors of the rows of `fit`.
    label_codes_ : array of shape (n,), of int
        The index in `classes_` of the class of every row of `fit`.
    transduction_ : array of shape (n,)
        The same as labels.
    rows_ : array or sparse array of shape (n, d)
        The rows themselves, as the metric compares them.
    metric_ : Metric
        The metric.
    typical_ : array of shape (d,)
        Mean or commonest cell of the columns of `rows_`; where explanations start.
    gamma_ : float
        γ of the kernel.
    n_iter_ : int
        The steps of conjugate gradients, at least 1.
    n_unreached_ : int
        How many rows no label reaches.
    """

    _takes_unlabeled: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "kernel": [StrOptions({"knn", "rbf"})],
        "gamma": [Interval(Real, 0.0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": NAMED_METRICS,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    _nan_means_none: ClassVar[bool] = True  # in rows with missing cells

    kernel: str
    gamma: float | None
    n_neighbors: int
    max_iter: int
    tol: float
    classes_: np.ndarray

    def _solve(
        self,
        W: sparse.csr_array,
        Y: np.ndarray,
        labeled: np.ndarray,
    ) -> tuple[np.ndarray, int]:
        """The scores of all rows, (n, K), from the graph and the labels, and the steps it took."""
        raise undefined(self, "_solve")

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Build the graph and solve for the labels.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan; some may be missing
        sample_weight : array of shape (n_samples,), optional
            How much the label of a row counts; zero-weight rows are left out.
        """
        rows = self._metric_rows(X, sample_weight, y)
        block = rows.in_one_block(type(self).__name__, "SemiSupervisedEM")
        block = block.without_zero_weights()
        assert block.y is not None
        labeled = np.flatnonzero(block.y >= 0)
        if not len(labeled):
            raise DataError(
                f"no row has a label: {type(self).__name__} needs at least one row of every class"
            )
        self.rows_ = float_cells(block).copy()  # the array may be the user's own
        self.typical_ = typical_row(block)
        W, self.gamma_ = neighbor_graph(
            self.rows_,
            k=self.n_neighbors,
            kernel=self.kernel,
            gamma=self.gamma,
            metric=self.metric_,
        )
        # the weight of a row in the column of its class; zeros for unlabeled rows
        Y = np.zeros((len(block), len(self.classes_)))
        Y[labeled, block.y[labeled]] = block.weights[labeled]
        F, steps = self._solve(W, Y, labeled)
        self.n_iter_ = max(1, steps)
        # rows that sum to 1; the class shares where nothing arrived
        F = np.maximum(F, 0.0)
        sums = F.sum(axis=1, keepdims=True)
        reached = sums[:, 0] > 1e-12
        shares = F / np.where(sums > 0, sums, 1.0)
        weights = Y.sum(axis=0)
        shares[~reached] = weights / weights.sum()
        self.label_distributions_ = shares
        self.n_unreached_ = int((~reached).sum())
        self.label_codes_ = shares.argmax(axis=1)
        return self

    # -- predict -----------------------------------------------------------------------

    def predict_proba(self, X: Data) -> Any:
        """The mean posterior of the nearest rows of `fit`, by the weights of the graph."""
        check_is_fitted(self)
        stored_index(self)  # built once, before threads need it
        return self._apply(self._posteriors, X)

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior."""
        check_is_fitted(self)
        stored_index(self)
        return self._apply(self._predict, X)

    def _posteriors(self, block: Block) -> np.ndarray:
        if not len(block):
            return np.empty((0, len(self.classes_)))
        k = min(self.n_neighbors, len(self.label_codes_))
        neighbors = stored_index(self).nearest(queries(self, block), k)
        squared = finite_distances(neighbors.distances, self.metric_) ** 2
        # relative to the nearest row: far from all rows every exp(-γ d²) would underflow
        squared -= squared[:, :1]
        weight = np.ones_like(squared)
        if self.kernel == "rbf":
            weight = np.exp(-self.gamma_ * squared)
        distributions = self.label_distributions_[neighbors.rows]
        posteriors = np.einsum("nk,nkc->nc", weight, distributions)
        return posteriors / posteriors.sum(axis=1, keepdims=True)

    def _predict(self, block: Block) -> np.ndarray:
        return self.classes_[self._posteriors(block).argmax(axis=1)]

    # -- what was learned --------------------------------------------------------------

    @property
    def transduction_(self) -> np.ndarray:
        """The labels of the rows of `fit`."""
        return self.classes_[self.label_codes_]

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the posterior of the class that is predicted.

        The base is the posterior for a row of typical cells (`typical_`), whose columns are
        replaced by the row's own, one after the other, from both ends.
        """
        check_is_fitted(self)
        stored_index(self)
        parts = partial(
            replace_columns, background=self.typical_, answer=self._posteriors
        )
        return self._explain(X, parts, "posterior")

    def summary(self) -> Summary:
        """The graph, and how many rows got each class."""
        check_is_fitted(self)
        facts = {
            "rows": len(self.label_codes_),
            "neighbors": min(self.n_neighbors, len(self.label_codes_) - 1),
            "metric": self.metric_.name,
            "gamma": self.gamma_,
            "steps": self.n_iter_,
            "rows that no label reaches": self.n_unreached_,
        }
        counts = np.bincount(self.label_codes_, minlength=len(self.classes_))
        rows = list(zip(map(str, self.classes_), counts.tolist()))
        table = Table("Classes", ("class", "rows"), rows)
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "typical_": (len(self.design_names),),
            "label_distributions_": (len(self.label_codes_), len(self.classes_)),
        }

    def _check_model(self) -> None:
        super()._check_model()
        if hasattr(self, "rows_"):
            check_stored(self, len(self.label_codes_))
            check_class_codes(self, "label_codes_")


class LabelPropagation(_LabelGraph):
    """Labels that are kept, and pass to all other rows along a graph of nearest rows.

    W joins every row with its k nearest ones, D has its sums. Labeled rows l keep their labels, and
    every other row u is the weighted mean of its neighbors, F_u = (D_uu - W_uu)^(-1) W_ul Y_l: the
    harmonic function, to which scikit-learn's iteration converges. It is solved by conjugate
    gradients, to a stated residual. Rows that no label reaches get the class shares.

    An unlabeled row has the class None or NaN, or a missing target cell in scanned rows; among
    whole numbers -1 is unlabeled too, as in scikit-learn, unless only one other class occurs.
    Under the Euclidean distance columns count by their units: standardize them first where these
    differ.

    See Also
    --------
    LabelSpreading : Labels of labeled rows may change.
    SelfTrainingClassifier : For any classifier.
    SemiSupervisedEM : For generative classifiers, from files too.

    References
    ----------
    Zhu, Ghahramani and Lafferty (2003), Semi-supervised learning using Gaussian fields and harmonic
    functions, ICML.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.3], [5.1]])
    >>> model = LabelPropagation(n_neighbors=2).fit(X, ["a", None, None, "b", None, None])
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: float | None = None,
        n_neighbors: int = 7,
        metric: object = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def _solve(
        self,
        W: sparse.csr_array,
        Y: np.ndarray,
        labeled: np.ndarray,
    ) -> tuple[np.ndarray, int]:
        return propagate(W, Y, labeled, self.max_iter, self.tol)


class LabelSpreading(_LabelGraph):
    """Labels that spread along a graph of nearest rows, and may change a little where they were.

    W joins every row with its k nearest ones, D has its sums. (I - αS) F = (1 - α) Y with S =
    D^(-1/2) W D^(-1/2), to which scikit-learn's iteration converges, is solved by conjugate
    gradients, to a stated residual. Rows that no label reaches get the class shares.

    An unlabeled row has the class None or NaN, or a missing target cell in scanned rows; among
    whole numbers -1 is unlabeled too, as in scikit-learn, unless only one other class occurs.
    Under the Euclidean distance columns count by their units: standardize them first where these
    differ.

    Parameters
    ----------
    alpha : float, default=0.2
        The share, between 0 and 1, that a row takes from its neighbors; the rest is its own label.

    See Also
    --------
    LabelPropagation : Labels of labeled rows are kept.
    SelfTrainingClassifier : For any classifier.
    SemiSupervisedEM : For generative classifiers, from files too.

    References
    ----------
    Zhou, Bousquet, Lal, Weston and Schölkopf (2004), Learning with local and global consistency,
    NIPS.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.3], [5.1]])
    >>> model = LabelSpreading(n_neighbors=2).fit(X, ["a", None, None, "b", None, None])
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _parameter_constraints: ClassVar[dict] = {
        **_LabelGraph._parameter_constraints,
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: float | None = None,
        n_neighbors: int = 7,
        alpha: float = 0.2,
        metric: object = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def _solve(
        self,
        W: sparse.csr_array,
        Y: np.ndarray,
        labeled: np.ndarray,
    ) -> tuple[np.ndarray, int]:
        return spread(W, Y, self.alpha, self.max_iter, self.tol)


# -- graphs of neighbors, and labels on them -----------------------------------------------


def neighbor_graph(
    X: Any,
    k: int,
    kernel: str,
    gamma: float | None,
    metric: Metric | None = None,
) -> tuple[sparse.csr_array, float]:
    """The symmetric graph in which a row is joined with its k nearest ones, and with those it is
    nearest to.

    Edges weigh 1, or exp(-γ d²).

    >>> W, _ = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "knn", None)
    >>> W.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    n = X.shape[0]
    k = min(k, n - 1)
    if k < 1:
        return sparse.csr_array((n, n)), 1.0 if gamma is None else gamma
    if metric is None:
        metric = Euclidean()
    neighbors = nearest(X, k, metric=metric)
    distances = finite_distances(neighbors.distances, metric)
    if not np.isfinite(distances).all() or distances.max() > 1e150:
        raise DataError(
            "the squares of the distances overflow: standardize the columns first"
        )
    if gamma is None:
        width = float(distances[:, -1].mean())
        gamma = 1.0
        if width > 0:
            gamma = 1.0 / (2.0 * width**2)
    if kernel == "knn":
        weight = np.ones(n * k)
    else:
        weight = np.exp(-gamma * distances.ravel() ** 2)
    # every row of the matrix has k edges; the maximum with its transpose joins both ways
    starts = np.arange(0, n * k + 1, k, dtype=np.int64)
    W = sparse.csr_array((weight, neighbors.rows.ravel(), starts), shape=(n, n))
    W.sort_indices()
    W = W.maximum(W.T).tocsr()
    W.eliminate_zeros()  # edges whose exp(-γ d²) underflows
    return W, gamma


def spread(
    W: sparse.csr_array,
    Y: np.ndarray,
    alpha: float,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int]:
    """F = (1 - α) (I - αS)^(-1) Y with S = D^(-1/2) W D^(-1/2), and the steps it took."""
    # I − αS is symmetric and positive definite, as the eigenvalues of S are within [−1, 1]
    degree = W.sum(axis=1)
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    S = sparse.csr_array(W.multiply(scale[:, None]).multiply(scale[None, :]))
    return _solve(lambda P: P - alpha * (S @ P), (1.0 - alpha) * Y, max_iter, tol)


def propagate(
    W: sparse.csr_array,
    Y: np.ndarray,
    labeled: np.ndarray,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int]:
    """The harmonic function: the known rows keep their labels, every other is the mean of its
    neighbors."""
    F = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1e-300)
    unlabeled = np.setdiff1d(np.arange(len(Y)), labeled)
    degree = W.sum(axis=1)
    # where no label arrives the system is singular
    _, part = sparse.csgraph.connected_components(W, directed=False)
    reached = np.isin(part[unlabeled], part[labeled])
    rows = unlabeled[reached]
    if not len(rows):
        return F, 0
    # (D_uu − W_uu) F_u = W_ul Y_l in units of D^(-1/2): (I − S) G = D^(-1/2) W_ul Y_l
    inner = W[rows]
    outer = inner[:, labeled] @ F[labeled]
    scale = 1.0 / np.sqrt(degree[rows])[:, None]
    S = sparse.csr_array(inner[:, rows].multiply(scale).multiply(scale.T))
    solution, steps = _solve(lambda P: P - S @ P, scale * outer, max_iter, tol)
    F[rows] = scale * solution
    return F, steps


def _solve(
    apply: Callable[[np.ndarray], np.ndarray],
    B: np.ndarray,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int]:
    """Conjugate gradients for all columns of B at once, for a symmetric positive definite
    operator."""
    # residuals R = B − AF, directions P, and |R|² of every column; one that is done stands still
    F = np.zeros_like(B)
    R = B.copy()
    P = R.copy()
    size = np.einsum("nk,nk->k", R, R)
    goal = tol**2 * size
    step = 0
    while step < max_iter and (size > goal).any():
        AP = apply(P)
        curve = np.einsum("nk,nk->k", P, AP)
        moves = (curve > 0) & (size > goal)
        pace = np.divide(size, curve, out=np.zeros_like(size), where=moves)
        F += pace * P
        R -= pace * AP
        new_size = np.einsum("nk,nk->k", R, R)
        P *= np.divide(new_size, size, out=np.zeros_like(size), where=size > 0)
        P += R
        size = new_size
        step += 1
        report("steps", step, max_iter)
    return F, step

"""Label propagation and label spreading on a graph of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
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
    check_class_codes,
    check_stored,
    finite_distances,
    float_cells,
    queries,
    stored_index,
)
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.report import Explanation, Summary, Table
from lyceum.semi_supervised.label_graph import (
    kernel_matrix,
    neighbor_graph,
    propagate,
    spread,
    without_loops,
)

MOST_CELLS = 2**29  # of a graph that joins all rows with all: 4 GiB
_QUERIES = 1024  # new rows that are compared with all stored ones at once


class _LabelGraph(Classifier, MetricLearner):
    """Labels that go from labeled rows to their neighbors; a subclass says how."""

    _parameter_docs: ClassVar[str] = """
    kernel : {"rbf", "knn", "nearest"} or callable
        The weights of the edges: exp(-γ d²) between all rows ("rbf"); 1 to the nearest rows
        ("knn", the row itself being one of `n_neighbors`); exp(-γ d²) between rows of which one is
        among the nearest of the other ("nearest": a sparse graph, for many rows); or a function of
        two tables that gives the matrix of weights.
    gamma : float or None
        γ of the kernel; None is 1 / (2 h²), h the mean distance to the nearest rows, in any unit
        of the columns.
    n_neighbors : int
        The neighbors of a row with "knn" and "nearest".
    metric : str or Metric
        How near rows are. "auto" is Gower's distance where columns hold categories or cells are
        missing, else the Euclidean one.
    max_iter : int
        The most steps.
    tol : float
        Where they stop: at a residual of a thousandth of it, relative to that of the start (rows
        far from all labels get little); on graphs that are not symmetric, at this sum of all
        changes.
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
        The steps, at least 1.
    n_unreached_ : int
        How many rows no label reaches.
    """

    _takes_unlabeled: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "kernel": [StrOptions({"knn", "nearest", "rbf"}), callable],
        "gamma": [Interval(Real, 0.0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": NAMED_METRICS,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    _nan_means_none: ClassVar[bool] = True  # in rows with missing cells

    kernel: str | Callable[..., Any]
    gamma: float | None
    n_neighbors: int
    max_iter: int
    tol: float
    classes_: np.ndarray

    def _solve(
        self,
        W: Any,
        Y: np.ndarray,
        labeled: np.ndarray,
    ) -> tuple[np.ndarray, int]:
        """The scores of all rows, (n, K), from the graph and the labels, and the steps it took."""
        raise undefined(self, "_solve")

    def _graph(self) -> Any:
        """The weights of the edges between the stored rows, dense or sparse; no row joins itself.
        Sets `gamma_`."""
        if callable(self.kernel):
            self.gamma_ = np.nan
            return without_loops(kernel_matrix(self.kernel, self.rows_, self.rows_))
        n = self.rows_.shape[0]
        if self.kernel == "rbf" and self.gamma is not None:
            self.gamma_ = self.gamma
        else:
            k = self.n_neighbors - (self.kernel == "knn")
            graph, self.gamma_ = neighbor_graph(
                self.rows_, k, self.kernel, self.gamma, self.metric_
            )
            if self.kernel != "rbf":
                return graph
        if n * n > MOST_CELLS:
            raise SettingError(
                f'kernel="rbf" joins all of {n:,} rows with all, which takes'
                f' {8 * n * n / 2**30:.0f} GiB: take kernel="nearest", which joins the nearest'
                " ones"
            )
        squared = self._distances(self.rows_) ** 2
        return without_loops(np.exp(-self.gamma_ * squared))

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
        W = self._graph()
        # the weight of a row in the column of its class; zeros for unlabeled rows
        Y = np.zeros((len(block), len(self.classes_)))
        Y[labeled, block.y[labeled]] = block.weights[labeled]
        F, steps = self._solve(W, Y, labeled)
        self.n_iter_ = max(1, steps)
        if steps > self.max_iter:
            self.n_iter_ = self.max_iter
            warnings.warn(
                f"max_iter={self.max_iter} was reached without convergence.",
                category=ConvergenceWarning,
                stacklevel=2,
            )
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
        """The mean posterior of the rows of `fit`, by the weights of the graph."""
        check_is_fitted(self)
        self._build_index()
        return self._apply(self._posteriors, X)

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior."""
        check_is_fitted(self)
        self._build_index()
        return self._apply(self._predict, X)

    def _build_index(self) -> None:
        """Build the index of the stored rows once, before threads need it."""
        if self.kernel in ("knn", "nearest"):
            stored_index(self)

    def _posteriors(self, block: Block) -> np.ndarray:
        posteriors = np.empty((len(block), len(self.classes_)))
        cells = queries(self, block)
        for start in range(0, len(block), _QUERIES):
            part = slice(start, start + _QUERIES)
            if self.kernel in ("knn", "nearest"):
                posteriors[part] = self._by_neighbors(cells[part])
            else:
                posteriors[part] = self._by_all_rows(cells[part])
        sums = posteriors.sum(axis=1, keepdims=True)
        # a function may give a row no weight at all: every class alike
        shares = np.full_like(posteriors, 1.0 / max(1, len(self.classes_)))
        return np.divide(posteriors, sums, out=shares, where=sums > 0)

    def _by_neighbors(self, cells: Any) -> np.ndarray:
        k = min(self.n_neighbors, len(self.label_codes_))
        neighbors = stored_index(self).nearest(cells, k)
        weight = np.ones(neighbors.distances.shape)
        if self.kernel == "nearest":
            squared = finite_distances(neighbors.distances, self.metric_) ** 2
            # relative to the nearest row: far from all rows every exp(-γ d²) would underflow
            weight = np.exp(-self.gamma_ * (squared - squared[:, :1]))
        return np.einsum(
            "nk,nkc->nc", weight, self.label_distributions_[neighbors.rows]
        )

    def _by_all_rows(self, cells: Any) -> np.ndarray:
        if callable(self.kernel):
            weight = kernel_matrix(self.kernel, self.rows_, cells).T
            return np.asarray(weight @ self.label_distributions_)
        squared = self._distances(cells, self.rows_) ** 2
        squared -= squared.min(axis=1, keepdims=True)
        return np.exp(-self.gamma_ * squared) @ self.label_distributions_

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
        self._build_index()
        parts = partial(
            replace_columns, background=self.typical_, answer=self._posteriors
        )
        return self._explain(X, parts, "posterior")

    def summary(self) -> Summary:
        """The graph, and how many rows got each class."""
        check_is_fitted(self)
        facts = {
            "rows": len(self.label_codes_),
            "kernel": getattr(self.kernel, "__name__", self.kernel),
            "metric": self.metric_.name,
            "steps": self.n_iter_,
            "rows that no label reaches": self.n_unreached_,
        }
        if self.kernel in ("knn", "nearest"):
            facts["neighbors"] = min(self.n_neighbors, len(self.label_codes_) - 1)
        if self.kernel in ("nearest", "rbf"):
            facts["gamma"] = self.gamma_
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
    """Labels that are kept, and pass to all other rows along a graph.

    W has the weights of the edges between rows, D their sums. Labeled rows l keep their labels, and
    every other row u is the weighted mean of its neighbors, F_u = (D_uu - W_uu)^(-1) W_ul Y_l: the
    harmonic function, to which scikit-learn's iteration converges. It is solved by conjugate
    gradients where W is symmetric, and by that iteration where it is not ("knn"). Rows that no
    label reaches get the class shares.

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
    >>> model = LabelPropagation("nearest", n_neighbors=2)
    >>> model = model.fit(X, ["a", None, None, "b", None, None])
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        gamma: float | None = 20,
        n_neighbors: int = 7,
        metric: object = "auto",
        max_iter: int = 1000,
        tol: float = 1e-3,
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
        W: Any,
        Y: np.ndarray,
        labeled: np.ndarray,
    ) -> tuple[np.ndarray, int]:
        return propagate(W, Y, labeled, self.max_iter, self.tol)


class LabelSpreading(_LabelGraph):
    """Labels that spread along a graph, and may change a little where they were.

    W has the weights of the edges between rows, D their sums. (I - αS) F = (1 - α) Y with S =
    D^(-1/2) W D^(-1/2), to which scikit-learn's iteration converges, is solved by conjugate
    gradients where W is symmetric, and by that iteration where it is not ("knn"). Rows that no
    label reaches get the class shares.

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
    >>> model = LabelSpreading("nearest", n_neighbors=2)
    >>> model = model.fit(X, ["a", None, None, "b", None, None])
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _parameter_constraints: ClassVar[dict] = {
        **_LabelGraph._parameter_constraints,
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        gamma: float | None = 20,
        n_neighbors: int = 7,
        alpha: float = 0.2,
        metric: object = "auto",
        max_iter: int = 30,
        tol: float = 1e-3,
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
        W: Any,
        Y: np.ndarray,
        labeled: np.ndarray,
    ) -> tuple[np.ndarray, int]:
        return spread(W, Y, self.alpha, self.max_iter, self.tol)

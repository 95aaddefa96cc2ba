"""A Mahalanobis metric learned from the target."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval
from lyceum._core.distances import Mahalanobis
from lyceum._core.statistics import UNEXPLAINED, PositiveFactor
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.neighbors.smooth import minimize
from lyceum.neighbors.supervised_transformer import SupervisedTransformer
from lyceum.report import Summary, Table

_COUNT = Interval(Integral, 1, None, closed="left")
_SMALLEST_PART = 1e-9  # of what M gives a column


class LearnedMetric(ClassNamePrefixFeaturesOutMixin, SupervisedTransformer):
    """A Mahalanobis metric d²(x, y) = (x - y)ᵀ M (x - y), M = LᵀL, that brings rows of like targets
    together.

    Row i draws one other row j as its neighbor with the probability

        p_ij = w_j exp(-|L x_i - L x_j|²) / Σ_(l≠i) w_l exp(-|L x_i - L x_l|²).

    For classes L maximizes the expected number of rows that draw a row of their own class
    (neighborhood components analysis); for numbers it minimizes the squared error of the expected
    target Σ_j p_ij y_j. The transformed rows L x can be given to any method that takes Euclidean
    distances.

    Parameters
    ----------
    n_components : int or None, default=None
        The rows of L; None takes as many as there are columns.
    alpha : float, default=1e-3
        The penalty on the squares of L, in units of standard deviations.
    max_iter : int, default=100
        The most quasi-Newton steps.
    tol : float, default=1e-5
        They stop when no part of the gradient is larger.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        L.
    matrix_ : array of shape (d, d)
        M = LᵀL.
    n_undetermined_ : int
        The number of directions in which the sampled rows do not vary: the penalty alone decides
        there.
    mean_ : array of shape (d,)
        The mean of the rows, which is subtracted.
    classes_ : array of shape (K,)
        The classes, if the target has classes.
    history_ : list of float
        The objective at the start and after every step.
    n_iter_ : int
        The number of steps.
    record_ : list of dict
        With `record=True`, for every step its number `step`, the `objective` and the `components`.

    See Also
    --------
    AttributeWeights : one weight per column, zero for those that do not matter.
    KNeighborsClassifier : takes `metric=learned.metric()`, or the transformed rows.

    References
    ----------
    Goldberger, J., Roweis, S., Hinton, G. and Salakhutdinov, R. (2005). Neighborhood components
    analysis. Advances in Neural Information Processing Systems 17. Weinberger, K. Q. and Tesauro,
    G. (2007). Metric learning for kernel regression. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.neighbors import LearnedMetric
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) * [1.0, 50.0]  # the second column is noise
    >>> M = LearnedMetric().fit(X, X[:, 0] > 0).matrix_
    >>> bool(M[0, 0] > 1000 * M[1, 1])
    True
    """

    _step_kind = StepKind(
        "step",
        (
            StepColumn(
                "objective",
                "F",
                "F = Σ_i w_i (1 − the chance that row i draws a neighbor of its class) + ½ α |L|²,"
                " of numbers, in units of their spread, the squared error of the expected"
                " neighbor; L on scaled columns",
            ),
            StepColumn(
                "components",
                "L",
                "L ← L − step, M = LᵀL",
                axes=("direction", "column"),
                ends_in="components_",
            ),
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [_COUNT, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_iter": [_COUNT],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes: ClassVar[tuple[str, str]] = ("step", "objective")

    def __init__(
        self,
        *,
        n_components: int | None = None,
        alpha: float = 1e-3,
        max_iter: int = 100,
        tol: float = 1e-5,
        max_samples: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.max_samples = max_samples
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn L.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
            Classes, or numbers.
        sample_weight : array of shape (n_samples,), optional
            How much every row counts; zero-weight rows are ignored.
        """
        size = int(self.max_samples)
        sample, mean, unit = self._scaled_sample(
            X, y, sample_weight, size, self.random_state
        )
        objective = _NeighborLoss(*sample, self._learns_classes, float(self.alpha))
        d = len(mean)
        m = min(d, self.n_components or d)
        steps: list[dict[str, Any]] = []

        def observe(point: Any) -> None:
            step = {
                "step": len(steps),
                "objective": point.value,
                "components": point.theta.reshape(m, d) / unit,
            }
            steps.append(step)

        start = objective.start(m)
        solution = minimize(
            objective, start.ravel(), int(self.max_iter), float(self.tol), observe
        )
        self.mean_ = mean
        self.n_undetermined_ = d - objective.rank
        self.components_ = solution.point.theta.reshape(m, d) / unit
        self.matrix_ = self.components_.T @ self.components_
        self.history_ = [float(value) for value in solution.history]
        self.n_iter_ = max(1, solution.n_iter)
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_ = steps
        return self

    def metric(self) -> Mahalanobis:
        """The learned metric, for `KNeighborsClassifier(metric=...)` and `lyceum.distances`.

        Directions without a part in M are given a very small one, so that M can be inverted.
        """
        part = np.diag(self.matrix_)
        part = np.where(part > 0, part, part.mean() or 1.0)
        regular = self.matrix_ + np.diag(_SMALLEST_PART * part)
        inverse = PositiveFactor.of(regular).inverse()
        return Mahalanobis((inverse + inverse.T) / 2, self.mean_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def summary(self) -> Summary:
        """The weight of every column in M, and the objective."""
        head = super().summary()
        facts = {
            **head.facts,
            "rows of L": len(self.components_),
            "steps": self.n_iter_,
            "objective": self.history_[-1],
        }
        facts |= undetermined_fact(
            self.n_undetermined_,
            len(self.mean_),
            "direction",
            "the penalty alone decides there",
        )
        rows = list(zip(self.design_names, np.diag(self.matrix_).tolist()))
        table = Table("Columns", ("column", "diagonal of M"), rows)
        return Summary(head.title, facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        return {
            "components_": (len(self.components_), d),
            "matrix_": (d, d),
            "mean_": (d,),
        }


class _NeighborLoss:
    """The mean loss of drawing one neighbor, plus alpha |L|² / 2, and its gradient."""

    def __init__(
        self, Z: np.ndarray, y: np.ndarray, w: np.ndarray, classes: bool, alpha: float
    ):
        self.Z = Z
        self.w = w / w.sum()
        self.alpha = alpha
        self.same = None
        self.y = None
        if classes:
            self.same = y[:, None] == y
        else:
            centered = y - np.average(y, weights=w)
            spread = float(np.sqrt(np.average(centered**2, weights=w)))
            self.y = centered / (spread or 1.0)

    @property
    def rank(self) -> int:
        """The number of directions in which rows differ."""
        products = (self.w[:, None] * self.Z).T @ self.Z
        return PositiveFactor.of(products, level=UNEXPLAINED).rank

    def start(self, m: int) -> np.ndarray:
        """The first principal directions, or the columns themselves if all are kept."""
        d = self.Z.shape[1]
        if m == d:
            return np.eye(d)
        weighted = np.sqrt(self.w)[:, None] * self.Z
        _, _, V = np.linalg.svd(weighted, full_matrices=False)
        V = np.vstack([V, np.eye(d)])[:m]
        # the sign of a direction is arbitrary: its largest entry is made positive
        largest = V[np.arange(m), np.abs(V).argmax(axis=1)]
        return V * np.sign(largest)[:, None]

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        Z = self.Z
        w = self.w
        L = theta.reshape(-1, Z.shape[1])
        Y = Z @ L.T
        # p_ij, the chance that row i draws row j as its neighbor; G_ij is the slope of the loss by
        # the score s_ij that p comes from
        P = self._probabilities(Y)
        if self.same is not None:
            share = np.where(self.same, P, 0.0).sum(axis=1)
            value = float(w @ (1.0 - share))
            G = -w[:, None] * P * (self.same - share[:, None])
        else:
            assert self.y is not None
            mean = P @ self.y
            residual = mean - self.y
            value = float(w @ residual**2)
            G = 2.0 * (w * residual)[:, None] * P * (self.y - mean[:, None])
        # s_ij = -|L z_i - L z_j|², so that the gradient is -2 L Σ G_ij (z_i - z_j)(z_i - z_j)ᵀ; by
        # L Zᵀ = Yᵀ no matrix of all pairs of columns is made
        S = G + G.T
        row_sums = S.sum(axis=1)[:, None]
        gradient = -2.0 * Y.T @ (row_sums * Z - S @ Z)
        value += 0.5 * self.alpha * float((L**2).sum())
        return value, (gradient + self.alpha * L).ravel()

    def _probabilities(self, Y: np.ndarray) -> np.ndarray:
        """p_ij ∝ w_j exp(-|y_i - y_j|²), p_ii = 0."""
        squares = (Y**2).sum(axis=1)
        scores = 2.0 * Y @ Y.T - squares[:, None] - squares + np.log(self.w)
        np.fill_diagonal(scores, -np.inf)
        scores -= scores.max(axis=1, keepdims=True)
        P = np.exp(scores)
        return P / P.sum(axis=1, keepdims=True)

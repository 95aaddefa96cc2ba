"""Parzen classifier: one kernel density per class, and Bayes' theorem; its bandwidths by the
leave-one-out log loss of the posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from lyceum._core.base import Learner, PosteriorClassifier
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block, row_weights
from lyceum._core.probability import (
    AGAINST_RUNNER_UP,
    PRIOR_CONSTRAINTS,
    class_priors,
    log_probability,
    runner_up_odds,
)
from lyceum._core.types import Categories, Data, Priors, Target, Weights
from lyceum.density.bandwidth import deviations
from lyceum.density.kernel_density import KERNEL_CONSTRAINTS, bandwidths_of
from lyceum.density.kernel_sums import KernelSums, leaf_order
from lyceum.report import Explanation, Summary, Table

_ROWS = 4000  # rows that the search compares
_SCORED = 1000  # of these, rows that are left out one at a time
_FARTHEST = 5  # doublings of the factor, up and down
_LEAST = np.log(1e-15)  # of a log posterior, so that one row cannot decide


class ParzenClassifier(PosteriorClassifier, Learner):
    """Parzen classifier (probabilistic neural network): P(k | x) ∝ π_k f_k(x).

    f_k, the kernel density of class k, is that of `KernelDensity` on the rows of the class. A class
    without rows is never predicted. Where the densities of all classes are 0, which kernels of
    bounded support allow, the posteriors are the priors. All rows are kept in memory. A column of
    categories becomes one-of-C columns.

    Parameters
    ----------
    kernel : str, default="gaussian"
        The kernel: "parzen", "gaussian", "laplace", "cauchy", "sinc2", "product_epanechnikov",
        "tricube", "triangular" or "epanechnikov", as `KernelDensity` defines them.
    bandwidth : float, array or str, default="log_loss"
        One number for all columns, or one per column. "log_loss": a multiple of the normal
        reference rule in d columns, σ_j (4 / ((d+2) n))^(1/(d+4)), with σ and n of each class or
        pooled within the classes, whichever has the least leave-one-out log loss of the posteriors;
        it smooths as much as many or coded columns need. "reference": 1.06 σ N^(-1/5) for every
        column of every class. "likelihood": for every class those of the largest leave-one-out
        likelihood. "volume": n_k^(-1/(2d)), windows of the volume 1/√n_k.
    rtol : float, default=1e-4
        The largest relative error of a density; 0 sums over all rows.
    priors : {"laplace", "uniform", "dirichlet_map", "dirichlet_mean"} or array, default=None
        The class priors; None takes n_k / N. See `lyceum.probability.class_priors`.
    prior_alpha : float or array of shape (K,), default=1.0
        The parameters of the Dirichlet distribution in "dirichlet_map" and "dirichlet_mean".

    Attributes
    ----------
    class_count_ : array of shape (K,)
        The weight of the rows of every class.
    class_prior_ : array of shape (K,)
        The prior of every class.
    bandwidth_ : array of shape (K, d)
        The bandwidths of every class.
    rows_ : array of shape (n, d)
        The rows, class by class.
    weights_ : array of shape (n,)
        Their weights.
    class_start_ : array of shape (K + 1,)
        The rows of class k are those from class_start_[k] to class_start_[k + 1].

    See Also
    --------
    KernelDensity : the density of one class.
    lyceum.bayes.QuadraticDiscriminantAnalysis : one Gaussian per class.

    References
    ----------
    Specht, D. F. (1990). Probabilistic neural networks. Neural Networks 3(1).

    Examples
    --------
    >>> from lyceum.density import ParzenClassifier
    >>> X = [[0.0], [0.3], [-0.2], [4.0], [5.0], [-4.0], [-5.0]]
    >>> model = ParzenClassifier(bandwidth=1.0).fit(X, ["near"] * 3 + ["far"] * 4)
    >>> model.predict([[-4.5], [0.1], [4.5]]).tolist()
    ['far', 'near', 'far']
    """

    _reads_rows = "in memory"
    _parameter_constraints: ClassVar[dict] = {
        **KERNEL_CONSTRAINTS,
        "bandwidth": [*KERNEL_CONSTRAINTS["bandwidth"], StrOptions({"log_loss"})],
        **PRIOR_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        bandwidth: Any = "log_loss",
        rtol: float = 1e-4,
        priors: Priors = None,
        prior_alpha: ArrayLike = 1.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.rtol = rtol
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Store the rows of every class, and choose their bandwidths.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        alternative = "lyceum.bayes.QuadraticDiscriminantAnalysis or NaiveBayes"
        block = self._rows(X, y, sample_weight).in_one_block(
            type(self).__name__, alternative
        )
        block = block.without_zero_weights()
        rows = np.asarray(block.X, dtype=np.float64)
        codes = block.y
        assert codes is not None
        w = row_weights(block.w, len(rows))
        K = len(self.classes_)
        self.class_count_ = np.bincount(codes, w, K)
        self.class_prior_ = class_priors(
            self.class_count_, self.priors, self.prior_alpha
        )
        chosen = self._chosen_bandwidths(rows, codes, w)
        parts = [
            self._class_rows(rows[codes == k], w[codes == k], chosen[k])
            for k in range(K)
        ]
        class_rows, weights, bandwidths = zip(*parts)
        self.rows_ = np.concatenate(class_rows)
        self.weights_ = np.concatenate(weights)
        self.bandwidth_ = np.stack(bandwidths)
        self.class_start_ = np.cumsum([0, *map(len, weights)])
        return self

    def _chosen_bandwidths(
        self, rows: np.ndarray, codes: np.ndarray, w: np.ndarray
    ) -> list[Any]:
        """The bandwidth of every class."""
        if not isinstance(self.bandwidth, str) or self.bandwidth != "log_loss":
            return [self.bandwidth] * len(self.classes_)
        h = log_loss_bandwidths(
            rows, codes, w, self._log_priors(), self.kernel, self.rtol
        )
        return list(h)

    def _class_rows(
        self, rows: np.ndarray, w: np.ndarray, bandwidth: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of a class in leaf order, their weights, and its bandwidths."""
        if not len(rows):
            return rows, w, np.ones(rows.shape[1])
        unequal = None if (w == 1.0).all() else w
        h = bandwidths_of(rows, unequal, bandwidth, self.kernel, self.rtol)
        order = leaf_order((rows - rows.mean(axis=0)) / h)
        return rows[order], w[order], h

    # -- predict -----------------------------------------------------------------------

    def _sums(self, k: int, n_columns: int | None = None) -> KernelSums | None:
        """The density of class k over the first columns, or over all; None without rows."""
        rows = slice(self.class_start_[k], self.class_start_[k + 1])
        if rows.start == rows.stop:
            return None
        w = self.weights_[rows]
        return KernelSums.of_first_columns(
            self.rows_[rows],
            None if (w == 1.0).all() else w,
            bandwidth=self.bandwidth_[k],
            kernel=self.kernel,
            rtol=self.rtol,
            n_columns=n_columns or self.rows_.shape[1],
        )

    def _log_joint(self, block: Block) -> np.ndarray:
        log_priors = self._log_priors()
        joint = np.tile(log_priors, (len(block), 1))
        for k in range(len(self.classes_)):
            sums = self._sums(k)
            if sums is not None:
                joint[:, k] += sums.log_density(block.X)
        nowhere = np.isneginf(joint).all(axis=1)
        joint[nowhere] = log_priors
        return joint

    def _log_priors(self) -> np.ndarray:
        return np.where(
            self.class_count_ > 0, log_probability(self.class_prior_), -np.inf
        )

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """The log-odds that every column adds, given those before it, for the class against the
        runner-up.

        log f_k(x) = Σ_j log f_k(x_j | x_1 ... x_(j-1)), exact for product kernels. Base and
        contributions sum to the log of the ratio of the two posteriors.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        return self._explain(X, self._column_odds, AGAINST_RUNNER_UP)

    def _column_odds(self, block: Block) -> np.ndarray:
        # log f_k of the first 0, 1, ..., d columns; each adds the difference to those before it,
        # nothing after a density of 0
        n = len(block)
        K = len(self.classes_)
        d = self.rows_.shape[1]
        chain = np.zeros((n, K, d + 1))
        for k in range(K):
            for j in range(d):
                sums = self._sums(k, j + 1)
                if sums is not None:
                    chain[:, k, j + 1] = sums.log_density(block.X[:, : j + 1])
        before = chain[:, :, :-1]
        terms = np.subtract(
            chain[:, :, 1:],
            before,
            out=np.zeros((n, K, d)),
            where=np.isfinite(before),
        )
        return runner_up_odds(terms, self._log_priors())

    def summary(self) -> Summary:
        """Priors, rows and bandwidths of every class."""
        head = super().summary()
        names = self.design_names
        table = Table(
            "Classes",
            ("class", "prior", "weight", *(f"bandwidth of {name}" for name in names)),
            [
                (str(label), float(prior), float(n), *h.tolist())
                for label, prior, n, h in zip(
                    self.classes_.tolist(),
                    self.class_prior_,
                    self.class_count_,
                    self.bandwidth_,
                )
            ],
        )
        facts = {"rows": len(self.rows_), "kernel": self.kernel, "rtol": self.rtol}
        if isinstance(self.bandwidth, str):
            facts["bandwidths by"] = self.bandwidth.replace("_", " ")
        return Summary(head.title, {**head.facts, **facts}, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        d = len(self.design_names)
        n = len(self.weights_)
        return {
            "rows_": (n, d),
            "weights_": (n,),
            "bandwidth_": (K, d),
            "class_start_": (K + 1,),
            "class_count_": (K,),
            "class_prior_": (K,),
        }


# -- bandwidths by the log loss of the posteriors ----------------------------------------


def log_loss_bandwidths(
    rows: np.ndarray,
    codes: np.ndarray,
    w: np.ndarray,
    log_priors: np.ndarray,
    kernel: str,
    rtol: float,
) -> np.ndarray:
    """The bandwidths (K, d) of least leave-one-out log loss among multiples of two shapes.

    The shapes are the normal reference rule in d columns, σ_j (4 / ((d+2) n))^(1/(d+4)), with the
    standard deviations of each class and its rows, or with those pooled within classes and the mean
    number of rows. The factor is doubled or halved as long as that lowers the loss, then tried at
    half steps beside the best. Of many rows, the search compares 4,000 and leaves out 1,000; the
    rule holds for their number.
    """
    K = len(log_priors)
    sample = _evenly(codes, K, _ROWS)
    parts = _ClassParts.of(
        rows[sample], codes[sample], w[sample], log_priors, kernel, rtol
    )
    own_loss, own_factor = _search(parts, parts.reference[0])
    pooled_loss, pooled_factor = _search(parts, parts.reference[1])
    # the shapes of all rows; of equal losses the pooled one is taken
    own, pooled = _shapes(rows, codes, w, K)
    if own_loss < pooled_loss:
        return own_factor * own
    return pooled_factor * pooled


def _search(parts: _ClassParts, reference: np.ndarray) -> tuple[float, float]:
    """The least loss over factors 2^k and 2^(k ± ½), from 1 in the direction in which it falls."""
    losses = {0.0: parts.loss(reference)}
    for sign in (1.0, -1.0):
        for k in range(1, _FARTHEST + 1):
            losses[sign * k] = parts.loss(2.0 ** (sign * k) * reference)
            if losses[sign * k] >= losses[sign * (k - 1)]:
                break
    middle = min(losses, key=lambda k: losses[k])
    for half_step in (middle - 0.5, middle + 0.5):
        losses[half_step] = parts.loss(2.0**half_step * reference)
    best = min(losses, key=lambda k: losses[k])
    return losses[best], 2.0**best


def _shapes(rows: np.ndarray, codes: np.ndarray, w: np.ndarray, K: int) -> np.ndarray:
    """The reference bandwidths by class and pooled, (2, K, d)."""
    d = rows.shape[1]
    n = np.bincount(codes, w, K)
    own = np.zeros((K, d))
    for k in np.flatnonzero(n):
        own[k] = deviations(rows[codes == k], w[codes == k])
    # σ² pooled within the classes, Σ_k (n_k - 1) σ_k² / (N - K); over all rows where it is 0
    scatter = (np.maximum(n - 1.0, 0.0)[:, None] * own**2).sum(axis=0)
    pooled = np.sqrt(scatter / max(n.sum() - K, 1.0))
    everywhere = deviations(rows, w)
    pooled = np.where(pooled > 0, pooled, np.where(everywhere > 0, everywhere, 1.0))

    def rule(count: np.ndarray | float) -> np.ndarray:
        return (4.0 / ((d + 2.0) * np.maximum(count, 1.0))) ** (1.0 / (d + 4.0))

    by_class = np.where(own > 0, own, pooled) * rule(n)[:, None]
    mean_size = n.sum() / (n > 0).sum()
    return np.stack([by_class, np.tile(pooled * rule(mean_size), (K, 1))])


def _evenly(codes: np.ndarray, K: int, most: int) -> np.ndarray:
    """Up to `most` row numbers, evenly from every class by its share."""
    if len(codes) <= most:
        return np.arange(len(codes))
    chosen = []
    for k in range(K):
        own = np.flatnonzero(codes == k)
        size = min(len(own), max(1, round(most * len(own) / len(codes))))
        if size:
            own = own[np.linspace(0, len(own) - 1, size).astype(int)]
        chosen.append(own)
    return np.sort(np.concatenate(chosen))


@dataclass(frozen=True)
class _ClassParts:
    """The rows of every class in leaf order, and which of them are left out."""

    rows: list[np.ndarray]
    weights: list[np.ndarray]
    scored: list[np.ndarray]  # places in a class
    reference: np.ndarray  # (2, K, d)
    log_priors: np.ndarray
    kernel: str
    rtol: float

    @classmethod
    def of(cls, rows, codes, w, log_priors, kernel, rtol) -> _ClassParts:
        reference = _shapes(rows, codes, w, len(log_priors))
        scored = np.zeros(len(rows), dtype=bool)
        scored[_evenly(codes, len(log_priors), _SCORED)] = True
        parts = []
        for k in range(len(log_priors)):
            own = np.flatnonzero(codes == k)
            if len(own):
                centered = rows[own] - rows[own].mean(axis=0)
                own = own[leaf_order(centered / reference[0, k])]
            # a row is left out with the weight of one row: the class must have more
            left_out = scored[own] & (w[own].sum() > np.minimum(w[own], 1.0))
            parts.append((rows[own], w[own], np.flatnonzero(left_out)))
        class_rows, weights, indices = map(list, zip(*parts))
        return cls(class_rows, weights, indices, reference, log_priors, kernel, rtol)

    def loss(self, bandwidth: np.ndarray) -> float:
        """The mean of -log P(own class | x) over the rows left out one at a time."""
        X, w, owners = self._tested
        if not w.sum() > 0:
            return 0.0
        # log π_k + log f_k(x) for the rows of all classes at once, a row being left out of the
        # density of its own class alone; a class without rows has none
        joint = np.full((len(X), len(self.rows)), -np.inf)
        for k, rows in enumerate(self.rows):
            if not len(rows):
                continue
            sums = KernelSums(
                rows, self.weights[k], bandwidth[k], self.kernel, self.rtol
            )
            is_own = owners == k
            joint[~is_own, k] = sums.log_density(X[~is_own])
            if is_own.any():
                joint[is_own, k] = sums.leave_one_out(self.scored[k])
            joint[:, k] += self.log_priors[k]
        # where no class has a density, the priors decide
        joint[np.isneginf(joint).all(axis=1)] = self.log_priors
        own = joint[np.arange(len(X)), owners] - logsumexp(joint, axis=1)
        return -float(w @ np.maximum(own, _LEAST)) / float(w.sum())

    @cached_property
    def _tested(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows left out one at a time, with their weights and classes."""
        parts = list(zip(self.rows, self.weights, self.scored))
        X = np.concatenate([rows[scored] for rows, _, scored in parts])
        w = np.concatenate([weights[scored] for _, weights, scored in parts])
        sizes = [len(scored) for *_, scored in parts]
        return X, w, np.repeat(np.arange(len(parts)), sizes)

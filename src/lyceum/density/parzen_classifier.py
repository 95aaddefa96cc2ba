"""Parzen classifier: one kernel density per class, and Bayes' theorem."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

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
from lyceum.density.kernel_density import KERNEL_CONSTRAINTS, bandwidths_of
from lyceum.density.kernel_sums import KernelSums, leaf_order
from lyceum.density.posterior_bandwidth import log_loss_bandwidths
from lyceum.report import Explanation, Summary, Table


class ParzenClassifier(PosteriorClassifier, Learner):
    """Parzen classifier (probabilistic neural network): P(k | x) ∝ π_k f_k(x).

    f_k, the kernel density of class k, is that of `KernelDensity` on the rows of the class. A class
    without rows is never predicted. Where the densities of all classes are 0, which kernels of
    bounded support allow, the posteriors are the priors. All rows are kept in memory. A column of
    categories becomes one-of-C columns.

    Parameters
    ----------
    kernel : str, default="gaussian"
        The kernel: "parzen", "gaussian", "laplace", "cauchy", "sinc2", "epanechnikov", "tricube",
        "triangular" or "radial_epanechnikov", as `KernelDensity` defines them.
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
        w = block.w
        assert codes is not None
        w = row_weights(w, len(rows))
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
        self.rows_ = np.concatenate([part[0] for part in parts])
        self.weights_ = np.concatenate([part[1] for part in parts])
        self.bandwidth_ = np.stack([part[2] for part in parts])
        self.class_start_ = np.concatenate(
            [[0], np.cumsum([len(part[1]) for part in parts])]
        )
        return self

    def _chosen_bandwidths(
        self, rows: np.ndarray, codes: np.ndarray, w: np.ndarray
    ) -> list[Any]:
        """The bandwidth of every class."""
        if not isinstance(self.bandwidth, str) or self.bandwidth != "log_loss":
            return [self.bandwidth] * len(self.classes_)
        return [
            *log_loss_bandwidths(
                rows, codes, w, self._log_priors(), self.kernel, self.rtol
            )
        ]

    def _class_rows(
        self, rows: np.ndarray, w: np.ndarray, bandwidth: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of a class in leaf order, their weights, and its bandwidths."""
        if not len(rows):
            return rows, w, np.ones(rows.shape[1])
        if (w == 1.0).all():
            plain = None
        else:
            plain = w
        bandwidth = bandwidths_of(rows, plain, bandwidth, self.kernel, self.rtol)
        order = leaf_order((rows - rows.mean(axis=0)) / bandwidth)
        return rows[order], w[order], bandwidth

    # -- predict -----------------------------------------------------------------------

    def _sums(self, k: int, n_columns: int | None = None) -> KernelSums | None:
        """The density of class k over the first columns, or over all; None without rows."""
        some = slice(self.class_start_[k], self.class_start_[k + 1])
        if some.start == some.stop:
            return None
        w = self.weights_[some]
        return KernelSums.of_first_columns(
            self.rows_[some],
            None if (w == 1.0).all() else w,
            self.bandwidth_[k],
            self.kernel,
            self.rtol,
            n_columns or self.rows_.shape[1],
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
            chain[:, :, 1:], before, out=np.zeros((n, K, d)), where=np.isfinite(before)
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

"""Classification by radial basis functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.base import PosteriorClassifier
from lyceum._core.data import Block
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.neighbors.radial.network import RadialNetwork
from lyceum.report import Explanation

_LEAST = 1e-9  # of a posterior


class RBFNetworkClassifier(PosteriorClassifier, RadialNetwork):
    """A network of radial basis functions with one output per class, fitted to 0 and 1.

        f_k(x) = b_k + Σ_j H_j(x) a_jk, or Σ_j H_j(x) (a_jk + B_jkᵀ x), H_j(x) = exp(-|x - c_j|² / 2
        s_j²),

    in scaled columns x, with H_j divided by Σ_l H_l if normalized. The least-squares fit to 0 and 1
    estimates the posteriors; outputs are cut off below at 1e-9 and divided by their sum. All rows
    are kept in memory while it learns.

    Parameters
    ----------
    standardize : bool or "range", default=True
        Whether columns of numbers are divided by their standard deviation, or range, first.

    Attributes
    ----------
    class_prior_ : array of shape (K,)
        The share of every class, which is added to the outputs.
    centers_ : array of shape (m, d)
        The centers, in the units of the rows.
    widths_ : array of shape (m,)
        The widths s_j, in scaled units.
    log_gains_ : array of shape (m,)
        g_j: 0, or for "em" what comes from the share and the volume of a unit.
    weights_ : array of shape (m, 1 or 1 + d, K)
        The constants a_j, then the slopes B_j of linear units.
    bias_ : array of shape (K,)
        The constant of all rows; 0 where units are normalized.
    normalized_ : bool
        Whether activations are divided by their sum.
    n_undetermined_ : int
        How many weights of an output (for "em", terms of the units' models) rows and penalty do not
        determine: those of least norm are taken.
    mean_, scale_ : arrays of shape (d,)
        What is subtracted from every column, and what it is divided by.
    history_ : list of float
        The mean squared error, or for "em" the log-likelihood, at the start and after every
        iteration.
    n_iter_ : int
        The number of iterations.
    record_ : list of dict
        With `record=True`, for every iteration its number `step`, the `objective`, `centers`,
        `widths` and `weights`.

    See Also
    --------
    RBFNetworkRegressor : numbers instead of classes.
    RestrictedCoulombClassifier : units that grow in number as they are needed.
    lyceum.density.ParzenClassifier : a unit on every row.

    References
    ----------
    Moody, J. and Darken, C. J. (1989). Fast learning in networks of locally-tuned processing units.
    Neural Computation 1(2). Xu, L., Jordan, M. I. and Hinton, G. E. (1995). An alternative model
    for mixtures of experts. Advances in Neural Information Processing Systems 7.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.neighbors import RBFNetworkClassifier
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> model = RBFNetworkClassifier(n_centers=6, centers="uniform").fit(X, np.abs(X[:, 0]) < 1)
    >>> model.predict([[-2.0], [0.0], [2.0]]).tolist()
    [False, True, False]
    """

    def __init__(
        self,
        *,
        n_centers: int = 20,
        centers: Any = "clustered",
        bandwidth: str | float = "shared",
        units: str = "constant",
        fit_by: str = "least_squares",
        normalized: bool | None = None,
        alpha: float = 1e-6,
        standardize: bool | str = True,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_centers = n_centers
        self.centers = centers
        self.bandwidth = bandwidth
        self.units = units
        self.fit_by = fit_by
        self.normalized = normalized
        self.alpha = alpha
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Place the units and fit them.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        Z, codes, w = self._fit_rows(self._rows(X, y, sample_weight))
        K = len(self.classes_)
        self.class_prior_ = np.bincount(codes, w, K) / w.sum()
        self._fit_units(Z, np.eye(K)[codes] - self.class_prior_, w)
        return self

    def _posteriors(self, block: Block) -> np.ndarray:
        return self._output_shares(self._scale_rows(block))

    def _output_shares(self, Z: np.ndarray) -> np.ndarray:
        """The outputs of the units plus the priors, cut above 0, as shares of their sum."""
        outputs = self._units.outputs(Z) + self.class_prior_
        kept = np.where(self.class_prior_ > 0, np.maximum(outputs, _LEAST), 0.0)
        return kept / kept.sum(axis=1, keepdims=True)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the posterior of the predicted class, from the mean row to the
        row.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        return self._explain(X, self._columns, "posterior")

    def _columns(self, block: Block) -> np.ndarray:
        code = self._posteriors(block).argmax(axis=1)
        rows = np.arange(len(block))

        def posterior_of_code(Z: np.ndarray) -> np.ndarray:
            return self._output_shares(Z)[rows, code]

        return np.column_stack([code, self._walk(block, posterior_of_code)])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {**super()._shapes(), "class_prior_": (len(self.classes_),)}

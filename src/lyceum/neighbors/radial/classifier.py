"""Classification by radial basis functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from lyceum._core.base import PosteriorClassifier, affine_operation
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block
from lyceum._core.solvers import fit_softmax, softmax
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.errors import SettingError, cannot_export
from lyceum.neighbors.radial.network import (
    RADIAL_CONSTRAINTS,
    RadialNetwork,
    unit_step,
)
from lyceum.report import Explanation

_LEAST = 1e-9  # of a posterior


class RBFNetworkClassifier(PosteriorClassifier, RadialNetwork):
    """A network of radial basis functions with one output per class.

        f_k(x) = b_k + Σ_j H_j(x) a_jk, or Σ_j H_j(x) (a_jk + B_jkᵀ x), H_j(x) = exp(-|x - c_j|² / 2
        s_j²),

    in scaled columns x, with H_j divided by Σ_l H_l if normalized. The least-squares fit to 0 and 1
    estimates the posteriors; outputs are cut off below at 1e-9 and divided by their sum. With
    `outputs="logistic"` the posteriors are P(k | x) ∝ exp f_k(x), and the weights those of the
    largest likelihood: logistic regression on the units. All rows are kept in memory while it
    learns.

    Parameters
    ----------
    outputs : {"linear", "logistic"}, default="linear"
        Least squares to 0 and 1, or logistic regression on the units, whose centers and widths then
        stay as they were placed (`fit_by="least_squares"`).
    standardize : bool or "range", default=True
        Whether columns of numbers are divided by their standard deviation, or range, first.

    Attributes
    ----------
    class_prior_ : array of shape (K,)
        The share of every class, which is added to linear outputs.
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
        The mean squared error of the outputs f against 0 and 1, before they are cut off and
        divided by their sum, or for "em" the log-likelihood, at the start and after every
        iteration; the mean log loss of logistic outputs.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RADIAL_CONSTRAINTS,
        "outputs": [StrOptions({"linear", "logistic"})],
    }

    def __init__(
        self,
        *,
        n_centers: int = 20,
        centers: Any = "clustered",
        bandwidth: str | float = "shared",
        units: str = "constant",
        fit_by: str = "least_squares",
        outputs: str = "linear",
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
        self.outputs = outputs
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
        hot = np.eye(K)[codes]
        if self.outputs == "logistic":
            self._fit_logistic(Z, hot, w)
        else:
            self._fit_units(Z, hot - self.class_prior_, w)
        return self

    def _fit_logistic(self, Z: np.ndarray, hot: np.ndarray, w: np.ndarray) -> None:
        """Weights of the largest likelihood for units that stay where they are placed."""
        if self.fit_by != "least_squares":
            raise SettingError(
                f"outputs='logistic' leaves centers and widths as they are placed, but"
                f" fit_by={self.fit_by!r} moves them: leave it at 'least_squares'"
            )
        normalized = bool(self.normalized)
        units = self._place_units(Z, w / w.sum(), normalized, hot.shape[1])
        design = units.design(Z)
        if not normalized:
            design = design[:, :-1]  # the bias is the intercept
        # alpha is relative to the mean square of the activations, as in least squares
        size = float(w @ (design**2).mean(axis=1)) or 1.0
        V = fit_softmax(
            design,
            hot,
            w,
            alpha=float(self.alpha) * size,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
        )
        # a constant in all scores changes no posterior
        V = V - V.mean(axis=0)
        weights = V[:, :-1].T.reshape(len(units.centers), -1, hot.shape[1])
        units = replace(units, weights=weights, bias=V[:, -1])
        self._keep_units(units)
        scores = self._units.outputs(Z)
        log_loss = logsumexp(scores, axis=1) - (hot * scores).sum(axis=1)
        self.history_ = [float(np.average(log_loss, weights=w))]
        self.n_iter_ = 1
        self._keep_steps([unit_step(units, self.history_[0])])

    def _posteriors(self, block: Block) -> np.ndarray:
        return self._output_shares(self._scale_rows(block))

    def _output_shares(self, Z: np.ndarray) -> np.ndarray:
        """The outputs of the units plus the priors, cut above 0, or their exponentials, as shares
        of their sum."""
        outputs = self._units.outputs(Z)
        if self.outputs == "logistic":
            return softmax(np.where(self.class_prior_ > 0, outputs, -np.inf))
        outputs = outputs + self.class_prior_
        kept = np.where(self.class_prior_ > 0, np.maximum(outputs, _LEAST), 0.0)
        return kept / kept.sum(axis=1, keepdims=True)

    def _operations(self) -> list[Operation]:
        prior = self.class_prior_
        if not (prior > 0).all():
            raise cannot_export(self, "a class has no rows")
        prepare = affine_operation(self.mean_, self.scale_)
        outputs = [prepare, *self._units.operations()]
        if self.outputs == "logistic":
            return [*outputs, ("softmax", {})]
        K = len(prior)
        # max(f + prior, least) = relu(f + prior - least) + least
        identity = np.eye(K).tolist()
        above = {"coef": identity, "intercept": (prior - _LEAST).tolist()}
        least = {"coef": identity, "intercept": [_LEAST] * K}
        relu: Operation = ("activate", {"function": "relu"})
        return [*outputs, ("linear", above), relu, ("linear", least), ("shares", {})]

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

"""The Laplace posterior N(w*, H⁻¹) of the weights of a logistic regression, and its standard
errors."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from lyceum.linear.logistic.report import ratio


class LaplacePosterior:
    """Standard errors of a fitted logistic regression, and draws of its weights."""

    coef_: np.ndarray
    intercept_: np.ndarray
    mean_: np.ndarray
    fit_intercept: bool
    n_draws: int
    seed_: int

    def _set_standard_errors(self, inverse: np.ndarray, shift: np.ndarray) -> None:
        """From H⁻¹ with the intercepts taken at `shift`; those of the posterior are taken at the
        means."""
        if self.fit_intercept:
            at_means = self.mean_ - shift
        else:
            at_means = np.zeros_like(shift)
        self.posterior_covariance_ = self._move_intercepts(inverse, at_means)
        self.covariance_ = self._move_intercepts(inverse, -shift)
        errors = np.sqrt(np.maximum(np.diagonal(self.covariance_), 0.0)).reshape(
            len(self.coef_), -1
        )
        self.standard_errors_ = errors[:, :-1]
        self.intercept_standard_error_ = errors[:, -1]
        self.z_ = ratio(self.coef_, self.standard_errors_)
        self.p_ = 2 * ndtr(-np.abs(self.z_))

    def _move_intercepts(self, inverse: np.ndarray, by: np.ndarray) -> np.ndarray:
        """The covariance when every intercept is taken `by` farther on: b₀ + by · b."""
        if not by.any():
            return inverse
        outputs = len(self.coef_)
        size = len(by) + 1
        move = np.eye(size)
        move[-1, :-1] = by
        blocks = inverse.reshape(outputs, size, outputs, size)
        return np.einsum("ij,ajbl,kl->aibk", move, blocks, move, optimize=True).reshape(
            outputs * size, -1
        )

    def _forget_standard_errors(self) -> None:
        for name in ("covariance_", "posterior_covariance_", "standard_errors_", "z_", "p_"):
            self.__dict__.pop(name, None)
        self.__dict__.pop("intercept_standard_error_", None)

    def _draws(self) -> np.ndarray:
        """Weights (draws, outputs, d + 1) from N(w*, H⁻¹), the intercepts at the column means."""
        if self.fit_intercept:
            shift = self.mean_
        else:
            shift = np.zeros_like(self.mean_)
        mode = np.column_stack([self.coef_, self.intercept_ + self.coef_ @ shift])
        values, vectors = np.linalg.eigh(self.posterior_covariance_)
        normal = np.random.default_rng(self.seed_).standard_normal((self.n_draws, len(values)))
        root = (
            vectors * np.sqrt(np.maximum(values, 0.0))
        ) @ vectors.T  # whatever signs the vectors have
        return mode + (normal @ root).reshape(-1, *mode.shape)

"""Radial units: their centers, widths and outputs, and the derivatives of these."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from lyceum._core.distances import nearest
from lyceum._core.solvers import ranked_squares
from lyceum._core.statistics import row_uniforms
from lyceum._core.types import Operation
from lyceum.cluster import KMeans

# of the largest squared singular value: broad units overlap, and need small ones for their fit
_NULL = 1e-14


def place_centers(
    Z: np.ndarray, w: np.ndarray, m: int, how: str, seed: int
) -> np.ndarray:
    """m centers (fewer where there are fewer distinct rows) for rows in scaled units."""
    if how == "uniform":
        # over the box of the rows; Halton's first point is its corner
        low = Z.min(axis=0)
        high = Z.max(axis=0)
        d = Z.shape[1]
        if d > 1:
            points = stats.qmc.Halton(d, scramble=False).random(m + 1)[1:]
            return low + (high - low) * points
        if m > 1:
            return np.linspace(low, high, m)
        return (low + high)[None] / 2
    m = min(m, len(np.unique(Z, axis=0)))
    if how == "sampled":
        order = np.argsort(row_uniforms(0, len(Z), seed), kind="stable")
        _, first = np.unique(Z[order], axis=0, return_index=True)
        return Z[order[np.sort(first)[:m]]]
    return KMeans(m, random_state=seed).fit(Z, sample_weight=w).cluster_centers_


def start_widths(
    Z: np.ndarray, w: np.ndarray, centers: np.ndarray, shared: bool
) -> np.ndarray:
    """The root mean square distance of every center to its two nearest others, or the mean of
    these."""
    m = len(centers)
    if m > 1:
        near = nearest(centers, min(2, m - 1)).distances
        widths = np.sqrt((near**2).mean(axis=1))
    else:
        squares = ((Z - centers[0]) ** 2).sum(axis=1)
        widths = np.sqrt([np.average(squares, weights=w)])
    positive = widths[widths > 0]
    typical = positive.mean() if len(positive) else 1.0
    widths = np.where(widths > 0, widths, typical)
    if shared:
        return np.full(m, widths.mean())
    return widths


@dataclass(frozen=True)
class RadialUnits:
    """H_j(z) = exp(-|z - c_j|² / 2 s_j² + g_j), divided by their sum if `normalized`; and their
    outputs.

    The output is bias + Σ_j H_j(z) (a_j + B_j z), with B_j = 0 unless units are linear.
    """

    centers: np.ndarray  # (m, d)
    widths: np.ndarray  # (m,)
    log_gains: np.ndarray  # (m,)
    normalized: bool
    linear: bool
    weights: np.ndarray  # (m, 1 or 1 + d, K): a_j, then B_j
    bias: np.ndarray  # (K,)
    # directions of the weights of an output that the last solve took as null
    n_undetermined: int = 0

    def squares(self, Z: np.ndarray) -> np.ndarray:
        """|z - c_j|², (n, m), about the mean of the centers, which keeps digits."""
        middle = self.centers.mean(axis=0)
        A = Z - middle
        C = self.centers - middle
        # |a - c|² = |a|² - 2 a·c + |c|²; rounding may make it negative
        row_squares = (A**2).sum(axis=1)
        center_squares = (C**2).sum(axis=1)
        squares = row_squares[:, None] - 2 * A @ C.T + center_squares
        return np.maximum(squares, 0.0)

    def activations(
        self, Z: np.ndarray, squares: np.ndarray | None = None
    ) -> np.ndarray:
        """H, (n, m)."""
        if squares is None:
            squares = self.squares(Z)
        log_h = self.log_gains - squares / (2 * self.widths**2)
        if not self.normalized:
            return np.exp(log_h)
        # about the largest, so that far from all centers not all shares are 0 / 0
        H = np.exp(log_h - log_h.max(axis=1, keepdims=True))
        return H / H.sum(axis=1, keepdims=True)

    def design(self, Z: np.ndarray) -> np.ndarray:
        """The columns that the weights multiply, (n, p): those of the units, and 1 for the bias."""
        H = self.activations(Z)
        one = np.ones((len(Z), 1))
        columns = H
        if self.linear:
            terms = np.concatenate([one, Z], axis=1)
            columns = (H[:, :, None] * terms[:, None]).reshape(len(Z), -1)
        if self.normalized:
            return columns
        return np.hstack([columns, one])

    def with_coefficients(self, coefficients: np.ndarray) -> RadialUnits:
        """With the weights (and the bias) that multiply `design`."""
        K = coefficients.shape[1]
        m = len(self.centers)
        bias = np.zeros(K)
        if not self.normalized:
            bias = coefficients[-1]
            coefficients = coefficients[:-1]
        return replace(self, weights=coefficients.reshape(m, -1, K), bias=bias)

    def solve(
        self, Z: np.ndarray, T: np.ndarray, w: np.ndarray, alpha: float
    ) -> RadialUnits:
        """With weights by least squares, Σ w |f(z) - t|² + alpha · (mean square of the design)
        |weights|²."""
        root = np.sqrt(w)[:, None]
        P = self.design(Z) * root
        p = P.shape[1]
        # the penalty as further rows, √(alpha · size) for each weight and 0 for the bias
        size = float((P**2).sum()) / p or 1.0
        penalty = np.full(p, np.sqrt(alpha * size))
        if not self.normalized:
            penalty[-1] = 0.0
        rows = np.vstack([P, np.diag(penalty)])
        targets = np.vstack([T * root, np.zeros((p, T.shape[1]))])
        solution = ranked_squares(rows, targets, _NULL)
        solved = self.with_coefficients(solution.coef)
        return replace(solved, n_undetermined=p - solution.rank)

    def outputs(self, Z: np.ndarray) -> np.ndarray:
        """f(z), (n, K); the sums are in the order of columns, so that other rows do not change
        them."""
        squares = ((Z[:, None, :] - self.centers) ** 2).sum(axis=2)
        H = self.activations(Z, squares)
        out = np.einsum("ij,jk->ik", H, self.weights[:, 0]) + self.bias
        if self.linear:
            out += np.einsum("ij,id,jdk->ik", H, Z, self.weights[:, 1:])
        return out

    def operations(self) -> list[Operation]:
        """`outputs` of scaled cells, for exported models."""
        m, d = self.centers.shape
        K = len(self.bias)
        units = {
            "centers": self.centers.tolist(),
            "halves": (0.5 / self.widths**2).tolist(),
            "constants": np.broadcast_to(self.log_gains, m).tolist(),
        }
        activate: Operation = ("activate", {"function": "exp"})
        if self.normalized:
            activate = ("softmax", {})
        H: list[Operation] = [("radial", units), activate]
        bias = self.bias.tolist()
        if not self.linear:
            return [
                *H,
                ("linear", {"coef": self.weights[:, 0].T.tolist(), "intercept": bias}),
            ]
        # the models a_j + B_j z of all units, weighted by their activations
        slopes = self.weights[:, 1:].transpose(0, 2, 1).reshape(m * K, d)
        models = {
            "coef": slopes.tolist(),
            "intercept": self.weights[:, 0].ravel().tolist(),
        }
        both = [H, [("linear", models)]]
        identity = {"coef": np.eye(K).tolist(), "intercept": bias}
        return [
            ("branches", {"branches": both}),
            ("mix", {"n": m, "width": K}),
            ("linear", identity),
        ]

    # -- gradients ---------------------------------------------------------------------

    def pack(self) -> np.ndarray:
        """All parameters in one vector: centers, logarithms of the widths, weights, bias."""
        parts = (self.centers, np.log(self.widths), self.weights, self.bias)
        return np.concatenate([part.ravel() for part in parts])

    def unpack(self, theta: np.ndarray) -> RadialUnits:
        m, d = self.centers.shape
        cuts = np.cumsum([m * d, m, self.weights.size])
        centers, log_widths, weights, bias = np.split(theta, cuts)
        return replace(
            self,
            centers=centers.reshape(m, d),
            widths=np.exp(np.clip(log_widths, -50, 50)),
            weights=weights.reshape(self.weights.shape),
            bias=bias,
        )

    def loss(
        self, Z: np.ndarray, T: np.ndarray, w: np.ndarray, alpha: float
    ) -> tuple[float, np.ndarray]:
        """Σ w |f(z) - t|² / 2 + alpha |weights|² / 2 with Σ w = 1, and its gradient, ordered as in
        `pack`."""
        # outputs F = Σ_j H_j A_j + bias of activations H and linear models A
        squares = self.squares(Z)
        H = self.activations(Z, squares)
        A = np.einsum("jk,i->ijk", self.weights[:, 0], np.ones(len(Z)))
        if self.linear:
            A = A + np.einsum("id,jdk->ijk", Z, self.weights[:, 1:])
        F = np.einsum("ij,ijk->ik", H, A) + self.bias
        R = (F - T) * w[:, None]
        penalty = 0.5 * alpha * float((self.weights**2).sum())
        value = 0.5 * float((R * (F - T)).sum()) + penalty
        # back through F: ∂/∂H = R · A, ∂/∂weights = H (1, z) ⊗ R, ∂/∂bias = Σ R
        dH = np.einsum("ik,ijk->ij", R, A)
        d_weights = alpha * self.weights
        d_weights[:, 0] += H.T @ R
        if self.linear:
            d_weights[:, 1:] += np.einsum("ij,id,ik->jdk", H, Z, R)
        d_bias = R.sum(axis=0)
        if self.normalized:
            d_bias = np.zeros(len(self.bias))
        parts = (*self._unit_gradients(Z, squares, H, dH), d_weights, d_bias)
        return value, np.concatenate([part.ravel() for part in parts])

    def _unit_gradients(
        self, Z: np.ndarray, squares: np.ndarray, H: np.ndarray, dH: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gradient by centers and by logarithms of widths, from that by the activations."""
        # by log h_j: ∂H_j = H_j, and of shares ∂H_i = H_i (δ_ij - H_j), the softmax
        slope = H * dH
        if self.normalized:
            slope = H * (dH - (H * dH).sum(axis=1, keepdims=True))
        # log h_j = -|z - c_j|² / 2 s_j²: by c_j (z - c_j) / s_j², by log s_j |z - c_j|² / s_j²
        scaled = slope / self.widths**2
        d_centers = scaled.T @ Z - scaled.sum(axis=0)[:, None] * self.centers
        return d_centers, (scaled * squares).sum(axis=0)

"""Workloads of kernel densities."""

from __future__ import annotations

import numpy as np
from workloads import Workload, learner, size, workload


def kernel_density_workload(scale, n, m, d, h, fft):
    """Gaussian kernel density of n normal rows at m points; the quality is the largest relative
    error."""
    rng = np.random.default_rng(11)
    n, m = size(n, scale), size(m, scale)
    X, points = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    some = points[:200]
    squares = ((some[:, None] - X) ** 2).sum(axis=2) if d * n <= 200_000 else None
    exact = np.empty(len(some))
    for i, point in enumerate(some):
        q = squares[i] if squares is not None else ((X - point) ** 2).sum(axis=1)
        exact[i] = np.exp(-0.5 * q / h**2).mean() / (h * np.sqrt(2 * np.pi)) ** d

    def scipy_kde():
        from scipy.stats import gaussian_kde

        def run():
            model = gaussian_kde(X.T)
            model.set_bandwidth(1.0)
            model.cho_cov = h * np.eye(d)  # a plain product kernel, as all others have
            model.log_det = 2 * d * np.log(h * np.sqrt(2 * np.pi))
            return model(points.T)

        return run

    def kdepy_fft():
        from KDEpy import FFTKDE
        from scipy.interpolate import RegularGridInterpolator

        def run():
            grid, values = FFTKDE(kernel="gaussian", bw=h).fit(X).evaluate(fft)
            if d == 1:
                return np.interp(points[:, 0], np.ravel(grid), values)
            axes = [np.unique(column) for column in grid.T]
            return RegularGridInterpolator(axes, values.reshape([fft] * d))(points)

        return run

    use = lambda model: np.exp(model.fit(X).score_samples(points))  # noqa: E731
    return Workload(
        "Density",
        f"KDE Gaussian h={h}, {d}-d n={n:,}, density at {m:,} points, relative error 1e-4",
        {
            "lyceum": learner(
                "lyceum.density.KernelDensity", use, bandwidth=h, rtol=1e-4
            ),
            f"KDEpy FFTKDE {fft}^{d} grid + interp": kdepy_fft,
            "sklearn KernelDensity rtol=1e-4": learner(
                "sklearn.neighbors.KernelDensity", use, bandwidth=h, rtol=1e-4
            ),
            "scipy gaussian_kde": scipy_kde,
        },
        lambda found: {
            "within 1e-4": float(np.abs(found[:200] / exact - 1).max() <= 1e-4),
            "relative error": np.abs(found[:200] / exact - 1).max(),
        },
        ("within 1e-4", +1, 0.0),
    )


@workload
def kde_1d(scale):
    return kernel_density_workload(scale, 100_000, 10_000, 1, 0.15, 2**14)


@workload
def kde_3d(scale):
    return kernel_density_workload(scale, 50_000, 5_000, 3, 0.3, 64)


@workload
def kde_bandwidth(scale):
    n = size(20_000, scale)
    rng = np.random.default_rng(12)
    x = np.where(rng.random(n) < 0.5, rng.normal(size=n), 0.3 * rng.normal(size=n) + 3)

    def likelihood(h):
        """The mean leave-one-out log-likelihood, in blocks of all pairs."""
        total = 0.0
        for start in range(0, n, 1000):
            block = (
                np.exp(-0.5 * ((x[start : start + 1000, None] - x) / h) ** 2).sum(
                    axis=1
                )
                - 1.0
            )
            total += np.log(block / ((n - 1) * h * np.sqrt(2 * np.pi))).sum()
        return total / n

    def lyceum_search():
        from lyceum.density import likelihood_bandwidth

        return lambda: likelihood_bandwidth(x)

    def plain_search():
        from scipy.optimize import minimize_scalar

        def run():
            found = minimize_scalar(
                lambda log_h: -likelihood(np.exp(log_h)),
                bounds=(-6, 1),
                method="bounded",
                options={"xatol": 1e-3},
            )
            return float(np.exp(found.x))

        return run

    return Workload(
        "Density",
        f"Leave-one-out likelihood bandwidth, Gaussian, 1-d n={n:,}",
        {
            "lyceum": lyceum_search,
            "scipy minimize_scalar over all pairs in NumPy": plain_search,
        },
        lambda h: {"mean leave-one-out log-likelihood": likelihood(h), "bandwidth": h},
        ("mean leave-one-out log-likelihood", +1, 1e-4),
    )

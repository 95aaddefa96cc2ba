"""Training by L-BFGS: all rows in every step, along directions of approximate curvature."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy import optimize

from lyceum.neural.training import Training


def minimize_by_lbfgs(
    training: Training,
    windows: Iterable[np.ndarray],
    limits: tuple[int, int],
    tol: float,
    observe: Callable[[float], None],
) -> tuple[int, bool]:
    """Bring the parameters of a training to a minimum of its loss over all rows.

    Every evaluation is one pass over the windows, so that rows may stream.

    Parameters
    ----------
    training : Training
        Its parameters are where the descent starts, and then where it ended.
    windows : packed rows, which can be read again
    limits : (int, int)
        The most iterations, and the most evaluations.
    tol : float
        Stop where no slope is larger.
    observe : function of the loss, called after every iteration

    Returns
    -------
    (int, bool)
        The number of iterations, and whether the loss no longer fell.
    """
    losses: list[float] = []

    def objective(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        pad = training.architecture.pad
        training.theta[:] = pad(parameters, training.dtype)
        loss, slopes = training.loss_and_slopes(windows)
        losses.append(loss)
        return loss, slopes

    def after(parameters: np.ndarray) -> None:
        training.theta[:] = training.architecture.pad(parameters, training.dtype)
        training.steps += 1
        observe(losses[-1])

    result = optimize.minimize(
        objective,
        training.keep(),
        jac=True,
        method="L-BFGS-B",
        callback=after,
        options={
            "maxiter": limits[0],
            "maxfun": limits[1],
            "gtol": tol,
            "ftol": 64 * np.finfo(np.float64).eps,
        },
    )
    training.theta[:] = training.architecture.pad(result.x, training.dtype)
    return int(result.nit), bool(result.status == 0)

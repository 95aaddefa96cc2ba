"""Class priors: the probability of every class before a row is seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.types import ClassWeight, Priors
from lyceum.errors import SettingError, number_setting

# Unnormalized priors of classes of weight n, for the Dirichlet parameters a. Each sums to the
# denominator of its formula: N, N + K, K, N + a_0 - K, N + a_0.
_RULES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "data": lambda n, a: n,
    "laplace": lambda n, a: n + 1.0,
    "uniform": lambda n, a: np.ones_like(n),
    "dirichlet_map": lambda n, a: np.maximum(n + a - 1.0, 0.0),
    "dirichlet_mean": lambda n, a: n + a,
}

PRIOR_CONSTRAINTS: dict[str, list] = {
    "priors": [None, StrOptions(set(_RULES) - {"data"}), "array-like"],
    "prior_alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
}


def class_priors(weight: object, priors: Priors = None, alpha: Any = 1.0) -> np.ndarray:
    """The prior of every class, from the weights of the classes or as given.

    Parameters
    ----------
    weight : array-like of shape (K,)
        n_k, the weight of the rows of every class.
    priors : {"laplace", "uniform", "dirichlet_map", "dirichlet_mean"} or array, default=None
        None: n_k / N. "laplace": (n_k + 1) / (N + K). "uniform": 1 / K. "dirichlet_map", the mode
        under a Dirichlet(alpha) prior: (n_k + α_k - 1) / (N + α_0 - K), with 0 for a class where
        that is negative. "dirichlet_mean", its mean: (n_k + α_k) / (N + α_0). An array: the priors
        themselves.
    alpha : float or array of shape (K,), default=1.0
        The parameters of the Dirichlet prior.

    Returns
    -------
    array of shape (K,)
        They sum to 1.

    See Also
    --------
    DirichletMultinomial : The Dirichlet prior and its posterior.
    class_weight_factors : Weights of classes instead of priors.

    Examples
    --------
    >>> n = np.array([6.0, 3.0, 0.0])
    >>> class_priors(n, "laplace") * 12
    array([7., 4., 1.])
    >>> class_priors(n, "dirichlet_map", alpha=[2.0, 2.0, 2.0]) * 12
    array([7., 4., 1.])
    """
    weight = np.asarray(weight, dtype=np.float64)
    # by a rule, from the weights
    if priors is None or isinstance(priors, str):
        shares = _RULES[priors or "data"](weight, _check_alpha(alpha, len(weight)))
        return shares / shares.sum()
    given = number_setting("priors", priors)
    if given.shape != (len(weight),):
        raise SettingError(
            "Number of priors must match number of classes: class priors of shape"
            f" {given.shape} were given for {len(weight)} classes"
        )
    if not (given >= 0).all() or not np.isclose(given.sum(), 1.0):
        raise SettingError(
            f"class priors must be non-negative and sum to 1, but they are {given.tolist()}"
        )
    return given / given.sum()


def log_probability(probabilities: np.ndarray) -> np.ndarray:
    """Logarithms, -inf at zero without a warning.

    Parameters
    ----------
    probabilities : array

    Examples
    --------
    >>> log_probability(np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def _check_alpha(alpha: Any, n_classes: int) -> np.ndarray:
    try:
        alpha = np.asarray(alpha, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError(
            f"prior_alpha is {alpha!r}: give one positive number, or one per class"
        ) from error
    if alpha.shape not in ((), (n_classes,)) or not (alpha > 0).all():
        raise SettingError(
            f"prior_alpha must be one positive number, or one for each of the {n_classes} classes; "
            f"it is {alpha.tolist()}"
        )
    return np.broadcast_to(alpha, (n_classes,))


def check_shares(weights: ArrayLike | None, n: int, what: str, each: str) -> np.ndarray:
    """Weights scaled to sum to 1; equal ones for None.

    Parameters
    ----------
    weights : array of shape (n,), or None
        Finite, not negative, and not all zero.
    n : int
    what : str
        The name of the setting, for messages.
    each : str
        The thing that has a weight, for messages.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> check_shares([1, 3], 2, "weights", "member").tolist()
    [0.25, 0.75]
    """
    if weights is None:
        return np.full(n, 1.0 / n)
    shares = number_setting(what, weights)
    if shares.shape != (n,):
        raise SettingError(
            f"{what} has the shape {shares.shape}: give one number per {each}, {n} in all"
        )
    if not np.isfinite(shares).all() or (shares < 0).any() or not shares.sum() > 0:
        raise SettingError(
            f"{what} must be finite, not negative and not all zero, not {shares.tolist()}"
        )
    return shares / shares.sum()


def class_weight_factors(
    class_weight: ClassWeight, labels: list, weight: np.ndarray | None
) -> np.ndarray | None:
    """The factor on the weights of the rows of every class.

    Parameters
    ----------
    class_weight : None, "balanced" or dict of label to factor
        None: no factors. "balanced": N / (K n_k), which gives all classes the same total weight (1
        for a class without rows). A dict: the factors of some classes, 1 for the others.
    labels : list of K labels
        In the order of the factors.
    weight : array of shape (K,) or None
        n_k, the weight of the rows of every class; needed for "balanced".

    Returns
    -------
    array of shape (K,) or None

    See Also
    --------
    class_priors : Priors of classes instead of weights.

    Examples
    --------
    >>> class_weight_factors("balanced", ["bad", "good"], np.array([1.0, 3.0])).round(3).tolist()
    [2.0, 0.667]
    >>> class_weight_factors({"bad": 5}, ["bad", "good"], None).tolist()
    [5.0, 1.0]
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in labels]
        if unknown:
            raise SettingError(
                f"class_weight names the class {unknown[0]!r}; the classes are {labels}"
            )
        for label, factor in class_weight.items():
            if not isinstance(factor, Real) or not 0.0 <= float(factor) < np.inf:
                raise SettingError(
                    f"class_weight has {factor!r} for the class {label!r}: give a finite number of"
                    " at least 0"
                )
        factors = np.array([float(class_weight.get(label, 1.0)) for label in labels])
        if len(labels) and not factors.any():
            raise SettingError(
                "class_weight is 0 for every class: there is nothing to learn from"
            )
        return factors
    assert weight is not None
    share = weight * len(weight)
    return np.divide(weight.sum(), share, out=np.ones_like(share), where=share > 0)

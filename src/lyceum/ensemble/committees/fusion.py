"""Rules of fusion: one answer from the answers of many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from lyceum._core.data import row_weights
from lyceum._core.probability import check_shares
from lyceum.errors import DataError, SettingError

NUMBER_RULES = ("sum", "average", "weighted", "median", "minimum", "maximum")
CLASS_RULES = ("vote", *NUMBER_RULES, "product")
TAKES_WEIGHTS = ("vote", "sum", "average", "weighted", "product")
_MOST_STEPS = 100
_SMALLEST_GAIN = 1e-10  # of the mean log-likelihood
_SHORTEST_STEP = 1e-8


def fuse(
    outputs: Any,
    rule: str = "sum",
    weights: ArrayLike | None = None,
) -> np.ndarray:
    """The answer of a committee by one of the rules of fusion, before it is normalized.

    Parameters
    ----------
    outputs : array of shape (L, K) or (L, n, K)
        The answers of L members: posteriors of K classes, or numbers.
    rule : {"vote", "sum", "average", "weighted", "median", "minimum", "maximum", "product"}
        How answers are combined, class by class. "sum" and "average" are the weighted mean Σ_l w_l
        p_l(k); "vote" is the share of the members whose largest answer is k; "product" is Π_l
        p_l(k), or Π_l p_l(k)^(L w_l) with weights.
    weights : array of shape (L,), optional
        What members weigh, up to a factor; equal by default. Not for median, minimum and maximum.

    Returns
    -------
    array of shape (K,) or (n, K)

    See Also
    --------
    VotingClassifier, VotingRegressor : Learners that are combined by these rules.

    References
    ----------
    Kittler, Hatef, Duin and Matas (1998), On combining classifiers, IEEE PAMI 20.

    Examples
    --------
    >>> answers = [[0.2, 0.5, 0.3], [0.0, 0.6, 0.4], [0.4, 0.4, 0.2]]
    >>> fuse(answers, "median").tolist(), fuse(answers, "minimum").tolist()
    ([0.2, 0.5, 0.3], [0.0, 0.4, 0.2])
    >>> fuse(answers, "product").round(3).tolist()
    [0.0, 0.12, 0.024]
    """
    outputs = answers_of_members(outputs)
    if rule not in CLASS_RULES:
        raise SettingError(
            f"rule must be one of {', '.join(CLASS_RULES)}, not {rule!r}"
        )
    if outputs.ndim < 2 or not len(outputs):
        raise DataError(
            f"outputs of shape {outputs.shape} are not those of members: give (members, rows, K)"
        )
    if weights is not None and rule not in TAKES_WEIGHTS:
        raise SettingError(
            f"the rule {rule!r} takes no weights: choose one of {', '.join(TAKES_WEIGHTS)}"
        )
    w = check_shares(weights, len(outputs), "weights", "member")
    if rule == "median":
        return np.median(outputs, axis=0)
    if rule == "minimum":
        return outputs.min(axis=0)
    if rule == "maximum":
        return outputs.max(axis=0)
    if rule == "product":
        if np.ptp(w) == 0.0:
            return outputs.prod(axis=0)
        # 0 ** 0 is 1: a member without weight says nothing
        powers = (w * len(w)).reshape(-1, *[1] * (outputs.ndim - 1))
        return (outputs**powers).prod(axis=0)
    if rule == "vote":
        most = outputs.argmax(axis=-1)
        outputs = (most[..., None] == np.arange(outputs.shape[-1])).astype(np.float64)
    return weighted_sum(outputs, w)


def answers_of_members(outputs: Any) -> np.ndarray:
    """The answers of members as one array of numbers, member by member."""
    try:
        return np.asarray(outputs, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "outputs must be numbers, as many for every member: give (members, rows, K), with a"
            " column for every class also for members that have not seen it"
        ) from None


def check_class_codes(target: np.ndarray, n_classes: int, name: str) -> None:
    """Refuse targets that are not the places of their classes among the columns of the answers."""
    if (
        target.dtype.kind not in "biuf"
        or not np.isin(target, np.arange(n_classes)).all()
    ):
        raise DataError(
            f"{name} must hold class codes, 0 to {n_classes - 1}, for posteriors of {n_classes}"
            f" classes, not {target[:3].tolist()}...: give the places of the labels,"
            " np.searchsorted(classes, labels)"
        )


def weighted_sum(outputs: Iterable[np.ndarray], w: np.ndarray) -> np.ndarray:
    """The weighted mean of answers that come one after the other, added up in this order.

    Parameters
    ----------
    outputs : iterable of arrays of one shape
        The answers of the members.
    w : array of shape (L,)
        What members weigh; the sum is 1.
    """
    equal = bool(np.ptp(w) == 0.0)
    mean: Any = None
    for part, share in zip(outputs, w):
        answer = np.asarray(part if equal else share * part, dtype=np.float64)
        if mean is None:
            # answers may be the members' own arrays, which are not added to
            mean = answer
            if equal:
                mean = answer.copy()
        else:
            mean += answer
    if equal:
        mean /= len(w)
    return mean


# -- weights on the simplex ------------------------------------------------------------


def simplex_weights(
    outputs: np.ndarray,
    target: np.ndarray,
    w: np.ndarray | None = None,
) -> np.ndarray:
    """The weights ≥ 0 with sum 1 under which the mean of the members fits the target best.

    For posteriors, (L, n, K), the mean with the largest likelihood of the class codes, Σ_i log Σ_l
    w_l p_l(y_i), by Newton's quadratic programs; the problem is concave. For numbers, (L, n), the
    mean with the least squared error: with E = y - p it is the simplex minimum of w'E'Ew, which is
    the direction of the non-negative least squares solution of [E; 1'] w = [0; 1].

    Parameters
    ----------
    outputs : array of shape (L, n, K) or (L, n)
        The posteriors, or the numbers, that L members give to n rows.
    target : array of shape (n,)
        Class codes, or numbers.
    w : array of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    array of shape (L,)

    References
    ----------
    Kim, Carbonetto, Stephens and Anitescu (2020), A fast algorithm for maximum likelihood
    estimation of mixture proportions using sequential quadratic programming, J. Comput. Graph.
    Stat. 29.

    Examples
    --------
    >>> simplex_weights(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([0.5, 1.5])).round(6).tolist()
    [0.5, 0.5]
    """
    outputs = answers_of_members(outputs)
    target = np.asarray(target)
    if (
        outputs.ndim not in (2, 3)
        or target.shape != outputs.shape[1:2]
        or not len(outputs)
    ):
        raise DataError(
            f"outputs of shape {outputs.shape} and a target of shape {target.shape} do not go"
            " together: give (members, rows, K) or (members, rows), and one target per row"
        )
    weight = row_weights(w, outputs.shape[1])
    if outputs.ndim == 3:
        check_class_codes(target, outputs.shape[2], "target")
        likely = outputs[:, np.arange(len(target)), target.astype(np.intp)]
        return _likelihood_weights(likely, weight)
    errors = ((target - outputs) * np.sqrt(weight)).T
    scale = np.sqrt((errors**2).sum() / len(outputs))
    if scale == 0.0:
        return np.full(len(outputs), 1.0 / len(outputs))
    # E = QR has RᵀR = EᵀE: the system has L + 1 rows at most, however many were given
    triangle = np.linalg.qr(errors / scale, mode="r")
    system = np.vstack([triangle, np.ones(len(outputs))])
    solution, _ = optimize.nnls(system, np.append(np.zeros(len(triangle)), 1.0))
    return solution / solution.sum()


def _likelihood_weights(likely: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Shares of a mixture whose densities at the rows are known, (L, n).

    With u the weights of the rows, f(x) = Σx - Σ u log(x'p) has its minimum over x >= 0 on the
    simplex. The shares with the largest likelihood have u'(p_l / x'p) <= 1 for all l; the largest
    excess bounds how much likelihood is missing.
    """
    # a row that no member thinks possible has no say; scaling a row's densities changes nothing
    possible = (likely > 0.0).any(axis=0) & (w > 0.0)
    likely = likely[:, possible]
    u = w[possible]
    x = np.full(len(likely), 1.0 / len(likely))
    if not likely.shape[1]:
        return x
    likely = likely / likely.max(axis=0)
    u = u / u.sum()
    for _ in range(_MOST_STEPS):
        # the gradient of f is −excess, its Hessian H = Σ u r rᵀ, r = p / x'p
        ratio = likely / (x @ likely)
        excess = ratio @ u - 1.0
        if excess.max() <= _SMALLEST_GAIN:
            break
        H = (ratio * u) @ ratio.T
        H = H + 1e-10 * np.trace(H) * np.eye(len(x))  # members may say the same
        # The y ≥ 0 with the least −excess'(y − x) + (y − x)'H(y − x) / 2: with H = RRᵀ it has the
        # least |Rᵀy − R⁻¹(Hx + excess)|², by non-negative least squares.
        root = np.linalg.cholesky(H)
        y, _ = optimize.nnls(root.T, np.linalg.solve(root, H @ x + excess))
        moved = y - x
        # halved until f falls by a part of what its slope promises (Armijo)
        step = 1.0
        value = _missing_likelihood(x, likely, u)
        fall = 1e-4 * (excess @ moved)
        while _missing_likelihood(x + step * moved, likely, u) > value - step * fall:
            step /= 2.0
            if step < _SHORTEST_STEP:
                return x / x.sum()
        x = x + step * moved
    return x / x.sum()


def _missing_likelihood(x: np.ndarray, likely: np.ndarray, u: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        return float(x.sum() - u @ np.log(x @ likely))

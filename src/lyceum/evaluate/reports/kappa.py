"""Cohen's kappa, plain and weighted, and its reading in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lyceum.errors import SettingError
from lyceum.evaluate.common import named_choice

_LANDIS_KOCH = (
    (0.2, "slight"),
    (0.4, "fair"),
    (0.6, "moderate"),
    (0.8, "substantial"),
)


def kappa_reading(kappa: float, scale: str = "fleiss") -> str:
    """Kappa in words.

    Parameters
    ----------
    kappa : float
        Cohen's kappa.
    scale : {"fleiss", "landis_koch"}, default="fleiss"
        "fleiss": poor below 0.4, good up to 0.75, excellent above. "landis_koch": poor below 0,
        slight up to 0.2, fair up to 0.4, moderate up to 0.6, substantial up to 0.8, almost perfect
        above.

    Returns
    -------
    str

    See Also
    --------
    binary_report, confusion_matrix : Reports with kappa.

    References
    ----------
    Fleiss, Statistical methods for rates and proportions, 1981.
    Landis and Koch, The measurement of observer agreement for categorical data, Biometrics 33,
    1977.

    Examples
    --------
    >>> kappa_reading(0.301), kappa_reading(0.301, scale="landis_koch")
    ('poor', 'fair')
    """
    if scale == "fleiss":
        if kappa < 0.4:
            return "poor"
        if kappa <= 0.75:
            return "good"
        return "excellent"
    if scale != "landis_koch":
        raise SettingError(f"scale={scale!r}: choose from 'fleiss', 'landis_koch'")
    if kappa < 0.0:
        return "poor"
    return next(
        (word for bound, word in _LANDIS_KOCH if kappa <= bound), "almost perfect"
    )


def kappa_from_rates(
    detection_rate: float, false_alarm_rate: float, prevalence: float
) -> float:
    """Cohen's kappa of two classes from three rates.

    Parameters
    ----------
    detection_rate : float
        The share of the positive rows that are found (recall).
    false_alarm_rate : float
        The share of the negative rows that are taken for positive.
    prevalence : float
        The share of positive rows.

    Returns
    -------
    float

    See Also
    --------
    kappa_reading : In words.

    Examples
    --------
    >>> round(kappa_from_rates(0.6046, 0.3036, 0.5), 3)
    0.301
    """
    rates = (detection_rate, false_alarm_rate, prevalence)
    if not all(0.0 <= rate <= 1.0 for rate in rates):
        raise SettingError(f"rates {rates} must be between 0 and 1")
    # the two-by-two table of shares: rows are the truth, columns the decision
    positive = prevalence * np.array([detection_rate, 1.0 - detection_rate])
    negative = (1.0 - prevalence) * np.array([false_alarm_rate, 1.0 - false_alarm_rate])
    return cohen_kappa(np.array([positive, negative]))


def cohen_kappa(counts: np.ndarray) -> float:
    """Agreement beyond chance, (p_o - p_e) / (1 - p_e), of a table; 0 where chance explains
    everything."""
    total = counts.sum()
    if not total:
        return 0.0
    # all rows in one cell of the diagonal: p_e = 1, and the quotient would be 0/0
    if np.count_nonzero(counts) == 1 and np.trace(counts) > 0.0:
        return 0.0
    # p_e: the agreement of two raters who draw from the margins independently
    chance = float(counts.sum(axis=0) @ counts.sum(axis=1)) / total**2
    observed = np.trace(counts) / total
    return float((observed - chance) / (1.0 - chance))


def disagreement_weights(weights: ArrayLike | None, K: int) -> np.ndarray:
    """The (K, K) weights of weighted kappa, by name or as given."""
    if isinstance(weights, str):
        power = named_choice(
            "weights", weights, {"linear": np.abs, "quadratic": np.square}
        )
        ranks = np.arange(K, dtype=np.float64)
        return power(np.subtract.outer(ranks, ranks))
    matrix = np.asarray(weights, dtype=np.float64)
    is_valid = matrix.shape == (K, K) and bool((matrix >= 0.0).all())
    if not is_valid or np.diagonal(matrix).any():
        raise SettingError(
            f"weights of kappa: give ({K}, {K}) numbers of at least 0, with 0 on the diagonal"
        )
    return matrix

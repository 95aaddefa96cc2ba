"""How columns of categories are coded for a metric that compares numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from lyceum._core.distances.differences import Mahalanobis


def distance_coding(
    metric: Any, settings: Mapping[str, Any] | None = None
) -> Literal["reference", "every_category"]:
    """The coding in which a mismatch counts the same in every column of categories.

    A column per category, also where there are two: a mismatch is then √2 by Euclid and 2 by
    Manhattan. A covariance to be learned needs independent columns, so the first category has none;
    Mahalanobis distances are the same whichever is left out.

    Parameters
    ----------
    metric : str, Metric or callable
        The metric as given, maybe by its name.
    settings : dict or None, default=None
        The settings of a metric that is given by its name.

    Returns
    -------
    "reference" or "every_category"
        A value of `Learner._coding`.

    Examples
    --------
    >>> from lyceum._core.distances import Mahalanobis, distance_coding
    >>> distance_coding("manhattan"), distance_coding(Mahalanobis())
    ('every_category', 'reference')
    """
    if isinstance(metric, Mahalanobis):
        learns = metric.covariance is None
    else:
        named = isinstance(metric, str) and metric == "mahalanobis"
        learns = named and "covariance" not in (settings or {})
    if learns:
        return "reference"
    return "every_category"

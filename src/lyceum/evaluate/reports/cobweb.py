"""The cobweb of a confusion matrix: one spoke for each kind of mistake."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum.evaluate.common import ratio
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.reports.confusion import Confusion
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True, eq=False)
class Cobweb(Printable):
    """The spokes of a cobweb chart (Diri and Albayrak 2008): one for each kind of mistake.

    Attributes
    ----------
    truth, predicted : ndarray of shape (K(K-1),)
        The labels that the spoke stands for.
    rates : ndarray of shape (K(K-1),)
        Share of the true class that got the wrong label: 0 is the center, and perfect.
    angles : ndarray of shape (K(K-1),)
        The directions of the spokes, in radians.
    chance : float
        1/K, the rate of guessing: the ring to stay within.

    See Also
    --------
    cobweb : Makes it from a confusion matrix.
    Confusion : The counts.
    lyceum.plot.cobweb : The chart.

    References
    ----------
    Diri and Albayrak, Visualization and analysis of classifiers performance in multi-class medical
    data, Expert Systems with Applications 34, 2008.

    Examples
    --------
    >>> from lyceum.evaluate import cobweb, confusion_matrix
    >>> web = cobweb(confusion_matrix(list("aabbcc"), list("abbbca")))
    >>> "".join(web.truth), "".join(web.predicted)
    ('aabbcc', 'bcacab')
    >>> web.rates.tolist(), round(web.chance, 3)  # half of "a" was taken for "b", of "c" for "a"
    ([0.5, 0.0, 0.0, 0.0, 0.5, 0.0], 0.333)
    """

    truth: np.ndarray
    predicted: np.ndarray
    rates: np.ndarray
    angles: np.ndarray
    chance: float

    def summary(self) -> Summary:
        """The kinds of mistakes, the most frequent first."""
        order = np.argsort(-self.rates, kind="stable")
        rows = [
            (
                str(self.truth[i]),
                str(self.predicted[i]),
                float(self.rates[i]),
            )
            for i in order
        ]
        table = Table("", ("truth", "taken for", "rate"), rows)
        return Summary("cobweb", {"chance": self.chance}, (table,))


def cobweb(matrix: Confusion) -> Cobweb:
    """The misclassification rates of a confusion matrix, laid out for a cobweb chart.

    Parameters
    ----------
    matrix : Confusion

    Returns
    -------
    Cobweb

    See Also
    --------
    lyceum.plot.cobweb : The chart.

    References
    ----------
    Diri and Albayrak, Visualization and analysis of classifiers performance in multi-class medical
    data, Expert Systems with Applications 34, 2008.

    Examples
    --------
    >>> from lyceum.evaluate import cobweb, confusion_matrix
    >>> web = cobweb(confusion_matrix([0, 0, 1, 1], [0, 1, 1, 1]))
    >>> web.rates
    array([0.5, 0. ])
    """
    K = len(matrix.classes)
    i, j = np.nonzero(~np.eye(K, dtype=bool))
    n_spokes = len(i)
    angles = 2.0 * np.pi * np.arange(n_spokes) / max(n_spokes, 1)
    return Cobweb(
        truth=matrix.classes[i],
        predicted=matrix.classes[j],
        rates=matrix.rates[i, j],
        angles=angles,
        chance=ratio(1.0, K),
    )

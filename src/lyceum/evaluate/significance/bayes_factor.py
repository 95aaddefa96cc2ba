"""How much the data favor one model over another: Bayes factors, with their reading."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lyceum.errors import DataError, SettingError
from lyceum.evaluate.printable import Printable
from lyceum.report import Summary


@dataclass(frozen=True, slots=True)
class BayesFactor(Printable):
    """How much the data favor the first model over the second.

    Attributes
    ----------
    log_factor : float
        ln p(data | first) - ln p(data | second).
    prior_odds : float
        Prior odds, first to second.
    factor : float
        The Bayes factor, e^log_factor; infinite beyond what a float can hold.
    posterior : float
        Posterior probability of the first model, given that one of the two is true.
    reading : str
        The factor in words, with bounds at 3, 20 and 150 to 1.

    See Also
    --------
    bayes_factor : Makes it from log evidences or BICs.
    InformationCriteria : BIC, from which a factor can be approximated.

    References
    ----------
    Kass and Raftery, Bayes factors, JASA 90, 1995.

    Examples
    --------
    >>> from lyceum.evaluate import bayes_factor
    >>> result = bayes_factor(-10.0, -12.0)
    >>> round(result.factor, 3), round(result.posterior, 4)       # e² and e² / (e² + 1)
    (7.389, 0.8808)
    >>> result.reading
    'clear support for the first'
    """

    _derived = ("factor", "posterior", "reading")

    log_factor: float
    prior_odds: float = 1.0

    @property
    def factor(self) -> float:
        """The Bayes factor; infinite beyond what a float can hold."""
        # e^709.8 is the largest that a float can hold
        if self.log_factor < 709.0:
            return math.exp(self.log_factor)
        return math.inf

    @property
    def posterior(self) -> float:
        """Posterior probability of the first model, given that one of the two is true."""
        # e^709 is near the largest float: beyond it the posterior is 0
        log_odds = self.log_factor + math.log(self.prior_odds)
        if log_odds > -709.0:
            return 1.0 / (1.0 + math.exp(-log_odds))
        return 0.0

    @property
    def reading(self) -> str:
        """The factor in words, with bounds at 3, 20 and 150 to 1 (Kass and Raftery 1995)."""
        size = abs(self.log_factor)
        if size <= math.log(3.0):
            return "hardly worth a mention"
        strength = "decisive"
        if size <= math.log(150.0):
            strength = "strong"
        if size <= math.log(20.0):
            strength = "clear"
        if self.log_factor > 0:
            favored = "first"
        else:
            favored = "second"
        return f"{strength} support for the {favored}"

    def summary(self) -> Summary:
        """The factor, the posterior and the reading."""
        facts = {
            "factor": self.factor,
            "ln factor": self.log_factor,
            "posterior of the first": self.posterior,
            "reads": self.reading,
        }
        return Summary("Bayes factor, first over second", facts)


def bayes_factor(
    log_evidence_first: float | None = None,
    log_evidence_second: float | None = None,
    *,
    bic_first: float | None = None,
    bic_second: float | None = None,
    prior_odds: float = 1.0,
) -> BayesFactor:
    """The Bayes factor p(data | first) / p(data | second).

    Parameters
    ----------
    log_evidence_first, log_evidence_second : float, optional
        Natural logarithms of the marginal likelihoods.
    bic_first, bic_second : float, optional
        Instead: BIC = -2 ln p(data | model), nearly, so that ln B ≈ (BIC_second - BIC_first) / 2.
    prior_odds : float, default=1.0
        Prior odds, first to second.

    Returns
    -------
    BayesFactor

    See Also
    --------
    information_criteria : The BIC of a model.

    References
    ----------
    Kass and Raftery, Bayes factors, JASA 90, 1995.

    Examples
    --------
    >>> result = bayes_factor(bic_first=100.0, bic_second=107.0)
    >>> round(result.factor, 2), result.reading
    (33.12, 'strong support for the first')
    """
    if prior_odds <= 0.0:
        raise SettingError(f"prior_odds={prior_odds} must be above 0")
    evidence = (log_evidence_first, log_evidence_second)
    bics = (bic_first, bic_second)
    if evidence == (None, None) and None not in bics:
        # BIC = -2 log evidence, up to a constant
        log_factor = (bic_second - bic_first) / 2.0  # type: ignore[operator]
    elif bics == (None, None) and None not in evidence:
        log_factor = log_evidence_first - log_evidence_second  # type: ignore[operator]
    else:
        raise SettingError("give two log evidences, or bic_first and bic_second")
    if math.isnan(log_factor):
        raise DataError("the evidence is missing or infinite for both models")
    return BayesFactor(float(log_factor), float(prior_odds))

"""The answer to a query: a distribution, the method that found it, and its error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from lyceum._core.probability import Factor, Gaussian, find_labels
from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum.errors import DataError
from lyceum.report import Table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Posterior:
    """P(query | evidence) of discrete variables.

    Attributes
    ----------
    variables : dict of name to states
        The query, in the order of the axes of `values`.
    values : array with one axis per variable
        The probabilities, which sum to 1.
    evidence : dict of name to state
        The observed states.
    log_evidence : float
        log P(evidence); NaN if the method does not compute it.
    method : str
        How it was found: "junction tree", "variable elimination", "likelihood weighting" or "Gibbs
        sampling".
    error : array or None
        The standard error of every value, if the method samples; None if the values are exact.
    most_probable : dict of name to state
        The combination of states with the largest probability.
    title : str
        P(query | evidence) as text.

    See Also
    --------
    BayesNet.posterior : Makes it.
    GaussianPosterior : The same for Gaussian variables.
    MostProbable : The most probable states of all variables.
    explain_query : The working of a query, step by step.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode
    >>> net = BayesNet([TableNode("coin", ["heads", "tails"], table=[0.4, 0.6])])
    >>> net.posterior("coin")["heads"]
    0.4
    """

    variables: Mapping[str, tuple[Any, ...]]
    values: np.ndarray
    evidence: Mapping[str, Any]
    log_evidence: float
    method: str
    error: np.ndarray | None = None

    def __getitem__(self, state: Any) -> float:
        """The probability of a state, or of a dict of states for several variables."""
        if not isinstance(state, Mapping):
            if len(self.variables) != 1:
                raise DataError(
                    f"say which variable of {', '.join(self.variables)}: give a dict of states"
                )
            state = dict.fromkeys(self.variables, state)
        return self.factor()[state]

    def factor(self) -> Factor:
        """As a factor of `lyceum.probability`, to compute with."""
        return Factor(self.variables, self.values)

    @property
    def most_probable(self) -> dict[str, Any]:
        """The combination of states of the largest probability."""
        return self.factor().argmax()

    @property
    def title(self) -> str:
        """P(query | evidence) in words."""
        return f"P({_conditional_text(self.variables, self.evidence)})"

    def table(self) -> Table:
        """One row per combination of states."""
        heads = [*self.variables, "probability"]
        numbers = [self.values.ravel().tolist()]
        if self.error is not None:
            heads.append("± standard error")
            numbers.append(self.error.ravel().tolist())
        combinations = product(*self.variables.values())
        rows = [
            (*map(str, states), *values)
            for states, *values in zip(combinations, *numbers)
        ]
        return Table(f"{self.title}, by {self.method}", tuple(heads), rows)

    def as_dict(self) -> dict[str, Any]:
        """Query, evidence, probabilities and method, in JSON's own types."""
        return plain(
            {
                "query": list(self.variables),
                "evidence": self.evidence,
                "method": self.method,
                "log_evidence": self.log_evidence,
                "states": [
                    dict(zip(self.variables, states))
                    for states in product(*self.variables.values())
                ],
                "probabilities": self.values.ravel(),
                "standard_errors": None if self.error is None else self.error.ravel(),
            }
        )

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return f"<{self.title}, {self.values.size} values by {self.method}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GaussianPosterior:
    """p(query | evidence) of Gaussian variables: one Gaussian, or a mixture of them.

    Attributes
    ----------
    names : tuple of str
        The query.
    weights : array of shape (k,)
        The weight of every component; there is one unless discrete variables matter.
    means : array of shape (k, d)
        The mean of every component.
    covariances : array of shape (k, d, d)
        The covariance of every component.
    evidence : dict
        The observed values.
    method : str
        How it was computed.
    log_evidence : float
        The log density of the evidence (the log probability of its discrete part).
    error : array of shape (d,) or None
        The standard errors of the mean, if the method samples.
    mean : array of shape (d,)
        The mean of the query.
    covariance : array of shape (d, d)
        The covariance of the query: within the components and between their means.

    See Also
    --------
    BayesNet.posterior : Makes it.
    Posterior : The same for discrete variables.
    lyceum.probability.Gaussian : The Gaussian that `gaussian()` gives.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, GaussianNode
    >>> net = BayesNet([GaussianNode("x"), GaussianNode("y", "x", coefficients=[2.0])])
    >>> round(float(net.posterior("x", {"y": 5.0}).mean[0]), 12)
    2.0
    """

    names: tuple[str, ...]
    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    evidence: Mapping[str, Any]
    method: str
    log_evidence: float = float("nan")
    error: np.ndarray | None = None

    @property
    def mean(self) -> np.ndarray:
        """The mean of the query."""
        return self.weights @ self.means

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the query: within the components and between their means."""
        within = np.tensordot(self.weights, self.covariances, 1)
        gap = self.means - self.mean
        return within + (self.weights * gap.T) @ gap

    def marginal(self, name: str) -> GaussianPosterior:
        """The distribution of one variable of the query."""
        (j,) = find_labels([name], self.names, "the variable")
        error = self.error
        if error is not None:
            error = error[[j]]
        return replace(
            self,
            names=(name,),
            means=self.means[:, [j]],
            covariances=self.covariances[:, [j]][:, :, [j]],
            error=error,
        )

    def gaussian(self) -> Gaussian:
        """The Gaussian with the same mean and covariance; it is the posterior if there is one
        component."""
        return Gaussian(self.mean, self.covariance)

    def table(self) -> Table:
        """Mean and standard deviation of every variable."""
        deviations = np.sqrt(np.diag(self.covariance))
        title = f"p({_conditional_text(self.names, self.evidence)}), by {self.method}"
        rows = [
            (n, float(m), float(s))
            for n, m, s in zip(self.names, self.mean, deviations)
        ]
        return Table(title, ("variable", "mean", "standard deviation"), rows)

    def as_dict(self) -> dict[str, Any]:
        """Query, evidence, means, covariance and components, in JSON's own types."""
        return plain(
            {
                "query": list(self.names),
                "evidence": self.evidence,
                "method": self.method,
                "mean": self.mean,
                "covariance": self.covariance,
                "weights": self.weights,
                "means": self.means,
            }
        )

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return f"<p({', '.join(self.names)} | ...), {len(self.weights)} Gaussians by {self.method}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _conditional_text(query: Iterable[str], evidence: Mapping[str, Any]) -> str:
    """query | evidence, or the query alone."""
    text = ", ".join(query)
    if evidence:
        states = [f"{name}={state}" for name, state in evidence.items()]
        text += f" | {', '.join(states)}"
    return text


@dataclass(frozen=True, slots=True)
class MostProbable(Shown):
    """The most probable states of all variables that are not observed.

    Attributes
    ----------
    states : dict of name to state
        The states.
    log_probability : float
        log P(states, evidence).
    probability : float
        P(states | evidence).

    See Also
    --------
    BayesNet.most_probable : Makes it.
    Posterior : The distribution of some variables.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode
    >>> net = BayesNet([TableNode("rain", ["no", "yes"], table=[0.8, 0.2]),
    ...                 TableNode("wet", ["no", "yes"], ["rain"], [[0.9, 0.1], [0.1, 0.9]])])
    >>> answer = net.most_probable({"wet": "yes"})
    >>> answer.states, round(answer.probability, 4)  # 0.18 / 0.26
    ({'rain': 'yes'}, 0.6923)
    """

    states: dict[str, Any]
    log_probability: float
    probability: float

    def as_dict(self) -> dict[str, Any]:
        """The states and their probabilities, in JSON's own types."""
        return plain(asdict(self))

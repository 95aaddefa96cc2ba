"""Queries in networks with Gaussian nodes: exact over the states that matter, or by weighted
rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.probability import Factor
from lyceum._core.types import Seed
from lyceum.bayesnets.inference.elimination import Elimination, relevant_names
from lyceum.bayesnets.inference.evidence import Evidence, impossible
from lyceum.bayesnets.inference.posterior import GaussianPosterior, Posterior
from lyceum.bayesnets.inference.sampling import draw_weighted, weighted_posterior
from lyceum.bayesnets.nodes import GaussianNode
from lyceum.errors import DataError, SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


_MAX_COMBINATIONS = 1 << 16
_SINGULAR = 1e-12


def answer_mixed(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    method: str,
    n_samples: int,
    random_state: Seed,
) -> Any:
    """P(query | evidence) where some nodes are Gaussian.

    Given the states of the discrete parents of Gaussian nodes, the numbers are jointly Gaussian;
    these combinations are enumerated, weighted by the probability that variable elimination gives
    them and by the density of the observed numbers. Where there are too many, rows are drawn.
    """
    check_mixed(net, query)
    if method == "gibbs":
        raise SettingError(
            "Gibbs sampling is for discrete networks: use method='likelihood_weighting'"
        )
    plan = MixedPlan.of(net, query, evidence)
    if method == "likelihood_weighting" or (
        method == "auto" and plan.size > _MAX_COMBINATIONS
    ):
        return _draw(
            plan.net, query, evidence, n_samples, random_state, method == "auto"
        )
    if plan.size > _MAX_COMBINATIONS:
        raise SettingError(
            f"there are {plan.size:.3g} combinations of states: use method='likelihood_weighting'"
        )
    return Enumeration.of(plan, evidence).answer(query, evidence)


def check_mixed(net: BayesNet, query: Sequence[str]) -> None:
    """Raise unless all variables of a query are Gaussian, or none is."""
    numeric = [name for name in query if name in net.gaussian_names]
    if numeric and len(numeric) < len(query):
        raise DataError(
            f"of the query {numeric[0]!r} is Gaussian and others are not: ask separately"
        )


@dataclass(frozen=True)
class MixedPlan:
    """The part of a network that matters for a query, and what must be summed over.

    Attributes
    ----------
    net : BayesNet
        The part: query, evidence and their ancestors.
    gaussians : list of str
        Its numbers, parents first.
    switches : list of str
        The discrete parents of these.
    discrete : list of str
        What is enumerated: the switches that are not observed, and the query if it is discrete.
    size : int
        The combinations of their states.
    """

    net: BayesNet
    gaussians: list[str]
    switches: list[str]
    discrete: list[str]
    size: int

    @classmethod
    def of(cls, net: BayesNet, query: Sequence[str], evidence: Evidence) -> MixedPlan:
        """The plan of P(query | evidence)."""
        names = relevant_names(net, query, evidence)
        present = set(names)
        numeric = set(net.gaussian_names)
        gaussians = [name for name in net.order if name in present & numeric]
        part = net
        if len(names) < len(net.names):
            part = type(net)([net.node(name) for name in names], net.name)
        parents = dict.fromkeys(
            parent for name in gaussians for parent in net.parents[name]
        )
        switches = [name for name in parents if name not in numeric]
        free = [name for name in switches if name not in evidence.hard]
        asked = [name for name in query if name not in numeric]
        discrete = list(dict.fromkeys([*free, *asked]))
        size = prod(len(net.states(name)) for name in discrete)
        return cls(part, gaussians, switches, discrete, size)


@dataclass(frozen=True)
class Enumeration:
    """The numbers of a plan for every combination of states: before and after the observed numbers.

    Attributes
    ----------
    plan : MixedPlan
    joint : Factor
        P(states, discrete evidence).
    mean, covariance : arrays of shape (k, d) and (k, d, d)
        Of all numbers given the states.
    seen, values : list of int and array
        Which of the numbers are observed, and as what.
    new_mean, new_covariance : arrays
        Given the observed numbers too.
    gain : array of shape (k, d, observed)
        C_as C_ss⁻¹, by which an observed number moves the others.
    log_density : array of shape (k,)
        Of the observed numbers given the states.
    weights : array of shape (k,)
        P(states | all evidence).
    log_evidence : float
    """

    plan: MixedPlan
    joint: Factor
    mean: np.ndarray
    covariance: np.ndarray
    seen: list[int]
    values: np.ndarray
    new_mean: np.ndarray
    new_covariance: np.ndarray
    gain: np.ndarray
    log_density: np.ndarray
    weights: np.ndarray
    log_evidence: float

    @classmethod
    def of(cls, plan: MixedPlan, evidence: Evidence) -> Enumeration:
        """All combinations of the states of `plan.discrete`."""
        joint = _joint_of_states(plan.net, plan.discrete, evidence)
        n_states = dict(zip(plan.discrete, joint.values.shape))
        states = _switch_states(plan.switches, n_states, evidence)
        # p(numbers | states) is Gaussian; the observed ones weight the states by their density
        nodes = [plan.net.node(name) for name in plan.gaussians]
        mean, covariance = joint_gaussian(nodes, states, joint.values.size)  # type: ignore[arg-type]
        seen = [plan.gaussians.index(name) for name in evidence.numbers]
        values = np.array(list(evidence.numbers.values()))
        new_mean, new_covariance, gain, log_density = _condition(
            mean, covariance, seen, values
        )
        weights, log_evidence = _weigh_states(
            joint.values.ravel(), log_density, evidence
        )
        return cls(
            plan=plan,
            joint=joint,
            mean=mean,
            covariance=covariance,
            seen=seen,
            values=values,
            new_mean=new_mean,
            new_covariance=new_covariance,
            gain=gain,
            log_density=log_density,
            weights=weights,
            log_evidence=log_evidence,
        )

    def answer(
        self, query: Sequence[str], evidence: Evidence
    ) -> Posterior | GaussianPosterior:
        """P(query | evidence): numbers are a mixture of Gaussians, one per combination; states are
        its weights, summed."""
        gaussians = self.plan.gaussians
        size = len(self.weights)
        method = "exact Gaussian algebra"
        if size > 1:
            method = f"exact, over {size:,} combinations of states"
        if query[0] in gaussians:
            columns = [gaussians.index(name) for name in query]
            possible = self.weights > 0
            return GaussianPosterior(
                names=tuple(query),
                weights=self.weights[possible],
                means=self.new_mean[possible][:, columns],
                covariances=self.new_covariance[possible][:, columns][:, :, columns],
                evidence=evidence.given,
                method=method,
                log_evidence=self.log_evidence,
            )
        values = self.weights.reshape(self.joint.values.shape)
        table = Factor(self.joint.variables, values).marginal(*query)
        return Posterior(
            dict(table.variables),
            table.values,
            evidence.given,
            self.log_evidence,
            method,
        )


def _switch_states(
    switches: list[str], n_states: dict[str, int], evidence: Evidence
) -> dict[str, np.ndarray]:
    """The state of every switch in every combination of the states of the variables in
    `n_states`; one that is not among them is observed."""
    shape = tuple(n_states.values())
    size = prod(shape)
    codes = dict(zip(n_states, np.indices(shape).reshape(len(shape), size)))
    states = {}
    for name in switches:
        if name in codes:
            states[name] = codes[name]
        else:
            states[name] = np.full(size, evidence.hard[name])
    return states


def _weigh_states(
    p: np.ndarray, log_density: np.ndarray, evidence: Evidence
) -> tuple[np.ndarray, float]:
    """P(states | evidence), from P(states, discrete evidence) and the log densities of the observed
    numbers, and the log density of all evidence."""
    with np.errstate(divide="ignore"):
        log_w = np.log(p) + log_density
    largest = log_w.max(initial=-np.inf)
    if largest == -np.inf:
        raise impossible(evidence.given)
    w = np.exp(log_w - largest)
    total = w.sum()
    return w / total, float(largest + np.log(total))


def _joint_of_states(net: BayesNet, names: list[str], evidence: Evidence) -> Factor:
    """P(names, discrete evidence), by elimination in the discrete part of the network."""
    nodes = [node for node in net.nodes if not isinstance(node, GaussianNode)]
    if not nodes:
        return Factor({}, np.ones(()))
    observed = Evidence({}, evidence.hard, evidence.soft, {}, evidence.codes, None)
    return Elimination.plan(type(net)(nodes, net.name), names, observed).run()


def joint_gaussian(
    nodes: Sequence[GaussianNode], states: dict[str, np.ndarray], size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of Gaussian nodes, parents first, for every combination of states.

    Parameters
    ----------
    nodes : list of GaussianNode
    states : dict of name to array of shape (size,)
        The state of every discrete parent in every combination.
    size : int
        The number of combinations.
    """
    gaussians = [node.name for node in nodes]
    d = len(gaussians)
    mean = np.zeros((size, d))
    covariance = np.zeros((size, d, d))
    for j, node in enumerate(nodes):
        cell = tuple(states[parent] for parent in node.parents if parent in states)
        numeric = [
            gaussians.index(parent) for parent in node.parents if parent not in states
        ]
        # x_j = a + bᵀ x_p + noise: its mean, its covariances with those before it, its variance
        b = np.broadcast_to(node.coefficients[cell], (size, len(numeric)))
        from_parents = (b * mean[:, numeric]).sum(axis=1)
        mean[:, j] = node.intercept[cell] + from_parents
        cross = np.einsum("kp,kpj->kj", b, covariance[:, numeric, :j])
        covariance[:, j, :j] = cross
        covariance[:, :j, j] = cross
        explained = (b * cross[:, numeric]).sum(axis=1)
        covariance[:, j, j] = node.variance[cell] + explained
    return mean, covariance


def _condition(
    mean: np.ndarray, covariance: np.ndarray, seen: list[int], values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every Gaussian given the values of some of its columns, the gain of these, and the log
    density of the values."""
    if not seen:
        return mean, covariance, np.zeros((*mean.shape, 0)), np.zeros(len(mean))
    gap = values - mean[:, seen]
    unit, roots, vectors = _correlation_axes(covariance[:, seen][:, :, seen])
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    z = np.einsum("kij,ki->kj", vectors, gap / unit)
    log_density = _log_density(z, roots, inverse) - np.log(unit).sum(axis=1)
    # along a direction without variance the observation must be the mean
    size = np.maximum(np.abs(mean[:, seen]), np.abs(values)) / unit
    scale = 1.0 + size.max(axis=1, keepdims=True)
    off = ((roots == 0) & (np.abs(z) > 1e-8 * scale)).any(axis=1)
    # the conditional mean and covariance, by the gain C_as C_ss⁻¹
    axes = vectors / unit[:, :, None]
    precision = np.einsum("kij,kj,klj->kil", axes, inverse, axes)
    gain = np.einsum("kai,kil->kal", covariance[:, :, seen], precision)
    new_mean = mean + np.einsum("kal,kl->ka", gain, gap)
    new_covariance = covariance - np.einsum(
        "kal,klb->kab", gain, covariance[:, seen, :]
    )
    return new_mean, new_covariance, gain, np.where(off, -np.inf, log_density)


def _correlation_axes(
    covariance: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The units of the columns, and the eigenvalues and eigenvectors of every correlation.

    In these units the scale of a column does not decide what is singular: an eigenvalue next to 0
    is given as 0.
    """
    variance = np.einsum("kjj->kj", covariance)
    unit = np.sqrt(np.where(variance > 0, variance, 1.0))
    units = unit[:, :, None] * unit[:, None, :]
    roots, vectors = np.linalg.eigh(covariance / units)
    largest = np.maximum(roots.max(axis=1, keepdims=True), 1e-300)
    return unit, np.where(roots > _SINGULAR * largest, roots, 0.0), vectors


def _log_density(z: np.ndarray, roots: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """−½ Σ_j [ln 2π λ_j + z_j² / λ_j] over the eigenvalues that are not 0, z along the axes."""
    positive = roots > 0
    log_roots = np.log(2 * np.pi * np.where(positive, roots, 1.0))
    terms = np.where(positive, log_roots, 0.0) + inverse * z**2
    return -0.5 * terms.sum(axis=1)


def _draw(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    n_samples: int,
    random_state: Seed,
    warn: bool,
) -> Any:
    """P(query | evidence) from weighted rows; numbers as a mixture of points, of covariance 0."""
    rng = np.random.default_rng(random_state)
    drawn, log_w = draw_weighted(net, net.order, n_samples, rng, evidence)
    largest = log_w.max()
    if largest == -np.inf:
        raise DataError(
            f"none of {n_samples:,} rows agrees with the evidence: raise n_samples"
        )
    posterior: Posterior | GaussianPosterior
    if query[0] not in net.gaussian_names:
        posterior = weighted_posterior(net, query, evidence, drawn, log_w)[0]
    else:
        w = np.exp(log_w - largest)
        log_evidence = float(largest + np.log(w.mean()))
        w /= w.sum()
        points = np.column_stack([drawn[name] for name in query])
        error = np.sqrt((w**2) @ (points - w @ points) ** 2)
        method = (
            f"likelihood weighting ({n_samples:,} samples, worth {1 / (w @ w):,.0f})"
        )
        posterior = GaussianPosterior(
            names=tuple(query),
            weights=w,
            means=points,
            covariances=np.zeros((n_samples, len(query), len(query))),
            evidence=evidence.given,
            method=method,
            log_evidence=log_evidence,
            error=error,
        )
    if warn:
        warnings.warn(
            "there are too many combinations of states for an exact answer: estimated by"
            f" {posterior.method}",
            UserWarning,
            stacklevel=5,
        )
    return posterior

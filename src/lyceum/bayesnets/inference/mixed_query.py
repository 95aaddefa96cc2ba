"""Queries in networks with Gaussian nodes: exact over the states that matter, or by weighted
rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
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
    numeric = [name for name in query if name in net.gaussian_names]
    if numeric and len(numeric) < len(query):
        raise DataError(
            f"of the query {numeric[0]!r} is Gaussian and others are not: ask separately"
        )
    if method == "gibbs":
        raise SettingError(
            "Gibbs sampling is for discrete networks: use method='likelihood_weighting'"
        )
    # the part of the network that matters, and the states of it that must be summed over: of the
    # discrete parents of its numbers, as far as they are not observed, and of the query
    names = relevant_names(net, query, evidence)
    gaussians = [
        name for name in net.order if name in set(names) and name in net.gaussian_names
    ]
    part = net
    if len(names) < len(net.names):
        part = type(net)([net.node(name) for name in names], net.name)
    parents = dict.fromkeys(
        parent for name in gaussians for parent in net.parents[name]
    )
    switches = [name for name in parents if name not in net.gaussian_names]
    free = [name for name in switches if name not in evidence.hard]
    asked = [name for name in query if name not in gaussians]
    discrete = list(dict.fromkeys([*free, *asked]))
    size = prod(len(net.states(name)) for name in discrete)
    if method == "likelihood_weighting" or (
        method == "auto" and size > _MAX_COMBINATIONS
    ):
        return _draw(part, query, evidence, n_samples, random_state, method == "auto")
    if size > _MAX_COMBINATIONS:
        raise SettingError(
            f"there are {size:.3g} combinations of states: use method='likelihood_weighting'"
        )
    return _enumerate(part, query, evidence, gaussians, switches, discrete)


def _enumerate(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    gaussians: list[str],
    switches: list[str],
    discrete: list[str],
) -> Any:
    """P(query | evidence) over all combinations of the states of `discrete`."""
    joint = _joint_of_states(net, discrete, evidence)
    shape = joint.values.shape
    size = joint.values.size
    states = _switch_states(switches, dict(zip(discrete, shape)), evidence)
    # p(numbers | states) is Gaussian; the observed ones weight the states by their density
    nodes = [net.node(name) for name in gaussians]
    mean, covariance = joint_gaussian(nodes, states, size)  # type: ignore[arg-type]
    seen = [gaussians.index(name) for name in evidence.numbers]
    values = np.array(list(evidence.numbers.values()))
    mean, covariance, log_density = _condition(mean, covariance, seen, values)
    w, log_evidence = _weigh_states(joint.values.ravel(), log_density, evidence)
    method = "exact Gaussian algebra"
    if size > 1:
        method = f"exact, over {size:,} combinations of states"
    # numbers are a mixture of Gaussians, one per combination; states are its weights, summed
    if query[0] in gaussians:
        columns = [gaussians.index(name) for name in query]
        possible = w > 0
        return GaussianPosterior(
            names=tuple(query),
            weights=w[possible],
            means=mean[possible][:, columns],
            covariances=covariance[possible][:, columns][:, :, columns],
            evidence=evidence.given,
            method=method,
            log_evidence=log_evidence,
        )
    joint = Factor({name: net.states(name) for name in discrete}, w.reshape(shape))
    table = joint.marginal(*query)
    return Posterior(
        dict(table.variables), table.values, evidence.given, log_evidence, method
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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every Gaussian given the values of some of its columns, and the log density of these
    values."""
    if not seen:
        return mean, covariance, np.zeros(len(mean))
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
    return new_mean, new_covariance, np.where(off, -np.inf, log_density)


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

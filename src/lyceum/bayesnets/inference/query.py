"""Which method answers a query."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lyceum.bayesnets.inference.elimination import eliminate
from lyceum.bayesnets.inference.evidence import Evidence
from lyceum.bayesnets.inference.gibbs import gibbs
from lyceum.bayesnets.inference.mixed_query import answer_mixed
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.inference.sampling import likelihood_weighting
from lyceum.errors import DataError, SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


METHODS = ("auto", "junction_tree", "elimination", "likelihood_weighting", "gibbs")
_FEW = 200.0  # a weighted sample worth fewer rows than this is not trusted


def answer(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    method: str = "auto",
    n_samples: int = 20_000,
    random_state: int | None = 0,
) -> Any:
    """P(query | evidence) by the given method, or by the best one."""
    check_query(net, query, evidence, method)
    if net.gaussian_names:
        return answer_mixed(net, query, evidence, method, n_samples, random_state)
    if method == "likelihood_weighting":
        return likelihood_weighting(net, query, evidence, n_samples, random_state)
    if method == "gibbs":
        return gibbs(net, query, evidence, n_samples, random_state)
    if method == "elimination":
        return eliminate(net, query, evidence)
    # From the cheapest to the last resort: the tree, which is compiled once; elimination, for a
    # query across cliques or where only the whole tree is too wide; rows drawn at random.
    try:
        posterior = net.junction_tree().posterior(query, evidence)
        if posterior is not None:
            return posterior
        return eliminate(net, query, evidence)
    except SettingError:
        if method == "junction_tree":
            raise
    try:
        return eliminate(net, query, evidence)
    except SettingError:
        return _draw(net, query, evidence, n_samples, random_state)


def _draw(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    n_samples: int,
    random_state: int | None,
) -> Posterior:
    """By likelihood weighting; by Gibbs sampling where its sample is worth little, unless zeros
    tie too many variables together."""
    weighted = likelihood_weighting(
        net, query, evidence, n_samples, random_state, strict=False
    )
    posterior = None if weighted is None else weighted[0]
    if weighted is None or weighted[1] < _FEW:
        try:
            posterior = gibbs(net, query, evidence, n_samples, random_state)
        except SettingError:
            if posterior is None:
                raise
    assert posterior is not None
    assert posterior.error is not None
    warnings.warn(
        f"the network is too wide for exact inference: {posterior.title} is an estimate by "
        f"{posterior.method}, with standard errors up to {posterior.error.max():.2g}",
        UserWarning,
        stacklevel=4,
    )
    return posterior


def check_query(
    net: BayesNet, query: Sequence[str], evidence: Evidence, method: str
) -> None:
    """Raise unless the query, the evidence and the method are such that can be answered."""
    if method not in METHODS:
        raise SettingError(
            f"there is no method {method!r}: choose one of {', '.join(METHODS)}"
        )
    if not query:
        raise DataError("the query names no variable")
    for name in query:
        net.find(name)
        if name in evidence.hard or name in evidence.numbers:
            raise DataError(
                f"{name!r} is in the query and in the evidence: leave it out of one of them"
            )
    if len(set(query)) < len(query):
        raise DataError(f"the query {list(query)} names a variable twice")
